package search

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestMisspelt(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	for _, name := range []string{"a", "犬", "Pepe Inu", "犬Zumo 🐸"} {
		for range 50 {
			if got := misspelt(rng, name); got == strings.ToLower(name) && len(name) < 4 || got == "" {
				t.Errorf("%q became %q", name, got)
			}
		}
	}
}
