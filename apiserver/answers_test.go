package apiserver_test

import (
	"bytes"
	"maps"
	"math"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/site"
	"github.com/boardwalkhq/boardwalk/internal/catalog"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

func near(a *float64, b float64) bool { return a != nil && math.Abs(*a-b) <= 1e-9*math.Abs(b) }

func TestAnswers(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			c := start(t, seeded(t, kind))

			live := get[contract.MarketLive](t, c, "/api/market/live")
			if len(live.Tokens) != 2 || live.Tokens[0].Chain == live.Tokens[1].Chain || live.Tokens[0].ChainRank != 1 || live.Tokens[1].ChainRank != 1 {
				t.Errorf("the live list is %+v; want one token of each chain", live.Tokens)
			}
			if len(live.EmptyChains) != 1 || live.EmptyChains[0] != "solana" || live.PerChain != 12 {
				t.Errorf("empty chains are %v, per chain %d", live.EmptyChains, live.PerChain)
			}

			info := get[contract.TokenInfo](t, c, "/api/token/info/"+token+"?chain=base")
			if info.Name != hostile || !near(info.Price, 2) || !near(info.Liquidity, 200_000) || !near(info.Volume, 123456.789) ||
				!near(info.FDV, 2_000_000) || !near(info.Change24HPct, 100*(2/1.5-1)) || info.LiquidityPairs != 1 || *info.Pair != pairID {
				t.Errorf("the token is %+v", info)
			}
			_, raw := c.do(t, http.MethodGet, "/api/token/info/"+token+"?chain=base", nil)
			if strings.ContainsAny(string(raw), "<>&") {
				t.Errorf("markup stands in the answer as it is: %s", raw)
			}
			none := get[contract.TokenInfo](t, c, "/api/token/info/"+bare+"?chain=bsc")
			if none.Price != nil || none.UnknownReasons["price"] != contract.UnknownReasonNotApplicable || none.Decimals != nil {
				t.Errorf("a token without pools is %+v", none)
			}

			chart := get[contract.CandleSeries](t, c, "/api/chart/"+token+"?tf=1m&limit=20&chain=base")
			if len(chart.Candles) != 20 || *chart.Pair != pairID {
				t.Fatalf("the chart has %d candles of pair %v", len(chart.Candles), chart.Pair)
			}
			last := chart.Candles[19]
			if last.C != 1.3 || last.N != 1 || last.Final || last.Fill || !chart.Candles[0].Fill || !chart.Candles[0].Final {
				t.Errorf("the candles are %+v", chart.Candles)
			}
			sparse := get[contract.CandleSeries](t, c, "/api/chart/"+token+"?tf=1m&limit=20&chain=base&fill=false")
			if len(sparse.Candles) != 3 || sparse.GapsFilled {
				t.Errorf("unfilled, it has %d candles; want 3", len(sparse.Candles))
			}
			if deepest := get[contract.CandleSeries](t, c, "/api/chart/"+token); deepest.Chain != "base" || len(deepest.ChainCandidates) != 2 {
				t.Errorf("without a chain it is of %s, candidates %v; want base, which is deeper, and both", deepest.Chain, deepest.ChainCandidates)
			}
			seconds := get[contract.CandleSeries](t, c, "/api/chart/"+token+"?tf=1s&limit=5&chain=base")
			if n := len(seconds.Candles); n == 0 || seconds.Candles[n-1].C != 1.3 {
				t.Errorf("in seconds: %+v", seconds.Candles)
			}
			if week := get[contract.CandleSeries](t, c, "/api/chart/"+token+"?tf=1w&limit=1&chain=base"); len(week.Candles) != 1 ||
				time.Unix(week.Candles[0].T, 0).UTC().Weekday() != time.Monday {
				t.Errorf("weeks: %+v", week.Candles)
			}
			if empty := get[contract.CandleSeries](t, c, "/api/chart/"+bare+"?chain=base"); empty.Pair != nil || len(empty.Candles) != 0 {
				t.Errorf("a token without pools has the chart %+v", empty)
			}
			for name, points := range map[string]int{"1h": 60, "6h": 72, "24h": 96, "7d": 168, "30d": 180, "90d": 180, "1y": 365, "all": 2} {
				series := get[contract.TokenCandles](t, c, "/api/token/"+token+"/candles?chain=base&range="+name)
				if n := (series.To - series.From) / int64(series.IntervalS); int(n) != points {
					t.Errorf("range %s has %d points, want %d", name, n, points)
				}
			}
			if b := chart.Blocks["base"]; b.Number != 100 || b.Finality != contract.FinalityLatest {
				t.Errorf("the chart's blocks are %+v", chart.Blocks)
			}
			if beat := get[contract.Heartbeat](t, c, "/api/status/heartbeat"); beat.Status != contract.HeartbeatStatusOk || len(beat.Chains) != 2 ||
				*beat.Chains[0].HeadLagS != 1 {
				t.Errorf("the heartbeat is %+v", beat)
			}
			if native := get[contract.CandleSeries](t, c, "/api/chart/"+token+"?tf=1m&limit=2&chain=base&currency=native"); native.Currency != contract.CurrencyNative {
				t.Errorf("in the native coin: %+v", native)
			}
			udf := get[contract.UDFHistory](t, c, "/api/chart/"+token+"?tf=1m&limit=20&chain=base&format=udf")
			if udf.S != contract.UDFHistorySOk || len(udf.T) != 20 || udf.C[19] != 1.3 || udf.T[19] != last.T {
				t.Errorf("in columns: %+v", udf)
			}
			before := strconv.FormatInt(chart.Candles[0].T-86_400*3, 10)
			if none := get[contract.UDFHistory](t, c, "/api/chart/"+token+"?tf=1m&chain=base&format=udf&limit=5&to="+before); none.S != contract.UDFHistorySNoData || none.NextTime != nil {
				t.Errorf("columns before the first trade: %+v", none)
			}
			late := strconv.FormatInt(clock.Unix()-300, 10)
			if none := get[contract.UDFHistory](t, c, "/api/chart/"+token+"?tf=1m&chain=base&format=udf&limit=2&fill=false&to="+late); none.S != contract.UDFHistorySNoData || none.NextTime == nil {
				t.Errorf("columns between two trades: %+v", none)
			}
			if v := get[contract.Version](t, c, "/api/version"); v.Commit != strings.Repeat("ab", 20) || v.Short != "ababababab" {
				t.Errorf("the version is %+v", v)
			}
			res, _ := c.do(t, http.MethodGet, "/api/chart/"+token+"?tf=1m&chain=base&pair="+pairID+"&to=1000000", nil)
			if got := res.Header.Get("Cache-Control"); !strings.Contains(got, "immutable") {
				t.Errorf("a closed chart is cached by %q", got)
			}
		})
	}
}

func TestMajors(t *testing.T) {
	t.Parallel()
	c := start(t, seeded(t, "sqlite"))
	all := get[contract.Majors](t, c, "/api/majors")
	if len(all.Majors) != 4 {
		t.Fatalf("%d majors, want 2 of each chain", len(all.Majors))
	}
	eth, late := all.Majors[0], all.Majors[1]
	if eth.Asset != "ETH" || eth.Symbol != "WETH" || eth.Mint != weth || !eth.Wrapped || !near(eth.Price, 2000) {
		t.Errorf("the first is %+v", eth)
	}
	if late.Asset != "LATE" || late.Price != nil || late.UnknownReasons["price"] != contract.UnknownReasonIndexing {
		t.Errorf("one that the index has not met is %+v", late)
	}
	for target, want := range map[string]int{
		"?chain=base": 2, "?q=wet": 2, "?q=eth&chain=bsc": 1, "?q=nothing": 0, "?chain=solana": 0, "?q=": 4,
	} {
		if got := get[contract.Majors](t, c, "/api/majors"+target); len(got.Majors) != want || got.Majors == nil {
			t.Errorf("%s: %d majors, want %d", target, len(got.Majors), want)
		}
	}
	candles := get[contract.MajorCandles](t, c, "/api/majors?chain=base&pair=eth&tf=1h&limit=3")
	if candles.Asset != "ETH" || candles.Mint != weth || candles.Tf != "1h" || candles.To-candles.From != 3*3600 {
		t.Errorf("the candles of a major are %+v", candles)
	}
	for _, target := range []string{"?pair=ETH", "?tf=1h", "?pair=ETH&tf=1h", "?pair=ETH&chain=base", "?tf=1h&chain=base"} {
		if res, body := c.do(t, http.MethodGet, "/api/majors"+target, nil); res.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %d %s", target, res.StatusCode, body)
		}
	}
	for _, pair := range []string{"BTC", "LATE"} {
		if res, body := c.do(t, http.MethodGet, "/api/majors?chain=base&tf=1h&pair="+pair, nil); res.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d %s", pair, res.StatusCode, body)
		}
	}
}

// TestAWrappedCoinNotYetReadIsFound asks for the contract that wraps a chain's coin, before the index has met it, as people call it.
func TestAWrappedCoinNotYetReadIsFound(t *testing.T) {
	t.Parallel()
	o := options(t, seeded(t, "sqlite"))
	declared := chains()
	declared.Chains[1].Native.Wrapped = markettest.Address(unmet)
	declared.Chains[1].Majors = []chainconfig.Major{{Asset: "ETH", Address: markettest.Address(unmet)}}
	o.Catalog = catalog.NewLive(declared)
	c := startWith(t, o)
	for _, q := range []string{"WETH", "weth", "ETH"} {
		got := get[contract.Majors](t, c, "/api/majors?chain="+declared.Chains[1].ID+"&q="+q).Majors
		if len(got) != 1 || got[0].Mint != unmet || got[0].Asset != "ETH" || got[0].Symbol != "WETH" || got[0].Price != nil {
			t.Errorf("%s finds %+v", q, got)
		}
	}
}

// TestMajorsNotYetRead lists a major that the index has not met: it is called what it was declared as.
func TestMajorsNotYetRead(t *testing.T) {
	t.Parallel()
	o := options(t, seeded(t, "sqlite"))
	declared := chains()
	declared.Chains[1].Majors = append(declared.Chains[1].Majors, chainconfig.Major{Asset: "BTC", Address: markettest.Address(native)})
	sol, err := market.ParseSolanaAddress(solMint)
	if err != nil {
		t.Fatal(err)
	}
	declared.Chains[0].Majors = []chainconfig.Major{{Asset: "SOL", Address: sol}}
	o.Catalog = catalog.NewLive(declared)
	c := startWith(t, o)
	majors := get[contract.Majors](t, c, "/api/majors").Majors
	if m := majors[0]; len(majors) != 6 || m.Chain != "solana" || m.Mint != solMint || m.Price != nil || m.UnknownReasons["price"] != contract.UnknownReasonIndexing {
		t.Errorf("%d majors, want 2 of each EVM chain, one that is declared since, and Solana's; the first is %+v", len(majors), m)
	}
	for _, m := range majors {
		want := map[string]string{"ETH": "WETH"}[m.Asset]
		if want == "" {
			want = m.Asset
		}
		if m.Name != want || m.Symbol != want {
			t.Errorf("%s of %s is called %q, its symbol is %q; want %s", m.Asset, m.Chain, m.Name, m.Symbol, want)
		}
	}
}

func TestALaunchRecordGoesBeforeDepth(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			st := seeded(t, kind)
			pooled := good(30, "Heron").with(func(c *coin) { c.state = market.LaunchLive })
			mintCoins(t, st, "base", 101, pooled.with(func(c *coin) { c.unlaunched = true }))
			mintCoins(t, st, "bsc", 101, pooled.with(func(c *coin) { c.liquidityUSD = 10 }))
			c := start(t, st)
			mint := pooled.mint()
			if p := get[contract.TokenPrices](t, c, "/api/market/token-prices?mints="+mint).Prices[mint]; p.Chain != "bsc" ||
				!slices.Equal(p.ChainCandidates, []string{"bsc", "base"}) {
				t.Errorf("its price is of %s, candidates %v; want bsc, where it was launched", p.Chain, p.ChainCandidates)
			}
			if s := get[contract.CandleSeries](t, c, "/api/chart/"+mint); s.Chain != "bsc" {
				t.Errorf("its chart is of %s", s.Chain)
			}
			if l := get[contract.LaunchedToken](t, c, "/api/launch/token/"+mint); l.Chain != "bsc" || l.ChainCandidates != nil {
				t.Errorf("its launch is of %s, candidates %v", l.Chain, l.ChainCandidates)
			}
		})
	}
}

func TestTokenPrices(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			c := start(t, seeded(t, kind))
			upper := "0x" + strings.ToUpper(token[2:])
			items := []string{token, upper, "bsc:" + token, token, weth, unmet, solMint, "base:" + native}
			got := get[contract.TokenPrices](t, c, "/api/market/token-prices?mints="+strings.Join(items, ","))
			if len(got.Prices) != 4 || !slices.Equal(got.Missing, []string{unmet, solMint, "base:" + native}) {
				t.Fatalf("prices of %v, missing %v", slices.Collect(maps.Keys(got.Prices)), got.Missing)
			}
			if p := got.Prices[token]; !near(p.Price, 2) || p.Chain != "base" || !slices.Equal(p.ChainCandidates, []string{"base", "bsc"}) ||
				*p.PriceSource != contract.PriceSourcePool || *p.Block != 100 || !near(p.MarketCap, 2_000_000) || *p.SupplyBasis != contract.SupplyBasisTotal {
				t.Errorf("where it is deepest it is %+v", p)
			}
			if p, same := got.Prices[upper], got.Prices[token]; !reflect.DeepEqual(p, same) {
				t.Errorf("in another spelling it is %+v", p)
			}
			if p := got.Prices["bsc:"+token]; !near(p.Price, 4) || p.Chain != "bsc" || p.ChainCandidates != nil {
				t.Errorf("on bsc it is %+v", p)
			}
			if b := got.Blocks; len(b) != 2 || b["bsc"].Number != 100 {
				t.Errorf("the blocks are %v", b)
			}
			none := get[contract.TokenPrices](t, c, "/api/market/token-prices?mints="+unmet)
			if len(none.Prices) != 0 || len(none.Missing) != 1 {
				t.Errorf("of an unknown one alone: %+v", none)
			}
		})
	}
}

func TestSearch(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			c := start(t, seeded(t, kind))
			find := func(q string) []contract.DexPair {
				t.Helper()
				return get[contract.DexSearch](t, c, "/api/dexscreener/search?q="+url.QueryEscape(q)).Pairs
			}
			pair := find(token)[0]
			if pair.ChainID != "base" || pair.DexID != "uniswap-v2" || pair.PairAddress != pairID || pair.BaseToken.Name != hostile ||
				pair.QuoteToken.Symbol != "WETH" || pair.PriceUSD != "2" || pair.PriceNative != "0.001" || !slices.Equal(pair.Labels, []string{"v2"}) ||
				pair.URL != "https://api.example/t/"+token+"?chain=base" || pair.Liquidity.USD != 200_000 {
				t.Errorf("by its address: %+v", pair)
			}
			if tx := pair.Txns; tx.H24 != (contract.DexTxns{Buys: 3, Sells: 1}) || tx.M5.Buys != 2 || tx.H1.Buys != 3 || tx.H6.Buys != 3 {
				t.Errorf("its transactions are %+v", tx)
			}
			if v := pair.Volume; !near(&v.H24, 123456.789) || !near(&v.M5, 10) || !near(&v.H1, 15) {
				t.Errorf("its volume is %+v", v)
			}
			// It cost 1.1 before the last 5 minutes, 1 before the last hour and 1.5 a day ago.
			if p := pair.PriceChange; !near(&p.M5, 100*(2/1.1-1)) || !near(&p.H1, 100) || !near(&p.H24, 100*(2/1.5-1)) {
				t.Errorf("its change is %+v", p)
			}
			if byPair := find(pairID); len(byPair) != 2 || byPair[0].ChainID != "base" {
				t.Errorf("by the pair's address: %+v", byPair)
			}
			if upper := find("0x" + strings.ToUpper(token[2:])); len(upper) != 2 {
				t.Errorf("by the address in upper case: %d pairs", len(upper))
			}
			for _, q := range []string{"pepe", "PEPE", " Pepe ", "$pepe", "ｐｅｐｅ"} {
				var order []string
				for _, p := range find(q) {
					order = append(order, p.ChainID+" "+p.BaseToken.Address[41:]+" "+p.BaseToken.Symbol)
				}
				want := []string{"base 2 ＰＥＰＥ", "bsc 2 ＰＥＰＥ", "base 1 pepe", "bsc 1 pepe", "base 0 PEPE", "bsc 0 PEPE", "base 3 PEPPE", "bsc 3 PEPPE"}
				if !slices.Equal(order, want) {
					t.Errorf("%q finds %v, want %v", q, order, want)
				}
			}
			if prefix := find("pepp"); len(prefix) == 0 || prefix[0].BaseToken.Symbol != "PEPPE" {
				t.Errorf("by its beginning: %+v", prefix)
			}
			if none := find("nothing of the kind"); none == nil || len(none) != 0 {
				t.Errorf("what is not there: %+v", none)
			}
			_, body := c.do(t, http.MethodGet, "/api/dexscreener/search?q=pepe", nil)
			res, same := c.do(t, http.MethodGet, "/api/dexscreener/search/?q=pepe", nil)
			if !bytes.Equal(body, same) {
				t.Errorf("with a slash at the end of the path: %s", same)
			}
			if got := res.Header.Get("X-Data-As-Of"); got != clock.Add(-2*time.Second).Format(time.RFC3339) {
				t.Errorf("X-Data-As-Of is %q", got)
			}
		})
	}
}

func TestConstants(t *testing.T) {
	t.Parallel()
	o := options(t, seeded(t, "sqlite"))
	credentials := filepath.Join(t.TempDir(), "credentials")
	o.Site = &site.Site{
		Resources: []site.Resource{{ID: "docs", Label: "Docs", Kind: site.Docs, URL: "/docs"}},
		Changelog: []site.Entry{{ID: "b", At: clock, Label: "Second"}, {ID: "a", At: clock.AddDate(0, 0, -1), Label: "First"}},
		SignIn: []site.SignInProvider{
			{Provider: site.Provider{ID: "one", Label: "One"}, CredentialsFile: credentials},
			{Provider: site.Provider{ID: "two", Label: "Two"}, CredentialsFile: credentials + "-missing"},
		},
	}
	c := startWith(t, o)
	h := get[contract.MobileHealth](t, c, "/api/v1/mobile/health")
	if h.FeeBpsPerLeg != 80 || h.FeePctPerLeg != 0.8 || h.RoundTripPct != 1.6 || h.LaunchFeeUSD != 0 || len(h.Chains) != 3 ||
		h.Chains[1] != (contract.Chain{ID: "base", Label: "BASE", MinTradeUSD: 2}) || h.Minimums["bsc"] != 2 || h.MarketChains[2].MinBuyUSD != 2 {
		t.Errorf("the constants are %+v", h)
	}
	if len(h.Resources) != 3 || h.Resources[0].Kind != contract.ResourceKindDocs ||
		h.Resources[0].URL != "https://api.example/docs" || h.Resources[1].ID != "b" ||
		h.Resources[1].URL != "https://docs.example/x/changelog#b" || h.Resources[2].At == nil {
		t.Errorf("the resources are %+v", h.Resources)
	}
	if p := get[contract.SignInProviders](t, c, "/api/auth/social/providers"); p.Providers == nil || len(p.Providers) != 0 {
		t.Errorf("without credentials there are the providers %+v", p)
	}
	if err := os.WriteFile(credentials, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if p := get[contract.SignInProviders](t, c, "/api/auth/social/providers"); len(p.Providers) != 1 || p.Providers[0].ID != "one" {
		t.Errorf("with one's credentials there are the providers %+v", p)
	}
}

// TestLaunchStatus reads the answer by the contract's table: a row for each venue and chain, in declared order, and every
// chain; one without an open venue is closed.
func TestLaunchStatus(t *testing.T) {
	t.Parallel()
	c := start(t, seeded(t, "sqlite"))
	res, body := c.do(t, http.MethodGet, "/api/launch/status", nil)
	want := `{"as_of":"2026-03-04T11:00:30Z","chains":[` +
		`{"id":"solana","label":"Solana","state":"closed"},{"id":"base","label":"BASE","state":"open"},{"id":"bsc","label":"BSC","state":"closed"}],` +
		`"launch_fee_usd":0,"venues":[` +
		`{"chain":"base","default":true,"family":"own","id":"boardwalk","label":"Boardwalk","state":"open","trades_in_app":true},` +
		`{"chain":"bsc","default":true,"family":"own","id":"boardwalk","label":"Boardwalk","state":"closed","trades_in_app":true},` +
		`{"chain":"base","default":false,"family":"further","id":"clanker","label":"Clanker","state":"closed","trades_in_app":true},` +
		`{"chain":"base","default":false,"family":"outside","id":"four-meme","label":"four.meme","state":"closed","trades_in_app":false},` +
		`{"chain":"bsc","default":false,"family":"outside","id":"four-meme","label":"four.meme","state":"closed","trades_in_app":true},` +
		`{"chain":"solana","default":false,"family":"outside","id":"pump-fun","label":"pump.fun","state":"closed","trades_in_app":false}]}` + "\n"
	if string(body) != want || res.Header.Get("Cache-Control") != "public, max-age=30, stale-while-revalidate=300" || res.Header.Get("ETag") == "" {
		t.Errorf("%v\n%s, want\n%s", res.Header, body, want)
	}

	o := options(t, seeded(t, "sqlite"))
	o.Catalog = catalog.NewLive(&catalog.Catalog{})
	if none := get[contract.LaunchStatus](t, startWith(t, o), "/api/launch/status"); none.Venues == nil || none.Chains == nil ||
		len(none.Venues)+len(none.Chains) != 0 || !none.AsOf.Equal(clock) {
		t.Errorf("with nothing declared: %+v", none)
	}
}
