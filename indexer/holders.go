package indexer

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/derive"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// holderRange is the most blocks of a token's past that are read at once.
const holderRange = 10_000

// holderBackfill reads, beside the head, the past transfers of tokens that were followed too late. Up to a block that
// was final when it began; what comes after waits in a queue, and the loop merges both.
type holderBackfill struct {
	cfg     *chainconfig.Chain
	store   *store.Store
	source  source
	machine *derive.Machine
	log     *slog.Logger
	final   atomic.Uint64
	wake    chan struct{}
}

// see tells of a newer final block.
func (h *holderBackfill) see(final uint64) {
	if h.final.Swap(final) == 0 && final > 0 {
		h.nudge()
	}
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
		if err := h.pass(ctx, l); err != nil && ctx.Err() == nil {
			h.log.WarnContext(ctx, "holder backfill interrupted", "err", err.Error())
			if errors.Is(err, store.ErrLeaseLost) {
				return
			}
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

// pass begins jobs for new tokens and brings each open one forward by one range, so that a long past holds nobody up.
func (h *holderBackfill) pass(ctx context.Context, l *store.Lease) error {
	final := h.final.Load()
	if final == 0 {
		return nil
	}
	tokens, err := h.store.TokensToBackfill(ctx, h.cfg.ID)
	if err != nil {
		return err
	}
	for i := range tokens {
		if t := &tokens[i]; t.FirstBlock <= final+1 { // else something between the two would be lost
			created, err := h.source.CreatedAt(ctx, t.Mint, final)
			if err != nil {
				return err
			}
			job := &store.HolderJob{Token: t.Mint, Final: final, Next: created}
			if err := h.store.SaveHolderJob(ctx, l, job, nil); err != nil {
				return err
			}
			h.log.InfoContext(ctx, "holder backfill begun", "token", t.Mint.String(), "from", created, "final", final)
		}
	}
	for again := true; again && ctx.Err() == nil; {
		jobs, err := h.store.HolderJobs(ctx, h.cfg.ID)
		if err != nil {
			return err
		}
		again = false
		for i := range jobs {
			if j := &jobs[i]; !j.Done() {
				if err := h.step(ctx, l, j); err != nil {
					return err
				}
				again = again || !j.Done()
			}
		}
	}
	return ctx.Err()
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
	if j.Done() {
		h.log.InfoContext(ctx, "holder backfill read", "token", j.Token.String(), "final", j.Final)
	}
	return nil
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
		if !j.Done() || ix.state.Last().Number < j.Final {
			continue
		}
		balances, err := ix.store.Staged(ctx, ix.cfg.ID, j.Token, nil)
		if err != nil {
			return nil, err
		}
		queued, err := ix.store.Queued(ctx, ix.cfg.ID, j.Token)
		if err != nil {
			return nil, err
		}
		w := market.Wanted{Tokens: []market.Address{j.Token}, ExpireFrom: 1}
		want := func(a market.Address) {
			w.Balances = append(w.Balances, market.BalanceKey{Token: j.Token, Account: a})
		}
		for a := range balances {
			want(a)
		}
		for k := range queued {
			want(queued[k].From)
			want(queued[k].To)
		}
		if err := ix.load(ctx, w); err != nil {
			return nil, err
		}
		ix.machine.Merge(ix.state, j.Token, j.Final, balances, queued, j.Broken)
		merged = append(merged, j.Token)
	}
	return merged, nil
}
