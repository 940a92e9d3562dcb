package indexer

import (
	"context"
	"encoding/binary"
	"slices"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/derive"
	"github.com/boardwalkhq/boardwalk/indexer/evm"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// A recount counts a token's holders anew after a count of them was given up: nodes may have lied about a balance, or left out transfers. The
// token's transfers queue from some block on, its past is read up to that block, and what both leave is held against the token's contract.
// Until that is proven nothing of the token changes, so that a token whose transfers don't tell its balances stays as it is in every index.

const (
	// recountPause is the least time between two recounts that a chain begins. One runs at a time.
	recountPause = 10 * time.Minute
	// A token is counted anew again at the earliest after firstRecountPauses of them, after four times as long each further time, and after
	// mostRecountPauses of them in the end: after an hour, and after 30 days.
	firstRecountPauses, mostRecountPauses = 6, 30 * 24 * 6
	// recountSamples is the most balances that a recount is held against.
	recountSamples = 32
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
	if ix.state.Recounts() > 0 || now.Sub(ix.recountSought) < ix.o.RecountPause || until.Number+nearHead < ix.head.Reached {
		return nil, nil //nolint:nilnil // no recount is the usual case and no error
	}
	ix.recountSought = now
	from, err := market.AddressFromBytes(until.Hash[:market.EVMAddressLen])
	if err != nil {
		return nil, err
	}
	var majors []market.Address
	if ix.cfg.Tracking.Holders != chainconfig.HoldersAll {
		majors = append([]market.Address{}, ix.machine.Majors()...)
	}
	r, ok, err := ix.store.DueRecount(ctx, ix.cfg.ID, now.Unix(), from, majors)
	if err != nil || !ok {
		return nil, err
	}
	r.NextAt = ix.nextRecount(r.Times).Unix()
	ix.state.Recount(r.Token)
	ix.log.InfoContext(ctx, "holders are counted anew", "token", r.Token.String(), "time", r.Times, "block", until.Number)
	return &r, nil
}

// openRecounts are the tokens whose recounts began before this start or this reorg.
func (ix *Indexer) openRecounts(ctx context.Context) (tokens []market.Address, err error) {
	jobs, err := ix.store.HolderJobs(ctx, ix.cfg.ID)
	for i := range jobs {
		if jobs[i].Recount != store.NoRecount {
			tokens = append(tokens, jobs[i].Token)
		}
	}
	return tokens, err
}

// endRecounts ends the recounts of tokens that the chain document doesn't ask to follow any more, before anything of them goes on.
func (ix *Indexer) endRecounts(ctx context.Context, l *store.Lease) error {
	if ix.cfg.Tracking.Holders == chainconfig.HoldersAll {
		return nil
	}
	jobs, err := ix.store.HolderJobs(ctx, ix.cfg.ID)
	if err != nil || !slices.ContainsFunc(jobs, func(j store.HolderJob) bool { return j.Recount != store.NoRecount }) {
		return err
	}
	return ix.store.EndRecounts(ctx, l, ix.machine.Majors())
}

// accountsOfBefore adds, with nought, the accounts that a token has rows of and a recount found nothing of.
func (ix *Indexer) accountsOfBefore(ctx context.Context, token market.Address, balances map[market.Address]market.Amount) error {
	accounts, err := ix.store.Accounts(ctx, ix.cfg.ID, token)
	for _, a := range accounts {
		if _, has := balances[a]; !has {
			balances[a] = market.Amount{}
		}
	}
	return err
}

// recount brings a recount forward by one step. It reports whether there is more to do at once.
func (h *holderBackfill) recount(ctx context.Context, l *store.Lease, j *store.HolderJob) (more bool, err error) {
	switch {
	case j.Recount == store.RecountBegun:
		if j.Final >= h.final.Load() {
			return false, nil // a reorg may still take the beginning back
		}
		if j.Next == 0 {
			if j.Next, err = h.source.CreatedAt(ctx, j.Token, j.Final); err != nil {
				return false, err
			}
		}
		j.Recount = store.RecountReading
		return true, h.store.SaveHolderJob(ctx, l, j, nil)
	case j.Next <= j.Final:
		return true, h.step(ctx, l, j)
	case h.atHead():
		return false, h.conclude(ctx, l, j)
	default:
		return false, nil
	}
}

// conclude ends a recount whose past was read: it is proven, or has no result. Where nodes don't tell, it is tried a few times more.
func (h *holderBackfill) conclude(ctx context.Context, l *store.Lease, j *store.HolderJob) error {
	right, known, err := h.prove(ctx, j)
	if err != nil {
		return err
	}
	if h.unproven++; !known && h.unproven < patience {
		return nil
	}
	h.unproven = 0
	if j.Recount = store.RecountProven; !right {
		j.Broken = true
	}
	h.log.InfoContext(ctx, "holders were counted anew", "token", j.Token.String(), "right", right)
	return h.store.SaveHolderJob(ctx, l, j, nil)
}

// prove holds what a recount leaves against the token's contract, at the block before the newest indexed one: the sum against the supply, and
// some of the balances. The newest block's hash draws them. Two endpoints have to give each answer where there are several; one alone has to
// repeat it. known is false where the nodes don't tell.
func (h *holderBackfill) prove(ctx context.Context, j *store.HolderJob) (right, known bool, err error) {
	staged, err := h.store.Staged(ctx, h.cfg.ID, j.Token, nil)
	if err != nil {
		return false, false, err
	}
	tally := derive.TallyOf(staged)
	newest, err := h.store.QueuedBefore(ctx, h.cfg.ID, []market.Address{j.Token}, func(q *market.QueuedTransfer) { tally.Add(q) })
	if err != nil || newest.Number == 0 {
		return false, false, err
	}
	at := evm.BlockRef{Number: newest.Number - 1, Hash: newest.Parent}
	always := func(market.Fact) bool { return true }
	supplies, err := h.source.Supplies(ctx, at, []market.Address{j.Token}, always)
	if err != nil || len(supplies) == 0 {
		return false, false, err
	}
	if !tally.Explains(&supplies[0].Supply) {
		return false, true, nil
	}
	keys := drawBalances(j.Token, tally.Balances(), newest.Hash)
	balances, err := h.source.Balances(ctx, at, keys, always)
	if err != nil {
		return false, false, err
	}
	for _, b := range balances {
		if tally.Balances()[b.Account] != b.Amount {
			return false, true, nil
		}
	}
	return len(balances) == len(keys), len(balances) == len(keys), nil
}

// drawBalances draws some of the accounts that have a token, by a block's hash.
func drawBalances(token market.Address, balances map[market.Address]market.Amount, by market.Hash) []market.BalanceKey {
	var accounts []market.Address
	for a, amount := range balances {
		if !amount.IsZero() {
			accounts = append(accounts, a)
		}
	}
	if len(accounts) == 0 {
		return nil
	}
	slices.SortFunc(accounts, market.Address.Compare)
	first := int(binary.BigEndian.Uint32(by[:]) % uint32(len(accounts)))
	keys := make([]market.BalanceKey, min(recountSamples, len(accounts)))
	for k := range keys {
		keys[k] = market.BalanceKey{Token: token, Account: accounts[(first+k)%len(accounts)]}
	}
	return keys
}
