package apiserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/boardwalkhq/boardwalk/apiserver"
	"github.com/boardwalkhq/boardwalk/apiserver/contract/clienttest"
	"github.com/boardwalkhq/boardwalk/apiserver/contract/contracttest"
	"github.com/boardwalkhq/boardwalk/apiserver/limit"
	"github.com/boardwalkhq/boardwalk/internal/browsertest"
	"github.com/boardwalkhq/boardwalk/internal/redistest"
)

// listening runs a whole server on a port, until the test ends, and gives its address.
func listening(t *testing.T, o apiserver.Options) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serveOn(t, o, l)
	return l.Addr().String()
}

// serveOn is listening on a listener.
func serveOn(t *testing.T, o apiserver.Options, l net.Listener) {
	t.Helper()
	o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	s, err := apiserver.New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	eventually(t, "it is ready", func() bool { return s.Ready(t.Context()) == nil })
}

func TestFuzz(t *testing.T) {
	t.Parallel()
	c := start(t, seeded(t, "sqlite"))
	kit.Fuzz(t, func(req *http.Request) (*http.Response, []byte) {
		req.Header.Add("X-Forwarded-For", stranger()) // the last hop, which the proxy adds
		answer, body := c.send(t, req)
		return answer.whole, body
	}, contracttest.Seeds{
		Values: map[string][]string{
			"mint": {token, bare, weth, unmet, solMint}, "mint_address": {token, bare, weth, solMint}, "wallet": {trader, native, solMint}, "pair": {pairID, "ETH"},
			"chain": {"base", "bsc", "solana", "all"}, "launchpad": {"all", "ours", "four-meme", "clanker"}, "before": {boardCursor}, "mints": {token, "bsc:" + token, bare, unmet, solMint}, "q": {"pepe", token, pairID, hostile, "ＰＥ"},
		},
		Moving: []string{"getHeartbeat"},
	})
}

func TestPathTricks(t *testing.T) {
	t.Parallel()
	kit.Walk(t, contracttest.Raw(t, listening(t, options(t, seeded(t, "sqlite")))))
}

// exchange sends bytes on a connection of their own and reads the answer.
func exchange(t *testing.T, address, request string) (reply, string) {
	t.Helper()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	go func() { _, _ = io.WriteString(c, request) }() // the server may answer before it has read all
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{res.StatusCode, res.Header, res}, string(body)
}

// TestWhatIsNoRequest sends what net/http refuses before any handler sees it: the answer is a problem that any page may
// read, all the same.
func TestWhatIsNoRequest(t *testing.T) {
	t.Parallel()
	address := listening(t, options(t, seeded(t, "sqlite")))
	for name, c := range map[string]struct {
		request, slug string
		status        int
	}{
		"a huge header":       {"GET /api/version HTTP/1.1\r\nHost: x\r\nX-Big: " + strings.Repeat("a", 1<<17) + "\r\n\r\n", "headers-too-large", 431},
		"a huge target":       {"GET /api/chart/" + strings.Repeat("a", 1<<17) + " HTTP/1.1\r\nHost: x\r\n\r\n", "headers-too-large", 431},
		"many headers":        {"GET /api/version HTTP/1.1\r\nHost: x\r\n" + strings.Repeat("A: b\r\n", 1<<15) + "\r\n", "headers-too-large", 431},
		"no HTTP":             {"hello\r\n\r\n", "malformed-request", 400},
		"no host":             {"GET /api/version HTTP/1.1\r\n\r\n", "malformed-request", 400},
		"two hosts":           {"GET /api/version HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "malformed-request", 400},
		"a bad escape":        {"GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n", "malformed-request", 400},
		"a NUL in a header":   {"GET /api/version HTTP/1.1\r\nHost: x\r\nA: \x00\r\n\r\n", "malformed-request", 400},
		"an odd transfer":     {"GET /api/version HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: nonsense\r\n\r\n", "malformed-request", 400},
		"a folded first line": {"GET /api/version\r\n HTTP/1.1\r\nHost: x\r\n\r\n", "malformed-request", 400},
		"an odd expectation":  {"GET /api/version HTTP/1.1\r\nHost: x\r\nExpect: foo\r\n\r\n", "expectation-failed", 417},
		"one of HTTP/1.0":     {"GET /api/version HTTP/1.0\r\nExpect: foo\r\n\r\n", "expectation-failed", 417},
	} {
		res, body := exchange(t, address, c.request)
		var p struct {
			Type   string
			Status int
		}
		if err := json.Unmarshal([]byte(body), &p); err != nil || res.StatusCode != c.status || p.Status != c.status ||
			p.Type != "https://docs.example/x/problems/"+c.slug || res.Header.Get("Access-Control-Allow-Origin") != "*" ||
			res.Header.Get("Cache-Control") != "no-store" || res.Header.Get("X-Request-Id") == "" {
			t.Errorf("%s: %d %v %q", name, res.StatusCode, res.Header, body)
		}
	}
	if res, body := exchange(t, address, "GET /api/version HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); res.StatusCode != http.StatusOK {
		t.Errorf("a request after all that: %d %s", res.StatusCode, body)
	}
}

// TestSlowClients hold connections that say nothing, half a request, or read nothing: others are answered meanwhile.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	o := options(t, seeded(t, "sqlite"))
	o.MaxInFlight = 2
	address := listening(t, o)
	for _, sent := range []string{"", "GET /api/ver", "GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n"} {
		for range 20 {
			c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = c.Close() })
			if _, err := io.WriteString(c, sent); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 20 {
		res, body := exchange(t, address, "GET /api/market/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		if res.StatusCode != http.StatusOK {
			t.Fatalf("beside slow clients: %d %s", res.StatusCode, body)
		}
	}
}

// TestAnyPageReadsEverything is a page of another origin in a real Chromium: it reads every operation, with a key, which
// needs a preflight, and every header that the contract exposes.
func TestAnyPageReadsEverything(t *testing.T) {
	t.Parallel()
	o := options(t, seeded(t, "sqlite"))
	api := "http://" + listening(t, o)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<!doctype html><title>elsewhere</title>")
	}))
	t.Cleanup(elsewhere.Close)
	page, record := browsertest.Start(t).Page(t, browsertest.Desktop)
	if _, err := browsertest.Open(page, elsewhere.URL); err != nil {
		t.Fatal(err)
	}
	for _, target := range append(slices.Clone(operationTargets), "/api/nothing", "/api/market/live?per_chain=0") {
		res, err := browsertest.Fetch(page, browsertest.Request{URL: api + target, Header: map[string]string{"X-Api-Key": "who knows"}})
		if err != nil {
			t.Errorf("%s: %v", target, err)
			continue
		}
		wanted := []string{"ratelimit", "ratelimit-policy", "x-request-id", "x-api-key-status"}
		if res.Status == http.StatusOK {
			wanted = append(wanted, "etag")
		}
		if strings.Contains(target, "search") {
			wanted = append(wanted, "x-data-as-of")
		}
		for _, name := range wanted {
			if res.Header[name] == "" {
				t.Errorf("%s: a page doesn't see %s: %v", target, name, res.Header)
			}
		}
		var body any
		if strings.HasPrefix(res.Header["content-type"], "application/") {
			err = res.JSON(&body)
		}
		if err != nil || res.Type != "cors" {
			t.Errorf("%s: %s, %v", target, res.Type, err)
		}
	}
	if strangers := record.Strangers(elsewhere.URL, api); len(strangers) > 0 {
		t.Errorf("the page asked %v", strangers)
	}
}

// TestDocsBesideTheAPI asks the whole server for its documentation, which links every problem's type.
func TestDocsBesideTheAPI(t *testing.T) {
	t.Parallel()
	o := options(t, seeded(t, "sqlite"))
	o.DocsURL = "/docs"
	c := startWith(t, o)
	_, body := c.do(t, http.MethodGet, "/api/chart/"+token+"?limit=0", nil)
	var p struct{ Type string }
	if err := json.Unmarshal(body, &p); err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{"/docs/", "/docs/changelog", "/docs/problems/", "/docs/ranking", p.Type} {
		req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
		req.Header.Set("Accept-Encoding", "gzip")
		res, _ := c.send(t, req)
		if res.StatusCode != http.StatusOK || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/html") ||
			res.Header.Get("Access-Control-Allow-Origin") != "*" || res.Header.Get("ETag") == "" || res.Header.Get("Content-Encoding") != "gzip" {
			t.Errorf("%s: %d %v", target, res.StatusCode, res.Header)
		}
	}
}

// TestDexScreenerClient has a client of DexScreener's, which nobody wrote for us, read our search.
func TestDexScreenerClient(t *testing.T) {
	t.Parallel()
	address := listening(t, options(t, seeded(t, "sqlite")))
	pairs := clienttest.DexScreenerSearch(t, "http://"+address, "pepe")
	if len(pairs) != 8 || pairs[0].BaseToken.Symbol != "ＰＥＰＥ" || *pairs[0].PriceUSD != "2" || pairs[0].PairCreatedAt == nil {
		t.Errorf("it reads %+v", pairs)
	}
}

// TestProcessesShareLimits runs two servers on one Redis: a client has one limit at both. When Redis dies each counts for
// itself, and says so in a metric; when it is back they share again.
func TestProcessesShareLimits(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	st := seeded(t, "sqlite")
	var servers []*client
	var registries []*prometheus.Registry
	for range 2 {
		o := options(t, st)
		rdb, err := limit.OpenRedis(redis.Address())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = rdb.Close() })
		memory := limit.NewMemory(time.Now, 1000)
		registry := prometheus.NewRegistry()
		metrics := limit.NewMetrics(registry, memory)
		o.Limiter = limit.NewRedis(rdb, memory, limit.RedisOptions{Timeout: 5 * time.Second, Metrics: metrics, Log: slog.New(slog.DiscardHandler)})
		servers, registries = append(servers, startWith(t, o)), append(registries, registry)
	}
	from := http.Header{"X-Forwarded-For": {stranger()}}
	ask := func(n int) int {
		res, _ := servers[n%2].do(t, http.MethodGet, "/api/market/live", from)
		return res.StatusCode
	}
	for n := range 60 {
		if status := ask(n); status != http.StatusOK {
			t.Fatalf("request %d of both: %d", n+1, status)
		}
	}
	if one, other := ask(0), ask(1); one != http.StatusTooManyRequests || other != http.StatusTooManyRequests {
		t.Errorf("beyond the shared limit: %d, %d", one, other)
	}
	fallen := func(n int) bool {
		err := testutil.GatherAndCompare(registries[n], strings.NewReader(
			"# HELP boardwalk_limiter_fallback 1 while requests are counted in this process although Redis is configured.\n"+
				"# TYPE boardwalk_limiter_fallback gauge\nboardwalk_limiter_fallback 1\n"), "boardwalk_limiter_fallback")
		return err == nil
	}
	redis.Kill(t)
	for n := range 2 {
		if status := ask(n); status != http.StatusOK || !fallen(n) {
			t.Errorf("server %d without Redis: %d, fallen back %v", n, status, fallen(n))
		}
	}
	redis.Restart(t)
	for n := range 2 {
		eventually(t, fmt.Sprintf("server %d uses Redis again", n), func() bool {
			servers[n].do(t, http.MethodGet, "/api/version", nil)
			return !fallen(n)
		})
	}
}
