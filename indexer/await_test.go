package indexer

import (
	"testing"
	"time"
)

// TestBeat looks for blocks that come every 400 ms, by a clock of its own: each is met within an eighth of that, with about two looks, whatever a look and the work take.
func TestBeat(t *testing.T) {
	t.Parallel()
	const block = 400 * time.Millisecond
	for _, work := range []time.Duration{0, 30 * time.Millisecond, 250 * time.Millisecond} {
		var b beat
		now, start := time.Unix(1000, 0), time.Unix(1000, 137_000_000)
		looks, met, latest := 0, uint64(0), time.Duration(0)
		for now.Before(start.Add(100 * block)) {
			looks++
			newest := uint64(max(now.Sub(start)/block, 0)) + 1
			b.see(now, newest)
			if newest > met {
				if arrived := start.Add(time.Duration(newest-1) * block); newest > 10 { // by then it has found the beat
					latest = max(latest, now.Sub(arrived))
				}
				met = newest
				now = now.Add(work)
			}
			now = now.Add(b.pause(now, block))
		}
		if latest > block/8 || looks > 230 {
			t.Errorf("with %s of work: a block was met %s late, with %d looks for 100 blocks", work, latest, looks)
		}
	}
}

// TestBeatWithoutBlocks: where no block comes, or the chain goes back, looks are half a block's time apart.
func TestBeatWithoutBlocks(t *testing.T) {
	t.Parallel()
	var b beat
	at := time.Unix(1000, 0)
	for range 10 {
		b.see(at, 7)
	}
	if got := b.pause(at, time.Second); got != time.Second/2 {
		t.Errorf("after ten looks at the same block: %s", got)
	}
	b.see(at, 5)
	if got := b.pause(at, time.Second); got != time.Second/2 {
		t.Errorf("after a reorg: %s", got)
	}
	b.see(at, 6)
	if got := b.pause(at, time.Second); got != 875*time.Millisecond {
		t.Errorf("after the next block: %s", got)
	}
}
