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
	case ix.nodes.HasRhythm() && ix.successor == nil && ix.short == 0 && block < time.Second:
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

// rhythm keeps when blocks come, so that a look for the head meets a block soon after it is there.
type rhythm struct {
	newest uint64
	// met is when the look began that met the newest block, and missed how many looks met none since.
	met    time.Time
	missed int
}

// A look that comes too early is repeated after a part of a block's time. At first that is a short part: the block may be a little late. Then its slot has none, and
// after tiredLooks the chain may stand still.
const (
	shortParts, longParts = 8, 2
	soonLooks, tiredLooks = 4, 20
)

// see takes in what a look met that began at a time. A lower head, of a node that is behind or after a reorg, is no new block.
func (r *rhythm) see(began time.Time, newest uint64) {
	if newest <= r.newest {
		r.missed++
		return
	}
	r.newest, r.met, r.missed = newest, began, 0
}

// pause is how long to wait until the next look: a block's time at most.
func (r *rhythm) pause(now time.Time, block time.Duration) time.Duration {
	switch {
	case r.missed == 0:
		return min(max(r.met.Add(block-block/shortParts).Sub(now), 0), block)
	case r.missed <= soonLooks:
		return block / shortParts
	case r.missed <= tiredLooks:
		return block / longParts
	default:
		return block
	}
}
