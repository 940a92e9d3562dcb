package indexer

import (
	"context"
	"time"
)

// awaitHead waits for the next block: until a node announces it, or for a block's time, at most a second. While announcements come, the clock is only there
// to notice when they stop. If the chain makes blocks at regular times, several a second, awaitHead waits until the next block should be there.
func (ix *Indexer) awaitHead(ctx context.Context, heads <-chan struct{}) bool {
	block := time.Duration(ix.cfg.BlockTime)
	pause := max(min(block, time.Second), shortestWait)
	switch {
	case ix.hasRhythm():
		pause = ix.rhythm.pause(ix.o.Now(), block)
	case ix.o.Now().Sub(ix.announced) < 4*block+longestWait:
		pause = min(2*block+time.Second, longestWait)
	}
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-heads:
		ix.announced = ix.o.Now()
	case <-t.C:
	}
	return true
}

// hasRhythm reports whether the time of the next block can be foreseen.
func (ix *Indexer) hasRhythm() bool {
	return ix.nodes.HasRhythm() && ix.successor == nil && ix.short == 0 && time.Duration(ix.cfg.BlockTime) < time.Second
}

// rhythm keeps when blocks come, so that a look for the head meets a block soon after it is there.
type rhythm struct {
	newest uint64
	// met is when the look began that met the newest block, and looked when the last look did.
	met, looked time.Time
	// atOnce is how many blocks in a row were there at the first look for them: when they came isn't known then, and from the second one on the next look comes earlier.
	atOnce int
}

// A block may come a little early or late: looks for it begin earlyPart of a block's time before it should be there, are repeated after as long, and end when it is
// lateParts late. Then its slot has none, and the next slot's is looked for. After tiredBlocks without one the chain may stand still.
const (
	earlyPart, lateParts = 12, 4
	tiredBlocks          = 10
	// The time before a block is doubled at most earliest times, so that it becomes a third of a block's time.
	earliest = 2
)

// see takes in what a look met that began at a time. A lower head, of a node that is behind or after a reorg, is no new block.
func (r *rhythm) see(began time.Time, newest uint64) {
	before := r.looked
	r.looked = began
	if newest <= r.newest {
		return
	}
	if r.atOnce++; before != r.met {
		r.atOnce = 0
	}
	r.newest, r.met = newest, began
}

// pause is how long to wait until the next look: a block's time at most. It counts from the last look, not from now: where indexing a
// block took long, the next look may be due already.
func (r *rhythm) pause(now time.Time, block time.Duration) time.Duration {
	part := block / earlyPart
	early := part << min(max(r.atOnce-1, 0), earliest)
	next, since := r.looked.Add(block), r.looked.Sub(r.met)
	if since >= 0 && since < tiredBlocks*block {
		slots := int64((since + early) / block) // that begin or have begun since then
		next = r.looked.Add(part)
		if slots == 0 || since >= time.Duration(slots)*block+lateParts*part {
			next = r.met.Add(time.Duration(slots+1)*block - early)
		}
	}
	return min(max(next.Sub(now), 0), block)
}
