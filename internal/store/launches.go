package store

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
	"github.com/boardwalkhq/boardwalk/internal/store/former"
	"github.com/boardwalkhq/boardwalk/internal/store/model"
)

// applyLaunches writes the launches that changed.
func applyLaunches(ctx context.Context, tx *database.Transaction, u *former.Log, chain string, as model.Stamped,
	changes []market.Change[market.Address, market.Launch],
) error {
	return apply(ctx, tx, u, changes, func(k market.Address, v *market.Launch) model.Launch {
		if v == nil {
			v = &market.Launch{Mint: k}
		}
		return model.OfLaunch(chain, v, as)
	})
}

// LaunchNow is a launch with its chain.
type LaunchNow struct {
	Chain string
	market.Launch
}

// At lists the launches of the tokens at some addresses, on every chain, by chain and mint.
func (s Launches) At(ctx context.Context, mints []market.Address) ([]LaunchNow, error) {
	if len(mints) == 0 {
		return nil, nil
	}
	marks, args := database.List(addressKeys(mints))
	rows, err := s.db.Ask(ctx, "SELECT "+database.ColumnsOf[model.Launch](s.db.Read, "l")+" FROM launches l WHERE l.mint IN ("+marks+
		") ORDER BY l.chain, l.mint", args...)
	found, err := database.ScanAll[model.Launch](ctx, s.db.Read, rows, err)
	if err != nil {
		return nil, fmt.Errorf("database: read launches: %w", err)
	}
	found = onlyServed(s.served, found, func(r *model.Launch) *string { return &r.Chain })
	return model.To(found, func(r *model.Launch) (LaunchNow, error) {
		l, err := r.Value()
		return LaunchNow{Chain: r.Chain, Launch: l}, err
	})
}

// ByMint lists the launches of some of a chain's tokens, in no order. It leaves out tokens whose launch is gone.
func (s Launches) ByMint(ctx context.Context, chain string, mints []market.Address) (out []market.Launch, err error) {
	chain = s.served.indexOf(chain)
	for part := range slices.Chunk(addressKeys(mints), database.LoadKeys) {
		marks, args := database.List(part)
		rows, err := s.db.Ask(ctx, "SELECT "+database.ColumnsOf[model.Launch](s.db.Read, "l")+" FROM launches l WHERE l.chain = ? AND l.mint IN ("+marks+")",
			append([]any{chain}, args...)...)
		found, err := database.ScanAll[model.Launch](ctx, s.db.Read, rows, err)
		if err != nil {
			return nil, fmt.Errorf("database: read launches: %w", err)
		}
		launches, err := model.To(found, (*model.Launch).Value)
		if err != nil {
			return nil, err
		}
		out = append(out, launches...)
	}
	return out, nil
}

const creatorRecord = "SELECT count(*), count(CASE WHEN state = 'graduated' THEN 1 END) FROM launches WHERE chain = ? AND creator = ?"

// CreatorRecord counts a creator's launches on a chain, and how many of them graduated.
func (s Launches) CreatorRecord(ctx context.Context, chain string, creator market.Address) (launches, graduated int64, err error) {
	chain = s.served.indexOf(chain)
	err = s.db.AskOne(ctx, []any{&launches, &graduated}, creatorRecord, chain, creator.Bytes())
	if err != nil {
		return 0, 0, fmt.Errorf("database: count a creator's launches: %w", err)
	}
	return launches, graduated, nil
}

// The signs keep SQLite from walking all launches before this one, of whomever.
const curvesBefore = "SELECT count(*), count(CASE WHEN state = 'graduated' THEN 1 END) FROM launches WHERE chain = ? AND creator = ? " +
	"AND state <> 'not_applicable' AND (+block < ? OR (+block = ? AND log_index < ?))"

// CurvesBefore counts the launches on curves that a launch's creator made on the chain before it, and how many of them have graduated by now.
func (s Launches) CurvesBefore(ctx context.Context, chain string, l *market.Launch) (launches, graduated int64, err error) {
	err = s.db.AskOne(ctx, []any{&launches, &graduated}, curvesBefore, chain, l.Creator.Bytes(), int64(l.Block), int64(l.Block), int64(l.LogIndex))
	if err != nil {
		return 0, 0, fmt.Errorf("database: count a creator's launches: %w", err)
	}
	return launches, graduated, nil
}

// siblingsAmong is how many of a chain's newest launches are looked through for those of one venue.
const siblingsAmong = 2000

// Siblings lists up to limit other tokens of a launch's venue, among the chain's newest launches: those of other creators
// first, then the newest.
func (s Launches) Siblings(ctx context.Context, chain string, l *market.Launch, limit int) ([]market.Address, error) {
	var rows [][]byte
	err := s.db.Read.NewRaw("SELECT mint FROM (SELECT mint, venue, creator, block, log_index FROM launches WHERE chain = ? "+
		"ORDER BY block DESC, log_index DESC LIMIT ?) n WHERE n.venue = ? AND n.mint <> ? "+
		"ORDER BY n.creator = ?, n.block DESC, n.log_index DESC LIMIT ?",
		chain, siblingsAmong, l.Venue, l.Mint.Bytes(), l.Creator.Bytes(), limit).Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("database: read a venue's launches: %w", err)
	}
	c := model.Columns{Table: "launches"}
	out := make([]market.Address, len(rows))
	for i := range rows {
		out[i] = c.Address(rows[i])
	}
	return out, c.Err
}

// OfLate bounds Launches.OfLate, in unix seconds.
type OfLate struct{ MadeAfter, TradedAfter, UntradedAfter int64 }

// OfLate walks a chain's launches that were ever traded and made after MadeAfter, those that were traded after
// TradedAfter, and those that were made after UntradedAfter, traded or not; by block and log index. A trade is one in the
// curve or a trusted pool, a listed one where it is long ago. What was ever launched is much, and most of it rests.
func (s Launches) OfLate(ctx context.Context, chain string, since OfLate) iter.Seq2[market.Launch, error] {
	chain = s.served.indexOf(chain)
	const counts = "(p.untrusted = '' OR p.protocol = ?)"
	curve := string(market.BondingCurve)
	q := s.db.Read.NewRaw("SELECT "+database.ColumnsOf[model.Launch](s.db.Read, "l")+" FROM launches l WHERE l.chain = ? AND (l.created_at > ? OR "+
		"(l.created_at > ? AND EXISTS (SELECT 1 FROM pools p WHERE p.base = l.mint AND p."+poolsChain+" = l.chain AND p."+listedOnly+" AND p.last_trade_at > 0 AND "+counts+")) OR "+
		"l.mint IN (SELECT p.base FROM pools p WHERE p.chain = ? AND p.last_trade_at > ? AND "+counts+")) "+
		"ORDER BY l.block, l.log_index", chain, since.UntradedAfter, since.MadeAfter, curve, chain, since.TradedAfter, curve)
	return database.Walk(ctx, s.db.Read, q, "launches", func(rows *sql.Rows) (market.Launch, error) {
		var r model.Launch
		if err := s.db.Read.ScanRow(ctx, rows, &r); err != nil {
			return market.Launch{}, err
		}
		return r.Value()
	})
}

// TradedSince lists the tokens of a chain's launches that were traded at a time, in unix seconds, or since, as OfLate counts trades; in no order. It reads
// the pools that were traded, by an index.
func (s Launches) TradedSince(ctx context.Context, chain string, since int64) ([]market.Address, error) {
	chain = s.served.indexOf(chain)
	var raw [][]byte
	err := s.db.Read.NewRaw("SELECT DISTINCT p.base FROM pools p WHERE p.chain = ? AND p.last_trade_at >= ? AND (p.untrusted = '' OR p.protocol = ?) AND "+
		"EXISTS (SELECT 1 FROM launches l WHERE l.chain = p.chain AND l.mint = p.base)", chain, since, string(market.BondingCurve)).Scan(ctx, &raw)
	if err != nil {
		return nil, fmt.Errorf("database: read launches that were traded: %w", err)
	}
	return model.To(raw, func(b *[]byte) (market.Address, error) {
		c := model.Columns{Table: "pools"}
		a := c.Address(*b)
		return a, c.Err
	})
}

// ownCurves asks which launches name contracts as their curves'. Two of a contract are enough to know that it holds no one's
// alone: a contract of many, whose venue isn't declared any more, can have them by the million.
const ownCurves = "SELECT curve, mint FROM (SELECT curve, mint, row_number() OVER (PARTITION BY curve ORDER BY mint) AS nth " +
	"FROM launches WHERE chain = ? AND curve IN (?)) named WHERE nth <= 2"

// nextCurve asks for the first contract after another one that holds curves. It reads the index launches_curve.
const nextCurve = "SELECT curve FROM launches WHERE chain = ? AND curve > ? ORDER BY curve LIMIT 1"

type ownCurveRow struct{ Curve, Mint []byte }

// ownCurves tells of contracts whose curve each of them holds, in no order; those that hold none are left out.
func (s *rows) ownCurves(ctx context.Context, chain string, contracts []market.Address) (out []market.OwnCurve, err error) {
	for part := range slices.Chunk(contracts, database.LoadKeys) {
		var rows []ownCurveRow
		if err := s.db.Write.NewRaw(ownCurves, chain, database.Among(s.db.IsPostgres(), addressKeys(part))).Scan(ctx, &rows); err != nil {
			return nil, fmt.Errorf("database: load curves by contract: %w", err)
		}
		c, held := model.Columns{Table: "launches"}, make(map[market.Address]market.Address, len(rows))
		for _, r := range rows {
			contract, mint := c.Address(r.Curve), c.Address(r.Mint)
			if _, second := held[contract]; second {
				mint = market.Address{}
			}
			held[contract] = mint
		}
		for contract, mint := range held {
			out = append(out, market.OwnCurve{Contract: contract, Mint: mint})
		}
		if c.Err != nil {
			return nil, c.Err
		}
	}
	return out, nil
}

// anyOwnCurve reports whether any launch names a contract as its curve's that isn't declared. It goes from contract to contract, however
// many launches name each.
func (s *rows) anyOwnCurve(ctx context.Context, chain string, declared []market.Address) (bool, error) {
	after := []byte{}
	for {
		var next [][]byte
		if err := s.db.Write.NewRaw(nextCurve, chain, after).Scan(ctx, &next); err != nil {
			return false, fmt.Errorf("database: look for curves of launches: %w", err)
		}
		if len(next) == 0 {
			return false, nil
		}
		c := model.Columns{Table: "launches"}
		contract := c.Address(next[0])
		if c.Err != nil || !slices.Contains(declared, contract) {
			return c.Err == nil, c.Err
		}
		after = next[0]
	}
}
