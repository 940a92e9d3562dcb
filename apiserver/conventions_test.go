package apiserver_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/boardwalkhq/boardwalk/apiserver"
	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/limit"
)

// moving are the targets whose answer tells how long answers take, which changes with each.
var moving = []string{"/api/status/heartbeat"}

func TestRoutesAreTheDocumentedOperations(t *testing.T) {
	t.Parallel()
	o := options(t, nil)
	routes, err := apiserver.Operations(&o)
	if err != nil {
		t.Fatal(err)
	}
	kit.RouteParity(t, routes)
}

// TestEveryOperationIsAskedFor holds the list of targets to the routes, so that no operation is left out of what follows.
func TestEveryOperationIsAskedFor(t *testing.T) {
	t.Parallel()
	o := options(t, nil)
	routes, err := apiserver.Operations(&o)
	if err != nil {
		t.Fatal(err)
	}
	c := start(t, seeded(t, "sqlite"))
	asked := map[string]bool{}
	for _, target := range operationTargets {
		res, _ := c.do(t, http.MethodGet, target, nil)
		if res.StatusCode != http.StatusOK {
			t.Errorf("%s: %d", target, res.StatusCode)
		}
		asked[policyName(res.Header)] = true
	}
	for _, r := range routes {
		if !asked[r.ID] && r.ID != "getLiveStream" { // which goes on
			t.Errorf("operationTargets has none for %s", r.ID)
		}
	}
}

// policyName is the name of the limit that counted a request.
func policyName(h http.Header) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(h.Get("RateLimit-Policy"), `"`), `"`)
	return name
}

// TestSameDataSameBytes asks two servers on the same rows, at different times.
func TestSameDataSameBytes(t *testing.T) {
	t.Parallel()
	o := options(t, seeded(t, "sqlite"))
	now := startWith(t, o)
	o.Now = func() time.Time { return clock.Add(7 * time.Second) }
	later := startWith(t, o)
	for _, target := range operationTargets {
		if slices.Contains(moving, target) {
			continue
		}
		_, one := now.do(t, http.MethodGet, target, nil)
		if _, other := later.do(t, http.MethodGet, target, nil); !bytes.Equal(one, other) {
			t.Errorf("%s: the same data gave\n%s and later\n%s", target, one, other)
		}
	}
}

func TestHeadIsGetWithoutABody(t *testing.T) {
	t.Parallel()
	c := start(t, seeded(t, "sqlite"))
	for _, target := range append(slices.Clone(operationTargets), "/api/nothing", "/api/market/live?per_chain=0") {
		get, body := c.send(t, httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, nil))
		head, none := c.send(t, httptest.NewRequestWithContext(t.Context(), http.MethodHead, target, nil))
		if head.StatusCode != get.StatusCode || len(none) != 0 {
			t.Errorf("HEAD %s: %d with %d bytes, GET %d", target, head.StatusCode, len(none), get.StatusCode)
		}
		if slices.Contains(moving, target) {
			continue
		}
		for _, h := range []http.Header{get.Header, head.Header} {
			h.Del("X-Request-Id")
		}
		if !maps.EqualFunc(get.Header, head.Header, slices.Equal) || get.Header.Get("Content-Length") != strconv.Itoa(len(body)) {
			t.Errorf("HEAD %s has %v, GET %v", target, head.Header, get.Header)
		}
	}
}

func TestConditionalRequests(t *testing.T) {
	t.Parallel()
	c := start(t, seeded(t, "sqlite"))
	for _, target := range operationTargets {
		first, _ := c.do(t, http.MethodGet, target, nil)
		tag := first.Header.Get("ETag")
		if slices.Contains(moving, target) {
			tag = "*"
		}
		for _, match := range []string{tag, `"other", ` + tag, strings.TrimPrefix(tag, "W/"), "*"} {
			for _, method := range []string{http.MethodGet, http.MethodHead} {
				if not, _ := c.do(t, method, target, http.Header{"If-None-Match": {match}}); not.StatusCode != http.StatusNotModified {
					t.Errorf("%s %s with If-None-Match %s: %d", method, target, match, not.StatusCode)
				}
			}
		}
		for _, match := range []string{`"other"`, `W/"00000000000000000000000000000000"`, "garbage"} {
			if again, _ := c.do(t, http.MethodGet, target, http.Header{"If-None-Match": {match}}); again.StatusCode != http.StatusOK {
				t.Errorf("%s with If-None-Match %s: %d", target, match, again.StatusCode)
			}
		}
	}
}

func TestCompression(t *testing.T) {
	t.Parallel()
	c := start(t, seeded(t, "sqlite"))
	decode := map[string]func([]byte) ([]byte, error){
		"": func(b []byte) ([]byte, error) { return b, nil },
		"gzip": func(b []byte) ([]byte, error) {
			r, err := gzip.NewReader(bytes.NewReader(b))
			if err != nil {
				return nil, err
			}
			return io.ReadAll(r)
		},
		"zstd": func(b []byte) ([]byte, error) {
			r, err := zstd.NewReader(nil)
			if err != nil {
				return nil, err
			}
			return r.DecodeAll(b, nil)
		},
	}
	for _, target := range []string{"/openapi.json", "/api/chart/" + token, "/api/market/live"} {
		plain, body := c.send(t, httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, nil))
		for accept, want := range map[string]string{
			"gzip": "gzip", "zstd": "zstd", "gzip, deflate, br, zstd": "zstd", "zstd;q=0.5, gzip": "gzip", "*": "zstd", "br": "", "identity": "",
			"gzip;q=0": "", "gzip;q=nonsense": "", "zstd;q=0, *": "gzip", "GZIP": "gzip", ";;,,": "",
		} {
			req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
			req.Header.Set("Accept-Encoding", accept)
			res, packed := c.send(t, req)
			got := res.Header.Get("Content-Encoding")
			unpacked, err := decode[got](packed)
			if err != nil || got != want || !bytes.Equal(unpacked, body) || res.Header.Get("ETag") != plain.Header.Get("ETag") ||
				res.Header.Get("Vary") != "Accept-Encoding" || res.Header.Get("Content-Length") != strconv.Itoa(len(packed)) {
				t.Errorf("%s, accepting %q: %q with %d bytes of %d, %v", target, accept, got, len(packed), len(body), err)
			}
		}
	}
	req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/version", nil)
	req.Header.Set("Accept-Encoding", "gzip")
	if res, _ := c.send(t, req); res.Header.Get("Content-Encoding") != "" {
		t.Error("an answer of one packet is compressed")
	}
}

func TestPreflight(t *testing.T) {
	t.Parallel()
	c := start(t, seeded(t, "sqlite"))
	for _, target := range append(slices.Clone(operationTargets), "/api/nothing") {
		req := httptest.NewRequestWithContext(t.Context(), http.MethodOptions, target, nil)
		req.Header.Set("Origin", "https://elsewhere.example")
		req.Header.Set("Access-Control-Request-Method", "GET")
		req.Header.Set("Access-Control-Request-Headers", "x-api-key")
		res, body := c.send(t, req)
		for name, want := range map[string]string{
			"Access-Control-Allow-Origin": "*", "Access-Control-Allow-Methods": "GET, HEAD, OPTIONS",
			"Access-Control-Allow-Headers": "X-Api-Key, If-None-Match, Last-Event-ID", "Access-Control-Max-Age": "86400",
			"Access-Control-Expose-Headers":    "RateLimit, RateLimit-Policy, Retry-After, ETag, X-Data-As-Of, X-Request-Id, X-Api-Key-Status",
			"Access-Control-Allow-Credentials": "", "Set-Cookie": "", "RateLimit": "", "Vary": "",
		} {
			if got := res.Header.Get(name); got != want {
				t.Errorf("OPTIONS %s: %s is %q, want %q", target, name, got, want)
			}
		}
		if res.StatusCode != http.StatusNoContent || len(body) != 0 {
			t.Errorf("OPTIONS %s: %d with %d bytes", target, res.StatusCode, len(body))
		}
	}
}

func TestOtherMethodsAreRefused(t *testing.T) {
	t.Parallel()
	c := start(t, seeded(t, "sqlite"))
	for _, target := range operationTargets {
		for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodPatch, "FETCH"} {
			if res, _ := c.do(t, method, target, nil); res.StatusCode != http.StatusMethodNotAllowed || res.Header.Get("Allow") != "GET, HEAD, OPTIONS" {
				t.Errorf("%s %s: %d, Allow %q", method, target, res.StatusCode, res.Header.Get("Allow"))
			}
		}
	}
}

// quotas are the limits of the service document and of the contract, here a second time on purpose.
var quotas = map[string]int{
	"getMarketLive": 60, "getTokenPrices": 120, "getMajors": 60, "searchPairs": 90, "getTokenInfo": 120, "getTokenCandles": 120,
	"getChart": 120, "getTokenTrust": 30, "getLaunchBoard": 90, "getLaunchedToken": 60, "getLaunchStatus": 60,
	"getTokenCard": 60, "getLaunchCard": 60, "getTraderCard": 60, "getSharePage": 60, "getOnlineCount": 30, "getTokenFamily": 60, "getTradeFeed": 90, "getLiveSince": 90, "getMembersIn": 60, "getLandingLive": 60, "getLandingStats": 60, "getLeaderboard": 60, "getLeaderboardSeries": 60,
	"getGameLadder": 60, "getGameProfile": 120, "getGameRanks": 120, "getGameSeason": 60,
	"getHeartbeat": 120, "getMobileHealth": 60, "getSignInProviders": 60, "getVersion": 120, "getOpenAPI": 60,
}

// TestLimits uses up each operation's limit, with GET, HEAD and requests that are answered 304, 400 and 405 counting
// alike and OPTIONS not at all.
func TestLimits(t *testing.T) {
	t.Parallel()
	c := start(t, seeded(t, "sqlite"))
	for _, target := range operationTargets {
		from := http.Header{"X-Forwarded-For": {stranger()}}
		with := func(name, value string) http.Header {
			h := from.Clone()
			h.Set(name, value)
			return h
		}
		first, _ := c.do(t, http.MethodGet, target, from)
		id := policyName(first.Header)
		quota := quotas[id]
		if id == "getMajors" && strings.Contains(target, "tf=") {
			continue // asked above with its list
		}
		for n := 1; n < quota; n++ {
			method, header := http.MethodGet, from
			switch n % 4 {
			case 1:
				method = http.MethodHead
			case 2:
				header = with("If-None-Match", "*")
			case 3:
				method = http.MethodPost
			}
			req := httptest.NewRequestWithContext(t.Context(), method, target, nil)
			req.Header = header.Clone()
			res, _ := c.send(t, req)
			if want := fmt.Sprintf(`"%s";r=%d;t=60`, id, quota-n-1); res.Header.Get("RateLimit") != want {
				t.Fatalf("%s: after %d requests RateLimit is %s, want %s", target, n+1, res.Header.Get("RateLimit"), want)
			}
		}
		req := httptest.NewRequestWithContext(t.Context(), http.MethodOptions, target, nil)
		req.Header = from.Clone()
		if res, _ := c.send(t, req); res.StatusCode != http.StatusNoContent {
			t.Errorf("OPTIONS %s at the limit: %d", target, res.StatusCode)
		}
		over, body := c.do(t, http.MethodGet, target, from)
		var p map[string]any
		if err := json.Unmarshal(problemIn(body), &p); err != nil || over.StatusCode != http.StatusTooManyRequests || over.Header.Get("Retry-After") != "60" ||
			p["type"] != "https://iana.org/assignments/http-problem-types#quota-exceeded" || p["retry_after_s"] != 60.0 ||
			fmt.Sprint(p["violated-policies"]) != "["+id+"]" {
			t.Errorf("%s beyond its limit: %d %v %s", target, over.StatusCode, over.Header, body)
		}
	}
	// Each operation has a limit of its own, and so has each client.
	someone := http.Header{"X-Forwarded-For": {stranger()}}
	for range quotas["getVersion"] {
		req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/version", nil)
		req.Header = someone.Clone()
		c.send(t, req)
	}
	if res, _ := c.do(t, http.MethodGet, "/api/version", someone); res.StatusCode != http.StatusTooManyRequests {
		t.Errorf("beyond the limit: %d", res.StatusCode)
	}
	if res, _ := c.do(t, http.MethodGet, "/api/status/heartbeat", someone); res.StatusCode != http.StatusOK {
		t.Errorf("another operation: %d", res.StatusCode)
	}
	if res, _ := c.do(t, http.MethodGet, "/api/version", nil); res.StatusCode != http.StatusOK {
		t.Errorf("another client: %d", res.StatusCode)
	}
}

// TestWindowSlides lets time pass: a request leaves the window 60 s after it was counted, not at some full minute.
func TestWindowSlides(t *testing.T) {
	t.Parallel()
	now := clock
	o := options(t, seeded(t, "sqlite"))
	o.Limiter = limit.NewMemory(func() time.Time { return now }, 1000)
	c := startWith(t, o)
	from := http.Header{"X-Forwarded-For": {stranger()}}
	ask := func() (int, string) {
		res, _ := c.do(t, http.MethodGet, "/openapi.json", from)
		return res.StatusCode, res.Header.Get("RateLimit")
	}
	for n := range 60 { // two a second
		if status, _ := ask(); status != http.StatusOK {
			t.Fatalf("request %d: %d", n, status)
		}
		now = now.Add(time.Second / 2)
	}
	if status, left := ask(); status != http.StatusTooManyRequests || left != `"getOpenAPI";r=0;t=30` {
		t.Errorf("after 30 s: %d, %s", status, left)
	}
	now = now.Add(30 * time.Second)
	if status, left := ask(); status != http.StatusOK || left != `"getOpenAPI";r=0;t=1` {
		t.Errorf("when the first has left: %d, %s", status, left)
	}
	if status, _ := ask(); status != http.StatusTooManyRequests {
		t.Errorf("at once again: %d", status)
	}
}

func TestClients(t *testing.T) {
	t.Parallel()
	c := start(t, seeded(t, "sqlite"))
	remaining := func(h http.Header) string {
		res, _ := c.do(t, http.MethodGet, "/api/version", h)
		return res.Header.Get("RateLimit") + res.Header.Get("X-Api-Key-Status")
	}
	const first, second = `"getVersion";r=119;t=60`, `"getVersion";r=118;t=60`
	steps := []struct {
		name   string
		header http.Header
		want   string
	}{
		{"an IPv6 address", http.Header{"X-Forwarded-For": {"2001:db8:1:2:3::4"}}, first},
		{"another of its /64", http.Header{"X-Forwarded-For": {"2001:db8:1:2:ffff::9"}}, second},
		{"one of another /64", http.Header{"X-Forwarded-For": {"2001:db8:1:3:3::4"}}, first},
		{"an address behind two trusted proxies", http.Header{"X-Forwarded-For": {"198.51.100.7, 192.0.2.1"}}, first},
		{"one that claims to be it", http.Header{"X-Forwarded-For": {"198.51.100.7, 203.0.113.9"}}, first},
		{"it again", http.Header{"X-Forwarded-For": {"198.51.100.7"}}, second},
		{"it with an unknown key", http.Header{"X-Forwarded-For": {"198.51.100.7"}, "X-Api-Key": {"who knows"}}, `"getVersion";r=117;t=60unknown`},
		{"it with a known key", http.Header{"X-Forwarded-For": {"198.51.100.7"}, "X-Api-Key": {builderKey}}, first + "known"},
		{"the key from elsewhere", http.Header{"X-Forwarded-For": {"198.51.100.8"}, "X-Api-Key": {builderKey}}, second + "known"},
		{"an empty key", http.Header{"X-Forwarded-For": {"198.51.100.9"}, "X-Api-Key": {""}}, first},
	}
	for _, s := range steps {
		if got := remaining(s.header); got != s.want {
			t.Errorf("%s: %s, want %s", s.name, got, s.want)
		}
	}
}

// TestEveryOperationTakesAKeyOrNone reads what the document says of credentials.
func TestEveryOperationTakesAKeyOrNone(t *testing.T) {
	t.Parallel()
	_, body := start(t, seeded(t, "sqlite")).do(t, http.MethodGet, "/openapi.json", nil)
	var doc struct {
		OpenAPI  string           `json:"openapi"`
		Security []map[string]any `json:"security"`
		Paths    map[string]map[string]struct {
			Security []map[string]any `json:"security"`
		} `json:"paths"`
		Info struct{ Version string } `json:"info"`
	}
	if err := json.Unmarshal(body, &doc); err != nil {
		t.Fatal(err)
	}
	for path, methods := range doc.Paths {
		for method, op := range methods {
			security := op.Security
			if security == nil {
				security = doc.Security
			}
			if len(security) != 2 || len(security[0]) != 0 || security[1]["ApiKeyAuth"] == nil {
				t.Errorf("%s %s: %v", method, path, security)
			}
		}
	}
	if doc.OpenAPI != "3.1.0" || doc.Info.Version != "ababababab" {
		t.Errorf("OpenAPI %s, version %s", doc.OpenAPI, doc.Info.Version)
	}
}

func TestIdentifiers(t *testing.T) {
	t.Parallel()
	c := start(t, seeded(t, "sqlite"))
	upper := "0x" + strings.ToUpper(token[2:])
	if info := get[contract.TokenInfo](t, c, "/api/token/info/"+upper+"?chain=base"); info.Mint != token {
		t.Errorf("in upper case its mint is %s", info.Mint)
	}
	if empty := get[contract.CandleSeries](t, c, "/api/chart/"+token+"?chain=&pair=&tf=&from=&limit=&fill=&currency="); empty.Tf != "15m" || empty.Chain != "base" {
		t.Errorf("empty parameters: %+v", empty)
	}
	if other := get[contract.CandleSeries](t, c, "/api/chart/"+token+"?nothing=1&mints[]=2&%zz=1&;"); other.Chain != "base" {
		t.Errorf("unknown parameters: %+v", other)
	}
	_, plain := c.do(t, http.MethodGet, "/api/market/token-prices?mints="+token+","+bare, nil)
	for _, same := range []string{"mints=" + token + "&mints=" + bare, "mints=" + token + "," + token + "," + bare, "mints=," + token + ",," + bare + ","} {
		if _, got := c.do(t, http.MethodGet, "/api/market/token-prices?"+same, nil); !bytes.Equal(got, plain) {
			t.Errorf("%s: %s, want %s", same, got, plain)
		}
	}
}

func TestBadRequestsNameWhatIsWrong(t *testing.T) {
	t.Parallel()
	c := start(t, seeded(t, "sqlite"))
	for _, bad := range kit.BadRequests() {
		res, body := c.do(t, http.MethodGet, bad.Target, nil)
		kit.RequireBadRequest(t, bad, res.StatusCode, body)
	}
	items := make([]string, 101)
	for n := range items {
		items[n] = fmt.Sprintf("0x%040x", n+1)
	}
	many := strings.Repeat(token+",", 100) + strings.Join(items, ",")
	for target, want := range map[string]struct {
		status int
		slug   string
	}{
		"/api/token/info/" + token:                                          {400, "unsupported-address"},
		"/api/token/info/" + token + "?chain=solana":                        {400, "unsupported-address"},
		"/api/token/info/" + token + "?chain=nowhere":                       {400, "unsupported-chain"},
		"/api/token/info/" + solMint:                                        {404, "token-not-found"},
		"/api/token/info/candles":                                           {400, "invalid-parameter"},
		"/api/token/info/family":                                            {400, "invalid-parameter"},
		"/api/token/info/" + native + "?chain=base":                         {404, "token-not-found"},
		"/api/chart/" + native:                                              {404, "token-not-found"},
		"/api/token/" + native + "/candles":                                 {404, "token-not-found"},
		"/api/chart/" + token + "?pair=" + native:                           {404, "pair-not-found"},
		"/api/chart/" + token + "?from=20&to=10":                            {400, "invalid-parameter"},
		"/api/chart/" + token + "?chain=solana":                             {400, "unsupported-address"},
		"/api/chart/" + token + "?tf=1m&tf=5m":                              {400, "invalid-parameter"},
		"/api/market/live?per_chain=9999999999999999999999":                 {400, "invalid-parameter"},
		"/api/token/0X" + token[2:] + "/candles":                            {400, "invalid-parameter"},
		"/api/chart/" + token + "?tf=%00%ff":                                {400, "invalid-parameter"},
		"/api/token/info/" + token + "?chain=base%3Cscript%3E":              {400, "invalid-parameter"},
		"/api/token/info/0x" + strings.Repeat("1", 40) + "%2f..?chain=base": {400, "invalid-parameter"},
		"/api/market/token-prices":                                          {400, "missing-parameter"},
		"/api/market/token-prices?mints=,,":                                 {400, "missing-parameter"},
		"/api/market/token-prices?mints=" + many:                            {400, "too-many-items"},
		"/api/market/token-prices?mints=nowhere:" + token:                   {400, "unsupported-chain"},
		"/api/market/token-prices?mints=solana:" + token:                    {400, "unsupported-address"},
		"/api/market/token-prices?mints=" + token + ",nonsense":             {400, "invalid-parameter"},
		"/api/dexscreener/search?q=%20%20":                                  {400, "missing-parameter"},
		"/api/dexscreener/search?q=a%00b":                                   {400, "invalid-parameter"},
		"/api/dexscreener/search?q=" + strings.Repeat("%C3%A9", 101):        {400, "invalid-parameter"},
		"/api/majors?chain=nowhere":                                         {400, "unsupported-chain"},
		"/api/launch/launches?sort=oldest":                                  {400, "invalid-parameter"},
		"/api/launch/launches?launchpad=nowhere":                            {400, "invalid-parameter"},
		"/api/launch/launches?chain=nowhere":                                {400, "unsupported-chain"},
		"/api/launch/launches?before=nonsense":                              {400, "cursor-invalid"},
		"/api/launch/launches?before=" + boardCursor:                        {400, "cursor-invalid"},
		"/api/launch/token/" + native:                                       {404, "launch-not-found"},
		"/api/launch/token/" + bare:                                         {404, "launch-not-found"},
		"/api/launch/token/" + solMint:                                      {404, "launch-not-found"},
		"/api/launch/token/" + token + "?chain=solana":                      {400, "unsupported-address"},
		"/api/launch/token/" + token + "?chain=nowhere":                     {400, "unsupported-chain"},
		"/api/pnl-card/token/" + native + ".png":                            {404, "token-not-found"},
		"/api/pnl-card/token/" + solMint + ".png":                           {404, "token-not-found"},
		"/api/pnl-card/token/" + token + ".png?chain=nowhere":               {400, "unsupported-chain"},
		"/api/pnl-card/token/" + token + ".png?chain=solana":                {400, "unsupported-address"},
		"/api/pnl-card/token/" + token + ".jpg.png":                         {400, "invalid-parameter"},
		"/api/pnl-card/launch/" + bare + ".png":                             {404, "launch-not-found"},
		"/api/pnl-card/launch/" + token + ".png?chain=solana":               {400, "unsupported-address"},
		"/api/pnl-card/trader/" + native + ".png":                           {404, "trader-not-found"},
		"/api/pnl-card/trader/" + solMint + ".png":                          {404, "trader-not-found"},
		"/api/pnl-card/trader/otter.png":                                    {400, "invalid-parameter"},
		"/t/" + native:                                                      {404, "token-not-found"},
		"/t/" + token + "?chain=nowhere":                                    {400, "unsupported-chain"},
		"/t/nonsense?ref=%00":                                               {400, "invalid-parameter"},
		"/api/token/" + native + "/trust":                                   {404, "token-not-found"},
		"/api/token/" + token + "/trust?chain=solana":                       {400, "unsupported-address"},
		"/api/token/" + token + "/trust?pair_created_at=1772712031000":      {400, "invalid-parameter"},
		"/api/token/" + token + "/trust?pair_created_at=1230767999999":      {400, "invalid-parameter"},
	} {
		res, body := c.do(t, http.MethodGet, target, nil)
		var p contract.Problem
		if err := json.Unmarshal(problemIn(body), &p); err != nil || res.StatusCode != want.status || p.Type != "https://docs.example/x/problems/"+want.slug {
			t.Errorf("%s: %d %s; want %d %s", target, res.StatusCode, body, want.status, want.slug)
		}
	}
	if res, _ := c.do(t, http.MethodGet, "/api/dexscreener/search?q="+strings.Repeat("%C3%A9", 100), nil); res.StatusCode != http.StatusOK {
		t.Errorf("100 characters of two bytes each: %d", res.StatusCode)
	}
}
