package controller

import (
	"testing"
	"time"
)

// wrongClocks are what the operator's clock is ahead of that of Kubernetes' own controllers, which is the machine's here.
var wrongClocks = map[string]time.Duration{"ahead": 10 * time.Minute, "behind": -10 * time.Minute}

// TestAnUnreadyPodIsTimedByOneClock: the time from which on a Deployment says that its pod isn't ready is another machine's. An operator whose clock is
// ahead gives the pod its two minutes all the same, and one whose clock is behind gives it no more.
func TestAnUnreadyPodIsTimedByOneClock(t *testing.T) {
	for name, wrong := range wrongClocks {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.clock.advance(wrong)
			w.run()
			w.indexers.says("base")
			c := w.chain("base", 8453)
			w.become(c, "Ready True Ready")
			w.unready(c)
			w.patch(c, `{"spec":{"order":7}}`) // somebody looks
			w.become(c, "Available False IndexerStarting")
			w.clock.advance(startPatience)
			w.patch(c, `{"spec":{"order":8}}`)
			w.become(c, "Available False IndexerUnavailable", "Ready False IndexerUnavailable")
		})
	}
}

// TestAPodThatStayedUnreadyIsSoForTheNextOperator: one that takes over hasn't seen for how long, and says no other thing for two minutes because of that.
func TestAPodThatStayedUnreadyIsSoForTheNextOperator(t *testing.T) {
	for name, wrong := range wrongClocks {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			first := w.run()
			w.indexers.says("base")
			c := w.chain("base", 8453)
			w.become(c, "Ready True Ready")
			w.unready(c)
			w.clock.advance(startPatience)
			w.patch(c, `{"spec":{"order":7}}`)
			w.become(c, "Available False IndexerUnavailable")
			if err := first.stop(); err != nil {
				t.Fatal(err)
			}
			w.clock.advance(wrong)
			next := w.run()
			w.patch(c, `{"spec":{"order":8}}`)
			w.become(c, "Available False IndexerUnavailable")
			w.indexers.rounds(t, "base", 5)
			w.become(c, "Available False IndexerUnavailable")
			if n := next.to("/events"); n != 0 {
				t.Errorf("it told %d Events; want none, as nothing has changed", n)
			}
			if err := w.get(c); err != nil || c.Status.ObservedGeneration != c.Generation {
				t.Errorf("%v: it has seen generation %d of %d", err, c.Status.ObservedGeneration, c.Generation)
			}
		})
	}
}
