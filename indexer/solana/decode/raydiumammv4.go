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
	ammWithdrawPnL   = 7
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

// ammVaults is the place of the pool's first token account, behind which the second one stands. A call with more accounts than usual has one more before them, which today's program
// doesn't check.
func ammVaults(instruction byte, accounts int) int {
	place, usual := 5, 11 // of a deposit and of a withdrawal
	switch instruction {
	case ammInitialize2:
		place, usual = 9, 19
	case ammSwapBaseInV2, ammSwapBaseOutV2:
		return 3
	case ammSwapBaseIn, ammSwapBaseOut:
		place, usual = 4, 17
	case ammWithdrawPnL:
		return 4
	}
	if accounts > usual {
		place++
	}
	return place
}

func raydiumAMMv4(c *call) {
	instruction, accounts := c.Byte(), len(c.r.tx.accountsOf(c.at))
	place := ammVaults(instruction, accounts)
	switch instruction {
	case ammInitialize2:
		coin, pc, ok := c.vaults(market.RaydiumAMMv4Holder, place)
		if !ok {
			return
		}
		c.Skip(1) // a number that keys are derived with
		if openAt := c.Uint64(); !c.Bad && c.r.isOpen(openAt) {
			c.opened(ammInitializePool, &coin, &pc, market.RaydiumAMMv4)
		}
	case ammDeposit, ammWithdraw:
		c.ammLiquidity(place)
	case ammWithdrawPnL: // all that is owed is taken: the token accounts have the reserves and nothing else. With more accounts an order book may have some of them.
		if coin, pc, ok := c.vaults(market.RaydiumAMMv4Holder, place); ok && accounts == 10 && c.isAlone(ammPool, &coin, &pc) {
			c.emit(market.Reserves{Pool: c.account(ammPool), Reserve0: coin.after, Reserve1: pc.after})
		}
	case ammSwapBaseIn, ammSwapBaseOut, ammSwapBaseInV2, ammSwapBaseOutV2:
		c.ammSwap(place)
	}
}

// ammLiquidity tells a deposit or a withdrawal by its line of the log, or, where the log is cut off, by what it did to the pool's token accounts.
func (c *call) ammLiquidity(place int) {
	pool, lines := c.account(ammPool), c.linesOf(rayLog)
	switch told, ok := raylog.Liquidity(lines); {
	case pool.IsNone():
	case ok:
		r := market.Reserves{Pool: pool}
		r.Reserve0, r.Reserve1 = told.After()
		c.emit(r)
	case len(lines) == 0:
		c.moved(ammPool, market.RaydiumAMMv4Holder, place)
	}
}

// ammSwap tells a swap by its line of the log, or, where the log is cut off, by what it did to the pool's token accounts.
func (c *call) ammSwap(place int) {
	coin, pc, ok := c.vaults(market.RaydiumAMMv4Holder, place)
	if !ok {
		return
	}
	pool := c.account(ammPool)
	told, ok := raylog.Swap(c.linesOf(rayLog))
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
	// The trader stands behind the token accounts of the pool and of the user, between which a call of the order book's time has eight more.
	trader := c.account(place + 4)
	if place > 3 {
		trader = c.account(place + 12)
	}
	c.emit(market.PoolCreated{Protocol: market.RaydiumAMMv4, Factory: c.p.key, Pool: pool, Token0: coin.token, Token1: pc.token, Seen: true})
	c.emit(reserves)
	c.emit(market.Swap{Pool: pool, Sender: trader, Recipient: trader, Amount0: told.Coin, Amount1: told.PC})
}

var rayLog = []byte("log: ray_log: ")
