package indexer

import (
	"context"
	"slices"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/holders"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

const (
	// recountPause is the least time between two recounts that a chain begins. One runs at a time.
	recountPause = 10 * time.Minute
	// A token is counted anew again at the earliest after firstRecountPauses of them, after four times as long each further time, and after
	// mostRecountPauses of them in the end: after an hour, and after 30 days.
	firstRecountPauses, mostRecountPauses = 6, 30 * 24 * 6
)

// nextRecount is when a token that is counted anew for so many times may be the next time.
func (ix *Indexer) nextRecount(times int32) time.Time {
	pauses := firstRecountPauses
	for range times - 1 {
		pauses = min(4*pauses, mostRecountPauses)
	}
	return ix.o.Now().Add(time.Duration(pauses) * ix.o.RecountPause)
}

// beginRecount chooses a token that is counted anew from a block at the head on; nil is none. The block's hash says where the search begins, so
// that nobody can have tokens made that always come before another.
func (ix *Indexer) beginRecount(ctx context.Context, until market.Header) (*store.Recount, error) {
	now := ix.o.Now()
	if ix.state.Recounts() > 0 || now.Sub(ix.recountSought) < ix.o.RecountPause || until.Number+holders.NearHead < ix.head.Reached {
		return nil, nil //nolint:nilnil // no recount is the usual case and no error
	}
	ix.recountSought = now
	from := market.Drawn(until.Hash, ix.cfg.Native.Wrapped)
	var majors []market.Address
	if ix.cfg.Tracking.Holders != chainconfig.HoldersAll {
		majors = append([]market.Address{}, ix.machine.Majors()...)
	}
	r, ok, err := ix.store.Jobs.DueRecount(ctx, ix.rows.id(), now.Unix(), ix.holders.Caps().String(), from, majors)
	if err != nil || !ok {
		return nil, err
	}
	r.NextAt = ix.nextRecount(r.Times).Unix()
	ix.state.Recount(r.Token)
	ix.log.InfoContext(ctx, "holders are counted anew", "token", r.Token.String(), "time", r.Times, "block", until.Number)
	return &r, nil
}

// openJobs are the tokens whose recounts began before this start or this reorg, and the jobs that are being merged.
func (ix *Indexer) openJobs(ctx context.Context) (recounts []market.Address, merging []market.HolderJob, err error) {
	jobs, err := ix.store.Jobs.List(ctx, ix.rows.id())
	for i := range jobs {
		if jobs[i].Recount != market.NoRecount {
			recounts = append(recounts, jobs[i].Token)
		}
		if jobs[i].IsMerging() {
			merging = append(merging, jobs[i])
		}
	}
	return recounts, merging, err
}

// endRecounts ends the recounts of tokens that the chain document doesn't ask to follow any more, before anything of them goes on.
func (ix *Indexer) endRecounts(ctx context.Context, l *store.Lease) error {
	if ix.cfg.Tracking.Holders == chainconfig.HoldersAll {
		return nil
	}
	jobs, err := ix.store.Jobs.List(ctx, ix.rows.id())
	if err != nil || !slices.ContainsFunc(jobs, func(j market.HolderJob) bool { return j.Recount != market.NoRecount }) {
		return err
	}
	return ix.store.Jobs.EndRecounts(ctx, l, ix.machine.Majors())
}

// unfollow gives up the holders of tokens that the chain document doesn't ask to follow any more. A token that it asks for again later
// stays without: what was moved meanwhile isn't known.
func (ix *Indexer) unfollow(ctx context.Context) error {
	if ix.cfg.Tracking.Holders == chainconfig.HoldersAll {
		return nil
	}
	n := 0
	err := ix.untilWritten(ctx, func() error {
		gone, err := ix.store.Upkeep.Unfollow(ctx, ix.lease, ix.machine.Majors())
		n += gone
		return err
	})
	if n > 0 {
		ix.log.InfoContext(ctx, "holders of tokens that aren't followed any more are given up", "tokens", n)
	}
	return err
}
