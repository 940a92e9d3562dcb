package store

import (
	"fmt"

	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/market"
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
