package store

import (
	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

type tradeRow struct {
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
}

func tradeToRow(chain string, t *market.Trade) tradeRow {
	r := tradeRow{
		Chain: chain, Block: int64(t.Block), LogIndex: int64(t.LogIndex), Time: t.Time, Tx: t.Tx.AppendTo([]byte{}),
		// Where nobody is the trader it is empty: the column takes no NULL, and a table of this size isn't rewritten for that.
		Pool: t.Pool.Bytes(), Base: t.Base.Bytes(), Trader: t.Trader.AppendTo([]byte{}), Sell: t.Sell,
		BaseAmount: bytesOf(&t.BaseAmount), QuoteAmount: bytesOf(&t.QuoteAmount),
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
	return r
}

func (r *tradeRow) trade() (market.Trade, error) {
	c := columns{table: "trades"}
	t := market.Trade{
		Block: uint64(r.Block), LogIndex: uint64(r.LogIndex), Time: r.Time, Tx: c.tx(r.Tx),
		Pool: c.address(r.Pool), Base: c.address(r.Base), Trader: c.address(r.Trader), Sell: r.Sell,
		BaseAmount: c.amount(r.BaseAmount), QuoteAmount: c.amount(r.QuoteAmount),
		CloseUSD: r.CloseUSD, CloseNative: r.CloseNative,
	}
	if r.NanoUSD != nil {
		t.HasUSD, t.NanoUSD = true, *r.NanoUSD
	}
	t.TraderAmount, _ = c.shortAmount(r.TraderAmount)
	t.TraderBefore, t.HasTraderBefore = c.shortAmount(r.TraderBefore)
	return t, c.err
}

type candleRow struct {
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

func candleToRow(chain string, k *market.Candle) candleRow {
	return candleRow{
		Chain: chain, Pool: k.Pool.Bytes(), IntervalS: k.Interval, OpenAt: k.Open,
		OpenUSD: k.USD.Open, HighUSD: k.USD.High, LowUSD: k.USD.Low, CloseUSD: k.USD.Close,
		OpenNative: k.Native.Open, HighNative: k.Native.High, LowNative: k.Native.Low, CloseNative: k.Native.Close,
		VolumeUSD: bytesOf(&k.VolumeUSD), VolumeQuote: bytesOf(&k.VolumeQuote), VolumeBase: bytesOf(&k.VolumeBase),
		Buys: k.Buys, Sells: k.Sells, LastBlock: int64(k.LastBlock),
	}
}

func (r *candleRow) candle() (market.Candle, error) {
	c := columns{table: "candles"}
	k := market.Candle{
		CandleKey: market.CandleKey{Pool: c.address(r.Pool), Interval: r.IntervalS, Open: r.OpenAt},
		USD:       market.OHLC{Open: r.OpenUSD, High: r.HighUSD, Low: r.LowUSD, Close: r.CloseUSD},
		Native:    market.OHLC{Open: r.OpenNative, High: r.HighNative, Low: r.LowNative, Close: r.CloseNative},
		VolumeUSD: c.amount(r.VolumeUSD), VolumeQuote: c.amount(r.VolumeQuote), VolumeBase: c.amount(r.VolumeBase),
		Buys: r.Buys, Sells: r.Sells, LastBlock: uint64(r.LastBlock),
	}
	return k, c.err
}
