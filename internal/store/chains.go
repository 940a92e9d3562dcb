package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/model"
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
	Served         bool
	Wanted         int64
	WantedAnew     bool
}

// ChainState says what a chain's indexer is doing.
type ChainState string

// The states of a chain. A halted chain waits for a human; its reason says for what. The rows of an index that is being deleted aren't all there any more.
const (
	ChainStarting ChainState = "starting"
	ChainRunning  ChainState = "running"
	ChainDegraded ChainState = "degraded"
	ChainHalted   ChainState = "halted"
	ChainDeleting ChainState = "deleting"
)

// ChainStatus is how far a chain is indexed.
type ChainStatus struct {
	// ID is the index's, as chainconfig.IndexID has it; of a store that Served made it is the chain's.
	ID string
	// Generation is the index's.
	Generation int64
	// Last is the newest indexed block; its hash is zero before the first commit.
	Last market.Header
	// StartBlock is the first block; 0 where the index begins with its chain, or was begun by a binary that didn't note it.
	StartBlock uint64
	// CommitNo rises with every write to the chain's rows; Rewinds counts those that took blocks back, after which rows
	// may be gone, and with them by how many others the server was followed that a reader reads from.
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
	// SilentFrom (unix seconds) is when the chain counts as silent unless a node answers before: from then on nobody knows of newer
	// blocks. 0 when no node ever answered.
	SilentFrom int64
	// ToldAt (unix seconds) is the time by the writer's clock when it writes SilentFrom, which is by the same clock then; 0 where there is none. SilentFrom
	// is stored by the database's clock, as the machines of indexers and of the database may disagree on the time. What is read has no ToldAt.
	ToldAt int64
}

// WrittenAt is the same, to be written at a time by the clock that SilentFrom is by.
func (h HeadStatus) WrittenAt(now time.Time) HeadStatus {
	if h.SilentFrom != 0 {
		h.ToldAt = now.Unix()
	}
	return h
}

func (r *chainRow) status() (ChainStatus, error) {
	c := model.Columns{Table: "chains"}
	_, generation := chainconfig.ChainOfIndex(r.ID)
	return ChainStatus{
		ID: r.ID, Generation: generation,
		Last: market.Header{
			Number: uint64(r.Number), Hash: c.Hash(r.Hash), Parent: c.Hash(r.Parent), Time: r.BlockTime,
		},
		StartBlock: uint64(r.StartBlock), CommitNo: r.CommitNo, Rewinds: r.Rewinds,
		Head: HeadStatus{
			Number: uint64(r.HeadNumber), Time: r.HeadTime, Safe: uint64(r.SafeNumber), Final: uint64(r.FinalNumber),
			FinalTime: r.FinalTime, SilentFrom: r.SilentFrom,
		},
		State: ChainState(r.State), Reason: r.StateReason,
	}, c.Err
}

// Chains lists every index of every chain that an indexer ever ran for, by id. A store that Served made lists the one of each chain that is
// served, and goes by it from then on.
func (s *Store) Chains(ctx context.Context) ([]ChainStatus, error) {
	var rows []chainRow
	changed := s.db.Servers.Changed() // before the rows: they may be another server's already, and then differ the next time
	if err := s.db.Read.NewSelect().Model(&rows).Order("id").Scan(ctx); err != nil {
		return nil, fmt.Errorf("database: read chains: %w", err)
	}
	list, err := model.To(s.served.take(rows), func(r *chainRow) (ChainStatus, error) {
		status, err := r.status()
		status.Rewinds += changed
		return status, err
	})
	return onlyServed(s.served, list, func(c *ChainStatus) *string { return &c.ID }), err
}

// Chain is the status of one index; ok is false when no indexer ever ran for it.
func (s *Store) Chain(ctx context.Context, id string) (status ChainStatus, ok bool, err error) {
	var row chainRow
	err = s.db.Write.NewSelect().Model(&row).Where("id = ?", id).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return ChainStatus{ID: id}, false, nil
	}
	if err != nil {
		return ChainStatus{}, false, fmt.Errorf("database: read chain %s: %w", id, err)
	}
	status, err = row.status()
	return status, true, err
}

// HasBlock reports whether a block is still in a chain, as its index has it. A block that no reorg can reach always is.
func (s *Store) HasBlock(ctx context.Context, chain string, number uint64, hash market.Hash) (has bool, err error) {
	index := s.served.indexOf(chain)
	err = s.db.Read.NewRaw("SELECT EXISTS (SELECT 1 FROM blocks WHERE chain = ? AND number = ? AND hash = ?) OR "+
		"EXISTS (SELECT 1 FROM chains WHERE id = ? AND number >= ?) AND NOT EXISTS (SELECT 1 FROM blocks WHERE chain = ? AND number <= ?)",
		index, int64(number), hash[:], index, int64(number), index, int64(number)).Scan(ctx, &has)
	if err != nil {
		return false, fmt.Errorf("database: look for a block of %s: %w", chain, err)
	}
	return has, nil
}
