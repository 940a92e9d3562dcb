package contracts

import (
	"bytes"
	"log/slog"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/evm/manycalls"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
)

// TestNoEndpointIsPassedOver: where one of two endpoints takes deployless calls, the other answers alone while the first is down, and where it alone keeps
// a block's state that isn't gone. So it is where it takes none any more.
func TestNoEndpointIsPassedOver(t *testing.T) {
	t.Parallel()
	w := newPoolsWorld(t, false)
	pools := w.pools[1:3]
	for name, tt := range map[string]struct {
		refusal string
		// lacksState says that the other endpoint has the newest block's state alone; else it is down when pools are asked.
		lacksState bool
	}{"it is down": {noTo, false}, "it lacks the state": {noTo, true}, "it lacks the state, and one takes none any more": {"", true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			taker, archive := newGateway(t, w.Node, ""), newGateway(t, w.Node, tt.refusal)
			s := sourceFor(t, options{Now: time.Now, VouchTime: time.Minute}, chainconfig.Endpoint{URL: taker.URL, Weight: 1}, chainconfig.Endpoint{URL: archive.URL, Weight: 1})
			s.seen.Store(1 << 40) // no block is new
			w.states(t, s, pools)
			if taker.count()[toNone] == 0 {
				t.Fatal("the endpoint isn't asked: the test shows nothing")
			}
			if tt.lacksState {
				taker.lack(true)
			} else {
				taker.Close()
			}
			archive.refuse(noTo)
			for round := range 2 {
				for i, got := range w.states(t, s, pools) {
					if !got.Known {
						t.Errorf("pool %d isn't known in round %d", i, round)
					}
				}
			}
		})
	}
}

// TestAProbeThatFails: an endpoint isn't left aside for it, and a failure that may have another reason counts for a short while, unless it comes again.
func TestAProbeThatFails(t *testing.T) {
	t.Parallel()
	w := newPoolsWorld(t, false)
	pools := w.pools[1:2]
	for name, refusal := range map[string]string{"an internal error": unlikely, "a time-out": tookLong, "the connection ends": hangsUp, "no answer": hangs} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, now := newGateway(t, w.Node, refusal), time.Now()
			s := sourceOf(t, func() time.Time { return now }, g.URL)
			var log bytes.Buffer
			s.pool.Log = slog.New(slog.NewTextHandler(&log, nil))
			asked := func() bool {
				t.Helper()
				if got := w.states(t, s, pools); !got[0].Known {
					t.Error("the pool isn't known")
				}
				return g.count()[toNone] > 0
			}
			for round, tt := range []struct {
				after time.Duration
				want  bool
			}{{0, true}, {manycalls.AgainAfter - 1, false}, {1, true}, {manycalls.AgainAfter, false}, {manycalls.KnownFor - manycalls.AgainAfter, true}} {
				now = now.Add(tt.after)
				if round == 4 {
					g.refuse("")
				}
				if asked() != tt.want {
					t.Errorf("in round %d it is asked: %v", round, !tt.want)
				}
			}
			if log.Len() > 0 {
				t.Errorf("the endpoint was left aside: %s", &log)
			}
		})
	}
}

// TestRefusalsThatTheProbeDidntShow: whatever becomes of deployless calls where simple ones are answered, single calls follow at once, and the next question
// is asked by them alone.
func TestRefusalsThatTheProbeDidntShow(t *testing.T) {
	t.Parallel()
	w := newPoolsWorld(t, false)
	pools := w.pools[1:]
	for name, refusal := range map[string]string{
		"an internal error": unlikely, "a time-out": tookLong, "the connection ends": hangsUp, "nothing": nothing, "for want of an address": noTo,
		"as if it lacked the state": `{"code":-32000,"message":"unsupported"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, now := newGateway(t, w.Node, ""), time.Now()
			s := sourceOf(t, func() time.Time { return now }, g.URL)
			var log bytes.Buffer
			s.pool.Log = slog.New(slog.NewTextHandler(&log, nil))
			w.states(t, s, pools)
			g.count()
			w.states(t, s, pools)
			all := g.count()[toNone]
			g.refuse(refusal)
			for round := range 2 {
				known := 0
				for _, got := range w.states(t, s, pools) {
					if got.Known {
						known++
					}
				}
				n := g.count()[toNone]
				if known < 2 || (n > 0) != (round == 0) || n >= all {
					t.Errorf("in round %d %d pools are known, by %d deployless calls of %d", round, known, n, all)
				}
			}
			if log.Len() > 0 {
				t.Errorf("the endpoint was left aside: %s", &log)
			}
			now = now.Add(manycalls.KnownFor - 1)
			if w.states(t, s, pools); refusal != hangsUp && g.count()[toNone] > 0 {
				t.Error("it is asked within the hour")
			}
		})
	}
}

// TestAProbeTakesNoTimeBetweenHeads: an endpoint that lets the probe hang, for as long as its newest states may take, tells them all the same.
func TestAProbeTakesNoTimeBetweenHeads(t *testing.T) {
	t.Parallel()
	w := newPoolsWorld(t, false)
	s := sourceOf(t, time.Now, newGateway(t, w.Node, hangs).URL)
	list, err := s.Contracts().NewestPoolStates(t.Context(), w.pools[1:2])
	if err != nil || len(list) != 1 || !list[0].States[0].Known {
		t.Errorf("the newest states are %+v, %v", list, err)
	}
}
