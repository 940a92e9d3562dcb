package social

import (
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
)

// TestSubscription follows a chain of events: from where another server was ahead of this one, past a reset, and until it is too far behind.
func TestSubscription(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_000, 0)
	h := New(Options{Now: func() time.Time { return now }})
	first := &event{to: 90}
	last := first
	add := func(to int64, isReset bool) {
		next := &event{to: to, body: []byte{byte(to)}, isReset: isReset, madeAt: now}
		last.next.Store(next)
		last = next
	}
	s := &subscription{live: &h.live, at: first, cursor: contract.LiveCursor{Trade: 100, Launch: 100, Call: 100}, skipTo: 100}
	want := func(what string, events ...byte) {
		t.Helper()
		for _, e := range events {
			if got, ok := s.Next(); !ok || len(got) != 1 || got[0] != e {
				t.Errorf("%s: %v, %v; want %d", what, got, ok, e)
			}
		}
		if got, ok := s.Next(); got != nil || !ok {
			t.Errorf("%s: then %v, %v; want nothing", what, got, ok)
		}
	}
	add(95, false)
	add(100, false)
	want("what the other server has told")
	add(105, false)
	add(110, false)
	want("what is new", 105, 110)
	add(50, true)
	add(51, false)
	want("a reset", 50, 51)
	add(52, false)
	now = now.Add(oldEvent - 1)
	want("just in time", 52)
	add(53, false)
	now = now.Add(oldEvent)
	if got, ok := s.Next(); got != nil || ok {
		t.Errorf("too late: %v, %v", got, ok)
	}
}

// TestCursors reads what it writes, and nothing else.
func TestCursors(t *testing.T) {
	t.Parallel()
	for _, n := range []int64{0, 1, 90412, mostNumber} {
		if got, ok := parseCursor(cursorOf(n)); !ok || got != n {
			t.Errorf("%d: %d, %v", n, got, ok)
		}
	}
	for _, id := range []string{"", "1-2", "1-2-3-4", "1-2-x", "-1-2-3", "1-2-9007199254740992", "1--2"} {
		if at, ok := parseEventID(id); ok {
			t.Errorf("%q: %v", id, at)
		}
	}
	if at, ok := parseEventID("1-2-3"); !ok || *at.trade != 1 || *at.launch != 2 || *at.call != 3 {
		t.Errorf("1-2-3: %+v, %v", at, ok)
	}
}
