package indexer

import (
	"testing"
	"time"
)

// TestRhythm looks for blocks that come every 400 ms, by a clock of its own: each is met within an eighth of that and a look's time, with about two looks, however
// long a look and the work on a block take.
func TestRhythm(t *testing.T) {
	t.Parallel()
	const block = 400 * time.Millisecond
	for _, took := range []struct{ look, work time.Duration }{{}, {10 * time.Millisecond, 30 * time.Millisecond}, {60 * time.Millisecond, 250 * time.Millisecond}} {
		var r rhythm
		now, start := time.Unix(1000, 0), time.Unix(1000, 137_000_000)
		looks, met, latest := 0, uint64(0), time.Duration(0)
		for now.Before(start.Add(100 * block)) {
			looks++
			newest := uint64(max(now.Sub(start)/block, 0)) + 1
			told := newest
			if looks%7 == 0 && told > 2 {
				told -= 2 // by a node that is behind
			}
			r.see(now, told)
			if told > met {
				if arrived := start.Add(time.Duration(told-1) * block); told > 10 { // by then it has found the rhythm
					latest = max(latest, now.Sub(arrived))
				}
				met = told
				now = now.Add(took.work)
			}
			now = now.Add(took.look + r.pause(now.Add(took.look), block))
		}
		// A look at a node that is behind costs one more.
		if most := 2*(block/shortParts+took.look) + time.Millisecond; latest > most || looks > 260 {
			t.Errorf("with %+v: a block was met %s late, with %d looks for 100 blocks", took, latest, looks)
		}
	}
}

// TestRhythmWithoutBlocks: where no block comes, or the chain goes back, looks become seldom, and no clock makes them seldomer than blocks are.
func TestRhythmWithoutBlocks(t *testing.T) {
	t.Parallel()
	var r rhythm
	at, want := time.Unix(1000, 0), map[int]time.Duration{1: 875 * time.Millisecond, 2: time.Second / 8, 5: time.Second / 8, 6: time.Second / 2, 21: time.Second / 2, 22: time.Second}
	for n := 1; n <= 22; n++ {
		if n > 1 && n%3 == 0 {
			r.see(at, 5)
		} else {
			r.see(at, 7)
		}
		if pause, ok := want[n]; ok && r.pause(at, time.Second) != pause {
			t.Errorf("after %d looks the next is %s away, want %s", n, r.pause(at, time.Second), pause)
		}
	}
	r.see(at, 8)
	if got := r.pause(at.Add(-time.Hour), time.Second); got != time.Second {
		t.Errorf("after the clock went back the next look is %s away", got)
	}
}
