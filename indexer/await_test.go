package indexer

import (
	"context"
	"iter"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// slow is a chain whose node takes time for each look and each block, and counts looks.
type slow struct {
	*gapped

	look, read time.Duration
	looks      atomic.Int64
}

func (s *slow) Head(ctx context.Context) (chain.Head, error) {
	s.looks.Add(1)
	time.Sleep(s.look)
	return s.gapped.Head(ctx)
}

func (s *slow) Blocks(ctx context.Context, headers []chain.Header) iter.Seq2[chain.BlockRead, error] {
	time.Sleep(s.read)
	return s.gapped.Blocks(ctx, headers)
}

// TestLooksFollowTheRhythm has an index follow blocks that come every 400 ms, but for one of 16, by a clock of its own: each block is indexed within a twelfth of
// that after it is there, besides what a look and reading it take, with two looks for a slot and few more, however long reading takes. Five blocks after the beginning,
// and after the chain stood still for a while, it has found the rhythm.
func TestLooksFollowTheRhythm(t *testing.T) {
	t.Parallel()
	const every, look = 400 * time.Millisecond, 5 * time.Millisecond
	// All indexes of a process share some objects, such as the one that packs former images. They are made when the first index needs them. That index must not run in
	// a bubble of synctest: an object that is made in a bubble can't be used outside it, where other tests run.
	outside, st := newGapped(7), storetest.Open(t, "sqlite")
	outside.grow(3 * gappedReorg)
	end := outside.start(t, st)
	outside.await(t, st)
	end()
	for _, read := range []time.Duration{0, 130 * time.Millisecond, 250 * time.Millisecond, 340 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			g := &slow{gapped: newGapped(7), look: look, read: read}
			g.grow(3 * gappedReorg)
			st, cfg := storetest.Open(t, "sqlite"), gappedConfig()
			cfg.BlockTime = chainconfig.Duration(every)
			end := running(t, g.indexer(t, st, cfg, g))
			defer end()
			time.Sleep(time.Minute)
			synctest.Wait()

			const (
				blocks = 160
				slots  = blocks + 10 + 30 // 10 slots have no block, and the chain stands still for 30
				stands = 90               // the block before which it does
				within = 5                // so many blocks later the rhythm is found
			)
			before, latest := g.looks.Load(), time.Duration(0)
			for n := range blocks {
				switch {
				case n == stands:
					time.Sleep(30*every + every/3)
				case n%16 == 7: // a slot without a block
					time.Sleep(every)
				}
				g.grow(1)
				began, late := time.Now(), time.Duration(0)
				for late < every {
					time.Sleep(every / 80)
					synctest.Wait()
					late += every / 80
					if s, _, err := st.Chain(t.Context(), "gapped"); err != nil {
						t.Fatal(err)
					} else if s.Last.Hash == g.head().Hash {
						break
					}
				}
				if n >= stands+within || n >= within && n < stands {
					latest = max(latest, late)
				}
				time.Sleep(time.Until(began.Add(every)))
			}
			looks := float64(g.looks.Load()-before) / slots
			t.Logf("reading takes %s: %.2f looks for a slot, indexed %s after it was there at most", read, looks, latest)
			if most := every/earlyPart + 2*look + read + every/80; latest > most || looks > 2.5 {
				t.Errorf("reading takes %s: a block was indexed %s after it was there, want %s at most; with %.2f looks for each slot, want 2.5 at most", read, latest, most, looks)
			}
		})
	}
}

// TestRhythm looks for blocks that come every 400 ms, by a clock of its own, at nodes one of which is behind: each block is met within a twelfth of that and the time of
// two looks, with about two looks.
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
		if most := 2*(block/earlyPart+took.look) + time.Millisecond; latest > most || looks > 260 {
			t.Errorf("with %+v: a block was met %s late, with %d looks for 100 blocks", took, latest, looks)
		}
	}
}

// TestRhythmWithoutBlocks: where no block comes, or the chain goes back, looks go on when each next block should be there, become seldom in the end, and no clock makes
// them seldomer than blocks are.
func TestRhythmWithoutBlocks(t *testing.T) {
	t.Parallel()
	const block = 1200 * time.Millisecond
	var r rhythm
	start := time.Unix(1000, 0)
	r.see(start, 7)
	var at []int64
	for now := start; len(at) < 70; {
		now = now.Add(r.pause(now, block))
		at = append(at, now.Sub(start).Milliseconds())
		r.see(now, 7-uint64(len(at)%3))
	}
	want := []int64{1100, 1200, 1300, 1400, 1500, 1600, 2300, 2400, 2500, 2600, 2700, 2800, 3500}
	for i := range want {
		if at[i] != want[i] {
			t.Fatalf("looks at %v, want %v", at[:len(want)], want)
		}
	}
	for i := 1; i < len(at); i++ {
		if late := at[i] - at[i-1]; at[i-1] > 12_000 && late != 1200 {
			t.Fatalf("after %d ms without a block a look comes after %d ms, want 1200", at[i-1], late)
		}
	}
	r.see(start.Add(time.Hour), 8)
	for _, back := range []time.Time{start, start.Add(2 * time.Hour)} { // of the clock
		if got := r.pause(back, block); got < 0 || got > block {
			t.Errorf("after the clock jumped the next look is %s away", got)
		}
		r.see(back, 8)
		if got := r.pause(back, block); got != block {
			t.Errorf("after a look of another clock the next is %s away, want %s", got, block)
		}
	}
}
