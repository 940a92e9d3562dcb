// Package pasts reads, in the background of the loop, what members' wallets did before they were watched, where the index of their chain doesn't reach back far enough.
// It writes the results into jobs, which the loop takes in.
package pasts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sort"
	"sync/atomic"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/budget"
	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/derive"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

const (
	// walletsAtOnce is how many wallets are looked for by one filter.
	walletsAtOnce = 200
	// firstRange and widestRange are how many blocks are looked through at once, at first and at most.
	firstRange, widestRange = 2_000, 100_000
	// refusedFor is how many ranges aren't made wider after a node refused one as too wide.
	refusedFor = 20
	// fewTransfers is below how many transfers of a range the next one may be twice as wide.
	fewTransfers = 2_000
	// mostBlocks is how many blocks of a wallet are read. Nothing is known of the past of a wallet with more: what isn't known has no basis. mostAlone is how many
	// are read besides that one endpoint of two names alone. Of a wallet with more it can't be told now: one endpoint's word gives up nobody's past.
	mostBlocks, mostAlone = 10_000, 10_000
	// firstStep is the first step back from the index's beginning, in blocks, when the first block of a time is looked for.
	firstStep = 1 << 12
	// together is by how many days the dates may differ from which on wallets count for their members, if one filter looks for them together.
	together = 7
	// mostJobs is how many wallets' pasts are read at once at most, those that can't be read now among them.
	mostJobs = 1_000
	// restsFor is the time between two looks whether there is anything to do, and toldEvery that between two lines of a log that say how far it has come.
	restsFor, toldEvery = 5 * time.Second, 30 * time.Second
	// longestRest is the longest pause of the whole reader, after several failures in a row. firstPause and longestPause are the shortest and the longest pause of a
	// wallet that couldn't be read.
	longestRest, firstPause, longestPause = 10 * time.Minute, time.Minute, time.Hour
)

// Settle is how long an index has to have gone on until anything of the time before it is read: by then it knows the tokens and pools that are traded.
const Settle = 24 * time.Hour

// Nodes tell of the past.
type Nodes interface {
	chain.BlockReader
	chain.PastFinder
}

// Options are the settings of a reader, and the functions that it tells of its work.
type Options struct {
	// Days is how long before a wallet counts for its member anything of it is wanted; 0 wants nothing of the time before the index.
	Days int64
	// Settle is as the constant.
	Settle time.Duration
	// Reading is told of how many wallets the past is being read.
	Reading func(wallets int)
	Store   *store.Store
	// Index names the index whose rows are read.
	Index   func() string
	Nodes   Nodes
	Machine *derive.Machine
	// GivesUp reports whether nodes aren't asked for something now.
	GivesUp func(budget.Purpose) bool
	Now     func() time.Time
	Log     *slog.Logger
}

// Reader reads the pasts of a chain's wallets.
type Reader struct {
	Options

	final atomic.Uint64
	ready atomic.Bool
	wake  chan struct{}
	// began is the header below the index's first block, of the index that it was read for.
	began market.Header
	of    string
	width uint64
	// keeps is how many ranges stay as wide as they are.
	keeps int
	// first is the first block that this process looked through of those that it looks through now, at the time since; told is when it last said how far it is.
	first       uint64
	since, told time.Time
	// parts are what was read of wallets whose blocks are being read.
	parts map[partOf]*part
	// pauses has the pause of each wallet whose blocks couldn't be read.
	pauses map[market.Address]pause
}

// part has the entries of a job's wallet in the first blocks of the job.
type part struct {
	blocks  int
	entries []market.Entry
}

// partOf tells one list of a wallet's blocks from another.
type partOf struct {
	index  string
	wallet market.Address
	change int64
	before uint64
	found  int
}

// pause is until when something isn't tried again, and how long the pause is.
type pause struct {
	until time.Time
	long  time.Duration
}

// New makes a reader that asks nobody before it runs.
func New(o Options) *Reader {
	r := &Reader{Options: o, wake: make(chan struct{}, 1), width: firstRange, pauses: map[market.Address]pause{}, parts: map[partOf]*part{}}
	r.ready.Store(true) // an earlier run may have left one
	return r
}

// See notes the newest final block.
func (r *Reader) See(final uint64) { r.final.Store(final) }

// Watched tells that the index has begun to watch wallets.
func (r *Reader) Watched() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// TakeBack tells that the loop may have to take in a past again: blocks were taken back, or it begins anew.
func (r *Reader) TakeBack() { r.ready.Store(true) }

// Ready is a past that is read and wasn't taken in; ok is false where there is none.
func (r *Reader) Ready(ctx context.Context) (f market.PastFact, ok bool, err error) {
	if !r.ready.Swap(false) {
		return f, false, nil
	}
	if f, ok, err = r.Store.Wallets.ReadyPast(ctx, r.Index()); ok || err != nil {
		r.ready.Store(true)
	}
	return f, ok, err
}

// Run reads until ctx ends.
func (r *Reader) Run(ctx context.Context, l *store.Lease) {
	rest := restsFor
	for ctx.Err() == nil {
		more, err := r.pass(rpc.For(ctx, budget.Pasts), l)
		if errors.Is(err, store.ErrLeaseLost) || r.Days == 0 && err == nil {
			return
		}
		if err != nil && ctx.Err() == nil {
			r.Log.WarnContext(ctx, "reading what members' wallets did before they were watched was interrupted", "err", err.Error())
		}
		if rest = min(2*rest, longestRest); err == nil {
			rest = restsFor
		}
		if more && err == nil {
			continue
		}
		t := time.NewTimer(rest)
		select {
		case <-ctx.Done():
		case <-r.wake:
			_ = wait.For(ctx, time.Second) // the commit that watches them comes first
		case <-t.C:
		}
		t.Stop()
	}
}

// pass goes a step on: it reads the blocks of a wallet, looks through a range of blocks for wallets, or begins to look for others.
func (r *Reader) pass(ctx context.Context, l *store.Lease) (more bool, err error) {
	if err := r.Store.Wallets.DropPasts(ctx, l, r.final.Load()); err != nil {
		return false, err
	}
	if r.Days == 0 || r.GivesUp(budget.Pasts) {
		return false, nil
	}
	ok, err := r.findBeginning(ctx)
	if err != nil || !ok {
		return false, err
	}
	jobs, err := r.Store.Wallets.PastJobs(ctx, r.Index())
	if err != nil {
		return false, err
	}
	r.Reading(len(jobs))
	maps.DeleteFunc(r.parts, func(of partOf, _ *part) bool { // of jobs that are gone
		return !slices.ContainsFunc(jobs, func(j market.PastJob) bool { return j.Wallet == of.wallet && j.Change == of.change })
	})
	if more, err := r.readOne(ctx, l, jobs); more || err != nil {
		return more, err
	}
	if next, ok := r.next(jobs); ok {
		return true, r.look(ctx, l, jobs, next)
	}
	if len(jobs) >= mostJobs {
		return false, nil
	}
	return r.begin(ctx, l)
}

// next is the first block that is to be looked through; ok is false where there is none now.
func (r *Reader) next(jobs []market.PastJob) (next uint64, ok bool) {
	for i := range jobs {
		if j := &jobs[i]; !j.IsFound() && !r.isPaused(j.Wallet) && (!ok || j.Next < next) {
			next, ok = j.Next, true
		}
	}
	return next, ok
}

func (r *Reader) isPaused(wallet market.Address) bool { return r.Now().Before(r.pauses[wallet].until) }

// pause has wallets left alone for at least so long, and longer each time.
func (r *Reader) pause(ctx context.Context, wallets []market.Address, least time.Duration, err error) {
	for _, w := range wallets {
		p := r.pauses[w]
		p.long = max(least, min(2*p.long, longestPause))
		p.until = r.Now().Add(p.long)
		r.pauses[w] = p
	}
	r.Log.WarnContext(ctx, "what members' wallets did before they were watched can't be read", "wallets", len(wallets), "err", err.Error(),
		"retry_in_s", r.pauses[wallets[0]].long.Seconds())
}

// readOne reads the blocks of one of the wallets. One whose blocks can't be read holds up no other.
func (r *Reader) readOne(ctx context.Context, l *store.Lease, jobs []market.PastJob) (more bool, err error) {
	for i := range jobs {
		j := &jobs[i]
		if !j.IsFound() || r.isPaused(j.Wallet) {
			continue
		}
		err := r.read(ctx, l, j)
		if busy, ok := errors.AsType[*chain.BusyError](err); ok && busy.Account == j.Wallet {
			err = r.giveUpNow(ctx, l, j, err)
		}
		if err == nil {
			delete(r.pauses, j.Wallet)
			return true, nil
		}
		if ctx.Err() != nil || errors.Is(err, store.ErrLeaseLost) {
			return false, err
		}
		r.pause(ctx, []market.Address{j.Wallet}, firstPause, err)
		return false, nil // the others get on
	}
	return false, nil
}

// findBeginning finds the block below the first one of the index; ok is false where there is none.
func (r *Reader) findBeginning(ctx context.Context) (ok bool, err error) {
	if r.of == r.Index() {
		return r.began.Number > 0, nil
	}
	status, ok, err := r.Store.Chain(ctx, r.Index())
	if err != nil || !ok || status.Last.Hash.IsZero() {
		return false, err
	}
	r.began = market.Header{}
	if status.StartBlock > 1 {
		h, err := r.header(ctx, status.StartBlock-1)
		if err != nil {
			return false, err
		}
		r.began = h
	}
	r.of = r.Index()
	return r.began.Number > 0, nil
}

// header reads the header of a block, or of the next block if the chain skipped that number.
func (r *Reader) header(ctx context.Context, number uint64) (market.Header, error) {
	h, err := r.Nodes.Header(ctx, number)
	if errors.Is(err, chain.ErrSkipped) {
		var next []chain.Header
		if next, err = r.Nodes.Headers(ctx, market.Header{}, number, number); err == nil {
			h = next[0]
		}
	}
	return h.Header, err
}

// begin begins to look for wallets of whose past nothing is known, those together that one filter holds.
func (r *Reader) begin(ctx context.Context, l *store.Lease) (began bool, err error) {
	status, ok, err := r.Store.Chain(ctx, r.Index())
	if err != nil || !ok || status.Last.Time < r.began.Time+int64(r.Settle.Seconds()) {
		return false, err
	}
	const day = 24 * 60 * 60
	reach := r.Days * day
	wallets, err := r.Store.Wallets.WithoutPast(ctx, r.Index(), r.began.Time+reach, r.final.Load(), walletsAtOnce)
	wallets = slices.DeleteFunc(wallets, func(w store.WalletFrom) bool { return r.isPaused(w.Wallet) })
	if err != nil || len(wallets) == 0 {
		return false, err
	}
	late := slices.IndexFunc(wallets, func(w store.WalletFrom) bool { return w.Since > wallets[0].Since+together*day })
	if late > 0 { // they are in the order of their times: the others have a beginning of their own
		wallets = wallets[:late]
	}
	first, err := r.firstSince(ctx, wallets[0].Since-reach)
	if err != nil && ctx.Err() == nil { // nodes may have the blocks that others need
		group := make([]market.Address, len(wallets))
		for i, w := range wallets {
			group[i] = w.Wallet
		}
		r.pause(ctx, group, firstPause, err)
		return true, nil
	}
	if err != nil {
		return false, err
	}
	jobs := make([]market.PastJob, len(wallets))
	for i, w := range wallets {
		jobs[i] = market.PastJob{Wallet: w.Wallet, Change: w.Change, Since: w.Since - reach, First: first, Next: first, Before: w.From}
	}
	r.Log.InfoContext(ctx, "reading what members' wallets did before they were watched", "wallets", len(jobs), "from", first)
	return true, r.Store.Wallets.SavePasts(ctx, l, jobs)
}

// firstSince finds the first block of a time, which is before the index's beginning.
func (r *Reader) firstSince(ctx context.Context, at int64) (uint64, error) {
	var failed error
	isSince := func(block uint64) bool {
		if failed != nil {
			return true
		}
		h, err := r.header(ctx, block)
		if errors.Is(err, chain.ErrNoBlock) {
			return false // it is older than what nodes keep, unless the block that is found is as well
		}
		failed = err
		return h.Time >= at
	}
	// It goes back from the beginning in steps that double: nodes may not have much older blocks.
	before, step := r.began.Number, uint64(firstStep)
	for before > 0 && isSince(before) && failed == nil {
		before -= min(before, step)
		step *= 2
	}
	n := int(before) + sort.Search(int(min(step/2, r.began.Number-before)), func(i int) bool { return isSince(before + uint64(i) + 1) })
	if failed != nil {
		return 0, fmt.Errorf("the first block of %s: %w", time.Unix(at, 0).UTC().Format(time.RFC3339), failed)
	}
	if n > 0 { // one endpoint told the times
		h, err := r.header(ctx, uint64(n))
		if err != nil {
			return 0, fmt.Errorf("nodes have to have the blocks since %s (tracking.pastDays): %w", time.Unix(at, 0).UTC().Format(time.RFC3339), err)
		}
		b, err := r.Nodes.PastBlock(ctx, h.Number, market.Address{})
		if err == nil && b.Time >= at {
			err = fmt.Errorf("block %d is of %d", n, b.Time)
		}
		if err != nil {
			return 0, fmt.Errorf("the first block of %s: %w", time.Unix(at, 0).UTC().Format(time.RFC3339), err)
		}
	}
	return uint64(n) + 1, nil
}

// look looks through a range of blocks for transfers of wallets.
func (r *Reader) look(ctx context.Context, l *store.Lease, jobs []market.PastJob, next uint64) error {
	var wallets []market.Address
	of, before := map[market.Address]*market.PastJob{}, next
	atOnce := walletsAtOnce
	if r.Nodes.ListsAccounts() {
		atOnce = 1 // so that one that can't be listed holds up no other
	}
	for i := range jobs {
		if j := &jobs[i]; !j.IsFound() && j.Next == next && len(wallets) < atOnce && !r.isPaused(j.Wallet) {
			wallets, of[j.Wallet], before = append(wallets, j.Wallet), j, max(before, j.Before)
		}
	}
	to := min(next+r.width, before) - 1
	if r.Nodes.ListsAccounts() {
		to = before - 1
	}
	found, upTo, err := r.Nodes.TransfersOfWallets(ctx, wallets, next, to)
	if err != nil {
		return r.notFound(ctx, l, wallets, of, fmt.Errorf("blocks %d to %d: %w", next, to, err))
	}
	for _, w := range wallets {
		delete(r.pauses, w)
	}
	r.learn(upTo-next+1, upTo < to, len(found))
	known, err := r.known(ctx, found)
	if err != nil {
		return err
	}
	slices.SortFunc(found, func(a, b chain.WalletTransfer) int { // what two say of a block before what one says
		switch {
		case a.Block != b.Block:
			return cmp.Compare(a.Block, b.Block)
		case a.Alone == b.Alone:
			return 0
		case b.Alone:
			return -1
		}
		return 1
	})
	changed := map[market.Address]bool{}
	for i := range found {
		t := &found[i]
		j := of[t.Wallet]
		if !known[t.Token] || t.Block >= j.Before || len(j.Found) > 0 && j.Found[len(j.Found)-1] == t.Block {
			continue
		}
		changed[t.Wallet] = true
		if j.Found = append(j.Found, t.Block); t.Alone {
			j.Alone++
		}
	}
	var save []market.PastJob
	for wallet, j := range of {
		j.Next = upTo + 1
		switch {
		case len(j.Found)-j.Alone > mostBlocks:
			changed[wallet] = true
			r.giveUp(ctx, j, fmt.Errorf("it is in more than %d blocks", mostBlocks))
		case j.Alone > mostAlone: // from the beginning, another time
			j.Found, j.Alone, j.Next, changed[wallet] = nil, 0, j.First, true
			r.pause(ctx, []market.Address{wallet}, longestPause, errors.New("endpoints differ about too many blocks"))
		}
		if changed[wallet] {
			save = append(save, *j)
		}
	}
	r.tell(ctx, len(wallets), next, upTo+1, before)
	err = r.Store.Wallets.MovePasts(ctx, l, wallets, upTo+1, save)
	if slices.ContainsFunc(save, func(j market.PastJob) bool { return j.Fact != nil }) {
		r.ready.Store(true)
	}
	return err
}

// notFound takes in why blocks of wallets weren't found: it gives up a wallet that has too many transactions, and leaves the others alone for a while.
func (r *Reader) notFound(ctx context.Context, l *store.Lease, wallets []market.Address, of map[market.Address]*market.PastJob, err error) error {
	if busy, ok := errors.AsType[*chain.BusyError](err); ok && of[busy.Account] != nil {
		j := of[busy.Account]
		return r.giveUpNow(ctx, l, j, err)
	}
	if ctx.Err() == nil {
		r.pause(ctx, wallets, firstPause, err)
	}
	return ctx.Err()
}

// giveUpNow is giveUp. It also saves the job, so that the loop takes the end in.
func (r *Reader) giveUpNow(ctx context.Context, l *store.Lease, j *market.PastJob, why error) error {
	r.giveUp(ctx, j, why)
	if err := r.Store.Wallets.SavePasts(ctx, l, []market.PastJob{*j}); err != nil {
		return err
	}
	r.ready.Store(true)
	return nil
}

// giveUp ends the job of a wallet that did too much: nothing of its past is known.
func (r *Reader) giveUp(ctx context.Context, j *market.PastJob, why error) {
	j.Found, j.Fact = nil, &market.PastFact{Wallet: j.Wallet, Before: j.Before}
	r.Log.WarnContext(ctx, "a member's wallet did too much before it was watched: none of it is known", "change", j.Change, "why", why.Error())
}

// tell says now and then how far it has come, and how long it will take.
func (r *Reader) tell(ctx context.Context, wallets int, from, next, before uint64) {
	now := r.Now()
	if r.first == 0 || from < r.first || next >= before {
		r.first, r.since = from, now
	}
	if now.Sub(r.told) < toldEvery || next <= r.first || from == r.first {
		return
	}
	r.told = now
	done := float64(next-r.first) / float64(before-r.first)
	r.Log.InfoContext(ctx, "reading what members' wallets did before they were watched", "wallets", wallets, "block", next-1, "to", before-1,
		"percent", int(100*done), "eta_s", int(now.Sub(r.since).Seconds()*(1-done)/done))
}

// learn learns how wide the next range may be.
func (r *Reader) learn(answered uint64, refused bool, transfers int) {
	switch {
	case refused:
		r.width, r.keeps = answered, refusedFor
	case transfers > 4*fewTransfers:
		r.width = max(r.width/2, 1)
	case answered < r.width: // the end of a past says nothing
	case r.keeps > 0:
		r.keeps--
	case transfers < fewTransfers:
		r.width = min(2*r.width, widestRange)
	}
}

// known finds the tokens of transfers that the index knows. It leaves out quote assets, which are nobody's position. The block tells of a token that isn't known yet.
func (r *Reader) known(ctx context.Context, found []chain.WalletTransfer) (map[market.Address]bool, error) {
	known := map[market.Address]bool{}
	w := market.Wanted{ExpireFrom: 1}
	for i := range found {
		if t := found[i].Token; !t.IsNone() && !known[t] && !r.Machine.IsQuote(t) {
			known[t] = true
			w.Tokens = append(w.Tokens, t)
		}
	}
	rows, err := r.Store.Load(ctx, r.Index(), w)
	clear(known)
	known[market.Address{}] = true
	for i := range rows.Tokens {
		known[rows.Tokens[i].Mint] = true
	}
	return known, err
}

// read reads the blocks of a wallet.
func (r *Reader) read(ctx context.Context, l *store.Lease, j *market.PastJob) error {
	quotes, err := r.Store.Beginning(ctx, r.Index(), r.Machine.VenueContracts())
	if err != nil {
		return err
	}
	of := partOf{r.Index(), j.Wallet, j.Change, j.Before, len(j.Found)}
	if r.parts[of] == nil {
		r.parts[of] = &part{}
	}
	part := r.parts[of]
	p := blocks{Reader: r, read: map[blockOf]market.Block{}}
	for ; part.blocks < len(j.Found) && len(part.entries) <= market.MostReworked; part.blocks++ {
		if r.GivesUp(budget.Pasts) {
			return nil // it goes on from here
		}
		number := j.Found[part.blocks]
		b, err := p.block(ctx, number, j.Wallet)
		if err != nil {
			return err
		}
		if b.Time < j.Since {
			continue
		}
		entries, err := p.entries(ctx, &b, j.Wallet, &quotes)
		if err != nil {
			return fmt.Errorf("block %d: %w", number, err)
		}
		part.entries = append(part.entries, entries...)
	}
	after := *j
	after.Fact = &market.PastFact{Wallet: j.Wallet, Before: j.Before}
	if len(part.entries) <= market.MostReworked { // else none of it would be taken in
		after.Fact.Entries = part.entries
	}
	if err := r.Store.Wallets.SavePasts(ctx, l, []market.PastJob{after}); err != nil {
		return err
	}
	r.Log.DebugContext(ctx, "what a member's wallet did before it was watched is read", "change", j.Change, "blocks", len(j.Found), "entries", len(part.entries))
	delete(r.parts, of)
	r.ready.Store(true)
	return nil
}
