package indexer

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/budget"
	"github.com/boardwalkhq/boardwalk/indexer/derive"
	"github.com/boardwalkhq/boardwalk/indexer/evm"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

const (
	// holderRange is the most blocks of a token's past that are read at once.
	holderRange = 10_000
	// gapsAtOnce is how many tokens are looked at together: their supplies are one batch to a node.
	gapsAtOnce = 100
	// nearHead is how far below the head the index may be for a node, which may keep the newest states alone, to answer for it.
	nearHead = 16
	// mergesAtOnce bounds the tokens whose past one commit takes in.
	mergesAtOnce = 100
	// patience is how often in a row no supply at all may be answered, by a node that is late perhaps, before pasts are read.
	patience = 5
)

// holderBackfill finds, beside the head, what tokens that are followed since some block had before it. Most of those that were
// launched since had nothing: then their supply is what their queued transfers leave, and nothing is read. Of the others the
// past transfers are read, up to the block before. What comes after waits in a queue, and the loop merges both.
type holderBackfill struct {
	cfg     *chainconfig.Chain
	store   *store.Store
	source  source
	machine *derive.Machine
	log     *slog.Logger
	final   atomic.Uint64
	head    atomic.Uint64
	indexed atomic.Uint64 // the newest block that was committed within reach of reorgs
	wake    chan struct{}
	silent  int // how often in a row no supply was answered
	// givesUp reports whether nodes aren't asked for something now.
	givesUp func(budget.Purpose) bool
	// unproven is how often in a row nodes didn't tell whether a recount is right.
	unproven int
}

// see tells of a newer head and final block. What counts as final here can't be undone either, whatever a node calls final.
func (h *holderBackfill) see(head, final uint64) {
	h.head.Store(head)
	final = min(final, head-min(head, h.cfg.ReorgBlocks))
	if h.final.Swap(final) == 0 && final > 0 {
		h.nudge()
	}
}

// atHead reports whether nodes still answer for the newest indexed block.
func (h *holderBackfill) atHead() bool {
	indexed := h.indexed.Load()
	return indexed > 0 && indexed+nearHead >= h.head.Load()
}

// nudge makes it look for work now.
func (h *holderBackfill) nudge() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

func (h *holderBackfill) run(ctx context.Context, l *store.Lease) {
	for ctx.Err() == nil {
		more, err := h.pass(ctx, l)
		if err != nil && ctx.Err() == nil {
			h.log.WarnContext(ctx, "holder backfill interrupted", "err", err.Error())
			if errors.Is(err, store.ErrLeaseLost) {
				return
			}
		}
		if more && err == nil {
			continue
		}
		t := time.NewTimer(2 * time.Second)
		select {
		case <-ctx.Done():
		case <-h.wake:
		case <-t.C:
		}
		t.Stop()
	}
}

// pass begins jobs for new tokens and brings each open one forward by one range, so that a long past holds nobody up, and waits where pasts are
// given up. It reports whether there is more to do at once.
func (h *holderBackfill) pass(ctx context.Context, l *store.Lease) (more bool, err error) {
	began, err := h.begin(ctx, l)
	if h.givesUp(budget.Holders) {
		return began, err
	}
	ctx = evm.For(ctx, budget.Holders)
	jobs, e := h.store.HolderJobs(ctx, h.cfg.ID)
	if err = errors.Join(err, e); e != nil {
		return false, err
	}
	for i := range jobs {
		j := &jobs[i]
		if j.Done() {
			continue
		}
		moreOfIt := true
		if j.Recount == store.NoRecount {
			e = h.step(ctx, l, j)
		} else {
			moreOfIt, e = h.recount(ctx, l, j)
		}
		if e != nil {
			return false, errors.Join(err, e)
		}
		more = more || moreOfIt && !j.Done()
	}
	return more || began, err
}

// begin gives tokens without a job one. Until the index is at the head that is for majors alone, which are older than most
// indexes: the others' supplies are of use only with all that is queued.
func (h *holderBackfill) begin(ctx context.Context, l *store.Lease) (began bool, err error) {
	final, only, atHead := h.final.Load(), h.machine.Majors(), h.atHead()
	if final == 0 || !atHead && len(only) == 0 {
		return false, nil
	}
	if atHead {
		final, only = min(final, h.indexed.Load()-1), nil // supplies are asked for at the block before
	}
	gaps, err := h.store.HolderGaps(ctx, h.cfg.ID, final, only, gapsAtOnce)
	if err != nil || len(gaps) == 0 {
		return false, err
	}
	var whole map[market.Address]bool
	if atHead {
		if whole, err = h.whole(ctx, gaps); err != nil {
			return false, err
		}
		if h.silent++; len(whole) == 0 && h.silent < patience {
			return false, nil
		}
		h.silent = 0
	}
	var known []store.HolderJob
	for _, g := range gaps {
		if whole[g.Token] {
			known = append(known, nothingBefore(g))
		}
	}
	if err := h.store.BeginHolderJobs(ctx, l, known); err != nil {
		return false, err
	}
	if len(known) > 0 {
		h.log.InfoContext(ctx, "holders are known without a look at the past", "tokens", len(known))
	}
	for _, g := range gaps {
		if whole[g.Token] {
			continue
		}
		if err := h.beginReading(ctx, l, g); err != nil {
			return false, err
		}
	}
	return true, nil
}

// beginReading gives a token a job that reads its past.
func (h *holderBackfill) beginReading(ctx context.Context, l *store.Lease, g store.HolderGap) error {
	job := nothingBefore(g)
	if g.Since > 0 {
		created, err := h.source.CreatedAt(ctx, g.Token, g.Since-1)
		if err != nil {
			return err
		}
		job.Next, job.Final = created, g.Since-1
	}
	if err := h.store.BeginHolderJobs(ctx, l, []store.HolderJob{job}); err != nil {
		return err
	}
	h.log.InfoContext(ctx, "holder backfill begun", "token", g.Token.String(), "from", job.Next, "to", job.Final)
	return nil
}

// nothingBefore is the job of a token whose queue is all that there is.
func nothingBefore(g store.HolderGap) store.HolderJob {
	j := store.HolderJob{Token: g.Token, Final: max(g.First, 1) - 1}
	j.Next = j.Final + 1
	return j
}

// whole tells of tokens whether their queued transfers are all that there ever were, as their supply shows; those that don't
// answer for it are left out. It is asked for at the block before the newest indexed one: for its newest block a node can answer
// out of the state of the one that it is making.
func (h *holderBackfill) whole(ctx context.Context, gaps []store.HolderGap) (map[market.Address]bool, error) {
	tokens := make([]market.Address, len(gaps))
	tallies := make(map[market.Address]*derive.Tally, len(gaps))
	for i, g := range gaps {
		tokens[i], tallies[g.Token] = g.Token, &derive.Tally{}
	}
	newest, err := h.store.QueuedBefore(ctx, h.cfg.ID, tokens, func(q *market.QueuedTransfer) { tallies[q.Token].Add(q) })
	if err != nil || newest.Number == 0 {
		return nil, err
	}
	supplies, err := h.source.Supplies(ctx, evm.BlockRef{Number: newest.Number - 1, Hash: newest.Parent}, tokens, nil)
	if err != nil {
		return nil, err
	}
	whole := make(map[market.Address]bool, len(supplies))
	for _, s := range supplies {
		whole[s.Token] = tallies[s.Token].Explains(&s.Supply)
	}
	return whole, nil
}

func (h *holderBackfill) step(ctx context.Context, l *store.Lease, j *store.HolderJob) error {
	txs, upTo, err := h.source.TransfersOf(ctx, j.Token, j.Next, min(j.Final, j.Next+holderRange-1))
	if err != nil {
		return err
	}
	var accounts []market.Address
	seen := map[market.Address]bool{}
	touch := func(a market.Address) {
		if !seen[a] && !a.IsZeroEVM() {
			seen[a] = true
			accounts = append(accounts, a)
		}
	}
	for i := range txs {
		for _, log := range txs[i].Logs {
			switch e := log.Event.(type) {
			case market.Transfer:
				touch(e.From)
				touch(e.To)
			case market.Wrap:
				touch(e.Account)
			}
		}
	}
	balances := map[market.Address]market.Amount{}
	if len(accounts) > 0 {
		if balances, err = h.store.Staged(ctx, h.cfg.ID, j.Token, accounts); err != nil {
			return err
		}
	}
	j.Broken = !h.machine.Stage(j.Token, txs, balances)
	j.Next = upTo + 1
	if err := h.store.SaveHolderJob(ctx, l, j, balances); err != nil {
		return err
	}
	if j.Next > j.Final {
		h.log.InfoContext(ctx, "holder backfill read", "token", j.Token.String(), "final", j.Final)
	}
	return nil
}

// unfollow gives up the holders of tokens that the chain document doesn't ask to follow any more. A token that it asks for again later
// stays without: what was moved meanwhile isn't known.
func (ix *Indexer) unfollow(ctx context.Context) error {
	if ix.cfg.Tracking.Holders == chainconfig.HoldersAll {
		return nil
	}
	n, err := ix.store.Unfollow(ctx, ix.lease, ix.machine.Majors())
	if n > 0 {
		ix.log.InfoContext(ctx, "holders of tokens that aren't followed any more are given up", "tokens", n)
	}
	return err
}

// mergeHolders takes finished backfills into the state, as part of the commit that follows.
func (ix *Indexer) mergeHolders(ctx context.Context) ([]market.Address, error) {
	jobs, err := ix.store.HolderJobs(ctx, ix.cfg.ID)
	if err != nil {
		return nil, err
	}
	var merged []market.Address
	for i := range jobs {
		j := &jobs[i]
		if len(merged) == mergesAtOnce {
			break
		}
		if !j.Done() || ix.state.Last().Number < j.Final {
			continue
		}
		if err := ix.mergeJob(ctx, j); err != nil {
			return nil, err
		}
		merged = append(merged, j.Token)
	}
	return merged, nil
}

// mergeJob takes what a backfill has found, and what has queued since, into the state.
func (ix *Indexer) mergeJob(ctx context.Context, j *store.HolderJob) error {
	ix.pulse.beat()
	balances, err := ix.store.Staged(ctx, ix.cfg.ID, j.Token, nil)
	if err != nil {
		return err
	}
	if j.Recount != store.NoRecount && !j.Broken {
		if err := ix.accountsOfBefore(ctx, j.Token, balances); err != nil {
			return err
		}
	}
	ix.pulse.beat()
	queued, err := ix.store.Queued(ctx, ix.cfg.ID, j.Token)
	if err != nil {
		return err
	}
	ix.pulse.beat()
	if err := ix.load(ctx, ix.machine.MergeKeys(ix.state, j.Token, balances, queued)); err != nil {
		return err
	}
	ix.machine.Merge(ix.state, j.Token, j.Final, balances, queued, j.Broken)
	return nil
}
