package store

import (
	"context"
	"database/sql"
	"iter"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
)

// OfLate bounds LaunchesOfLate, in unix seconds.
type OfLate struct{ MadeAfter, TradedAfter, UntradedAfter int64 }

// OfLate walks a chain's launches that were ever traded and made after MadeAfter, those that were traded after
// TradedAfter, and those that were made after UntradedAfter, traded or not; by block and log index. A trade is one in the
// curve or a trusted pool, a listed one where it is long ago. What was ever launched is much, and most of it rests.
func (s Launches) OfLate(ctx context.Context, chain string, since OfLate) iter.Seq2[market.Launch, error] {
	chain = s.served.indexOf(chain)
	const counts = "(p.untrusted = '' OR p.protocol = ?)"
	curve := string(market.BondingCurve)
	q := s.Read.NewRaw("SELECT "+database.ColumnsOf[launchRow](s.Read, "l")+" FROM launches l WHERE l.chain = ? AND (l.created_at > ? OR "+
		"(l.created_at > ? AND EXISTS (SELECT 1 FROM pools p WHERE p.base = l.mint AND p."+poolsChain+" = l.chain AND p."+listedOnly+" AND p.last_trade_at > 0 AND "+counts+")) OR "+
		"l.mint IN (SELECT p.base FROM pools p WHERE p.chain = ? AND p.last_trade_at > ? AND "+counts+")) "+
		"ORDER BY l.block, l.log_index", chain, since.UntradedAfter, since.MadeAfter, curve, chain, since.TradedAfter, curve)
	return database.Walk(ctx, s.Read, q, "launches", func(rows *sql.Rows) (market.Launch, error) {
		var r launchRow
		if err := s.Read.ScanRow(ctx, rows, &r); err != nil {
			return market.Launch{}, err
		}
		return r.launch()
	})
}
