package model

import (
	"fmt"

	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Pool is a row of pools.
type Pool struct {
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
	CountsSince  int64   `image:",later"`
	Virtual1     []byte  `bun:"virtual1" image:",later"`
	WindowLower  int32   `image:",later"`
	WindowUpper  int32   `image:",later"`
	Stamped
}

// OfPool is the row of a pool.
func OfPool(chain string, p *market.Pool, as Stamped) Pool {
	return Pool{
		Chain: chain, ID: p.ID.Bytes(), Protocol: string(p.Protocol), Factory: p.Factory.Bytes(),
		Token0: p.Token0.Bytes(), Token1: p.Token1.Bytes(), FeePips: int64(p.FeePips), TickSpacing: p.TickSpacing,
		Hooks: p.Hooks.Bytes(), Stable: p.Stable, CreatedBlock: int64(p.CreatedBlock), CreatedAt: p.CreatedAt,
		Base: p.Base.Bytes(), Quote: p.Quote.Bytes(), BaseIs0: p.BaseIs0, Untrusted: string(p.Untrusted), Unlisted: p.Unlisted,
		Reserve0: BytesOf(&p.Reserve0), Reserve1: BytesOf(&p.Reserve1), SqrtPriceX96: BytesOf(&p.SqrtPriceX96),
		Liquidity: BytesOf(&p.Liquidity), Tick: p.Tick, Price: p.Price, Depth: p.Depth, Locked: p.Locked,
		LastTradeAt: p.LastTradeAt, DayVolumeUSD: BytesOf(&p.Day.VolumeUSD), DayBuys: p.Day.Buys, DaySells: p.Day.Sells,
		DayReference: p.Day.ReferenceUSD, DayQuote: p.Day.ReferenceQuote, CountsSince: p.CountsSince, Virtual1: signedBytesOf(p.Virtual1),
		WindowLower: p.Window.Lower, WindowUpper: p.Window.Upper, Stamped: as,
	}
}

// Value is a pool as the row has it.
func (r *Pool) Value() (market.Pool, error) {
	c := Columns{Table: "pools"}
	p := market.Pool{
		ID: c.Address(r.ID), Protocol: market.Protocol(r.Protocol), Factory: c.Address(r.Factory),
		Token0: c.Address(r.Token0), Token1: c.Address(r.Token1), FeePips: uint32(r.FeePips), TickSpacing: r.TickSpacing,
		Hooks: c.Address(r.Hooks), Stable: r.Stable, CreatedBlock: uint64(r.CreatedBlock), CreatedAt: r.CreatedAt,
		Base: c.Address(r.Base), Quote: c.Address(r.Quote), BaseIs0: r.BaseIs0,
		Untrusted: market.UntrustedReason(r.Untrusted), Unlisted: r.Unlisted,
		Reserve0: c.Amount(r.Reserve0), Reserve1: c.Amount(r.Reserve1), SqrtPriceX96: c.Amount(r.SqrtPriceX96),
		Liquidity: c.Amount(r.Liquidity), Tick: r.Tick, Price: r.Price, Depth: r.Depth, Locked: r.Locked,
		LastTradeAt: r.LastTradeAt, CountsSince: r.CountsSince, Virtual1: c.signed(r.Virtual1),
		Window: market.TickWindow{Lower: r.WindowLower, Upper: r.WindowUpper},
		Day: market.Window{
			VolumeUSD: c.Amount(r.DayVolumeUSD), Buys: r.DayBuys, Sells: r.DaySells, ReferenceUSD: r.DayReference,
			ReferenceQuote: r.DayQuote,
		},
	}
	return p, c.Err
}

// Pair has the columns of a pool that are read for its account alone.
type Pair struct {
	bun.BaseModel `bun:"table:pools"`

	ID   []byte
	Base []byte
}

// Value is a pool, as far as a pair needs it as the row has it.
func (r *Pair) Value() (market.Pair, error) {
	c := Columns{Table: "pools"}
	return market.Pair{ID: c.Address(r.ID), Base: c.Address(r.Base)}, c.Err
}

// Ticks is a row of pool_ticks.
type Ticks struct {
	bun.BaseModel `bun:"table:pool_ticks"`

	Chain string `bun:",pk"`
	Pool  []byte `bun:",pk" image:"address"`
	Ticks []byte
}

// OfTicks is the row of a pool's tick map.
func OfTicks(chain string, pool market.Address, t market.TickMap) Ticks {
	return Ticks{Chain: chain, Pool: pool.Bytes(), Ticks: t.Marshal()}
}

// Value is a pool's tick map as the row has it.
func (r *Ticks) Value() (market.Address, market.TickMap, error) {
	c := Columns{Table: "pool_ticks"}
	pool := c.Address(r.Pool)
	if c.Err != nil {
		return pool, nil, c.Err
	}
	t, err := market.UnmarshalTickMap(r.Ticks)
	if err != nil {
		return pool, nil, fmt.Errorf("database: pool_ticks of %s: %w", pool, err)
	}
	return pool, t, nil
}

// Quote is a row of quote_prices.
type Quote struct {
	bun.BaseModel `bun:"table:quote_prices"`

	Chain  string `bun:",pk"`
	Asset  []byte `bun:",pk" image:"address"`
	USD    float64
	Pegged bool
	DayUSD float64 `bun:"day_usd"`
	Stamped
}

// OfQuote is the row of a quote asset's price.
func OfQuote(chain string, q *market.QuotePrice, as Stamped) Quote {
	return Quote{Chain: chain, Asset: q.Asset.Bytes(), USD: q.USD, Pegged: q.Pegged, DayUSD: q.DayUSD, Stamped: as}
}

// Value is a quote asset's price as the row has it.
func (r *Quote) Value() (market.QuotePrice, error) {
	c := Columns{Table: "quote_prices"}
	return market.QuotePrice{Asset: c.Address(r.Asset), USD: r.USD, Pegged: r.Pegged, DayUSD: r.DayUSD}, c.Err
}
