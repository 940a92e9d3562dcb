package indexer

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

// stuckAfter is how long the loop may go without a turn. The longest that anything in it may take by itself, a
// statement of the database or a call to a node, is far shorter.
const stuckAfter = 5 * time.Minute

// stuckOpening is how long the opening of the database may go without a step. A statement of a migration may rewrite a large table, of which
// nothing is heard meanwhile.
const stuckOpening = time.Hour

// pulse is when the loop last went on. Every step counts, whatever came of it: a block, a failure, a look for the lease
// or for the head. So a chain that makes no blocks, or whose nodes are away, has a live indexer.
type pulse struct {
	now  func() time.Time
	last atomic.Int64 // unix nanoseconds
}

func (p *pulse) beat() { p.last.Store(p.now().UnixNano()) }

// age is the time since the last beat.
func (p *pulse) age() time.Duration { return p.now().Sub(time.Unix(0, p.last.Load())) }

// Alive says why the indexer should be started anew, or nil: its loop has made no turn for five minutes. Between two
// calls of Run it counts the time since the last one ended.
func (ix *Indexer) Alive() error {
	if age := ix.pulse.age(); age > stuckAfter {
		return fmt.Errorf("chain %s: the loop has made no turn for %s", ix.cfg.ID, age.Round(time.Second))
	}
	return nil
}

// writeTries is how often a write is tried that the database interrupts.
const writeTries = 6

// untilWritten runs a write again while the database interrupts it, as a lock that somebody else has does: what the
// loop knows, and its lease, stay good. Where nobody knows whether the interrupted write went through, the next one
// finds out (store.ErrMoved).
func (ix *Indexer) untilWritten(ctx context.Context, write func() error) error {
	pause := retryPause{}
	for try := 1; ; try++ {
		err := write()
		ix.pulse.beat()
		if !errors.Is(err, store.ErrInterrupted) || try == writeTries {
			return err
		}
		next := pause.next()
		ix.log.WarnContext(ctx, "write interrupted", "err", err.Error(), "retry_in_s", next.Seconds())
		if !wait.For(ctx, next) {
			return ctx.Err()
		}
	}
}
