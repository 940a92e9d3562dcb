package main

import (
	"math/big"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/attack"
	"github.com/boardwalkhq/boardwalk/hack/simnet/desk"
	"github.com/boardwalkhq/boardwalk/hack/simnet/history"
	"github.com/boardwalkhq/boardwalk/hack/simnet/launch"
	"github.com/boardwalkhq/boardwalk/hack/simnet/traffic"
	"github.com/boardwalkhq/boardwalk/hack/simnet/venues"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
	"github.com/boardwalkhq/boardwalk/members/client"
	"github.com/boardwalkhq/boardwalk/up"
)

// launchChain is a chain with every launch venue and a day of launches, and its manifests.
func launchChain(t *testing.T, dir string) (*world.World, *desk.Desk) {
	t.Helper()
	const span = 25 * time.Hour
	ctx := t.Context()
	node, err := anvil.StartNode(ctx, anvil.NodeOptions{ChainID: 56, Timestamp: history.GenesisFor(span)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = node.Close() })
	w, err := launch.Deploy(ctx, node, world.DeployOptions{Seed: 3}, venues.All...)
	if err != nil {
		t.Fatal(err)
	}
	d := desk.New(w, desk.Options{Seed: 3})
	err = history.Mine(ctx, w, traffic.NewTrader(w, 3), history.Options{
		Span: span, Blocks: 400, BlockTime: time.Second, TxPerBlock: 2, Seed: 3, Desk: d,
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.WriteManifest(dir, world.ManifestOptions{ID: "bsc", Label: "BNB Chain", BlockTime: time.Second}); err != nil {
		t.Fatal(err)
	}
	if _, err := launch.WriteVenueManifests(dir, map[string]*world.World{"bsc": w}); err != nil {
		t.Fatal(err)
	}
	return w, d
}

// board reads a whole sort, page by page.
func (r *running) board(t *testing.T, query string) (cards []contract.LaunchCard) {
	t.Helper()
	before := ""
	for {
		var page contract.LaunchBoard
		r.get(t, "/api/launch/launches?limit=100&"+query+"&before="+before, &page)
		cards = append(cards, page.Launches...)
		if page.NextBefore == nil {
			return cards
		}
		before = *page.NextBefore
	}
}

func (r *running) launched(t *testing.T, mint string) (out contract.LaunchedToken) {
	t.Helper()
	r.get(t, "/api/launch/token/"+mint, &out)
	return out
}

// eventually waits until the API says what is wanted.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !ok(); time.Sleep(time.Second) {
		if time.Now().After(deadline) {
			t.Fatalf("after two minutes: %s", what)
		}
	}
}

// TestLaunchBoard is the launch board from end to end: a chain with the contracts of every venue protocol and a day of
// launches, the indexer, the API.
func TestLaunchBoard(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, d := launchChain(t, dir)
	honeypot, err := attack.HostilePool(t.Context(), w, attack.TrickHoneypot, w.Spare[3], new(big.Int).Mul(big.NewInt(50), big.NewInt(1e18)))
	if err != nil {
		t.Fatal(err)
	}
	members, intake := newIntake(t)
	r := startUpWith(t, func(p *up.Program) { p.Members = members }, "sqlite:"+filepath.Join(t.TempDir(), "board.db"), "config/samples", dir)

	t.Run("every protocol", func(t *testing.T) { everyProtocol(t, w, r) })
	t.Run("money", func(t *testing.T) { washTrading(t, d, r) })
	t.Run("trust", func(t *testing.T) {
		var report contract.TrustReport
		r.get(t, "/api/token/"+honeypot.Token+"/trust", &report)
		i := slices.IndexFunc(report.Checks, func(c contract.TrustCheck) bool { return c.ID == "honeypot_sell" })
		if report.Status != "checked" || report.Verdict != "danger" || i < 0 || report.Checks[i].Result != "fail" {
			t.Errorf("the report of a honeypot: %+v", report)
		}
	})
	t.Run("life", func(t *testing.T) { lifeOfALaunch(t, w, r) })
	t.Run("member", func(t *testing.T) { memberOfABoard(t, w, r, intake) })
}

// everyProtocol wants launches of every venue in every state that it has.
func everyProtocol(t *testing.T, w *world.World, r *running) {
	t.Helper()
	states := map[string]map[contract.GraduationState]int{}
	for i, c := range slices.Concat(r.board(t, "sort=new"), r.board(t, "sort=graduated"), r.board(t, "sort=trending")) {
		if states[c.Launchpad] == nil {
			states[c.Launchpad] = map[contract.GraduationState]int{}
		}
		states[c.Launchpad][c.Graduation.State]++
		if i%20 > 0 { // its limit is 60 a minute
			continue
		}
		if alone := r.launched(t, c.Mint); alone.Mint != c.Mint || alone.Graduation.State != c.Graduation.State {
			t.Errorf("%s is %s on the board and %s by itself", c.Mint, c.Graduation.State, alone.Graduation.State)
		}
	}
	for _, launchpad := range []string{"boardwalk-curve", "four-meme", "flap", "pons", "nad-fun"} {
		for _, state := range []contract.GraduationState{"curve", "graduated"} {
			if states[launchpad][state] == 0 {
				t.Errorf("%s has no launch that is %s: %v", launchpad, state, states[launchpad])
			}
		}
	}
	if states["clanker"]["not_applicable"] == 0 || states["boardwalk-curve"]["completed"] == 0 {
		t.Errorf("live pools and full curves are missing: %v", states)
	}
	near := r.board(t, "sort=progress")
	if !slices.IsSortedFunc(near, func(a, b contract.LaunchCard) int {
		return -compare(a.Curve.ProgressPct, b.Curve.ProgressPct)
	}) || len(near) == 0 || near[0].Curve.ProgressPct < 80 {
		t.Errorf("near graduation is out of order, or nothing is near")
	}
	for _, v := range w.Venues {
		var page contract.LaunchBoard
		filter := map[venues.Protocol]string{venues.BoardwalkCurve: "ours", venues.ClankerV3: "clanker", venues.FourMemeV1: "four-meme"}[v.Protocol]
		if filter == "" {
			filter = v.ID
		}
		r.get(t, "/api/launch/launches?sort=new&launchpad="+filter, &page)
		if len(page.Launches) == 0 {
			t.Errorf("launchpad=%s shows nothing", filter)
		}
	}
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// washTrading wants what a few wallets trade among themselves to be below what many trade.
func washTrading(t *testing.T, d *desk.Desk, r *running) {
	t.Helper()
	washed := d.WashTraded()
	if len(washed) == 0 {
		t.Fatal("nobody trades with himself")
	}
	cards := r.board(t, "sort=running")
	if len(cards) < 15 {
		t.Fatalf("%d cards are running: too few to be among the first ten of", len(cards))
	}
	for i, c := range cards {
		if !c.GatePass || len(c.GateFails) > 0 || c.Traction == nil || c.Traction.Rank == nil || *c.Traction.Rank != i+1 {
			t.Errorf("card %d of running: gate %v %v, traction %+v", i+1, c.GatePass, c.GateFails, c.Traction)
		}
	}
	most := slices.MaxFunc(cards, func(a, b contract.LaunchCard) int { return compare(a.Volume24HUSD, b.Volume24HUSD) })
	for _, l := range washed {
		place := slices.IndexFunc(cards, func(c contract.LaunchCard) bool { return c.Mint == l.Token })
		if place >= 0 && place < 10 {
			t.Errorf("the wash-traded %s is at place %d", l.Token, place+1)
		}
		if got := r.launched(t, l.Token); got.Volume24HUSD < most.Volume24HUSD/4 {
			t.Errorf("the wash-traded %s has a volume of %v USD, the largest is %v: this shows nothing", l.Token, got.Volume24HUSD, most.Volume24HUSD)
		}
	}
}

// lifeOfALaunch follows one token from its launch into its pool, and holds what the API says against the contract.
func lifeOfALaunch(t *testing.T, w *world.World, r *running) {
	t.Helper()
	ctx := t.Context()
	l, err := launch.Start(ctx, w, "boardwalk-curve", launch.Order{
		Creator: w.Wallets[7], Name: "Tin Kettle", Symbol: "TINK", Metadata: `{"website":"https://kettle.example.com/"}`,
	})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the launch isn't the newest", func() bool {
		var page contract.LaunchBoard
		r.get(t, "/api/launch/launches?sort=new&limit=1", &page)
		return len(page.Launches) == 1 && page.Launches[0].Mint == l.Token && page.Launches[0].Creator.Address == w.Wallets[7]
	})
	for i := range 3 {
		value := new(big.Int).Div(l.Venue.Target(), big.NewInt(10))
		if _, err := launch.Buy(ctx, w, l, w.Wallets[20+i], value); err != nil {
			t.Fatal(err)
		}
	}
	want, err := launch.Curve(ctx, w, l)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the curve isn't the contract's", func() bool {
		got := r.launched(t, l.Token)
		d := got.CurveDetail
		return d != nil && d.RealBase != nil && *d.RealBase == want.RealBase.String() &&
			d.RealQuote != nil && *d.RealQuote == want.RealQuote.String() &&
			got.Holders != nil && *got.Holders == 3 && got.Buyers1H != nil && *got.Buyers1H == 3
	})
	if _, err := launch.Complete(ctx, w, l, w.Wallets[30]); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the curve isn't full", func() bool { return r.launched(t, l.Token).Graduation.State == "completed" })
	if _, err := launch.Graduate(ctx, w, l, w.Wallets[31]); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the token hasn't graduated to its pool", func() bool {
		got := r.launched(t, l.Token).Graduation
		return got.State == "graduated" && got.Pool != nil && *got.Pool == l.Pool.ID
	})
	eventually(t, "the graduation isn't the newest", func() bool {
		var page contract.LaunchBoard
		r.get(t, "/api/launch/launches?sort=graduated&limit=1", &page)
		return len(page.Launches) == 1 && page.Launches[0].Mint == l.Token
	})
	eventually(t, "its website isn't known", func() bool {
		var info contract.TokenInfo
		r.get(t, "/api/token/info/"+l.Token+"?chain=bsc", &info)
		return info.Links.Website != nil && *info.Links.Website == "https://kettle.example.com/"
	})
}

// memberOfABoard has somebody join, who trades a token on a curve.
func memberOfABoard(t *testing.T, w *world.World, r *running, intake *client.Client) {
	t.Helper()
	l, err := launch.Start(t.Context(), w, "boardwalk-curve", launch.Order{Creator: w.Wallets[8], Name: "Of a member", Symbol: "MEMB"})
	if err != nil {
		t.Fatal(err)
	}
	must := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	buy := func(t *testing.T, wallet string, parts int64) {
		t.Helper()
		_, err := launch.Buy(t.Context(), w, l, wallet, new(big.Int).Div(l.Venue.Target(), big.NewInt(parts)))
		must(t, err)
	}
	who := w.Traders[3]
	(&somebody{
		running: r, intake: intake, handle: "board_member", chain: "bsc", family: "evm", wallet: who, token: l.Token,
		sign: func(text string) (signature string, err error) {
			err = w.Node.Call(t.Context(), &signature, "personal_sign", anvil.ToHex([]byte(text)), who)
			return signature, err
		},
		buy: func(t *testing.T) { t.Helper(); buy(t, who, 100) }, othersBuy: func(t *testing.T) { t.Helper(); buy(t, w.Wallets[41], 10) },
		sell: func(t *testing.T) {
			t.Helper()
			held, err := w.BalanceOf(t.Context(), l.Token, who)
			must(t, err)
			_, err = launch.Sell(t.Context(), w, l, who, held.Div(held, big.NewInt(2)))
			must(t, err)
		},
		until: func(t *testing.T, what string, ok func() bool) {
			t.Helper()
			eventually(t, what, func() bool {
				must(t, w.Node.Mine(t.Context(), 1, time.Second)) // figures end with the last whole minute of the chain's time
				return ok()
			})
		},
	}).isTold(t)
}
