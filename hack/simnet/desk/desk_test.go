package desk_test

import (
	"context"
	"math/big"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/attack"
	"github.com/boardwalkhq/boardwalk/hack/simnet/desk"
	"github.com/boardwalkhq/boardwalk/hack/simnet/history"
	"github.com/boardwalkhq/boardwalk/hack/simnet/launch"
	"github.com/boardwalkhq/boardwalk/hack/simnet/simnettest"
	"github.com/boardwalkhq/boardwalk/hack/simnet/traffic"
	"github.com/boardwalkhq/boardwalk/hack/simnet/venues"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
)

// deskWorld is a chain of a test's own with launch venues.
func deskWorld(t *testing.T, chainID, seed uint64, protocols ...venues.Protocol) *world.World {
	t.Helper()
	w, err := launch.Deploy(t.Context(), simnettest.Node(t, chainID), world.DeployOptions{Seed: seed}, protocols...)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// deskHistory is a day of launches on a fresh chain, with what is said to have happened.
func deskHistory(t *testing.T, chainID uint64, blocks int) (*world.World, *desk.Desk, []traffic.Truth, time.Time) {
	t.Helper()
	w := deskWorld(t, chainID, 51, venues.Usual(chainID)...)
	d := desk.New(w, desk.Options{Seed: 51})
	end := time.Unix(1760000000, 0).Add(22 * time.Hour)
	var truths []traffic.Truth
	err := history.Mine(t.Context(), w, traffic.NewTrader(w, 51), history.Options{
		Span: 22 * time.Hour, Blocks: blocks, TxPerBlock: 1, End: end, Desk: d,
		OnBlock: func(_ float64, told []traffic.Truth) { truths = append(truths, told...) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return w, d, truths, end
}

// The population of a chain's last day has launches in every state on each venue, and what the desk says of its
// transactions is what they did.
func TestDeskHistory(t *testing.T) {
	t.Parallel()
	for _, chainID := range []uint64{56, 8453} {
		w, d, truths, end := deskHistory(t, chainID, 360)
		checkTruths(t, w, truths)
		states := make(map[string]map[string]int)
		tricks := make(map[attack.Trick]bool)
		for _, r := range d.Runs() {
			if states[r.Venue.ID] == nil {
				states[r.Venue.ID] = make(map[string]int)
			}
			tricks[r.Trick] = true
			for _, state := range statesOf(t, w, r, end) {
				states[r.Venue.ID][state]++
			}
		}
		for _, venue := range w.Venues {
			wanted := []string{"new", "running", "graduated"}
			if venue.HasCurve() {
				wanted = append(wanted, "near")
			}
			if venue.Waits() {
				wanted = append(wanted, "completed")
			}
			for _, state := range wanted {
				if states[venue.ID][state] == 0 {
					t.Errorf("chain %d: none of %s is %s: %v", chainID, venue.ID, state, states[venue.ID])
				}
			}
		}
		for _, trick := range desk.Tricks {
			if !tricks[trick] {
				t.Errorf("chain %d: no token with %s", chainID, trick)
			}
		}
	}
}

// statesOf are those of the launch board that a launch is in. A live pool that has got far counts as graduated.
func statesOf(t *testing.T, w *world.World, r desk.Run, end time.Time) []string {
	t.Helper()
	var states []string
	if end.Sub(r.Start) < 10*time.Minute {
		states = append(states, "new")
	}
	holders := make(map[string]bool)
	for _, buyer := range r.Buyers {
		holders[buyer] = simnettest.Read(t, w, r.Launch.Token, "balanceOf(address)", buyer).Sign() > 0
	}
	count := 0
	for _, holds := range holders {
		if holds {
			count++
		}
	}
	if end.Sub(r.Start) > 5*time.Minute && count >= 50 && r.Trick == "" {
		states = append(states, "running")
	}
	if !r.Launch.OnCurve() {
		return append(states, "graduated")
	}
	state, err := launch.Curve(t.Context(), w, r.Launch)
	if err != nil {
		t.Fatal(err)
	}
	switch sold := 1 - world.Float(state.RealBase)/world.Float(r.Launch.Shape.SaleBase); {
	case state.Completed:
		states = append(states, "completed")
	case sold >= 0.8:
		states = append(states, "near")
	}
	return states
}

// checkTruths compares what the receipts moved with what is said to have happened with launches.
func checkTruths(t *testing.T, w *world.World, truths []traffic.Truth) {
	t.Helper()
	hashes := make([]string, len(truths))
	for i, truth := range truths {
		hashes[i] = truth.TxHash
	}
	receipts, err := w.Node.Receipts(t.Context(), hashes)
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[traffic.Kind]int)
	for i, truth := range truths {
		if truth.Venue == "" {
			continue
		}
		seen[truth.Kind]++
		if !receipts[i].Succeeded() {
			t.Errorf("reverted: %+v", truth)
			continue
		}
		simnettest.CheckTruth(t, w, truth, receipts[i])
		if truth.Kind == desk.CurveBuy && moved(truth.TokenOut, truth.Trader, receipts[i]).Sign() <= 0 {
			t.Errorf("the buyer got nothing: %+v", truth)
		}
		if truth.Kind == desk.CurveSell && new(big.Int).Neg(moved(truth.TokenIn, truth.Trader, receipts[i])).Cmp(truth.AmountIn) != 0 {
			t.Errorf("the seller gave something else: %+v", truth)
		}
	}
	for _, kind := range []traffic.Kind{desk.LaunchToken, desk.CurveBuy, desk.CurveSell, desk.GraduateToken, desk.PlayTrick} {
		if seen[kind] == 0 {
			t.Errorf("no %q in %v", kind, seen)
		}
	}
}

// moved is by how much a transaction changed what somebody has of a token.
func moved(token, account string, receipt anvil.Receipt) *big.Int {
	if n := simnettest.Moved(receipt, account)[token]; n != nil {
		return n
	}
	return new(big.Int)
}

// The same seed makes the same blocks.
func TestDeskIsDeterministic(t *testing.T) {
	t.Parallel()
	var heads []string
	for range 2 {
		w, _, _, _ := deskHistory(t, 56, 90)
		latest, err := w.Node.Latest(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		heads = append(heads, latest.Hash)
	}
	if heads[0] != heads[1] {
		t.Errorf("head %s, then %s", heads[0], heads[1])
	}
}

// Launches go from their first block to a pool in minutes, also when reorgs take some of it back.
func TestDeskGoesOnAfterReorgs(t *testing.T) {
	t.Parallel()
	w := deskWorld(t, 8453, 52, venues.BoardwalkCurve, venues.PonsV2, venues.ClankerV3)
	launched := 0
	d := desk.New(w, desk.Options{Seed: 52, Every: 30 * time.Second, OnLaunch: func(*launch.Launch) { launched++ }})
	latest, err := w.Node.Latest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	at := latest.Timestamp
	for block := 1; block <= 150; block++ {
		at = at.Add(5 * time.Second)
		if _, err := d.Step(t.Context(), at); err != nil {
			t.Fatal(err)
		}
		if err := w.Node.MineAt(t.Context(), at); err != nil {
			t.Fatal(err)
		}
		if block%20 == 0 {
			if err := w.Node.Rollback(t.Context(), 2); err != nil {
				t.Fatal(err)
			}
		}
		if block == 110 { // takes launches and graduations back
			if err := w.Node.Reorg(t.Context(), 25); err != nil {
				t.Fatal(err)
			}
		}
	}
	graduated := 0
	for _, l := range d.Launches() {
		if l.Curve != "" {
			if _, err := launch.Curve(t.Context(), w, l); err != nil {
				t.Errorf("the desk keeps a launch that is gone: %v", err)
			}
		}
		if l.Venue.HasCurve() && !l.OnCurve() {
			graduated++
			if state := simnettest.PoolNow(t, w, l.Pool); state.Empty() {
				t.Errorf("%s: its pool is empty: %+v", l.Symbol, l.Pool)
			}
		}
	}
	if launched < 15 || graduated == 0 {
		t.Errorf("%d launched, %d of them graduated, in 12 minutes", launched, graduated)
	}
}

// A live world goes on with launches.
func TestDeskWhileLive(t *testing.T) {
	t.Parallel()
	w := deskWorld(t, 56, 53, venues.BoardwalkCurve, venues.Flap)
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	protocols := make(map[string]bool)
	var traded bool
	err := history.Live(ctx, w, traffic.NewTrader(w, 53), history.LiveOptions{
		BlockTime: time.Second, TxPerBlock: 1, Seed: 53,
		Desk: desk.New(w, desk.Options{Seed: 53, Every: time.Second, OnLaunch: func(l *launch.Launch) { protocols[l.Venue.ID] = true }}),
		OnBlock: func(truths []traffic.Truth) {
			for _, truth := range truths {
				traded = traded || truth.Kind == desk.CurveBuy
			}
			if traded && len(protocols) == 2 {
				stop()
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if !traded || len(protocols) != 2 {
		t.Errorf("launched on %v, traded %t", protocols, traded)
	}
}
