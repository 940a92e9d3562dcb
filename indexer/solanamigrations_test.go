package indexer

import (
	"testing"

	simnet "github.com/boardwalkhq/boardwalk/hack/simnet/solana"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
	"github.com/boardwalkhq/boardwalk/internal/trust"
)

// launchOf is what the index says of the launch of a curve's token.
func launchOf(t *testing.T, st *store.Store, c *simnet.Curve) market.Launch {
	t.Helper()
	got, err := st.Launches.At(t.Context(), []market.Address{addressOfKey(c.Token)})
	if err != nil || len(got) != 1 {
		t.Fatalf("launches %+v, error %v", got, err)
	}
	return got[0].Launch
}

// fills has the curve's token bought until there is no more, and the store read it.
func (l *localSolana) fills(t *testing.T, st *store.Store, c *simnet.Curve) {
	t.Helper()
	for !c.Complete {
		if err := l.Buy(t.Context(), c, l.People[5], 20*lamportsOfSOL); err != nil {
			t.Fatal(err)
		}
		l.mineFor(t, st)
	}
}

// migrates moves a full curve, and has the store read it.
func (l *localSolana) migrates(t *testing.T, st *store.Store, c *simnet.Curve) {
	t.Helper()
	if err := l.Migrate(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	l.mineFor(t, st)
}

// TestALaunchMovesToAMMv4: a full curve of LaunchLab moves to a pool of AMM v4 on Solana's own runtime. The launch is linked to that pool, and what is traded there is counted.
func TestALaunchMovesToAMMv4(t *testing.T) {
	t.Parallel()
	l := newLocalSolana(t, 17)
	cfg, st := l.config(t), storetest.Open(t, "sqlite")
	defer startSolana(t, st, cfg)()
	c := l.launched(t, st, simnet.LaunchLab, simnet.AMMv4)
	l.fills(t, st, c)
	if k := launchOf(t, st, c); k.State != market.LaunchCompleted || !k.Pool.IsNone() {
		t.Errorf("before it moves: %+v", k)
	}
	onCurve := l.Trades()
	l.migrates(t, st, c)
	pool := addressOfKey(c.Pool.Account)
	if k := launchOf(t, st, c); k.State != market.LaunchGraduated || k.Pool != pool || k.GraduatedAt != l.Time().Unix() {
		t.Errorf("after it moved: %+v, want it in pool %s", k, pool)
	}
	for range 6 {
		if err := l.Buy(t.Context(), c, l.People[6], lamportsOfSOL); err != nil {
			t.Fatal(err)
		}
		l.sells(t, st, c, 4, 0.1)
		l.wantReserves(t, st)
	}
	l.wantHeld(t, st)

	trades, err := st.Inspect.Trades(t.Context(), "solana", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	inPool := 0
	for _, k := range trades {
		if k.Pool == pool && k.Base == addressOfKey(c.Token) {
			inPool++
		}
	}
	if inPool != 12 || len(trades) != onCurve+12 {
		t.Errorf("%d trades, %d of them in the pool, want %d and 12", len(trades), inPool, onCurve+12)
	}
	pools, err := st.Inspect.Pools(t.Context(), "solana", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pools {
		if p.ID == pool && (p.Protocol != market.RaydiumAMMv4 || p.Base != addressOfKey(c.Token) || p.Quote != addressOfKey(simnet.WSOL)) {
			t.Errorf("the pool is %+v", p)
		}
	}
}

// TestALaunchMovesToDAMMv1: a full curve of DBC moves to a pool of DAMM v1, which the index doesn't read. The launch has left its curve and names the pool; the token's balances
// are known, and no market of it is.
func TestALaunchMovesToDAMMv1(t *testing.T) {
	t.Parallel()
	l := newLocalSolana(t, 19)
	cfg, st := l.config(t), storetest.Open(t, "sqlite")
	defer startSolana(t, st, cfg)()
	c := l.launched(t, st, simnet.DBC, simnet.DAMMv1)
	l.sells(t, st, c, 4, 0.1)
	l.fills(t, st, c)
	if k := launchOf(t, st, c); k.State != market.LaunchCompleted || !k.Pool.IsNone() {
		t.Errorf("before it moves: %+v", k)
	}
	l.migrates(t, st, c)
	pool := addressOfKey(c.Pool.Account)
	if k := launchOf(t, st, c); k.State != market.LaunchGraduated || k.Pool != pool || k.GraduatedAt != l.Time().Unix() {
		t.Errorf("after it moved: %+v, want it in pool %s", k, pool)
	}
	l.wantHeld(t, st)
	if err := l.Give(t.Context(), c, l.People[5], l.People[6], 0.5); err != nil {
		t.Fatal(err)
	}
	l.mineFor(t, st)
	l.wantHeld(t, st)

	trades, err := st.Inspect.Trades(t.Context(), "solana", 0, 0)
	if err != nil || len(trades) != l.Trades() {
		t.Errorf("%d trades, want %d; error %v", len(trades), l.Trades(), err)
	}
	pools, err := st.Inspect.Pools(t.Context(), "solana", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pools {
		if p.ID == pool {
			t.Errorf("the pool is known as %+v", p)
		}
	}
	for _, rule := range []string{trust.LPBurnedLocked, trust.LiquidityDepth} {
		if check := checked(t, st, cfg, c.Token, rule); check.Result != trust.Unknown || check.UnknownReason != trust.NoPool {
			t.Errorf("%s: %+v", rule, check)
		}
	}
	wantSales(t, "nothing is known of its market", checked(t, st, cfg, c.Token, trust.HoneypotSell), trust.Pass, "can move its tokens")
}
