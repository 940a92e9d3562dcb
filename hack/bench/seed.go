package main

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

// seeder writes a world into an empty database, by the store's own commits.
type seeder struct {
	world *world
	store *store.Store
	// byTime orders candles by when they close, as an indexer writes them: on PostgreSQL that is how they lie on the
	// disk. SQLite keeps them ordered by key whatever came first, and is faster in that order.
	byTime bool
	// done and all count work, in trades.
	progress *progress

	// last is the block under which everything is written.
	last    market.Header
	lease   *store.Lease
	changes market.Changes
	rows    int
}

// seed writes everything.
func seed(ctx context.Context, w *world, st *store.Store, byTime bool, what string) error {
	const candleWork, tradeWork, tokenWork = 3, 1, 2 // about how long they take
	s := &seeder{world: w, store: st, byTime: byTime, last: w.header(), progress: newProgress(what,
		int64(w.size.Trades)*(candleWork+tradeWork)+int64(w.size.Tokens)*tokenWork)}
	for chain := range worldChains {
		var err error
		if s.lease, err = st.Leases.Acquire(ctx, worldChains[chain].id, "bench", time.Hour); err != nil {
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
		if err := errors.Join(st.SetState(ctx, s.lease, store.ChainRunning, ""), st.Leases.Release(ctx, s.lease)); err != nil {
			return err
		}
	}
	s.progress.end()
	return nil
}

// commit writes what has been gathered once that is enough, or in any case.
func (s *seeder) commit(ctx context.Context, always bool) error {
	if s.rows == 0 || !always && s.rows < rowsPerCommit {
		return nil
	}
	last := s.last
	err := s.store.Commit(ctx, s.lease, &store.Commit{
		Last: last, Blocks: []market.Header{last}, Horizon: last.Number, Changes: s.changes,
		Head: store.HeadStatus{
			Number: last.Number, Time: last.Time, Safe: last.Number - 10, Final: last.Number - 30, FinalTime: last.Time - 30*blockTime,
		},
	})
	s.changes, s.rows = market.Changes{}, 0
	return err
}

// firstWords orders addresses as the databases do, quickly.
func firstWord(a market.Address) uint64 { return binary.BigEndian.Uint64(a.Bytes()) }

// tokens writes a chain's tokens, pools and quote prices, ordered by key.
func (s *seeder) tokens(ctx context.Context, chain int, work int64) error {
	w := s.world
	var tokens, pools []int
	for i := chain; i < len(w.tokens); i += len(worldChains) {
		tokens = append(tokens, i)
		for j := range int(w.tokens[i].pools) {
			pools = append(pools, int(w.tokens[i].firstPool)+j)
		}
	}
	slices.SortFunc(tokens, func(a, b int) int { return cmp.Compare(firstWord(w.tokens[a].mint), firstWord(w.tokens[b].mint)) })
	slices.SortFunc(pools, func(a, b int) int { return cmp.Compare(firstWord(w.pools[a].id), firstWord(w.pools[b].id)) })
	for _, q := range w.quoteRows(chain) {
		s.changes.Quotes = append(s.changes.Quotes, market.Change[market.Address, market.QuotePrice]{Key: q.Asset, After: &q})
		s.rows++
	}
	for _, i := range tokens {
		t := w.tokenRow(i)
		s.changes.Tokens = append(s.changes.Tokens, market.Change[market.Address, market.Token]{Key: t.Mint, After: &t})
		s.rows++
		if err := s.commit(ctx, false); err != nil {
			return err
		}
		s.progress.add(work)
	}
	for _, i := range pools {
		p := w.poolRow(i)
		s.changes.Pools = append(s.changes.Pools, market.Change[market.Address, market.Pool]{Key: p.ID, After: &p})
		s.rows++
		if err := s.commit(ctx, false); err != nil {
			return err
		}
	}
	return s.commit(ctx, true)
}

// candles folds a chain's trades, which are ordered by pool and time.
func (s *seeder) candles(ctx context.Context, trades []worldTrade, work int64) error {
	if s.byTime {
		trades = slices.Clone(trades)
		slices.SortStableFunc(trades, func(a, b worldTrade) int { return cmp.Compare(a.at, b.at) })
		f := newFolder(func(c market.Candle) error { return s.candle(ctx, c) })
		for i := range trades {
			row := s.world.tradeRow(&trades[i])
			if err := f.add(trades[i].pool, &row); err != nil {
				return err
			}
			s.progress.add(work)
		}
		return errors.Join(f.flush(), s.commit(ctx, true))
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
		return cmp.Compare(firstWord(s.world.pools[a[0].pool].id), firstWord(s.world.pools[b[0].pool].id))
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
		s.progress.add(work * int64(len(of)))
	}
	return s.commit(ctx, true)
}

func (s *seeder) candle(ctx context.Context, c market.Candle) error {
	s.changes.Candles = append(s.changes.Candles, market.Change[market.CandleKey, market.Candle]{Key: c.CandleKey, After: &c})
	s.rows++
	return s.commit(ctx, false)
}

// trades writes a chain's trades, which are ordered by time.
func (s *seeder) trades(ctx context.Context, trades []worldTrade, work int64) error {
	index := uint64(0)
	for i := range trades {
		if i > 0 && trades[i].at != trades[i-1].at {
			index = 0
		}
		row := s.world.tradeRow(&trades[i])
		row.LogIndex, row.Tx = index, txOf(row.Block, index)
		index++
		s.changes.Trades = append(s.changes.Trades, row)
		s.rows++
		if err := s.commit(ctx, false); err != nil {
			return err
		}
		s.progress.add(work)
	}
	return s.commit(ctx, true)
}

// txOf is the transaction of a place in a block.
func txOf(number, index uint64) market.TxID {
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

func newProgress(what string, all int64) *progress {
	return &progress{what: what, all: max(all, 1), began: now(), said: now()}
}

func (p *progress) add(n int64) {
	p.done += n
	if p.done%64 < n { // the clock need not be read each time
		p.at(p.done)
	}
}

// at says how far it is, now and then.
func (p *progress) at(done int64) {
	t := now()
	if done <= 0 || t.Sub(p.said) < 5*time.Second {
		return
	}
	p.said = t
	left := time.Duration(float64(t.Sub(p.began)) * (float64(p.all)/float64(done) - 1))
	say("%s: %.0f %%, %s left", p.what, 100*float64(done)/float64(p.all), max(left, 0).Round(time.Second))
}

func (p *progress) end() { say("%s: done in %s", p.what, now().Sub(p.began).Round(time.Second)) }
