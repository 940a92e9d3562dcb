package apiserver_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
)

// TestProblemsSayWhatIsAllowed reads, of parameters that are wrong, what the answer says could have been sent.
func TestProblemsSayWhatIsAllowed(t *testing.T) {
	t.Parallel()
	c := start(t, seeded(t, "sqlite"))
	limits := func(from, to float64) contract.ParameterError { return contract.ParameterError{Min: &from, Max: &to} }
	frames := []string{"1s", "15s", "30s", "1m", "3m", "5m", "15m", "30m", "1h", "2h", "4h", "6h", "12h", "1d", "1w"}
	for target, want := range map[string]contract.ParameterError{
		"/api/chart/" + token + "?tf=2m":                      {Name: "tf", In: "query", Allowed: frames},
		"/api/chart/" + token + "?currency=eur":               {Name: "currency", In: "query", Allowed: []string{"usd", "native"}},
		"/api/chart/" + token + "?format=csv":                 {Name: "format", In: "query", Allowed: []string{"json", "udf"}},
		"/api/token/" + token + "/candles?range=2h":           {Name: "range", In: "query", Allowed: []string{"1h", "6h", "24h", "7d", "30d", "90d", "1y", "all"}},
		"/api/launch/launches?sort=oldest":                    {Name: "sort", In: "query", Allowed: []string{"running", "new", "trending", "progress", "graduated"}},
		"/api/launch/launches?launchpad=nowhere":              {Name: "launchpad", In: "query", Allowed: []string{"all", "ours", "boardwalk", "clanker", "four-meme", "pump-fun"}},
		"/api/launch/launches?limit=101":                      named("limit", "query", limits(1, 100)),
		"/api/launch/launches?limit=0":                        named("limit", "query", limits(1, 100)),
		"/api/chart/" + token + "?limit=1001":                 named("limit", "query", limits(1, 1000)),
		"/api/majors?chain=base&pair=ETH&tf=1h&limit=x":       named("limit", "query", limits(1, 1000)),
		"/api/market/live?per_chain=51":                       named("per_chain", "query", limits(1, 50)),
		"/api/chart/nonsense":                                 {Name: "mint", In: "path"},
		"/api/token/info/nonsense":                            {Name: "mint_address", In: "path"},
		"/api/pnl-card/trader/nonsense.png":                   {Name: "wallet", In: "path"},
		"/api/chart/" + token + "?pair=nonsense":              {Name: "pair", In: "query"},
		"/api/dexscreener/search":                             {Name: "q", In: "query"},
		"/api/majors?q=" + strings.Repeat("a", 51):            {Name: "q", In: "query"},
		"/api/token/" + token + "/trust?chain=Base":           {Name: "chain", In: "query", Allowed: []string{"solana", "base", "bsc"}},
		"/api/token/" + token + "/trust?chain=nowhere":        {Name: "chain", In: "query", Allowed: []string{"solana", "base", "bsc"}},
		"/api/launch/launches?chain=nowhere":                  {Name: "chain", In: "query", Allowed: []string{"all", "solana", "base", "bsc"}},
		"/api/launch/token/" + token + "?chain=solana":        {Name: "mint", In: "path"},
		"/api/market/token-prices?mints=nowhere:" + token:     {Name: "mints", In: "query", Allowed: []string{"solana", "base", "bsc"}},
		"/api/chart/" + token + "?from=253402300800":          named("from", "query", limits(0, 253402300799)),
		"/api/token/" + token + "/trust?pair_created_at=1000": {Name: "pair_created_at", In: "query", Min: new(float64(1230768000000))},
	} {
		res, body := c.do(t, http.MethodGet, target, nil)
		p := problemOf(t, body)
		if res.StatusCode != http.StatusBadRequest || len(p.Errors) != 1 {
			t.Errorf("%s: %d %s", target, res.StatusCode, body)
			continue
		}
		e := p.Errors[0]
		if e.Name != want.Name || e.In != want.In || e.Reason == "" || !slices.Equal(e.Allowed, want.Allowed) || !equal(e.Min, want.Min) ||
			(want.Max != nil && !equal(e.Max, want.Max)) || (want.Min == nil && e.Max != nil) {
			t.Errorf("%s: %s, want %+v", target, body, want)
		}
	}
	_, body := c.do(t, http.MethodGet, "/api/chart/nonsense?tf=2m&limit=0", nil)
	var names []string
	for _, e := range problemOf(t, body).Errors {
		names = append(names, e.Name)
	}
	if !slices.Equal(names, []string{"mint", "tf", "limit"}) {
		t.Errorf("of three parameters that are wrong these are named: %v", names)
	}
}

func named(name, in string, e contract.ParameterError) contract.ParameterError {
	e.Name, e.In = name, contract.ParameterErrorIn(in)
	return e
}

func equal(a, b *float64) bool { return a == b || (a != nil && b != nil && *a == *b) }

// TestProblemsNameTheChainsThereAre: of an unknown chain all that are served, of an address those of its kind.
func TestProblemsNameTheChainsThereAre(t *testing.T) {
	t.Parallel()
	c := start(t, seeded(t, "sqlite"))
	all, evm, solana := []string{"solana", "base", "bsc"}, []string{"base", "bsc"}, []string{"solana"}
	for target, want := range map[string][]string{
		"/api/chart/" + token + "?chain=nowhere":             all,
		"/api/majors?chain=nowhere":                          all,
		"/api/launch/launches?chain=nowhere":                 all,
		"/api/market/token-prices?mints=nowhere:" + token:    all,
		"/api/token/info/" + token:                           evm,
		"/api/chart/" + token + "?chain=solana":              evm,
		"/api/market/token-prices?mints=solana:" + token:     evm,
		"/api/launch/token/" + solMint + "?chain=base":       solana,
		"/api/token/" + solMint + "/trust?chain=bsc":         solana,
		"/api/pnl-card/token/" + solMint + ".png?chain=base": solana,
		"/t/" + solMint + "?chain=bsc":                       solana,
	} {
		res, body := c.do(t, http.MethodGet, target, nil)
		if p := problemOf(t, body); res.StatusCode != http.StatusBadRequest || !slices.Equal(p.Chains, want) {
			t.Errorf("%s: %d %s, want the chains %v", target, res.StatusCode, body, want)
		}
	}
}
