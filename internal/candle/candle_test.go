package candle

import (
	"slices"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

func at(s string) int64 {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err)
	}
	return t.Unix()
}

func TestOpenIsAlignedToUTC(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		w        Width
		in, want string
	}{
		{Minute, "2026-03-04T12:34:56Z", "2026-03-04T12:34:00Z"},
		{15 * Minute, "2026-03-04T12:34:56Z", "2026-03-04T12:30:00Z"},
		{4 * Hour, "2026-03-04T23:59:59Z", "2026-03-04T20:00:00Z"},
		{Day, "2026-03-04T23:59:59Z", "2026-03-04T00:00:00Z"},
		{Week, "2026-03-04T12:00:00Z", "2026-03-02T00:00:00Z"}, // a Wednesday
		{Week, "2026-03-02T00:00:00Z", "2026-03-02T00:00:00Z"}, // a Monday
		{Week, "2026-03-01T23:59:59Z", "2026-02-23T00:00:00Z"}, // a Sunday
	} {
		if got := c.w.Open(at(c.in)); got != at(c.want) {
			t.Errorf("bucket of %d s with %s opens at %s, want %s", c.w, c.in, time.Unix(got, 0).UTC(), c.want)
		}
	}
}

func TestStoredIsTheWidestThatDivides(t *testing.T) {
	t.Parallel()
	for w, want := range map[Width]int32{
		1: 0, 15: 0, 60: 60, 180: 60, 300: 300, 900: 300, 1800: 300, Hour: 3600, 12 * Hour: 3600,
		Day: 86400, Week: 86400,
	} {
		if got := w.Stored(); got != want {
			t.Errorf("width %d is made of %d, want %d", w, got, want)
		}
	}
}

func stored(open int64, o, h, l, c float64, nano uint64, trades int64) market.Candle {
	k := market.Candle{CandleKey: market.CandleKey{Interval: 300, Open: open}, USD: market.OHLC{Open: o, High: h, Low: l, Close: c}, Buys: trades}
	k.VolumeUSD.SetUint64(nano)
	return k
}

func TestFoldAndFill(t *testing.T) {
	t.Parallel()
	base := at("2026-03-04T12:00:00Z")
	bars := Fold([]market.Candle{
		stored(base, 1, 3, 1, 2, 5e9, 2),
		stored(base+600, 2, 2, 0.5, 0.75, 1e9, 1),
		stored(base+1800, 0.75, 4, 0.75, 4, 2e9, 3),
	}, 15*Minute, USD)
	want := []Bar{
		{Open: base, OHLC: market.OHLC{Open: 1, High: 3, Low: 0.5, Close: 0.75}, VolumeUSD: 6, Trades: 3},
		{Open: base + 1800, OHLC: market.OHLC{Open: 0.75, High: 4, Low: 0.75, Close: 4}, VolumeUSD: 2, Trades: 3},
	}
	if len(bars) != 2 || bars[0] != want[0] || bars[1] != want[1] {
		t.Fatalf("got %+v, want %+v", bars, want)
	}
	filled, err := Fill(bars, 15*Minute, base-900, base+3600, 0.25)
	if err != nil {
		t.Fatal(err)
	}
	closes := []float64{0.25, 0.75, 0.75, 4, 4}
	if len(filled) != len(closes) {
		t.Fatalf("filled to %d bars, want %d: %+v", len(filled), len(closes), filled)
	}
	for i, c := range closes {
		if filled[i].Close != c || filled[i].Filled != (i == 0 || i == 2 || i == 4) {
			t.Errorf("bar %d is %+v, want close %v", i, filled[i], c)
		}
	}
	if none, err := Fill(nil, Minute, base, base+600, 0); err != nil || len(none) != 0 {
		t.Errorf("nothing before and nothing in it gives %v, %v; want nothing", none, err)
	}
	if _, err := Fill(nil, 1, 0, 2000, 1); err == nil {
		t.Error("2000 buckets were allowed")
	}
}

// A series of exactly MaxBars buckets is filled, one of a bucket more isn't, wherever in a bucket its ends lie.
func TestFillIsBounded(t *testing.T) {
	t.Parallel()
	const w = 15 * Minute
	base := at("2026-03-04T12:00:00Z")
	for _, c := range []struct {
		name     string
		from, to int64
		want     int // bars; -1 for an error
	}{
		{"one bucket", base, base + int64(w), 1},
		{"a part of one bucket", base, base + 1, 1},
		{"nothing", base, base, 0},
		{"an end before the start", base, base - int64(w), 0},
		{"as many as allowed", base, base + MaxBars*int64(w), MaxBars},
		{"a second of one more", base, base + MaxBars*int64(w) + 1, -1},
		{"one more", base, base + (MaxBars+1)*int64(w), -1},
		{"as many from the middle of a bucket on", base + 60, base + MaxBars*int64(w), MaxBars},
		{"one more, from the middle of a bucket to the middle of another", base + 60, base + MaxBars*int64(w) + 60, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			filled, err := Fill(nil, w, c.from, c.to, 1)
			if (err != nil) != (c.want < 0) || len(filled) != max(c.want, 0) {
				t.Fatalf("%d bars, error %v; want %d", len(filled), err, c.want)
			}
			for i, b := range filled {
				if b.Open != base+int64(i)*int64(w) {
					t.Fatalf("bar %d opens at %d", i, b.Open-base)
				}
			}
		})
	}
}

// A bar in the chain's own coin has the candles' native prices, and counts buys and sells.
func TestFoldInTheNativeCoin(t *testing.T) {
	t.Parallel()
	base := at("2026-03-04T12:00:00Z")
	candles := []market.Candle{stored(base, 10, 30, 10, 20, 5e9, 2), stored(base+300, 20, 20, 5, 7, 1e9, 4)}
	candles[0].Native, candles[0].Sells, candles[0].LastBlock = market.OHLC{Open: 1, High: 3, Low: 1, Close: 2}, 3, 70
	candles[1].Native, candles[1].Sells, candles[1].LastBlock = market.OHLC{Open: 2, High: 2, Low: 0.5, Close: 0.75}, 1, 90
	want := Bar{Open: base, OHLC: market.OHLC{Open: 1, High: 3, Low: 0.5, Close: 0.75}, VolumeUSD: 6, Trades: 10, LastBlock: 90}
	if got := Fold(candles, 15*Minute, Native); len(got) != 1 || got[0] != want {
		t.Errorf("in the native coin: %+v, want %+v", got, want)
	}
	want.OHLC = market.OHLC{Open: 10, High: 30, Low: 5, Close: 7}
	if got := Fold(candles, 15*Minute, USD); len(got) != 1 || got[0] != want {
		t.Errorf("in USD: %+v, want %+v", got, want)
	}
	// A candle without a price in a coin makes no bar in it.
	candles[0].Native = market.OHLC{}
	if got := Fold(candles, 5*Minute, Native); len(got) != 1 || got[0].Open != base+300 {
		t.Errorf("of a candle without a native price: %+v, want one bar, of the second candle", got)
	}
}

func TestBarsOfTicks(t *testing.T) {
	t.Parallel()
	got := FromTicks([]market.Tick{
		{Time: 100, Price: 4, NanoUSD: 1_500_000_000, Block: 7},
		{Time: 104, Price: 2, NanoUSD: 500_000_000, Block: 8},
		{Time: 105, Price: 0, NanoUSD: 9_000_000_000, Block: 9}, // no price, no bar
		{Time: 114, Price: 5, NanoUSD: 1, Block: 10},
		{Time: 115, Price: 6, NanoUSD: 3_000_000_000, Block: 11},
	}, 15)
	want := []Bar{
		{Open: 90, OHLC: market.OHLC{Open: 4, High: 4, Low: 2, Close: 2}, VolumeUSD: 2, Trades: 2, LastBlock: 8},
		{Open: 105, OHLC: market.OHLC{Open: 5, High: 6, Low: 5, Close: 6}, VolumeUSD: 3.000000001, Trades: 2, LastBlock: 11},
	}
	if !slices.Equal(got, want) {
		t.Errorf("bars are\n%+v\nwant\n%+v", got, want)
	}
}

// Times before 1970 lie in buckets too.
func TestOpenBefore1970(t *testing.T) {
	t.Parallel()
	for in, want := range map[int64]int64{-1: -60, -60: -60, -61: -120, 0: 0, 59: 0, 60: 60} {
		if got := Minute.Open(in); got != want {
			t.Errorf("the minute of %d opens at %d, want %d", in, got, want)
		}
	}
}
