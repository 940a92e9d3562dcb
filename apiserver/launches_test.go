package apiserver_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/internal/catalog"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
	"github.com/boardwalkhq/boardwalk/internal/traction"
)

// boardCursor is a cursor of the sort new.
const boardCursor = "EUHaagCvAAAAaagCvAAAARAQEBAQEBAQEBAQEBAQEBAQEBAQ"

// boardCoins are one of each kind, best first.
func boardCoins() []coin {
	return []coin{
		good(1, "Otter").with(func(c *coin) { c.buyers = 40 }),
		good(2, hostile+"2").with(func(c *coin) { c.symbol = "H" }),
		good(3, "Lonely").with(func(c *coin) { c.buyers = 3 }),
		good(4, "Young").with(func(c *coin) { c.ago, c.progress = 100, 5 }),
		good(5, "Full").with(func(c *coin) { c.state, c.progress, c.ago = market.LaunchCompleted, 100, 4000 }),
		good(6, "Moved").with(func(c *coin) { c.state, c.progress, c.graduatedAgo, c.ago = market.LaunchGraduated, 100, 500, 5000 }),
		good(7, "Pool").with(func(c *coin) { c.state, c.venue, c.liquidityUSD, c.ago = market.LaunchLive, "clanker", 400, 6000 }),
		good(8, "Mystery").with(func(c *coin) { c.unknown, c.holders, c.status, c.ago = true, 0, market.HoldersIndexing, 6500 }),
		good(9, "Nothing").with(func(c *coin) { c.unvalued = true }),
		good(10, "Ours").with(func(c *coin) { c.venue, c.progress, c.ago = "boardwalk", 90, 2000 }),
		good(11, "OTTER").with(func(c *coin) { c.ago, c.progress = 1000, 1 }),
		good(12, "Gone").with(func(c *coin) { c.venue = "undeclared" }),
		good(13, "Elder").with(func(c *coin) {
			c.state, c.progress, c.graduatedAgo, c.ago = market.LaunchGraduated, 100, 90_000, 40*86_400
		}),
		good(14, "Stuck").with(func(c *coin) { c.ago = 40 * 86_400 }),
	}
}

// TestBoardSorts reads each sort of a world with a launch of every kind.
func TestBoardSorts(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			st := seeded(t, kind)
			mintCoins(t, st, "base", 101, boardCoins()...)
			c := start(t, st)
			for query, want := range map[string][]int{
				"":                                {1, 10, 2, 5, 6},
				"sort=new":                        {4, 10, 1, 2, 3, 5, 6, 7, 8, 13, 14},
				"sort=progress":                   {10, 14, 1, 2, 3, 4, 11},
				"sort=graduated":                  {6, 13},
				"launchpad=ours":                  {10},
				"launchpad=four-meme":             {1, 2, 5, 6},
				"launchpad=clanker&sort=new":      {7},
				"launchpad=pump-fun":              {},
				"chain=bsc&sort=new":              {},
				"chain=base&sort=new&limit=2":     {4, 10},
				"sort=progress&launchpad=clanker": {},
			} {
				page := cards(t, c, query)
				if got := numbers(page); !slices.Equal(got, want) {
					t.Errorf("%q lists %v, want %v", query, got, want)
				}
				if page.Gate.Version != "gate-v1" || string(page.Formula.ID) != traction.Formula || page.Formula.Doc != "https://docs.example/x/ranking" {
					t.Errorf("%q has the gate %+v and the formula %+v", query, page.Gate, page.Formula)
				}
			}
			trending := cards(t, c, "sort=trending")
			if got := numbers(trending); len(got) != 11 || slices.Contains(got, 7) || slices.Contains(got, 9) || got[0] != 1 {
				t.Errorf("trending lists %v; want all that are valued with 500 USD of liquidity", got)
			}
			for i := 1; i < len(trending.Launches); i++ {
				if trending.Launches[i-1].Traction.Score < trending.Launches[i].Traction.Score {
					t.Errorf("scores of trending rise: %+v", trending.Launches[i])
				}
			}
			_, body := c.do(t, http.MethodGet, "/api/launch/launches?sort=new", nil)
			if strings.ContainsAny(string(body), "<>&") {
				t.Errorf("markup stands in the answer as it is: %s", body)
			}
		})
	}
}

// boardCard finds the card of a coin on a board.
func boardCard(t *testing.T, b contract.LaunchBoard, n int) *contract.LaunchCard {
	t.Helper()
	mint := (&coin{n: n}).mint()
	for i := range b.Launches {
		if b.Launches[i].Mint == mint {
			return &b.Launches[i]
		}
	}
	t.Fatalf("coin %d is not on the board", n)
	return nil
}

// TestCards looks at what cards say.
func TestCards(t *testing.T) {
	t.Parallel()
	st := seeded(t, "sqlite")
	mintCoins(t, st, "base", 101, boardCoins()...)
	c := start(t, st)
	running, newest := cards(t, c, ""), cards(t, c, "sort=new")
	for i, card := range running.Launches {
		if !card.GatePass || len(card.GateFails) != 0 || card.GateFails == nil || *card.Traction.Rank != i+1 || card.Clones != nil {
			t.Errorf("running has the card %+v", card)
		}
	}
	best := boardCard(t, running, 1)
	if best.AgeS != 3000 || best.Launchpad != "four-meme" || *best.Badge != "four.meme" || best.Own || *best.Holders != 80 ||
		len(best.HoldersExcluded) != 3 || *best.Buyers1H != 40 || *best.Sellers1H != 0 || !near(&best.Volume1HUSD, 2000) ||
		!near(best.PriceUSD, 0.02) || !near(best.MarketCapUSD, 20_000_000) || !near(&best.LiquidityUSD, 9000) || !near(&best.Volume24HUSD, 20_000) ||
		!near(best.Change1HPct, 100) || best.Curve.RaisedNative != "7" || *best.Curve.TargetNative != "85" || best.Curve.ProgressPct != 40 ||
		best.Graduation.State != contract.GraduationStateCurve || best.Creator.Address != creator || best.FigureSources["price_usd"] != "curve_state" {
		t.Errorf("the best is %+v", best)
	}
	if score := best.Traction.Score; score != float64(int64(score*10+0.5))/10 {
		t.Errorf("the score %v has more than one digit after the point", score)
	}
	if best.Buy.Mode != contract.BuyModeExternal || best.Buy.URL != "https://four.example/"+best.Mint+"?from=boardwalk" {
		t.Errorf("where the app doesn't trade with the launchpad, it is bought at %+v", best.Buy)
	}
	if own := boardCard(t, running, 10); !own.Own || own.Launchpad != "boardwalk" || own.Badge != nil || own.Buy.Mode != contract.BuyModeSheet {
		t.Errorf("one of our own is %+v", own)
	}
	if *boardCard(t, newest, 1).Clones != 1 || *boardCard(t, newest, 2).Clones != 0 {
		t.Error("the clone is not counted where it belongs")
	}
	for n, want := range map[int][]string{
		3: {"curve.buyers_1h"}, 4: {"age_s_min", "curve.progress_pct"}, 6: {}, 7: {"liquidity_usd"}, 8: {"holders", "curve.progress_pct"},
	} {
		if card := boardCard(t, newest, n); !slices.Equal(card.GateFails, want) || card.GatePass != (len(want) == 0) {
			t.Errorf("coin %d fails %v, want %v", n, card.GateFails, want)
		}
	}
	pool := boardCard(t, newest, 7)
	if pool.Curve != nil || pool.UnknownReasons["curve"] != contract.UnknownReasonNotApplicable || pool.Graduation.Pool == nil ||
		pool.Graduation.State != contract.GraduationStateNotApplicable || pool.Buy.Mode != contract.BuyModeSheet || pool.Launchpad != "clanker" {
		t.Errorf("a live pool is %+v", pool)
	}
	mystery := boardCard(t, newest, 8)
	if mystery.Curve != nil || mystery.UnknownReasons["curve"] != contract.UnknownReasonUnavailable || mystery.Holders != nil ||
		mystery.HoldersSource != contract.HoldersSourceIndexing {
		t.Errorf("one of unknown progress is %+v", mystery)
	}
	moved := boardCard(t, newest, 6)
	if moved.Buy.Mode != contract.BuyModeSheet || !moved.Graduation.At.Equal(time.Unix(chainTime-500, 0)) || moved.Curve.ProgressPct != 100 {
		t.Errorf("a graduated one is %+v", moved)
	}
	if full := boardCard(t, newest, 5); full.Buy.Mode != contract.BuyModeExternal || full.Graduation.State != contract.GraduationStateCompleted {
		t.Errorf("a full one is %+v", full)
	}
}

// TestBoardOfAStandingChain halts a chain: its holders are stale, and its cards leave Running after they failed twice.
func TestBoardOfAStandingChain(t *testing.T) {
	t.Parallel()
	st := seeded(t, "sqlite")
	mintCoins(t, st, "base", 101, good(1, "Otter"))
	o := options(t, st)
	var ahead atomic.Int64 // seconds
	o.Now = func() time.Time { return clock.Add(time.Duration(ahead.Load()) * time.Second) }
	c := startWith(t, o)
	if got := numbers(cards(t, c, "")); !slices.Equal(got, []int{1}) {
		t.Fatalf("running is %v", got)
	}
	l, err := st.Leases.Acquire(t.Context(), "base", "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if err := st.SetState(t.Context(), l, store.ChainHalted, "test"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "its holders are stale", func() bool {
		return boardCard(t, cards(t, c, "sort=new"), 1).HoldersSource == contract.HoldersSourceStale
	})
	if page := cards(t, c, "chain=base"); !page.Stale {
		t.Error("the board of the halted chain is not stale")
	}
	if page := cards(t, c, ""); page.Stale {
		t.Error("the board of both chains is stale because one chain is")
	}
	eventually(t, "it leaves", func() bool {
		rankAgain(t, c, &ahead)
		card := boardCard(t, cards(t, c, "sort=new"), 1)
		return !card.GatePass && slices.Equal(card.GateFails, []string{"holders"}) && len(numbers(cards(t, c, ""))) == 0
	})
}

// rankAgain lets the server's time go on by a ranking, and waits for the look that ranks: until then the last look is so old that every chain is
// called down. It goes no further than chains take to be called standing.
func rankAgain(t *testing.T, c *client, ahead *atomic.Int64) {
	t.Helper()
	const pace, furthest = 16, 90
	if ahead.Load()+pace > furthest {
		return
	}
	ahead.Add(pace)
	eventually(t, "the server ranks again", func() bool {
		return slices.ContainsFunc(get[contract.Heartbeat](t, c, "/api/status/heartbeat").Chains, func(h contract.ChainHeartbeat) bool {
			return h.Status != contract.HeartbeatStatusDown
		})
	})
}

// TestBoardFollowsCommits adds a launch, its metadata and a report that it can't be sold, and takes the launch back.
func TestBoardFollowsCommits(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			st := seeded(t, kind)
			o := options(t, st)
			var ahead atomic.Int64 // seconds
			o.Now = func() time.Time { return clock.Add(time.Duration(ahead.Load()) * time.Second) }
			c := startWith(t, o)
			otter := good(1, "Otter")
			mintCoins(t, st, "base", 101, otter)
			eventually(t, "it runs", func() bool { return slices.Equal(numbers(cards(t, c, "")), []int{1}) })
			if card := boardCard(t, cards(t, c, ""), 1); card.ImageURL != nil || card.UnknownReasons["image_url"] != contract.UnknownReasonIndexing {
				t.Errorf("without metadata it is %+v", card)
			}
			l, err := st.Leases.Acquire(t.Context(), "base", "test", time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			mint := address(t, otter.mint())
			if err := st.Metadata.Save(t.Context(), l, []store.TokenMetadata{{
				Mint: mint, ImageURL: "https://images.example/1.png", Website: "javascript:alert(1)", X: "https://x.com/otter", Status: store.MetadataFetched, FetchedAt: chainTime,
			}}); err != nil {
				t.Fatal(err)
			}
			eventually(t, "it has a picture", func() bool {
				image := boardCard(t, cards(t, c, ""), 1).ImageURL
				return image != nil && *image == "https://images.example/1.png"
			})
			info := get[contract.TokenInfo](t, c, "/api/token/info/"+otter.mint()+"?chain=base")
			if info.ImageURL == nil || info.Links.Website != nil || *info.Links.X != "https://x.com/otter" || info.Links.UnknownReasons["telegram"] == "" ||
				info.Launch == nil || info.Launch.Launchpad != "four-meme" || info.Launch.Graduation.State != contract.GraduationStateCurve || info.CreatedAt == nil {
				t.Errorf("its info is %+v", info)
			}
			if price := get[contract.TokenPrices](t, c, "/api/market/token-prices?mints="+otter.mint()).Prices[otter.mint()]; *price.PriceSource != contract.PriceSourceCurve {
				t.Errorf("its price is %+v", price)
			}
			if err := st.Trust.Save(t.Context(), l, []store.TrustRow{{Mint: mint, CheckedAt: chainTime, Critical: true, Verdict: "danger", Report: []byte("{}")}}); err != nil {
				t.Fatal(err)
			}
			eventually(t, "it leaves Running for what the checks found", func() bool {
				rankAgain(t, c, &ahead)
				return len(numbers(cards(t, c, ""))) == 0 && slices.Equal(boardCard(t, cards(t, c, "sort=new"), 1).GateFails, []string{"trust"})
			})
			if _, err := st.Rewind(t.Context(), l, 100); err != nil {
				t.Fatal(err)
			}
			eventually(t, "nothing of it is left", func() bool {
				res, _ := c.do(t, http.MethodGet, "/api/launch/token/"+otter.mint()+"?n="+strconv.FormatInt(ahead.Add(1), 10), nil)
				return len(numbers(cards(t, c, "sort=new"))) == 0 && res.StatusCode == http.StatusNotFound
			})
		})
	}
}

// TestSearchFollowsLaunches adds a launch and its metadata: search finds it, with both. The server repeats an answer for one second of its
// clock: with a clock that stands still it would repeat the first one for ever, which may be from before the launch.
func TestSearchFollowsLaunches(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			st := seeded(t, kind)
			c, _ := following(t, st)
			otter := good(1, "Otter")
			find := func() []contract.DexPair {
				return get[contract.DexSearch](t, c, "/api/dexscreener/search?q="+otter.mint()).Pairs
			}
			if pairs := find(); len(pairs) > 0 {
				t.Fatalf("it is there before it was made: %+v", pairs)
			}
			mintCoins(t, st, "base", 101, otter)
			l, err := st.Leases.Acquire(t.Context(), "base", "test", time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			if err := st.Metadata.Save(t.Context(), l, []store.TokenMetadata{{
				Mint: address(t, otter.mint()), ImageURL: "https://images.example/1.png", Website: "javascript:alert(1)", X: "https://x.com/otter",
				Status: store.MetadataFetched, FetchedAt: chainTime,
			}}); err != nil {
				t.Fatal(err)
			}
			var pairs []contract.DexPair
			eventually(t, "search finds it with its metadata", func() bool {
				pairs = find()
				return len(pairs) == 1 && pairs[0].Info != nil
			})
			pair := pairs[0]
			if pair.DexID != "four-meme" || *pair.Info.ImageURL != "https://images.example/1.png" || (*pair.Info.Socials)[0].Type != "twitter" || pair.Info.Websites != nil {
				t.Errorf("its pair is %+v", pair)
			}
		})
	}
}

// TestPagesWhileLaunchesArrive walks all pages of each sort, while launches arrive on top and others trade: none of those that
// were there is left out or comes twice.
func TestPagesWhileLaunchesArrive(t *testing.T) {
	t.Parallel()
	st := seeded(t, "sqlite")
	var coins []coin
	for n := 1; n <= 40; n++ {
		coins = append(coins, good(n, "Coin"+strconv.Itoa(n)).with(func(c *coin) {
			c.ago, c.progress = int64(1000+n/3), float64(30+n/4) // some of the same second and progress
			if n%4 == 0 {
				c.state, c.graduatedAgo = market.LaunchGraduated, int64(500+n/5)
			}
		}))
	}
	mintCoins(t, st, "base", 101, coins[:20]...)
	mintCoins(t, st, "bsc", 101, coins[10:]...)
	c := start(t, st)
	block := uint64(101)
	for _, sort := range []string{"new", "progress", "graduated", "running", "trending"} {
		before := map[string]bool{}
		for _, card := range cards(t, c, "limit=100&sort="+sort).Launches {
			before[card.Chain+card.Mint] = true
		}
		if sort != "graduated" && len(before) < 25 {
			t.Fatalf("%s has %d launches", sort, len(before))
		}
		seen := map[string]int{}
		for next := ""; ; {
			page := cards(t, c, "limit=3&sort="+sort+"&before="+next)
			for _, card := range page.Launches {
				seen[card.Chain+card.Mint]++
			}
			if page.NextBefore == nil {
				break
			}
			next = *page.NextBefore
			block++
			mintCoins(t, st, "base", block, good(int(1000+block), "Late"+strconv.Itoa(int(block))).with(func(c *coin) {
				c.ago, c.buyers, c.progress = 10, 0, 99
			}))
		}
		for key := range before {
			if seen[key] != 1 {
				t.Errorf("%s: %s came %d times", sort, key, seen[key])
			}
		}
		for key, times := range seen {
			if times != 1 {
				t.Errorf("%s: %s came %d times", sort, key, times)
			}
		}
	}
}

// TestLaunchedToken asks for launches one by one.
func TestLaunchedToken(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			st := seeded(t, kind)
			old := good(20, "Old").with(func(c *coin) { c.ago = 40 * 86_400 })
			mintCoins(t, st, "base", 101, append(boardCoins(), old)...)
			c := start(t, st)
			read := func(n int, query string) contract.LaunchedToken {
				t.Helper()
				return get[contract.LaunchedToken](t, c, "/api/launch/token/"+(&coin{n: n}).mint()+query)
			}
			otter := read(1, "")
			card := boardCard(t, cards(t, c, ""), 1)
			if otter.Traction.Score != card.Traction.Score || !otter.GatePass || *otter.Traction.Rank != 1 || otter.AgeS != 3000 {
				t.Errorf("it is %+v, its card %+v", otter, card)
			}
			// The world's own token, and these.
			if otter.Creator.Launches != 16 || otter.Creator.Graduated != 2 || otter.Creator.HoldsPct == nil || otter.Creator.Address != creator {
				t.Errorf("its creator is %+v", otter.Creator)
			}
			d := otter.CurveDetail
			if *d.VirtualBase != "1000" || *d.VirtualQuote != "30" || *d.RealBase != "12" || *d.RealQuote != "7" || *d.QuoteSymbol != "ETH" ||
				!near(d.PriceNative, 0.00001) || *d.FeeBps != 100 || *otter.Graduation.ThresholdNative != "85" || otter.Graduation.Tx != nil {
				t.Errorf("its curve is %+v, its graduation %+v", d, otter.Graduation)
			}
			if pool := read(7, "?chain=base"); pool.CurveDetail != nil || pool.UnknownReasons["curve_detail"] != contract.UnknownReasonNotApplicable ||
				pool.Graduation.UnknownReasons["threshold_native"] != contract.UnknownReasonNotApplicable {
				t.Errorf("a live pool is %+v", pool)
			}
			if moved := read(6, ""); *moved.Graduation.Tx != (market.Hash{7}).String() || moved.Graduation.At == nil || *moved.Graduation.Pool == "" {
				t.Errorf("a graduated one is %+v", moved.Graduation)
			}
			if numbers(cards(t, c, "sort=new&limit=100"))[0] == 20 || read(20, "").AgeS != 40*86_400 || !slices.Contains(read(20, "").GateFails, "age_s_max") {
				t.Errorf("one that fell off the board is %+v", read(20, ""))
			}
			both := get[contract.LaunchedToken](t, c, "/api/launch/token/"+token)
			if both.Chain != "base" || !slices.Equal(both.ChainCandidates, []string{"base", "bsc"}) || both.Launchpad != "clanker" {
				t.Errorf("where it is deepest it is %+v", both)
			}
			if there := get[contract.LaunchedToken](t, c, "/api/launch/token/"+token+"?chain=bsc"); there.Launchpad != "four-meme" ||
				there.ChainCandidates != nil || there.Graduation.State != contract.GraduationStateGraduated || there.CurveDetail.VirtualBase != nil ||
				there.CurveDetail.UnknownReasons["virtual_base"] != contract.UnknownReasonNotApplicable {
				t.Errorf("on bsc it is %+v", there)
			}
			for n, want := range map[int]int{9: http.StatusServiceUnavailable, 12: http.StatusNotFound, 99: http.StatusNotFound} {
				res, body := c.do(t, http.MethodGet, "/api/launch/token/"+(&coin{n: n}).mint(), nil)
				if res.StatusCode != want || (want == http.StatusServiceUnavailable) != (res.Header.Get("Retry-After") != "") {
					t.Errorf("coin %d: %d %s", n, res.StatusCode, body)
				}
			}
			if res, _ := c.do(t, http.MethodGet, "/api/launch/token/"+token+"?chain=base", nil); res.Header.Get("Cache-Control") != "public, max-age=3, stale-while-revalidate=15" {
				t.Errorf("it is cached by %q", res.Header.Get("Cache-Control"))
			}
		})
	}
}

// TestBoardFollowsTheCatalogue takes a venue and a chain away, and a launchpad's page.
func TestBoardFollowsTheCatalogue(t *testing.T) {
	t.Parallel()
	st := seeded(t, "sqlite")
	mintCoins(t, st, "base", 101, boardCoins()...)
	c, change := following(t, st)
	rank := func(n int) int { return *boardCard(t, cards(t, c, ""), n).Traction.Rank }
	if rank(10) != 2 || rank(2) != 3 {
		t.Fatalf("the second and third rank are %d and %d", rank(10), rank(2))
	}
	change(func(c *catalog.Catalog) { c.Venues = c.Venues[1:] })
	eventually(t, "our own venue is gone", func() bool { return slices.Equal(numbers(cards(t, c, "")), []int{1, 2, 5, 6}) && rank(2) == 2 })
	if res, _ := c.do(t, http.MethodGet, "/api/launch/token/"+(&coin{n: 10}).mint(), nil); res.StatusCode != http.StatusNotFound {
		t.Errorf("a launch of a venue that is gone: %d", res.StatusCode)
	}
	change(func(c *catalog.Catalog) { c.Venues[2].Chains[0].LinkTemplate, c.Venues[2].Badge = "", "4" })
	eventually(t, "cards say so", func() bool {
		card := boardCard(t, cards(t, c, ""), 1)
		return *card.Badge == "4" && card.Buy.URL == "https://api.example/t/"+card.Mint+"?chain=base"
	})
	change(func(c *catalog.Catalog) { c.Venues[2].Filter = "fourth" })
	eventually(t, "the filter has its new value", func() bool {
		res, body := c.do(t, http.MethodGet, "/api/launch/launches?launchpad=four-meme", nil)
		var p contract.Problem
		return json.Unmarshal(body, &p) == nil && res.StatusCode == http.StatusBadRequest &&
			slices.Equal(p.Errors[0].Allowed, []string{"all", "ours", "boardwalk", "clanker", "fourth", "pump-fun"})
	})
	change(without("base"))
	eventually(t, "the chain is gone", func() bool { return len(numbers(cards(t, c, "sort=new"))) == 0 })
	if res, body := c.do(t, http.MethodGet, "/api/launch/launches?chain=base", nil); res.StatusCode != http.StatusBadRequest || !strings.Contains(string(body), `"allowed":["all","solana","bsc"]`) {
		t.Errorf("a chain that is gone: %d %s", res.StatusCode, body)
	}
}

// TestWhatIsAllowedIsNamed: a value that the document's pattern refuses is answered with those that there are.
func TestWhatIsAllowedIsNamed(t *testing.T) {
	t.Parallel()
	c := start(t, seeded(t, "sqlite"))
	for query, allowed := range map[string]string{"chain=BASE": "base", "launchpad=Four_Meme": "ours"} {
		res, body := c.do(t, http.MethodGet, "/api/launch/launches?"+query, nil)
		var p contract.Problem
		if err := json.Unmarshal(body, &p); err != nil {
			t.Fatal(err)
		}
		if res.StatusCode != http.StatusBadRequest || len(p.Errors) != 1 || !slices.Contains(p.Errors[0].Allowed, allowed) {
			t.Errorf("%s: %d %+v", query, res.StatusCode, p)
		}
	}
}

// TestEveryLaunchpadOfACardIsAFilter asks for the board of each launchpad that a card names: it has that card.
func TestEveryLaunchpadOfACardIsAFilter(t *testing.T) {
	t.Parallel()
	st := seeded(t, "sqlite")
	mintCoins(t, st, "base", 101, boardCoins()...)
	c := start(t, st)
	all := cards(t, c, "sort=new&limit=100")
	named := map[string]int{}
	for i := range all.Launches {
		named[all.Launches[i].Launchpad]++
	}
	if len(named) < 3 {
		t.Fatalf("the board has launchpads %v", named)
	}
	for launchpad, want := range named {
		target := "/api/launch/launches?sort=new&limit=100&launchpad=" + launchpad
		res, body := c.do(t, http.MethodGet, target, nil)
		if res.StatusCode != http.StatusOK {
			t.Errorf("launchpad %s, which a card names: %d %s", launchpad, res.StatusCode, body)
			continue
		}
		page := get[contract.LaunchBoard](t, c, target)
		if len(page.Launches) != want || slices.ContainsFunc(page.Launches, func(l contract.LaunchCard) bool { return l.Launchpad != launchpad }) {
			t.Errorf("of launchpad %s there are %d cards, want %d", launchpad, len(page.Launches), want)
		}
	}
	// The refusal of a value lists every value that is allowed.
	_, body := c.do(t, http.MethodGet, "/api/launch/launches?launchpad=nothing", nil)
	var p contract.Problem
	if err := json.Unmarshal(body, &p); err != nil || len(p.Errors) != 1 {
		t.Fatalf("%v: %s", err, body)
	}
	for launchpad := range named {
		if !slices.Contains(p.Errors[0].Allowed, launchpad) {
			t.Errorf("allowed are %v; %s, which a card names, is not among them", p.Errors[0].Allowed, launchpad)
		}
	}
}

// TestChangesSinceTheLaunch: a token that is younger than the hour is held against the price that its launch said, not against the
// one that the first buys had moved it to.
func TestChangesSinceTheLaunch(t *testing.T) {
	t.Parallel()
	st := seeded(t, "sqlite")
	l, err := st.Leases.Acquire(t.Context(), "base", "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	h := market.Header{Number: 101, Hash: market.Hash{101}, Parent: market.Hash{1}, Time: chainTime}
	c := &store.Commit{
		Last: h, Blocks: []market.Header{h}, Undo: true, Head: store.HeadStatus{Number: 101, Time: chainTime, Final: 80, FinalTime: chainTime - 60},
	}
	curve, pool := good(1, "Otter"), good(2, "Heron").with(func(c *coin) { c.state, c.venue = market.LaunchLive, "clanker" })
	curve.add(t, &c.Changes, 101)
	pool.add(t, &c.Changes, 101)
	for i := range c.Changes.Pools {
		// The launch said 0.005 USD, the first block closed at 0.01, and now it is 0.02.
		c.Changes.Pools[i].After.Day.ReferenceUSD = 0.005
	}
	if err := st.Commit(t.Context(), l, c); err != nil {
		t.Fatal(err)
	}
	page := cards(t, start(t, st), "sort=new")
	for n := range 2 {
		card := boardCard(t, page, n+1)
		if !near(card.Change1HPct, 300) || !near(card.Change24HPct, 300) {
			t.Errorf("coin %d moved by %s %% in an hour and by %s %% in a day, want 300 in both", n+1, pct(card.Change1HPct), pct(card.Change24HPct))
		}
	}
}

func pct(v *float64) string {
	if v == nil {
		return "null"
	}
	return strconv.FormatFloat(*v, 'f', 1, 64)
}
