package chain

import (
	"bufio"
	_ "embed" // of shapes.txt
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
	"strconv"
	"strings"
)

//go:embed shapes.txt
var shapesText string

// shape is what a recorded transaction logged, in order: one entry of shapes.txt for each log.
type shape []string

// shapes is how recorded transactions, pools and tokens are distributed.
type shapes struct {
	all    []shape
	counts []float64
	// pools and tokens are how often each pool was swapped in and each token transferred, most often first.
	pools, tokens []float64
}

func readShapes(text string) (*shapes, error) {
	s := &shapes{}
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		var err error
		switch words[0] {
		case "pools":
			s.pools, err = numbers(words[1:])
		case "tokens":
			s.tokens, err = numbers(words[1:])
		default:
			var count []float64
			count, err = numbers(words[1:2])
			s.all, s.counts = append(s.all, words[2:]), append(s.counts, count...)
		}
		if err != nil {
			return nil, fmt.Errorf("shapes.txt: %w", err)
		}
	}
	return s, nil
}

func numbers(words []string) ([]float64, error) {
	out := make([]float64, len(words))
	for i, w := range words {
		n, err := strconv.ParseFloat(w, 64)
		if err != nil {
			return nil, err
		}
		out[i] = n
	}
	return out, nil
}

// wheel draws places of a list by their weights.
type wheel []float64

func newWheel(weights []float64) wheel {
	w, sum := make(wheel, len(weights)), 0.0
	for i, x := range weights {
		sum += x
		w[i] = sum
	}
	return w
}

func (w wheel) draw(rng *rand.Rand) int {
	at := rng.Float64() * w[len(w)-1]
	return min(sort.Search(len(w), func(i int) bool { return w[i] > at }), len(w)-1)
}

// wheel draws shapes so that a transaction has a number of logs on average: each recorded shape is as likely as it was, times e to the power
// of a constant times its number of logs. Of all ways to reach an average this leaves the most of the recorded distribution.
func (s *shapes) wheel(logsPerTx float64) (wheel, error) {
	most := 0
	for _, one := range s.all {
		most = max(most, len(one))
	}
	if logsPerTx < 0 || logsPerTx > float64(most)/2 {
		return nil, fmt.Errorf("%.1f logs in a transaction: recorded ones allow for 0 to %d on average", logsPerTx, most/2)
	}
	weights := make([]float64, len(s.all))
	mean := func(tilt float64) float64 {
		sum, of := 0.0, 0.0
		for i, one := range s.all {
			weights[i] = s.counts[i] * math.Exp(tilt*float64(len(one)))
			sum, of = sum+weights[i]*float64(len(one)), of+weights[i]
		}
		return sum / of
	}
	low, high := -20.0, 20.0
	for range 60 {
		if mid := (low + high) / 2; mean(mid) < logsPerTx {
			low = mid
		} else {
			high = mid
		}
	}
	mean(low)
	return newWheel(weights), nil
}

// popularity extends recorded weights to n of a kind: those that weren't recorded have a tenth of the last one's each.
func popularity(recorded []float64, n int) wheel {
	weights := make([]float64, n)
	for i := range weights {
		if i < len(recorded) {
			weights[i] = recorded[i]
		} else {
			weights[i] = recorded[len(recorded)-1] / 10
		}
	}
	return newWheel(weights)
}
