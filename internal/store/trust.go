package store

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/commitlog"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
	"github.com/boardwalkhq/boardwalk/internal/store/model"
)

// TrustRow is the newest trust report of a token. It is not derived: no reorg takes it back.
type TrustRow struct {
	Mint      market.Address
	CheckedAt int64 // unix seconds
	// Critical says that a critical check failed.
	Critical bool
	Verdict  string
	Report   []byte // JSON of a trust.Report
}

type trustRow struct {
	bun.BaseModel `bun:"table:trust_reports"`

	Chain     string `bun:",pk"`
	Mint      []byte `bun:",pk"`
	CheckedAt int64
	Critical  bool
	Verdict   string
	CommitNo  int64
	Report    []byte
}

func trustToRow(chain string, t *TrustRow, commitNo int64) trustRow {
	return trustRow{
		Chain: chain, Mint: t.Mint.Bytes(), CheckedAt: t.CheckedAt, Critical: t.Critical, Verdict: t.Verdict, CommitNo: commitNo,
		Report: t.Report,
	}
}

func (r *trustRow) trust() (TrustRow, error) {
	c := model.Columns{Table: "trust_reports"}
	return TrustRow{
		Mint: c.Address(r.Mint), CheckedAt: r.CheckedAt, Critical: r.Critical, Verdict: r.Verdict, Report: r.Report,
	}, c.Err
}

// Save writes some tokens' reports, each token named once, over their former ones. Commit numbers and the lease are as
// for Metadata.Save.
func (s Trust) Save(ctx context.Context, l *Lease, list []TrustRow) error {
	if len(list) == 0 {
		return nil
	}
	return s.commitBeside(ctx, l, commitlog.Trust, func(tx *database.Transaction, no int64) error {
		rows := make([]trustRow, len(list))
		keys := make([]any, len(list))
		for i := range list {
			rows[i] = trustToRow(l.Chain, &list[i], no)
			keys[i] = rows[i].Mint
		}
		if err := database.Upsert(ctx, tx, rows); err != nil {
			return err
		}
		_, err := tx.NewRaw("UPDATE launches SET checked_at = (SELECT r.checked_at FROM trust_reports r WHERE r.chain = launches.chain "+
			"AND r.mint = launches.mint) WHERE chain = ? AND mint IN (?)", l.Chain, database.Among(tx.Postgres, keys)).Exec(ctx)
		if err != nil {
			return fmt.Errorf("database: date the reports of launches: %w", err)
		}
		return nil
	})
}

// Since lists a chain's reports that changed after commit number seen, without Report.
func (s Trust) Since(ctx context.Context, chain string, seen int64) ([]TrustRow, error) {
	chain = s.served.indexOf(chain)
	var rows []trustRow
	err := s.db.Read.NewSelect().Model(&rows).ExcludeColumn("report").Where("chain = ? AND commit_no > ?", chain, seen).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("database: read changed trust reports: %w", err)
	}
	return model.To(rows, (*trustRow).trust)
}

// At is a token's report; ok is false when there is none yet.
func (s Trust) At(ctx context.Context, chain string, mint market.Address) (t TrustRow, ok bool, err error) {
	chain = s.served.indexOf(chain)
	rows, err := s.db.Ask(ctx, "SELECT "+database.ColumnsOf[trustRow](s.db.Read, "t")+" FROM trust_reports t WHERE t.chain = ? AND t.mint = ?",
		chain, mint.Bytes())
	found, err := database.ScanAll[trustRow](ctx, s.db.Read, rows, err)
	if err != nil {
		return t, false, fmt.Errorf("database: read a trust report: %w", err)
	}
	if len(found) == 0 {
		return t, false, nil
	}
	t, err = found[0].trust()
	return t, err == nil, err
}

// CriticalAt says of which of some tokens a critical check failed the last time.
func (s Trust) CriticalAt(ctx context.Context, tokens []TokenAt) (map[TokenAt]bool, error) {
	out := map[TokenAt]bool{}
	if len(tokens) == 0 {
		return out, nil
	}
	keys := make([]any, len(tokens))
	for i, t := range tokens {
		keys[i] = []any{s.served.indexOf(t.Chain), t.Mint.Bytes()}
	}
	var rows []trustRow
	err := s.db.Read.NewSelect().Model(&rows).Column("chain", "mint").Where("critical AND (chain, mint) IN (?)", database.Among(s.db.IsPostgres(), keys)).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("database: read which tokens failed a check: %w", err)
	}
	c := model.Columns{Table: "trust_reports"}
	for _, r := range rows {
		chain, _ := s.served.chainOf(r.Chain)
		out[TokenAt{Chain: chain, Mint: c.Address(r.Mint)}] = true
	}
	return out, c.Err
}

// trustDue starts from what was traded lately: that is little beside all that was ever launched.
const trustDue = "SELECT l.mint FROM (SELECT DISTINCT base FROM pools WHERE chain = ? AND last_trade_at >= ? AND day_volume_usd >= ?) p " +
	"JOIN launches l ON l.chain = ? AND l.mint = p.base WHERE l.checked_at IS NULL OR l.checked_at < ? " +
	"ORDER BY l.checked_at IS NOT NULL, l.checked_at, l.block DESC, l.log_index DESC LIMIT ?"

// Due lists up to limit launched tokens that were traded, on their curve or in a pool, at tradedSince or later, and there for
// at least volume (in 1e-9 USD) in 24 hours, and have no report of checkedBefore or later (unix seconds): those without any first, then by the age of the report, then
// the newest launch first. A launch that a reorg took away and the chain brought back counts as one without. The cost
// follows the number of pools that were traded since.
func (s Trust) Due(ctx context.Context, chain string, checkedBefore, tradedSince int64, volume market.Amount, limit int,
) ([]market.Address, error) {
	var rows [][]byte
	err := s.db.Read.NewRaw(trustDue, chain, tradedSince, model.BytesOf(&volume), chain, checkedBefore, limit).Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("database: list tokens to check: %w", err)
	}
	c := model.Columns{Table: "launches"}
	out := make([]market.Address, len(rows))
	for i := range rows {
		out[i] = c.Address(rows[i])
	}
	return out, c.Err
}
