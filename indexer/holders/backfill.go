// Package holders reads, in the background of the loop, the transfers of tokens from before they were followed, and
// counts anew the holders of tokens whose count was given up. It writes the results into jobs, which the loop merges.
package holders

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/budget"
	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/derive"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

const (
	// gapsAtOnce is how many tokens are looked at together: their supplies are one batch to a node.
	gapsAtOnce = 100
	// NearHead is how far below the head the index may be for a node, which may keep the newest states alone, to answer for it.
	NearHead = 16
	// patience is how often in a row no supply at all may be answered, by a node that is late perhaps, before pasts are read.
	patience = 5
)

// Nodes are what a backfill needs of the nodes.
type Nodes interface {
	chain.TransferReader
	chain.HolderReader
	chain.SampleSource
}

// Backfill finds the balances that tokens had before the block since which they are followed. It runs in the
// background of the loop. Most tokens that were launched since had none: then the queued transfers add up to the
// whole supply, and nothing is read. For the others it reads the past transfers, up to the block before, or has nodes
// tell the balances. Later transfers wait in a queue, and the loop merges both (indexer/holdermerge.go).
type Backfill struct {
	Options

	caps    chainconfig.HolderCaps
	ranges  int64 // the most ranges of blocks that are read of one token
	final   atomic.Uint64
	head    atomic.Uint64
	indexed atomic.Uint64 // the newest block that was committed within reach of reorgs
	wake    chan struct{}
	silent  int // how often in a row no supply was answered
	// unproven is how often in a row nodes didn't tell whether a recount is right.
	unproven int
	// widths are how many blocks of tokens' pasts are asked for at once.
	widths map[market.Address]*width
	// pauses has the pause of each token whose holders the nodes didn't tell.
	pauses map[market.Address]pause
}

// Options are what a backfill works with.
type Options struct {
	Config *chainconfig.Chain
	Jobs   store.Jobs
	// Index names the index whose rows are read.
	Index   func() string
	Nodes   Nodes
	Machine *derive.Machine
	// GivesUp reports whether nodes aren't asked for something now.
	GivesUp func(budget.Purpose) bool
	Now     func() time.Time
	Log     *slog.Logger
}

// New makes a backfill that knows of no block yet.
func New(o Options) *Backfill {
	return &Backfill{
		Options: o, caps: o.Config.Tracking.Caps.WithDefaults(), ranges: mostRanges, wake: make(chan struct{}, 1), widths: map[market.Address]*width{},
		pauses: map[market.Address]pause{},
	}
}

// Caps are the bounds of what is counted.
func (h *Backfill) Caps() chainconfig.HolderCaps { return h.caps }

// See tells of a newer head and final block. What counts as final here can't be undone either, whatever a node calls final.
func (h *Backfill) See(head, final uint64) {
	h.head.Store(head)
	final = min(final, head-min(head, h.Config.ReorgBlocks))
	if h.final.Swap(final) == 0 && final > 0 {
		h.Nudge()
	}
}

// Committed tells of a block that was committed within reach of reorgs.
func (h *Backfill) Committed(number uint64) { h.indexed.Store(number) }

// atHead reports whether nodes still answer for the newest indexed block.
func (h *Backfill) atHead() bool {
	indexed := h.indexed.Load()
	return indexed > 0 && indexed+NearHead >= h.head.Load()
}

// Nudge wakes Run, which looks for work at once.
func (h *Backfill) Nudge() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// Run looks for work and does it until ctx ends, or the lease is lost.
func (h *Backfill) Run(ctx context.Context, l *store.Lease) {
	for ctx.Err() == nil {
		more, err := h.pass(ctx, l)
		if err != nil && ctx.Err() == nil {
			h.Log.WarnContext(ctx, "holder backfill interrupted", "err", err.Error())
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
func (h *Backfill) pass(ctx context.Context, l *store.Lease) (more bool, err error) {
	began, err := h.begin(ctx, l)
	if h.GivesUp(budget.Holders) {
		return began, err
	}
	ctx = rpc.For(ctx, budget.Holders)
	jobs, e := h.Jobs.List(ctx, h.Index())
	if err = errors.Join(err, e); e != nil {
		return false, err
	}
	for i := range jobs {
		j := &jobs[i]
		if j.Broken || j.Step != market.MergeNone {
			delete(h.widths, j.Token)
			delete(h.pauses, j.Token)
			continue // the loop's
		}
		moreOfIt, e := h.advance(ctx, l, j)
		if errors.Is(e, store.ErrJobChanged) {
			continue // the next pass sees how it is now
		}
		if e != nil {
			return false, errors.Join(err, e)
		}
		more = more || moreOfIt
	}
	if _, e := h.Jobs.DropEnded(ctx, l); e != nil {
		return false, errors.Join(err, e)
	}
	return more || began, err
}

// begin gives tokens without a job one. Until the index is at the head that is for majors alone, which are older than most
// indexes: the others' supplies are of use only with all that is queued.
func (h *Backfill) begin(ctx context.Context, l *store.Lease) (began bool, err error) {
	final, only, atHead := h.final.Load(), h.Machine.Majors(), h.atHead()
	if final == 0 || !atHead && (len(only) == 0 || h.Nodes.TellsHolders()) {
		return false, nil
	}
	if atHead {
		final, only = min(final, h.indexed.Load()-1), nil // supplies are asked for at the block before
	}
	gaps, err := h.Jobs.Gaps(ctx, h.Index(), final, only, gapsAtOnce)
	if err != nil || len(gaps) == 0 {
		return false, err
	}
	var whole map[market.Address]bool
	if atHead && !h.Nodes.TellsHolders() {
		if whole, err = h.whole(ctx, gaps); err != nil {
			return false, err
		}
		if h.silent++; len(whole) == 0 && h.silent < patience {
			return false, nil
		}
		h.silent = 0
	}
	var known []market.HolderJob
	for _, g := range gaps {
		if whole[g.Token] {
			j := nothingBefore(g)
			j.Step = market.MergeAccounts
			known = append(known, j)
		}
	}
	if err := h.Jobs.Begin(ctx, l, known); err != nil {
		return false, err
	}
	if len(known) > 0 {
		h.Log.InfoContext(ctx, "holders are known without a look at the past", "tokens", len(known))
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
func (h *Backfill) beginReading(ctx context.Context, l *store.Lease, g store.HolderGap) error {
	job := nothingBefore(g)
	job.BegunAt = h.Now().Unix()
	switch {
	case h.Nodes.TellsHolders():
		job.Final = max(g.Since, 1) - 1
		job.Next = job.Final
	case g.Since > 0:
		created, err := h.Nodes.CreatedAt(ctx, g.Token, g.Since-1)
		if err != nil {
			return err
		}
		job.Next, job.Final = created, g.Since-1
	}
	if err := h.Jobs.Begin(ctx, l, []market.HolderJob{job}); err != nil {
		return err
	}
	h.Log.InfoContext(ctx, "holder backfill begun", "token", g.Token.String(), "from", job.Next, "to", job.Final)
	return nil
}

// nothingBefore is the job of a token whose queue is all that there is.
func nothingBefore(g store.HolderGap) market.HolderJob {
	j := market.HolderJob{Token: g.Token, Final: max(g.First, 1) - 1}
	j.Next = j.Final + 1
	return j
}

// whole tells of tokens whether their queued transfers are all that there ever were, as their supply shows; those that don't
// answer for it are left out. It is asked for at the block before the newest indexed one: for its newest block a node can answer
// out of the state of the one that it is making. The accounts of one token are in memory at a time, up to their cap.
func (h *Backfill) whole(ctx context.Context, gaps []store.HolderGap) (map[market.Address]bool, error) {
	tokens := make([]market.Address, len(gaps))
	for i, g := range gaps {
		tokens[i] = g.Token
	}
	sums := make(map[market.Address]market.Amount, len(gaps))
	untold := map[market.Address]bool{} // by their transfers, or there are too many
	var tally derive.Tally
	var of market.Address
	next := func(token market.Address) {
		sum, ok := tally.Sum()
		sums[of], untold[of] = sum, !ok || int64(tally.Len()) > h.caps.Accounts
		tally, of = derive.Tally{}, token
	}
	newest, err := h.Jobs.QueuedBefore(ctx, h.Index(), tokens, func(q *market.QueuedTransfer) {
		if q.Token != of {
			next(q.Token)
		}
		if int64(tally.Len()) <= h.caps.Accounts {
			tally.Add(q)
		}
	})
	next(market.Address{})
	if err != nil || newest.Number == 0 {
		return nil, err
	}
	supplies, err := h.Nodes.Supplies(ctx, chain.Ref{Number: newest.Number - 1, Hash: newest.Parent}, tokens, func(market.SupplyFact) chain.Doubt { return chain.Untold })
	if err != nil {
		return nil, err
	}
	whole := make(map[market.Address]bool, len(supplies))
	for _, s := range supplies {
		whole[s.Token] = !untold[s.Token] && sums[s.Token] == s.Supply
	}
	return whole, nil
}
