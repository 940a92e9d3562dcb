package lab

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// rowsPerCommit is how many rows one commit of the seeding writes.
const rowsPerCommit = 20_000

// Seeder writes a world into an empty database, by the store's own commits.
type Seeder struct {
	world *World
	Store *store.Store
	// byTime orders candles by when they close, as an indexer writes them: on PostgreSQL that is how they lie on the
	// disk. SQLite keeps them ordered by key whatever came first, and is faster in that order.
	byTime bool
	// done and all count work, in trades.
	Progress *Progress

	// Last is the block under which everything is written.
	Last    market.Header
	Lease   *store.Lease
	Changes market.Changes
	rows    int
}

// seed writes everything.
func seed(ctx context.Context, w *World, st *store.Store, byTime bool, what string) error {
	const candleWork, tradeWork, tokenWork = 3, 1, 2 // about how long they take
	s := &Seeder{world: w, Store: st, byTime: byTime, Last: w.header(), Progress: NewProgress(what,
		int64(w.size.Trades)*(candleWork+tradeWork)+int64(w.size.Tokens)*tokenWork)}
	for chain := range worldChains {
		trades := w.tradesOf(chain)
		if err := s.Chain(ctx, worldChains[chain].ID,
			func() error { return s.tokens(ctx, chain, tokenWork) },
			func() error { return s.candles(ctx, trades, candleWork) },
			func() error {
				slices.SortFunc(trades, func(a, b worldTrade) int {
					return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.pool, b.pool))
				})
				return s.trades(ctx, trades, tradeWork)
			},
		); err != nil {
			return err
		}
	}
	s.Progress.End()
	return nil
}

// Chain has steps write a chain, under a lease, and says that it is read.
func (s *Seeder) Chain(ctx context.Context, id string, steps ...func() error) (err error) {
	if s.Lease, err = s.Store.Leases.Acquire(ctx, id, "bench", time.Hour); err != nil {
		return err
	}
	for _, step := range append(steps,
		func() error { return s.Store.SetState(ctx, s.Lease, store.ChainRunning, "") },
		func() error { return s.Store.Leases.Release(ctx, s.Lease) }) {
		if err := step(); err != nil {
			return fmt.Errorf("chain %s: %w", id, err)
		}
	}
	return nil
}

// Wrote counts rows and work that was done on them, and commits once there are enough rows.
func (s *Seeder) Wrote(ctx context.Context, rows int, work int64) error {
	s.rows += rows
	s.Progress.Add(work)
	if s.rows < rowsPerCommit {
		return nil
	}
	return s.Commit(ctx)
}

// Commit writes what has been gathered.
func (s *Seeder) Commit(ctx context.Context) error {
	if s.rows == 0 {
		return nil
	}
	last := s.Last
	err := s.Store.Commit(ctx, s.Lease, &store.Commit{
		Last: last, Blocks: []market.Header{last}, Horizon: last.Number, Changes: s.Changes,
		Head: store.HeadStatus{
			Number: last.Number, Time: last.Time, Safe: last.Number - 10, Final: last.Number - 30, FinalTime: last.Time - 30*blockTime,
		},
	})
	s.Changes, s.rows = market.Changes{}, 0
	return err
}

// Changed adds a row to a list of changes.
func Changed[K comparable, V any](list *[]market.Change[K, V], key K, row V) {
	*list = append(*list, market.Change[K, V]{Key: key, After: &row})
}

// ByKey orders addresses as the databases do, quickly.
func ByKey(a, b market.Address) int {
	return cmp.Compare(binary.BigEndian.Uint64(a.Bytes()), binary.BigEndian.Uint64(b.Bytes()))
}

// tokens writes a chain's tokens, pools and quote prices, ordered by key.
func (s *Seeder) tokens(ctx context.Context, chain int, work int64) error {
	w := s.world
	var tokens, pools []int
	for i := chain; i < len(w.Tokens); i += len(worldChains) {
		tokens = append(tokens, i)
		for j := range int(w.Tokens[i].pools) {
			pools = append(pools, int(w.Tokens[i].firstPool)+j)
		}
	}
	slices.SortFunc(tokens, func(a, b int) int { return ByKey(w.Tokens[a].Mint, w.Tokens[b].Mint) })
	slices.SortFunc(pools, func(a, b int) int { return ByKey(w.pools[a].id, w.pools[b].id) })
	c := &worldChains[chain]
	Changed(&s.Changes.Quotes, c.USD, market.QuotePrice{Asset: c.USD, USD: 1, Pegged: true})
	Changed(&s.Changes.Quotes, c.Native, market.QuotePrice{Asset: c.Native, USD: c.NativeUSD})
	s.rows += 2
	for _, i := range tokens {
		Changed(&s.Changes.Tokens, w.Tokens[i].Mint, w.tokenRow(i))
		if err := s.Wrote(ctx, 1, work); err != nil {
			return err
		}
	}
	for _, i := range pools {
		Changed(&s.Changes.Pools, w.pools[i].id, w.poolRow(i))
		if err := s.Wrote(ctx, 1, 0); err != nil {
			return err
		}
	}
	return s.Commit(ctx)
}

// candles folds a chain's trades, which are ordered by pool and time.
func (s *Seeder) candles(ctx context.Context, trades []worldTrade, work int64) error {
	write := func(c market.Candle) error {
		Changed(&s.Changes.Candles, c.CandleKey, c)
		return s.Wrote(ctx, 1, 0)
	}
	trades = slices.Clone(trades)
	if s.byTime {
		slices.SortStableFunc(trades, func(a, b worldTrade) int { return cmp.Compare(a.at, b.at) })
	} else {
		slices.SortStableFunc(trades, func(a, b worldTrade) int { return ByKey(s.world.pools[a.pool].id, s.world.pools[b.pool].id) })
	}
	var ofPool []market.Candle // all of a pool, where they are ordered by key
	f := NewFolder(write)
	if !s.byTime {
		f.emit = func(c market.Candle) error {
			ofPool = append(ofPool, c)
			return nil
		}
	}
	for i := range trades {
		row := s.world.tradeRow(&trades[i])
		if err := f.Add(&row); err != nil {
			return err
		}
		s.Progress.Add(work)
		if s.byTime || i+1 < len(trades) && trades[i+1].pool == trades[i].pool {
			continue
		}
		if err := f.flush(); err != nil {
			return err
		}
		slices.SortFunc(ofPool, func(a, b market.Candle) int {
			return cmp.Or(cmp.Compare(a.Interval, b.Interval), cmp.Compare(a.Open, b.Open))
		})
		for _, c := range ofPool {
			if err := write(c); err != nil {
				return err
			}
		}
		ofPool = ofPool[:0]
	}
	return errors.Join(f.flush(), s.Commit(ctx))
}

// trades writes a chain's trades, which are ordered by time.
func (s *Seeder) trades(ctx context.Context, trades []worldTrade, work int64) error {
	index := uint64(0)
	for i := range trades {
		if index++; i == 0 || trades[i].at != trades[i-1].at {
			index = 0
		}
		row := s.world.tradeRow(&trades[i])
		row.LogIndex, row.Tx = index, TxOf(row.Block, index)
		s.Changes.Trades = append(s.Changes.Trades, row)
		if err := s.Wrote(ctx, 1, work); err != nil {
			return err
		}
	}
	return s.Commit(ctx)
}

// TxOf is the transaction of a place in a block.
func TxOf(number, index uint64) market.TxID {
	var h market.Hash
	binary.BigEndian.PutUint64(h[8:], number*0x9e3779b97f4a7c15)
	binary.BigEndian.PutUint64(h[24:], index)
	return market.EVMTx(h)
}

// Progress tells how far something is and how long it still takes.
type Progress struct {
	what      string
	done, all int64
	began     time.Time
	said      time.Time
}

// NewProgress begins something of so much work.
func NewProgress(what string, all int64) *Progress {
	return &Progress{what: what, all: max(all, 1), began: Now(), said: Now()}
}

// Add says how far it is, now and then, after so much more work.
func (p *Progress) Add(n int64) {
	p.done += n
	if p.done%64 < n { // the clock need not be read each time
		p.At(p.done)
	}
}

// At says the same of work that was counted elsewhere.
func (p *Progress) At(done int64) {
	t := Now()
	if done <= 0 || t.Sub(p.said) < 5*time.Second {
		return
	}
	p.said = t
	left := time.Duration(float64(t.Sub(p.began)) * (float64(p.all)/float64(done) - 1))
	Say("%s: %.0f %%, %s left", p.what, 100*float64(done)/float64(p.all), max(left, 0).Round(time.Second))
}

// End says how long it took.
func (p *Progress) End() { Say("%s: done in %s", p.what, Now().Sub(p.began).Round(time.Second)) }
