package budget

import (
	"slices"
	"testing"
	"time"
)

// day is a chain at 01:00 UTC: a block every two seconds, with two calls each, 0.5 calls a second for trust checks, at one endpoint.
type day struct {
	Reading

	w *Watch
}

func newDay(perDay int64) *day {
	d := &day{w: NewWatch(10*time.Minute, 2*time.Second)}
	d.At = time.Date(2026, 1, 1, 1, 0, 0, 0, time.UTC)
	d.Head, d.Indexed = 1000, 1000
	d.Endpoints = []Endpoint{{CallsPerDay: perDay}}
	return d
}

// goes lets some time go by, in steps of ten seconds.
func (d *day) goes(by time.Duration) {
	for range int(by / (10 * time.Second)) {
		blocks, trust := int64(10), int64(5)
		if d.w.GivesUp(Trust) {
			trust = 0
		}
		d.At = d.At.Add(10 * time.Second)
		if d.At.Unix()%86400 == 0 {
			d.Endpoints[0].Calls = 0
		}
		d.Head, d.Indexed = d.Head+5, d.Indexed+5
		d.Usage[Blocks].Calls += blocks
		d.Usage[Trust].Calls += trust
		d.Endpoints[0].Calls += blocks + trust
		r := d.Reading
		r.Endpoints = slices.Clone(r.Endpoints)
		d.w.Take(r)
	}
}

// TestADayThatRunsOut has calls for all blocks of a day and half of the trust checks: those are given up soon, and taken up again once what is
// left suffices for them until midnight.
func TestADayThatRunsOut(t *testing.T) {
	t.Parallel()
	d := newDay(82_800 + 20_000)
	d.goes(5 * time.Minute)
	if up := d.w.GivenUp(); up != nil {
		t.Errorf("after half of the time that it looks back it gives up %v", up)
	}
	d.goes(10 * time.Minute)
	var changes []string
	for given := false; d.At.Day() == 1; d.goes(time.Minute) {
		if up := d.w.GivenUp(); len(up) > 0 && !slices.Equal(up, []Purpose{Reindexing, Trust}) {
			t.Fatalf("at %s it gives up %v", d.At, up)
		}
		if now := d.w.GivesUp(Trust); now != given {
			given = now
			changes = append(changes, d.At.Format("15:04"))
		}
		if e := d.Endpoints[0]; e.Calls > e.CallsPerDay {
			t.Fatalf("%d calls were asked for", e.Calls)
		}
	}
	if want := []string{"01:15", "14:27"}; !slices.Equal(changes, want) {
		t.Errorf("it gives up trust checks and takes them up again at %v, want %v", changes, want)
	}
	if text := d.w.Behind(); text != "" || d.w.NeededPerDay() != 86_400 {
		t.Errorf("it needs %g and says %q", d.w.NeededPerDay(), text)
	}
}

// TestADayWithoutEnoughForBlocks is told before it is spent, stays told over midnight, and ends with what was told to suffice.
func TestADayWithoutEnoughForBlocks(t *testing.T) {
	t.Parallel()
	const text = "the chain makes 43,200 blocks a day at 2 calls each; the endpoints allow 80,000 requests a day: 96,000 would suffice"
	d := newDay(80_000)
	d.goes(9 * time.Minute)
	if got := d.w.Behind(); got != "" {
		t.Errorf("too early it says %q", got)
	}
	for range 24 {
		d.goes(time.Hour)
		if got := d.w.Behind(); got != text {
			t.Errorf("at %s it says %q", d.At, got)
		}
	}
	d.Endpoints[0].CallsPerDay = 96_000
	d.goes(10 * time.Second)
	if got := d.w.Behind(); got != "" {
		t.Errorf("with enough it says %q", got)
	}
}

// TestReadingsAreBounded takes readings much more often than they are kept, and with a clock that goes back.
func TestReadingsAreBounded(t *testing.T) {
	t.Parallel()
	w := NewWatch(time.Minute, time.Second)
	at := time.Unix(1_700_000_000, 0)
	for i := range 10_000 {
		w.Take(Reading{At: at.Add(time.Duration(i) * 100 * time.Millisecond)})
	}
	if n := len(w.readings); n > readingsKept+1 {
		t.Errorf("it keeps %d readings", n)
	}
	w.Take(Reading{At: at})
	if n := len(w.readings); n != 1 {
		t.Errorf("after the clock was set back it keeps %d readings", n)
	}
}

// TestASecondWithoutEnoughForBlocks follows a chain with ten blocks a second at 0.6 calls each through an endpoint that allows five calls a second.
// It is told when it has been behind for long, and the number that is told to suffice ends it, once the index is near the head.
func TestASecondWithoutEnoughForBlocks(t *testing.T) {
	t.Parallel()
	const each, blockTime = 0.6, 100 * time.Millisecond
	w := NewWatch(10*time.Minute, blockTime)
	r := Reading{At: time.Date(2026, 1, 1, 1, 0, 0, 0, time.UTC)}
	perSecond, indexed, head := 5.0, 1000.0, 1000.0
	goes := func(by time.Duration) {
		for range int(by / (10 * time.Second)) {
			r.At, head = r.At.Add(10*time.Second), head+100
			reads := min(head-indexed, 10*perSecond/each)
			indexed += reads
			r.Usage[Blocks].Calls += int64(reads * each)
			r.Head, r.Indexed, r.Lag = uint64(head), uint64(indexed), time.Duration(head-indexed)*blockTime
			r.Endpoints = []Endpoint{{PerSecond: perSecond}}
			w.Take(r)
		}
	}
	// Every ten seconds 16 blocks more are missing, so that after 190 seconds it is 30 seconds behind.
	goes(190*time.Second + 9*time.Minute)
	if got := w.Behind(); got != "" {
		t.Errorf("too early it says %q", got)
	}
	goes(2 * time.Minute)
	const text = "the chain makes 10 blocks a second at 0.6 calls each; the endpoints allow 5 requests a second: 7 would suffice"
	if got := w.Behind(); got != text {
		t.Errorf("it says %q, want %q", got, text)
	}
	perSecond = 7
	goes(10 * time.Second)
	if got := w.Behind(); got != text || r.Lag < 15*time.Second {
		t.Errorf("%s behind it says %q", r.Lag, got)
	}
	goes(30 * time.Minute)
	if got := w.Behind(); got != "" || r.Lag > 0 {
		t.Errorf("%s behind it says %q", r.Lag, got)
	}
}
