package holders

import (
	"context"
	"maps"
	"slices"

	"github.com/boardwalkhq/boardwalk/indexer/derive"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

const (
	// widestRange is the most blocks of a token's past that are read at once.
	widestRange = 10_000
	// fewLogs and manyLogs are how many transfers make the next range twice as wide, or half as wide.
	fewLogs, manyLogs = 4_000, 16_000
	// refusedFor is after how many ranges a width is tried again that a node refused.
	refusedFor = 64
	// stagedAtOnce is how many transfers one transaction stages: few enough that a block that comes meanwhile hardly waits.
	stagedAtOnce = 1_000
	// mostRanges is the most ranges of blocks that are read of one token.
	mostRanges = 1_000_000
)

// width is how many blocks of a token's past are asked for at once: as many as were answered last, and more while the answers are short.
type width struct {
	blocks uint64
	// refused is the least that a node refused, and since how many ranges that is ago; 0 is none.
	refused uint64
	since   int
}

// widthOf is the width of a token's ranges.
func (h *Backfill) widthOf(token market.Address) *width {
	w := h.widths[token]
	if w == nil {
		w = &width{blocks: widestRange}
		h.widths[token] = w
	}
	return w
}

// learn takes in that a range of blocks was asked for, of which so many were answered, with so many transfers.
func (w *width) learn(asked, answered uint64, transfers int) {
	if w.since++; w.since > refusedFor {
		w.refused = 0
	}
	if answered < asked {
		w.blocks, w.refused, w.since = answered, answered+1, 0
		return
	}
	if asked < w.blocks {
		return // the end of the past says nothing
	}
	switch next := min(2*w.blocks, widestRange); {
	case transfers > manyLogs:
		w.blocks = max(w.blocks/2, 1)
	case transfers < fewLogs && w.refused == 0:
		w.blocks = next
	case transfers < fewLogs:
		w.blocks = max(w.blocks, min(next, w.refused-1))
	}
}

// advance brings a job forward by one step, up to where the loop merges it. It reports whether there is more to do at once.
func (h *Backfill) advance(ctx context.Context, l *store.Lease, j *market.HolderJob) (more bool, err error) {
	const day = 24 * 60 * 60
	switch {
	case !j.IsRead() && j.BegunAt > 0 && h.Now().Unix()-j.BegunAt > h.caps.Days*day:
		return true, h.give(ctx, l, j, market.CapAge)
	case j.Recount == market.RecountBegun:
		return h.recount(ctx, l, j)
	case !j.IsRead() && h.Nodes.TellsHolders():
		return h.takeSnapshot(ctx, l, j)
	case !j.IsRead():
		return true, h.read(ctx, l, j)
	}
	if taken, err := h.drain(ctx, l, j); taken || err != nil {
		return true, err
	}
	if !h.atHead() {
		return false, nil
	}
	if j.Recount != market.NoRecount {
		return h.recount(ctx, l, j)
	}
	after := *j
	after.Step = market.MergeAccounts
	return false, h.Jobs.Save(ctx, l, &store.HolderProgress{Before: *j, After: after})
}

// give ends a job that is beyond a cap.
func (h *Backfill) give(ctx context.Context, l *store.Lease, j *market.HolderJob, c market.HolderCap) error {
	after := *j
	after.EndAt(c)
	h.tellBeyond(ctx, &after)
	return h.Jobs.Save(ctx, l, &store.HolderProgress{Before: *j, After: after})
}

func (h *Backfill) tellBeyond(ctx context.Context, j *market.HolderJob) {
	h.Log.WarnContext(ctx, "a token's holders are beyond a cap and aren't counted", "token", j.Token.String(), "cap", string(j.Beyond),
		"accounts", j.Accounts, "transfers", j.Transfers, "ranges", j.Ranges, "caps", h.caps.String())
}

// read reads the next range of a token's past.
func (h *Backfill) read(ctx context.Context, l *store.Lease, j *market.HolderJob) error {
	w := h.widthOf(j.Token)
	last := min(j.Final, j.Next+w.blocks-1)
	blocks, upTo, err := h.Nodes.TransfersOf(ctx, j.Token, j.Next, last)
	if err != nil {
		return err
	}
	transfers := 0
	for i := range blocks {
		transfers += transfersOf(&blocks[i])
	}
	w.learn(last-j.Next+1, upTo-j.Next+1, transfers)
	job := *j
	job.Ranges++
	for first := 0; ; {
		// A transaction has whole blocks.
		end, n := first, 0
		for ; end < len(blocks) && (end == first || n < stagedAtOnce); end++ {
			n += transfersOf(&blocks[end])
		}
		before := *j
		job.Transfers += int64(n)
		if job.Next = upTo + 1; end < len(blocks) {
			job.Next = blocks[end-1].Number + 1
		}
		if err := h.stage(ctx, l, before, &job, blocks[first:end]); err != nil {
			return err
		}
		if *j = job; job.Broken || job.Next > upTo {
			break
		}
		first = end
	}
	if j.IsRead() && !j.Broken {
		h.Log.InfoContext(ctx, "holder backfill read", "token", j.Token.String(), "final", j.Final, "accounts", j.Accounts)
	}
	return nil
}

func transfersOf(b *market.Block) (n int) {
	for i := range b.Txs {
		n += len(b.Txs[i].Logs)
	}
	return n
}

// stage books blocks of a token's past into the staged balances, and makes of the job before what it is after.
func (h *Backfill) stage(ctx context.Context, l *store.Lease, before market.HolderJob, after *market.HolderJob, blocks []market.Block) error {
	touched := map[market.Address]bool{}
	for i := range blocks {
		for _, tx := range blocks[i].Txs {
			for _, log := range tx.Logs {
				switch e := log.Event.(type) {
				case market.Transfer:
					touched[e.From], touched[e.To] = true, true
				case market.BalanceChange:
					touched[e.Owner] = true
				case market.Wrap:
					touched[e.Account] = true
				}
			}
		}
	}
	return h.save(ctx, l, before, after, touched, false, func(balances map[market.Address]market.Amount) bool {
		for i := range blocks {
			if !h.Machine.Stage(after.Token, blocks[i].Txs, balances) {
				return false
			}
		}
		return true
	})
}

// save writes staged balances that book has changed, of touched accounts, and the job that is broken where book reports false.
func (h *Backfill) save(ctx context.Context, l *store.Lease, before market.HolderJob, after *market.HolderJob, touched map[market.Address]bool,
	taken bool, book func(map[market.Address]market.Amount) bool,
) error {
	delete(touched, market.Address{})
	balances, err := h.Jobs.Staged(ctx, h.Index(), after.Token, slices.Collect(maps.Keys(touched)))
	if err != nil {
		return err
	}
	after.Accounts -= int64(len(balances))
	after.Broken = !book(balances)
	for _, b := range balances {
		if !b.IsZero() {
			after.Accounts++
		}
	}
	if c := h.beyond(after); c != "" && !after.Broken {
		after.EndAt(c)
		h.tellBeyond(ctx, after)
	}
	return h.Jobs.Save(ctx, l, &store.HolderProgress{Before: before, After: *after, Staged: balances, Taken: taken})
}

// beyond is a cap that a job is beyond; empty is none.
func (h *Backfill) beyond(j *market.HolderJob) market.HolderCap {
	switch {
	case j.Accounts > h.caps.Accounts:
		return market.CapAccounts
	case j.Transfers > h.caps.Transfers:
		return market.CapTransfers
	case j.Ranges > h.ranges:
		return market.CapRanges
	default:
		return ""
	}
}

// drain books waiting transfers that no rewind can take back into the staged balances, once the past is read. It reports whether it did: a
// few are left to the merge.
func (h *Backfill) drain(ctx context.Context, l *store.Lease, j *market.HolderJob) (taken bool, err error) {
	block, seq := j.QueueFrom()
	queued, err := h.Jobs.QueuedForGood(ctx, h.Index(), j.Token, block, seq, stagedAtOnce)
	if err != nil || len(queued) < stagedAtOnce {
		return false, err
	}
	touched := map[market.Address]bool{}
	for i := range queued {
		touched[queued[i].From], touched[queued[i].To] = true, true
	}
	after := *j
	last := queued[len(queued)-1]
	after.QueueBlock, after.QueueSeq = last.Block, last.Seq
	after.Transfers += int64(len(queued))
	return true, h.save(ctx, l, *j, &after, touched, true, func(balances map[market.Address]market.Amount) bool {
		return derive.Book(queued, balances)
	})
}
