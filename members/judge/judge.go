// Package judge says what a token costs when a member calls it, and then how the call stands: which price was held since, and whether the call has won or lost.
// It goes by what the chains' indexers wrote, and follows their reorgs.
package judge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/social"
)

const (
	// callsAtOnce and tokensAtOnce are how many of either are read at once, and tradesAtOnce is the default of Options.TradesAtOnce.
	callsAtOnce, tokensAtOnce, tradesAtOnce = 1_000, 500, 5_000
	// writtenAtOnce is how many calls are written at once. The intake waits meanwhile.
	writtenAtOnce = 500
	// sureEvery is how often SureBlock is written if nothing else changes, in seconds of a chain's time.
	sureEvery = 10 * 60
	// silentFor is how long a chain that stands still is waited for after a call's deadline, in seconds of the clock.
	silentFor = 24 * 60 * 60
)

// Options are what a judge works with.
type Options struct {
	// Store goes by chains' ids (store.Served).
	Store *store.Store
	Now   func() time.Time
	// Open tells how many calls there are that aren't settled.
	Open prometheus.Gauge
	// TradesAtOnce is how many trades of a token are read at once; 0 stands for 5,000.
	TradesAtOnce int
}

// Judge judges calls. One goroutine calls Look.
type Judge struct {
	Options

	calls  map[int64]*call
	tokens map[store.TokenAt]*token
	// commits are the chains' commit numbers at the last look.
	commits map[string]int64
	// change is the number of the last change of a call that was taken in.
	change   int64
	isLoaded bool
	// forgotten says that Forget was called since, and pruned that Prune was.
	forgotten, pruned atomic.Bool
}

// New is a judge that knows no call yet.
func New(o Options) *Judge { return &Judge{Options: o} }

// call is a call that isn't settled.
type call struct {
	member.Call

	// start has the price at the call, lowered to the lowest close since. It is nil once its hold time is over. It counts for this call alone, since a reorg may
	// have taken its block.
	start *closing
	// rises are the peaks that were known by blocks that aren't final, in their order.
	rises []rise
	// overAt is the block by which the call's time, and every hold time that began in it, was over; 0 before.
	overAt uint64
	// saved is the standing in the database.
	saved member.Standing
}

// rise is a new peak, and the block by which it was known.
type rise struct {
	usd   float64
	block uint64
}

// Look takes in what the chains brought since the last time, and writes how the calls stand, under the lease.
func (j *Judge) Look(ctx context.Context, l *social.Lease) error {
	if err := j.follow(ctx); err != nil {
		return err
	}
	j.Open.Set(float64(len(j.calls)))
	if len(j.calls) == 0 {
		return nil
	}
	before, err := j.chains(ctx)
	if err != nil {
		return err
	}
	failed := j.lookAtAll(ctx, before) // what the others brought is written all the same
	after, err := j.chains(ctx)
	if err != nil {
		return err
	}
	var judged []social.Judged
	for _, c := range j.calls {
		was, ok := before[c.Chain]
		is := after[c.Chain]
		// A chain that was rewound meanwhile may have been read before and after that: it is read again.
		if c.isDirty() && (!ok || is != nil && was.Rewinds == is.Rewinds && was.Generation == is.Generation) {
			judged = append(judged, social.Judged{Number: c.Number, Standing: c.Standing})
		}
	}
	for some := range slices.Chunk(judged, writtenAtOnce) {
		if err := j.Store.Social.Calls.Judge(ctx, l, some, j.Now().Unix()); err != nil {
			return err
		}
		for _, done := range some {
			c := j.calls[done.Number]
			if c.saved = c.Standing; c.Settled {
				j.drop(c)
			}
		}
	}
	return failed
}

// Forget has all calls read anew at the next look: another process may have judged them meanwhile, or the database may have lost something. Any goroutine may
// call it.
func (j *Judge) Forget() {
	j.forgotten.Store(true)
	j.Open.Set(0)
}

// Prune has the next look drop calls that were erased. Any goroutine may call it.
func (j *Judge) Prune() { j.pruned.Store(true) }

func (j *Judge) tradesAtOnce() int { return cmp.Or(j.TradesAtOnce, tradesAtOnce) }

// isDirty reports whether the call's standing has to be written.
func (c *call) isDirty() bool {
	return c.Outcome != c.saved.Outcome || c.Settled != c.saved.Settled || c.PeakUSD != c.saved.PeakUSD || c.SureTime-c.saved.SureTime >= sureEvery
}

func (j *Judge) chains(ctx context.Context) (map[string]*store.ChainStatus, error) {
	list, err := j.Store.Chains(ctx)
	if err != nil {
		return nil, err
	}
	out := make(map[string]*store.ChainStatus, len(list))
	for i := range list {
		out[list[i].ID] = &list[i]
	}
	return out, nil
}

// follow takes in which calls there are. A database that has gone back is read anew.
func (j *Judge) follow(ctx context.Context) error {
	last, err := j.Store.Social.Calls.LastCallChange(ctx)
	if err != nil {
		return err
	}
	if j.forgotten.Swap(false) || !j.isLoaded || last < j.change {
		return j.load(ctx, last)
	}
	if j.pruned.Swap(false) {
		there := map[int64]bool{}
		if err := j.eachToJudge(ctx, func(c *member.Call) { there[c.Number] = true }); err != nil {
			return err
		}
		for n, c := range j.calls {
			if !there[n] {
				j.drop(c)
			}
		}
	}
	for j.change < last {
		list, err := j.Store.Social.Calls.CallChanges(ctx, j.change, callsAtOnce)
		if err != nil {
			return err
		}
		if len(list) == 0 { // the call that changed last isn't there any more
			j.change = last
			break
		}
		for i := range list {
			j.take(&list[i])
			j.change = list[i].Change
		}
	}
	return nil
}

// load reads all calls that aren't settled.
func (j *Judge) load(ctx context.Context, last int64) error {
	j.calls, j.tokens, j.commits, j.isLoaded = map[int64]*call{}, map[store.TokenAt]*token{}, map[string]int64{}, false
	if err := j.eachToJudge(ctx, j.take); err != nil {
		return err
	}
	j.change, j.isLoaded = last, true
	return nil
}

// eachToJudge reads the calls that aren't settled.
func (j *Judge) eachToJudge(ctx context.Context, do func(*member.Call)) error {
	for above := int64(0); ; {
		list, err := j.Store.Social.Calls.CallsToJudge(ctx, above, callsAtOnce)
		if err != nil {
			return err
		}
		for i := range list {
			do(&list[i])
			above = max(above, list[i].Number)
		}
		if len(list) < callsAtOnce {
			return nil
		}
	}
}

// take takes in a call that is new or has changed.
func (j *Judge) take(now *member.Call) {
	c := j.calls[now.Number]
	switch {
	case now.Settled:
		if c != nil {
			j.drop(c)
		}
	case c == nil:
		c = &call{Call: *now, saved: now.Standing}
		c.Text, c.Refs = "", nil
		j.calls[c.Number] = c
		at := c.token()
		if j.tokens[at] == nil {
			j.tokens[at] = &token{TokenAt: at}
		}
		j.tokens[at].addCall(c)
	}
}

func (c *call) token() store.TokenAt { return store.TokenAt{Chain: c.Chain, Mint: c.Mint} }

func (j *Judge) drop(c *call) {
	delete(j.calls, c.Number)
	t := j.tokens[c.token()]
	if t.calls = slices.DeleteFunc(t.calls, func(other *call) bool { return other == c }); len(t.calls) == 0 {
		delete(j.tokens, t.TokenAt)
	}
}

// lookAtAll takes in what happened to all tokens with open calls.
func (j *Judge) lookAtAll(ctx context.Context, chains map[string]*store.ChainStatus) error {
	if err := j.read(ctx, chains); err != nil {
		return err
	}
	var errs []error // a token that can't be read leaves the others as they are
	for _, t := range j.tokens {
		chain := chains[t.Chain]
		isThere := chain != nil && chain.Last.Hash != (market.Hash{})
		if isThere {
			if err := j.lookAt(ctx, t, chain); err != nil {
				errs = append(errs, fmt.Errorf("judge the calls of %s on %s: %w", t.Mint, t.Chain, err))
				continue
			}
		}
		if !isThere || !t.hasNews {
			t.settleLate(j.Now().Unix())
		}
	}
	if len(errs) == 0 { // else those that were read are read again
		for id, chain := range chains {
			j.commits[id] = chain.CommitNo
		}
	}
	return errors.Join(errs...)
}

// read reads the tokens that are new here or have changed since the last look.
func (j *Judge) read(ctx context.Context, chains map[string]*store.ChainStatus) error {
	changed, err := j.changed(ctx, chains)
	if err != nil {
		return err
	}
	var unread []*token
	for at, t := range j.tokens {
		if chain := chains[t.Chain]; chain != nil && (t.mustRestart(chain) || changed[at]) {
			unread = append(unread, t)
		}
	}
	for some := range slices.Chunk(unread, tokensAtOnce) {
		mints := make([]market.Address, len(some))
		for i, t := range some {
			mints[i] = t.Mint
		}
		seen, err := readTokens(ctx, j.Store, mints)
		if err != nil {
			return err
		}
		for _, t := range some {
			t.seen, t.hasNews = seen[t.TokenAt], true // a trade changes its pool, and thereby the token
		}
	}
	return nil
}

// settleLate settles calls a day after their time, as they stand: their chain has stopped, or is gone. now is unix seconds.
func (t *token) settleLate(now int64) {
	for _, c := range t.calls {
		if now > c.Deadline()+silentFor {
			c.settle()
		}
	}
}

// changed finds the tokens that have changed since the last look. It leaves out chains that are new here, have gone back, or of which nobody tells it: all their
// tokens are read anyway.
func (j *Judge) changed(ctx context.Context, chains map[string]*store.ChainStatus) (map[store.TokenAt]bool, error) {
	since := map[string]int64{}
	for at := range j.tokens {
		chain, last := chains[at.Chain], j.commits[at.Chain]
		switch {
		case chain == nil || last == 0 || chain.CommitNo == last:
		case chain.CommitNo < last:
			j.tokens[at].isRunning = false
		default:
			since[at.Chain] = last
		}
	}
	found, err := j.Store.ChangedSince(ctx, since)
	if err != nil {
		return nil, err
	}
	for at := range j.tokens {
		if _, wanted := since[at.Chain]; wanted && found[at.Chain] == nil {
			j.tokens[at].isRunning = false
		}
	}
	out := map[store.TokenAt]bool{}
	for chain, c := range found {
		for _, mint := range c.Tokens {
			out[store.TokenAt{Chain: chain, Mint: mint}] = true
		}
	}
	return out, nil
}

// settle settles a call as it stands.
func (c *call) settle() {
	if c.Settled = true; c.Outcome == member.CallOpen {
		c.Outcome, c.DecidedAt = member.CallLoss, c.Deadline()
	}
}
