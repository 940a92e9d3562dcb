package board

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/trust"
)

// metadataAtOnce is how many tokens' metadata one commit of the seeding writes.
const metadataAtOnce = 1000

func (w *boardWorld) seedling() *lab.Seedling {
	return &lab.Seedling{Name: Name, Size: w.size, Version: 2, Fill: func(ctx context.Context, st *store.Store, _ bool, what string) error {
		return seedBoard(ctx, w, st, what)
	}}
}

// boardSeeder writes one chain.
type boardSeeder struct {
	*lab.Seeder

	world *boardWorld
	part  *boardPart
}

// seedBoard writes everything: launches, their tokens and pools, what was fetched and checked of them, and the trades that
// the scores look at. It writes no candles of those: nothing that is measured reads them.
func seedBoard(ctx context.Context, w *boardWorld, st *store.Store, what string) error {
	progress := lab.NewProgress(what, int64(w.size.Launches+w.size.Trades))
	for i := range w.chains {
		p := &w.chains[i]
		s := &boardSeeder{&lab.Seeder{Store: st, Progress: progress, Last: p.header(p.blockAt(lab.WorldEnd * 1000))}, w, p}
		trades := w.tradesOf(i)
		if err := s.Chain(ctx, p.ID,
			func() error { return s.launches(ctx) },
			func() error { return s.trades(ctx, trades) },
			func() error { return s.beside(ctx) },
		); err != nil {
			return err
		}
	}
	progress.End()
	return nil
}

// quoteRows are the chain's wrapped coin and its stable as tokens, the pool between them, and their prices.
func (p *boardPart) quoteRows(to *market.Changes, nativeUSD float64, at int64) {
	for i, mint := range []market.Address{p.Native, p.USD} {
		t := market.Token{
			Mint: mint, Symbol: p.Coin, HasDecimals: true, Decimals: 18, FirstBlock: 1, FirstSeenAt: p.timeOf(1),
			Pool: lab.AddressOf(p.EVMChainID, 16, 0),
		}
		if t.Name = "Wrapped " + p.Coin; i == 1 {
			t.Name, t.Symbol, t.Decimals, t.Pool = "USD", "USD", p.USDDigits, market.Address{}
		}
		lab.Changed(&to.Tokens, mint, t)
	}
	pool := p.nativePool(nativeUSD, at)
	lab.Changed(&to.Pools, pool.ID, pool)
	lab.Changed(&to.Quotes, p.USD, market.QuotePrice{Asset: p.USD, USD: 1, Pegged: true})
	lab.Changed(&to.Quotes, p.Native, market.QuotePrice{Asset: p.Native, USD: nativeUSD})
}

// nativePool is the pool that prices the chain's coin.
func (p *boardPart) nativePool(usd float64, at int64) market.Pool {
	const locked = 2e7
	return market.Pool{
		ID: lab.AddressOf(p.EVMChainID, 16, 0), Protocol: market.UniswapV2, Factory: p.V2, Token0: p.Native, Token1: p.USD, FeePips: 3000,
		CreatedBlock: 1, CreatedAt: p.timeOf(1), Base: p.Native, Quote: p.USD, BaseIs0: true, Price: usd, Depth: locked / 100, Locked: locked,
		Reserve0: lab.RawAmount(locked/2/usd, 18), Reserve1: lab.RawAmount(locked/2, p.USDDigits), LastTradeAt: at,
		Day: market.Window{ReferenceUSD: p.NativeUSD},
	}
}

// launches writes a chain's launches with their tokens and pools, in the order of their keys.
func (s *boardSeeder) launches(ctx context.Context) error {
	p := s.part
	p.quoteRows(&s.Changes, p.NativeUSD, lab.WorldEnd)
	list := slices.Clone(p.launches)
	slices.SortFunc(list, func(a, b *boardLaunch) int { return lab.ByKey(a.mint, b.mint) })
	for _, l := range list {
		lab.Changed(&s.Changes.Launches, l.mint, l.row())
		lab.Changed(&s.Changes.Tokens, l.mint, l.token())
		lab.Changed(&s.Changes.Pools, l.poolID(), l.poolRow())
		if l.state == market.LaunchGraduated {
			lab.Changed(&s.Changes.Pools, market.CurveID(l.mint), l.emptied())
		}
		if err := s.Wrote(ctx, 3, 1); err != nil {
			return err
		}
	}
	return s.Commit(ctx)
}

// trades writes a chain's trades.
func (s *boardSeeder) trades(ctx context.Context, trades []boardTrade) error {
	p := s.part
	var last uint64
	index := uint64(0)
	for i := range trades {
		t := &trades[i]
		number := p.blockAt(t.ms)
		if index++; number != last {
			last, index = number, 0
		}
		row := t.launch.tradeRow(number, t.usd/p.NativeUSD/t.launch.price(), t.usd/p.NativeUSD, p.NativeUSD, s.world.wallet(p, int(t.trader)), t.sell)
		row.LogIndex, row.Tx = index, lab.TxOf(number, index)
		s.Changes.Trades = append(s.Changes.Trades, row)
		if err := s.Wrote(ctx, 1, 1); err != nil {
			return err
		}
	}
	return s.Commit(ctx)
}

// wallet is the n-th of a chain.
func (w *boardWorld) wallet(p *boardPart, n int) market.Address {
	return lab.AddressOf(w.size.Seed, 24, p.index<<24|n)
}

// beside writes what was fetched of nine in ten launches and what was checked of some.
func (s *boardSeeder) beside(ctx context.Context) error {
	p := s.part
	rng := rand.New(rand.NewPCG(s.world.size.Seed, 33<<40|uint64(p.index)))
	for part := range slices.Chunk(p.launches, metadataAtOnce) {
		var list []store.TokenMetadata
		var reports []store.TrustRow
		for rank, l := range part {
			if rng.IntN(10) > 0 {
				list = append(list, l.metadata(rng, lab.WorldEnd-60))
			}
			if rank < len(part)/boardActive && l.traded {
				reports = append(reports, l.report(rng, lab.WorldEnd-60))
			}
		}
		if err := errors.Join(s.Store.Metadata.Save(ctx, s.Lease, list), s.Store.Trust.Save(ctx, s.Lease, reports)); err != nil {
			return err
		}
	}
	return nil
}

// metadata is what fetching it gave: for one in ten nothing.
func (l *boardLaunch) metadata(rng *rand.Rand, at int64) store.TokenMetadata {
	m := store.TokenMetadata{Mint: l.mint, Status: store.MetadataFetched, Attempts: 1, FetchedAt: at}
	if rng.IntN(10) == 0 {
		m.Status, m.Reason = store.MetadataFailed, "not_found"
		return m
	}
	m.ImageURL = "https://bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi.example/" + l.mint.String() + ".png"
	m.Description = l.name + " is a token on " + l.part.ID + "."
	if rng.IntN(2) == 0 {
		m.X = "https://x.com/" + l.symbol
	}
	if rng.IntN(3) == 0 {
		m.Telegram = "https://t.me/" + l.symbol
	}
	if rng.IntN(4) == 0 {
		m.Website = "https://" + l.mint.String() + ".example/"
	}
	return m
}

// report is what checking it gave: of one in fifty that it is dangerous.
func (l *boardLaunch) report(rng *rand.Rand, at int64) store.TrustRow {
	row := store.TrustRow{Mint: l.mint, CheckedAt: at, Verdict: string(trust.OK)}
	if rng.IntN(50) == 0 {
		row.Critical, row.Verdict = true, string(trust.Danger)
	}
	row.Report, _ = json.Marshal(trust.Report{ // its values are texts and numbers
		Chain: l.part.ID, Mint: l.mint.String(), At: time.Unix(at, 0).UTC(), CheckedAt: time.Unix(at, 0).UTC(),
		Checks: []trust.Check{}, Checker: trust.Checker{ID: "bench", Version: "1"},
	})
	return row
}
