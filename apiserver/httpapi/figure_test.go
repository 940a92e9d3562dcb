package httpapi

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestFigureTexts(t *testing.T) {
	t.Parallel()
	for usd, want := range map[float64]string{
		0: "$0", 1234.56: "$1,234.56", 104_234.4: "$104,234", 1_234_567: "$1.23M", 1.5: "$1.50", 0.5: "$0.5", 2: "$2.00", 1.2345: "$1.234", 99.999: "$100.00",
		0.0001234: "$0.0001234", 0.0000012345: "$0.0₅1234", 1e-12: "$0.0₁₁1", 9999.999: "$10,000", 0.00009999999: "$0.0001",
	} {
		if got := priceText(usd); got != want {
			t.Errorf("%v is %s, want %s", usd, got, want)
		}
	}
	for pct, want := range map[float64]string{
		0: "0%", 0.001: "0%", -0.004: "0%", 0.42: "+0.42%", -12.345: "−12.3%", 99.96: "+100%", 1240.4: "+1,240%", 1.2e9: "+1.2B%", 0.999: "+1.0%",
	} {
		if got := moveText(pct); got != want {
			t.Errorf("%v is %s, want %s", pct, got, want)
		}
	}
	for size, want := range map[float64]string{
		0: "0", -1: "0", 0.00001: "<0.0001", 0.5: "0.5", 7.512: "7.51", 123.4: "123", 999.9: "1K", 1234: "1.23K", 4_560_000: "4.56M", 999_999: "1M", 2.5e9: "2.5B",
		9.99e14: "999T", 1e15: "999T+", 1.1e3: "1.1K", math.NaN(): "0",
	} {
		if got := short(size); got != want {
			t.Errorf("%v is %s, want %s", size, got, want)
		}
	}
}

// TestDrawnFigures: what is rounded for a card is rounded for good, and reads like what it was.
func TestDrawnFigures(t *testing.T) {
	t.Parallel()
	for name, round := range map[string]func(*float64) *float64{
		"price": drawnPrice, "usd": drawnUSD, "profit": drawnProfit, "pct": drawnPct,
	} {
		for _, v := range []float64{math.NaN(), math.Inf(1)} {
			if round(&v) != nil {
				t.Errorf("%s of %v is known", name, v)
			}
		}
		if round(nil) != nil {
			t.Errorf("%s of nothing is known", name)
		}
		rapid.Check(t, func(t *rapid.T) {
			v := rapid.Float64Range(-1e18, 1e18).Draw(t, "v")
			once := round(&v)
			if twice := round(once); *twice != *once {
				t.Fatalf("%s of %v is %v, and of that %v", name, v, *once, *twice)
			}
			if math.Abs(*once-v) > 0.0051*math.Abs(v)+0.051 {
				t.Fatalf("%s of %v is %v", name, v, *once)
			}
		})
	}
	for v, want := range map[float64]float64{1.23456: 1.235, 0.0000123456: 0.00001235, 1234.567: 1234.57, 123_456.7: 123_457, 1_234_567: 1_230_000, 99.9999: 100} {
		if got := drawnPrice(&v); *got != want {
			t.Errorf("the price %v is %v, want %v", v, *got, want)
		}
	}
	if got := drawnPct(new(99.97)); *got != 99.9 {
		t.Errorf("99.97 %% are %v", *got)
	}
	if got := drawnProfit(new(-12_345.67)); *got != -12_346 {
		t.Errorf("a loss of 12,345.67 is %v", *got)
	}
	for s, want := range map[int64]int64{59: 59, 61: 60, 3661: 3660, 2*86_400 + 3700: 2*86_400 + 3600, 20*86_400 + 7: 20 * 86_400} {
		if got := drawnAge(s); got != want {
			t.Errorf("an age of %d s is %d, want %d", s, got, want)
		}
	}
}

func TestShape(t *testing.T) {
	t.Parallel()
	if got := shape([]float64{1, 1.00004, 1.1}); !slices.Equal(got, []float64{1, 1, 1.1}) {
		t.Errorf("a line of the height 0.1 is %v", got)
	}
	if got := shape([]float64{2000.123456, 2000.223456}); got[0] == got[1] {
		t.Errorf("a line that moves a little stands still: %v", got)
	}
	if got := shape([]float64{123_456_789, 923_456_789}); !slices.Equal(got, []float64{123_000_000, 923_000_000}) {
		t.Errorf("a line of large figures is %v", got)
	}
	if got := shape([]float64{0.000001234567, 0.000001234567}); !slices.Equal(got, []float64{0.000001235, 0.000001235}) {
		t.Errorf("a flat line is %v", got)
	}
	if got := shape([]float64{0, 0}); !slices.Equal(got, []float64{0, 0}) {
		t.Errorf("a line of nothing is %v", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SliceOfN(rapid.Float64Range(-1e15, 1e15), 1, 20).Draw(t, "line")
		got := shape(line)
		height := slices.Max(line) - slices.Min(line)
		for i := range line {
			if math.IsNaN(got[i]) || math.Abs(got[i]-line[i]) > height/steps+1e-3*math.Abs(line[i])+1e-300 {
				t.Fatalf("%v is %v", line, got)
			}
		}
	})
}
