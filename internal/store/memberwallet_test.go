package store_test

import (
	"errors"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// TestPoolsAndCurvesAreNobodysWallets has a pool of a chain and the contract of a launch's curve.
func TestPoolsAndCurvesAreNobodysWallets(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := storetest.Open(t, kind)
			c := commitOf(1, 1, map[string]*market.Changes{})
			c.Changes.Pools = append(c.Changes.Pools, market.Change[market.Address, market.Pool]{
				Key: address(700), After: &market.Pool{ID: address(700), Protocol: market.UniswapV2, Factory: address(900), Token0: address(1), Token1: address(2), Base: address(1), Quote: address(2)},
			})
			c.Changes.Launches = []market.Change[market.Address, market.Launch]{{Key: address(1), After: &market.Launch{Mint: address(1), Block: 1, Curve: address(701)}}}
			if err := s.Commit(t.Context(), lease(t, s), c); err != nil {
				t.Fatal(err)
			}
			records := []member.Record{{ID: "u1", Handle: "ada", JoinedAt: 1, UpdatedAt: 1}}
			for _, n := range []int{700, 701, 702} {
				records = append(records, member.Record{
					ID: "u1", UpdatedAt: 1, Wallet: &member.WalletRecord{Family: chainconfig.EVM, Address: address(n)},
				})
			}
			applied, _, err := s.Social.Apply(t.Context(), records, false, 2)
			if err != nil {
				t.Fatal(err)
			}
			for i, refused := range []bool{false, true, true, false} {
				if errors.Is(applied[i].Err, member.ErrKeptByOthers) != refused || (applied[i].Err != nil) != refused {
					t.Errorf("record %d: %+v", i, applied[i])
				}
			}
		})
	}
}
