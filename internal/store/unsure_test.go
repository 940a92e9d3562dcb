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
				got, err := s.Facts.UnsureBlocks(t.Context(), "base")
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
			if _, err := s.Rewind(t.Context(), l, 4); err != nil {
				t.Fatal(err)
			}
			want("one is taken back", 4)
			commit(5, 2, "")
			want("it comes again, and is sure", 4)
		})
	}
}

// TestUnsureFacts commits facts that no two endpoints gave, has one of them vouched for, and takes some back.
func TestUnsureFacts(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := storetest.Open(t, kind)
			l := lease(t, s)
			fact := func(n int, unsure bool) store.StoredFact {
				return store.StoredFact{
					Block: uint64(n), Hash: hash(n), Fact: market.TokenFact{Token: address(n), HasDecimals: true, Decimals: uint8(n)}, Unsure: unsure,
				}
			}
			commit := func(c *store.Commit, n int) {
				t.Helper()
				c.Last, c.Blocks, c.Undo = header(n), []market.Header{header(n)}, true
				if err := s.Commit(t.Context(), l, c); err != nil {
					t.Fatal(err)
				}
			}
			want := func(when string, limit int, numbers ...int) {
				t.Helper()
				got, err := s.Facts.Unsure(t.Context(), "base", limit)
				if err != nil || len(got) != len(numbers) {
					t.Fatalf("%s: %+v, %v; want the facts of %v", when, got, err, numbers)
				}
				for i, n := range numbers {
					if got[i] != fact(n, true) {
						t.Errorf("%s: %+v is not the fact of %d", when, got[i], n)
					}
				}
			}
			for n := 1; n <= 4; n++ {
				commit(&store.Commit{Facts: []store.StoredFact{fact(n, n != 2)}}, n)
			}
			want("after four blocks", 10, 1, 3, 4)
			want("the newest two", 2, 3, 4)
			other := fact(4, true)
			other.Hash = hash(77)
			commit(&store.Commit{SureFacts: []store.StoredFact{fact(1, true), other}}, 5)
			want("one is sure, and one of another branch", 10, 3, 4)
			if _, err := s.Rewind(t.Context(), l, 3); err != nil {
				t.Fatal(err)
			}
			want("one is taken back", 10, 3)
			commit(&store.Commit{Facts: []store.StoredFact{fact(4, false)}}, 4)
			want("it comes again, and is sure", 10, 3)
		})
	}
}
