package lab

import (
	"math"
	"math/rand/v2"
	"sort"
	"strings"
)

// Zipf draws ranks 0 to n-1; rank r is drawn with a chance proportional to 1/(r+1)^s. Unlike the library's, s may be 1
// or less, which is what popularity looks like.
type Zipf struct{ sums []float64 }

// NewZipf has n ranks and the exponent s.
func NewZipf(n int, s float64) *Zipf {
	z := &Zipf{make([]float64, n)}
	sum := 0.0
	for i := range z.sums {
		sum += math.Pow(float64(i+1), -s)
		z.sums[i] = sum
	}
	return z
}

// Len is how many ranks there are.
func (z *Zipf) Len() int { return len(z.sums) }

// Draw gives a rank.
func (z *Zipf) Draw(rng *rand.Rand) int { return z.at(rng.Float64()) }

// at is the rank up to which lies the share u of all.
func (z *Zipf) at(u float64) int {
	return min(sort.SearchFloat64s(z.sums, u*z.sums[len(z.sums)-1]), len(z.sums)-1)
}

// share is the part of all that falls to a rank.
func (z *Zipf) share(rank int) float64 {
	before := 0.0
	if rank > 0 {
		before = z.sums[rank-1]
	}
	return (z.sums[rank] - before) / z.sums[len(z.sums)-1]
}

var syllables = strings.Fields(`pe do shi ka mo lu ba zu fi go ra ti no mi xe wo ly cha bo ki ze na tu sol bit moon cat dog
	inu frog ape el ga hu jo ve ri sa tru war qu yo pip nu der fen gol hap`)

var words = strings.Fields(`Baby Super Mega Doge Pepe Inu Cat Moon Rocket Coin Swap Finance Protocol Network AI Chain DAO
	Gold King World Official Classic Girl Wojak Frog Elon Degen Based Meme Safe`)

// NameOf is the name and the ticker of the k-th distinct name. Many tokens share one: see world.go.
func NameOf(seed uint64, k int) (name, symbol string) {
	rng := rand.New(rand.NewPCG(seed, uint64(k)<<8|7))
	var first strings.Builder
	for range 2 + rng.IntN(2) {
		first.WriteString(syllables[rng.IntN(len(syllables))])
	}
	word := strings.ToUpper(first.String()[:1]) + first.String()[1:]
	name, symbol = word, strings.ToUpper(word)
	switch rng.IntN(6) {
	case 0, 1:
		name += " " + words[rng.IntN(len(words))]
	case 2:
		name = words[rng.IntN(len(words))] + " " + name + " " + words[rng.IntN(len(words))]
	case 3:
		symbol = symbol[:3+rng.IntN(len(symbol)-3)]
	}
	if rng.IntN(50) == 0 {
		name += " 🐸"
	}
	if rng.IntN(100) == 0 {
		name = "犬" + name
	}
	return name, symbol[:min(len(symbol), 10)]
}
