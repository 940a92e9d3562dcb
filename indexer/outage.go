package indexer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

// outage is a time in which the nodes leave something unanswered that the loop needs.
type outage struct {
	since time.Time // zero while they answer
	told  bool      // the database and the state have it
	pause retryPause
}

// unanswered pauses after a turn that the nodes left unanswered. The lease and what is loaded are kept, so that the turn can be made again;
// an outage of more than a moment is told.
func (ix *Indexer) unanswered(ctx context.Context, why error) error {
	o, now := &ix.outage, ix.o.Now()
	if ix.progressed || o.since.IsZero() {
		o.since, o.pause, ix.progressed = now, retryPause{}, false
	}
	if !o.told && now.Sub(o.since) >= ix.silence() {
		o.told = true
		ix.account.failed(chainconfig.PhaseFailing, why)
		ix.degraded(ctx, why)
		ix.settled.Store(true)
	}
	ix.tellMissing(why)
	next := o.pause.next()
	ix.log.WarnContext(ctx, "indexing interrupted", "err", why.Error(), "retry_in_s", next.Seconds())
	if !wait.For(ctx, next) {
		return ctx.Err()
	}
	if ix.unwritten {
		return ix.resume(ctx)
	}
	return nil
}

// missingAfter is how long no endpoint may have a block before it counts as missing, and not as late.
const missingAfter = 10 * time.Minute

// tellMissing tells which blocks no endpoint has, once the index has waited for them for long.
func (ix *Indexer) tellMissing(why error) {
	missing, ok := errors.AsType[*chain.RangeMissingError](why)
	if !ok {
		ix.noneMissing()
		return
	}
	now := ix.o.Now()
	if m := &ix.missing; m.since.IsZero() || m.first != missing.First || m.last != missing.Last {
		ix.noneMissing()
		*m = missingRange{missing.First, missing.Last, now}
	}
	if now.Sub(ix.missing.since) >= missingAfter {
		ix.account.failed(chainconfig.PhaseFailing, why)
		ix.account.missing(&chainconfig.MissingRange{First: missing.First, Last: missing.Last, Since: ix.missing.since})
		ix.o.Metrics.missing(ix.cfg.ID, missing.Last-missing.First+1)
	}
}

// missingRange are blocks that the index has waited for since a time.
type missingRange struct {
	first, last uint64
	since       time.Time // zero for none
}

// noneMissing says that the index waits for no missing blocks, or for others.
func (ix *Indexer) noneMissing() {
	if !ix.missing.since.IsZero() {
		ix.missing = missingRange{}
		ix.account.missing(nil)
		ix.o.Metrics.missing(ix.cfg.ID, 0)
	}
}

const (
	// databasePace is the time between two pings of the database.
	databasePace = 3 * time.Second
	// databasePatience is how long the database may take to answer a ping.
	databasePatience = 5 * time.Second
)

// watchDatabase pings the database every databasePace until ctx ends. The first ping that fails is logged; after a second one the indexer's state says that the
// database doesn't answer. The loop alone would notice a silent connection much later.
func (ix *Indexer) watchDatabase(ctx context.Context) {
	database := ix.store.Reserved()
	isFailing := false
	for wait.For(ctx, databasePace) {
		within, cancel := context.WithTimeout(ctx, databasePatience)
		err := database.Ping(within)
		cancel()
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			ix.account.noteDatabase(nil)
		case isFailing:
			ix.account.noteDatabase(fmt.Errorf("the database doesn't answer: %w", err))
		default:
			ix.log.WarnContext(ctx, "the database doesn't answer", "err", err.Error())
		}
		isFailing = err != nil
	}
}

// degraded records that the chain's nodes fail, if the database can be told.
func (ix *Indexer) degraded(ctx context.Context, why error) {
	if ctx.Err() != nil {
		return
	}
	ix.running = false
	if err := ix.store.SetState(ctx, ix.lease, store.ChainDegraded, why.Error()); err != nil {
		ix.log.WarnContext(ctx, "state not recorded", "err", err.Error())
	}
}
