package apiserver_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/internal/sharecard"
)

// TestChainsOfAnswers asks for a token that two chains have, and for one that is on one of them: the chain that is asked for is
// the one that answers, without one it is where the liquidity is deepest, and only who named none is told of several.
func TestChainsOfAnswers(t *testing.T) {
	t.Parallel()
	st := seeded(t, "sqlite")
	alone := good(1, "Otter")
	mintCoins(t, st, "bsc", 101, alone)
	c, e, _ := drawing(t, st)
	both := []string{"base", "bsc"}
	for _, asked := range []struct {
		mint, query, chain string
		candidates         []string
	}{
		{token, "", "base", both},
		{token, "?chain=base", "base", nil},
		{token, "?chain=bsc", "bsc", nil},
		{alone.mint(), "", "bsc", nil},
		{alone.mint(), "?chain=bsc", "bsc", nil},
	} {
		for path, blocks := range map[string]bool{
			"/api/token/info/{}": true, "/api/chart/{}": true, "/api/token/{}/candles": true, "/api/launch/token/{}": true, "/api/token/{}/trust": false,
		} {
			if strings.Contains(path, "info") && asked.query == "" {
				continue // there no chain means Solana
			}
			target := strings.ReplaceAll(path, "{}", asked.mint) + asked.query
			_, body := c.do(t, http.MethodGet, target, nil)
			var got struct {
				Chain           string
				ChainCandidates []string                     `json:"chain_candidates"`
				Blocks          map[string]contract.BlockRef `json:"blocks"`
			}
			if err := json.Unmarshal(body, &got); err != nil {
				t.Fatal(err)
			}
			if got.Chain != asked.chain || !slices.Equal(got.ChainCandidates, asked.candidates) {
				t.Errorf("%s is of %q, candidates %v; want %q, %v", target, got.Chain, got.ChainCandidates, asked.chain, asked.candidates)
			}
			if of := slices.Collect(maps.Keys(got.Blocks)); blocks && !slices.Equal(of, []string{asked.chain}) {
				t.Errorf("%s has the blocks of %v, want %s", target, of, asked.chain)
			}
		}
		if _, page := c.do(t, http.MethodGet, "/t/"+asked.mint+asked.query, nil); !strings.Contains(string(page), "https://api.example/t/"+asked.mint+"?chain="+asked.chain+`"`) {
			t.Errorf("the page of %s%s doesn't lead to %s: %s", asked.mint, asked.query, asked.chain, page)
		}
	}
	for _, chain := range both {
		c.do(t, http.MethodGet, "/api/pnl-card/launch/"+token+".png?chain="+chain, nil)
		if one, other := last[*sharecard.Launch](t, e).Chain, strings.ToUpper(chain); one != other {
			t.Errorf("the launch card of %s is drawn of %s", chain, one)
		}
	}
	for item, want := range map[string]string{token: "base", "base:" + token: "base", "bsc:" + token: "bsc", alone.mint(): "bsc"} {
		if p := get[contract.TokenPrices](t, c, "/api/market/token-prices?mints="+item); p.Prices[item].Chain != want || len(p.Blocks) != 1 || p.Blocks[want].Number == 0 {
			t.Errorf("the price of %s is %+v, want it of %s", item, p, want)
		}
	}
	if m := get[contract.MajorCandles](t, c, "/api/majors?chain=bsc&pair=ETH&tf=1h"); m.Chain != "bsc" || m.ChainCandidates != nil {
		t.Errorf("the candles of a major are of %s, candidates %v", m.Chain, m.ChainCandidates)
	}
}
