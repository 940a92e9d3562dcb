package lab

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"slices"
)

// QuietFlag declares how busy other programs may be in a round that counts.
func (o *Options) QuietFlag(f *flag.FlagSet) {
	f.Float64Var(&o.Quiet, "quiet", 0.2,
		"cores that other programs may use in a round; one in which they use more is thrown away and measured again, up to as many as --rounds; 0 keeps all")
}

// QuietRounds runs rounds until enough were quiet. A round tells how many cores other programs used, and is quiet if they are o.Quiet at most. At most twice o.Rounds are run.
// QuietRounds gives the numbers of the o.Rounds that count, in their order, and writes how many were thrown away. If too few were quiet, the quietest of the others count, too.
func (o *Options) QuietRounds(w io.Writer, run func(round int) (others float64, err error)) (kept []int, err error) {
	var others []float64
	quiet := 0
	for quiet < o.Rounds && len(others) < 2*o.Rounds {
		used, err := run(len(others))
		if err != nil {
			return nil, err
		}
		kept, others = append(kept, len(others)), append(others, used)
		if o.Quiet <= 0 || used <= o.Quiet {
			quiet++
		} else {
			Say("other programs used %.2f cores in this round, more than %g", used, o.Quiet)
		}
	}
	slices.SortStableFunc(kept, func(a, b int) int { return cmp.Compare(others[a], others[b]) })
	if o.Quiet > 0 {
		kept = kept[:o.Rounds]
		_, err = fmt.Fprintf(w, "Of %d rounds %d are thrown away; in %d of the others other programs used more than %g cores.\n\n", len(others), len(others)-len(kept), len(kept)-quiet, o.Quiet)
	}
	slices.Sort(kept)
	return kept, err
}

// Pick gives the elements of a list with these numbers.
func Pick[T any](list []T, numbers []int) []T {
	out := make([]T, len(numbers))
	for i, n := range numbers {
		out[i] = list[n]
	}
	return out
}
