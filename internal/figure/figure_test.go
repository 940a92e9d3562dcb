package figure

import (
	"math"
	"strings"
	"testing"
)

// typed writes a figure's special characters as those of a keyboard.
var typed = strings.NewReplacer(minus, "-", Thin, " ")

func TestPrice(t *testing.T) {
	t.Parallel()
	for usd, want := range map[float64]string{
		0:                      "$0",
		math.Copysign(0, -1):   "$0",
		1e-18:                  "$0.0₁₇1",
		1.234e-6:               "$0.0₅1234",
		1.5e-5:                 "$0.0₄15",
		9.9999e-5:              "$0.0001", // rounded across the style's bound
		0.00012344:             "$0.0001234",
		0.0123:                 "$0.0123",
		0.3:                    "$0.30",
		0.99999:                "$1.00",
		1:                      "$1.00",
		2.4187:                 "$2.419",
		9.99996:                "$10.00",
		12.344:                 "$12.34",
		99.996:                 "$100.00",
		1234.5:                 "$1,234.50",
		9999.996:               "$10,000",
		99999.5:                "$100,000",
		104234.12:              "$104,234",
		999_999.4:              "$999,999",
		999_999.6:              "$1M",
		1_234_567:              "$1.23M",
		999.4e12:               "$999T",
		999.5e12:               "$999T+",
		1e30:                   "$999T+",
		math.MaxFloat64:        "$999T+",
		1e-29:                  "$0.0₂₈1",
		5e-324:                 "<$1e-30",
		0.000000000000000123:   "$0.0₁₅123",
		0.00009999499999999999: "$0.0₄9999",
	} {
		if got, ok := Price(usd); typed.Replace(got) != want || !ok {
			t.Errorf("a price of %v is written %q (%v), %q is wanted", usd, got, ok, want)
		}
	}
	if got, ok := Price(-1); ok {
		t.Errorf("a price below zero is written %q: it is no price", got)
	}
}

func TestDollars(t *testing.T) {
	t.Parallel()
	for usd, want := range map[float64]string{
		0:                    "$0",
		math.Copysign(0, -1): "$0",
		1e-18:                "<$0.01",
		0.005:                "$0.01",
		0.5:                  "$0.50",
		12:                   "$12",
		99.994:               "$99.99",
		99.996:               "$100",
		999.4:                "$999",
		999.5:                "$1K",
		1234:                 "$1.23K",
		12_340:               "$12.3K",
		99_950:               "$100K",
		99999.5:              "$100K",
		999_499:              "$999K",
		999_950:              "$1M",
		1_005_000:            "$1M", // half to even, as strconv rounds
		1_230_000_000:        "$1.23B",
		999_500_000_000:      "$1T",
		999.4e12:             "$999T",
		1e15:                 "$999T+",
		1e30:                 "$999T+",
	} {
		if got, ok := USD(usd); got != want || !ok {
			t.Errorf("%v is written %q (%v), %q is wanted", usd, got, ok, want)
		}
	}
	if got, ok := USD(-0.01); ok {
		t.Errorf("an amount below zero is written %q", got)
	}
}

func TestProfit(t *testing.T) {
	t.Parallel()
	for usd, want := range map[float64]struct {
		text string
		dir  Direction
	}{
		0:                    {"$0", Flat},
		math.Copysign(0, -1): {"$0", Flat},
		0.001:                {"<$0.01", Flat},
		-0.0049:              {"<$0.01", Flat},
		0.42:                 {"+$0.42", Up},
		-842.19:              {"-$842", Down},
		999.4:                {"+$999", Up},
		999.6:                {"+$1K", Up},
		1000:                 {"+$1,000", Up},
		12_431.4:             {"+$12,431", Up},
		-99_999.4:            {"-$99,999", Down},
		99_999.6:             {"+$100K", Up},
		-1e30:                {"-$999T+", Down},
	} {
		if got, dir := Profit(usd); typed.Replace(got) != want.text || dir != want.dir {
			t.Errorf("%v is written %q and %s, %q and %s are wanted", usd, got, dir, want.text, want.dir)
		}
	}
}

func TestMove(t *testing.T) {
	t.Parallel()
	for pct, want := range map[float64]struct {
		text string
		dir  Direction
	}{
		0:                    {"0 %", Flat},
		math.Copysign(0, -1): {"0 %", Flat},
		0.004:                {"0 %", Flat},
		-0.004:               {"0 %", Flat},
		0.42:                 {"+0.42 %", Up},
		-0.5:                 {"-0.5 %", Down},
		0.996:                {"+1.0 %", Up},
		12.37:                {"+12.4 %", Up},
		-41.2:                {"-41.2 %", Down},
		-99.97:               {"-99.9 %", Down}, // something is left
		-100:                 {"-100 %", Down},
		218.4:                {"+218 %", Up},
		1_239.6:              {"+1,240 %", Up},
		99_999.4:             {"+99,999 %", Up},
		99_999.6:             {"+100K %", Up},
		1_234_567:            {"+1.23M %", Up},
		999.6e12:             {"+999T+ %", Up},
		1e15:                 {"+1e15 %", Up},
		1.234e21:             {"+1.2e21 %", Up},
		-1e300:               {"-1e300 %", Down},
	} {
		if got, dir := Move(pct); typed.Replace(got) != want.text || dir != want.dir {
			t.Errorf("%v is written %q and %s, %q and %s are wanted", pct, got, dir, want.text, want.dir)
		}
	}
}

func TestProgressIsNeverRoundedUpToFull(t *testing.T) {
	t.Parallel()
	for pct, want := range map[float64]string{0: "0 %", 0.04: "0 %", 73.46: "73.4 %", 20: "20 %", 99.99: "99.9 %", 100: "100 %"} {
		if got := typed.Replace(Progress(pct)); got != want {
			t.Errorf("%v is written %q, %q is wanted", pct, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	t.Parallel()
	for things, want := range map[int]string{0: "0", 7: "7", 1204: "1,204", 99_999: "99,999", 100_000: "100K", 1_234_567: "1.23M", math.MaxInt: "999T+"} {
		if got, ok := Count(things); got != want || !ok {
			t.Errorf("%d is written %q (%v), %q is wanted", things, got, ok, want)
		}
	}
	if got, ok := Count(-1); ok {
		t.Errorf("a count below zero is written %q", got)
	}
}

func TestAge(t *testing.T) {
	t.Parallel()
	for seconds, want := range map[int64]string{
		0: "0 s", 59: "59 s", 60: "1 m", 3599: "59 m", 3600: "1 h", 11_520: "3 h 12 m", 86_399: "23 h 59 m", 86_400: "1 d",
		442_800: "5 d 3 h", 864_000: "10 d", 412 * 86_400: "412 d", 24_855 * 86_400: "24,855 d",
	} {
		if got, ok := Age(seconds); typed.Replace(got) != want || !ok {
			t.Errorf("%d s are written %q (%v), %q is wanted", seconds, got, ok, want)
		}
	}
	for _, seconds := range []int64{-1, math.MaxInt64} {
		if got, ok := Age(seconds); ok {
			t.Errorf("%d s are written %q: that is no age", seconds, got)
		}
	}
}

// Whatever is sent, a figure stays short: the sizes of type are chosen for that.
func TestFiguresStayShort(t *testing.T) {
	t.Parallel()
	for exponent := -330; exponent <= 308; exponent++ {
		for _, mantissa := range []float64{1, 1.2345, 4.99999999, 9.9949, 9.9951, 9.99999999} {
			v := mantissa * math.Pow(10, float64(exponent))
			if math.IsInf(v, 0) {
				continue
			}
			cost, _ := Price(v)
			amount, _ := USD(v)
			gain, _ := Profit(v)
			loss, _ := Profit(-v)
			rise, _ := Move(v)
			for figure, most := range map[string]int{cost: 10, amount: 7, gain: 8, loss: 8, rise: 10} {
				if n := len([]rune(figure)); n > most {
					t.Errorf("%v is written %q, which has %d characters, at most %d are wanted", v, figure, n, most)
				}
			}
		}
	}
}

func TestCoins(t *testing.T) {
	t.Parallel()
	for size, want := range map[float64]string{
		0: "0", -1: "0", math.NaN(): "0", 0.00001: "<0.0001", 0.0001: "0.0001", 0.00012345: "0.000123", 0.5: "0.5", 0.9996: "1", 7.512: "7.51", 10: "10",
		123.4: "123", 999.9: "1K", 1.1e3: "1.1K", 1234: "1.23K", 999_999: "1M", 4_560_000: "4.56M", 2.5e9: "2.5B", 9.99e14: "999T", 1e15: "999T+",
	} {
		if got := Coins(size); got != want {
			t.Errorf("%v coins are written %q, %q is wanted", size, got, want)
		}
	}
}
