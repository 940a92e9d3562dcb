package judge

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// naively finds the same by looking at all closings for each.
func naively(all []closing, block uint64, time int64) (out []closing) {
	for i, start := range all {
		end := func(b uint64, t int64) bool { return b >= start.block+holdBlocks && t >= start.time+holdSeconds }
		if !end(block, time) {
			continue
		}
		for _, c := range all[i:] {
			if !end(c.block, c.time) {
				start.usd = min(start.usd, c.usd)
			}
		}
		out = append(out, start)
	}
	return out
}

func TestHeldPrices(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var all, got []closing
		var h held
		block, time := uint64(1), int64(100)
		collect := func(c closing) { got = append(got, c) }
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			block += uint64(rapid.SampledFrom([]int{1, 1, 1, 4, 10}).Draw(t, "blocks"))
			time += int64(rapid.SampledFrom([]int{0, 0, 1, 2, 12, 20}).Draw(t, "seconds"))
			if rapid.Bool().Draw(t, "closes") {
				c := closing{block, time, float64(rapid.IntRange(1, 6).Draw(t, "usd"))}
				h.add(c, collect)
				all = append(all, c)
			} else {
				h.advance(block, time, collect)
			}
		}
		if want := naively(all, block, time); !slices.Equal(got, want) {
			t.Fatalf("of %v, at block %d and second %d, %v were held, want %v", all, block, time, got, want)
		}
	})
}

// TestHeldAtTheBounds: nine blocks, or nineteen seconds, are too short.
func TestHeldAtTheBounds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		block uint64
		time  int64
		held  bool
	}{{10, 20, true}, {9, 500, false}, {900, 19, false}} {
		var h held
		found := 0
		h.add(closing{0, 0, 2}, func(closing) { found++ })
		h.add(closing{c.block, c.time, 1}, func(s closing) {
			if found++; s.usd != 2 {
				t.Errorf("%v was held", s)
			}
		})
		if (found == 1) != c.held {
			t.Errorf("a price that falls %d blocks and %d s later was held: %v", c.block, c.time, found == 1)
		}
	}
}
