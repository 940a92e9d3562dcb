package candle

import (
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
