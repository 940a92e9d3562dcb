package evm_test

import (
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/attack"
	"github.com/boardwalkhq/boardwalk/hack/simnet/launch"
	"github.com/boardwalkhq/boardwalk/hack/simnet/venues"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
	"github.com/boardwalkhq/boardwalk/indexer/trust"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
	report "github.com/boardwalkhq/boardwalk/internal/trust"
)

// venueWorld is a world of a test's own with every launch venue, whose contracts stand in for the launchpads'.
func venueWorld(t *testing.T, seed uint64) *testWorld {
	t.Helper()
	node, err := anvil.StartNode(t.Context(), anvil.NodeOptions{ChainID: 56, Timestamp: time.Now().Add(-time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = node.Close() })
	w := &testWorld{}
	if w.World, err = launch.Deploy(t.Context(), node, world.DeployOptions{Seed: seed}, venues.All...); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *testWorld) launchAt(t *testing.T, venue venues.Venue, creator int) *launch.Launch {
	t.Helper()
	l, err := launch.Start(t.Context(), w.World, venue.ID, launch.Order{Creator: w.Wallets[creator], Name: "Paper Lantern", Symbol: "LAMP", Metadata: "{}"})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// knownLaunch is a launch's token as the index would have it: with its curve's state, or with the pool that it trades in.
func (w *testWorld) knownLaunch(t *testing.T, l *launch.Launch, sibling string) trust.Known {
	t.Helper()
	token, head := address(t, l.Token), w.head(t)
	k := w.known(t, token)
	k.Siblings = []market.Address{address(t, sibling)}
	launched := &market.Launch{
		Mint: token, Venue: l.Venue.ID, Creator: address(t, l.Creator), State: market.LaunchLive, Quote: market.Native, CreatedAt: head.Time - 7200,
	}
	k.Launch = launched
	if l.Curve != "" {
		state, err := launch.Curve(t.Context(), w.World, l)
		if err != nil {
			t.Fatal(err)
		}
		launched.State, launched.Curve = market.LaunchOnCurve, address(t, l.Curve)
		if p := l.Venue.Protocol; p == venues.BoardwalkCurve || p == venues.PonsV2 { // whose logs tell it
			launched.TargetQuote.SetFromBig(l.Venue.Target())
		}
		launched.Reserves.RealBase.SetFromBig(state.RealBase)
		launched.Reserves.RealQuote.SetFromBig(state.RealQuote)
		raised, _ := new(big.Float).SetInt(state.RealQuote).Float64()
		price, _ := new(big.Float).SetInt(state.Price()).Float64()
		k.Pools = append(k.Pools, market.Pool{
			ID: market.CurveID(token), Protocol: market.BondingCurve, Factory: launched.Curve, Base: token, Quote: address(t, w.Wrapped),
			Locked: 2 * raised / 1e18, Price: price / 1e18, CreatedAt: launched.CreatedAt,
		})
		if state.Completed {
			launched.State = market.LaunchCompleted
		}
	}
	if !l.OnCurve() {
		pool := w.poolOf(t, &l.Pool, l.Token)
		if launched.Pool = pool.ID; l.Curve != "" {
			launched.State = market.LaunchGraduated
		}
		k.Pools = append(k.Pools, pool)
	}
	return k
}

// checkLaunch checks a token with the world's venues declared.
func (w *testWorld) checkLaunch(t *testing.T, k trust.Known) *report.Report {
	t.Helper()
	cfg := w.config()
	cfg.Venues = nil
	for _, v := range w.Venues {
		cfg.Venues = append(cfg.Venues, chainconfig.Venue{ID: v.ID, Protocol: chainconfig.VenueProtocol(v.Protocol), Contracts: markettest.Addresses(v.Contracts...)})
	}
	c, _ := w.checkerOf(t, cfg, w.source(t, cfg), trust.Options{}, k)
	r, err := c.Check(t.Context(), k.Token.Mint)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// simulated are the checks that a trade decides.
var simulated = []string{report.HoneypotSell, report.BuyTax, report.SellTax, report.TransferTax}

// unsimulated says of all of them that they are unknown.
func unsimulated() want {
	out := want{}
	for _, id := range simulated {
		out[id] = report.Unknown
	}
	return out
}

// TestStandIns: plain tokens of every venue pass all checks of a trade, on a fresh curve, on one that has been traded on, and in
// the pool.
func TestStandIns(t *testing.T) {
	t.Parallel()
	w := venueWorld(t, 31)
	for i, venue := range w.Venues {
		sibling := w.launchAt(t, venue, 2*i)
		l := w.launchAt(t, venue, 2*i+1) // the second of Pons has a tax
		check := func(others want) *report.Report {
			t.Helper()
			r := w.checkLaunch(t, w.knownLaunch(t, l, sibling.Token))
			expect(t, r, launched(others))
			if t.Failed() {
				t.Fatalf("on %s: %s", venue.ID, details(r, report.HoneypotSell))
			}
			return r
		}
		if !venue.HasCurve() {
			check(nil)
			continue
		}
		onCurve := want{}
		opaque := venue.Protocol == venues.NadFun || venue.Protocol == venues.FourMemeV1 // traded by nobody knows what call
		if opaque {
			onCurve = unsimulated()
		}
		check(onCurve)
		half := new(big.Int).Div(venue.Target(), big.NewInt(2))
		if _, err := launch.Buy(t.Context(), w.World, l, w.Wallets[100], half); err != nil {
			t.Fatal(err)
		}
		r := check(onCurve)
		for _, id := range simulated {
			if c := r.Find(id); opaque && c.UnknownReason != report.VenueNotSimulated {
				t.Errorf("on %s: %+v", venue.ID, c)
			}
		}
		if _, err := launch.Complete(t.Context(), w.World, l, w.Wallets[100]); err != nil {
			t.Fatal(err)
		}
		if venue.Waits() {
			r := check(unsimulated())
			if c := r.Find(report.HoneypotSell); c.UnknownReason != report.NoPool {
				t.Errorf("full, on %s: %+v", venue.ID, c)
			}
			if _, err := launch.Graduate(t.Context(), w.World, l, w.Wallets[100]); err != nil {
				t.Fatal(err)
			}
		}
		inPool := want{}
		if l.Pool.Protocol == world.UniswapV3 { // whose position it is, is the position manager's to say
			inPool[report.LPBurnedLocked] = report.Unknown
		}
		check(inPool)
	}
}

// TestNearlyFull: trades must not fill a curve, whose tokens can't be sold then until the pool is there.
func TestNearlyFull(t *testing.T) {
	t.Parallel()
	w := venueWorld(t, 34)
	venue, _ := w.Venue("four-meme")
	sibling, l := w.launchAt(t, venue, 0), w.launchAt(t, venue, 1)
	if _, err := launch.Buy(t.Context(), w.World, l, w.Wallets[100], new(big.Int).Sub(venue.Target(), big.NewInt(1e15))); err != nil {
		t.Fatal(err)
	}
	amount := func(n uint64) (v market.Amount) { return *v.SetUint64(n) }
	var target market.Amount
	target.SetFromBig(venue.Target())
	for name, test := range map[string]struct {
		told   func(known *market.Launch) // what the index knows of the curve
		trades bool
	}{
		"by the tokens": {func(*market.Launch) {}, true},
		"by the funds":  {func(known *market.Launch) { known.TargetQuote, known.Reserves.RealBase = target, amount(0) }, true},
		"full by the tokens": {func(known *market.Launch) {
			known.SaleBase, known.Reserves.RealBase = amount(1e18), amount(0)
		}, false},
		"but for one unit of the tokens": {func(known *market.Launch) { known.Reserves.RealBase = amount(1) }, false},
		"full by the funds":              {func(known *market.Launch) { known.TargetQuote, known.Reserves.RealQuote = target, target }, false},
		"but for one unit of the funds": {func(known *market.Launch) {
			one := amount(1)
			known.TargetQuote = target
			known.Reserves.RealQuote.Sub(&target, &one)
		}, false},
	} {
		k := w.knownLaunch(t, l, sibling.Token)
		test.told(k.Launch)
		r := w.checkLaunch(t, k)
		if test.trades {
			expect(t, r, launched(nil))
			continue
		}
		expect(t, r, launched(unsimulated()))
		if c := r.Find(report.HoneypotSell); c.UnknownReason != report.NoPool {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

// TestHostileStandIns: what is wrong with a token shows on the curve of a launchpad that trades by functions of its own.
func TestHostileStandIns(t *testing.T) {
	t.Parallel()
	w := venueWorld(t, 32)
	for i, protocol := range []venues.Protocol{venues.FourMemeV2, venues.Flap, venues.PonsV2} {
		venue := w.Venues[slices.IndexFunc(w.Venues, func(v venues.Venue) bool { return v.Protocol == protocol })]
		sibling := w.launchAt(t, venue, 3*i)
		for j, trick := range []attack.Trick{attack.TrickHoneypot, attack.TrickSellTax} {
			h, err := attack.HostileLaunch(t.Context(), w.World, trick, venue.ID, launch.Order{Creator: w.Wallets[3*i+j+1], Name: "Trap", Symbol: "TRAP"})
			if err != nil {
				t.Fatal(err)
			}
			all := launched(want{report.Ownership: report.Warn, report.CodeKnown: report.Warn})
			r := w.checkLaunch(t, w.knownLaunch(t, h.Launch, sibling.Token))
			if trick == attack.TrickHoneypot {
				all[report.HoneypotSell], all[report.SellTax] = report.Fail, report.Unknown
				if d := details(r, report.HoneypotSell); !strings.Contains(d, `bought, the sale was refused with "transfer failed"`) {
					t.Errorf("on %s: %s", venue.ID, d)
				}
			} else {
				all[report.SellTax] = report.Fail
				value(t, r, report.SellTax, 40, report.Critical)
			}
			expect(t, r, all)
			if r.Verdict() != report.Danger || !r.Critical() {
				t.Errorf("%s on %s is %s, critical %t", trick, venue.ID, r.Verdict(), r.Critical())
			}
		}
	}
}

// TestHostilePools: every trick of the world's is found in its pool, before it is played and after.
func TestHostilePools(t *testing.T) {
	t.Parallel()
	w := venueWorld(t, 33)
	unlocked := func(others want) want {
		out := want{report.Ownership: report.Warn, report.LPBurnedLocked: report.Fail}
		maps.Copy(out, others)
		return out
	}
	for i, test := range []struct {
		trick  attack.Trick
		want   want
		sprung want // nil where nothing is played
		// Of the report before: a failure or warning that the trick is found by, and how bad it is.
		found    string
		severity report.Severity
		verdict  report.Verdict
	}{
		{
			attack.TrickHoneypot, unlocked(want{report.HoneypotSell: report.Fail, report.SellTax: report.Unknown}), nil,
			report.HoneypotSell, report.Critical, report.Danger,
		},
		{
			attack.TrickBackdoor, unlocked(want{report.Mintable: report.Warn}),
			unlocked(want{report.Mintable: report.Warn, report.SupplyChange: report.Fail}),
			report.Mintable, report.High, report.Danger,
		},
		{attack.TrickSellTax, unlocked(want{report.SellTax: report.Fail}), nil, report.SellTax, report.Critical, report.Danger},
		{
			attack.TrickUpgradeable, unlocked(want{report.Proxy: report.Fail}),
			unlocked(want{report.Proxy: report.Fail, report.HoneypotSell: report.Fail, report.SellTax: report.Unknown}),
			report.Proxy, report.High, report.Danger,
		},
		{
			attack.TrickBlacklist, unlocked(want{report.Pausable: report.Warn, report.Blacklist: report.Warn}),
			func() want {
				out := unlocked(unsimulated())
				out[report.Pausable], out[report.Blacklist] = report.Fail, report.Unknown
				return out
			}(),
			report.Pausable, report.Critical, report.Danger,
		},
		{
			attack.TrickUnlocked, unlocked(nil),
			want{report.Ownership: report.Warn, report.LiquidityDepth: report.Fail},
			report.LPBurnedLocked, report.High, report.Danger,
		},
		{attack.TrickBurned, want{report.Ownership: report.Warn}, nil, report.Ownership, report.Medium, report.Caution},
		{attack.TrickNone, want{report.Ownership: report.Pass}, nil, "", "", report.OK},
	} {
		h, err := attack.HostilePool(t.Context(), w.World, test.trick, w.Wallets[i], big.NewInt(9e18))
		if err != nil {
			t.Fatal(err)
		}
		token := address(t, h.Token)
		k := w.known(t, token, w.poolOf(t, &h.Pool, h.Token))
		r := w.check(t, k)
		expect(t, r, test.want)
		if c := r.Find(test.found); c != nil && c.Severity != test.severity {
			t.Errorf("%+v", c)
		}
		if r.Verdict() != test.verdict {
			t.Errorf("the verdict is %s, want %s", r.Verdict(), test.verdict)
		}
		if s := r.Score(); test.trick == attack.TrickNone && (s == nil || *s != 100) {
			t.Error("the score of a token without a trick isn't 100")
		}
		if test.sprung != nil {
			if err := attack.Spring(t.Context(), w.World, h); err != nil {
				t.Fatal(err)
			}
			k.Block = w.head(t)
			if test.trick == attack.TrickUnlocked {
				k.Pools[0].Locked = 0
			}
			expect(t, w.check(t, k), test.sprung)
		}
		if t.Failed() {
			t.Fatalf("with the trick %q: %s", test.trick, details(r, report.HoneypotSell))
		}
	}
}
