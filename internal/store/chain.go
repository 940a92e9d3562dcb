package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

type chainRow struct {
	bun.BaseModel `bun:"table:chains"`

	ID             string `bun:",pk"`
	Number         int64
	Hash           []byte
	Parent         []byte
	BlockTime      int64
	StartBlock     int64
	CommitNo       int64
	Rewinds        int64
	HeadNumber     int64
	HeadTime       int64
	SafeNumber     int64
	FinalNumber    int64
	FinalTime      int64
	SilentFrom     int64
	State          string
	StateReason    string
	LeaseEpoch     int64
	LeaseHolder    string
	LeaseExpiresMS int64 `bun:"lease_expires_ms"`
}

// ChainState says what a chain's indexer is doing.
type ChainState string

// The states of a chain. A halted chain waits for a human; its reason says for what.
const (
	ChainStarting ChainState = "starting"
	ChainRunning  ChainState = "running"
	ChainDegraded ChainState = "degraded"
	ChainHalted   ChainState = "halted"
)

// ChainStatus is how far a chain is indexed.
type ChainStatus struct {
	ID string
	// Last is the newest indexed block; its hash is zero before the first commit.
	Last       market.Header
	StartBlock uint64
	// CommitNo counts commits; Rewinds counts those that took blocks back, after which rows may be gone.
	CommitNo, Rewinds int64
	Head              HeadStatus
	State             ChainState
	Reason            string
}

// HeadStatus is what a chain's nodes announce.
type HeadStatus struct {
	Number      uint64
	Time        int64 // unix seconds
	Safe, Final uint64
	FinalTime   int64 // of the final block; unix seconds
	// SilentFrom (unix seconds, by the indexer's clock) is when the chain counts as silent unless a node answers before: from then
	// on nobody knows of newer blocks. 0 when no node ever answered.
	SilentFrom int64
}

func (r *chainRow) status() (ChainStatus, error) {
	c := columns{table: "chains"}
	return ChainStatus{
		ID: r.ID,
		Last: market.Header{
			Number: uint64(r.Number), Hash: c.hash(r.Hash), Parent: c.hash(r.Parent), Time: r.BlockTime,
		},
		StartBlock: uint64(r.StartBlock), CommitNo: r.CommitNo, Rewinds: r.Rewinds,
		Head: HeadStatus{
			Number: uint64(r.HeadNumber), Time: r.HeadTime, Safe: uint64(r.SafeNumber), Final: uint64(r.FinalNumber),
			FinalTime: r.FinalTime, SilentFrom: r.SilentFrom,
		},
		State: ChainState(r.State), Reason: r.StateReason,
	}, c.err
}

// Chains lists every chain that an indexer ever ran for, by id.
func (s *Store) Chains(ctx context.Context) ([]ChainStatus, error) {
	var rows []chainRow
	if err := s.read.NewSelect().Model(&rows).Order("id").Scan(ctx); err != nil {
		return nil, fmt.Errorf("database: read chains: %w", err)
	}
	return rowsTo(rows, (*chainRow).status)
}

// Chain is one chain's status; ok is false when no indexer ever ran for it.
func (s *Store) Chain(ctx context.Context, id string) (status ChainStatus, ok bool, err error) {
	var row chainRow
	err = s.write.NewSelect().Model(&row).Where("id = ?", id).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return ChainStatus{ID: id}, false, nil
	}
	if err != nil {
		return ChainStatus{}, false, fmt.Errorf("database: read chain %s: %w", id, err)
	}
	status, err = row.status()
	return status, true, err
}

// ErrLeaseHeld means that another indexer runs the chain.
var ErrLeaseHeld = errors.New("another indexer holds this chain's lease")

// ErrLeaseLost means that another indexer has taken the chain over: what this one holds must not be committed.
var ErrLeaseLost = errors.New("this indexer lost its chain's lease")

// Lease is the right to write one chain. Every commit checks its epoch, so that a writer that was taken for dead can
// do no harm when it comes back.
type Lease struct {
	Chain  string
	Holder string
	epoch  int64
	ttl    time.Duration
}

// nowMS is the database's own clock in unix milliseconds: the only one that all holders share.
func (s *Store) nowMS() string {
	if s.postgres != nil {
		return "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
	}
	return "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"
}

// Acquire takes a chain's lease when it is free, has expired, or is the holder's own. ErrLeaseHeld says that it isn't.
func (s *Store) Acquire(ctx context.Context, chain, holder string, ttl time.Duration) (*Lease, error) {
	l := &Lease{Chain: chain, Holder: holder, ttl: ttl}
	if err := s.partition(ctx, chain); err != nil {
		return nil, err
	}
	err := s.inTransaction(ctx, func(tx *transaction) error {
		if _, err := tx.NewRaw("INSERT INTO chains (id) VALUES (?) ON CONFLICT (id) DO NOTHING", chain).Exec(ctx); err != nil {
			return fmt.Errorf("database: register chain %s: %w", chain, err)
		}
		now := s.nowMS()
		err := tx.NewRaw("UPDATE chains SET lease_epoch = lease_epoch + 1, lease_holder = ?, lease_expires_ms = "+now+" + ? "+
			"WHERE id = ? AND (lease_holder IN ('', ?) OR lease_expires_ms < "+now+") RETURNING lease_epoch",
			holder, ttl.Milliseconds(), chain, holder).Scan(ctx, &l.epoch)
		if errors.Is(err, sql.ErrNoRows) {
			return ErrLeaseHeld
		}
		if err != nil {
			return fmt.Errorf("database: take the lease of chain %s: %w", chain, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return l, nil
}

// Renew prolongs the lease; ErrLeaseLost says that it is another's by now.
func (s *Store) Renew(ctx context.Context, l *Lease) error {
	return s.fenced(ctx, s.write, l, "lease_expires_ms = "+s.nowMS()+" + ?", l.ttl.Milliseconds())
}

// Release frees the lease for the next indexer.
func (s *Store) Release(ctx context.Context, l *Lease) error {
	return s.fenced(ctx, s.write, l, "lease_holder = '', lease_expires_ms = 0")
}

// SetHead records what the chain's nodes announce, between commits.
func (s *Store) SetHead(ctx context.Context, l *Lease, h HeadStatus) error {
	return s.fenced(ctx, s.write, l, "head_number = ?, head_time = ?, safe_number = ?, final_number = ?, "+
		"final_time = ?, silent_from = ?", int64(h.Number), h.Time, int64(h.Safe), int64(h.Final), h.FinalTime, h.SilentFrom)
}

// SetState records what the indexer is doing and why.
func (s *Store) SetState(ctx context.Context, l *Lease, state ChainState, reason string) error {
	return s.fenced(ctx, s.write, l, "state = ?, state_reason = ?", string(state), reason)
}

// fenced updates a chain's row if the lease is still good.
func (s *Store) fenced(ctx context.Context, db bun.IDB, l *Lease, set string, args ...any) error {
	res, err := db.NewRaw("UPDATE chains SET "+set+" WHERE id = ? AND lease_epoch = ?",
		append(args, l.Chain, l.epoch)...).Exec(ctx)
	if err != nil {
		return fmt.Errorf("database: update chain %s: %w", l.Chain, err)
	}
	if n, err := res.RowsAffected(); err != nil {
		return fmt.Errorf("database: update chain %s: %w", l.Chain, err)
	} else if n == 0 {
		return ErrLeaseLost
	}
	return nil
}

// partition makes a chain's partitions of the big tables.
func (s *Store) partition(ctx context.Context, chain string) error {
	if s.postgres == nil {
		return nil
	}
	for _, t := range []string{"trades", "candles", "balances"} {
		q := "CREATE TABLE IF NOT EXISTS ? PARTITION OF " + t + " FOR VALUES IN (?)"
		name := bun.Ident(t + "_" + strings.ReplaceAll(chain, "-", "_"))
		if _, err := s.write.NewRaw(q, name, chain).Exec(ctx); err != nil {
			return fmt.Errorf("database: make chain %s's part of %s: %w", chain, t, err)
		}
	}
	return nil
}
