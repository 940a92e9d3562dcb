package contract_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
)

func TestOperations(t *testing.T) {
	t.Parallel()
	want := []struct {
		id, path, cache string
		requests        int
	}{
		{"getMarketLive", "/api/market/live", "public, max-age=5, stale-while-revalidate=30", 60},
		{"getTokenPrices", "/api/market/token-prices", "public, max-age=2, stale-while-revalidate=10", 120},
		{"getMajors", "/api/majors", "public, max-age=5, stale-while-revalidate=30", 60},
		{"searchPairs", "/api/dexscreener/search", "public, max-age=5, stale-while-revalidate=30", 90},
		{"getTokenInfo", "/api/token/info/{mint_address}", "public, max-age=5, stale-while-revalidate=60", 120},
		{"getChart", "/api/chart/{mint}", "public, max-age=2, stale-while-revalidate=10", 120},
		{"getTokenCandles", "/api/token/{mint}/candles", "public, max-age=5, stale-while-revalidate=30", 120},
		{"getTokenTrust", "/api/token/{mint}/trust", "public, max-age=60, stale-while-revalidate=300", 30},
		{"getLaunchBoard", "/api/launch/launches", "public, max-age=3, stale-while-revalidate=15", 90},
		{"getLaunchStatus", "/api/launch/status", "public, max-age=30, stale-while-revalidate=300", 60},
		{"getLaunchedToken", "/api/launch/token/{mint}", "public, max-age=3, stale-while-revalidate=15", 60},
		{"getTokenCard", "/api/pnl-card/token/{mint}.png", "public, max-age=60, stale-while-revalidate=300", 60},
		{"getLaunchCard", "/api/pnl-card/launch/{mint}.png", "public, max-age=60, stale-while-revalidate=300", 60},
		{"getTraderCard", "/api/pnl-card/trader/{wallet}.png", "public, max-age=60, stale-while-revalidate=300", 60},
		{"getSharePage", "/t/{mint}", "public, max-age=60, stale-while-revalidate=300", 60},
		{"getTokenFamily", "/api/token/{mint}/family", "public, max-age=15, stale-while-revalidate=60", 60},
		{"getLeaderboard", "/api/leaderboard", "public, max-age=15, stale-while-revalidate=60", 60},
		{"getLeaderboardSeries", "/api/leaderboard/series", "public, max-age=60, stale-while-revalidate=300", 60},
		{"getTradeFeed", "/api/feed/trades", "public, max-age=2, stale-while-revalidate=10", 90},
		{"getLiveSince", "/api/live/since", "no-store", 90},
		{"getLiveStream", "/api/live/stream", "no-store", 60},
		{"getMembersIn", "/api/live/members-in", "public, max-age=10, stale-while-revalidate=30", 60},
		{"getOnlineCount", "/api/online-count", "public, max-age=5, stale-while-revalidate=15", 30},
		{"getGameLadder", "/api/game/ladder", "public, max-age=60, stale-while-revalidate=300", 60},
		{"getGameProfile", "/api/game/profile/{handle}", "public, max-age=30, stale-while-revalidate=120", 120},
		{"getGameRanks", "/api/game/ranks", "public, max-age=30, stale-while-revalidate=120", 120},
		{"getGameSeason", "/api/game/season", "public, max-age=15, stale-while-revalidate=60", 60},
		{"getLandingLive", "/api/platform/landing-live", "public, max-age=10, stale-while-revalidate=60", 60},
		{"getLandingStats", "/api/platform/landing-stats", "public, max-age=60, stale-while-revalidate=600", 60},
		{"getHeartbeat", "/api/status/heartbeat", "no-cache", 120},
		{"getMobileHealth", "/api/v1/mobile/health", "public, max-age=300, stale-while-revalidate=3600", 60},
		{"getSignInProviders", "/api/auth/social/providers", "public, max-age=60, stale-while-revalidate=300", 60},
		{"getVersion", "/api/version", "public, max-age=30, stale-while-revalidate=60", 120},
		{"getOpenAPI", "/openapi.json", "public, max-age=300", 60},
	}
	got, err := contract.Operations()
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) {
		t.Fatalf("%d operations, want %d", len(got), len(want))
	}
	byID := map[string]contract.Operation{}
	for i, op := range got {
		byID[op.ID] = op
		if op.ID != want[i].id || op.Method != http.MethodGet || op.Path != want[i].path || op.Cache.Header() != want[i].cache ||
			op.Limit != (contract.Limit{Name: op.ID, Requests: want[i].requests, WindowS: 60}) {
			t.Errorf("got %+v (%s), want %v", op, op.Cache.Header(), want[i])
		}
	}
	if closed := byID["getChart"].Cache.ClosedHeader(); closed != "public, max-age=86400, immutable" {
		t.Errorf("closed series: %s", closed)
	}
	if closed := got[0].Cache.ClosedHeader(); closed != got[0].Cache.Header() {
		t.Errorf("live list: %s", closed)
	}
	if all := byID["getMajors"].Cache.Headers(); all[len(all)-1] != "public, max-age=2, stale-while-revalidate=10" {
		t.Errorf("the candles of a major: %v", all)
	}
	if all := byID["getTokenTrust"].Cache.Headers(); all[len(all)-1] != "public, max-age=3600" {
		t.Errorf("an unchecked token: %v", all)
	}
	if all := byID["getTokenCard"].Cache.Headers(); all[len(all)-1] != "public, max-age=5" {
		t.Errorf("an old card: %v", all)
	}
	if got[0].Media != "application/json" || byID["getTokenCard"].Media != "image/png" || byID["getSharePage"].Media != "text/html" {
		t.Errorf("media types are %s, %s and %s", got[0].Media, byID["getTokenCard"].Media, byID["getSharePage"].Media)
	}
	got[0].ID = "changed"
	if again, err := contract.Operations(); err != nil || again[0].ID != "getMarketLive" {
		t.Error("callers share the list")
	}
}

func TestParameters(t *testing.T) {
	t.Parallel()
	all, err := contract.Operations()
	if err != nil {
		t.Fatal(err)
	}
	find := func(operation, name string) *contract.Parameter {
		for _, o := range all {
			for _, p := range o.Parameters {
				if o.ID == operation && p.Name == name {
					return p
				}
			}
		}
		t.Fatalf("%s has no %s", operation, name)
		return nil
	}
	if p := find("getChart", "limit"); p.Type != "integer" || *p.Minimum != 1 || *p.Maximum != 1000 || p.Default != "300" || p.Required {
		t.Errorf("limit is %+v", p)
	}
	if p := find("getChart", "tf"); p.Type != "string" || len(p.Enum) != 15 || p.Default != "15m" {
		t.Errorf("tf, a reference with a default beside it, is %+v", p)
	}
	if p := find("getChart", "mint"); p.In != "path" || !p.Required || p.Pattern == nil || p.Expected == "" {
		t.Errorf("mint, a reference to a parameter, is %+v", p)
	}
	if p := find("getTokenPrices", "mints"); p.Type != "array" || p.MaxItems != 100 || p.Items.Pattern == nil || p.Items.Expected == "" {
		t.Errorf("mints is %+v", p)
	}
	if p := find("getChart", "fill"); p.Type != "boolean" || p.Default != "true" {
		t.Errorf("fill is %+v", p)
	}
	if p := find("getSharePage", "ref"); !p.Lenient || p.Required || p.Pattern == nil {
		t.Errorf("ref is %+v", p)
	}
	for _, o := range all {
		for _, p := range o.Parameters {
			for rule := p; rule != nil; rule = rule.Items {
				if rule.Pattern != nil && rule.Expected == "" {
					t.Errorf("%s: the pattern of %s has no words (x-expected)", o.ID, p.Name)
				}
			}
		}
	}
}

func TestProblemTypes(t *testing.T) {
	t.Parallel()
	types, err := contract.ProblemTypes()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range types {
		var example map[string]any
		if err := json.Unmarshal([]byte(p.Example), &example); err != nil || example["title"] != p.Title || example["status"] != float64(p.Status) {
			t.Errorf("%s: the example is %s: %v", p.Slug, p.Example, err)
		}
		for _, m := range p.Members {
			if _, there := example[m.Name]; !there && p.Status != 431 {
				t.Errorf("%s: the example has no %s", p.Slug, m.Name)
			}
		}
	}
	if limit, err := contract.UnroutedLimit(); err != nil || limit.Requests != 120 || limit.WindowS != 60 || limit.Name != "unrouted" {
		t.Errorf("unrouted paths: %+v, %v", limit, err)
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	text, err := contract.JSON("0123456")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(text, []byte(`{"openapi":"3.1.0","info":{"title":"Boardwalk API","version":"0123456",`)) {
		t.Errorf("starts with %.100s", text)
	}
	again, err := contract.JSON("0123456")
	if err != nil || !bytes.Equal(text, again) {
		t.Errorf("not the same bytes: %v", err)
	}

	// Apart from the version it says what the YAML says.
	var got, want any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(contract.Document(), &want); err != nil {
		t.Fatal(err)
	}
	plain, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(plain, &want); err != nil {
		t.Fatal(err)
	}
	root, _ := want.(map[string]any)
	info, ok := root["info"].(map[string]any)
	if !ok {
		t.Fatalf("info is %v", root["info"])
	}
	info["version"] = "0123456"
	if !reflect.DeepEqual(got, want) {
		t.Error("JSON and YAML differ")
	}

	// A version that looks like a number stays text.
	if text, err = contract.JSON("1234567"); err != nil || !bytes.Contains(text, []byte(`"version":"1234567"`)) {
		t.Errorf("digits: %v", err)
	}
	if text, err = contract.JSON("12345e7"); err != nil || !bytes.Contains(text, []byte(`"version":"12345e7"`)) {
		t.Errorf("exponent: %v", err)
	}
}

// Booleans in place of schemas trip one of the validators.
func TestNoBooleanSchemas(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"additionalProperties: true", "additionalProperties: false", "unevaluatedProperties: false", "items: true"} {
		if strings.Contains(string(contract.Document()), key) {
			t.Errorf("the document has %q", key)
		}
	}
}

func TestUnknownIsNull(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(contract.TokenInfo{AsOf: contract.At(time.Unix(0, 0))})
	if err != nil {
		t.Fatal(err)
	}
	var members map[string]any
	if err := json.Unmarshal(text, &members); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"price", "change_24h_pct", "liquidity", "volume", "pair", "market_cap", "fdv", "supply_basis", "image_url",
		"created_at", "launch",
	} {
		if value, there := members[name]; !there || value != nil {
			t.Errorf("%s is %v, there %v; want null", name, value, there)
		}
	}
}

func TestTimestamp(t *testing.T) {
	t.Parallel()
	east := time.FixedZone("", 2*60*60)
	stamp := contract.Timestamp{Time: time.Date(2026, 3, 2, 14, 0, 5, 999, east)}
	text, err := json.Marshal(stamp)
	if err != nil || string(text) != `"2026-03-02T12:00:05Z"` {
		t.Errorf("%s, %v", text, err)
	}
	var back contract.Timestamp
	if err := json.Unmarshal([]byte(`"2026-03-02T14:00:05.5+02:00"`), &back); err != nil || !back.Equal(contract.At(stamp.Time).Time) {
		t.Errorf("%s, %v", back, err)
	}
	if text, err := json.Marshal(contract.Timestamp{}); err == nil {
		t.Errorf("zero is %s", text)
	}
}
