package indexer

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

// headTime is for how long the head is asked for beside the loop.
const headTime = 30 * time.Second

// silentBlocks is for how many block times no node may answer before the chain counts as silent.
const silentBlocks = 3

// heard keeps the last announcement of the nodes, and its time.
type heard struct {
	mu     sync.Mutex
	head   store.HeadStatus
	readAt time.Time
	// toldAt is when the database was told last.
	toldAt time.Time
}

// status gives the last announcement of the nodes.
func (h *heard) status() store.HeadStatus {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.head
}

func (h *heard) age(now time.Time) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return now.Sub(h.readAt)
}

// headPace is the time between two reads of the head that nobody asked for: a block's, and at least a second, so that a fast chain
// costs no more calls and writes than a slow one.
func (ix *Indexer) headPace() time.Duration {
	return min(max(time.Duration(ix.cfg.BlockTime), time.Second), longestWait)
}

// silence is for how long no node may answer before the chain counts as silent.
func (ix *Indexer) silence() time.Duration {
	return silentBlocks * max(time.Duration(ix.cfg.BlockTime), ix.headPace())
}

// hear takes in what a node announced. The database is told at the pace of the head, between commits, so that whoever serves it knows
// of blocks that aren't indexed yet and that a node still answers on a chain that makes none.
func (ix *Indexer) hear(ctx context.Context, l *store.Lease, head chain.Head) error {
	now, pace := ix.o.Now(), ix.headPace()
	h := &ix.heard
	h.mu.Lock()
	h.readAt = now
	h.head = store.HeadStatus{
		Number: head.Number, Time: head.Time, Safe: head.Safe, Final: head.Final, FinalTime: head.FinalTime,
		SilentFrom: now.Add(ix.silence()).Unix() + 1,
	}
	due := now.Sub(h.toldAt) >= pace
	if due {
		h.toldAt = now
	}
	status := h.head
	h.mu.Unlock()
	ix.o.Metrics.head(ix.cfg.ID, head.Number)
	ix.account.head(head.Header.Header)
	if !due {
		return nil
	}
	err := ix.store.SetHead(ctx, l, status.WrittenAt(ix.o.Now()))
	if errors.Is(err, store.ErrInterrupted) {
		ix.log.WarnContext(ctx, "head not recorded", "err", err.Error())
		return nil // the next one is
	}
	return err
}

// watchHead reads the head while the loop doesn't: a block, or the past, may take it long.
func (ix *Indexer) watchHead(ctx context.Context, l *store.Lease) {
	pace := ix.headPace()
	for wait.For(ctx, pace) {
		if ix.heard.age(ix.o.Now()) < pace {
			continue
		}
		// Source.Head answers one caller at a time, and the loop may be the next.
		within, cancel := context.WithTimeout(ctx, headTime)
		head, err := ix.nodes.Head(within)
		cancel()
		if err == nil {
			err = ix.hear(ctx, l, head)
		}
		if err != nil && ctx.Err() == nil {
			ix.log.DebugContext(ctx, "head not read beside the loop", "err", err.Error())
		}
	}
}
