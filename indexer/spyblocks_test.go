package indexer

import (
	"context"
	"iter"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
)

// spiedNodes shows the blocks that are read at the head.
type spiedNodes struct {
	nodes

	see func(chain.BlockRead)
}

func (n spiedNodes) Blocks(ctx context.Context, headers []chain.Header) iter.Seq2[chain.BlockRead, error] {
	return func(yield func(chain.BlockRead, error) bool) {
		for b, err := range n.nodes.Blocks(ctx, headers) {
			if err == nil {
				n.see(b)
			}
			if !yield(b, err) {
				return
			}
		}
	}
}

// SpyBlocks has a function told of each block that is read at the head.
func (ix *Indexer) SpyBlocks(see func(chain.BlockRead)) { ix.nodes = spiedNodes{ix.nodes, see} }
