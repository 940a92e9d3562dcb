package apiserver_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
)

// TestAChainBeforeAnAddress writes addresses as the API's own lists take them, <chain>:<address>, wherever one is asked for.
func TestAChainBeforeAnAddress(t *testing.T) {
	t.Parallel()
	st := seeded(t, "sqlite")
	mintCoins(t, st, "base", 101, good(1, "Otter"))
	c := start(t, st)
	launch := (&coin{n: 1}).mint()
	for _, path := range []string{
		"/api/chart/%s", "/api/token/info/%s", "/api/token/%s/candles", "/api/token/%s/trust", "/api/launch/token/%s",
		"/api/pnl-card/token/%s.png", "/api/pnl-card/launch/%s.png", "/t/%s",
	} {
		for _, chain := range []string{"base", "bsc"} {
			plain, want := c.do(t, http.MethodGet, fmt.Sprintf(path, token)+"?chain="+chain, nil)
			if plain.StatusCode != http.StatusOK {
				t.Fatalf("%s on %s: %d %s", path, chain, plain.StatusCode, want)
			}
			res, body := c.do(t, http.MethodGet, fmt.Sprintf(path, chain+":"+token), nil)
			if res.StatusCode != http.StatusOK || string(body) != string(want) {
				t.Errorf("%s of %s:%s is %d, with the chain as a parameter 200 with another body: %.120s", path, chain, token, res.StatusCode, body)
			}
		}
		if res, body := c.do(t, http.MethodGet, fmt.Sprintf(path, "base:"+token)+"?chain=base", nil); res.StatusCode != http.StatusOK {
			t.Errorf("%s with the same chain twice: %d %.120s", path, res.StatusCode, body)
		}
		for _, bad := range []string{"base:" + token + "?chain=bsc", "nowhere:" + token, "base:" + solMint, "solana:" + token} {
			asked, query, _ := strings.Cut(bad, "?")
			if res, body := c.do(t, http.MethodGet, fmt.Sprintf(path, asked)+"?"+query, nil); res.StatusCode != http.StatusBadRequest {
				t.Errorf("%s of %s: %d %.120s, want 400", path, bad, res.StatusCode, body)
			}
		}
		// No Solana token is indexed, and no trust check of one can be made: both are said as they are with the chain as a parameter.
		plain, _ := c.do(t, http.MethodGet, fmt.Sprintf(path, solMint)+"?chain=solana", nil)
		if res, body := c.do(t, http.MethodGet, fmt.Sprintf(path, "solana:"+solMint), nil); res.StatusCode != plain.StatusCode {
			t.Errorf("%s of solana:%s: %d %.120s, want %d", path, solMint, res.StatusCode, body, plain.StatusCode)
		}
	}

	target := "/api/market/token-prices?mints=solana:" + solMint + ",base:" + token
	if res, body := c.do(t, http.MethodGet, target, nil); res.StatusCode != http.StatusOK {
		t.Errorf("prices of solana:%s: %d %s", solMint, res.StatusCode, body)
	} else if p := get[contract.TokenPrices](t, c, target); !slices.Equal(p.Missing, []string{"solana:" + solMint}) || len(p.Prices) != 1 {
		t.Errorf("prices of solana:%s: missing %v", solMint, p.Missing)
	}

	for q, want := range map[string][]string{
		"base:" + token: {"base " + token}, "bsc:" + token: {"bsc " + token}, " base:0x" + strings.ToUpper(token[2:]): {"base " + token},
		"base:" + pairID: {"base " + token}, "bsc:" + pairID: {"bsc " + token}, "base:" + launch: {"base " + launch},
		"bsc:" + launch: {}, "nowhere:" + token: {}, "solana:" + solMint: {},
	} {
		got := []string{}
		for _, p := range get[contract.DexSearch](t, c, "/api/dexscreener/search?q="+url.QueryEscape(q)).Pairs {
			got = append(got, p.ChainID+" "+p.BaseToken.Address)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q finds %v, want %v", q, got, want)
		}
	}
}
