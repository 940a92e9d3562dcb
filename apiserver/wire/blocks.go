package wire

import (
	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
)

// Blocks names the block in which a token last changed.
func Blocks(t *figures.Token) contract.Blocks {
	out := contract.Blocks{}
	NoteBlock(out, t.Chain, t.Changed.Block)
	return out
}

// NoteBlock names a block of a chain unless a newer one is named. Nothing says that it stays. 0 is none: of what has not changed since
// before blocks were noted, none is known.
func NoteBlock(in contract.Blocks, chain string, number uint64) {
	if int64(number) > in[chain].Number {
		in[chain] = contract.BlockRef{Number: int64(number), Finality: contract.FinalityLatest}
	}
}
