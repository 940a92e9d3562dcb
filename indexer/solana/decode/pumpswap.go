package decode

import "github.com/boardwalkhq/boardwalk/internal/market"

// PumpSwap, where pump.fun's tokens go. Layouts: the IDL of its SDK (npm @pump-fun/pump-swap-sdk, MIT), and a recorded sale. Its price is that of a constant
// product in which the quote's reserve has a virtual one added, which may be negative.

func (d *Decoder) pumpSwap(p *program) {
	p.events[eventNamed("CreatePoolEvent")] = pumpSwapCreated
	p.events[eventNamed("BuyEvent")] = pumpSwapBuy
	p.events[eventNamed("SellEvent")] = pumpSwapSell
	p.events[eventNamed("DepositEvent")] = pumpSwapLiquidity
	p.events[eventNamed("WithdrawEvent")] = pumpSwapLiquidity
}

// pumpSwapCreated is CreatePoolEvent.
func pumpSwapCreated(c *call) {
	c.Skip(8 + 2 + 32) // the time, the pool's number, its creator
	e := market.PoolCreated{Protocol: market.PumpSwap, Factory: c.p.key, Token0: c.Key(), Token1: c.Key()}
	c.Skip(1 + 1 + 8 + 8) // decimals, and what was asked to be put in
	r := market.Reserves{Reserve0: c.Amount(), Reserve1: c.Amount()}
	c.Skip(8 + 8 + 8 + 1) // liquidity tokens, and a bump
	e.Pool = c.Key()
	r.Pool = e.Pool
	c.emit(e)
	c.emit(r)
}

// Accounts of the program's instructions: the pool of all, the tokens of a trade, and the pool's token accounts where liquidity is put in or taken out.
const (
	pumpSwapPool                              = 0
	pumpSwapBase, pumpSwapQuote               = 3, 4
	pumpSwapBaseAccount, pumpSwapQuoteAccount = 9, 10
)

// pumpSwapPoolOf tells what the pool of a trade is, which may be older than the index: its tokens stand in the trade's instruction.
func (c *call) pumpSwapPoolOf(pool market.Address) {
	if c.account(pumpSwapPool) == pool {
		c.emit(market.PoolCreated{
			Protocol: market.PumpSwap, Factory: c.p.key, Pool: pool, Token0: c.account(pumpSwapBase), Token1: c.account(pumpSwapQuote), Seen: true,
		})
	}
}

// pumpSwapBuy is BuyEvent. Reserves are those before the trade; what the pool gets is the price with the fee for its providers.
func pumpSwapBuy(c *call) {
	t := c.pumpSwapTrade()
	if c.More() {
		c.Skip(1 + 8 + 8 + 8 + 8 + 8) // volumes, and the least that was wanted
		c.Bytes()                     // the instruction's name
	}
	c.pumpSwapEmit(&t, out(t.base), in(t.withFee))
}

// pumpSwapSell is SellEvent. What the pool gives is the price without the fee for its providers, of which fees of others are taken.
func pumpSwapSell(c *call) {
	t := c.pumpSwapTrade()
	c.pumpSwapEmit(&t, in(t.base), out(t.withFee))
}

// pumpSwapTrade is what both events begin with.
type pumpSwapTrade struct {
	pool, user                market.Address
	base, withFee             market.Amount
	baseReserve, quoteReserve market.Amount
}

func (c *call) pumpSwapTrade() (t pumpSwapTrade) {
	c.Skip(8) // the time
	t.base = c.Amount()
	c.Skip(8 + 8 + 8) // a limit, and what the user has
	t.baseReserve, t.quoteReserve = c.Amount(), c.Amount()
	c.Skip(8 + 8 + 8 + 8 + 8) // the price without fees, and two fees with their rates
	t.withFee = c.Amount()
	c.Skip(8) // what the user gives or gets
	t.pool, t.user = c.Key(), c.Key()
	c.Skip(32 + 32 + 32 + 32) // token accounts, and the fee's recipient
	if c.More() {
		c.Skip(32 + 8 + 8) // the creator with the rate and the fee
	}
	return t
}

// pumpSwapEmit ends a trade: base and quote are what the pool gets.
func (c *call) pumpSwapEmit(t *pumpSwapTrade, base, quote market.SignedAmount) {
	r := market.Reserves{Pool: t.pool}
	if c.More() {
		c.Skip(8 + 8 + 8 + 8) // cashback and buyback
	}
	if c.More() {
		r.Virtual1, r.TellsVirtual = c.Int128(), true
	}
	if c.Bad {
		return
	}
	r.Reserve0, r.Reserve1 = base.AddedTo(t.baseReserve), quote.AddedTo(t.quoteReserve)
	c.pumpSwapPoolOf(t.pool)
	c.emit(r)
	c.emit(market.Swap{Pool: t.pool, Sender: t.user, Recipient: t.user, Amount0: base, Amount1: quote})
}

// pumpSwapLiquidity is DepositEvent and WithdrawEvent: the pool has what its accounts have after the transaction.
func pumpSwapLiquidity(c *call) {
	pool := c.account(pumpSwapPool)
	base, knowsBase := c.balanceAfter(pumpSwapBaseAccount)
	quote, knowsQuote := c.balanceAfter(pumpSwapQuoteAccount)
	if knowsBase && knowsQuote {
		c.emit(market.Reserves{Pool: pool, Reserve0: base, Reserve1: quote})
	}
}
