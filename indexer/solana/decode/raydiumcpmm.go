package decode

import (
	"bytes"

	"github.com/boardwalkhq/boardwalk/indexer/solana/decode/borsh"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Raydium's CPMM. Layouts: the program's source (raydium-io/raydium-cp-swap, Apache-2.0). It tells its events in the log alone (Anchor's emit); they name reserves
// less what is owed to others. The token accounts of all pools are of one account, market.RaydiumCPMMHolder.

func (d *Decoder) raydiumCPMM(p *program) { p.runs = raydiumCPMM }

// The instructions, and the events.
var (
	cpmmInitialize           = instructionNamed("initialize")
	cpmmInitializePermission = instructionNamed("initialize_with_permission")
	cpmmSwapIn               = instructionNamed("swap_base_input")
	cpmmSwapOut              = instructionNamed("swap_base_output")
	cpmmDeposit              = instructionNamed("deposit")
	cpmmWithdraw             = instructionNamed("withdraw")

	cpmmSwapEvent     = eventNamed("SwapEvent")
	cpmmLpChangeEvent = eventNamed("LpChangeEvent")
)

// Accounts of a swap, and of a deposit and a withdrawal.
const (
	cpmmPool                      = 3
	cpmmPayer                     = 0
	cpmmInputMint, cpmmOutputMint = 10, 11
	cpmmLiquidityPool             = 2
	cpmmVaults                    = 6 // of a deposit and a withdrawal, too
)

func raydiumCPMM(c *call) {
	disc := c.Take(len(discriminator{}))
	if c.Bad {
		return
	}
	switch discriminator(disc) {
	case cpmmInitialize:
		c.cpmmCreated(3)
	case cpmmInitializePermission:
		c.cpmmCreated(4)
	case cpmmSwapIn, cpmmSwapOut:
		c.cpmmSwap()
	case cpmmDeposit, cpmmWithdraw:
		c.cpmmLiquidity()
	}
}

// cpmmCreated reads either of the two instructions that make a pool. They have the pool at different places. Behind it stand its two tokens, and five further its token accounts.
func (c *call) cpmmCreated(pool int) {
	first, second, ok := c.vaults(market.RaydiumCPMMHolder, pool+7)
	if !ok || c.account(pool+1) != first.token || c.account(pool+2) != second.token {
		return
	}
	c.Skip(8 + 8) // amounts
	if openAt := c.Uint64(); !c.Bad && c.r.isOpen(openAt) {
		c.opened(pool, &first, &second, market.RaydiumCPMM)
	}
}

// anchorEvent begins a line of the log that has an event in it (Anchor's emit).
var anchorEvent = []byte("data: ")

// told is the line of the log that tells an event in this call of the program.
func (c *call) told(event discriminator) (b borsh.Reader, ok bool) {
	for _, line := range c.linesOf(anchorEvent) {
		b = borsh.NewReader(line)
		if disc := b.Take(len(event)); !b.Bad && discriminator(disc) == event {
			return b, true
		}
	}
	return b, false
}

// cpmmSwap tells a swap by its event or, where the log is cut off, by what it did to the pool's token accounts.
func (c *call) cpmmSwap() {
	pool, given, got := c.account(cpmmPool), c.account(cpmmInputMint), c.account(cpmmOutputMint)
	if pool.IsNone() || given.IsNone() || got.IsNone() || given == got {
		return
	}
	var by [2]market.SignedAmount // of what is given, and of what is got
	var after [2]market.Amount
	b, told := c.told(cpmmSwapEvent)
	if told {
		of, before := b.Key(), [2]market.Amount{b.Amount(), b.Amount()}
		by = [2]market.SignedAmount{in(b.Amount()), out(b.Amount())}
		if b.Bad || of != pool {
			return
		}
		after = [2]market.Amount{by[0].AddedTo(before[0]), by[1].AddedTo(before[1])}
	} else {
		input, output, ok := c.vaults(market.RaydiumCPMMHolder, cpmmVaults)
		if !ok || input.token != given || output.token != got {
			return
		}
		changes, ok := c.changes(cpmmPool, &input, &output)
		if !ok {
			return
		}
		by = [2]market.SignedAmount(changes)
	}
	if bytes.Compare(given.Bytes(), got.Bytes()) > 0 { // a pool's first token is the one with the smaller key
		given, got = got, given
		by[0], by[1] = by[1], by[0]
		after[0], after[1] = after[1], after[0]
	}
	var reserves market.Event = market.ReservesMoved{Pool: pool, Change0: by[0], Change1: by[1]}
	if told {
		reserves = market.Reserves{Pool: pool, Reserve0: after[0], Reserve1: after[1]}
	}
	c.emit(market.PoolCreated{Protocol: market.RaydiumCPMM, Factory: c.p.key, Pool: pool, Token0: given, Token1: got, Seen: true})
	c.emit(reserves)
	c.emit(market.Swap{Pool: pool, Sender: c.account(cpmmPayer), Recipient: c.account(cpmmPayer), Amount0: by[0], Amount1: by[1]})
}

// cpmmLiquidity is a deposit or a withdrawal. Where the log is cut off it is told by what it did to the pool's token accounts.
func (c *call) cpmmLiquidity() {
	b, ok := c.told(cpmmLpChangeEvent)
	if !ok {
		c.moved(cpmmLiquidityPool, market.RaydiumCPMMHolder, cpmmVaults)
		return
	}
	r := market.Reserves{Pool: b.Key()}
	b.Skip(8) // liquidity tokens
	r.Reserve0, r.Reserve1 = b.Amount(), b.Amount()
	amount0, amount1 := b.Amount(), b.Amount()
	fee0, fee1 := b.Amount(), b.Amount()
	if withdraws := b.Bool(); withdraws { // amounts are what somebody got, without the fees of transfers
		r.Reserve0, r.Reserve1 = less(r.Reserve0, sum(amount0, fee0)), less(r.Reserve1, sum(amount1, fee1))
	} else {
		r.Reserve0, r.Reserve1 = sum(r.Reserve0, amount0), sum(r.Reserve1, amount1)
	}
	if !b.Bad && r.Pool == c.account(cpmmLiquidityPool) {
		c.emit(r)
	}
}
