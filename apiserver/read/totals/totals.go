// Package totals counts what an index has altogether: launches, and tokens that have a price. Counting walks whole tables, so that a count is used for
// some minutes.
package totals

import (
	"context"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/boardwalkhq/boardwalk/internal/recent"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

const (
	// again is the age from which on a chain is counted anew. Until that is done the last count is the answer.
	again = 5 * time.Minute
	// countTime bounds the counting of one chain.
	countTime = time.Minute
	// kept bounds how many chains' counts are remembered.
	kept = 256
)

// Counts is what an index of a chain has.
type Counts = store.Counts

// Reader counts. Any number of goroutines may ask.
type Reader struct {
	store  *store.Store
	now    func() time.Time
	counts *recent.Cache[string, recent.Dated[Counts]]
	flight singleflight.Group
}

// NewReader has counted nothing yet.
func NewReader(st *store.Store, now func() time.Time) *Reader {
	return &Reader{store: st, now: now, counts: recent.New[string, recent.Dated[Counts]](kept)}
}

// Counts is what the chains have together. The first to ask for a chain waits until it is counted.
func (r *Reader) Counts(ctx context.Context, chains []string) (sum Counts, err error) {
	for _, chain := range chains {
		c, err := r.ofChain(ctx, chain)
		if err != nil {
			return sum, err
		}
		sum.Launches, sum.Graduated, sum.Tokens = sum.Launches+c.Launches, sum.Graduated+c.Graduated, sum.Tokens+c.Tokens
	}
	return sum, nil
}

func (r *Reader) ofChain(ctx context.Context, chain string) (Counts, error) {
	hit, had := r.counts.Get(chain)
	if had && r.now().Sub(hit.At) < again {
		return hit.Value, nil
	}
	made := r.flight.DoChan(chain, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), countTime) // the first caller's going away must not take it from the others
		defer cancel()
		at := r.now()
		c, err := r.store.Count(ctx, chain)
		if err == nil {
			r.counts.Put(chain, recent.Dated[Counts]{Value: c, At: at})
		}
		return c, err
	})
	if had {
		return hit.Value, nil
	}
	select {
	case out := <-made:
		c, _ := out.Val.(Counts)
		return c, out.Err
	case <-ctx.Done():
		return Counts{}, ctx.Err()
	}
}
