package market_test

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

func drawSigned(t *rapid.T, label string, bytesAtMost int) market.SignedAmount {
	var s market.SignedAmount
	s.Abs.SetBytes(rapid.SliceOfN(rapid.Byte(), 0, bytesAtMost).Draw(t, label))
	s.Neg = rapid.Bool().Draw(t, label+" negative") && !s.Abs.IsZero()
	return s
}

type tickRange struct {
	lower, upper int32
	delta        market.SignedAmount
}

// drawRange draws from few ticks, so that ranges touch and overlap, up to the ends of what V3 knows.
func drawRange(t *rapid.T) tickRange {
	ticks := []int32{-887272, -120, -60, -1, 0, 1, 60, 120, 180, 887272}
	lower := rapid.IntRange(0, len(ticks)-2).Draw(t, "lower")
	upper := rapid.IntRange(lower+1, len(ticks)-1).Draw(t, "upper")
	return tickRange{ticks[lower], ticks[upper], drawSigned(t, "delta", 14)}
}

func drawTickMap(t *rapid.T) market.TickMap {
	var m market.TickMap
	for range rapid.IntRange(0, 8).Draw(t, "ranges") {
		r := drawRange(t)
		m = m.AddRange(r.lower, r.upper, r.delta)
	}
	return m
}

func checkTickMap(t *rapid.T, m market.TickMap) {
	t.Helper()
	var sum market.SignedAmount
	for i, n := range m {
		if n.Net.IsZero() {
			t.Fatalf("tick %d is initialised with nothing", n.Tick)
		}
		if i > 0 && m[i-1].Tick >= n.Tick {
			t.Fatalf("tick %d comes after %d", n.Tick, m[i-1].Tick)
		}
		sum = sum.Add(n.Net)
	}
	if !sum.IsZero() {
		t.Fatalf("the net liquidity of all ticks is %+v, want nought", sum)
	}
}

func TestTickMapUndoes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		before := drawTickMap(t)
		checkTickMap(t, before)
		kept := slices.Clone(before)
		r := drawRange(t)
		during := before.AddRange(r.lower, r.upper, r.delta)
		checkTickMap(t, during)
		after := during.AddRange(r.lower, r.upper, r.delta.Negate())
		if !slices.Equal(after, before) {
			t.Fatalf("adding %+v and taking it away turns %+v into %+v", r, before, after)
		}
		if !slices.Equal(before, kept) {
			t.Fatal("a map changed in place")
		}
	})
}

func TestTickMapHasNoOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ranges := rapid.SliceOfN(rapid.Custom(drawRange), 0, 8).Draw(t, "ranges")
		var m, back market.TickMap
		for i := range ranges {
			m = m.AddRange(ranges[i].lower, ranges[i].upper, ranges[i].delta)
			r := ranges[len(ranges)-1-i]
			back = back.AddRange(r.lower, r.upper, r.delta)
		}
		if !slices.Equal(m, back) {
			t.Fatalf("%+v, the other way round %+v", m, back)
		}
		// The active liquidity at a tick is the sum of the nets up to it, and that of the ranges around it.
		for _, at := range []int32{-887272, -61, -60, 0, 59, 60, 887271} {
			var byNets, byRanges market.SignedAmount
			for _, n := range m {
				if n.Tick <= at {
					byNets = byNets.Add(n.Net)
				}
			}
			for _, r := range ranges {
				if r.lower <= at && at < r.upper {
					byRanges = byRanges.Add(r.delta)
				}
			}
			if byNets != byRanges {
				t.Fatalf("at tick %d: %+v by the nets, %+v by the ranges", at, byNets, byRanges)
			}
		}
	})
}

func TestTickMapMarshal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := drawTickMap(t)
		b := m.Marshal()
		back, err := market.UnmarshalTickMap(b)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(m, back) {
			t.Fatalf("%+v came back as %+v", m, back)
		}
		if !bytes.Equal(back.Marshal(), b) {
			t.Fatal("the bytes differ the second time")
		}
		if len(b) > 0 {
			cut := rapid.IntRange(1, min(20, len(b))).Draw(t, "cut")
			if _, err := market.UnmarshalTickMap(b[:len(b)-cut]); err == nil {
				t.Fatalf("a map cut by %d bytes passed", cut)
			}
		}
	})
}

// The largest liquidity of a V3 pool has 128 bits.
func TestTickMapMarshalLargest(t *testing.T) {
	t.Parallel()
	var largest market.Amount
	largest.SetBytes(bytes.Repeat([]byte{0xff}, 16))
	m := market.TickMap(nil).AddRange(-887272, 887272, market.SignedAmount{Abs: largest})
	back, err := market.UnmarshalTickMap(m.Marshal())
	if err != nil || !slices.Equal(m, back) {
		t.Errorf("%+v came back as %+v, error %v", m, back, err)
	}
}

func FuzzUnmarshalTickMap(f *testing.F) {
	f.Add([]byte{})
	f.Add(make([]byte, 21))
	f.Add(bytes.Repeat([]byte{0xff}, 42))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := market.UnmarshalTickMap(b)
		if (err == nil) != (len(b)%21 == 0) {
			t.Fatalf("%d bytes: error %v", len(b), err)
		}
		if err == nil && len(m.Marshal()) != len(b) {
			t.Fatalf("%d bytes became %d", len(b), len(m.Marshal()))
		}
	})
}

// BenchmarkChangeRange changes a map of 50,000 ticks, as a stranger can make it.
func BenchmarkChangeRange(b *testing.B) {
	one := market.SignedAmount{}
	one.Abs.SetUint64(1)
	var m market.TickMap
	for i := range int32(25_000) {
		m.ChangeRange(2*i, 2*i+100_001, one)
	}
	for b.Loop() {
		m.ChangeRange(25_001, 75_003, one)
		m.ChangeRange(25_001, 75_003, one.Negate())
	}
}
