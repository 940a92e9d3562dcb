package profiles

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestEveryProfileSaysItsSources(t *testing.T) {
	for name, p := range All() {
		if len(p.Sources) == 0 || p.Client == "" {
			t.Errorf("%s has no sources, or no client", name)
		}
		for _, s := range p.Sources {
			if s.Behaviour == "" || s.From == "" || !slices.Contains([]string{"H", "M", "L"}, s.Sure) {
				t.Errorf("%s: %+v", name, s)
			}
		}
	}
	if _, err := Named("nobody"); err == nil || !strings.Contains(err.Error(), "quicknode") {
		t.Errorf("a profile that isn't there: %v", err)
	}
}

func TestHolesComeAgain(t *testing.T) {
	once, again := Holes{From: 11, Slots: 3}, Holes{From: 11, Slots: 3, Every: 5}
	for slot, want := range map[uint64][2]uint64{ // the first slot of the hole of once and of again, 0 for none
		0: {}, 1: {}, 10: {}, 11: {11, 11}, 13: {11, 11}, 14: {}, 15: {}, 16: {0, 16}, 18: {0, 16}, 19: {}, 1013: {0, 1011},
	} {
		for i, h := range []Holes{once, again} {
			if first, last, ok := h.Around(slot); ok != (want[i] > 0) || ok && (first != want[i] || last != want[i]+2) {
				t.Errorf("slot %d, %+v: %d to %d, %v", slot, h, first, last, ok)
			}
		}
	}
	if first, last, ok := (&Holes{}).Around(0); ok {
		t.Errorf("no holes, and one from slot %d to %d", first, last)
	}
}

func TestLatencyHasAMedianAndATail(t *testing.T) {
	l, rng := far, rand.New(rand.NewPCG(1, 1))
	drawn := make([]time.Duration, 10_001)
	for i := range drawn {
		drawn[i] = l.Draw(rng)
	}
	slices.Sort(drawn)
	median, tail := drawn[5000], drawn[9900]
	if drawn[0] < l.Least || median < l.Median*9/10 || median > l.Median*11/10 || tail < l.Tail*8/10 || tail > l.Tail*12/10 {
		t.Errorf("the least is %s, the median %s, one in a hundred %s, wanted %+v", drawn[0], median, tail, l)
	}
	if d := (Latency{}).Draw(rng); d != 0 {
		t.Errorf("no latency is %s", d)
	}
}
