package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/commitlog"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
	"github.com/boardwalkhq/boardwalk/internal/store/model"
)

// TokenMetadata is what a token's own description says.
type TokenMetadata = model.TokenMetadata

// MetadataJob is a token whose metadata is to be fetched.
type MetadataJob = model.MetadataJob

// The states of metadata.
const (
	MetadataNoted   = model.MetadataNoted
	MetadataFetched = model.MetadataFetched
	MetadataFailed  = model.MetadataFailed
)

// metadataColumns are all but the image.
const metadataColumns = "chain, mint, image_url, website, x, telegram, description, status, reason, attempts, next_at, fetched_at"

// Save writes what was fetched of some tokens, each named once, over what was known of them. It takes a commit
// number of the chain's, so that whoever reads what changed after one meets it. ErrLeaseLost and ErrMoved leave
// everything as it was.
func (s Metadata) Save(ctx context.Context, l *Lease, list []TokenMetadata) error {
	if len(list) == 0 {
		return nil
	}
	return s.commitBeside(ctx, l, commitlog.Metadata, func(tx *database.Transaction, no int64) error {
		rows := make([]model.Metadata, len(list))
		keys := make([]any, len(list))
		for i := range list {
			rows[i] = model.OfMetadata(l.Chain, &list[i], no)
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

// keepDue leaves a launch to be fetched if its announcement isn't what the job had: a reorg gave its address to another one, or the token was launched
// while what its own URI leads to was fetched.
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

// noteURIs writes a row for each token whose URI a commit's facts tell: its metadata is to be fetched. A token that has a row keeps that row: a block that is
// indexed again, after a reorg or from kept facts, tells the same. NextAt of a new row is the commit's number, not a time (see firstSecond).
func noteURIs(ctx context.Context, tx *database.Transaction, chain string, no int64, facts []StoredFact) error {
	var rows []model.Metadata
	for i := range facts {
		if f, ok := facts[i].Fact.(market.TokenFact); ok && f.URI != "" {
			rows = append(rows, model.Metadata{Chain: chain, Mint: f.Token.Bytes(), Status: string(MetadataNoted), NextAt: no, CommitNo: no, URI: f.URI})
		}
	}
	for piece := range slices.Chunk(rows, notedAtOnce) {
		if _, err := tx.NewInsert().Model(&piece).On("CONFLICT DO NOTHING").Exec(ctx); err != nil {
			return fmt.Errorf("database: note tokens' URIs: %w", err)
		}
	}
	return nil
}

// The tokens whose metadata is to be fetched. One that was launched is fetched by its announcement, whatever its own URI says.
const (
	// notedAtOnce is how many tokens' URIs are noted by one statement.
	notedAtOnce = 500
	// firstSecond parts times, which are unix seconds above it, from commits' numbers, which are below.
	firstSecond = 1_000_000_000
	metadataNew = "SELECT mint, metadata, image, TRUE AS launched, 0 AS attempts FROM launches WHERE chain = ? AND has_metadata IS NULL " +
		"ORDER BY block DESC, log_index DESC LIMIT ?"
	metadataKnown = "SELECT m.mint, COALESCE(l.metadata, m.uri) AS metadata, COALESCE(l.image, '') AS image, l.mint IS NOT NULL AS launched, m.attempts " +
		"FROM token_metadata m LEFT JOIN launches l ON l.chain = m.chain AND l.mint = m.mint WHERE m.chain = ? AND m.next_at > 0 AND m.next_at > ? AND m.next_at <= ? " +
		"AND (l.has_metadata IS NOT NULL OR (l.mint IS NULL AND m.uri <> '')) "
	metadataAgain = metadataKnown + "ORDER BY m.next_at, m.mint LIMIT ?"
	metadataNoted = metadataKnown + "ORDER BY m.next_at DESC, m.mint LIMIT ?"
)

// Due lists up to limit tokens whose metadata is to be fetched. First come the launches that nothing was saved of yet, the newest first. Those to be tried again by now
// (unix seconds), the longest due first, and those whose own URI is noted, the newest first, share the rest half and half, so that many of the one don't keep the others out.
// A launch that a reorg took away and the chain brought back, perhaps with another announcement, counts as new.
func (s Metadata) Due(ctx context.Context, chain string, now int64, limit int) ([]MetadataJob, error) {
	jobs, err := s.jobs(ctx, metadataNew, chain, limit)
	rest := limit - len(jobs)
	if err != nil || rest <= 0 {
		return jobs, err
	}
	again, err := s.jobs(ctx, metadataAgain, chain, firstSecond, now, rest)
	if err != nil {
		return jobs, err
	}
	noted, err := s.jobs(ctx, metadataNoted, chain, 0, firstSecond, rest)
	again = again[:min(len(again), max(rest-rest/2, rest-len(noted)))]
	noted = noted[:min(len(noted), rest-len(again))]
	return slices.Concat(jobs, again, noted), err
}

func (s Metadata) jobs(ctx context.Context, query string, args ...any) ([]MetadataJob, error) {
	var rows []struct {
		Mint            []byte
		Metadata, Image string
		Launched        bool
		Attempts        int32
	}
	if err := s.db.Read.NewRaw(query, args...).Scan(ctx, &rows); err != nil {
		return nil, fmt.Errorf("database: list metadata to fetch: %w", err)
	}
	c := model.Columns{Table: "launches"}
	out := make([]MetadataJob, len(rows))
	for i, r := range rows {
		out[i] = MetadataJob{Mint: c.Address(r.Mint), Metadata: r.Metadata, Image: r.Image, Launched: r.Launched, Attempts: r.Attempts}
	}
	return out, c.Err
}

// Since lists a chain's metadata that changed after commit number seen, without images.
func (s Metadata) Since(ctx context.Context, chain string, seen int64) ([]TokenMetadata, error) {
	chain = s.served.indexOf(chain)
	var rows []model.Metadata
	// SQLite stores the URI after the image, so that reading the one would read the other, too.
	err := s.db.Read.NewSelect().Model(&rows).ExcludeColumn("image", "uri").Where("chain = ? AND commit_no > ? AND status <> ?", chain, seen, string(MetadataNoted)).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("database: read changed metadata: %w", err)
	}
	return model.To(rows, (*model.Metadata).Value)
}

// At is what is known of one token, without its image; ok is false when nothing was saved of it yet.
func (s Metadata) At(ctx context.Context, chain string, mint market.Address) (m TokenMetadata, ok bool, err error) {
	chain = s.served.indexOf(chain)
	rows, err := s.db.Ask(ctx, "SELECT "+metadataColumns+" FROM token_metadata WHERE chain = ? AND mint = ? AND status <> ?", chain, mint.Bytes(), string(MetadataNoted))
	found, err := database.ScanAll[model.Metadata](ctx, s.db.Read, rows, err)
	if err != nil {
		return m, false, fmt.Errorf("database: read metadata: %w", err)
	}
	if len(found) == 0 {
		return m, false, nil
	}
	m, err = found[0].Value()
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
