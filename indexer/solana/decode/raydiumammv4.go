package decode

import (
	"bytes"
	"encoding/base64"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Raydium's AMM v4. It has no IDL; docs/solana.md says what was read from recorded transactions. A swap tells its amounts, and the reserves by which it was
// priced, in a line of the log that begins with "ray_log: ". Those reserves are the pool's token accounts less what is owed to others. The token accounts of
// all pools are of one account, market.RaydiumAMMv4Holder.

func (d *Decoder) raydiumAMMv4(p *program) { p.runs = raydiumAMMv4 }

// The first byte of an instruction's data, and of what a swap's line has in it.
const (
	ammInitialize2   = 1
	ammSwapBaseIn    = 9
	ammSwapBaseOut   = 11
	ammSwapBaseInV2  = 16
	ammSwapBaseOutV2 = 17

	ammToldSwapBaseIn  = 3
	ammToldSwapBaseOut = 4
)

// Accounts of the instructions.
const (
	ammSwapPool       = 1
	ammInitializePool = 4
)

// ammCoinToPC is the direction of a swap that gives the pool its first token; the other one gives it the second.
const ammCoinToPC = 2

func raydiumAMMv4(c *call) {
	switch c.byte() {
	case ammInitialize2:
		coin, pc, ok := c.ammVaults()
		if !ok {
			return
		}
		pool := c.account(ammInitializePool)
		c.emit(market.PoolCreated{Protocol: market.RaydiumAMMv4, Factory: c.p.key, Pool: pool, Token0: coin.token, Token1: pc.token})
		c.emit(market.Reserves{Pool: pool, Reserve0: coin.after, Reserve1: pc.after})
	case ammSwapBaseIn, ammSwapBaseOut, ammSwapBaseInV2, ammSwapBaseOutV2:
		c.ammSwap()
	}
}

// vault is a token account of a pool.
type vault struct {
	token         market.Address
	before, after market.Amount
}

// ammVaults finds the pool's token accounts among those of the instruction: the first two that are its holder's, that of the pool's first token before that of
// its second.
func (c *call) ammVaults() (coin, pc vault, ok bool) {
	var found []vault
	for _, place := range c.r.tx.accountsOf(c.at) {
		for k := range c.r.tx.post {
			if b := &c.r.tx.post[k]; b.account == place && c.r.key(b.owner) == market.RaydiumAMMv4Holder {
				found = append(found, vault{token: c.r.key(b.mint), after: amountOf(b.amount), before: c.r.before(place)})
			}
		}
	}
	if len(found) < 2 || found[0].token == found[1].token {
		return coin, pc, false
	}
	return found[0], found[1], true
}

// before is what a token account had before the transaction.
func (r *reader) before(account uint16) (a market.Amount) {
	for k := range r.tx.pre {
		if b := &r.tx.pre[k]; b.account == account {
			return amountOf(b.amount)
		}
	}
	return a
}

// ammSwap tells a swap by its line of the log, or, where the log is cut off, by what the transaction did to the pool's token accounts, if it was the only swap of
// the pool there.
func (c *call) ammSwap() {
	coin, pc, ok := c.ammVaults()
	if !ok {
		return
	}
	pool := c.account(ammSwapPool)
	told, ok := c.ammTold()
	if !ok && c.swapsOf(pool) == 1 {
		told, ok = ammTold{
			coin: in(coin.after).Add(out(coin.before)), pc: in(pc.after).Add(out(pc.before)), coinReserve: coin.before, pcReserve: pc.before,
		}, true
	}
	if !ok {
		return
	}
	c.bad = false // the rest of the instruction tells limits alone
	trader := c.account(len(c.r.tx.accountsOf(c.at)) - 1)
	c.emit(market.PoolCreated{Protocol: market.RaydiumAMMv4, Factory: c.p.key, Pool: pool, Token0: coin.token, Token1: pc.token, Seen: true})
	c.emit(market.Reserves{Pool: pool, Reserve0: moved(told.coinReserve, told.coin), Reserve1: moved(told.pcReserve, told.pc)})
	c.emit(market.Swap{Pool: pool, Sender: trader, Recipient: trader, Amount0: told.coin, Amount1: told.pc})
}

// swapsOf counts the instructions of the transaction that may be swaps of a pool.
func (c *call) swapsOf(pool market.Address) (n int) {
	for i := range c.r.tx.instructions {
		at := &c.r.tx.instructions[i]
		if at.program != c.at.program {
			continue
		}
		if accounts := c.r.tx.accountsOf(at); len(accounts) > ammSwapPool && c.r.key(c.r.tx.keys[accounts[ammSwapPool]]) == pool {
			n++
		}
	}
	return n
}

// ammTold is what a swap's line tells: what the pool gets of either token, and its reserves before.
type ammTold struct {
	coin, pc               market.SignedAmount
	coinReserve, pcReserve market.Amount
}

var rayLog = []byte("Program log: ray_log: ")

// ammTold reads the swap's line: the first one that the program logs in this call of it.
func (c *call) ammTold() (t ammTold, ok bool) {
	line := c.r.logOf(c.at, rayLog)
	raw, err := base64.StdEncoding.AppendDecode(nil, line)
	if err != nil {
		return t, false
	}
	b := body{b: raw}
	kind := b.byte()
	given, got := b.amount(), b.amount()
	direction := b.uint64()
	b.skip(8) // what the user has
	t.coinReserve, t.pcReserve = b.amount(), b.amount()
	switch last := b.amount(); kind {
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
	return t, !b.bad
}

// Lines of the log by which the runtime tells calls of programs. Whatever a program logs itself begins with "Program log: " or "Program data: ".
var (
	logInvoke  = []byte(" invoke [")
	logSuccess = []byte(" success")
	logProgram = []byte("Program ")
)

// logOf is the rest of the first line that begins with a prefix among those that the call of a program logged itself, without those of the programs that it
// called. It is empty where there is none, or the log is cut off before.
func (r *reader) logOf(at *instruction, prefix []byte) []byte {
	// The calls of programs are logged in the order in which they ran, so that the one that is meant is as many-th as its instruction. Native programs log
	// their calls, too.
	nth := 0
	for i := range r.tx.instructions {
		if &r.tx.instructions[i] == at {
			break
		}
		if r.tx.instructions[i].program == at.program {
			nth++
		}
	}
	name, depth, inside := r.tx.keys[at.program], 0, 0
	for _, line := range r.tx.lines() {
		rest, ok := bytes.CutPrefix(line, logProgram)
		if !ok {
			continue
		}
		switch end := bytes.IndexByte(rest, ' '); {
		case end < 0:
		case bytes.HasPrefix(rest[end:], logInvoke):
			depth++
			if inside == 0 && bytes.Equal(rest[:end], name) {
				if nth == 0 {
					inside = depth
				}
				nth--
			}
		case bytes.Equal(rest[end:], logSuccess):
			if depth == inside && inside > 0 {
				return nil
			}
			depth--
		case inside > 0 && depth == inside && bytes.HasPrefix(line, prefix):
			return line[len(prefix):]
		}
	}
	return nil
}
