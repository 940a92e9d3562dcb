package decode

import (
	"github.com/boardwalkhq/boardwalk/indexer/solana/decode/raylog"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Raydium's AMM v4. It has no IDL; docs/solana.md says what was read from recorded transactions. A swap tells its amounts, and the reserves by which it was
// priced, in a line of the log that begins with "ray_log: ". Those reserves are the pool's token accounts less what is owed to others. The token accounts of
// all pools are of one account, market.RaydiumAMMv4Holder.

func (d *Decoder) raydiumAMMv4(p *program) { p.runs = raydiumAMMv4 }

// The first byte of an instruction's data.
const (
	ammInitialize2   = 1
	ammDeposit       = 3
	ammWithdraw      = 4
	ammSwapBaseIn    = 9
	ammSwapBaseOut   = 11
	ammSwapBaseInV2  = 16
	ammSwapBaseOutV2 = 17
)

// Accounts of the instructions.
const (
	ammPool           = 1 // of all but initialize2
	ammInitializePool = 4
)

func raydiumAMMv4(c *call) {
	switch c.Byte() {
	case ammInitialize2:
		coin, pc, ok := c.vaults(market.RaydiumAMMv4Holder)
		if !ok {
			return
		}
		c.Skip(1) // a number that keys are derived with
		pool := c.account(ammInitializePool)
		if openAt := c.Uint64(); c.Bad || !c.r.isOpen(openAt) {
			return
		}
		c.emit(market.PoolCreated{Protocol: market.RaydiumAMMv4, Factory: c.p.key, Pool: pool, Token0: coin.token, Token1: pc.token})
		c.emit(market.Reserves{Pool: pool, Reserve0: coin.after, Reserve1: pc.after})
	case ammDeposit, ammWithdraw: // another one takes what is owed, which is no part of the reserves
		c.ammLiquidity()
	case ammSwapBaseIn, ammSwapBaseOut, ammSwapBaseInV2, ammSwapBaseOutV2:
		c.ammSwap()
	}
}

// ammLiquidity tells a deposit or a withdrawal by its line of the log, or, where the log is cut off, by what it did to the pool's token accounts.
func (c *call) ammLiquidity() {
	pool, line := c.account(ammPool), c.firstLine(rayLog)
	switch told, ok := raylog.Liquidity(line); {
	case pool.IsNone():
	case ok:
		r := market.Reserves{Pool: pool}
		r.Reserve0, r.Reserve1 = told.After()
		c.emit(r)
	case line == nil:
		c.moved(ammPool, market.RaydiumAMMv4Holder)
	}
}

// ammSwap tells a swap by its line of the log, or, where the log is cut off, by what it did to the pool's token accounts.
func (c *call) ammSwap() {
	coin, pc, ok := c.vaults(market.RaydiumAMMv4Holder)
	if !ok {
		return
	}
	pool := c.account(ammPool)
	told, ok := raylog.Swap(c.firstLine(rayLog))
	r := market.Reserves{Pool: pool}
	r.Reserve0, r.Reserve1 = told.After()
	var reserves market.Event = r
	if !ok {
		by, ok := c.changes(ammPool, &coin, &pc)
		if !ok {
			return
		}
		told.Coin, told.PC = by[0], by[1]
		reserves = market.ReservesMoved{Pool: pool, Change0: by[0], Change1: by[1]}
	}
	c.Bad = false // the rest of the instruction tells limits alone
	trader := c.account(len(c.r.tx.accountsOf(c.at)) - 1)
	c.emit(market.PoolCreated{Protocol: market.RaydiumAMMv4, Factory: c.p.key, Pool: pool, Token0: coin.token, Token1: pc.token, Seen: true})
	c.emit(reserves)
	c.emit(market.Swap{Pool: pool, Sender: trader, Recipient: trader, Amount0: told.Coin, Amount1: told.PC})
}

var rayLog = []byte("log: ray_log: ")
