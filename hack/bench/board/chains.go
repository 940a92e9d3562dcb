package board

import (
	"context"
	"fmt"
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// Chain is a chain that is written.
type Chain struct {
	ID string
	// Share is how much of the trades is on it, in percent.
	Share int
	// Mints are the launched tokens, those that are traded most first.
	Mints []market.Address

	writer *chainWriter
}

// Chains are those that are written.
func (m *Measurement) Chains() []Chain {
	out := make([]Chain, len(m.Arrivals.writers))
	for i, c := range m.Arrivals.writers {
		out[i] = Chain{ID: c.ID, Share: c.share, writer: c}
		for _, l := range c.launches {
			out[i].Mints = append(out[i].Mints, l.mint)
		}
	}
	return out
}

// BlockAt is the newest block at a time, in unix seconds.
func (c *Chain) BlockAt(at int64) uint64 { return c.writer.blockAt(at * 1000) }

// Add writes more rows of the past with the newest block.
func (c *Chain) Add(ctx context.Context, changes *market.Changes) error {
	last := c.writer.header(c.writer.last)
	err := c.writer.store.Commit(ctx, c.writer.lease, &store.Commit{
		Last: last, Blocks: []market.Header{last}, Horizon: last.Number - undoDepth, Changes: *changes,
		Head: store.HeadStatus{Number: last.Number, Time: last.Time, Safe: last.Number - 10, Final: last.Number - 30, FinalTime: c.writer.timeOf(last.Number - 30)},
	})
	if err != nil {
		return fmt.Errorf("chain %s: %w", c.ID, err)
	}
	return nil
}

// OnBlock has f add to what each block of a chain changes from now on, before it is written.
func (m *Measurement) OnBlock(chain string, f func(block market.Header, changes *market.Changes)) {
	i := slices.IndexFunc(m.Arrivals.writers, func(c *chainWriter) bool { return c.ID == chain })
	m.Arrivals.writers[i].onBlock = f
}

// Store is what the writers write to.
func (m *Measurement) Store() *store.Store { return m.Arrivals.store }
