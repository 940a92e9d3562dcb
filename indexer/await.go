package indexer

import (
	"context"
	"time"
)

// awaitHead waits for the next block: until a node announces it, or for a block's time, at most a second. While
// announcements come, the clock is only there to notice when they stop. A chain whose nodes announce nothing is looked at when its next block should be there.
func (ix *Indexer) awaitHead(ctx context.Context, heads <-chan struct{}) bool {
	block := time.Duration(ix.cfg.BlockTime)
	pause := max(min(block, time.Second), shortestWait)
	switch {
	case heads == nil && block < time.Second:
		pause = ix.beat.pause(ix.o.Now(), block)
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

// beat keeps when blocks come, so that a look for the head meets a block soon after it is there.
type beat struct {
	newest uint64
	// met is when the look began that met the newest block, and missed how many looks met none since.
	met    time.Time
	missed int
}

// A look that comes too early is repeated after a part of a block's time, at first a short one.
const (
	shortParts, longParts = 8, 2
	// soonLooks is how many looks in a row are a short part apart: a slot without a block is none of ours, and a node may be late.
	soonLooks = 4
)

// see takes in what a look met that began at a time.
func (b *beat) see(began time.Time, newest uint64) {
	if newest > b.newest || b.met.IsZero() {
		b.met, b.missed = began, 0
	} else {
		b.missed++
	}
	b.newest = newest // after a reorg it may be lower
}

// pause is how long to wait until the next look.
func (b *beat) pause(now time.Time, block time.Duration) time.Duration {
	switch {
	case b.missed == 0:
		return max(b.met.Add(block-block/shortParts).Sub(now), 0)
	case b.missed <= soonLooks:
		return block / shortParts
	default:
		return block / longParts
	}
}
