package card

import (
	"math"
	"strings"
	"testing"
)

// plain writes a figure's special characters as those of a keyboard.
var plain = strings.NewReplacer(minus, "-", thin, " ")

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
		if got, ok := price(usd); plain.Replace(got) != want || !ok {
			t.Errorf("a price of %v is written %q (%v), %q is wanted", usd, got, ok, want)
		}
	}
	if got, ok := price(-1); ok {
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
		if got, ok := dollars(usd); got != want || !ok {
			t.Errorf("%v is written %q (%v), %q is wanted", usd, got, ok, want)
		}
	}
	if got, ok := dollars(-0.01); ok {
		t.Errorf("an amount below zero is written %q", got)
	}
}

func TestProfit(t *testing.T) {
	t.Parallel()
	for usd, want := range map[float64]struct {
		text string
		dir  direction
	}{
		0:                    {"$0", flat},
		math.Copysign(0, -1): {"$0", flat},
		0.001:                {"<$0.01", flat},
		-0.0049:              {"<$0.01", flat},
		0.42:                 {"+$0.42", up},
		-842.19:              {"-$842", down},
		999.4:                {"+$999", up},
		999.6:                {"+$1K", up},
		1000:                 {"+$1,000", up},
		12_431.4:             {"+$12,431", up},
		-99_999.4:            {"-$99,999", down},
		99_999.6:             {"+$100K", up},
		-1e30:                {"-$999T+", down},
	} {
		if got, dir := profit(usd); plain.Replace(got) != want.text || dir != want.dir {
			t.Errorf("%v is written %q and %s, %q and %s are wanted", usd, got, dir, want.text, want.dir)
		}
	}
}

func TestMove(t *testing.T) {
	t.Parallel()
	for pct, want := range map[float64]struct {
		text string
		dir  direction
	}{
		0:                    {"0 %", flat},
		math.Copysign(0, -1): {"0 %", flat},
		0.004:                {"0 %", flat},
		-0.004:               {"0 %", flat},
		0.42:                 {"+0.42 %", up},
		-0.5:                 {"-0.5 %", down},
		0.996:                {"+1.0 %", up},
		12.37:                {"+12.4 %", up},
		-41.2:                {"-41.2 %", down},
		-99.97:               {"-99.9 %", down}, // something is left
		-100:                 {"-100 %", down},
		218.4:                {"+218 %", up},
		1_239.6:              {"+1,240 %", up},
		99_999.4:             {"+99,999 %", up},
		99_999.6:             {"+100K %", up},
		1_234_567:            {"+1.23M %", up},
		999.6e12:             {"+999T+ %", up},
		1e15:                 {"+1e15 %", up},
		1.234e21:             {"+1.2e21 %", up},
		-1e300:               {"-1e300 %", down},
	} {
		if got, dir := move(pct); plain.Replace(got) != want.text || dir != want.dir {
			t.Errorf("%v is written %q and %s, %q and %s are wanted", pct, got, dir, want.text, want.dir)
		}
	}
}

func TestProgressIsNeverRoundedUpToFull(t *testing.T) {
	t.Parallel()
	for pct, want := range map[float64]string{0: "0 %", 0.04: "0 %", 73.46: "73.4 %", 20: "20 %", 99.99: "99.9 %", 100: "100 %"} {
		if got := plain.Replace(progress(pct)); got != want {
			t.Errorf("%v is written %q, %q is wanted", pct, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	t.Parallel()
	for things, want := range map[int]string{0: "0", 7: "7", 1204: "1,204", 99_999: "99,999", 100_000: "100K", 1_234_567: "1.23M", math.MaxInt: "999T+"} {
		if got, ok := count(things); got != want || !ok {
			t.Errorf("%d is written %q (%v), %q is wanted", things, got, ok, want)
		}
	}
	if got, ok := count(-1); ok {
		t.Errorf("a count below zero is written %q", got)
	}
}

func TestAge(t *testing.T) {
	t.Parallel()
	for seconds, want := range map[int64]string{
		0: "0 s", 59: "59 s", 60: "1 m", 3599: "59 m", 3600: "1 h", 11_520: "3 h 12 m", 86_399: "23 h 59 m", 86_400: "1 d",
		442_800: "5 d 3 h", 864_000: "10 d", 412 * 86_400: "412 d", 24_855 * 86_400: "24,855 d",
	} {
		if got, ok := age(seconds); plain.Replace(got) != want || !ok {
			t.Errorf("%d s are written %q (%v), %q is wanted", seconds, got, ok, want)
		}
	}
	for _, seconds := range []int64{-1, math.MaxInt64} {
		if got, ok := age(seconds); ok {
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
			cost, _ := price(v)
			amount, _ := dollars(v)
			gain, _ := profit(v)
			loss, _ := profit(-v)
			rise, _ := move(v)
			for figure, most := range map[string]int{cost: 10, amount: 7, gain: 8, loss: 8, rise: 10} {
				if n := len([]rune(figure)); n > most {
					t.Errorf("%v is written %q, which has %d characters, at most %d are wanted", v, figure, n, most)
				}
			}
		}
	}
}

func TestAMomentThatCannotBeMeantIsNotDrawn(t *testing.T) {
	t.Parallel()
	for unix, want := range map[int64]string{-1: "", 0: "", 1: "1 Jan 1970", mostUnix: "31 Dec 9999", mostUnix + 1: "", math.MaxInt64: ""} {
		if got := moment(unix, dayLayout); got != want {
			t.Errorf("%d is written %q, %q is wanted", unix, got, want)
		}
	}
}
