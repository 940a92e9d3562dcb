package indexer

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

const (
	// rewoundLaunches is how many launches the rewound chain has, each a token; cachedLaunches of them are cached.
	rewoundLaunches, cachedLaunches = 1_000_000, 150_000
	// rewoundBlocks is how deep the reorgs are.
	rewoundBlocks = 8
)

// BenchmarkRewind takes 8 blocks back on a chain with a million launches, of which so many trade in each block, and then loads what the next
// block needs. "anew" drops the whole state, as a start does. median-ms is what one of two rewinds was done in, next-ms the same for the load.
func BenchmarkRewind(b *testing.B) {
	for _, kind := range storetest.Both {
		b.Run(kind, func(b *testing.B) {
			r := newRewinder(b, kind, rewoundLaunches, cachedLaunches)
			for _, trades := range []int{10, 50, 450} {
				b.Run(fmt.Sprint("kept, trades=", trades), func(b *testing.B) {
					r.trades = trades
					r.measure(b, func() error { return r.goBackTo(b.Context(), r.fork) })
				})
			}
			b.Run("anew, trades=10", func(b *testing.B) {
				r.trades = 10
				r.measure(b, func() error {
					if _, err := r.store.Rewind(b.Context(), r.lease, r.fork.Number); err != nil {
						return err
					}
					return r.resume(b.Context())
				})
			})
		})
	}
}

// measure has blocks come and taken back by rewind, again and again.
func (r *rewinder) measure(b *testing.B, rewind func() error) {
	b.Helper()
	var rewinds, loads []time.Duration
	for b.Loop() {
		b.StopTimer()
		for range rewoundBlocks {
			r.commitBlock(b, r.block())
		}
		b.StartTimer()
		began := time.Now()
		r.must(b, rewind())
		rewinds = append(rewinds, time.Since(began))
		began = time.Now()
		r.must(b, r.loadFor(b.Context(), r.block()))
		loads = append(loads, time.Since(began))
	}
	b.ReportMetric(medianMS(rewinds), "median-ms")
	b.ReportMetric(medianMS(loads), "next-ms")
}

func medianMS(took []time.Duration) float64 {
	slices.Sort(took)
	return float64(took[len(took)/2].Microseconds()) / 1000
}
