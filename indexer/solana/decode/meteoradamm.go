package decode

import "github.com/boardwalkhq/boardwalk/internal/market"

// Meteora's DAMM v2. Layouts: the IDL of its SDK (npm @meteora-ag/cp-amm-sdk, MIT). A pool has one range of prices, which is the same for everybody's liquidity, or none, where its
// fees compound; its events tell its price and its reserves. The token accounts of all pools are of one account, market.MeteoraDAMMv2Holder.

func (d *Decoder) meteoraDAMMv2(p *program) {
	p.events[eventNamed("EvtInitializePool")] = dammCreated
	p.events[eventNamed("EvtSwap2")] = dammSwap
	p.events[eventNamed("EvtLiquidityChange")] = dammLiquidity
}

// Accounts of a swap.
const (
	dammPool             = 1
	dammMintA, dammMintB = 6, 7
	dammPayer            = 8
)

// dammCompounds is the mode of a pool that adds its fees to what it has. Such a pool has no range.
const dammCompounds = 2

// sqrtPrice reads the square root of a price with 64 fractional bits, and gives it with 96, as market.Swap has it.
func (c *call) sqrtPrice() (x96 market.Amount) {
	x96 = c.Uint128()
	x96.Lsh(&x96, 32)
	return x96
}

// dammCreated is EvtInitializePool.
func dammCreated(c *call) {
	e := market.PoolCreated{Protocol: market.MeteoraDAMMv2, Factory: c.p.key, Pool: c.Key(), Token0: c.Key(), Token1: c.Key()}
	c.Skip(32 + 32 + 32) // the creator, who paid, and a vault
	c.Skip(27 + 2 + 1)   // fees
	if c.Bool() {
		c.Skip(2 + 16 + 2 + 2 + 2 + 4 + 4) // a dynamic fee
	}
	c.Skip(16 + 16) // the range
	opensBySlot := c.Byte() == 0
	hasRange := c.Byte() != dammCompounds
	if liquidity := c.Uint128(); hasRange {
		e.Liquidity = liquidity
	}
	e.SqrtPriceX96 = c.sqrtPrice()
	openAt := c.Uint64()
	c.Skip(1 + 1) // two marks
	r := market.Reserves{Pool: e.Pool, Reserve0: c.Amount(), Reserve1: c.Amount()}
	if c.Bad || opensBySlot && openAt > c.r.slot || !opensBySlot && !c.r.isOpen(openAt) {
		return
	}
	c.emit(e)
	c.emit(r)
}

// dammSwap is EvtSwap2. Its reserves are those after the swap.
func dammSwap(c *call) {
	pool := c.Key()
	fromB := c.Bool()
	hasRange := c.Byte() != dammCompounds
	c.Skip(1 + 8 + 8 + 1)                    // whether somebody referred, and what was asked for
	given, crossed := c.Amount(), c.Amount() // the latter without the fee
	c.Skip(8)                                // what is left of it
	got := c.Amount()
	price := c.sqrtPrice()
	if fees := sum(c.Amount(), c.Amount(), c.Amount(), c.Amount()); !fromB { // they are of the second token then, and taken of what comes out
		crossed = sum(got, fees)
	}
	c.Skip(8 + 8 + 8 + 8) // amounts with and without the fees of transfers, and the time
	r := market.Reserves{Pool: pool, Reserve0: c.Amount(), Reserve1: c.Amount()}
	if c.Bad || c.account(dammPool) != pool {
		return
	}
	trader := c.account(dammPayer)
	s := market.Swap{Pool: pool, Sender: trader, Recipient: trader, Amount0: in(given), Amount1: out(got), SqrtPriceX96: price}
	if fromB {
		s.Amount0, s.Amount1 = out(got), in(given)
	}
	if hasRange {
		s.Crossed = crossed
	}
	c.emit(market.PoolCreated{
		Protocol: market.MeteoraDAMMv2, Factory: c.p.key, Pool: pool, Token0: c.account(dammMintA), Token1: c.account(dammMintB), SqrtPriceX96: price, Seen: true,
	})
	c.emit(r)
	c.emit(s)
}

// dammLiquidity is EvtLiquidityChange. Its reserves are those after it.
func dammLiquidity(c *call) {
	r := market.Reserves{Pool: c.Key()}
	c.Skip(32 + 32)       // the position, and its owner
	c.Skip(8 + 8 + 8 + 8) // amounts
	r.Reserve0, r.Reserve1 = c.Amount(), c.Amount()
	change := in(c.Uint128())
	c.Skip(8 + 8) // limits
	if removes := c.Bool(); removes {
		change = change.Negate()
	}
	c.emit(r)
	c.emit(market.RangeLiquidity{Pool: r.Pool, Delta: change})
}
