package candle_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/internal/candle"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

func TestCoverIsWholeAndShort(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.Int64Range(1, 100_000).Draw(t, "from") * 60
		to := from + rapid.Int64Range(0, 2000).Draw(t, "minutes")*60
		at, candles := from, int64(0)
		for _, s := range candle.Cover(from, to, candle.Day) {
			if s.From != at || s.To <= s.From || s.From%int64(s.Interval) != 0 || (s.To-s.From)%int64(s.Interval) != 0 {
				t.Fatalf("the span %+v after %d", s, at)
			}
			at = s.To
			candles += (s.To - s.From) / int64(s.Interval)
		}
		if at != to {
			t.Fatalf("covered up to %d of %d", at, to)
		}
		// On either side of the widest candles at most one less of each narrower width than makes the next.
		if days := (to - from) / 86400; candles > days+2*(4+11+23) {
			t.Fatalf("%d candles for [%d, %d)", candles, from, to)
		}
	})
	if got := candle.Cover(0, 2*86400, candle.Hour); len(got) != 1 || got[0].Interval != market.StoredIntervals[2] {
		t.Errorf("bounded by an hour: %+v", got)
	}
}
