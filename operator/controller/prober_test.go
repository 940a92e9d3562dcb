package controller

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/venue"
)

var base = types.NamespacedName{Namespace: "markets", Name: "base"}

// desk is a prober whose wakes are counted by hand.
type desk struct {
	*prober
	*clock

	t        *testing.T
	indexers *fakeIndexers
	registry *prometheus.Registry
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{t: t, clock: &clock{now: time.Unix(1_760_000_000, 0)}, indexers: newFakeIndexers(t), registry: prometheus.NewRegistry()}
	var err error
	if d.prober, err = newProber(d.registry, d.Now, time.Hour, probeTimeout); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *desk) start(maxLag time.Duration) { d.follow(base, "base", d.indexers.URL+"/base", maxLag) }

// asks makes a round and says who was woken.
func (d *desk) asks(chain, venues bool) {
	d.t.Helper()
	d.round(d.t.Context())
	if c, v := woken(d.chains), woken(d.venues); c != chain || v != venues {
		d.t.Errorf("woken: chains %t, venues %t; want %t, %t", c, v, chain, venues)
	}
}

func woken(ch <-chan event.GenericEvent) bool {
	select {
	case e := <-ch:
		return e.Object.GetName() == base.Name && e.Object.GetNamespace() == base.Namespace
	default:
		return false
	}
}

// sees is what a controller would see now.
func (d *desk) sees(maxLag time.Duration) *venue.Chain {
	c := &venue.Chain{MaxLag: maxLag}
	d.look(base, c)
	return c
}

func TestTheControllersAreWokenByNews(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	const maxLag = 2 * time.Minute
	d.asks(false, false)
	d.start(maxLag)
	d.asks(false, false) // it is silent, which means nothing yet
	d.indexers.says("base")
	d.asks(true, true)
	d.asks(false, false)
	d.start(maxLag)
	d.asks(false, false)
	d.indexers.says("base", behindBy(20*time.Second))
	d.asks(true, false)
	d.indexers.says("base", behindBy(time.Hour))
	d.asks(true, true)
	d.indexers.says("base", behindBy(time.Hour), inPhase(chainconfig.PhaseFailing, "no node answers"))
	d.asks(true, false)
	d.indexers.says("base", venueIs(func(v *chainconfig.VenueState) { v.Paused = []string{contract} }))
	d.asks(true, true)
	d.indexers.says("base", venueIs(func(v *chainconfig.VenueState) { v.Paused = []string{contract} }), inPhase(chainconfig.PhaseHalted, "disk full"))
	d.asks(true, true)
	d.indexers.says("base")
	d.asks(true, true)
	d.indexers.says("base", declares("document", chainconfig.Declaration{Checked: true, Wrong: []string{"a factory"}}))
	d.asks(true, false)
	d.asks(false, false)
	d.indexers.says("base")
	d.asks(true, false)

	d.indexers.does("base", nil)
	d.asks(false, false)
	d.advance(venue.Patience + 1)
	d.asks(true, true)
	if c := d.sees(maxLag); !c.Down() || !c.Asked {
		t.Errorf("silent for too long: %+v", c)
	}
	d.indexers.says("base")
	d.asks(true, true)
}

// What is seen between two questions doesn't change with the clock alone: nobody would be woken when it changes back.
func TestBetweenTwoQuestionsNothingChanges(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	const maxLag = time.Minute
	d.start(maxLag)
	d.indexers.says("base", behindBy(maxLag-time.Second))
	d.asks(true, true)
	d.advance(venue.Patience + time.Hour)
	if c := d.sees(maxLag); c.Behind() || c.Down() {
		t.Errorf("nobody was asked meanwhile, yet it is behind: %t, down: %t", c.Behind(), c.Down())
	}
	d.asks(false, false)
}

// Between the change of a Chain and the next question, controllers look by the new measure.
func TestAnotherMeasureWakesAgain(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.start(2 * time.Minute)
	d.indexers.says("base", behindBy(20*time.Second))
	d.asks(true, true)
	if c := d.sees(15 * time.Second); !c.Behind() {
		t.Error("20s are within 15s")
	}
	d.start(15 * time.Second)
	d.indexers.says("base", behindBy(10*time.Second))
	d.asks(true, true)
	d.asks(false, false)
}

func TestAnIndexerThatIsForgottenAndFollowedAgainStartsAnew(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.start(time.Minute)
	d.indexers.says("base")
	d.asks(true, true)
	d.advance(time.Hour)
	d.forget(base)
	d.forget(base)
	d.asks(false, false)
	if c := d.sees(time.Minute); c.State != nil || c.Asked {
		t.Errorf("forgotten, yet it is known: %+v", c)
	}
	d.indexers.does("base", nil)
	d.start(time.Minute)
	d.asks(false, false)
	if c := d.sees(time.Minute); c.State != nil || c.Asked {
		t.Errorf("it has its patience again: %+v", c)
	}
	d.indexers.says("base")
	d.asks(true, true)
}

// A controller that is too busy to be woken is woken in the next round.
func TestNoWakeIsLost(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.chains, d.venues = make(chan event.GenericEvent, 1), make(chan event.GenericEvent, 1)
	d.start(time.Minute)
	d.indexers.says("base")
	d.round(t.Context())
	d.indexers.says("base", behindBy(time.Hour))
	d.round(t.Context())
	if !woken(d.chains) || !woken(d.venues) {
		t.Fatal("nobody was woken")
	}
	d.asks(true, true)
	d.asks(false, false)
}

func TestWhatIsMeasuredIsOfThoseThatRun(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	r := &running{metrics: d.registry}
	d.start(time.Minute)
	d.round(t.Context())
	if up := r.metric(t, "boardwalk_indexer_up"); len(up) > 0 {
		t.Errorf("too early to say: %v", up)
	}
	d.indexers.says("base", behindBy(7*time.Second))
	d.round(t.Context())
	if up, lag := r.metric(t, "boardwalk_indexer_up"), r.metric(t, "boardwalk_chain_lag_seconds"); up["base"] != 1 || lag["base"] != 7 {
		t.Errorf("up %v, lag %v", up, lag)
	}
	d.indexers.does("base", nil)
	d.advance(time.Minute)
	d.round(t.Context())
	if up, lag := r.metric(t, "boardwalk_indexer_up"), r.metric(t, "boardwalk_chain_lag_seconds"); up["base"] != 0 || lag["base"] != 67 {
		t.Errorf("up %v, lag %v", up, lag)
	}
	// A Chain that was made again under its old name has another id.
	d.indexers.says("other")
	d.follow(base, "other", d.indexers.URL+"/other", time.Minute)
	d.round(t.Context())
	if up := r.metric(t, "boardwalk_indexer_up"); len(up) != 1 || up["other"] != 1 {
		t.Errorf("up %v", up)
	}
	d.forget(base)
	if up, lag := r.metric(t, "boardwalk_indexer_up"), r.metric(t, "boardwalk_chain_lag_seconds"); len(up)+len(lag) > 0 {
		t.Errorf("nobody runs: up %v, lag %v", up, lag)
	}
	if len(d.targets) > 0 {
		t.Errorf("targets %v", d.targets)
	}
	if _, err := newProber(d.registry, d.Now, time.Hour, probeTimeout); err == nil {
		t.Error("the metrics were registered twice")
	}
}

// Many that hang don't keep the others from being asked, and the end comes at once.
func TestTheProberEndsWithItsContext(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.start(time.Minute)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- d.Start(ctx) }()
	d.indexers.rounds(t, "base", 1)
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
