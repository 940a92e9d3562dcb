package apiserver_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// BenchmarkFollowing asks for what is new, with nothing new and with ever more, and for the feed's first page.
func BenchmarkFollowing(b *testing.B) {
	for _, kind := range storetest.Both {
		st, err := store.Open(b.Context(), storetest.DSN(b, kind))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = st.Close() })
		fill(b, st)
		x := newTraders(b, st)
		many := make([]trade, 200)
		for i := range many {
			many[i] = trade{adasWallet, token, i%2 == 0, 1, float64(5 + i)}
		}
		x.block(b, many)
		o := options(b, st)
		o.Now = time.Now
		c := startWith(b, o)
		eventually(b, "the trades are told", func() bool { ids, _ := idsOf(b, c, "filter=new"); return len(ids) == 30 })
		for name, target := range map[string]string{
			"since/0": "/api/live/since?trade=200&launch=200&call=200", "since/1": "/api/live/since?trade=199&launch=200&call=200", "since/10": "/api/live/since?trade=190&launch=200&call=200",
			"since/100": "/api/live/since?trade=100&launch=200&call=200", "since/200": "/api/live/since?trade=0&launch=200&call=200", "feed": "/api/feed/trades", "feed/older": "/api/feed/trades?before=djF8MTAw",
		} {
			b.Run(fmt.Sprintf("%s/%s", kind, name), func(b *testing.B) {
				for b.Loop() {
					req := httptest.NewRequestWithContext(b.Context(), http.MethodGet, target, nil)
					req.Header.Set("X-Forwarded-For", stranger())
					w := httptest.NewRecorder()
					if c.h.ServeHTTP(w, req); w.Code != http.StatusOK {
						b.Fatal(w.Code, w.Body)
					}
				}
			})
		}
	}
}

// BenchmarkFollowingWhilePricesChange asks for nothing, for the feed's first page and for the last hundred trades, a hundred times a second, while a block every 50 ms changes the prices of
// five of a hundred tokens. A third of the trades are private. asked/op is what the database was asked for each: for nothing it is what the server asks by itself.
func BenchmarkFollowingWhilePricesChange(b *testing.B) {
	const tokens = 100
	st, err := store.Open(b.Context(), storetest.DSN(b, "postgres"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = st.Close() })
	fill(b, st)
	x := newTraders(b, st)
	mint := func(n int) string { return fmt.Sprintf("0x7100000000000000000000000000000000000%03x", n%tokens) }
	// prices commits a block in which some tokens' pools have another price.
	prices := func(from, to int, price float64, isNew bool) {
		next := market.Header{Number: x.last.Number + 1, Hash: market.Hash{byte(x.last.Number), byte(x.last.Number >> 8), 1}, Parent: x.last.Hash, Time: x.at}
		c := &store.Commit{Last: next, Blocks: []market.Header{next}, Head: store.HeadStatus{Number: next.Number, Time: next.Time, Safe: 90, Final: 80, FinalTime: next.Time - 60, SilentFrom: next.Time + 3600}}
		for n := from; n < to; n++ {
			a := address(b, mint(n))
			pool := market.Pool{
				ID: address(b, fmt.Sprintf("0x8100000000000000000000000000000000000%03x", n%tokens)), Protocol: market.UniswapV2, Factory: address(b, native), Token0: a, Token1: address(b, weth),
				Base: a, Quote: address(b, weth), BaseIs0: true, Price: price, Depth: 1, Locked: 100, LastTradeAt: x.at,
			}
			c.Changes.Pools = append(c.Changes.Pools, set(pool.ID, pool))
			if isNew {
				c.Changes.Tokens = append(c.Changes.Tokens, set(a, market.Token{Mint: a, Name: "Token", Symbol: "TKN", HasDecimals: true, Decimals: 18, FirstSeenAt: x.at - 7200, Pool: pool.ID}))
				c.Changes.Launches = append(c.Changes.Launches, set(a, market.Launch{
					Mint: a, Venue: "clanker", Creator: address(b, creator), Block: 50, CreatedAt: x.at - 7200, State: market.LaunchLive, Pool: pool.ID,
				}))
			}
		}
		if err := st.Commit(b.Context(), x.lease, c); err != nil {
			b.Fatal(err)
		}
		x.last = next
	}
	prices(0, tokens, 0.001, true)
	many := make([]trade, 200)
	for i := range many {
		many[i] = trade{[]string{adasWallet, adasWallet, gracesWallet}[i%3], mint(i), false, 1, float64(5 + i)}
	}
	x.block(b, many)
	o := options(b, st)
	o.Now = time.Now
	c := startWith(b, o)
	eventually(b, "the trades are told", func() bool { ids, _ := idsOf(b, c, "filter=new"); return len(ids) == 30 })
	asked := func() (n int64) { // transactions that have ended; a statement alone is one
		time.Sleep(1500 * time.Millisecond) // until PostgreSQL has counted them
		if err := st.Inspect.Database().Read.QueryRowContext(b.Context(), "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()").Scan(&n); err != nil {
			b.Fatal(err)
		}
		return n
	}
	for _, of := range []struct{ name, target string }{
		{"nothing", ""}, {"feed", "/api/feed/trades"}, {"since", "/api/live/since?trade=100&launch=0&call=0"},
	} {
		b.Run(of.name, func(b *testing.B) {
			before := asked()
			turn := time.NewTicker(10 * time.Millisecond) // a hundred a second
			defer turn.Stop()
			for n := 0; b.Loop(); n++ {
				if n%5 == 0 {
					prices(n, n+5, 0.001+float64(n)/1e9, false)
				}
				if <-turn.C; of.target == "" {
					continue
				}
				req := httptest.NewRequestWithContext(b.Context(), http.MethodGet, of.target, nil)
				req.Header.Set("X-Forwarded-For", stranger())
				w := httptest.NewRecorder()
				if c.h.ServeHTTP(w, req); w.Code != http.StatusOK {
					b.Fatal(w.Code, w.Body)
				}
			}
			b.ReportMetric(float64(asked()-before)/float64(b.N), "asked/op")
		})
	}
}
