package holders

import (
	"context"
	"maps"
	"slices"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/derive"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// A recount counts a token's holders anew after a count of them was given up: nodes may have lied about a balance, or left out transfers. The
// token's transfers queue from some block on, its past is read up to that block, and what both leave is held against the token's contract.
// Until that is proven nothing of the token changes, so that a token whose transfers don't tell its balances stays as it is in every index.

const (
	// recountSamples is the most balances that a recount is held against.
	recountSamples = 32
)

// recount brings a recount forward by one step. It reports whether there is more to do at once.
func (h *Backfill) recount(ctx context.Context, l *store.Lease, j *market.HolderJob) (more bool, err error) {
	if j.Recount != market.RecountBegun {
		return false, h.conclude(ctx, l, j)
	}
	if j.Final >= h.final.Load() {
		return false, nil // a reorg may still take the beginning back
	}
	after := *j
	switch {
	case h.Nodes.TellsHolders():
		after.Next = after.Final
	case after.Next == 0:
		if after.Next, err = h.Nodes.CreatedAt(ctx, j.Token, j.Final); err != nil {
			return false, err
		}
	}
	after.Recount, after.BegunAt = market.RecountReading, h.Now().Unix()
	return true, h.Jobs.Save(ctx, l, &store.HolderProgress{Before: *j, After: after})
}

// conclude ends a recount whose past was read: it is proven and can be merged, or has no result. Where nodes don't tell, it is tried a few times
// more.
func (h *Backfill) conclude(ctx context.Context, l *store.Lease, j *market.HolderJob) error {
	right, known, err := h.prove(ctx, j)
	if err != nil {
		return err
	}
	if h.unproven++; !known && h.unproven < patience {
		return nil
	}
	h.unproven = 0
	after := *j
	after.Recount, after.Step, after.Broken = market.RecountProven, market.MergeAccounts, !right
	h.Log.InfoContext(ctx, "holders were counted anew", "token", j.Token.String(), "right", right)
	return h.Jobs.Save(ctx, l, &store.HolderProgress{Before: *j, After: after})
}

// prove holds what a recount leaves against the token's contract, at the block before the newest indexed one: the sum against the supply, and
// some of the balances. The newest block's hash draws them. Two endpoints have to give each answer where there are several; one alone has to
// repeat it. known is false where the nodes don't tell. Of the accounts those are in memory that transfers in the queue touch, and those drawn.
func (h *Backfill) prove(ctx context.Context, j *market.HolderJob) (right, known bool, err error) {
	var queued []market.QueuedTransfer
	newest, err := h.Jobs.QueuedBefore(ctx, h.Index(), []market.Address{j.Token}, func(q *market.QueuedTransfer) { queued = append(queued, *q) })
	if err != nil || newest.Number == 0 {
		return false, false, err
	}
	moved, total, right, err := h.leaves(ctx, j.Token, queued)
	if err != nil {
		return false, false, err
	}
	at := chain.Ref{Number: newest.Number - 1, Hash: newest.Parent}
	supplies, err := h.Nodes.Supplies(ctx, at, []market.Address{j.Token}, func(market.SupplyFact) chain.Doubt { return chain.Contradicted })
	if err != nil || len(supplies) == 0 {
		return false, false, err
	}
	if !right || total != supplies[0].Supply {
		return false, true, nil
	}
	keys, drawn, err := h.drawBalances(ctx, j.Token, moved, newest.Hash)
	if err != nil {
		return false, false, err
	}
	balances, err := h.Nodes.Balances(ctx, at, keys, func(market.Fact) bool { return true })
	if err != nil {
		return false, false, err
	}
	for _, b := range balances {
		if drawn[b.Account] != b.Amount {
			return false, true, nil
		}
	}
	return len(balances) == len(keys), len(balances) == len(keys), nil
}

// leaves adds transfers to staged balances, and gives the balances of the accounts that the transfers touch, and the sum of all accounts. right
// is false where a balance goes below zero.
func (h *Backfill) leaves(ctx context.Context, token market.Address, queued []market.QueuedTransfer,
) (moved map[market.Address]market.Amount, total market.Amount, right bool, err error) {
	touched := map[market.Address]bool{}
	for i := range queued {
		touched[queued[i].From], touched[queued[i].To] = true, true
	}
	if moved, err = h.Jobs.Staged(ctx, h.Index(), token, slices.Collect(maps.Keys(touched))); err != nil {
		return nil, total, false, err
	}
	before, _ := derive.TallyOf(moved).Sum()
	tally := derive.TallyOf(moved)
	for i := range queued {
		tally.Add(&queued[i])
	}
	after, right := tally.Sum()
	err = h.Jobs.EachStaged(ctx, h.Index(), token, func(a market.Amount) {
		_, over := total.AddOverflow(&total, &a)
		right = right && !over
	})
	total.Sub(&total, &before)
	_, over := total.AddOverflow(&total, &after)
	return moved, total, right && !over, err
}

// drawBalances draws some of the accounts that have a token, by a block's hash, with what they have. moved are those that differ from the staged
// balances.
func (h *Backfill) drawBalances(ctx context.Context, token market.Address, moved map[market.Address]market.Amount, by market.Hash,
) (keys []market.BalanceKey, has map[market.Address]market.Amount, err error) {
	from := market.Drawn(by, token)
	has = map[market.Address]market.Amount{}
	for _, first := range []market.Address{from, {}} {
		staged, err := h.Jobs.StagedFrom(ctx, h.Index(), token, first, recountSamples)
		if err != nil {
			return nil, nil, err
		}
		for _, b := range staged {
			has[b.Account] = b.Amount
		}
	}
	maps.Copy(has, moved)
	var accounts []market.Address
	for a, amount := range has {
		if !amount.IsZero() {
			accounts = append(accounts, a)
		}
	}
	slices.SortFunc(accounts, market.Address.Compare)
	first, _ := slices.BinarySearchFunc(accounts, from, market.Address.Compare)
	for k := range min(recountSamples, len(accounts)) {
		keys = append(keys, market.BalanceKey{Token: token, Account: accounts[(first+k)%len(accounts)]})
	}
	return keys, has, nil
}
