package httpapi

import (
	"math"
	"strconv"
	"strings"
)

// Figures as people read them, for pages and cards. Where a figure is unknown there is none of them.

const minusSign = "−"

// priceText is a price with four significant digits, or cents where these say more: $1,234.56, $0.0₅1234, where the subscript
// counts the zeros behind the point.
func priceText(usd float64) string {
	switch {
	case usd >= 99.995:
		if usd >= 999_999.5 {
			return "$" + short(usd)
		}
		decimals := 2
		if usd >= 9999.995 {
			decimals = 0
		}
		return "$" + grouped(strconv.FormatFloat(usd, 'f', decimals, 64))
	case usd <= 0:
		return "$0"
	}
	mantissa, power, _ := strings.Cut(strconv.FormatFloat(usd, 'e', 3, 64), "e")
	exponent, err := strconv.Atoi(power)
	switch {
	case err != nil:
		return "$0" // can't be: strconv wrote it
	case exponent < -4:
		return "$0.0" + subscript(-exponent-1) + strings.TrimRight(strings.Replace(mantissa, ".", "", 1), "0")
	}
	text := strconv.FormatFloat(usd, 'f', 3-exponent, 64)
	whole, decimals, _ := strings.Cut(text, ".")
	if decimals = strings.TrimRight(decimals, "0"); len(decimals) < 2 && exponent >= 0 {
		decimals = (decimals + "00")[:2]
	}
	return "$" + whole + "." + decimals
}

// moveText is a change in per cent with its sign.
func moveText(pct float64) string {
	size := math.Abs(pct)
	decimals := 0
	switch {
	case size < 0.995:
		decimals = 2
	case size < 99.95:
		decimals = 1
	}
	text := strconv.FormatFloat(size, 'f', decimals, 64)
	if size >= 99_999.5 {
		text = short(size)
	}
	switch {
	case strings.Trim(text, "0.") == "":
		return "0%"
	case pct < 0:
		return minusSign + grouped(text) + "%"
	default:
		return "+" + grouped(text) + "%"
	}
}

// short is a size with three significant digits and a unit: 0.5, 12.3, 1.23K, 999T+.
func short(size float64) string {
	const units, most = "KMBT", 999.5e12
	switch {
	case !(size > 0):
		return "0"
	case size >= most:
		return "999T+"
	case size < 0.0001:
		return "<0.0001"
	}
	size, err := strconv.ParseFloat(strconv.FormatFloat(size, 'g', 3, 64), 64)
	if err != nil {
		return "0" // can't be: strconv wrote it
	}
	unit := -1
	for size >= 1000 {
		size /= 1000
		unit++
	}
	text := strconv.FormatFloat(size, 'f', -1, 64)
	if len(strings.Trim(text, "0.")) > 3 { // what dividing left
		text = strconv.FormatFloat(size, 'g', 3, 64)
	}
	if unit >= 0 {
		text += units[unit : unit+1]
	}
	return text
}

// grouped sets commas between thousands.
func grouped(s string) string {
	whole, rest, found := strings.Cut(s, ".")
	var b strings.Builder
	for i, digit := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 && digit >= '0' && digit <= '9' {
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
