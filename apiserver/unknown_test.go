package apiserver_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/internal/catalog"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// TestFiguresAgree reads one token's figures in every answer that has them: they are the same, in the same units.
func TestFiguresAgree(t *testing.T) {
	t.Parallel()
	st := seeded(t, "sqlite")
	l, err := st.Leases.Acquire(t.Context(), "base", "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	h := market.Header{Number: 101, Hash: market.Hash{2}, Parent: market.Hash{1}, Time: chainTime}
	commit := &store.Commit{Last: h, Blocks: []market.Header{h}, Head: store.HeadStatus{Number: 101, Time: chainTime}}
	otter := good(1, "Otter")
	otter.add(t, &commit.Changes, 101)
	commit.Changes.Pools[0].After.Day.ReferenceUSD = 0.016
	commit.Changes.Balances = append(commit.Changes.Balances, market.Change[market.BalanceKey, market.Balance]{
		Key:   market.BalanceKey{Token: address(t, otter.mint()), Account: address(t, creator)},
		After: &market.Balance{Amount: amount("250000000000000000000000000")}, // of 1e27
	})
	if err := st.Commit(t.Context(), l, commit); err != nil {
		t.Fatal(err)
	}
	c := start(t, st)
	const price, change, liquidity, volume, value = 0.02, 25, 9000, 20_000, 20_000_000
	agree := func(where string, got ...*float64) {
		t.Helper()
		for i, want := range []float64{price, change, liquidity, volume, value} {
			if got[i] == nil || !near(got[i], want) {
				t.Errorf("%s: figure %d is %v, want %v", where, i, text(got[i]), want)
			}
		}
	}
	info := get[contract.TokenInfo](t, c, "/api/token/info/"+otter.mint()+"?chain=base")
	agree("info", info.Price, info.Change24HPct, info.Liquidity, info.Volume, info.FDV)
	agree("info", info.Price, info.Change24HPct, info.Liquidity, info.Volume, info.MarketCap)
	p := get[contract.TokenPrices](t, c, "/api/market/token-prices?mints="+otter.mint()).Prices[otter.mint()]
	agree("prices", p.Price, p.Change24HPct, p.Liquidity, p.Volume, p.MarketCap)
	for _, live := range get[contract.MarketLive](t, c, "/api/market/live").Tokens {
		if live.Mint == otter.mint() {
			agree("live", live.Price, live.Change24HPct, live.Liquidity, live.Volume, live.FDV)
			if age := live.Traction.Parts.AgeS; age == nil || *age != 3000 {
				t.Errorf("live: its market is %v s old, want 3000", age)
			}
		}
	}
	one := get[contract.LaunchedToken](t, c, "/api/launch/token/"+otter.mint())
	agree("launch", one.PriceUSD, one.Change24HPct, &one.LiquidityUSD, &one.Volume24HUSD, one.MarketCapUSD)
	if !near(one.Creator.HoldsPct, 25) || one.AgeS != 3000 {
		t.Errorf("launch: its creator holds %v %%, it is %d s old", text(one.Creator.HoldsPct), one.AgeS)
	}
	board := cards(t, c, "sort=new")
	card := boardCard(t, board, 1)
	agree("board", card.PriceUSD, card.Change24HPct, &card.LiquidityUSD, &card.Volume24HUSD, card.MarketCapUSD)
	if age := card.Traction.Parts.AgeS; age == nil || *age != 3000 {
		t.Errorf("board: its market is %v s old, want 3000", age)
	}
	pair := get[contract.DexSearch](t, c, "/api/dexscreener/search?q="+otter.mint()).Pairs[0]
	if pair.PriceUSD != "0.02" || !near(&pair.Liquidity.USD, liquidity) || !near(pair.FDV, value) || !near(pair.MarketCap, value) {
		t.Errorf("search: %+v", pair)
	}
	want := contract.Gate{
		Version: "gate-v1", LiquidityUSDMin: 5000, Volume24HUSDMin: 10_000, AgeSMin: 300, AgeSMax: 604_800, HoldersMin: 50,
		Curve: contract.GateCurve{ProgressPctMin: 20, Buyers1HMin: 15}, UnknownHolders: contract.GateUnknownHoldersFail,
	}
	got := board.Gate
	got.LiquidityUSDMinByChain = nil
	if got.Version != want.Version || got.LiquidityUSDMin != want.LiquidityUSDMin || got.Volume24HUSDMin != want.Volume24HUSDMin ||
		got.AgeSMin != want.AgeSMin || got.AgeSMax != want.AgeSMax || got.HoldersMin != want.HoldersMin || got.Curve != want.Curve {
		t.Errorf("the gate is %+v, want %+v", got, want)
	}
}

func text(v *float64) any {
	if v == nil {
		return "unknown"
	}
	return *v
}

// TestUnknownIsNeverZero asks for a token that trades against something without a price, and for a launch of which little is known:
// what isn't known is null with its reason, in the DexScreener shape it is left out, and nothing of it is 0.
func TestUnknownIsNeverZero(t *testing.T) {
	t.Parallel()
	st := seeded(t, "sqlite")
	l, err := st.Leases.Acquire(t.Context(), "base", "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	h := market.Header{Number: 101, Hash: market.Hash{2}, Parent: market.Hash{1}, Time: chainTime}
	commit := &store.Commit{Last: h, Blocks: []market.Header{h}, Head: store.HeadStatus{Number: 101, Time: chainTime}}
	unpriced := good(1, "Ghost").with(func(c *coin) { c.unlaunched, c.state = true, market.LaunchLive })
	unpriced.add(t, &commit.Changes, 101)
	pool := commit.Changes.Pools[0].After
	pool.Quote, pool.Token1 = address(t, native), address(t, native)
	bareCoin := good(2, "Shade").with(func(c *coin) { c.status, c.holders, c.buyers = market.HoldersIndexing, 0, 0 })
	bareCoin.add(t, &commit.Changes, 101)
	commit.Changes.Tokens[1].After.HasSupply, commit.Changes.Tokens[1].After.HasDecimals = false, false
	commit.Changes.Launches[0].After.TargetQuote, commit.Changes.Launches[0].After.FeeBps = market.Amount{}, 0
	commit.Changes.Launches[0].After.Rules.Pricing = market.PriceExecuted
	if err := st.Commit(t.Context(), l, commit); err != nil {
		t.Fatal(err)
	}
	c := start(t, st)

	unknown := func(where string, reasons contract.UnknownReasons, figures map[string]*float64) {
		t.Helper()
		for name, v := range figures {
			if v != nil || reasons[name] == "" {
				t.Errorf("%s: %s is %v for the reason %q, want null with a reason", where, name, text(v), reasons[name])
			}
		}
	}
	info := get[contract.TokenInfo](t, c, "/api/token/info/"+unpriced.mint()+"?chain=base")
	unknown("info", info.UnknownReasons, map[string]*float64{
		"price": info.Price, "change_24h_pct": info.Change24HPct, "liquidity": info.Liquidity, "volume": info.Volume,
		"market_cap": info.MarketCap, "fdv": info.FDV,
	})
	if info.CreatedAt != nil || info.ImageURL != nil {
		t.Errorf("info: %+v", info)
	}
	p := get[contract.TokenPrices](t, c, "/api/market/token-prices?mints="+unpriced.mint()).Prices[unpriced.mint()]
	unknown("prices", p.UnknownReasons, map[string]*float64{
		"price": p.Price, "change_24h_pct": p.Change24HPct, "liquidity": p.Liquidity, "volume": p.Volume, "market_cap": p.MarketCap,
	})
	if p.PriceSource != nil || p.UnknownReasons["price_source"] == "" {
		t.Errorf("prices: its price is of %v", p.PriceSource)
	}
	for query, absent := range map[string][]string{
		pool.ID.String(): {"priceUsd", "liquidity", "fdv", "marketCap"}, bareCoin.mint(): {"fdv", "marketCap"},
	} {
		_, body := c.do(t, http.MethodGet, "/api/dexscreener/search?q="+query, nil)
		for _, name := range absent {
			if !strings.Contains(string(body), query) || strings.Contains(string(body), `"`+name+`"`) {
				t.Errorf("search: %s is there: %s", name, body)
			}
		}
	}

	one := get[contract.LaunchedToken](t, c, "/api/launch/token/"+bareCoin.mint())
	card := boardCard(t, cards(t, c, "sort=new"), 2)
	for where, k := range map[string]contract.LaunchBase{"launch": one.LaunchBase, "board": card.LaunchBase} {
		unknown(where, k.UnknownReasons, map[string]*float64{
			"change_1h_pct": k.Change1HPct, "change_24h_pct": k.Change24HPct, "market_cap_usd": k.MarketCapUSD,
		})
		if k.Holders != nil || k.HoldersSource != contract.HoldersSourceIndexing || k.UnknownReasons["holders"] != "" {
			t.Errorf("%s: %v holders because of %q", where, k.Holders, k.HoldersSource)
		}
		if k.Curve == nil || k.Curve.TargetNative != nil || k.Curve.UnknownReasons["target_native"] == "" || k.Traction.Rank != nil {
			t.Errorf("%s: its curve is %+v, its rank %v", where, k.Curve, k.Traction.Rank)
		}
	}
	unknown("creator", one.Creator.UnknownReasons, map[string]*float64{"holds_pct": one.Creator.HoldsPct})
	d := one.CurveDetail
	if d.VirtualBase != nil || d.VirtualQuote != nil || d.FeeBps != nil || d.UnknownReasons["fee_bps"] == "" || one.Graduation.ThresholdNative != nil {
		t.Errorf("its curve is %+v, its graduation %+v", d, one.Graduation)
	}
}

// TestUnknownStateIsNotZero asks a server that has answered nothing yet, knows not when it was built, and has a chain of which
// nothing is indexed.
func TestUnknownStateIsNotZero(t *testing.T) {
	t.Parallel()
	o := options(t, seeded(t, "sqlite"))
	o.Build.Built = time.Time{}
	late := chains()
	late.Chains = append(late.Chains, catalog.Chain{
		ID: "polygon", Label: "Polygon", Family: chainconfig.EVM, Native: chainconfig.Native{Symbol: "POL", Wrapped: markettest.Address(weth)},
	})
	o.Catalog = catalog.NewLive(late)
	c := startWith(t, o)
	beat := get[contract.Heartbeat](t, c, "/api/status/heartbeat")
	if beat.LatencyMs != nil || beat.UnknownReasons["latency_ms"] == "" {
		t.Errorf("before the first answer answers take %v ms", text(beat.LatencyMs))
	}
	if polygon := beat.Chains[len(beat.Chains)-1]; polygon.ID != "polygon" || polygon.HeadLagS != nil || polygon.UnknownReasons["head_lag_s"] == "" {
		t.Errorf("a chain of which nothing is indexed is %+v", polygon)
	}
	if v := get[contract.Version](t, c, "/api/version"); v.BuiltAt != nil || v.UnknownReasons["built_at"] == "" {
		t.Errorf("the version is %+v", v)
	}
}
