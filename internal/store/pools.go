package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
)

type poolRow struct {
	bun.BaseModel `bun:"table:pools"`

	Chain        string `bun:",pk"`
	ID           []byte `bun:",pk" image:"address"`
	Protocol     string
	Factory      []byte `image:"address"`
	Token0       []byte `image:"address"`
	Token1       []byte `image:"address"`
	FeePips      int64
	TickSpacing  int32
	Hooks        []byte `image:"address"`
	Stable       bool
	CreatedBlock int64
	CreatedAt    int64
	Base         []byte `image:"address"`
	Quote        []byte `image:"address"`
	BaseIs0      bool   `bun:"base_is0"`
	Untrusted    string
	Unlisted     bool
	Reserve0     []byte
	Reserve1     []byte
	SqrtPriceX96 []byte `bun:"sqrt_price_x96"`
	Liquidity    []byte
	Tick         int32
	Price        float64
	Depth        float64
	Locked       float64
	LastTradeAt  int64
	DayVolumeUSD []byte `bun:"day_volume_usd"`
	DayBuys      int64
	DaySells     int64
	DayReference float64
	DayQuote     float64 `bun:"day_reference_quote"`
	stamped
}

func poolToRow(chain string, p *market.Pool, as stamped) poolRow {
	return poolRow{
		Chain: chain, ID: p.ID.Bytes(), Protocol: string(p.Protocol), Factory: p.Factory.Bytes(),
		Token0: p.Token0.Bytes(), Token1: p.Token1.Bytes(), FeePips: int64(p.FeePips), TickSpacing: p.TickSpacing,
		Hooks: p.Hooks.Bytes(), Stable: p.Stable, CreatedBlock: int64(p.CreatedBlock), CreatedAt: p.CreatedAt,
		Base: p.Base.Bytes(), Quote: p.Quote.Bytes(), BaseIs0: p.BaseIs0, Untrusted: string(p.Untrusted), Unlisted: p.Unlisted,
		Reserve0: bytesOf(&p.Reserve0), Reserve1: bytesOf(&p.Reserve1), SqrtPriceX96: bytesOf(&p.SqrtPriceX96),
		Liquidity: bytesOf(&p.Liquidity), Tick: p.Tick, Price: p.Price, Depth: p.Depth, Locked: p.Locked,
		LastTradeAt: p.LastTradeAt, DayVolumeUSD: bytesOf(&p.Day.VolumeUSD), DayBuys: p.Day.Buys, DaySells: p.Day.Sells,
		DayReference: p.Day.ReferenceUSD, DayQuote: p.Day.ReferenceQuote, stamped: as,
	}
}

func (r *poolRow) pool() (market.Pool, error) {
	c := columns{table: "pools"}
	p := market.Pool{
		ID: c.address(r.ID), Protocol: market.Protocol(r.Protocol), Factory: c.address(r.Factory),
		Token0: c.address(r.Token0), Token1: c.address(r.Token1), FeePips: uint32(r.FeePips), TickSpacing: r.TickSpacing,
		Hooks: c.address(r.Hooks), Stable: r.Stable, CreatedBlock: uint64(r.CreatedBlock), CreatedAt: r.CreatedAt,
		Base: c.address(r.Base), Quote: c.address(r.Quote), BaseIs0: r.BaseIs0,
		Untrusted: market.UntrustedReason(r.Untrusted), Unlisted: r.Unlisted,
		Reserve0: c.amount(r.Reserve0), Reserve1: c.amount(r.Reserve1), SqrtPriceX96: c.amount(r.SqrtPriceX96),
		Liquidity: c.amount(r.Liquidity), Tick: r.Tick, Price: r.Price, Depth: r.Depth, Locked: r.Locked,
		LastTradeAt: r.LastTradeAt,
		Day: market.Window{
			VolumeUSD: c.amount(r.DayVolumeUSD), Buys: r.DayBuys, Sells: r.DaySells, ReferenceUSD: r.DayReference,
			ReferenceQuote: r.DayQuote,
		},
	}
	return p, c.err
}

// pairRow is what is read of a pool for its account alone.
type pairRow struct {
	bun.BaseModel `bun:"table:pools"`

	ID   []byte
	Base []byte
}

func (r *pairRow) pair() (market.Pair, error) {
	c := columns{table: "pools"}
	return market.Pair{ID: c.address(r.ID), Base: c.address(r.Base)}, c.err
}

type ticksRow struct {
	bun.BaseModel `bun:"table:pool_ticks"`

	Chain string `bun:",pk"`
	Pool  []byte `bun:",pk" image:"address"`
	Ticks []byte
}

func ticksToRow(chain string, pool market.Address, t market.TickMap) ticksRow {
	return ticksRow{Chain: chain, Pool: pool.Bytes(), Ticks: t.Marshal()}
}

func (r *ticksRow) ticks() (market.Address, market.TickMap, error) {
	c := columns{table: "pool_ticks"}
	pool := c.address(r.Pool)
	if c.err != nil {
		return pool, nil, c.err
	}
	t, err := market.UnmarshalTickMap(r.Ticks)
	if err != nil {
		return pool, nil, fmt.Errorf("database: pool_ticks of %s: %w", pool, err)
	}
	return pool, t, nil
}

type quoteRow struct {
	bun.BaseModel `bun:"table:quote_prices"`

	Chain  string `bun:",pk"`
	Asset  []byte `bun:",pk" image:"address"`
	USD    float64
	Pegged bool
	DayUSD float64 `bun:"day_usd"`
	stamped
}

func quoteToRow(chain string, q *market.QuotePrice, as stamped) quoteRow {
	return quoteRow{Chain: chain, Asset: q.Asset.Bytes(), USD: q.USD, Pegged: q.Pegged, DayUSD: q.DayUSD, stamped: as}
}

func (r *quoteRow) quote() (market.QuotePrice, error) {
	c := columns{table: "quote_prices"}
	return market.QuotePrice{Asset: c.address(r.Asset), USD: r.USD, Pegged: r.Pegged, DayUSD: r.DayUSD}, c.err
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

// listedOnly is the condition on pools by which pools_listed is searched, and withAccount leaves out what anyone can make any number of.
const listedOnly = "unlisted = FALSE"

// poolsChain is the chain of pools that are looked up by their base, as what no index is searched by. Without statistics SQLite would take the
// primary key's chain for a better start than several bases, and PostgreSQL the chain and the base of pools_traded for a better one than
// pools_listed: either reads pools by the thousand that aren't listed.
const poolsChain = "chain || ''"

var withAccount = func() string {
	var names []string
	for _, p := range market.Protocols {
		if p.HasAccount() {
			names = append(names, "'"+string(p)+"'")
		}
	}
	return "protocol IN (" + strings.Join(names, ", ") + ")"
}()

// QuoteNow is the price of a quote asset and when it last changed.
type QuoteNow struct {
	market.QuotePrice
	Changed Stamp
}

// Quotes are the quote prices of every chain.
func (s Pools) Quotes(ctx context.Context) (map[string][]QuoteNow, error) {
	var rows []quoteRow
	if err := s.Read.NewSelect().Model(&rows).Scan(ctx); err != nil {
		return nil, fmt.Errorf("database: read quote prices: %w", err)
	}
	rows = onlyServed(s.served, rows, func(r *quoteRow) *string { return &r.Chain })
	out := make(map[string][]QuoteNow)
	for i := range rows {
		q, err := rows[i].quote()
		if err != nil {
			return nil, err
		}
		out[rows[i].Chain] = append(out[rows[i].Chain], QuoteNow{q, rows[i].changed()})
	}
	return out, nil
}
