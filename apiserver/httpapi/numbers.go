package httpapi

import (
	"math"
	"strconv"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
)

// digits is how many significant digits a number has at most.
const digits = 15

// number rounds to 15 significant digits. What is no finite number is unknown: nil.
func number(v *float64) *float64 {
	if v == nil || math.IsNaN(*v) || math.IsInf(*v, 0) {
		return nil
	}
	n := rounded(*v)
	return &n
}

// rounded is v with 15 significant digits; 0 for what is no finite number.
func rounded(v float64) float64 {
	n, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return 0
	}
	return n
}

// decimal is v with 15 significant digits as a string without an exponent.
func decimal(v float64) string { return strconv.FormatFloat(rounded(v), 'f', -1, 64) }

func timestamp(unix int64) contract.Timestamp { return contract.At(time.Unix(unix, 0)) }
