package rpc

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestPace holds what a pace allows against what was declared and refused.
func TestPace(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	p := newPace(0)
	if got := p.atOnce(); got != 0 {
		t.Errorf("an endpoint that refused nothing has %d calls at once, want any number", got)
	}
	wait := func(n int) {
		t.Helper()
		if err := p.wait(t.Context(), n, now); err != nil {
			t.Fatal(err)
		}
	}
	refuse := func(want float64) {
		t.Helper()
		if p.refused(now); p.limit() != want {
			t.Errorf("after a refusal it has %g calls a second, want %g", p.limit(), want)
		}
	}
	wait(60)
	wait(20)
	refuse(40) // half of the 80 that were refused
	refuse(40) // the same moment's
	now = now.Add(refusalPause)
	refuse(20)
	now = now.Add(hurryPause - 1)
	wait(1)
	if p.limit() != 20 {
		t.Errorf("%g calls a second, want 20 still", p.limit())
	}
	now = now.Add(1)
	wait(1)
	if p.limit() != 25 || p.atOnce() != 25 {
		t.Errorf("%g calls a second, %d at once, want 25", p.limit(), p.atOnce())
	}
	now = now.Add(-time.Hour) // a clock that is set back holds nothing up
	wait(1)
	if p.limit() != 31.25 {
		t.Errorf("%g calls a second, want 31.25", p.limit())
	}
	for range 10 {
		now = now.Add(refusalPause)
		p.refused(now)
	}
	if p.limit() != slowest || p.atOnce() != 1 {
		t.Errorf("%g calls a second, %d at once, want %d", p.limit(), p.atOnce(), slowest)
	}

	p = newPace(50)
	if p.limit() != 50 || p.atOnce() != 50 {
		t.Errorf("declared are 50, it has %g", p.limit())
	}
	refuse(25)
	for range 100 {
		now = now.Add(hurryPause)
		wait(1)
	}
	if p.limit() != 50 {
		t.Errorf("declared are 50, it came to %g", p.limit())
	}

	p = newPace(0)
	wait(fewestPaced - 1)
	refuse(0)
	wait(1)
	refuse(fewestPaced / 2)

	p = newPace(0)
	wait(1900)
	refuse(950)
	now = now.Add(hurryPause)
	wait(1)
	if p.atOnce() != 0 {
		t.Errorf("it came to %d calls at once, want any number", p.atOnce())
	}
}

func TestPauseOf(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	for text, want := range map[string]time.Duration{
		"0": 0, "7": 7 * time.Second, "61": time.Minute, "99999999999": time.Second, "-1": time.Second, "soon": time.Second,
		now.Add(9 * time.Second).UTC().Format(http.TimeFormat): 9 * time.Second,
		now.Add(-time.Hour).UTC().Format(http.TimeFormat):      0,
		now.Add(time.Hour).UTC().Format(http.TimeFormat):       time.Minute,
	} {
		if got := pauseOf(text, now); got != want {
			t.Errorf("Retry-After: %s is %s, want %s", text, got, want)
		}
	}
}

// TestFewerCalls tells how many calls a node takes at once from what it says.
func TestFewerCalls(t *testing.T) {
	t.Parallel()
	e := &Endpoint{rateRefused: func(err error) bool { return strings.Contains(err.Error(), "rate limit") }}
	for text, want := range map[string]int{
		"maximum 10 calls in 1 batch": 10, "batch too large": 50, "batch of 100 calls exceeds 20": 20, "batch limit 1000 exceeded": 50,
		"batch limit exceeded": 50, "Batch size is too large: 100 > 99": 99,
	} {
		err := BatchError{NodeError: &NodeError{Code: -32014, Message: text}}
		if !e.tooManyCalls(err) {
			t.Errorf("%q isn't taken for a refusal of the batch", text)
		}
		if got := fewerCalls(err, 100); got != want {
			t.Errorf("%q: %d calls, want %d", text, got, want)
		}
	}
	for _, err := range []error{&NodeError{Message: "maximum 10 calls in 1 batch"}, BatchError{NodeError: &NodeError{Code: 429, Message: "batch rate limit"}}, ErrGarbage} {
		if e.tooManyCalls(err) {
			t.Errorf("%v is taken for a refusal of the batch", err)
		}
	}
}
