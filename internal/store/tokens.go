package store

import (
	"context"
	"database/sql"
	"fmt"
	"iter"

	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
	"github.com/boardwalkhq/boardwalk/internal/store/model"
)

// withoutSupply spells the condition of the index tokens_supply. The chain is written so that SQLite can't take the primary key for as good.
const withoutSupply = "SELECT mint FROM tokens WHERE chain || '' = ? AND has_supply = FALSE AND supply_strikes < 2 AND pool IS NOT NULL AND "

// WithoutSupply lists up to limit priced tokens of a chain whose supply is still to be asked for, from an address on and then from the
// first. It reads through the writer's connection, so that it sees the last commit.
func (s Tokens) WithoutSupply(ctx context.Context, chain string, from market.Address, limit int) (out []market.Address, err error) {
	for _, part := range []string{"mint >= ?", "mint < ?"} {
		more, err := s.listMints(ctx, withoutSupply+part+" ORDER BY mint LIMIT ?", chain, from.Bytes(), limit-len(out))
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}

// doubtedSupplies spells the condition of the index tokens_doubted.
const doubtedSupplies = "SELECT mint FROM tokens WHERE chain || '' = ? AND supply_strikes = 1 ORDER BY mint < ?, mint LIMIT ?"

// DoubtedSupplies lists up to limit tokens of a chain whose supply was contradicted once, from an address on and then from the first. It reads
// through the writer's connection, so that it sees the last commit.
func (s Tokens) DoubtedSupplies(ctx context.Context, chain string, from market.Address, limit int) ([]market.Address, error) {
	return s.listMints(ctx, doubtedSupplies, chain, from.Bytes(), limit)
}

// muteTokens spells the condition of the index tokens_mute. The tokens from an address on come first.
const muteTokens = "SELECT mint FROM tokens WHERE chain || '' = ? AND has_decimals = FALSE AND first_block >= ? AND first_block < ? " +
	"ORDER BY mint < ?, mint LIMIT ?"

// Mute lists up to limit tokens of a chain that told no decimals and were first seen in the blocks from first to
// before end, from an address on and then from the first. It reads through the writer's connection, so that it sees the
// last commit.
func (s Tokens) Mute(ctx context.Context, chain string, first, end uint64, from market.Address, limit int) ([]market.Address, error) {
	return s.listMints(ctx, muteTokens, chain, int64(first), int64(end), from.Bytes(), limit)
}

// listMints reads a list of tokens through the writer's connection, so that it sees the last commit.
func (s *rows) listMints(ctx context.Context, query string, args ...any) ([]market.Address, error) {
	var rows [][]byte
	if err := s.db.Write.NewRaw(query, args...).Scan(ctx, &rows); err != nil {
		return nil, fmt.Errorf("database: list tokens: %w", err)
	}
	var out []market.Address
	c := model.Columns{Table: "tokens"}
	for _, r := range rows {
		out = append(out, c.Address(r))
	}
	return out, c.Err
}

// TokenNow is a token with the state of its chain, both of one moment.
type TokenNow struct {
	Chain string
	market.Token
	// Block, Hash and Time (unix seconds) are those of the chain's newest indexed block, FinalTime that of its final one.
	Block           uint64
	Hash            market.Hash
	Time, FinalTime int64
	// Head is what the chain's nodes announced last, as far as Time and SilentFrom.
	Head  HeadStatus
	State ChainState
	// Launched is true of what was launched at a declared venue of the chain.
	Launched bool
	// GraduatedAt is when it moved from its curve to a pool; unix seconds, 0 for what never did.
	GraduatedAt int64
	// Metadata are the texts of what was fetched of its description; nil while nothing was. AwaitsMetadata says of a token that wasn't launched that it has a
	// URI which is still to be fetched.
	Metadata       *TokenMetadata
	AwaitsMetadata bool
	// Quote is its own price where it is a quote asset.
	Quote *market.QuotePrice
	// Changed is when the token, its launch or its own price last changed.
	Changed model.Stamp
}

// Now lists the tokens at some addresses, on every chain, by chain and mint.
func (s Tokens) Now(ctx context.Context, mints []market.Address) ([]TokenNow, error) {
	if len(mints) == 0 {
		return nil, nil
	}
	type row struct {
		model.Token `bun:",extend"`

		Number      int64
		Hash        []byte
		BlockTime   int64
		FinalTime   int64
		HeadTime    int64
		SilentFrom  int64
		State       string
		Launched    bool
		GraduatedAt int64
		LaunchBlock int64
		LaunchAt    int64

		model.Described `bun:",extend"`
		quoteColumns    `bun:",extend"`
	}
	marks, args := database.List(addressKeys(mints))
	rows, err := s.db.Ask(ctx, "SELECT "+database.ColumnsOf[model.Token](s.db.Read, "t")+", c.number, c.hash, c.block_time, c.final_time, c.head_time, c.silent_from, c.state, "+
		"l.mint IS NOT NULL AS launched, COALESCE(l.graduated_at, 0) AS graduated_at, COALESCE(l.changed_block, 0) AS launch_block, COALESCE(l.changed_at, 0) AS launch_at, "+
		model.DescribedColumns+", "+quoteOf+" FROM tokens t JOIN chains c ON c.id = t.chain "+
		"LEFT JOIN launches l ON l.chain = t.chain AND l.mint = t.mint "+
		"LEFT JOIN token_metadata m ON m.chain = t.chain AND m.mint = t.mint "+
		"LEFT JOIN quote_prices q ON q.chain = t.chain AND q.asset = t.mint WHERE t.mint IN ("+marks+") ORDER BY t.chain, t.mint", args...)
	found, err := database.ScanAll[row](ctx, s.db.Read, rows, err)
	if err != nil {
		return nil, fmt.Errorf("database: read tokens: %w", err)
	}
	found = onlyServed(s.served, found, func(r *row) *string { return &r.Chain })
	return model.To(found, func(r *row) (TokenNow, error) {
		t, err := r.Value()
		c := model.Columns{Table: "chains", Err: err}
		out := TokenNow{
			Chain: r.Chain, Token: t, Block: uint64(r.Number), Hash: c.Hash(r.Hash), Time: r.BlockTime, FinalTime: r.FinalTime,
			Head: HeadStatus{Time: r.HeadTime, SilentFrom: r.SilentFrom}, State: ChainState(r.State),
			Launched: r.Launched, GraduatedAt: r.GraduatedAt,
		}
		out.Metadata, out.AwaitsMetadata = r.Texts(t.Mint)
		launch := model.Stamp{Block: uint64(r.LaunchBlock), At: max(r.LaunchAt, r.GraduatedAt)}
		out.Changed = r.Changed(t.FirstSeenAt).Latest(launch)
		if q, ok := r.quotePrice(t.Mint); ok {
			out.Quote, out.Changed = &q, out.Changed.Latest(r.quoteChanged())
		}
		return out, c.Err
	})
}

// Listing is what a search needs to know of a token.
type Listing struct {
	Mint         market.Address
	Name, Symbol string
	// LiquidityUSD is the liquidity of the token's trusted pools together.
	LiquidityUSD float64
	// Listed is false when no pool has a price for it.
	Listed bool
}

// liquidity sums the USD in the trusted ones of the pools p of a token, whose quotes are q.
const liquidity = "SUM(CASE WHEN p.untrusted = '' THEN p.locked * q.usd ELSE 0 END)"

// Listings walks a chain's tokens that are listed. Rows are read as they are wanted, so that a big chain costs no memory.
func (s Tokens) Listings(ctx context.Context, chain string) iter.Seq2[Listing, error] {
	chain = s.served.indexOf(chain)
	return s.listings(ctx, s.db.Read.NewRaw("SELECT t.mint, t.name, t.symbol, l.usd FROM tokens t JOIN (SELECT p.base, "+liquidity+
		" AS usd FROM pools p JOIN quote_prices q ON q.chain = p.chain AND q.asset = p.quote "+
		"WHERE p.chain = ? AND p.price > 0 AND p."+listedOnly+" GROUP BY p.base) l ON l.base = t.mint WHERE t.chain = ?", chain, chain))
}

// ListingsOf walks some tokens of a chain; those that are gone are left out.
func (s Tokens) ListingsOf(ctx context.Context, chain string, mints []market.Address) iter.Seq2[Listing, error] {
	chain = s.served.indexOf(chain)
	return s.listings(ctx, s.listingsOf(chain, mints))
}

func (s Tokens) listingsOf(chain string, mints []market.Address) *bun.RawQuery {
	return s.db.Read.NewRaw("SELECT t.mint, t.name, t.symbol, (SELECT "+liquidity+
		" FROM pools p JOIN quote_prices q ON q.chain = p.chain AND q.asset = p.quote "+
		"WHERE p."+poolsChain+" = t.chain AND p.base = t.mint AND p.price > 0 AND p."+listedOnly+") AS usd FROM tokens t WHERE t.chain = ? AND t.mint IN (?)",
		chain, database.Among(s.db.IsPostgres(), addressKeys(mints)))
}

func (s Tokens) listings(ctx context.Context, q *bun.RawQuery) iter.Seq2[Listing, error] {
	return database.Walk(ctx, s.db.Read, q, "listings", func(rows *sql.Rows) (Listing, error) {
		var mint []byte
		var usd sql.NullFloat64
		var l Listing
		if err := rows.Scan(&mint, &l.Name, &l.Symbol, &usd); err != nil {
			return l, err
		}
		c := model.Columns{Table: "tokens"}
		l.Mint, l.LiquidityUSD, l.Listed = c.Address(mint), usd.Float64, usd.Valid
		return l, c.Err
	})
}
