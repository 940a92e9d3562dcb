package lab

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
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
	Progress *progress

	// Last is the block under which everything is written.
	Last    market.Header
	Lease   *store.Lease
	Changes market.Changes
	Rows    int
}

// seed writes everything.
func seed(ctx context.Context, w *World, st *store.Store, byTime bool, what string) error {
	const candleWork, tradeWork, tokenWork = 3, 1, 2 // about how long they take
	s := &Seeder{world: w, Store: st, byTime: byTime, Last: w.header(), Progress: NewProgress(what,
		int64(w.size.Trades)*(candleWork+tradeWork)+int64(w.size.Tokens)*tokenWork)}
	for chain := range worldChains {
		var err error
		if s.Lease, err = st.Leases.Acquire(ctx, worldChains[chain].ID, "bench", time.Hour); err != nil {
			return err
		}
		trades := w.tradesOf(chain)
		if err := s.tokens(ctx, chain, tokenWork); err != nil {
			return err
		}
		if err := s.candles(ctx, trades, candleWork); err != nil {
			return err
		}
		slices.SortFunc(trades, func(a, b worldTrade) int {
			return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.pool, b.pool))
		})
		if err := s.trades(ctx, trades, tradeWork); err != nil {
			return err
		}
		if err := errors.Join(st.SetState(ctx, s.Lease, store.ChainRunning, ""), st.Leases.Release(ctx, s.Lease)); err != nil {
			return err
		}
	}
	s.Progress.End()
	return nil
}

// Commit writes what has been gathered once that is enough, or in any case.
func (s *Seeder) Commit(ctx context.Context, always bool) error {
	if s.Rows == 0 || !always && s.Rows < rowsPerCommit {
		return nil
	}
	last := s.Last
	err := s.Store.Commit(ctx, s.Lease, &store.Commit{
		Last: last, Blocks: []market.Header{last}, Horizon: last.Number, Changes: s.Changes,
		Head: store.HeadStatus{
			Number: last.Number, Time: last.Time, Safe: last.Number - 10, Final: last.Number - 30, FinalTime: last.Time - 30*blockTime,
		},
	})
	s.Changes, s.Rows = market.Changes{}, 0
	return err
}

// firstWords orders addresses as the databases do, quickly.
func FirstWord(a market.Address) uint64 { return binary.BigEndian.Uint64(a.Bytes()) }

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
	slices.SortFunc(tokens, func(a, b int) int { return cmp.Compare(FirstWord(w.Tokens[a].Mint), FirstWord(w.Tokens[b].Mint)) })
	slices.SortFunc(pools, func(a, b int) int { return cmp.Compare(FirstWord(w.pools[a].id), FirstWord(w.pools[b].id)) })
	for _, q := range w.quoteRows(chain) {
		s.Changes.Quotes = append(s.Changes.Quotes, market.Change[market.Address, market.QuotePrice]{Key: q.Asset, After: &q})
		s.Rows++
	}
	for _, i := range tokens {
		t := w.tokenRow(i)
		s.Changes.Tokens = append(s.Changes.Tokens, market.Change[market.Address, market.Token]{Key: t.Mint, After: &t})
		s.Rows++
		if err := s.Commit(ctx, false); err != nil {
			return err
		}
		s.Progress.Add(work)
	}
	for _, i := range pools {
		p := w.poolRow(i)
		s.Changes.Pools = append(s.Changes.Pools, market.Change[market.Address, market.Pool]{Key: p.ID, After: &p})
		s.Rows++
		if err := s.Commit(ctx, false); err != nil {
			return err
		}
	}
	return s.Commit(ctx, true)
}

// candles folds a chain's trades, which are ordered by pool and time.
func (s *Seeder) candles(ctx context.Context, trades []worldTrade, work int64) error {
	if s.byTime {
		trades = slices.Clone(trades)
		slices.SortStableFunc(trades, func(a, b worldTrade) int { return cmp.Compare(a.at, b.at) })
		f := newFolder(func(c market.Candle) error { return s.candle(ctx, c) })
		for i := range trades {
			row := s.world.tradeRow(&trades[i])
			if err := f.add(trades[i].pool, &row); err != nil {
				return err
			}
			s.Progress.Add(work)
		}
		return errors.Join(f.flush(), s.Commit(ctx, true))
	}
	var pools [][]worldTrade
	for rest := trades; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].pool == rest[0].pool {
			n++
		}
		pools = append(pools, rest[:n])
		rest = rest[n:]
	}
	slices.SortFunc(pools, func(a, b []worldTrade) int {
		return cmp.Compare(FirstWord(s.world.pools[a[0].pool].id), FirstWord(s.world.pools[b[0].pool].id))
	})
	var candles []market.Candle
	f := newFolder(func(c market.Candle) error {
		candles = append(candles, c)
		return nil
	})
	for _, of := range pools {
		candles = candles[:0]
		for i := range of {
			row := s.world.tradeRow(&of[i])
			if err := f.add(of[i].pool, &row); err != nil {
				return err
			}
		}
		if err := f.flush(); err != nil {
			return err
		}
		slices.SortFunc(candles, func(a, b market.Candle) int {
			return cmp.Or(cmp.Compare(a.Interval, b.Interval), cmp.Compare(a.Open, b.Open))
		})
		for i := range candles {
			if err := s.candle(ctx, candles[i]); err != nil {
				return err
			}
		}
		s.Progress.Add(work * int64(len(of)))
	}
	return s.Commit(ctx, true)
}

func (s *Seeder) candle(ctx context.Context, c market.Candle) error {
	s.Changes.Candles = append(s.Changes.Candles, market.Change[market.CandleKey, market.Candle]{Key: c.CandleKey, After: &c})
	s.Rows++
	return s.Commit(ctx, false)
}

// trades writes a chain's trades, which are ordered by time.
func (s *Seeder) trades(ctx context.Context, trades []worldTrade, work int64) error {
	index := uint64(0)
	for i := range trades {
		if i > 0 && trades[i].at != trades[i-1].at {
			index = 0
		}
		row := s.world.tradeRow(&trades[i])
		row.LogIndex, row.Tx = index, TxOf(row.Block, index)
		index++
		s.Changes.Trades = append(s.Changes.Trades, row)
		s.Rows++
		if err := s.Commit(ctx, false); err != nil {
			return err
		}
		s.Progress.Add(work)
	}
	return s.Commit(ctx, true)
}

// TxOf is the transaction of a place in a block.
func TxOf(number, index uint64) market.TxID {
	var h market.Hash
	binary.BigEndian.PutUint64(h[8:], number*0x9e3779b97f4a7c15)
	binary.BigEndian.PutUint64(h[24:], index)
	return market.EVMTx(h)
}

// progress tells how far something is and how long it still takes.
type progress struct {
	what      string
	done, all int64
	began     time.Time
	said      time.Time
}

func NewProgress(what string, all int64) *progress {
	return &progress{what: what, all: max(all, 1), began: Now(), said: Now()}
}

func (p *progress) Add(n int64) {
	p.done += n
	if p.done%64 < n { // the clock need not be read each time
		p.At(p.done)
	}
}

// At says how far it is, now and then.
func (p *progress) At(done int64) {
	t := Now()
	if done <= 0 || t.Sub(p.said) < 5*time.Second {
		return
	}
	p.said = t
	left := time.Duration(float64(t.Sub(p.began)) * (float64(p.all)/float64(done) - 1))
	Say("%s: %.0f %%, %s left", p.what, 100*float64(done)/float64(p.all), max(left, 0).Round(time.Second))
}

func (p *progress) End() { Say("%s: done in %s", p.what, Now().Sub(p.began).Round(time.Second)) }
