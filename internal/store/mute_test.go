package store_test

import (
	"slices"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

func TestMuteTokens(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := storetest.Open(t, kind)
			c := &store.Commit{Last: header(1), Blocks: []market.Header{header(1)}}
			for n := 1; n <= 8; n++ { // the 4th tells its decimals
				c.Changes.Tokens = append(c.Changes.Tokens, market.Change[market.Address, market.Token]{
					Key: address(n), After: &market.Token{Mint: address(n), FirstBlock: uint64(10 * n), HasDecimals: n == 4},
				})
			}
			if err := s.Commit(t.Context(), lease(t, s), c); err != nil {
				t.Fatal(err)
			}
			for _, tt := range []struct {
				first, end uint64
				from       int
				limit      int
				want       []int
			}{
				{20, 71, 1, 9, []int{2, 3, 5, 6, 7}},
				{20, 70, 1, 9, []int{2, 3, 5, 6}},
				{20, 71, 5, 9, []int{5, 6, 7, 2, 3}},
				{20, 71, 6, 3, []int{6, 7, 2}},
				{40, 41, 1, 9, nil},
				{0, 10, 1, 9, nil},
			} {
				var want []market.Address
				for _, n := range tt.want {
					want = append(want, address(n))
				}
				got, err := s.Tokens.Mute(t.Context(), "base", tt.first, tt.end, address(tt.from), tt.limit)
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("blocks %d to %d from %d: %v, %v; want %v", tt.first, tt.end, tt.from, got, err, want)
				}
			}
			if got, err := s.Tokens.Mute(t.Context(), "bsc", 0, 100, address(1), 9); err != nil || len(got) != 0 {
				t.Errorf("another chain has %v, %v", got, err)
			}
		})
	}
}
