package holders

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

// Some nodes tell who has a token now, and no past transfers. What they tell is of a block of theirs, which is brought to a block of another endpoint by the
// transfers that wait in the queue between both: then two endpoints either say the same or don't.

const (
	// firstRest and longestRest are the shortest and the longest pause of a token of which nodes didn't tell who has it.
	firstRest, longestRest = time.Minute, time.Hour
	// finalWithin is how long the index may take until a block is final that an endpoint calls final.
	finalWithin = 5 * time.Minute
)

// rest is until when nodes aren't asked about a token, and how long the pause is.
type rest struct {
	until time.Time
	long  time.Duration
}

var (
	errUnconfirmed = errors.New("no two endpoints say the same")
	errNotFinal    = errors.New("the index doesn't come to the block of a node's answer")
)

// anchor has a job's balances told by nodes. Its past is read then, up to the block of the answer. A token of which they don't tell it holds up no other.
func (h *Backfill) anchor(ctx context.Context, l *store.Lease, j *market.HolderJob) (more bool, err error) {
	if r := h.rests[j.Token]; !h.atHead() || h.Now().Before(r.until) {
		return false, nil
	}
	told, err := h.holdings(ctx, j)
	switch {
	case err == nil && told.TooMany:
		return true, h.give(ctx, l, j, market.CapAccounts)
	case err == nil:
		delete(h.rests, j.Token)
		return true, h.stageAll(ctx, l, j, &told)
	case ctx.Err() != nil:
		return false, err
	}
	r := h.rests[j.Token]
	r.long = max(firstRest, min(2*r.long, longestRest))
	r.until = h.Now().Add(r.long)
	h.rests[j.Token] = r
	h.Log.WarnContext(ctx, "nodes don't tell who has a token", "token", j.Token.String(), "err", err.Error(), "retry_in_s", r.long.Seconds())
	return false, nil
}

// holdings are what two endpoints say, or the only one.
func (h *Backfill) holdings(ctx context.Context, j *market.HolderJob) (chain.Holdings, error) {
	var told []chain.Holdings
	tooMany, errs := 0, []error{errUnconfirmed}
	for one, err := range h.Nodes.HoldersOf(ctx, j.Token, j.Final, h.caps.Accounts) {
		if err = errors.Join(err, one.Refused); err != nil {
			errs = append(errs, err)
			continue
		}
		if one.TooMany {
			if tooMany++; one.Alone || tooMany == 2 {
				return one, nil
			}
			continue
		}
		agreed, err := h.compare(ctx, j.Token, told, &one)
		if err != nil {
			return one, err
		}
		if agreed || one.Alone {
			return one, nil
		}
		told = append(told, one)
	}
	return chain.Holdings{}, errors.Join(errs...)
}

// compare reports whether an endpoint says the same as one of those before. All of them are brought to the last of their blocks.
func (h *Backfill) compare(ctx context.Context, token market.Address, told []chain.Holdings, one *chain.Holdings) (agreed bool, err error) {
	last := one.After
	for i := range told {
		last = max(last, told[i].After)
	}
	late, cancel := context.WithTimeoutCause(ctx, finalWithin, errNotFinal)
	defer cancel()
	isFinal := func() bool { return min(h.final.Load(), h.indexed.Load()) >= last }
	if !wait.Until(late, 100*time.Millisecond, isFinal) {
		return false, context.Cause(late)
	}
	if err := h.bring(ctx, token, one, last); err != nil {
		return false, err
	}
	for i := range told {
		if err := h.bring(ctx, token, &told[i], last); err != nil {
			return false, err
		}
		agreed = agreed || one.Amounts != nil && maps.Equal(told[i].Amounts, one.Amounts)
	}
	return agreed, nil
}

// bring books the transfers that wait up to a block. An amount that would go below zero was told wrong: then these holdings equal no others.
func (h *Backfill) bring(ctx context.Context, token market.Address, of *chain.Holdings, to uint64) error {
	for block, seq := of.After, uint32(math.MaxUint32); block < to && of.Amounts != nil; {
		queued, err := h.Jobs.Queued(ctx, h.Index(), token, block, seq, stagedAtOnce)
		if err != nil {
			return err
		}
		for i := range queued {
			q := &queued[i]
			if q.Block > to {
				of.After = to
				return nil
			}
			block, seq = q.Block, q.Seq
			if !book(of.Amounts, q) {
				of.After, of.Amounts = to, nil
				return nil
			}
		}
		if len(queued) < stagedAtOnce {
			break
		}
	}
	of.After = to
	return nil
}

// book books a transfer. It reports false where an amount would go below zero, or beyond what there can be.
func book(amounts map[market.Address]uint64, q *market.QueuedTransfer) bool {
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
	staged := make(map[market.Address]market.Amount, stagedAtOnce)
	for from := (market.Address{}); ; {
		earlier, err := h.Jobs.StagedAfter(ctx, h.Index(), j.Token, from, stagedAtOnce)
		if err != nil {
			return err
		}
		for _, b := range earlier {
			if from = b.Account; told.Amounts[b.Account] == 0 {
				staged[b.Account] = market.Amount{}
			}
		}
		if len(staged) > 0 {
			if err := save(staged); err != nil {
				return err
			}
			clear(staged)
		}
		if len(earlier) < stagedAtOnce {
			break
		}
	}
	for account, amount := range told.Amounts {
		var a market.Amount
		a.SetUint64(amount)
		if staged[account] = a; len(staged) == stagedAtOnce {
			if err := save(staged); err != nil {
				return err
			}
			clear(staged)
		}
	}
	after.Accounts, after.Final, after.Next, after.Step = int64(len(told.Amounts)), told.After, told.After+1, market.MergeAccounts
	if after.Recount != market.NoRecount {
		after.Recount = market.RecountProven
	}
	if err := save(staged); err != nil {
		return err
	}
	h.Log.InfoContext(ctx, "holders told by nodes", "token", j.Token.String(), "block", j.Final, "accounts", j.Accounts)
	return nil
}
