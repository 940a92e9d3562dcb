package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/store/commitlog"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
	"github.com/boardwalkhq/boardwalk/internal/store/schema"
)

// ErrLeaseHeld means that another indexer runs the chain.
var ErrLeaseHeld = errors.New("another indexer holds this chain's lease")

// ErrLeaseLost means that another indexer has taken the chain over: what this one holds must not be committed.
var ErrLeaseLost = errors.New("this indexer lost its chain's lease")

// ErrMoved means that the chain's rows are not those that a write rests on: the database went back to an older state,
// as one does that fails over to a standby or is restored, or nobody knows whether an earlier commit went through. The
// writer loads the rows anew.
var ErrMoved = errors.New("the database has another state of the chain than the one that this write rests on")

// ErrReplaced means that another index of the chain has taken this one's place, whose rows are gone or will be.
var ErrReplaced = errors.New("another index of the chain has taken this one's place")

// Lease is the right to write one index of a chain. Every write checks its epoch and its holder, so that a writer that was taken
// for dead can do no harm when it comes back: after a failover that lost the epoch of one holder, another can have got
// the same one. Every write also checks that the chain's rows are where the last write under this lease, or Acquire,
// left them.
type Lease struct {
	// Chain is the index, as chainconfig.IndexID has it.
	Chain  string
	Holder string
	epoch  int64
	ttl    time.Duration
	// turn holds one token, which every write under the lease takes: rests is known exactly between two writes alone.
	turn  chan struct{}
	rests position
	// isDeleting is what IsDeleting says; Acquire and Purge set it.
	isDeleting bool
}

// IsDeleting reports whether a purge of the index has begun: the index can't be gone on with, and what is left of its rows has to be purged too.
func (l *Lease) IsDeleting() bool { return l.isDeleting }

// position says which state of a chain's rows it is: the newest block in them, and how many commits made them.
type position struct {
	number   int64
	hash     []byte // nil before the first block
	commitNo int64
	// streamed is the highest number of the stream that this process took for the chain; 0 for none.
	streamed int64
	// droppedBelow is the undo horizon below which commits under the lease have dropped all; 0 before the first.
	droppedBelow int64
	// droppedCommits is the newest commit whose list they have dropped; 0 for none.
	droppedCommits int64
}

func (p position) String() string {
	return fmt.Sprintf("block %d (%x), commit %d", p.number, p.hash, p.commitNo)
}

// nowMS is the database's own clock in unix milliseconds: the only one that all holders share.
func (s *rows) nowMS() string {
	if s.db.IsPostgres() {
		return "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
	}
	return "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"
}

// Acquire takes the lease of an index of a chain when it is free, has expired, or is the holder's own. ErrLeaseHeld says that it isn't.
// Writes under the lease rest on the rows that the index has now. The chain's first index is registered, and served; others are by Indexes.Begin.
// ErrReplaced says that the index isn't registered.
func (s Leases) Acquire(ctx context.Context, chain, holder string, ttl time.Duration) (*Lease, error) {
	l := &Lease{Chain: chain, Holder: holder, ttl: ttl, turn: make(chan struct{}, 1)}
	if err := schema.Partition(ctx, s.db, chain); err != nil {
		return nil, err
	}
	err := s.db.InTransaction(ctx, func(tx *database.Transaction) error {
		if err := registerFirst(ctx, tx, chain); err != nil {
			return err
		}
		now, state := s.nowMS(), ""
		err := tx.NewRaw("UPDATE chains SET lease_epoch = lease_epoch + 1, lease_holder = ?, lease_expires_ms = "+now+" + ? "+
			"WHERE id = ? AND (lease_holder IN ('', ?) OR lease_expires_ms < "+now+") RETURNING lease_epoch, number, hash, commit_no, state",
			holder, ttl.Milliseconds(), chain, holder).Scan(ctx, &l.epoch, &l.rests.number, &l.rests.hash, &l.rests.commitNo, &state)
		if errors.Is(err, sql.ErrNoRows) {
			return explainLease(ctx, tx, chain)
		}
		if err != nil {
			return fmt.Errorf("database: take the lease of chain %s: %w", chain, err)
		}
		l.isDeleting = ChainState(state) == ChainDeleting
		return nil
	})
	if errors.Is(err, database.ErrLocked) { // by the holder, who is writing
		err = errors.Join(ErrLeaseHeld, err)
	}
	if err != nil {
		return nil, err
	}
	return l, nil
}

// explainLease says why an index's lease couldn't be taken.
func explainLease(ctx context.Context, tx *database.Transaction, index string) error {
	registered, err := tx.NewSelect().Model((*chainRow)(nil)).Where("id = ?", index).Exists(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("database: take the lease of chain %s: %w", index, err)
	case !registered:
		return ErrReplaced
	}
	return ErrLeaseHeld
}

// SkipNumbers keeps a chain's commit numbers above the numbers that this process gave under a former lease, and counts a rewind,
// where the database went back meanwhile: readers have seen those numbers with rows that are gone. So it is with the stream's numbers.
func (s Leases) SkipNumbers(ctx context.Context, l, former *Lease) error {
	l.rests.streamed = max(l.rests.streamed, former.rests.streamed)
	lost := former.rests.commitNo - l.rests.commitNo
	if lost <= 0 {
		return nil
	}
	return s.writeUnderLease(ctx, l, func(tx *database.Transaction, next *pendingCommit) error {
		next.commitNo += lost
		if err := setChain(ctx, tx, l.Chain, "commit_no = ?, rewinds = rewinds + 1", next.commitNo); err != nil || next.streamed == 0 {
			return err
		}
		return skipStreamNumbers(ctx, tx, &next.position, l.Chain)
	})
}

// Renew prolongs the lease; ErrLeaseLost says that it is another's by now.
func (s Leases) Renew(ctx context.Context, l *Lease) error {
	return s.updateUnderLease(ctx, l, "lease_expires_ms = "+s.nowMS()+" + ?", l.ttl.Milliseconds())
}

// Release frees the lease for the next indexer, whatever the chain's rows are.
func (s Leases) Release(ctx context.Context, l *Lease) error {
	res, err := s.db.Write.NewRaw("UPDATE chains SET lease_holder = '', lease_expires_ms = 0 "+
		"WHERE id = ? AND lease_epoch = ? AND lease_holder = ?", l.Chain, l.epoch, l.Holder).Exec(ctx)
	if err != nil {
		return fmt.Errorf("database: release the lease of chain %s: %w", l.Chain, err)
	}
	if n, err := res.RowsAffected(); err != nil {
		return fmt.Errorf("database: release the lease of chain %s: %w", l.Chain, err)
	} else if n == 0 {
		return ErrLeaseLost
	}
	return nil
}

// SetHead records what the chain's nodes announce, between commits.
func (s *Store) SetHead(ctx context.Context, l *Lease, h HeadStatus) error {
	set, args := s.setHead(&h)
	return s.updateUnderLease(ctx, l, set, args...)
}

// setHead sets the columns of a chain's row that are of its head.
func (s *rows) setHead(h *HeadStatus) (set string, args []any) {
	set = "head_number = ?, head_time = ?, safe_number = ?, final_number = ?, final_time = ?, silent_from = "
	args = []any{int64(h.Number), h.Time, int64(h.Safe), int64(h.Final), h.FinalTime}
	if h.ToldAt == 0 {
		return set + "?", append(args, h.SilentFrom)
	}
	return set + s.nowMS() + " / 1000 + ?", append(args, h.SilentFrom-h.ToldAt)
}

// SetState records what the indexer is doing and why.
func (s *Store) SetState(ctx context.Context, l *Lease, state ChainState, reason string) error {
	return s.updateUnderLease(ctx, l, "state = ?, state_reason = ?", string(state), reason)
}

// updateUnderLease sets columns of a chain's row that aren't derived: they take no commit number.
func (s *rows) updateUnderLease(ctx context.Context, l *Lease, set string, args ...any) error {
	if err := l.takeTurn(ctx); err != nil {
		return err
	}
	defer l.endTurn()
	return database.Interruption(ctx, updateFenced(ctx, s.db.Write, l, set, args...))
}

// pendingCommit is a write under a lease: where it leaves the index, and what it changes for those who follow the chain.
type pendingCommit struct {
	position

	log commitlog.Log
}

// writeUnderLease runs f in a transaction under the lease and the chain's next commit number. f changes next where it
// moves the cursor, and adds to its log what it changes. Every write to a chain's rows goes through here. ErrLeaseLost and ErrMoved leave everything as it
// was.
func (s *rows) writeUnderLease(ctx context.Context, l *Lease, f func(tx *database.Transaction, next *pendingCommit) error) error {
	if err := l.takeTurn(ctx); err != nil {
		return err
	}
	defer l.endTurn()
	next := pendingCommit{position: l.rests}
	next.commitNo++
	err := s.db.InTransaction(ctx, func(tx *database.Transaction) error {
		if err := updateFenced(ctx, tx, l, "commit_no = commit_no + 1"); err != nil {
			return err
		}
		if err := f(tx, &next); err != nil {
			return err
		}
		var err error
		next.droppedCommits, err = next.log.Write(ctx, tx, l.Chain, next.commitNo, next.droppedCommits)
		return err
	})
	if err == nil {
		l.rests = next.position
	}
	return err
}

func (l *Lease) takeTurn(ctx context.Context) error {
	select {
	case l.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *Lease) endTurn() { <-l.turn }

// updateFenced updates a chain's row if the lease is still good and the chain's rows are those that the lease rests on.
func updateFenced(ctx context.Context, db bun.IDB, l *Lease, set string, args ...any) error {
	res, err := db.NewRaw("UPDATE chains SET "+set+" WHERE id = ? AND lease_epoch = ? AND lease_holder = ? "+
		"AND number = ? AND hash IS NOT DISTINCT FROM ? AND commit_no = ?",
		append(args, l.Chain, l.epoch, l.Holder, l.rests.number, l.rests.hash, l.rests.commitNo)...).Exec(ctx)
	if err != nil {
		return fmt.Errorf("database: update chain %s: %w", l.Chain, err)
	}
	if n, err := res.RowsAffected(); err != nil {
		return fmt.Errorf("database: update chain %s: %w", l.Chain, err)
	} else if n == 0 {
		return explainRefusal(ctx, db, l)
	}
	return nil
}

// explainRefusal says why the fence let nothing through.
func explainRefusal(ctx context.Context, db bun.IDB, l *Lease) error {
	var is position
	err := db.NewRaw("SELECT number, hash, commit_no FROM chains WHERE id = ? AND lease_epoch = ? AND lease_holder = ?",
		l.Chain, l.epoch, l.Holder).Scan(ctx, &is.number, &is.hash, &is.commitNo)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return ErrLeaseLost
	case err != nil:
		return fmt.Errorf("database: read chain %s: %w", l.Chain, err)
	default:
		return fmt.Errorf("%w: chain %s is at %s, the write rests on %s", ErrMoved, l.Chain, is, l.rests)
	}
}

// NewHolder names this process in the chains' leases. An SQLite file has one process, which its lock sees to: the next one need not wait
// for the lease of one that was killed.
func NewHolder(dsn string) string {
	if strings.HasPrefix(dsn, "sqlite:") {
		return "embedded"
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	return host + " " + uuid.NewString()
}
