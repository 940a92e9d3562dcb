package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
)

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
		if err := s.Write.NewRaw(ownCurves, chain, database.Among(s.IsPostgres(), addressKeys(part))).Scan(ctx, &rows); err != nil {
			return nil, fmt.Errorf("database: load curves by contract: %w", err)
		}
		c, held := columns{table: "launches"}, make(map[market.Address]market.Address, len(rows))
		for _, r := range rows {
			contract, mint := c.address(r.Curve), c.address(r.Mint)
			if _, second := held[contract]; second {
				mint = market.Address{}
			}
			held[contract] = mint
		}
		for contract, mint := range held {
			out = append(out, market.OwnCurve{Contract: contract, Mint: mint})
		}
		if c.err != nil {
			return nil, c.err
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
		if err := s.Write.NewRaw(nextCurve, chain, after).Scan(ctx, &next); err != nil {
			return false, fmt.Errorf("database: look for curves of launches: %w", err)
		}
		if len(next) == 0 {
			return false, nil
		}
		c := columns{table: "launches"}
		contract := c.address(next[0])
		if c.err != nil || !slices.Contains(declared, contract) {
			return c.err == nil, c.err
		}
		after = next[0]
	}
}
