package apiserver_test

import (
	"context"
	"encoding/json"
	"flag"
	"io"
	"log/slog"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver"
	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/contract/contracttest"
	"github.com/boardwalkhq/boardwalk/apiserver/httpapi"
	"github.com/boardwalkhq/boardwalk/apiserver/view"
	"github.com/boardwalkhq/boardwalk/internal/catalog"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// kit sees every response of every test in this package; at the end it must have seen every documented status.
var kit *contracttest.Kit

func TestMain(m *testing.M) {
	var err error
	if kit, err = contracttest.Load(); err != nil {
		panic(err)
	}
	code := m.Run()
	if whole := flag.Lookup("test.run").Value.String() == ""; code == 0 && whole {
		// Nothing can make these answer 503: they read no store, or say so in a 200.
		// Nor can these fail inside: they write what was encoded at the start.
		unseen, err := kit.Unseen(contracttest.Status{Operation: "getVersion", Code: 500}, contracttest.Status{Operation: "getOpenAPI", Code: 500},
			contracttest.Status{Operation: "getHeartbeat", Code: 503}, contracttest.Status{Operation: "getVersion", Code: 503},
			contracttest.Status{Operation: "getOpenAPI", Code: 503})
		if err != nil {
			panic(err)
		}
		for _, s := range unseen {
			_, _ = io.WriteString(os.Stderr, "documented and never produced by a test: "+s.String()+"\n")
			code = 1
		}
	}
	storetest.Stop()
	os.Exit(code)
}

const (
	weth   = "0x4200000000000000000000000000000000000006"
	usdc   = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
	token  = "0x1000000000000000000000000000000000000001"
	bare   = "0x2000000000000000000000000000000000000002"
	pairID = "0x3000000000000000000000000000000000000003"
	native = "0x5000000000000000000000000000000000000005"
)

// hostile is a name that wants to be more than text.
const hostile = "<script>alert(1)</script>\u202e\"';--😀"

var clock = time.Date(2026, 3, 4, 12, 0, 30, 0, time.UTC)

func address(t *testing.T, s string) market.Address {
	t.Helper()
	a, err := market.ParsePool(s)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func amount(s string) (a market.Amount) {
	if err := a.SetFromDecimal(s); err != nil {
		panic(err)
	}
	return a
}

func set[K comparable, V any](k K, v V) market.Change[K, V] {
	return market.Change[K, V]{Key: k, After: &v}
}

// seeded is a store with two chains: a token with a pool on each, one without any.
func seeded(t *testing.T, kind string) *store.Store {
	t.Helper()
	st := storetest.Open(t, kind)
	for i, chain := range []string{"base", "bsc"} {
		l, err := st.Acquire(t.Context(), chain, "test", time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		now := clock.Unix() - 2
		pool := market.Pool{
			ID: address(t, pairID), Protocol: market.UniswapV2, Factory: address(t, native), Token0: address(t, token), Token1: address(t, weth),
			Base: address(t, token), Quote: address(t, weth), BaseIs0: true, Price: 0.001 * float64(i+1), Depth: 1, Locked: 100 / float64(i+1), LastTradeAt: now,
			Day: market.Window{VolumeUSD: amount("123456789000000"), Buys: 3, Sells: 1, ReferenceUSD: 1.5},
		}
		c := &store.Commit{
			Last: market.Header{Number: 100, Hash: market.Hash{1}, Time: now}, Blocks: []market.Header{{Number: 100, Hash: market.Hash{1}, Time: now}},
			Head: store.HeadStatus{Number: 101, Time: now + 1, Safe: 90, Final: 80, FinalTime: now - 60},
		}
		ch := &c.Changes
		tok := func(mint, name string, pool market.Address, decimals bool) {
			a := address(t, mint)
			ch.Tokens = append(ch.Tokens, set(a, market.Token{
				Mint: a, Name: name, Symbol: name, HasDecimals: decimals, Decimals: 18,
				HasSupply: decimals, Supply: amount("1000000000000000000000000"), FirstSeenAt: now - 7200, Pool: pool,
			}))
		}
		tok(token, hostile, pool.ID, true)
		tok(weth, "WETH", market.Address{}, true)
		tok(bare, "", market.Address{}, false)
		ch.Pools = append(ch.Pools, set(pool.ID, pool))
		for asset, usd := range map[string]float64{weth: 2000, usdc: 1} {
			ch.Quotes = append(ch.Quotes, set(address(t, asset), market.QuotePrice{Asset: address(t, asset), USD: usd, Pegged: usd == 1}))
		}
		for n, ago := range []int64{86_000, 600, 120, 0} {
			at := now - ago
			price := 1 + float64(n)/10
			tr := market.Trade{
				Block: uint64(97 + n), Time: at, Pool: pool.ID, Base: pool.Base, Trader: address(t, native), Sell: n == 1,
				BaseAmount: amount("1000"), QuoteAmount: amount("2000"), NanoUSD: 5_000_000_000, HasUSD: true, CloseUSD: price, CloseNative: price / 2000,
			}
			tr.Trader = address(t, "0x90000000000000000000000000000000000000"+string(rune('0'+n))+"0")
			ch.Trades = append(ch.Trades, tr)
			for _, interval := range market.StoredIntervals {
				k := market.CandleKey{Pool: pool.ID, Interval: interval, Open: at - at%int64(interval)}
				k2 := market.Candle{CandleKey: k, USD: market.OHLC{Open: price, High: price, Low: price, Close: price}, VolumeUSD: amount("5000000000"), Buys: 1, LastBlock: tr.Block}
				dup := false
				for j := range ch.Candles {
					if ch.Candles[j].Key == k {
						dup = true
						ch.Candles[j].After.USD.Add(price)
						ch.Candles[j].After.Buys++
					}
				}
				if !dup {
					ch.Candles = append(ch.Candles, set(k, k2))
				}
			}
		}
		if err := st.Commit(t.Context(), l, c); err != nil {
			t.Fatal(err)
		}
	}
	return st
}

func chains() *catalog.Catalog {
	c := &catalog.Catalog{Chains: []catalog.Chain{{ID: "solana", Family: chainconfig.Solana, Suspended: true}}}
	for _, id := range []string{"base", "bsc"} {
		c.Chains = append(c.Chains, catalog.Chain{ID: id, Family: chainconfig.EVM, Native: chainconfig.Native{Wrapped: weth}})
	}
	return c
}

type client struct {
	h http.Handler
}

func start(t *testing.T, st *store.Store) *client {
	t.Helper()
	s, err := apiserver.New(apiserver.Options{
		Store: st, Catalog: chains(), Build: httpapi.Build{Commit: strings.Repeat("ab", 20), Built: clock}, DocsURL: "https://docs.example/x",
		Now: func() time.Time { return clock }, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Refresh(ctx)
	}()
	t.Cleanup(func() { cancel(); <-done })
	for deadline := time.Now().Add(20 * time.Second); s.Ready(t.Context()) != nil; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it never became ready")
		}
	}
	return &client{s.Handler()}
}

// reply is what there is to a response beside its body.
type reply struct {
	StatusCode int
	Header     http.Header
}

// do sends a request and has the kit check the response, whose body it reads.
func (c *client) do(t *testing.T, method, target string, header http.Header) (reply, []byte) {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), method, target, nil)
	maps.Copy(req.Header, header)
	w := httptest.NewRecorder()
	c.h.ServeHTTP(w, req)
	res := w.Result()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if got := res.Header.Get("Access-Control-Allow-Origin"); got != "*" {
		t.Errorf("%s %s: Access-Control-Allow-Origin is %q", method, target, got)
	}
	kit.Check(t, req, res, body)
	return reply{res.StatusCode, res.Header}, body
}

func get[V any](t *testing.T, c *client, target string) V {
	t.Helper()
	res, body := c.do(t, http.MethodGet, target, nil)
	if res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %s", target, res.StatusCode, body)
	}
	var v V
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestRoutesAreTheDocumentedOperations(t *testing.T) {
	t.Parallel()
	routes, err := httpapi.Operations()
	if err != nil {
		t.Fatal(err)
	}
	kit.RouteParity(t, routes)
}

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
			if beat := get[contract.Heartbeat](t, c, "/api/status/heartbeat"); beat.Status != contract.HeartbeatStatusOk || len(beat.Chains) != 2 ||
				*beat.Chains[0].HeadLagS != 1 {
				t.Errorf("the heartbeat is %+v", beat)
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

// TestEveryOperationKeepsTheConventions sends what every operation must answer alike.
func TestEveryOperationKeepsTheConventions(t *testing.T) {
	t.Parallel()
	c := start(t, seeded(t, "sqlite"))
	for _, target := range []string{
		"/api/market/live", "/api/token/info/" + token + "?chain=base", "/api/chart/" + token, "/api/token/" + token + "/candles",
		"/api/status/heartbeat", "/api/version", "/openapi.json",
	} {
		res, body := c.do(t, http.MethodGet, target, nil)
		again, same := c.do(t, http.MethodGet, target, nil)
		etag := res.Header.Get("ETag")
		if !strings.Contains(target, "heartbeat") && (etag != again.Header.Get("ETag") || string(body) != string(same)) {
			t.Errorf("%s: the same data gave other bytes", target)
		}
		head, none := c.do(t, http.MethodHead, target, nil)
		if head.StatusCode != http.StatusOK || len(none) != 0 || head.Header.Get("Content-Length") == "" {
			t.Errorf("HEAD %s: %d with %d bytes", target, head.StatusCode, len(none))
		}
		if not, _ := c.do(t, http.MethodGet, target, http.Header{"If-None-Match": {`"other", ` + again.Header.Get("ETag")}}); not.StatusCode != http.StatusNotModified &&
			!strings.Contains(target, "heartbeat") {
			t.Errorf("%s with its ETag: %d", target, not.StatusCode)
		}
		if post, _ := c.do(t, http.MethodPost, target, nil); post.StatusCode != http.StatusMethodNotAllowed || post.Header.Get("Allow") == "" {
			t.Errorf("POST %s: %d", target, post.StatusCode)
		}
	}
	if not, _ := c.do(t, http.MethodGet, "/api/status/heartbeat", http.Header{"If-None-Match": {"*"}}); not.StatusCode != http.StatusNotModified {
		t.Errorf("the heartbeat with *: %d", not.StatusCode)
	}
	req := httptest.NewRequestWithContext(t.Context(), http.MethodOptions, "/api/version", nil)
	w := httptest.NewRecorder()
	c.h.ServeHTTP(w, req)
	if w.Code != http.StatusNoContent || w.Header().Get("Access-Control-Allow-Methods") != "GET, HEAD, OPTIONS" {
		t.Errorf("preflight: %d %v", w.Code, w.Header())
	}
	for _, target := range []string{"/nope", "/api/token", "/", "/api//version", "/api/market/live/"} {
		req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
		w := httptest.NewRecorder()
		c.h.ServeHTTP(w, req)
		kit.CheckUnrouted(t, req, w.Result(), w.Body.Bytes())
	}
}

func TestBadRequestsNameWhatIsWrong(t *testing.T) {
	t.Parallel()
	c := start(t, seeded(t, "sqlite"))
	for _, bad := range kit.BadRequests() {
		res, body := c.do(t, http.MethodGet, bad.Target, nil)
		kit.RequireBadRequest(t, bad, res.StatusCode, body)
	}
	for target, want := range map[string]struct {
		status int
		slug   string
	}{
		"/api/token/info/" + token:                                          {400, "unsupported-address"},
		"/api/token/info/" + token + "?chain=solana":                        {400, "unsupported-address"},
		"/api/token/info/" + token + "?chain=nowhere":                       {400, "unsupported-chain"},
		"/api/token/info/So11111111111111111111111111111111111111112":       {404, "token-not-found"},
		"/api/token/info/candles":                                           {400, "invalid-parameter"},
		"/api/token/info/" + native + "?chain=base":                         {404, "token-not-found"},
		"/api/chart/" + native:                                              {404, "token-not-found"},
		"/api/token/" + native + "/candles":                                 {404, "token-not-found"},
		"/api/chart/" + token + "?pair=" + native:                           {404, "pair-not-found"},
		"/api/chart/" + token + "?from=20&to=10":                            {400, "invalid-parameter"},
		"/api/chart/" + token + "?chain=solana":                             {400, "unsupported-address"},
		"/api/market/live?per_chain=9999999999999999999999":                 {400, "invalid-parameter"},
		"/api/token/0X" + token[2:] + "/candles":                            {400, "invalid-parameter"},
		"/api/chart/" + token + "?tf=%00%ff":                                {400, "invalid-parameter"},
		"/api/token/info/" + token + "?chain=base%3Cscript%3E":              {400, "unsupported-chain"},
		"/api/token/info/0x" + strings.Repeat("1", 40) + "%2f..?chain=base": {404, "route-not-found"},
	} {
		res, body := c.do(t, http.MethodGet, target, nil)
		var p contract.Problem
		if err := json.Unmarshal(body, &p); err != nil || res.StatusCode != want.status || p.Type != "https://docs.example/x/problems/"+want.slug {
			t.Errorf("%s: %d %s; want %d %s", target, res.StatusCode, body, want.status, want.slug)
		}
	}
}

// TestWithoutTheDatabase closes the store under the server: what is in memory is still answered, the rest is 503.
func TestWithoutTheDatabase(t *testing.T) {
	t.Parallel()
	st := seeded(t, "sqlite")
	c := start(t, st)
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	if res, body := c.do(t, http.MethodGet, "/api/market/live", nil); res.StatusCode != http.StatusOK {
		t.Errorf("the live list: %d %s", res.StatusCode, body)
	}
	for _, target := range []string{"/api/token/info/" + token + "?chain=base", "/api/chart/" + token, "/api/token/" + token + "/candles"} {
		res, body := c.do(t, http.MethodGet, target, nil)
		if res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") == "" || strings.Contains(string(body), "sql") {
			t.Errorf("%s: %d %s", target, res.StatusCode, body)
		}
	}
	if beat := get[contract.Heartbeat](t, c, "/api/status/heartbeat"); beat.Status != contract.HeartbeatStatusDown {
		t.Errorf("the heartbeat is %+v", beat)
	}
}

// TestBeforeTheFirstSnapshot asks a server that has read nothing yet.
func TestBeforeTheFirstSnapshot(t *testing.T) {
	t.Parallel()
	s, err := apiserver.New(apiserver.Options{
		Store: storetest.Open(t, "sqlite"), Catalog: chains(), Build: httpapi.Build{Commit: strings.Repeat("0", 40)}, DocsURL: "/docs",
		Now: func() time.Time { return clock }, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	c := &client{s.Handler()}
	if res, _ := c.do(t, http.MethodGet, "/api/market/live", nil); res.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("the live list: %d", res.StatusCode)
	}
}

// broken fails in every way that a bug can.
type broken struct{}

func (broken) Live() *view.Live { panic("secret of the inside") }

func (broken) Tokens(context.Context, market.Address) ([]view.Token, error) {
	panic("secret of the inside")
}

func (broken) Health(context.Context) ([]view.ChainHealth, error) { panic("secret of the inside") }

// TestPanicsStayInside has the readers panic: a 500 with the request id, and nothing of the inside.
func TestPanicsStayInside(t *testing.T) {
	t.Parallel()
	h, err := httpapi.New(httpapi.Config{
		Tokens: broken{}, Market: broken{}, Health: broken{}, Chains: []httpapi.Chain{{ID: "base", EVM: true}}, DocsURL: "/docs",
		Now: func() time.Time { return clock }, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	c := &client{h}
	for _, target := range []string{
		"/api/market/live", "/api/token/info/" + token + "?chain=base", "/api/chart/" + token, "/api/token/" + token + "/candles",
		"/api/status/heartbeat",
	} {
		res, body := c.do(t, http.MethodGet, target, nil)
		if res.StatusCode != http.StatusInternalServerError || strings.Contains(string(body), "secret") ||
			!strings.Contains(string(body), res.Header.Get("X-Request-Id")) {
			t.Errorf("%s: %d %s", target, res.StatusCode, body)
		}
	}
}
