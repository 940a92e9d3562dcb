package main

import (
	"encoding/json"
	"math"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/days"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/manifest"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
	"github.com/boardwalkhq/boardwalk/members/client"
	"github.com/boardwalkhq/boardwalk/up"
)

// sol is a SOL in lamports.
const sol = 1_000_000_000

// localSolana is a chain on Solana's own runtime with a day of launches, and `up` beside it.
type localSolana struct {
	*solana.World
	*running

	intake *client.Client
}

// launchpads are what the API calls the launch venues, by the programs of their curves.
var launchpads = map[svm.Key]string{solana.PumpFun: "pump-fun", solana.DBC: "boardwalk-dbc", solana.LaunchLab: "boardwalk-launchlab"}

func startLocalSolana(t *testing.T) *localSolana {
	t.Helper()
	const span, seed = 25 * time.Hour, 7
	ctx, dir := t.Context(), t.TempDir()
	began := time.Now().Add(-span - time.Minute)
	chain, err := svm.Start(ctx, svm.Options{Time: began})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = chain.Close() })
	w, err := solana.Deploy(ctx, chain, solana.Options{Seed: seed, People: 90, Platform: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := days.New(w, seed, time.Minute).Mine(ctx, days.HistoryOptions{Began: began, Span: span, Blocks: 400}); err != nil {
		t.Fatal(err)
	}
	var hash string
	if err := chain.Call(ctx, &hash, "getGenesisHash"); err != nil {
		t.Fatal(err)
	}
	if _, err := world.WriteFile(dir, "solana", manifest.YAML(w, hash)); err != nil {
		t.Fatal(err)
	}
	members, intake := newIntake(t)
	l := &localSolana{World: w, intake: intake}
	l.running = startUpWith(t, func(p *up.Program) { p.DrawCards, p.Members = true, members }, "sqlite:"+filepath.Join(t.TempDir(), "solana.db"), "config/samples", dir)
	return l
}

// do has the next block take what somebody does.
func (l *localSolana) do(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		err = l.Mine(t.Context(), l.Slot()+1, time.Now())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// until has the chain go on until the API says what is wanted. Figures of the last hour end with the last whole minute of the chain's time.
func (l *localSolana) until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	eventually(t, what, func() bool {
		l.do(t, nil)
		return ok()
	})
}

// TestSolanaBoard is Solana from end to end: a chain on its own runtime, its launch venues, the indexer, the API, cards and a member's profit.
func TestSolanaBoard(t *testing.T) {
	t.Parallel()
	l := startLocalSolana(t)
	t.Run("every board", l.everyBoard)
	t.Run("member", l.memberOfSolana)
	t.Run("lives", l.lives)
}

// everyBoard wants launches of every venue on the boards, tokens on the market, and the price of SOL.
func (l *localSolana) everyBoard(t *testing.T) {
	states := map[string]map[contract.GraduationState]int{}
	for _, c := range slices.Concat(l.board(t, "sort=new"), l.board(t, "sort=graduated")) {
		if states[c.Launchpad] == nil {
			states[c.Launchpad] = map[contract.GraduationState]int{}
		}
		if states[c.Launchpad][c.Graduation.State]++; c.Chain != "solana" {
			t.Errorf("%s is of %s", c.Mint, c.Chain)
		}
	}
	for _, launchpad := range launchpads {
		if states[launchpad]["curve"] == 0 || states[launchpad]["graduated"] == 0 {
			t.Errorf("%s has no launch in some state: %v", launchpad, states)
		}
	}
	for _, sort := range []string{"trending", "running", "progress"} {
		if list := l.board(t, "sort="+sort); len(list) == 0 {
			t.Errorf("%s is empty", sort)
		}
	}
	running := l.board(t, "sort=running")
	l.until(t, "a launch that passes the quality bar isn't in the feed", func() bool {
		var feed contract.TradeFeed
		l.get(t, "/api/feed/trades?launches=1&limit=100", &feed)
		told := map[string]bool{}
		for _, item := range feed.Items {
			var launch struct{ Card contract.LaunchCard }
			if err := json.Unmarshal(item, &launch); err != nil {
				t.Fatal(err)
			}
			told[launch.Card.Mint] = true
		}
		return !slices.ContainsFunc(running, func(c contract.LaunchCard) bool { return !told[c.Mint] })
	})
	var live contract.MarketLive
	l.get(t, "/api/market/live?per_chain=10", &live)
	if len(live.Tokens) < 5 || slices.Contains(live.EmptyChains, "solana") {
		t.Errorf("%d tokens on the market; empty are %v", len(live.Tokens), live.EmptyChains)
	}
	var majors contract.Majors
	l.get(t, "/api/majors", &majors)
	if i := slices.IndexFunc(majors.Majors, func(m contract.Major) bool { return m.Asset == "SOL" && m.Chain == "solana" }); i < 0 || math.Abs(*majors.Majors[i].Price-l.solUSD()) > 0.05*l.solUSD() {
		t.Errorf("SOL should be at about %v USD: %+v", l.solUSD(), majors.Majors)
	}
}

// solUSD is about what a SOL is worth in the world's pools.
func (l *localSolana) solUSD() float64 {
	p := l.Pools()[0]
	return float64(p.Quote) / 1e6 / (float64(p.Base) / sol)
}

// life is a token of a launchpad, from its launch into its pool.
type life struct {
	*solana.Curve

	launchpad, symbol string
}

// lives follows a token of each launchpad from its launch into its pool, and holds what the API says against the world.
func (l *localSolana) lives(t *testing.T) {
	ctx, creator, buyers := t.Context(), l.People[7], l.People[20:23]
	var list []*life
	for program, launchpad := range launchpads {
		of := &life{launchpad: launchpad, symbol: "L" + strings.ToUpper(launchpad[len(launchpad)-3:])}
		var err error
		of.Curve, err = l.Launch(ctx, program, creator, solana.Launch{Name: "Life of " + launchpad, Symbol: of.symbol, URI: "https://example.com/token.json"}, sol)
		l.do(t, err)
		list = append(list, of)
		l.until(t, "a launch of "+launchpad+" isn't the newest", func() bool {
			var page contract.LaunchBoard
			l.get(t, "/api/launch/launches?sort=new&limit=1&launchpad="+filterOf(launchpad), &page)
			return len(page.Launches) == 1 && page.Launches[0].Mint == of.Token.String() && page.Launches[0].Creator.Address == creator.Key.String() && page.Launches[0].Launchpad == launchpad
		})
		for i, who := range buyers {
			l.do(t, l.Buy(ctx, of.Curve, who, uint64(i+2)*sol))
		}
	}
	all := func(what string, ok func(of *life) bool) {
		t.Helper()
		for _, of := range list {
			l.until(t, what+": "+of.launchpad, func() bool { return ok(of) })
		}
	}
	all("the curve isn't the world's", func(of *life) bool {
		got := l.launched(t, of.Token.String())
		d := got.CurveDetail
		return d != nil && d.RealQuote != nil && *d.RealQuote == strconv.FormatUint(of.SOL, 10) && (of.Program == solana.DBC || d.RealBase != nil && *d.RealBase == strconv.FormatUint(of.Tokens, 10)) &&
			got.Buyers1H != nil && *got.Buyers1H == 3 && got.Holders != nil && *got.Holders == 5 && got.FigureSources["holders"] == "rpc_accounts" // its creator is no buyer, but holds; so does the curve
	})
	for _, of := range list {
		for !of.Complete {
			l.do(t, l.Buy(ctx, of.Curve, buyers[0], 30*sol))
		}
	}
	all("the curve isn't full", func(of *life) bool { return l.launched(t, of.Token.String()).Graduation.State == "completed" })
	for _, of := range list {
		l.do(t, l.Migrate(ctx, of.Curve))
		l.do(t, l.Buy(ctx, of.Curve, buyers[1], 3*sol))
		l.do(t, l.Sell(ctx, of.Curve, buyers[1], 0.5))
	}
	all("the token hasn't graduated to its pool", func(of *life) bool {
		got := l.launched(t, of.Token.String()).Graduation
		return got.State == "graduated" && got.Pool != nil && *got.Pool == of.Pool.Account.String()
	})
	for _, of := range list {
		t.Run(of.launchpad, func(t *testing.T) { l.graduated(t, of) })
	}
}

// graduated holds what the API says of a token in its pool against the world.
func (l *localSolana) graduated(t *testing.T, of *life) {
	t.Helper()
	mint := of.Token.String()
	price := float64(of.Pool.Quote) / sol / (float64(of.Pool.Base) / 1e6) * l.solUSD()
	var info contract.TokenInfo
	l.until(t, "the price isn't its pool's", func() bool {
		l.get(t, "/api/token/info/"+mint+"?chain=solana", &info)
		return info.Price != nil && math.Abs(*info.Price-price) < 0.02*price && info.Pair != nil && *info.Pair == of.Pool.Account.String()
	})
	if info.Name != "Life of "+of.launchpad || info.Symbol != of.symbol || info.Decimals == nil || *info.Decimals != 6 || info.FDV == nil || math.Abs(*info.FDV-*info.Price*1e9) > 1 {
		t.Errorf("%s: %+v", mint, info)
	}
	l.figuresOf(t, mint, of.symbol, *info.Price)
	l.cardsOf(t, mint)
	l.trustOf(t, mint)
	if res, _ := l.fetch(t, "/api/launch/token/"+strings.ToLower(mint), nil); res.StatusCode != http.StatusNotFound && res.StatusCode != http.StatusBadRequest {
		t.Errorf("an address in lower case: %s", res.Status)
	}
}

// filterOf is a launchpad as boards are asked for it: own venues are "ours".
func filterOf(launchpad string) string {
	if strings.HasPrefix(launchpad, "boardwalk-") {
		return "ours"
	}
	return launchpad
}

// figuresOf wants a token's price, candles and pairs wherever they are told.
func (l *localSolana) figuresOf(t *testing.T, mint, symbol string, price float64) {
	t.Helper()
	near := func(v float64) bool { return math.Abs(v-price) < 0.02*price }
	var prices contract.TokenPrices
	l.get(t, "/api/market/token-prices?mints="+mint, &prices)
	if p, ok := prices.Prices[mint]; !ok || p.Price == nil || !near(*p.Price) {
		t.Errorf("token-prices has %+v, want %v", prices, price)
	}
	var candles contract.TokenCandles
	l.get(t, "/api/token/"+mint+"/candles?range=1h", &candles)
	if n := len(candles.Candles); n == 0 || !near(candles.Candles[n-1].C) {
		t.Errorf("candles of %s: %+v, want the last one to end at %v", mint, candles.Candles, price)
	}
	for _, q := range []string{mint, symbol} {
		var found contract.DexSearch
		l.get(t, "/api/dexscreener/search?q="+url.QueryEscape(q), &found)
		if !slices.ContainsFunc(found.Pairs, func(p contract.DexPair) bool { return p.BaseToken.Address == mint && p.ChainID == "solana" }) {
			t.Errorf("%s isn't found by %s", mint, q)
		}
	}
}

// cardsOf wants a token's pictures, and its page for sharing.
func (l *localSolana) cardsOf(t *testing.T, mint string) {
	t.Helper()
	for _, kind := range []string{"token", "launch"} {
		path := "/api/pnl-card/" + kind + "/" + mint + ".png"
		l.until(t, path+" isn't drawn", func() bool {
			res, _ := l.fetch(t, path, nil)
			return res.StatusCode == http.StatusOK
		})
		l.card(t, path)
	}
	if res, page := l.fetch(t, "/t/"+mint, nil); res.StatusCode != http.StatusOK || !strings.Contains(string(page), "/api/pnl-card/token/"+mint+".png") {
		t.Errorf("the share page of %s: %s", mint, res.Status)
	}
}

// trustOf wants a token's report, with what its accounts tell.
func (l *localSolana) trustOf(t *testing.T, mint string) {
	t.Helper()
	l.until(t, "there is no report of "+mint, func() bool {
		var report contract.TrustReport
		l.get(t, "/api/token/"+mint+"/trust", &report)
		passed := func(id string) bool {
			return slices.ContainsFunc(report.Checks, func(c contract.TrustCheck) bool { return c.ID == id && c.Result == "pass" && len(c.Evidence) > 0 })
		}
		return report.Status == "checked" && passed("mint_authority") && passed("freeze_authority") && passed("honeypot_sell") && passed("lp_burned_locked")
	})
}

// memberOfSolana has somebody join, who trades a token of their own launchpad.
func (l *localSolana) memberOfSolana(t *testing.T) {
	ctx, who := t.Context(), l.People[11]
	c, err := l.Launch(ctx, solana.DBC, l.People[8], solana.Launch{Name: "Of a member", Symbol: "MEMB"}, 0)
	l.do(t, err)
	(&somebody{
		running: l.running, intake: l.intake, handle: "solana_member", chain: "solana", family: "solana", wallet: who.Key.String(), token: c.Token.String(),
		sign: func(text string) (string, error) { return who.Sign(text), nil }, until: l.until,
		buy:       func(t *testing.T) { t.Helper(); l.do(t, l.Buy(t.Context(), c, who, sol)) },
		othersBuy: func(t *testing.T) { t.Helper(); l.do(t, l.Buy(t.Context(), c, l.People[12], 10*sol)) },
		sell:      func(t *testing.T) { t.Helper(); l.do(t, l.Sell(t.Context(), c, who, 1)) },
	}).isTold(t)
	path := "/api/pnl-card/trader/" + who.Key.String() + ".png"
	l.until(t, path+" isn't drawn", func() bool {
		res, _ := l.fetch(t, path, nil)
		return res.StatusCode == http.StatusOK
	})
	l.card(t, path)
}
