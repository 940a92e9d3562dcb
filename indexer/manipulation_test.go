package indexer_test

import (
	"context"
	"math"
	"testing"

	"github.com/boardwalkhq/boardwalk/hack/simnet/attack"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// TestManipulationsMoveNothing plays each trick against tokens with an honest price, waits longer than a reference
// pool needs to change, and wants every price where it was.
func TestManipulationsMoveNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 40)
	st := storetest.Open(t, "sqlite")
	defer run(t, w.config(), st, 0)()
	w.await(t, st)
	plain := w.TokensLike(world.Plain)
	for name, trick := range map[string]struct {
		token int
		play  func(context.Context, *world.World, string) (attack.Fixture, error)
	}{
		"a flash pump inside one block":      {3, attack.FlashPump},
		"a one-tick pool":                    {0, attack.OneTickPool},
		"a pool one-sided in its own token":  {1, attack.OneSidedPool},
		"a pool with a hook nobody declared": {2, attack.HookPool},
		"a thin pool at an absurd price":     {4, attack.ThinTakeover},
	} {
		mint, err := market.ParseEVMAddress(plain[trick.token].Address)
		if err != nil {
			t.Fatal(err)
		}
		before := tokens(t, st)[mint]
		priced := price(t, pools(t, st), before.Pool)
		high := dayHigh(t, pools(t, st), before.Pool, func(p market.Pool) []market.Candle {
			return all[market.Candle](t)(st.Inspect.Candles(t.Context(), "base", p.ID, 86400, 0, math.MaxInt64))
		})
		f, err := trick.play(t.Context(), w.World, plain[trick.token].Address)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := w.node.Mine(t.Context(), 30, 2_000_000_000); err != nil {
			t.Fatal(err)
		}
		w.await(t, st)
		after := tokens(t, st)[mint]
		if after.Pool != before.Pool || !after.Candidate.IsNone() {
			t.Errorf("%s: the token is priced by %s, was by %s; candidate %s (the trap is %s%s)", name, after.Pool, before.Pool, after.Candidate,
				f.Pool.Address, f.Pool.ID)
		}
		// A flash pump pays fees, which stay in the pool: a trace of a percent.
		if now := price(t, pools(t, st), after.Pool); math.Abs(now/priced-1) > 0.02 {
			t.Errorf("%s: the price is %g, was %g", name, now, priced)
		}
		if now := dayHigh(t, pools(t, st), before.Pool, func(p market.Pool) []market.Candle {
			return all[market.Candle](t)(st.Inspect.Candles(t.Context(), "base", p.ID, 86400, 0, math.MaxInt64))
		}); now > high*1.02 {
			t.Errorf("%s: the day's high is %g, was %g", name, now, high)
		}
		if len(f.TxHashes) == 0 {
			t.Errorf("%s: nothing was sent", name)
		}
	}
	// What the tricks left behind is seen, and known for what it is.
	hooked := 0
	for _, p := range pools(t, st) {
		if p.Untrusted == market.UntrustedHook {
			hooked++
		}
	}
	if hooked == 0 {
		t.Error("no pool with an undeclared hook was indexed")
	}
	for _, tok := range tokens(t, st) {
		if tok.Symbol == "TRIL" || tok.Symbol == "PLAY" {
			if !tok.Pool.IsNone() {
				t.Errorf("%s, traded against a worthless token alone, is priced by %s", tok.Symbol, tok.Pool)
			}
		}
	}
}

func price(t *testing.T, list []market.Pool, id market.Address) float64 {
	t.Helper()
	for _, p := range list {
		if p.ID == id {
			return p.Price
		}
	}
	t.Fatalf("no pool %s", id)
	return 0
}

func dayHigh(t *testing.T, list []market.Pool, id market.Address, candles func(market.Pool) []market.Candle) float64 {
	t.Helper()
	high := 0.0
	for _, p := range list {
		if p.ID == id {
			for _, c := range candles(p) {
				high = max(high, c.USD.High)
			}
		}
	}
	return high
}
