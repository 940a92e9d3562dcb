package apiserver_test

import (
	"fmt"
	"testing"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/trust"
)

// TestLiquidityOfACurveHasOneSource asks for a token on its curve wherever its liquidity is told, and for one in a pool.
func TestLiquidityOfACurveHasOneSource(t *testing.T) {
	t.Parallel()
	st := seeded(t, "sqlite")
	moved := good(2, "Moved").with(func(c *coin) { c.state, c.progress, c.graduatedAgo, c.ago = market.LaunchGraduated, 100, 500, 5000 })
	mintCoins(t, st, "base", 101, good(1, "Otter"), moved)
	commitBlock(t, st, "base", 102, func(ch *market.Changes) {
		// The pool that the curve's launchpad made with the token, which is filled when the curve is full.
		mint, pool := address(t, (&coin{n: 1}).mint()), address(t, fmt.Sprintf("0xcd%038x", 1))
		ch.Pools = append(ch.Pools, set(pool, market.Pool{
			ID: pool, Protocol: market.UniswapV3, Factory: address(t, native), Token0: mint, Token1: address(t, weth),
			Base: mint, Quote: address(t, weth), BaseIs0: true, Price: 0.00002,
		}))
	})
	c := start(t, st)
	for n, want := range map[int]contract.FigureSource{1: "curve_state", 2: "pool_reserves"} {
		mint := (&coin{n: n}).mint()
		got := map[string]contract.FigureSource{
			"info":   get[contract.TokenInfo](t, c, "/api/token/info/"+mint+"?chain=base").FigureSources["liquidity"],
			"prices": get[contract.TokenPrices](t, c, "/api/market/token-prices?mints="+mint).Prices[mint].FigureSources["liquidity"],
			"launch": get[contract.LaunchedToken](t, c, "/api/launch/token/"+mint).FigureSources["liquidity_usd"],
			"card":   boardCard(t, cards(t, c, "sort=new"), n).FigureSources["liquidity_usd"],
		}
		for _, l := range get[contract.MarketLive](t, c, "/api/market/live?per_chain=50").Tokens {
			if l.Mint == mint {
				got["live list"] = l.FigureSources["liquidity"]
			}
		}
		if len(got) != 5 {
			t.Errorf("coin %d is not on the live list", n)
		}
		for where, source := range got {
			if source != want {
				t.Errorf("coin %d: on %s the liquidity is from %s, want %s", n, where, source, want)
			}
		}
	}
}

// TestPairKinds asks what a pair is, wherever one is named: a curve has no address that an explorer could show.
func TestPairKinds(t *testing.T) {
	t.Parallel()
	st := seeded(t, "sqlite")
	mintCoins(t, st, "base", 101, good(1, "Otter"))
	c := start(t, st)
	launch := (&coin{n: 1}).mint()
	type view struct {
		Mint string
		Pair *string
		Kind *string           `json:"pair_kind"`
		Why  map[string]string `json:"unknown_reasons"`
	}
	check := func(where, want string, v view) {
		t.Helper()
		switch {
		case want == "" && (v.Pair != nil || v.Kind != nil || v.Why["pair_kind"] == ""):
			t.Errorf("%s: of a token without a pair the kind is %+v", where, v)
		case want != "" && (v.Kind == nil || *v.Kind != want):
			t.Errorf("%s: the pair %s has the kind %v, want %s", where, *v.Pair, v.Kind, want)
		}
	}
	for mint, want := range map[string]string{launch: "curve", token: "pool", bare: ""} {
		check("info of "+mint, want, get[view](t, c, "/api/token/info/"+mint+"?chain=base"))
		check("price of "+mint, want, get[struct{ Prices map[string]view }](t, c, "/api/market/token-prices?mints=base:"+mint).Prices["base:"+mint])
		check("chart of "+mint, want, get[view](t, c, "/api/chart/"+mint+"?chain=base"))
		check("candles of "+mint, want, get[view](t, c, "/api/token/"+mint+"/candles?chain=base"))
	}
	live := get[struct{ Tokens []view }](t, c, "/api/market/live?per_chain=50").Tokens
	for _, l := range live {
		if l.Mint == launch {
			check("live list, "+l.Mint, "curve", l)
		} else {
			check("live list, "+l.Mint, "pool", l)
		}
	}
	if len(live) == 0 {
		t.Error("the live list is empty")
	}
	check("majors", "", get[struct{ Majors []view }](t, c, "/api/majors").Majors[0])
	check("candles of a major", "", get[view](t, c, "/api/majors?chain=base&pair=ETH&tf=1h"))
}

// TestPairKindsOfReports asks what the pair is that a report's simulation traded with.
func TestPairKindsOfReports(t *testing.T) {
	t.Parallel()
	for pair, want := range map[string]string{pairID: "pool", market.CurveID(address(t, token)).String(): "curve", "": ""} {
		o := options(t, seeded(t, "sqlite"))
		made := report("base", token, trust.Pass)
		made.Pair = pair
		o.Checker = &checks{made: made}
		got := get[contract.TrustReport](t, startWith(t, o), "/api/token/"+token+"/trust?chain=base")
		kind := ""
		if got.PairKind != nil {
			kind = string(*got.PairKind)
		}
		if kind != want || (got.UnknownReasons["pair_kind"] == contract.UnknownReasonNotApplicable) != (want == "") {
			t.Errorf("the pair %q has the kind %q, want %q; %v", pair, kind, want, got.UnknownReasons)
		}
	}
}
