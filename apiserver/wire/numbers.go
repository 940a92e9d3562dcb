// Package wire has what the bodies of several subjects have in common: how numbers, times and blocks are written, what is said of an unknown
// figure, and the parts that more than one answer has.
package wire

import (
	"math"
	"strconv"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
)

// digits is how many significant digits a number has at most.
const digits = 15

// Number rounds to 15 significant digits. What is no finite number is unknown: nil.
func Number(v *float64) *float64 {
	if v == nil || math.IsNaN(*v) || math.IsInf(*v, 0) {
		return nil
	}
	n := Rounded(*v)
	return &n
}

// Rounded is v with 15 significant digits; 0 for what is no finite number.
func Rounded(v float64) float64 {
	n, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return 0
	}
	return n
}

// Decimal is v with 15 significant digits as a string without an exponent.
func Decimal(v float64) string { return strconv.FormatFloat(Rounded(v), 'f', -1, 64) }

// Timestamp is a time in Unix seconds as it is written.
func Timestamp(unix int64) contract.Timestamp { return contract.At(time.Unix(unix, 0)) }
