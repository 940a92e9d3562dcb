package model

import (
	"fmt"

	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Trade is a row of trades.
type Trade struct {
	bun.BaseModel `bun:"table:trades"`

	Chain       string `bun:",pk"`
	Block       int64  `bun:",pk"`
	LogIndex    int64  `bun:",pk"`
	Time        int64
	Tx          []byte
	Pool        []byte `image:"address"`
	Base        []byte `image:"address"`
	Trader      []byte `image:"address"`
	Sell        bool
	BaseAmount  []byte
	QuoteAmount []byte
	NanoUSD     *int64 `bun:"nano_usd"`
	CloseUSD    float64
	CloseNative float64

	TraderAmount []byte
	TraderBefore []byte

	Funding  *int64 `image:"later"`
	Funder   []byte `image:"address,later"`
	FundedAt *int64 `image:"later"`
	Age      *int64 `image:"later"`
	FirstAt  *int64 `image:"later"`
}

// OfTrade is the row of a trade.
func OfTrade(chain string, t *market.Trade) Trade {
	r := Trade{
		Chain: chain, Block: int64(t.Block), LogIndex: int64(t.LogIndex), Time: t.Time, Tx: t.Tx.AppendTo([]byte{}),
		// Where nobody is the trader it is empty: the column takes no NULL, and a table of this size isn't rewritten for that.
		Pool: t.Pool.Bytes(), Base: t.Base.Bytes(), Trader: t.Trader.AppendTo([]byte{}), Sell: t.Sell,
		BaseAmount: BytesOf(&t.BaseAmount), QuoteAmount: BytesOf(&t.QuoteAmount),
		CloseUSD: t.CloseUSD, CloseNative: t.CloseNative,
	}
	if t.HasUSD {
		r.NanoUSD = &t.NanoUSD
	}
	if !t.TraderAmount.IsZero() {
		r.TraderAmount = shortBytesOf(&t.TraderAmount)
	}
	if t.HasTraderBefore {
		r.TraderBefore = shortBytesOf(&t.TraderBefore)
	}
	r.setFunding(&t.Funding)
	return r
}

func (r *Trade) setFunding(f *market.Funding) {
	if f.State != market.FundingUnknown {
		state := int64(f.State)
		r.Funding = &state
	}
	if f.State == market.FundingSeen {
		at := f.At
		r.Funder, r.FundedAt = f.Funder.Bytes(), &at
	}
	if f.Age != market.AgeUnknown {
		age := int64(f.Age)
		r.Age = &age
	}
	if f.Age == market.AgeNew {
		first := f.First
		r.FirstAt = &first
	}
}

// Value is a trade as the row has it.
func (r *Trade) Value() (market.Trade, error) {
	c := Columns{Table: "trades"}
	t := market.Trade{
		Block: uint64(r.Block), LogIndex: uint64(r.LogIndex), Time: r.Time, Tx: c.Tx(r.Tx),
		Pool: c.Address(r.Pool), Base: c.Address(r.Base), Trader: c.Address(r.Trader), Sell: r.Sell,
		BaseAmount: c.Amount(r.BaseAmount), QuoteAmount: c.Amount(r.QuoteAmount),
		CloseUSD: r.CloseUSD, CloseNative: r.CloseNative,
	}
	if r.NanoUSD != nil {
		t.HasUSD, t.NanoUSD = true, *r.NanoUSD
	}
	t.TraderAmount, _ = c.ShortAmount(r.TraderAmount)
	t.TraderBefore, t.HasTraderBefore = c.ShortAmount(r.TraderBefore)
	t.Funding = c.Funding(r.Funding, r.Funder, r.FundedAt, r.Age, r.FirstAt)
	return t, c.Err
}

// Funding is where a trader's coins came from, by the columns of a trade.
func (c *Columns) Funding(state *int64, funder []byte, at, age, first *int64) (f market.Funding) {
	switch {
	case age == nil:
	case *age == int64(market.AgeOld):
		f.Age = market.AgeOld
	case *age == int64(market.AgeNew) && first != nil:
		f.Age, f.First = market.AgeNew, *first
	case c.Err == nil:
		c.Err = fmt.Errorf("database: a row of %s: an age of state %d", c.Table, *age)
	}
	switch {
	case state == nil:
	case *state == int64(market.FundingNotSeen):
		f.State = market.FundingNotSeen
	case *state == int64(market.FundingSeen) && len(funder) > 0 && at != nil:
		f.State, f.Funder, f.At = market.FundingSeen, c.Address(funder), *at
	case c.Err == nil:
		c.Err = fmt.Errorf("database: a row of %s: a funding of state %d and a funder of %d bytes", c.Table, *state, len(funder))
	}
	return f
}

// Candle is a row of candles.
type Candle struct {
	bun.BaseModel `bun:"table:candles"`

	Chain       string `bun:",pk"`
	Pool        []byte `bun:",pk" image:"address"`
	IntervalS   int32  `bun:"interval_s,pk"`
	OpenAt      int64  `bun:",pk"`
	OpenUSD     float64
	HighUSD     float64
	LowUSD      float64
	CloseUSD    float64
	OpenNative  float64
	HighNative  float64
	LowNative   float64
	CloseNative float64
	VolumeUSD   []byte
	VolumeQuote []byte
	VolumeBase  []byte
	Buys        int64
	Sells       int64
	LastBlock   int64
}

// OfCandle is the row of a candle.
func OfCandle(chain string, k *market.Candle) Candle {
	return Candle{
		Chain: chain, Pool: k.Pool.Bytes(), IntervalS: k.Interval, OpenAt: k.Open,
		OpenUSD: k.USD.Open, HighUSD: k.USD.High, LowUSD: k.USD.Low, CloseUSD: k.USD.Close,
		OpenNative: k.Native.Open, HighNative: k.Native.High, LowNative: k.Native.Low, CloseNative: k.Native.Close,
		VolumeUSD: BytesOf(&k.VolumeUSD), VolumeQuote: BytesOf(&k.VolumeQuote), VolumeBase: BytesOf(&k.VolumeBase),
		Buys: k.Buys, Sells: k.Sells, LastBlock: int64(k.LastBlock),
	}
}

// Value is a candle as the row has it.
func (r *Candle) Value() (market.Candle, error) {
	c := Columns{Table: "candles"}
	k := market.Candle{
		CandleKey: market.CandleKey{Pool: c.Address(r.Pool), Interval: r.IntervalS, Open: r.OpenAt},
		USD:       market.OHLC{Open: r.OpenUSD, High: r.HighUSD, Low: r.LowUSD, Close: r.CloseUSD},
		Native:    market.OHLC{Open: r.OpenNative, High: r.HighNative, Low: r.LowNative, Close: r.CloseNative},
		VolumeUSD: c.Amount(r.VolumeUSD), VolumeQuote: c.Amount(r.VolumeQuote), VolumeBase: c.Amount(r.VolumeBase),
		Buys: r.Buys, Sells: r.Sells, LastBlock: uint64(r.LastBlock),
	}
	return k, c.Err
}

// Waiting is a row of waiting_trades: a trade that waits until its pool's liquidity is known, in the columns of
// Trade. Only indexers read it.
type Waiting struct {
	bun.BaseModel `bun:"table:waiting_trades"`

	Chain       string `bun:",pk"`
	Block       int64  `bun:",pk"`
	LogIndex    int64  `bun:",pk"`
	Time        int64
	Tx          []byte
	Pool        []byte `image:"address"`
	Base        []byte `image:"address"`
	Trader      []byte `image:"address"`
	Sell        bool
	BaseAmount  []byte
	QuoteAmount []byte
	NanoUSD     *int64 `bun:"nano_usd"`
	CloseUSD    float64
	CloseNative float64

	TraderAmount []byte
	TraderBefore []byte

	Funding  *int64 `image:"later"`
	Funder   []byte `image:"address,later"`
	FundedAt *int64 `image:"later"`
	Age      *int64 `image:"later"`
	FirstAt  *int64 `image:"later"`
}

// Value is a waiting trade as the row has it.
func (r *Waiting) Value() (market.Trade, error) {
	t := Trade(*r)
	return t.Value()
}
