package solana

import (
	"context"
	"io"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
)

// TransactionsPerBlock is how many transactions a block of Past has.
const TransactionsPerBlock = votes + failed + others + pastTrades

// pastTrades is how many trades a block of Past has.
const pastTrades = 450

// Past is a stand-in of a node that serves blocks of the mainnet's shape, which are all there at once.
type Past struct {
	URL    string
	Config *chainconfig.Chain
	// First and Last are the slots of the first and the last block of that shape; each slot between has one. FirstHeight is the first one's height.
	First, Last, FirstHeight uint64
	// BlockBytes is how long the last block is.
	BlockBytes int

	served *served
}

// Close ends it.
func (p *Past) Close() { p.served.close() }

// ServePast serves so many blocks.
func ServePast(ctx context.Context, blocks int) (*Past, error) {
	s, err := serve(ctx, 100_000, pastTrades)
	if err != nil {
		return nil, err
	}
	p := &Past{URL: s.url, Config: configOf(s), FirstHeight: uint64(len(s.node.blocks)) + 1, served: s}
	for n := range blocks {
		b := s.next(pastTrades)
		if n == 0 {
			p.First = b.slot
		}
		if p.Last = b.slot; n == blocks-1 {
			var counted counter
			b.write(&counted, n, true)
			p.BlockBytes = int(counted)
		}
	}
	for range finalDepth {
		s.next(0)
	}
	return p, nil
}

// finalDepth is how many blocks are above the newest final one.
const finalDepth = 64

// counter counts what is written to it.
type counter int

var _ io.Writer = (*counter)(nil)

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}
