package indexer

import (
	"context"
	"iter"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
)

// spiedBlocks shows the blocks that are read at the head.
type spiedBlocks struct {
	blockSource

	see func(chain.BlockRead)
}

func (s spiedBlocks) Blocks(ctx context.Context, headers []chain.Header) iter.Seq2[chain.BlockRead, error] {
	return func(yield func(chain.BlockRead, error) bool) {
		for b, err := range s.blockSource.Blocks(ctx, headers) {
			if err == nil {
				s.see(b)
			}
			if !yield(b, err) {
				return
			}
		}
	}
}

// SpyBlocks has a function told of each block that is read at the head.
func (ix *Indexer) SpyBlocks(see func(chain.BlockRead)) {
	ix.nodes.blockSource = spiedBlocks{ix.nodes.blockSource, see}
}
