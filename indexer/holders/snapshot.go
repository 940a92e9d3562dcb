package holders

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

// Some nodes tell who has a token now, and no past transfers. What they tell is a snapshot, of a block of theirs. The transfers that wait in the queue bring it to the
// block of another endpoint's snapshot: then two endpoints either say the same or don't.

const (
	// firstPause and longestPause are the shortest and the longest pause of a token of which nodes didn't tell who has it. After mostRefused such answers, in some two hours,
	// the token is left for a recount.
	firstPause, longestPause = time.Minute, time.Hour
	mostRefused              = 8
	// finalWithin is the least time that the index is given until it, too, has a block as final that an endpoint calls final.
	finalWithin = time.Minute
)

// pause is until when nodes aren't asked about a token, and how often they didn't tell who has it.
type pause struct {
	until   time.Time
	refused int
}

var (
	errUnconfirmed = errors.New("no two endpoints say the same")
	errNotFinal    = errors.New("the index doesn't come to the block of its answer")
)

// takeSnapshot asks nodes for a job's balances. With these the past counts as read, up to the block of the answer. A token of which nodes don't tell them holds up no other.
func (h *Backfill) takeSnapshot(ctx context.Context, l *store.Lease, j *market.HolderJob) (more bool, err error) {
	p := h.pauses[j.Token]
	if !h.atHead() || h.Now().Before(p.until) {
		return false, nil
	}
	told, refusal, err := h.askHoldings(ctx, j)
	switch {
	case err != nil:
		return false, err
	case refusal == nil && told.TooMany:
		return true, h.give(ctx, l, j, market.CapAccounts)
	case refusal == nil:
		return true, h.stageAll(ctx, l, j, &told)
	}
	if !errors.Is(refusal, errNotFinal) || p.refused == 0 { // else it is the index that is late
		p.refused++
	}
	long := min(firstPause<<(p.refused-1), longestPause)
	p.until = h.Now().Add(long)
	h.pauses[j.Token] = p
	h.Log.WarnContext(ctx, "nodes don't tell who has a token", "token", j.Token.String(), "err", refusal.Error(), "retry_in_s", long.Seconds())
	if p.refused < mostRefused {
		return false, nil
	}
	after := *j
	after.Broken = true
	return true, h.Jobs.Save(ctx, l, &store.HolderProgress{Before: *j, After: after})
}

// askHoldings asks two endpoints, or the only one, and gives what they say alike; else refusal says why they don't tell.
func (h *Backfill) askHoldings(ctx context.Context, j *market.HolderJob) (out chain.Holdings, refusal, err error) {
	var told []chain.Holdings
	tooMany, refusals := 0, []error{errUnconfirmed}
	for one, refused := range h.Nodes.HoldersOf(ctx, j.Token, j.Final, h.caps.Accounts) {
		switch {
		case ctx.Err() != nil:
			return out, nil, ctx.Err()
		case refused != nil:
			refusals = append(refusals, refused)
			continue
		case one.TooMany:
			if tooMany++; one.Alone || tooMany == 2 {
				return one, nil, nil
			}
			continue
		}
		if one.Alone || len(told) > 0 { // else there is nothing to compare it with yet
			agreed, err := h.compare(ctx, j.Token, told, &one)
			switch {
			case errors.Is(err, errNotFinal) && ctx.Err() == nil:
				refusals = append(refusals, err)
				continue
			case err != nil:
				return out, nil, err
			case agreed || one.Alone:
				return one, nil, nil
			}
		}
		told = append(told, one)
	}
	return out, errors.Join(refusals...), ctx.Err()
}

// compare reports whether an endpoint says the same as one of those before. All of them are brought to the last of their blocks.
func (h *Backfill) compare(ctx context.Context, token market.Address, told []chain.Holdings, one *chain.Holdings) (agreed bool, err error) {
	last := one.After
	for i := range told {
		last = max(last, told[i].After)
	}
	patience := max(finalWithin, 2*time.Duration(h.Config.ReorgBlocks)*time.Duration(h.Config.BlockTime))
	late, cancel := context.WithTimeoutCause(ctx, patience, errNotFinal)
	defer cancel()
	isFinal := func() bool { return min(h.final.Load(), h.indexed.Load()) >= last }
	if !wait.Until(late, 100*time.Millisecond, isFinal) {
		return false, context.Cause(late)
	}
	if err := h.applyQueue(ctx, token, one, last); err != nil {
		return false, err
	}
	for i := range told {
		if err := h.applyQueue(ctx, token, &told[i], last); err != nil {
			return false, err
		}
		agreed = agreed || one.Amounts != nil && told[i].Amounts != nil && maps.Equal(told[i].Amounts, one.Amounts)
	}
	return agreed, nil
}

// applyQueue books the transfers that wait up to a block. An amount that would go below zero was told wrong: then these holdings have no amounts, and equal no others.
func (h *Backfill) applyQueue(ctx context.Context, token market.Address, to *chain.Holdings, upTo uint64) error {
	block, seq := to.After, uint32(math.MaxUint32)
	for more := block < upTo; more && to.Amounts != nil; {
		queued, err := h.Jobs.Queued(ctx, h.Index(), token, block, seq, stagedAtOnce)
		if err != nil {
			return err
		}
		more = len(queued) == stagedAtOnce
		for i := range queued {
			q := &queued[i]
			if block, seq = q.Block, q.Seq; block > upTo {
				more = false
				break
			}
			if !applyTransfer(to.Amounts, q) {
				to.Amounts = nil
				break
			}
		}
	}
	to.After = upTo
	return nil
}

// applyTransfer books a transfer. It reports false where an amount would go below zero, or beyond what there can be.
func applyTransfer(amounts map[market.Address]uint64, q *market.QueuedTransfer) bool {
	amount, over := q.Amount.Uint64WithOverflow()
	if over {
		return false
	}
	if !q.From.IsNone() {
		has := amounts[q.From]
		if has < amount {
			return false
		}
		if amounts[q.From] = has - amount; has == amount {
			delete(amounts, q.From)
		}
	}
	if !q.To.IsNone() && amount > 0 {
		has := amounts[q.To]
		if has+amount < has {
			return false
		}
		amounts[q.To] = has + amount
	}
	return true
}

// stageAll stages holdings in place of what an earlier try staged. The loop merges them then: nothing else could prove them.
func (h *Backfill) stageAll(ctx context.Context, l *store.Lease, j *market.HolderJob, told *chain.Holdings) error {
	after := *j
	save := func(staged map[market.Address]market.Amount) error {
		before := *j
		if err := h.Jobs.Save(ctx, l, &store.HolderProgress{Before: before, After: after, Staged: staged}); err != nil {
			return fmt.Errorf("stage what nodes told: %w", err)
		}
		*j = after
		return nil
	}
	for from := (market.Address{}); ; {
		earlier, err := h.Jobs.StagedAfter(ctx, h.Index(), j.Token, from, stagedAtOnce)
		if err != nil {
			return err
		}
		gone := map[market.Address]market.Amount{}
		for _, b := range earlier {
			if from = b.Account; told.Amounts[b.Account] == 0 {
				gone[b.Account] = market.Amount{}
			}
		}
		if len(gone) > 0 {
			if err := save(gone); err != nil {
				return err
			}
		}
		if len(earlier) < stagedAtOnce {
			break
		}
	}
	accounts := slices.SortedFunc(maps.Keys(told.Amounts), func(a, b market.Address) int { return bytes.Compare(a.Bytes(), b.Bytes()) })
	for some := range slices.Chunk(accounts, stagedAtOnce) {
		staged := make(map[market.Address]market.Amount, len(some))
		for _, account := range some {
			var amount market.Amount
			amount.SetUint64(told.Amounts[account])
			staged[account] = amount
		}
		if err := save(staged); err != nil {
			return err
		}
	}
	after.Accounts, after.Final, after.Next, after.Step = int64(len(accounts)), told.After, told.After+1, market.MergeAccounts
	if after.Recount != market.NoRecount {
		after.Recount = market.RecountProven
	}
	if err := save(nil); err != nil {
		return err
	}
	h.Log.InfoContext(ctx, "holders told by nodes", "token", j.Token.String(), "block", j.Final, "accounts", j.Accounts)
	return nil
}
