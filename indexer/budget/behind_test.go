package budget

import (
	"math"
	"strings"
	"testing"
	"time"
)

var unlimited = math.Inf(1)

// TestBehindTheDaysPlan measures ten minutes of a chain with a block every two seconds at 3.2 calls each: 138,240 calls a day.
func TestBehindTheDaysPlan(t *testing.T) {
	t.Parallel()
	const text = "the chain makes 43,200 blocks a day at 3.2 calls each; the endpoints allow 138,000 requests a day: 154,000 would suffice"
	usual := Measured{Seconds: 600, Whole: true, Made: 300, Indexed: 300, ForBlocks: 960, Calls: 2000}
	with := func(change func(m *Measured)) Measured {
		m := usual
		change(&m)
		return m
	}
	for name, c := range map[string]struct {
		m     Measured
		allow Allowance
		was   bool
		want  string
	}{
		"enough":                    {usual, Allowance{PerDay: 138_240, Left: 1, PerSecond: unlimited}, false, ""},
		"one too few":               {usual, Allowance{PerDay: 138_000, Left: 1, PerSecond: unlimited}, false, text},
		"any number":                {usual, Allowance{PerDay: unlimited, Left: unlimited, PerSecond: unlimited}, true, ""},
		"enough, but was behind":    {usual, Allowance{PerDay: 138_240, Left: 1, PerSecond: unlimited}, true, "as before"},
		"nearly a tenth to spare":   {usual, Allowance{PerDay: 153_599, Left: 1, PerSecond: unlimited}, true, "as before"},
		"a tenth to spare":          {usual, Allowance{PerDay: 153_600, Left: 1, PerSecond: unlimited}, true, ""},
		"what was told to suffice":  {usual, Allowance{PerDay: 154_000, Left: 1, PerSecond: unlimited}, true, ""},
		"too short a time":          {with(func(m *Measured) { m.Whole = false }), Allowance{PerDay: 138_000, Left: 1, PerSecond: unlimited}, false, ""},
		"a short time, and spent":   {with(func(m *Measured) { m.Whole = false }), Allowance{PerDay: 138_000, PerSecond: unlimited}, false, text},
		"the past is read":          {with(func(m *Measured) { m.Indexed = 451 }), Allowance{PerDay: 1, Left: 1, PerSecond: unlimited}, false, ""},
		"a little of the past":      {with(func(m *Measured) { m.Indexed = 450 }), Allowance{PerDay: 1, Left: 1, PerSecond: unlimited}, false, "the chain makes 43,200 blocks a day at 2.1 calls each"},
		"hardly a block is indexed": {with(func(m *Measured) { m.Indexed = 199 }), Allowance{PerDay: 1, Left: 1, PerSecond: unlimited}, false, ""},
		"spent, and no block since": {with(func(m *Measured) { m.Made, m.Indexed, m.ForBlocks = 0, 0, 0 }), Allowance{PerDay: 138_000, PerSecond: unlimited}, true, "as before"},
		"units": {
			with(func(m *Measured) { m.ForBlocks = 31_200 }),
			Allowance{InUnits: true, PerDay: 1_000_000, Left: 1, PerSecond: unlimited},
			false,
			"the chain makes 43,200 blocks a day at 104 compute units each; the endpoints allow 1,000,000 compute units a day: 5,000,000 would suffice",
		},
	} {
		var b Behind
		if c.was {
			b.day = need{behind: true, told: 138_240, text: "as before"}
		}
		b.Decide(&c.m, &c.allow, 2*time.Second)
		if got := b.Text(); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: it says %q, want %q", name, got, c.want)
		}
	}
}

// TestBehindTheSecondsPlan measures ten minutes of a chain with ten blocks a second, of which eight are indexed at 0.6 calls each.
func TestBehindTheSecondsPlan(t *testing.T) {
	t.Parallel()
	const text = "the chain makes 10 blocks a second at 0.6 calls each; the endpoints allow 5 requests a second: 7 would suffice"
	usual := Measured{Seconds: 600, Whole: true, Made: 6000, Indexed: 4800, ForBlocks: 2880, Calls: 2880, Lag: time.Hour, LeastLag: 31 * time.Second}
	with := func(change func(m *Measured)) Measured {
		m := usual
		change(&m)
		return m
	}
	for name, c := range map[string]struct {
		m         Measured
		perSecond float64
		was       bool
		want      string
	}{
		"falls behind":         {usual, 5, false, text},
		"any number":           {usual, unlimited, true, ""},
		"too short a time":     {with(func(m *Measured) { m.Whole = false }), 5, false, ""},
		"was near the head":    {with(func(m *Measured) { m.LeastLag = 30 * time.Second }), 5, false, ""},
		"asks for less":        {with(func(m *Measured) { m.Calls = 2099 }), 5, false, ""},
		"asks for as much":     {with(func(m *Measured) { m.Calls = 2100 }), 5, false, "the chain makes 10 blocks a second at 0.4 calls each"},
		"comes nearer":         {with(func(m *Measured) { m.Indexed = 6000 }), 5, false, ""},
		"comes nearer, told":   {with(func(m *Measured) { m.Indexed = 6000 }), 5, true, "as before"},
		"half as far, told":    {with(func(m *Measured) { m.Indexed, m.Lag, m.LeastLag = 6000, 15*time.Second, 0 }), 5, true, ""},
		"further, told":        {with(func(m *Measured) { m.Indexed, m.Lag, m.LeastLag = 6000, 15*time.Second+1, 0 }), 5, true, "as before"},
		"a slow chain's block": {with(func(m *Measured) { m.LeastLag = 2 * time.Minute }), 5, false, text},
	} {
		var b Behind
		if c.was {
			b.second = need{behind: true, told: 6, text: "as before"}
		}
		b.Decide(&c.m, &Allowance{PerDay: unlimited, Left: unlimited, PerSecond: c.perSecond}, 100*time.Millisecond)
		if got := b.Text(); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: it says %q, want %q", name, got, c.want)
		}
	}
	// Ten blocks of a chain that makes one in twelve seconds are two minutes.
	var b Behind
	usual.LeastLag = 2 * time.Minute
	b.Decide(&usual, &Allowance{PerDay: unlimited, PerSecond: 5}, 12*time.Second)
	if got := b.Text(); got != "" {
		t.Errorf("ten blocks behind it says %q", got)
	}
}

// TestANumberStays tells another number only when the need has changed by a tenth.
func TestANumberStays(t *testing.T) {
	t.Parallel()
	var b Behind
	a := Allowance{PerDay: 1000, Left: 1, PerSecond: unlimited}
	text := ""
	for i, c := range []struct {
		calls   float64
		changes bool
	}{{100, true}, {110, false}, {90, false}, {111, true}, {100, false}, {99, true}} {
		b.Decide(&Measured{Seconds: 600, Whole: true, Made: 300, Indexed: 300, ForBlocks: c.calls}, &a, time.Second)
		if got := b.Text(); got == "" || (got != text) != c.changes {
			t.Errorf("%d. at %g calls it says %q after %q", i, c.calls, got, text)
		}
		text = b.Text()
	}
}

func TestEnough(t *testing.T) {
	t.Parallel()
	for need, want := range map[float64]float64{0: 0, .1: 1, .9: 1, 1: 2, 9: 10, 90: 100, 91: 102, 900: 1000, 901: 1010, 138_240: 154_000, 1e9: 1_120_000_000} {
		if got := enough(need); math.Abs(got-want) > 1e-6*want {
			t.Errorf("for %g it takes %g, want %g", need, got, want)
		}
		if need > 0 && need > spare*enough(need)*(1+1e-9) {
			t.Errorf("%g is told to suffice for %g and doesn't", enough(need), need)
		}
	}
	for v, want := range map[float64]string{0: "0", 2.16: "2.2", 99.94: "99.9", 100: "100", 999.6: "1,000", 1234567: "1,234,567"} {
		if got := figure(v); got != want {
			t.Errorf("%g reads %s, want %s", v, got, want)
		}
	}
}
