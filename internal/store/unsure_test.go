package store_test

import (
	"bytes"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// TestUnsureBlocks commits blocks that rest on one endpoint's word and others, has one of them vouched for, and takes some back.
func TestUnsureBlocks(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := storetest.Open(t, kind)
			l := lease(t, s)
			commit := func(n int, horizon uint64, word string, sure ...uint64) {
				t.Helper()
				c := &store.Commit{Last: header(n), Blocks: []market.Header{header(n)}, Undo: true, Horizon: horizon, Sure: sure}
				if word != "" {
					c.LogsHash = []byte(word)
				}
				if err := s.Commit(t.Context(), l, c); err != nil {
					t.Fatal(err)
				}
			}
			want := func(when string, numbers ...int) {
				t.Helper()
				got, err := s.UnsureBlocks(t.Context(), "base")
				if err != nil || len(got) != len(numbers) {
					t.Fatalf("%s: %+v, %v; want the blocks %v", when, got, err, numbers)
				}
				for i, n := range numbers {
					if got[i].Header != header(n) || !bytes.Equal(got[i].LogsHash, []byte{'w', byte('0' + n)}) {
						t.Errorf("%s: %+v is not block %d", when, got[i], n)
					}
				}
			}
			want("nothing is committed")
			commit(1, 0, "w1")
			commit(2, 0, "w2")
			commit(3, 0, "")
			commit(4, 0, "w4")
			want("after four blocks", 1, 2, 4)
			commit(5, 2, "w5", 2, 77)
			want("one is sure and one below the horizon", 4, 5)
			if err := s.Rewind(t.Context(), l, 4); err != nil {
				t.Fatal(err)
			}
			want("one is taken back", 4)
			commit(5, 2, "")
			want("it comes again, and is sure", 4)
		})
	}
}
