package store_test

import (
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/store"
)

// rowsOfABlock is how many tokens, pools, candles and trades a block of the benchmarks has.
const rowsOfABlock = 50

// BenchmarkKeepImages keeps the former images of a block's tokens, pools and candles, which were there, and of its trades, which were not.
func BenchmarkKeepImages(b *testing.B) {
	ch := everyRow(1, true).Changes
	size := 0
	for b.Loop() {
		images, err := store.NoteRows(rowsOfABlock, ch.Tokens[0].After, ch.Pools[0].After, ch.Candles[0].After, &ch.Trades[0])
		if err != nil {
			b.Fatal(err)
		}
		size = len(images[0]) + len(images[1]) + len(images[2]) + len(images[3])
	}
	b.ReportMetric(float64(rowsOfABlock*size), "image-bytes")
}

// BenchmarkReadImages reads them.
func BenchmarkReadImages(b *testing.B) {
	ch := everyRow(1, true).Changes
	images, err := store.NoteRows(1, ch.Tokens[0].After, ch.Pools[0].After, ch.Candles[0].After, &ch.Trades[0])
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		for range rowsOfABlock {
			if err := store.ReadRows(images[0], images[1], images[2], images[3]); err != nil {
				b.Fatal(err)
			}
		}
	}
}
