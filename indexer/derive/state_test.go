package derive_test

import (
	"slices"
	"testing"

	"github.com/boardwalkhq/boardwalk/indexer/derive"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// TestFlushForgetsTokensWithoutPools: the tokens that are known to have no listed pool count against the limit of cached tokens with their
// pools. Above it they are forgotten, and a token whose pools are cached is kept.
func TestFlushForgetsTokensWithoutPools(t *testing.T) {
	t.Parallel()
	s := derive.NewState(market.Beginning{})
	w := market.Wanted{PoolsOf: []market.Address{dog, cat, frog}, ExpireFrom: 1}
	s.Put(w, market.Rows{Pools: []market.Pool{{ID: poolA, Base: dog}}})
	s.Flush(3)
	if got, want := s.Bases(), []market.Address{dog, cat, frog}; !slices.Equal(got, want) {
		t.Errorf("at the limit the listed pools of %v are cached, want those of %v", got, want)
	}
	s.Flush(2)
	if got, want := s.Bases(), []market.Address{dog}; !slices.Equal(got, want) {
		t.Errorf("above the limit the listed pools of %v are cached, want those of %v", got, want)
	}
}
