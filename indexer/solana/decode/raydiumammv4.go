package decode

import (
	"github.com/boardwalkhq/boardwalk/indexer/solana/decode/borsh"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Raydium's AMM v4. It has no IDL; docs/solana.md says what was read from recorded transactions. A swap tells its amounts, and the reserves by which it was
// priced, in a line of the log that begins with "ray_log: ". Those reserves are the pool's token accounts less what is owed to others. The token accounts of
// all pools are of one account, market.RaydiumAMMv4Holder.

func (d *Decoder) raydiumAMMv4(p *program) { p.runs = raydiumAMMv4 }

// The first byte of an instruction's data, and of what a swap's line has in it.
const (
	ammInitialize2   = 1
	ammDeposit       = 3
	ammWithdraw      = 4
	ammSwapBaseIn    = 9
	ammSwapBaseOut   = 11
	ammSwapBaseInV2  = 16
	ammSwapBaseOutV2 = 17

	ammToldSwapBaseIn  = 3
	ammToldSwapBaseOut = 4
)

// Accounts of the instructions.
const (
	ammPool           = 1 // of all but initialize2
	ammInitializePool = 4
)

// ammCoinToPC is the direction of a swap that gives the pool its first token; the other one gives it the second.
const ammCoinToPC = 2

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
		c.moved(ammPool, market.RaydiumAMMv4Holder)
	case ammSwapBaseIn, ammSwapBaseOut, ammSwapBaseInV2, ammSwapBaseOutV2:
		c.ammSwap()
	}
}

// ammSwap tells a swap by its line of the log, or, where the log is cut off, by what it did to the pool's token accounts.
func (c *call) ammSwap() {
	coin, pc, ok := c.vaults(market.RaydiumAMMv4Holder)
	if !ok {
		return
	}
	pool := c.account(ammPool)
	told, ok := c.ammTold()
	var reserves market.Event = market.Reserves{Pool: pool, Reserve0: moved(told.coinReserve, told.coin), Reserve1: moved(told.pcReserve, told.pc)}
	if !ok {
		by, ok := c.changes(ammPool, &coin, &pc)
		if !ok {
			return
		}
		told.coin, told.pc = by[0], by[1]
		reserves = market.ReservesMoved{Pool: pool, Change0: by[0], Change1: by[1]}
	}
	c.Bad = false // the rest of the instruction tells limits alone
	trader := c.account(len(c.r.tx.accountsOf(c.at)) - 1)
	c.emit(market.PoolCreated{Protocol: market.RaydiumAMMv4, Factory: c.p.key, Pool: pool, Token0: coin.token, Token1: pc.token, Seen: true})
	c.emit(reserves)
	c.emit(market.Swap{Pool: pool, Sender: trader, Recipient: trader, Amount0: told.coin, Amount1: told.pc})
}

// ammTold is what a swap's line tells: what the pool gets of either token, and its reserves before.
type ammTold struct {
	coin, pc               market.SignedAmount
	coinReserve, pcReserve market.Amount
}

var rayLog = []byte("log: ray_log: ")

// ammTold reads the swap's line: the first one that the program logs in this call of it.
func (c *call) ammTold() (t ammTold, ok bool) {
	lines := c.linesOf(rayLog)
	if len(lines) == 0 {
		return t, false
	}
	b := borsh.NewReader(lines[0])
	kind := b.Byte()
	given, got := b.Amount(), b.Amount()
	direction := b.Uint64()
	b.Skip(8) // what the user has
	t.coinReserve, t.pcReserve = b.Amount(), b.Amount()
	switch last := b.Amount(); kind {
	case ammToldSwapBaseIn:
		got = last // a limit stood in its place
	case ammToldSwapBaseOut:
		given = last
	default:
		return t, false
	}
	if t.coin, t.pc = out(got), in(given); direction == ammCoinToPC {
		t.coin, t.pc = in(given), out(got)
	}
	return t, !b.Bad
}
