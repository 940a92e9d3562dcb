package store

import (
	"context"
	"database/sql"
	"iter"

	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
)

// Listing is what a search needs to know of a token.
type Listing struct {
	Mint         market.Address
	Name, Symbol string
	// LiquidityUSD is that of its trusted pools.
	LiquidityUSD float64
	// Listed is false when no pool has a price for it.
	Listed bool
}

// liquidity sums the USD in the trusted ones of the pools p of a token, whose quotes are q.
const liquidity = "SUM(CASE WHEN p.untrusted = '' THEN p.locked * q.usd ELSE 0 END)"

// Listings walks a chain's tokens that changed after commit number seen, or whose pools did; with 0 all that are
// listed. Rows are read as they are wanted, so that a big chain costs no memory.
func (s Tokens) Listings(ctx context.Context, chain string, seen int64) iter.Seq2[Listing, error] {
	chain = s.served.indexOf(chain)
	all := s.Read.NewRaw("SELECT t.mint, t.name, t.symbol, l.usd FROM tokens t JOIN (SELECT p.base, "+liquidity+
		" AS usd FROM pools p JOIN quote_prices q ON q.chain = p.chain AND q.asset = p.quote "+
		"WHERE p.chain = ? AND p.price > 0 AND p."+listedOnly+" GROUP BY p.base) l ON l.base = t.mint WHERE t.chain = ?", chain, chain)
	if seen == 0 {
		return s.listings(ctx, all)
	}
	return s.listings(ctx, s.listingsChanged(chain, seen))
}

func (s Tokens) listingsChanged(chain string, seen int64) *bun.RawQuery {
	return s.Read.NewRaw("SELECT t.mint, t.name, t.symbol, (SELECT "+liquidity+
		" FROM pools p JOIN quote_prices q ON q.chain = p.chain AND q.asset = p.quote "+
		"WHERE p."+poolsChain+" = t.chain AND p.base = t.mint AND p.price > 0 AND p."+listedOnly+") AS usd FROM (SELECT base AS mint FROM pools "+
		"WHERE chain = ? AND commit_no > ? UNION SELECT mint FROM tokens WHERE chain = ? AND commit_no > ?) c "+
		"JOIN tokens t ON t.chain = ? AND t.mint = c.mint", chain, seen, chain, seen, chain)
}

// ListingsOf walks some tokens of a chain; those that are gone are left out.
func (s Tokens) ListingsOf(ctx context.Context, chain string, mints []market.Address) iter.Seq2[Listing, error] {
	chain = s.served.indexOf(chain)
	return s.listings(ctx, s.listingsOf(chain, mints))
}

func (s Tokens) listingsOf(chain string, mints []market.Address) *bun.RawQuery {
	return s.Read.NewRaw("SELECT t.mint, t.name, t.symbol, (SELECT "+liquidity+
		" FROM pools p JOIN quote_prices q ON q.chain = p.chain AND q.asset = p.quote "+
		"WHERE p."+poolsChain+" = t.chain AND p.base = t.mint AND p.price > 0 AND p."+listedOnly+") AS usd FROM tokens t WHERE t.chain = ? AND t.mint IN (?)",
		chain, database.Among(s.IsPostgres(), addressKeys(mints)))
}

func (s Tokens) listings(ctx context.Context, q *bun.RawQuery) iter.Seq2[Listing, error] {
	return database.Walk(ctx, s.Read, q, "listings", func(rows *sql.Rows) (Listing, error) {
		var mint []byte
		var usd sql.NullFloat64
		var l Listing
		if err := rows.Scan(&mint, &l.Name, &l.Symbol, &usd); err != nil {
			return l, err
		}
		c := columns{table: "tokens"}
		l.Mint, l.LiquidityUSD, l.Listed = c.address(mint), usd.Float64, usd.Valid
		return l, c.err
	})
}

// Flow is a trade as far as a ranking goes.
type Flow struct {
	Block   uint64
	Time    int64 // unix seconds
	Base    market.Address
	Trader  market.Address
	Sell    bool
	NanoUSD int64 // in 1e-9 USD
	// CloseUSD is the token's price when its block ended; 0 while unknown, and for trades of pools that don't price it.
	CloseUSD float64
}

// Flows walks a chain's valued trades in trusted pools from a block on, or with block 0 those with a time of at least since;
// oldest first. What anybody can make a pool say of itself is no trade to a ranking.
func (s Trades) Flows(ctx context.Context, chain string, block uint64, since int64) iter.Seq2[Flow, error] {
	chain = s.served.indexOf(chain)
	return func(yield func(Flow, error) bool) {
		first := int64(block)
		if block == 0 {
			var err error
			if first, err = firstTradeBlock(ctx, s.Read, chain, since); err != nil {
				yield(Flow{}, err)
				return
			}
		}
		// CROSS JOIN has SQLite go by the trades' order.
		q := s.Read.NewRaw("SELECT t.block, t.time, t.base, t.trader, t.sell, t.nano_usd, "+
			"CASE WHEN p.id = k.pool OR p.protocol = ? THEN t.close_usd ELSE 0 END FROM trades t CROSS JOIN pools p "+
			"CROSS JOIN tokens k WHERE t.chain = ? AND t.block >= ? AND t.nano_usd IS NOT NULL AND p.chain = t.chain AND p.id = t.pool "+
			"AND p.untrusted = '' AND k.chain = t.chain AND k.mint = t.base ORDER BY t.block, t.log_index", string(market.BondingCurve), chain, first)
		database.Walk(ctx, s.Read, q, "trades", func(rows *sql.Rows) (Flow, error) {
			var base, trader []byte
			var number int64
			var f Flow
			if err := rows.Scan(&number, &f.Time, &base, &trader, &f.Sell, &f.NanoUSD, &f.CloseUSD); err != nil {
				return f, err
			}
			c := columns{table: "trades"}
			f.Block, f.Base, f.Trader = uint64(number), c.address(base), c.address(trader)
			return f, c.err
		})(yield)
	}
}
