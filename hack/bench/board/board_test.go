package board

import (
	"context"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/read/declared"
	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/traction"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

// TestBoardWorldHasEverything looks for each state and for most launches at rest.
func TestBoardWorldHasEverything(t *testing.T) {
	t.Parallel()
	size := lab.MarketSize{Launches: 5000, Trades: 20_000, Seed: 3}
	w, again := newBoardWorld(size), newBoardWorld(size)
	states, fresh, launches, traded, trades := map[market.LaunchState]int{}, 0, 0, 0, 0
	var halves [2]int
	for i := range w.chains {
		p := &w.chains[i]
		of := w.tradesOf(i)
		trades += len(of)
		seen := map[*boardLaunch]bool{}
		for j := range of {
			seen[of[j].launch] = true
			if at := of[j].ms / 1000; at < of[j].launch.born || at < lab.WorldEnd-traction.Window || at > lab.WorldEnd {
				t.Fatalf("a trade at %d of a launch of %d", at, of[j].launch.born)
			}
		}
		if others := again.tradesOf(i); len(others) != len(of) || others[0].usd != of[0].usd || others[0].launch.mint != of[0].launch.mint {
			t.Error("the same seed makes other trades")
		}
		traded += len(seen)
		for _, l := range p.launches {
			launches++
			states[l.state]++
			if !l.traded {
				fresh++
			}
			row := l.row()
			if row.HasProgress && l.state == market.LaunchOnCurve {
				halves[min(int(row.Progress/50), 1)]++
			}
			boardRowsAgree(t, l, &row)
		}
	}
	for _, state := range []market.LaunchState{market.LaunchLive, market.LaunchOnCurve, market.LaunchCompleted, market.LaunchGraduated} {
		if states[state] == 0 {
			t.Errorf("none is %s", state)
		}
	}
	if launches != size.Launches || fresh == 0 || halves[0] == 0 || halves[1] == 0 || trades < size.Trades*9/10 || traded > launches/2 || traded < launches/20 {
		t.Errorf("%d launches, %d fresh, progress %v; %d trades of %d", launches, fresh, halves, trades, traded)
	}
}

// boardRowsAgree holds a launch's rows against each other.
func boardRowsAgree(t *testing.T, l *boardLaunch, row *market.Launch) {
	t.Helper()
	pool, token := l.poolRow(), l.token()
	if token.Pool != pool.ID || (pool.Protocol == market.BondingCurve) != row.OnCurve() || pool.Price <= 0 || math.IsInf(pool.Price, 0) {
		t.Fatalf("%s: its token is priced by %s, its pool is %+v", l.state, token.Pool, pool)
	}
	if row.OnCurve() && (pool.Reserve0 != row.Reserves.RealBase || pool.Reserve1 != row.Reserves.RealQuote) {
		t.Fatalf("the curve has %s, its pool %s", row.Reserves.RealBase.Dec(), pool.Reserve0.Dec())
	}
	full := row.State == market.LaunchCompleted || row.State == market.LaunchGraduated
	if row.HasProgress && full != (row.Progress > 99.999) {
		t.Fatalf("%s with a progress of %g", row.State, row.Progress)
	}
	if row.State == market.LaunchGraduated && (row.Pool != pool.ID || row.GraduatedAt == 0 || math.Abs(l.emptied().Price/l.endPrice()-1) > 1e-9) {
		t.Fatalf("it graduated to %s at %d", row.Pool, row.GraduatedAt)
	}
}

// TestCurveFillsUp buys a curve empty and goes on in its pool.
func TestCurveFillsUp(t *testing.T) {
	t.Parallel()
	w := newBoardWorld(lab.MarketSize{Launches: 1000, Seed: 1})
	p := &w.chains[0]
	rng := rand.New(rand.NewPCG(1, 1))
	l := p.newLaunch(1, 5, rng, lab.NewZipf(10, 1))
	for !l.venue.protocol.HasCurve() {
		l = p.newLaunch(1, 5, rng, lab.NewZipf(10, 1))
	}
	if row := l.row(); row.Progress != 0 || l.raised() != 0 {
		t.Errorf("it begins with a progress of %g", row.Progress)
	}
	k, sold, paid := l.base*l.quote, 0.0, 0.0
	for n := 0; !l.full(); n++ {
		sell := n%3 == 2
		base, quote := l.trade(l.target/40, sell)
		if sell {
			base, quote = -base, -quote
		}
		sold, paid = sold+base, paid+quote
		if math.Abs(l.base*l.quote/k-1) > 1e-9 || math.Abs(curveTokens-sold-l.base) > 1 || n > 1000 {
			t.Fatalf("after %d trades %g tokens are sold for %g and %g are there", n, sold, paid, l.base)
		}
	}
	if math.Abs(sold/saleTokens-1) > 1e-6 || math.Abs(paid/l.target-1) > 1e-6 {
		t.Errorf("it sold %g for %g, wanted %g for %g", sold, paid, float64(saleTokens), l.target)
	}
	l.complete(7)
	end := l.price()
	if l.graduate(8); math.Abs(l.price()/end-1) > 1e-9 || l.onCurve() {
		t.Errorf("the pool begins at %g, the curve ended at %g", l.price(), end)
	}
	if _, quote := l.trade(1e9, true); quote > l.target/40 {
		t.Errorf("%g left the pool at once", quote)
	}
}

// TestArrivals writes for a while and holds what is in the database against what the writers say.
func TestArrivals(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	st, err := store.Open(ctx, "sqlite:"+filepath.Join(t.TempDir(), "market.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = st.Close() }()
	size := lab.MarketSize{Launches: 1000, Trades: 3000, Seed: 2}
	if err := seedBoard(ctx, newBoardWorld(size), st, "test"); err != nil {
		t.Fatal(err)
	}
	before := map[string]market.Launch{}
	for _, c := range boardChains {
		launches, err := st.Inspect.Launches(ctx, c.ID, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range launches {
			before[l.Mint.String()] = l
		}
	}
	w := newBoardWorld(size)
	clock := newBoardClock()
	a, err := newArrivals(ctx, w, st, clock)
	if err != nil {
		t.Fatal(err)
	}
	sum := &Arrived{}
	for _, c := range a.writers {
		for n := range 40 { // without waiting for the clock
			if err := c.commit(ctx, c.last+1+uint64(n%2), 30, sum); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(before) != size.Launches || sum.commits != 40*len(boardChains) || sum.trades != 30*sum.commits || sum.launches < sum.trades/tradesPerLaunch-len(boardChains) {
		t.Errorf("of %d launches there came %s", len(before), sum)
	}
	for i, c := range a.writers {
		writtenIs(ctx, t, st, c, before)
		if status, ok, err := st.Chain(ctx, boardChains[i].ID); err != nil || !ok || status.Last.Number != c.last || status.CommitNo < 40 {
			t.Errorf("%s is at %+v, %v", boardChains[i].ID, status, err)
		}
	}
}

// writtenIs compares a chain's rows with its writer's memory.
func writtenIs(ctx context.Context, t *testing.T, st *store.Store, c *chainWriter, before map[string]market.Launch) {
	t.Helper()
	all := slices.Concat(c.launches, c.fresh)
	rows := map[market.Address]market.Launch{}
	launches, err := st.Inspect.Launches(ctx, c.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range launches {
		rows[l.Mint] = l
	}
	if len(rows) != len(all) {
		t.Fatalf("%s: %d launches, want %d", c.ID, len(rows), len(all))
	}
	changed := 0
	for _, l := range all {
		if rows[l.mint] != l.row() {
			t.Fatalf("%s: the database has\n%+v, the writer\n%+v", c.ID, rows[l.mint], l.row())
		}
		if rows[l.mint] != before[l.mint.String()] {
			changed++
		}
		pools, err := st.Pools.Now(ctx, []market.Address{l.mint})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(pools, func(p store.PoolNow) bool { return p.Pool == l.poolRow() }) {
			t.Fatalf("%s: the database has %+v, the writer %+v", c.ID, pools, l.poolRow())
		}
	}
	if changed < 5 {
		t.Errorf("%s: %d launches changed", c.ID, changed)
	}
	trades := 0
	for _, err := range st.Trades.Flows(ctx, c.ID, c.blockAt(lab.WorldEnd*1000)+1, 0) {
		if err != nil {
			t.Fatal(err)
		}
		trades++
	}
	if trades != 40*30 {
		t.Errorf("%s: %d trades in the database", c.ID, trades)
	}
}

// TestArrivalsKeepTheirRate lets the writers run by the clock.
func TestArrivalsKeepTheirRate(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	st, err := store.Open(ctx, "sqlite:"+filepath.Join(t.TempDir(), "market.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = st.Close() }()
	size := lab.MarketSize{Launches: 1000, Trades: 1000, Seed: 2}
	if err := seedBoard(ctx, newBoardWorld(size), st, "test"); err != nil {
		t.Fatal(err)
	}
	clock := newBoardClock()
	a, err := newArrivals(ctx, newBoardWorld(size), st, clock)
	if err != nil {
		t.Fatal(err)
	}
	clock.start()
	from := clock.now()
	sum, err := a.During(ctx, 500, func() error {
		wait.For(ctx, 300*time.Millisecond)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	clock.stop()
	if stood := clock.now(); !clock.now().Equal(stood) || stood.Sub(from) < 300*time.Millisecond {
		t.Errorf("the clock went from %s to %s", from, stood)
	}
	// Whole blocks alone are written, each with the trades that were due.
	due := 0.0
	for _, c := range a.writers {
		due += 500 * float64(c.share) / 100 * float64(c.last-c.began) * float64(c.blockMS) / 1000
	}
	if sum.blocks == 0 || sum.commits > sum.blocks || math.Abs(float64(sum.trades)-due) > float64(len(a.writers)) {
		t.Errorf("%s; %.1f trades were due", sum, due)
	}
}

func TestBoardCatalogIsOne(t *testing.T) {
	t.Parallel()
	c := declared.New(Catalog())
	share := 0
	for i := range boardChains {
		share += boardChains[i].share
		if _, ok := c.VenueOn("boardwalk-curve", boardChains[i].ID); !ok {
			t.Errorf("%s has no venue", boardChains[i].ID)
		}
		if c := &boardChains[i]; c.timeOf(c.blockAt(lab.WorldEnd*1000)) > lab.WorldEnd || c.header(9).Hash != c.header(10).Parent {
			t.Errorf("%s: its blocks are wrong", c.ID)
		}
	}
	if share != 100 || !slices.Contains(c.Launchpads(), "four-meme") {
		t.Errorf("the chains have %d %%, the launchpads are %v", share, c.Launchpads())
	}
}

func TestOutstanding(t *testing.T) {
	t.Parallel()
	const period = 5 * time.Second
	steady := slices.Repeat([]time.Duration{10}, 15)
	if got := outstanding(steady, period); got != 0 {
		t.Errorf("of what is steady %d stands out", got)
	}
	for _, at := range []int{2, 7, 13} { // it comes late once
		steady[at] += 100
	}
	if got := outstanding(steady, period); got != 100 {
		t.Errorf("%d stands out, want 100", got)
	}
	if got := outstanding(nil, period); got != 0 {
		t.Errorf("of nothing %d stands out", got)
	}
}
