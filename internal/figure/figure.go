// Package figure writes figures as people read them, the same on cards and on pages, and rounds them to what is written.
package figure

import (
	"math"
	"strconv"
	"strings"
)

// Signs and spaces of figures. A figure never breaks between number and unit.
const (
	minus = "−" // U+2212, as wide as a plus
	Thin  = "\u202f"
)

// Bounds beyond which a figure says no more than that it is beyond.
const (
	mostUSD     = 999.5e12
	leastUSD    = 0.005
	leastPrice  = 1e-30
	leastCoins  = 0.0001
	mostPlain   = 100_000 // from here on dollars are shortened, and percentages too
	mostPercent = 1e15
)

// subscripts from here on: $0.0001234, then $0.0₄1234.
const fewestZeros = 4

// Direction is how a figure is coloured and which arrow stands by it.
type Direction string

// The directions. A figure that is written as zero is flat.
const (
	Flat Direction = "flat"
	Up   Direction = "up"
	Down Direction = "down"
)

// Price is a price in USD with four significant digits or two decimals, whichever says more: $104,234, $1,234.56, $1.234,
// $0.0₅1234 (the subscript counts the zeros behind the point). ok is false for a price below zero.
func Price(usd float64) (text string, ok bool) {
	switch {
	case usd < 0:
		return "", false
	case usd == 0:
		return "$0", true
	case usd < leastPrice:
		return "<$1e" + minus + "30", true
	}
	// Rounded before it is judged, so that no figure is written in a neighbour's style.
	mantissa, exponent := scientific(usd, 4)
	switch {
	case exponent < -fewestZeros:
		digits := strings.TrimRight(strings.Replace(mantissa, ".", "", 1), "0")
		return "$0.0" + subscript(-exponent-1) + digits, true
	case exponent < 2:
		return "$" + atLeastCents(strconv.FormatFloat(usd, 'f', 3-exponent, 64)), true
	}
	switch {
	case rounded(usd, 2) < 10_000:
		return "$" + grouped(strconv.FormatFloat(usd, 'f', 2, 64)), true
	case math.RoundToEven(usd) < 1_000_000:
		return "$" + grouped(strconv.FormatFloat(usd, 'f', 0, 64)), true
	default:
		return "$" + short(usd), true
	}
}

// USD is an amount in USD with three significant digits and a unit: $1.23M, at most $999T+. ok is false below zero.
func USD(usd float64) (text string, ok bool) {
	if usd < 0 {
		return "", false
	}
	return inDollars(amount(usd)), true
}

// Profit is an amount in USD with its sign. Below 100,000 it is written out: +$12,431.
func Profit(usd float64) (text string, dir Direction) {
	size := math.Abs(usd)
	body := amount(size)
	if r := math.RoundToEven(size); size >= 1000 && r < mostPlain {
		body = grouped(strconv.FormatFloat(r, 'f', 0, 64))
	}
	switch {
	case size < leastUSD:
		return inDollars(body), Flat
	case usd < 0:
		return minus + inDollars(body), Down
	default:
		return "+" + inDollars(body), Up
	}
}

// Percent is a share or a move with its unit, unsigned above zero: 12.4 %, 0.42 %, 1,240 %, 1.2M %, 1.2e21 %.
func Percent(pct float64) string {
	size := math.Abs(pct)
	var body string
	switch {
	case rounded(size, 2) < 1:
		body = trimZeros(strconv.FormatFloat(size, 'f', 2, 64))
	case rounded(size, 1) < 100:
		body = strconv.FormatFloat(size, 'f', 1, 64)
	case size < 100: // 99.96 is not yet all of it
		body = "99.9"
	case math.RoundToEven(size) < mostPlain:
		body = grouped(strconv.FormatFloat(size, 'f', 0, 64))
	case size < mostPercent:
		body = short(size)
	default:
		mantissa, exponent := scientific(size, 2)
		body = trimZeros(mantissa) + "e" + strconv.Itoa(exponent)
	}
	if pct < 0 && body != "0" {
		body = minus + body
	}
	return body + Thin + "%"
}

// Move is a change in per cent with its sign.
func Move(pct float64) (text string, dir Direction) {
	text = Percent(pct)
	switch {
	case strings.HasPrefix(text, minus):
		return text, Down
	case text == "0"+Thin+"%":
		return text, Flat
	default:
		return "+" + text, Up
	}
}

// Progress is a share of 100 per cent, rounded down: what isn't full is never drawn as full.
func Progress(pct float64) string {
	tenths := math.Floor(pct * 10)
	return trimZeros(strconv.FormatFloat(tenths/10, 'f', 1, 64)) + Thin + "%"
}

// Count is a number of things: 1,204 or 1.2M. ok is false below zero.
func Count(n int) (text string, ok bool) {
	switch {
	case n < 0:
		return "", false
	case n < mostPlain:
		return grouped(strconv.Itoa(n)), true
	default:
		return short(float64(n)), true
	}
}

// Units of Age in seconds, and how many days are too many to be an age.
const (
	minute, hour, day = 60, 60 * 60, 24 * 60 * 60
	mostDays          = 100_000
)

// Age is a time in its two largest units: 45 s, 12 m, 3 h 12 m, 5 d 4 h, 412 d. ok is false below zero.
func Age(seconds int64) (text string, ok bool) {
	two := func(big int64, bigUnit string, small int64, smallUnit string) string {
		text := strconv.FormatInt(big, 10) + Thin + bigUnit
		if small > 0 {
			text += " " + strconv.FormatInt(small, 10) + Thin + smallUnit
		}
		return text
	}
	switch {
	case seconds < 0:
		return "", false
	case seconds < minute:
		return two(seconds, "s", 0, ""), true
	case seconds < hour:
		return two(seconds/minute, "m", 0, ""), true
	case seconds < day:
		return two(seconds/hour, "h", seconds%hour/minute, "m"), true
	case seconds < 10*day:
		return two(seconds/day, "d", seconds%day/hour, "h"), true
	case seconds < mostDays*day:
		return grouped(strconv.FormatInt(seconds/day, 10)) + Thin + "d", true
	default:
		return "", false
	}
}

// Coins is an amount of a coin, without the coin, with three significant digits and a unit: 0.5, 12.3, 1.23K, at most 999T+.
// What is below zero is none.
func Coins(size float64) string {
	switch {
	case !(size > 0):
		return "0"
	case size < leastCoins:
		return "<0.0001"
	}
	if _, exponent := scientific(size, 3); exponent < 0 {
		return trimZeros(strconv.FormatFloat(size, 'f', 2-exponent, 64))
	}
	return short(size)
}

// amount is an unsigned amount of money without its currency.
func amount(size float64) string {
	switch {
	case size == 0:
		return "0"
	case size < leastUSD:
		return "<0.01"
	case rounded(size, 2) < 100:
		return strings.TrimSuffix(strconv.FormatFloat(size, 'f', 2, 64), ".00")
	default:
		return short(size)
	}
}

// inDollars sets the currency behind a sign of comparison.
func inDollars(amount string) string {
	if least, found := strings.CutPrefix(amount, "<"); found {
		return "<$" + least
	}
	return "$" + amount
}

// units of short, each a thousand times the one before.
var units = []string{"", "K", "M", "B", "T"}

// short is a size of at least 1 with three significant digits and a unit: 123, 1.23K, 999T+.
func short(size float64) string {
	if size >= mostUSD {
		return "999T+"
	}
	mantissa, exponent := scientific(size, 3)
	if exponent < 0 {
		return "0"
	}
	value, err := strconv.ParseFloat(mantissa, 64)
	if err != nil {
		return "0" // can't be: scientific wrote it
	}
	places := exponent % 3
	text := strconv.FormatFloat(value*math.Pow10(places), 'f', 2-places, 64)
	return trimZeros(text) + units[exponent/3]
}

// scientific is a size above zero rounded to a number of significant digits: a mantissa 1 <= m < 10 and its power of ten.
func scientific(size float64, digits int) (mantissa string, exponent int) {
	mantissa, power, _ := strings.Cut(strconv.FormatFloat(size, 'e', digits-1, 64), "e")
	exponent, err := strconv.Atoi(power)
	if err != nil {
		return mantissa, 0 // can't be: strconv wrote it
	}
	return mantissa, exponent
}

// rounded is a size as it would be written with that many decimals.
func rounded(size float64, decimals int) float64 {
	f, err := strconv.ParseFloat(strconv.FormatFloat(size, 'f', decimals, 64), 64)
	if err != nil {
		return size
	}
	return f
}

func trimZeros(s string) string {
	if !strings.Contains(s, ".") {
		return s
	}
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// atLeastCents drops zeros at the end, but leaves two decimals: money isn't written $1.5.
func atLeastCents(s string) string {
	whole, decimals, _ := strings.Cut(s, ".")
	decimals = strings.TrimRight(decimals, "0")
	for len(decimals) < 2 {
		decimals += "0"
	}
	return whole + "." + decimals
}

// grouped sets commas between thousands.
func grouped(s string) string {
	whole, rest, found := strings.Cut(s, ".")
	var b strings.Builder
	for i, digit := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(digit)
	}
	if found {
		b.WriteString("." + rest)
	}
	return b.String()
}

func subscript(n int) string {
	var b strings.Builder
	for _, digit := range strconv.Itoa(n) {
		b.WriteRune('₀' + digit - '0')
	}
	return b.String()
}
