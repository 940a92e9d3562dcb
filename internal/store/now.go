package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
)

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
	// Quote is its own price where it is a quote asset.
	Quote *market.QuotePrice
	// Changed is when the token, its launch or its own price last changed.
	Changed Stamp
}

// PoolNow is a pool with the price of its quote, both of one moment.
type PoolNow struct {
	Chain string
	market.Pool
	QuotePrice market.QuotePrice // USD 0 while unknown
	// Changed is when the pool or the price of its quote last changed.
	Changed Stamp
}

// quoteOf is what a query that joins quote_prices as q reads into quoteColumns.
const quoteOf = "q.usd AS quote_usd, q.pegged AS quote_pegged, q.day_usd AS quote_day_usd, " +
	"COALESCE(q.changed_block, 0) AS quote_block, COALESCE(q.changed_at, 0) AS quote_at"

// quoteColumns are a quote asset's price beside another row; USD, Pegged and DayUSD are nil without one.
type quoteColumns struct {
	QuoteUSD    *float64 `bun:"quote_usd"`
	QuotePegged *bool
	QuoteDayUSD *float64 `bun:"quote_day_usd"`
	QuoteBlock  int64
	QuoteAt     int64
}

func (c *quoteColumns) quotePrice(asset market.Address) (q market.QuotePrice, ok bool) {
	q.Asset = asset
	if ok = c.QuoteUSD != nil && c.QuotePegged != nil && c.QuoteDayUSD != nil; ok {
		q.USD, q.Pegged, q.DayUSD = *c.QuoteUSD, *c.QuotePegged, *c.QuoteDayUSD
	}
	return q, ok
}

func (c *quoteColumns) quoteChanged() Stamp { return Stamp{Block: uint64(c.QuoteBlock), At: c.QuoteAt} }

// Now lists the tokens at some addresses, on every chain, by chain and mint.
func (s Tokens) Now(ctx context.Context, mints []market.Address) ([]TokenNow, error) {
	if len(mints) == 0 {
		return nil, nil
	}
	type row struct {
		tokenRow `bun:",extend"`

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

		quoteColumns `bun:",extend"`
	}
	marks, args := database.List(addressKeys(mints))
	rows, err := s.Ask(ctx, "SELECT "+database.ColumnsOf[tokenRow](s.Read, "t")+", c.number, c.hash, c.block_time, c.final_time, c.head_time, c.silent_from, c.state, "+
		"l.mint IS NOT NULL AS launched, COALESCE(l.graduated_at, 0) AS graduated_at, COALESCE(l.changed_block, 0) AS launch_block, COALESCE(l.changed_at, 0) AS launch_at, "+
		quoteOf+" FROM tokens t JOIN chains c ON c.id = t.chain "+
		"LEFT JOIN launches l ON l.chain = t.chain AND l.mint = t.mint "+
		"LEFT JOIN quote_prices q ON q.chain = t.chain AND q.asset = t.mint WHERE t.mint IN ("+marks+") ORDER BY t.chain, t.mint", args...)
	found, err := database.ScanAll[row](ctx, s.Read, rows, err)
	if err != nil {
		return nil, fmt.Errorf("database: read tokens: %w", err)
	}
	found = onlyServed(s.served, found, func(r *row) *string { return &r.Chain })
	return rowsTo(found, func(r *row) (TokenNow, error) {
		t, err := r.token()
		c := columns{table: "chains", err: err}
		out := TokenNow{
			Chain: r.Chain, Token: t, Block: uint64(r.Number), Hash: c.hash(r.Hash), Time: r.BlockTime, FinalTime: r.FinalTime,
			Head: HeadStatus{Time: r.HeadTime, SilentFrom: r.SilentFrom}, State: ChainState(r.State),
			Launched: r.Launched, GraduatedAt: r.GraduatedAt,
		}
		launch := Stamp{Block: uint64(r.LaunchBlock), At: max(r.LaunchAt, r.GraduatedAt)}
		out.Changed = r.changed(t.FirstSeenAt).Latest(launch)
		if q, ok := r.quotePrice(t.Mint); ok {
			out.Quote, out.Changed = &q, out.Changed.Latest(r.quoteChanged())
		}
		return out, c.err
	})
}

// PoolsOfToken bounds the pools of one token that are read: anyone can make thousands.
const PoolsOfToken = market.ListedPools

// Now lists the listed pools of some base tokens on every chain, of each token the one that prices it and the
// most liquid trusted ones, PoolsOfToken at most; by chain and id.
func (s Pools) Now(ctx context.Context, bases []market.Address) ([]PoolNow, error) {
	if len(bases) == 0 {
		return nil, nil
	}
	text, args := s.nowOf(bases)
	return s.now(ctx, text, args)
}

func (s Pools) nowOf(bases []market.Address) (text string, args []any) {
	marks, args := database.List(addressKeys(bases))
	// Ranked where they are read: a second look at the table by key would leave the planner a choice.
	inner := "SELECT " + database.ColumnsOf[poolRow](s.Read, "p") + ", " + quoteOf + ", " +
		"ROW_NUMBER() OVER (PARTITION BY p.chain, p.base ORDER BY p.id = t.pool DESC, p.untrusted = '' DESC, " +
		"p.locked * COALESCE(q.usd, 0) DESC, p.id) AS place FROM pools p JOIN tokens t ON t.chain = p." + poolsChain + " AND t.mint = p.base " +
		"LEFT JOIN quote_prices q ON q.chain = p.chain AND q.asset = p.quote WHERE p.base IN (" + marks + ") AND p." + listedOnly
	return "SELECT " + database.ColumnsOf[poolRow](s.Read, "r") + ", r.quote_usd, r.quote_pegged, r.quote_day_usd, r.quote_block, r.quote_at FROM (" + inner +
		") r WHERE r.place <= " + strconv.Itoa(PoolsOfToken) + " ORDER BY r.chain, r.id", args
}

// ByID lists the pools with an id on some chains, by chain.
func (s Pools) ByID(ctx context.Context, chains []string, id market.Address) ([]PoolNow, error) {
	if len(chains) == 0 {
		return nil, nil
	}
	marks, args := database.List(s.served.indexesOf(chains))
	return s.now(ctx, "SELECT "+database.ColumnsOf[poolRow](s.Read, "p")+", "+quoteOf+" "+
		"FROM pools p LEFT JOIN quote_prices q ON q.chain = p.chain AND q.asset = p.quote WHERE p.chain IN ("+marks+") AND p.id = ? "+
		"ORDER BY p.chain, p.id", append(args, id.Bytes()))
}

func (s Pools) now(ctx context.Context, text string, args []any) ([]PoolNow, error) {
	type row struct {
		poolRow `bun:",extend"`

		quoteColumns `bun:",extend"`
	}
	rows, err := s.Ask(ctx, text, args...)
	found, err := database.ScanAll[row](ctx, s.Read, rows, err)
	if err != nil {
		return nil, fmt.Errorf("database: read pools: %w", err)
	}
	found = onlyServed(s.served, found, func(r *row) *string { return &r.Chain })
	return rowsTo(found, func(r *row) (PoolNow, error) {
		p, err := r.pool()
		out := PoolNow{Chain: r.Chain, Pool: p, Changed: r.changed(p.CreatedAt, p.LastTradeAt).Latest(r.quoteChanged())}
		out.QuotePrice, _ = r.quotePrice(p.Quote)
		return out, err
	})
}

// Ticks lists the newest trades of a pool with a time in [from, to), oldest first and at most limit of them, with prices
// in USD or in the native coin.
func (s Trades) Ticks(ctx context.Context, chain string, pool market.Address, from, to int64, native bool, limit int) ([]market.Tick, error) {
	chain = s.served.indexOf(chain)
	name := "close_usd"
	if native {
		name = "close_native"
	}
	rows, err := s.Ask(ctx, "SELECT time, "+name+", COALESCE(nano_usd, 0), block FROM trades WHERE chain = ? AND pool = ? AND time >= ? "+
		"AND time < ? ORDER BY time DESC, block DESC, log_index DESC LIMIT ?", chain, pool.Bytes(), from, to, limit)
	if err != nil {
		return nil, fmt.Errorf("database: read trades: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var out []market.Tick
	for rows.Next() {
		var t market.Tick
		if err := rows.Scan(&t.Time, &t.Price, &t.NanoUSD, &t.Block); err != nil {
			return nil, fmt.Errorf("database: read trades: %w", err)
		}
		out = append(out, t)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, fmt.Errorf("database: read trades: %w", err)
	}
	slices.Reverse(out)
	return out, nil
}

// The columns of candles that a series of prices in one currency is made of.
const (
	usdColumns    = "open_at, open_usd, high_usd, low_usd, close_usd, volume_usd, buys, sells, last_block"
	nativeColumns = "open_at, open_native, high_native, low_native, close_native, volume_usd, buys, sells, last_block"
)

// Series lists a pool's stored candles of one width that open in [from, to), oldest first, with prices in USD or in the
// native coin, volume in USD and the trades; nothing else of them is read.
func (s Candles) Series(ctx context.Context, chain string, pool market.Address, interval int32, from, to int64, native bool,
) ([]market.Candle, error) {
	chain = s.served.indexOf(chain)
	return s.series(ctx, native, pool, "open_at >= ? AND open_at < ? ORDER BY open_at", chain, pool.Bytes(), interval, from, to)
}

// SeriesBefore is the newest such candle that opens before t; ok is false when there is none.
func (s Candles) SeriesBefore(ctx context.Context, chain string, pool market.Address, interval int32, t int64, native bool,
) (c market.Candle, ok bool, err error) {
	chain = s.served.indexOf(chain)
	list, err := s.series(ctx, native, pool, "open_at < ? ORDER BY open_at DESC LIMIT 1", chain, pool.Bytes(), interval, t)
	if err != nil || len(list) == 0 {
		return c, false, err
	}
	return list[0], true, nil
}

func (s Candles) series(ctx context.Context, native bool, pool market.Address, where string, args ...any) (out []market.Candle, err error) {
	names := usdColumns
	if native {
		names = nativeColumns
	}
	rows, err := s.Ask(ctx, "SELECT "+names+" FROM candles WHERE chain = ? AND pool = ? AND interval_s = ? AND "+where, args...)
	if err != nil {
		return nil, fmt.Errorf("database: read candles: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var volume sql.RawBytes
	for rows.Next() {
		c := market.Candle{CandleKey: market.CandleKey{Pool: pool}}
		price := &c.USD
		if native {
			price = &c.Native
		}
		if err := rows.Scan(&c.Open, &price.Open, &price.High, &price.Low, &price.Close, &volume, &c.Buys, &c.Sells, &c.LastBlock); err != nil {
			return nil, fmt.Errorf("database: read candles: %w", err)
		}
		col := columns{table: "candles"}
		if c.VolumeUSD = col.amount(volume); col.err != nil {
			return nil, col.err
		}
		out = append(out, c)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, fmt.Errorf("database: read candles: %w", err)
	}
	return out, nil
}
