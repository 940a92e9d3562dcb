package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/commitlog"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
	"github.com/boardwalkhq/boardwalk/internal/store/model"
)

// MetadataStatus is how fetching a token's metadata went.
type MetadataStatus string

// The states.
const (
	MetadataFetched MetadataStatus = "fetched"
	MetadataFailed  MetadataStatus = "failed"
)

// TokenMetadata is what a launched token's own description says. Texts are UTF-8 without NUL, which PostgreSQL can't
// hold. It is fetched and not derived: no reorg takes it back.
type TokenMetadata struct {
	Mint                                        market.Address
	ImageURL, Website, X, Telegram, Description string
	// Image is a PNG, or nil. Only Metadata.Image reads it.
	Image    []byte
	Status   MetadataStatus
	Reason   string // why it failed
	Attempts int32
	// NextAt is when to fetch again, in unix seconds; 0 is never.
	NextAt    int64
	FetchedAt int64 // unix seconds
	// Job is what Metadata.Save was asked for by: a launch that announces something else by now stays to be fetched. Nil is
	// whatever is announced. It isn't kept.
	Job *MetadataJob
}

// MetadataJob is a launch whose metadata is to be fetched.
type MetadataJob struct {
	Mint market.Address
	// Metadata and Image are those of the announcement.
	Metadata, Image string
	Attempts        int32 // made so far
}

type metadataRow struct {
	bun.BaseModel `bun:"table:token_metadata"`

	Chain       string `bun:",pk"`
	Mint        []byte `bun:",pk"`
	ImageURL    string `bun:"image_url"`
	Website     string
	X           string
	Telegram    string
	Description string
	Status      string
	Reason      string
	Attempts    int32
	NextAt      int64
	FetchedAt   int64
	CommitNo    int64
	Image       []byte
}

// metadataColumns are all but the image.
const metadataColumns = "chain, mint, image_url, website, x, telegram, description, status, reason, attempts, next_at, fetched_at"

func metadataToRow(chain string, m *TokenMetadata, commitNo int64) metadataRow {
	return metadataRow{
		Chain: chain, Mint: m.Mint.Bytes(), ImageURL: m.ImageURL, Website: m.Website, X: m.X, Telegram: m.Telegram,
		Description: m.Description, Status: string(m.Status), Reason: m.Reason, Attempts: m.Attempts, NextAt: m.NextAt,
		FetchedAt: m.FetchedAt, CommitNo: commitNo, Image: m.Image,
	}
}

func (r *metadataRow) metadata() (TokenMetadata, error) {
	c := model.Columns{Table: "token_metadata"}
	return TokenMetadata{
		Mint: c.Address(r.Mint), ImageURL: r.ImageURL, Website: r.Website, X: r.X, Telegram: r.Telegram,
		Description: r.Description, Status: MetadataStatus(r.Status), Reason: r.Reason, Attempts: r.Attempts,
		NextAt: r.NextAt, FetchedAt: r.FetchedAt,
	}, c.Err
}

// Save writes what was fetched of some tokens, each named once, over what was known of them. It takes a commit
// number of the chain's, so that whoever reads what changed after one meets it. ErrLeaseLost and ErrMoved leave
// everything as it was.
func (s Metadata) Save(ctx context.Context, l *Lease, list []TokenMetadata) error {
	if len(list) == 0 {
		return nil
	}
	return s.commitBeside(ctx, l, commitlog.Metadata, func(tx *database.Transaction, no int64) error {
		rows := make([]metadataRow, len(list))
		keys := make([]any, len(list))
		for i := range list {
			rows[i] = metadataToRow(l.Chain, &list[i], no)
			keys[i] = rows[i].Mint
		}
		if err := database.Upsert(ctx, tx, rows); err != nil {
			return err
		}
		_, err := tx.NewRaw("UPDATE launches SET has_metadata = TRUE WHERE chain = ? AND mint IN (?) AND has_metadata IS NULL",
			l.Chain, database.Among(tx.Postgres, keys)).Exec(ctx)
		if err != nil {
			return fmt.Errorf("database: mark launches with metadata: %w", err)
		}
		for i := range list {
			if err := keepDue(ctx, tx, l.Chain, list[i].Job); err != nil {
				return err
			}
		}
		return nil
	})
}

// keepDue leaves a launch to be fetched if a reorg gave its address to another announcement than the job's.
func keepDue(ctx context.Context, tx *database.Transaction, chain string, j *MetadataJob) error {
	if j == nil {
		return nil
	}
	_, err := tx.NewRaw("UPDATE launches SET has_metadata = NULL WHERE chain = ? AND mint = ? AND (metadata <> ? OR image <> ?)",
		chain, j.Mint.Bytes(), j.Metadata, j.Image).Exec(ctx)
	if err != nil {
		return fmt.Errorf("database: leave a launch to be fetched: %w", err)
	}
	return nil
}

// commitBeside runs f, which changes rows of some kinds, in a transaction under the chain's next commit number, and moves no cursor.
func (s *rows) commitBeside(ctx context.Context, l *Lease, kinds commitlog.Kinds, f func(tx *database.Transaction, no int64) error) error {
	err := s.writeUnderLease(ctx, l, func(tx *database.Transaction, next *pendingCommit) error {
		next.log.AddKinds(kinds)
		return f(tx, next.commitNo)
	})
	if err == nil {
		s.db.Hint(ctx, l.Chain)
	}
	return err
}

const (
	metadataNew = "SELECT mint, metadata, image, 0 AS attempts FROM launches WHERE chain = ? AND has_metadata IS NULL " +
		"ORDER BY block DESC, log_index DESC LIMIT ?"
	metadataAgain = "SELECT l.mint, l.metadata, l.image, m.attempts FROM token_metadata m " +
		"JOIN launches l ON l.chain = m.chain AND l.mint = m.mint WHERE m.chain = ? AND m.next_at > 0 AND m.next_at <= ? " +
		"AND l.has_metadata IS NOT NULL ORDER BY m.next_at, m.mint LIMIT ?"
)

// Due lists up to limit launches whose metadata is to be fetched: those that nothing was saved of yet, the newest
// first, then those to be tried again by now (unix seconds), the longest due first. A launch that a reorg took away and
// the chain brought back, perhaps with another announcement, counts as new.
func (s Metadata) Due(ctx context.Context, chain string, now int64, limit int) ([]MetadataJob, error) {
	jobs, err := s.jobs(ctx, metadataNew, chain, limit)
	if err != nil || len(jobs) >= limit {
		return jobs, err
	}
	again, err := s.jobs(ctx, metadataAgain, chain, now, limit-len(jobs))
	return append(jobs, again...), err
}

func (s Metadata) jobs(ctx context.Context, query string, args ...any) ([]MetadataJob, error) {
	var rows []struct {
		Mint            []byte
		Metadata, Image string
		Attempts        int32
	}
	if err := s.db.Read.NewRaw(query, args...).Scan(ctx, &rows); err != nil {
		return nil, fmt.Errorf("database: list metadata to fetch: %w", err)
	}
	c := model.Columns{Table: "launches"}
	out := make([]MetadataJob, len(rows))
	for i, r := range rows {
		out[i] = MetadataJob{Mint: c.Address(r.Mint), Metadata: r.Metadata, Image: r.Image, Attempts: r.Attempts}
	}
	return out, c.Err
}

// Since lists a chain's metadata that changed after commit number seen, without images.
func (s Metadata) Since(ctx context.Context, chain string, seen int64) ([]TokenMetadata, error) {
	chain = s.served.indexOf(chain)
	var rows []metadataRow
	err := s.db.Read.NewSelect().Model(&rows).ExcludeColumn("image").Where("chain = ? AND commit_no > ?", chain, seen).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("database: read changed metadata: %w", err)
	}
	return model.To(rows, (*metadataRow).metadata)
}

// At is what is known of one token, without its image; ok is false when nothing was saved of it yet.
func (s Metadata) At(ctx context.Context, chain string, mint market.Address) (m TokenMetadata, ok bool, err error) {
	chain = s.served.indexOf(chain)
	rows, err := s.db.Ask(ctx, "SELECT "+metadataColumns+" FROM token_metadata WHERE chain = ? AND mint = ?", chain, mint.Bytes())
	found, err := database.ScanAll[metadataRow](ctx, s.db.Read, rows, err)
	if err != nil {
		return m, false, fmt.Errorf("database: read metadata: %w", err)
	}
	if len(found) == 0 {
		return m, false, nil
	}
	m, err = found[0].metadata()
	return m, err == nil, err
}

// Image is a token's picture, a PNG; nil when there is none.
func (s Metadata) Image(ctx context.Context, chain string, mint market.Address) ([]byte, error) {
	chain = s.served.indexOf(chain)
	var image []byte
	err := s.db.AskOne(ctx, []any{&image}, "SELECT image FROM token_metadata WHERE chain = ? AND mint = ?", chain, mint.Bytes())
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("database: read a token's image: %w", err)
	}
	return image, nil
}
