package traffic

import (
	"math"
	"math/rand/v2"
)

// Poisson draws a count with this mean (Knuth's method; fine for the means in use here).
func Poisson(rng *rand.Rand, mean float64) int {
	limit, product, n := math.Exp(-mean), rng.Float64(), 0
	for product > limit {
		product *= rng.Float64()
		n++
	}
	return n
}
