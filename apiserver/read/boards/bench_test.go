package boards

import (
	"fmt"
	"runtime"
	"testing"
	"time"
	"unique"

	"github.com/boardwalkhq/boardwalk/apiserver/read/declared"
	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
	"github.com/boardwalkhq/boardwalk/apiserver/read/readtest"
	"github.com/boardwalkhq/boardwalk/internal/board"
	"github.com/boardwalkhq/boardwalk/internal/catalog"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
	"github.com/boardwalkhq/boardwalk/internal/traction"
)

const (
	benchChains   = 9
	benchLaunches = 100_000
	benchVenues   = 4
)

// benchRanker is a board of 100,000 launches on 9 chains. A third of them trade, a few with many wallets.
func benchRanker(tb testing.TB) (*Ranker, *declared.Catalog, int64) {
	tb.Helper()
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC).Unix()
	r := NewRanker(nil, nobody(), board.DefaultGate(), nil, nil)
	c := &catalog.Catalog{}
	for v := range benchVenues {
		c.Venues = append(c.Venues, catalog.Venue{ID: fmt.Sprint("venue-", v), Filter: fmt.Sprint("venue-", v)})
	}
	for n := range benchChains {
		id := fmt.Sprint("chain-", n)
		c.Chains = append(c.Chains, catalog.Chain{ID: id, Family: chainconfig.EVM})
		for v := range c.Venues {
			c.Venues[v].Chains = append(c.Venues[v].Chains, catalog.VenueChain{Chain: id})
		}
		b := newChainTokens(id, 0, launchesPerChain, nobody())
		b.status.Last = market.Header{Number: 1, Time: now}
		b.usd = figures.Prices{{Asset: markettest.Address(readtest.Wrapped), USD: 2000}}
		for i := range benchLaunches / benchChains {
			benchEntry(b, i, now)
		}
		r.chains[id] = b
	}
	in := declared.New(c)
	return r, in, now
}

func benchEntry(b *chainTokens, i int, now int64) {
	mint := markettest.Address(fmt.Sprintf("0xa0%038x", i))
	e := b.at(mint)
	e.isUnread = false
	token := figures.Token{
		Token: market.Token{
			Mint: mint, Name: fmt.Sprint("Token ", i, " of ", b.chain), Symbol: fmt.Sprint("T", i, b.chain), Pool: market.CurveID(mint), HasDecimals: true,
			HasSupply: true, Holders: market.Holders{Status: market.HoldersCurrent, Count: int64(i % 200)},
		},
		Pools: []market.Pool{{
			ID: market.CurveID(mint), Protocol: market.BondingCurve, Quote: markettest.Address(readtest.Wrapped), Price: 1e-5, Locked: float64(i%50) / 5, LastTradeAt: now,
		}},
	}
	token.Token.Supply.SetUint64(1e9)
	token.Pools[0].Day.VolumeUSD.SetUint64(uint64(i%40) * 1000 * 1e9)
	f := figures.NewFacts(&token)
	e.facts = &f
	b.take(e, &Launched{
		Mint: mint, Creator: mint, kind: unique.Make(launchKind{fmt.Sprint("venue-", i%benchVenues), market.LaunchOnCurve, market.TokensSold}), Name: token.Token.Name, Symbol: token.Token.Symbol, block: uint64(i), HasCurve: true,
		CreatedAt: now - int64(benchLaunches/benchChains-i)*60, Progress: float64(i % 100), HasProgress: true,
	})
	wallets := 0
	switch {
	case i%1000 == 0:
		wallets = 3000
	case i%3 == 0:
		wallets = 20
	}
	if wallets > 0 {
		e.tape = &traction.Tape{}
	}
	for w := range wallets {
		e.flowAt = uint32(now)
		e.tape.Add(traction.Flow{Wallet: markettest.Address(fmt.Sprintf("0xb0%038x", w)), Time: now - 3000 + int64(w), USD: 20, CloseUSD: 0.02, Sell: w%5 == 0})
	}
}

// rankAll is what a ranking does, every 15 seconds.
func rankAll(r *Ranker, in *declared.Catalog) {
	for _, b := range r.chains {
		b.measureTouched(&r.gate, true)
		b.live(true)
	}
	r.fold(true)
	r.place()
	rankRunning(r.chains, in)
	r.last = &Ranking{board: r.publish(true)}
}

// BenchmarkRank ranks everything anew.
func BenchmarkRank(b *testing.B) {
	r, in, now := benchRanker(b)
	rankAll(r, in)
	b.ReportAllocs()
	for b.Loop() {
		now += 15
		for _, k := range r.chains {
			k.status.Last.Time = now
		}
		rankAll(r, in)
	}
	b.StopTimer()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.HeapAlloc)/(1<<20), "MB-heap")
	runtime.KeepAlive(r)
}

// BenchmarkFoldAll folds all launches anew, which each ranking does.
func BenchmarkFoldAll(b *testing.B) {
	r, in, _ := benchRanker(b)
	rankAll(r, in)
	b.ReportAllocs()
	for b.Loop() {
		r.foldAll()
	}
}

// BenchmarkLook takes in the trades of half a second, 1,000 of them, between two rankings.
func BenchmarkLook(b *testing.B) {
	r, in, now := benchRanker(b)
	rankAll(r, in)
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		for _, k := range r.chains {
			for range 1000 / benchChains {
				e := k.entry(markettest.Address(fmt.Sprintf("0xa0%038x", n*7%(benchLaunches/benchChains))))
				l := *e.launch
				l.Progress = float64(n*31%1000) / 10
				k.take(e, &l)
				n++
			}
			k.status.Last.Time = now
			k.measureTouched(&r.gate, false)
			k.live(false)
		}
		r.fold(false)
		if r.place() {
			rankRunning(r.chains, in)
		}
		r.last = &Ranking{board: r.publish(false)}
	}
}

// BenchmarkPage makes a default page, and one of a filter.
func BenchmarkPage(b *testing.B) {
	r, in, _ := benchRanker(b)
	rankAll(r, in)
	s := r.last.Board(1, in, false)
	for name, q := range map[string]PageQuery{
		"default": {Sort: SortRunning, Launchpad: declared.AllLaunchpads, Chain: declared.AllBoardChains, Limit: 30},
		"new":     {Sort: SortNew, Launchpad: declared.AllLaunchpads, Chain: declared.AllBoardChains, Limit: 100},
		"filter":  {Sort: SortTrending, Launchpad: "venue-1", Chain: "chain-3", Limit: 30},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if p := s.Page(q); len(p.Cards) == 0 {
					b.Fatal("no cards")
				}
			}
		})
	}
}
