// Package raylog reads the lines "ray_log: " by which Raydium's AMM v4 tells what it did. They have no description; docs/solana.md says what they have in them. The
// program's source (raydium-io/raydium-amm, Apache-2.0) writes them.
package raylog

import (
	"github.com/boardwalkhq/boardwalk/indexer/solana/decode/borsh"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// The kinds of lines, by their first byte.
const (
	deposit     = 1
	withdraw    = 2
	swapBaseIn  = 3
	swapBaseOut = 4
)

// coinToPC is the direction of a swap that gives the pool its first token; the other one gives it the second.
const coinToPC = 2

// Told is what a line tells of a pool: its reserves of the first and the second token before, less what is owed to others, and by how much they change.
type Told struct {
	CoinReserve, PCReserve market.Amount
	Coin, PC               market.SignedAmount
}

// After are the reserves after it. Where less than nothing would be left there is nothing.
func (t *Told) After() (coin, pc market.Amount) {
	return t.Coin.AddedTo(t.CoinReserve), t.PC.AddedTo(t.PCReserve)
}

// Swap reads the line of a swap, the first one that the program logged; ok is false where it is another one, or there is none.
func Swap(lines [][]byte) (t Told, ok bool) {
	b := first(lines)
	kind := b.Byte()
	given, got := b.Amount(), b.Amount()
	direction := b.Uint64()
	b.Skip(8) // what the user has
	t.CoinReserve, t.PCReserve = b.Amount(), b.Amount()
	switch last := b.Amount(); kind {
	case swapBaseIn:
		got = last // a limit stood in its place
	case swapBaseOut:
		given = last
	default:
		return t, false
	}
	if t.Coin, t.PC = in(got).Negate(), in(given); direction == coinToPC {
		t.Coin, t.PC = in(given), in(got).Negate()
	}
	return t, !b.Bad
}

// Liquidity reads the line of a deposit or of a withdrawal; ok is false where it is another one, or there is none.
func Liquidity(lines [][]byte) (t Told, ok bool) {
	b := first(lines)
	kind := b.Byte()
	if b.Skip(8 + 8); kind == deposit { // two limits and which of them counts, or what is given back and what the user has of it
		b.Skip(8)
	}
	t.CoinReserve, t.PCReserve = b.Amount(), b.Amount()
	b.Skip(8 + 16 + 16) // what there is of the pool's own token, and the reserves that its profit is counted from
	if t.Coin, t.PC = in(b.Amount()), in(b.Amount()); kind == withdraw {
		t.Coin, t.PC = t.Coin.Negate(), t.PC.Negate()
	}
	return t, !b.Bad && (kind == deposit || kind == withdraw)
}

func first(lines [][]byte) borsh.Reader {
	if len(lines) == 0 {
		return borsh.NewReader(nil)
	}
	return borsh.NewReader(lines[0])
}

func in(a market.Amount) market.SignedAmount { return market.SignedAmount{Abs: a} }
