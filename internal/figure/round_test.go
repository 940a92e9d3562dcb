package figure

import (
	"math"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// size draws a figure of any magnitude, or one beside a bound of some style.
func size() *rapid.Generator[float64] {
	mantissa := rapid.OneOf(rapid.Float64Range(1, 10), rapid.SampledFrom([]float64{
		1, 4.99999999, 5, 9.949999, 9.95, 9.989999, 9.994999, 9.995, 9.996, 9.999499, 9.9995, 9.99996, 9.999995, 9.99999999,
	}))
	anywhere := rapid.Custom(func(t *rapid.T) float64 {
		exponent := rapid.OneOf(rapid.IntRange(-8, 17), rapid.IntRange(-330, -29), rapid.IntRange(15, 308)).Draw(t, "exponent")
		v, err := strconv.ParseFloat(strconv.FormatFloat(mantissa.Draw(t, "mantissa"), 'f', -1, 64)+"e"+strconv.Itoa(exponent), 64)
		if err != nil {
			return math.MaxFloat64 // 9.9e308
		}
		return v
	})
	beside := rapid.Custom(func(t *rapid.T) float64 {
		v := rapid.SampledFrom([]float64{
			0, leastPrice, 0.0001, 0.005, 0.995, 1, 10, 99.95, 99.995, 100, 999.5, 1000, 9999.995, 10_000, 99_950, 99_999.5, 100_000, 999_500, 999_999.5, 1e6,
			mostUSD, mostPercent, math.MaxFloat64,
		}).Draw(t, "bound")
		return math.Nextafter(v, rapid.SampledFrom([]float64{0, v, math.MaxFloat64}).Draw(t, "towards"))
	})
	return rapid.OneOf(anywhere, beside)
}

// TestRounded: a figure and what it is rounded to are written alike, and figures that are written alike are rounded alike.
func TestRounded(t *testing.T) {
	t.Parallel()
	type written struct {
		text string
		dir  Direction
		ok   bool
	}
	for name, f := range map[string]struct {
		round func(float64) float64
		write func(float64) written
	}{
		"price":  {RoundPrice, func(v float64) written { text, ok := Price(v); return written{text: text, ok: ok} }},
		"USD":    {RoundUSD, func(v float64) written { text, ok := USD(v); return written{text: text, ok: ok} }},
		"profit": {RoundProfit, func(v float64) written { text, dir := Profit(v); return written{text: text, dir: dir} }},
		"move": {RoundPercent, func(v float64) written {
			text, dir := Move(v)
			return written{text: text + " " + Percent(v), dir: dir}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				v := size().Draw(t, "size") * rapid.SampledFrom([]float64{1, -1}).Draw(t, "sign")
				r := f.round(v)
				if want, got := f.write(v), f.write(r); got != want {
					t.Fatalf("%v is written %+v, but rounded to %v it is %+v", v, want, r, got)
				}
				if r == 0 && math.Signbit(r) || math.IsInf(r, 0) {
					t.Fatalf("%v is rounded to %v, which is other JSON than 0 or none", v, r)
				}
				share := rapid.OneOf(rapid.Float64Range(-1e-2, 1e-2), rapid.Float64Range(-1e-4, 1e-4), rapid.Just(-2.0), rapid.Just(-1.0)).Draw(t, "share")
				near := min(max(v+share*v, -math.MaxFloat64), math.MaxFloat64)
				if f.write(near) == f.write(v) && math.Float64bits(f.round(near)) != math.Float64bits(r) {
					t.Fatalf("%v and %v are both written %+v, but rounded to %v and %v", v, near, f.write(v), r, f.round(near))
				}
			})
		})
	}
}

func TestRoundedWholes(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]struct {
		round func(int64) int64
		write func(int64) string
	}{
		"age": {RoundAge, func(s int64) string { text, _ := Age(s); return text }},
		"count": {func(n int64) int64 { return int64(RoundCount(int(n))) }, func(n int64) string {
			text, _ := Count(int(n))
			return text
		}},
		"day":    {RoundDay, Day},
		"minute": {RoundMinute, Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				v := rapid.OneOf(rapid.Int64Range(-10, 200_000), rapid.Int64Range(0, 2e9), rapid.Int64()).Draw(t, "whole")
				near := v ^ rapid.Int64Range(0, 1<<17).Draw(t, "bits")
				r := f.round(v)
				if f.write(r) != f.write(v) {
					t.Fatalf("%d is written %q, but rounded to %d it is %q", v, f.write(v), r, f.write(r))
				}
				if f.write(near) == f.write(v) && f.round(near) != r {
					t.Fatalf("%d and %d are both written %q, but rounded to %d and %d", v, near, f.write(v), r, f.round(near))
				}
			})
		})
	}
}

func TestRoundedProgress(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.OneOf(rapid.Float64Range(0, 100), rapid.Map(rapid.IntRange(0, 1000), func(n int) float64 { return float64(n) / 10 })).Draw(t, "per cent")
		if r := RoundProgress(v); Progress(r) != Progress(v) || r > v || RoundProgress(r) != r {
			t.Fatalf("%v is written %s, but rounded to %v it is %s", v, Progress(v), r, Progress(r))
		}
	})
}

func TestRoundExamples(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]float64{1.23456: 1.235, 0.0000123456: 0.00001235, 1234.567: 1234.57, 123_456.7: 123_457, 1_234_567: 1_230_000, 99.9999: 100, 1e-32: 1e-31, 5e-324: 1e-31, 1e30: 999.5e12} {
		if got := RoundPrice(v); got != want {
			t.Errorf("the price %v is %v, want %v", v, got, want)
		}
	}
	for v, want := range map[float64]float64{-12_345.67: -12_346, -0.004: 0.001, 999.6: 999.9, 1000: 1000, 0.425: 0.42, -123_456: -123_000} {
		if got := RoundProfit(v); got != want {
			t.Errorf("a profit of %v is %v, want %v", v, got, want)
		}
	}
	for v, want := range map[float64]float64{99.97: 99.9, -100: -100, 0.426: 0.43, -0.001: 0, 1.2345e21: 1.2e21} {
		if got := RoundPercent(v); got != want {
			t.Errorf("%v %% are %v, want %v", v, got, want)
		}
	}
	for s, want := range map[int64]int64{59: 59, 61: 60, 3661: 3660, 2*86_400 + 3700: 2*86_400 + 3600, 20*86_400 + 7: 20 * 86_400} {
		if got := RoundAge(s); got != want {
			t.Errorf("an age of %d s is %d, want %d", s, got, want)
		}
	}
}

func TestRoundLine(t *testing.T) {
	t.Parallel()
	if got := RoundLine(nil); len(got) != 0 {
		t.Errorf("no line is %v", got)
	}
	if got := RoundLine([]float64{1, 1.00004, 1.1}); !slices.Equal(got, []float64{1, 1, 1.1}) {
		t.Errorf("a line of the height 0.1 is %v", got)
	}
	if got := RoundLine([]float64{2000.123456, 2000.223456}); got[0] == got[1] {
		t.Errorf("a line that moves a little stands still: %v", got)
	}
	if got := RoundLine([]float64{123_456_789, 923_456_789}); !slices.Equal(got, []float64{123_000_000, 923_000_000}) {
		t.Errorf("a line of large figures is %v", got)
	}
	if got := RoundLine([]float64{0.000001234567, 0.000001234567}); !slices.Equal(got, []float64{0.000001235, 0.000001235}) {
		t.Errorf("a flat line is %v", got)
	}
	if got := RoundLine([]float64{0, 0}); !slices.Equal(got, []float64{0, 0}) {
		t.Errorf("a line of nothing is %v", got)
	}
	if got := RoundLine([]float64{0, 1.1e-308}); !slices.Equal(got, []float64{0, 0}) {
		t.Errorf("a line of next to nothing is %v", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SliceOfN(rapid.Float64Range(-1e15, 1e15), 1, 20).Draw(t, "line")
		got := RoundLine(line)
		height := slices.Max(line) - slices.Min(line)
		for i := range line {
			if math.IsNaN(got[i]) || math.Abs(got[i]-line[i]) > height/heights+1e-3*math.Abs(line[i])+1e-300 {
				t.Fatalf("%v is %v", line, got)
			}
		}
	})
}
