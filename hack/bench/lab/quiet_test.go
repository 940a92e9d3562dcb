package lab

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// TestQuietRounds has other programs use so many cores in one round after the other.
func TestQuietRounds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		quiet  float64
		others []float64
		want   []int
		says   string
	}{
		"all are quiet":           {0.2, []float64{0, 0.1, 0.2}, []int{0, 1, 2}, "Of 3 rounds 0 are thrown away; in 0 of the others"},
		"two aren't":              {0.2, []float64{0, 0.21, 0.1, 1, 0.2}, []int{0, 2, 4}, "Of 5 rounds 2 are thrown away; in 0 of the others"},
		"too few are":             {0.2, []float64{0.5, 0.4, 0.3, 0.1, 0.6, 0.7}, []int{1, 2, 3}, "Of 6 rounds 3 are thrown away; in 2 of the others"},
		"none is, all are as bad": {0.2, []float64{1, 1, 1, 1, 1, 1}, []int{0, 1, 2}, "Of 6 rounds 3 are thrown away; in 3 of the others"},
		"all are kept":            {0, []float64{1, 0, 2}, []int{0, 1, 2}, ""},
	} {
		o := &Options{Rounds: 3, Quiet: c.quiet}
		var written strings.Builder
		ran := 0
		kept, err := o.QuietRounds(&written, func(round int) (float64, error) {
			if round != ran || round == len(c.others) {
				t.Fatalf("%s: round %d runs after %d", name, round, ran)
			}
			ran++
			return c.others[round], nil
		})
		if err != nil || !slices.Equal(kept, c.want) || ran != len(c.others) || !strings.HasPrefix(written.String(), c.says) || c.says == "" && written.Len() > 0 {
			t.Errorf("%s: after %d rounds %v are kept, %v, and it says %q", name, ran, kept, err, written.String())
		}
	}
	failed := errors.New("failed")
	if _, err := (&Options{Rounds: 1}).QuietRounds(nil, func(int) (float64, error) { return 0, failed }); !errors.Is(err, failed) {
		t.Errorf("a round that failed gives %v", err)
	}
	if got := Pick([]string{"a", "b", "c"}, []int{0, 2}); !slices.Equal(got, []string{"a", "c"}) {
		t.Errorf("the first and third are %v", got)
	}
}
