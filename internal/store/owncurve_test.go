package store_test

import (
	"slices"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// TestOwnCurves: a contract that one launch names holds its curve, one that several name holds nobody's alone, and those of
// other chains are not seen.
func TestOwnCurves(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := storetest.Open(t, kind)
			ctx := t.Context()
			const declared, alone, claimed, elsewhere = 90, 91, 92, 93
			wantOwn := func(want bool, declared ...market.Address) {
				t.Helper()
				if b, err := s.Beginning(ctx, "base", declared); err != nil || b.OwnCurves != want {
					t.Errorf("with %v declared, some launch has a curve of its own: %v, %v; want %v", declared, b.OwnCurves, err, want)
				}
			}
			wantOwn(false)
			l := lease(t, s)
			var list []market.Launch
			for i, curve := range []int{declared, declared, declared, alone, claimed, claimed, claimed} {
				list = append(list, market.Launch{Mint: address(i), Curve: address(curve), Block: 1, LogIndex: uint64(i)})
			}
			list = append(list, market.Launch{Mint: address(8), Block: 1, LogIndex: 8}) // a live pool
			if err := s.Commit(ctx, l, launchCommit(1, map[market.Address]market.Launch{}, list...)); err != nil {
				t.Fatal(err)
			}
			bsc, err := s.Leases.Acquire(ctx, "bsc", "test", 1)
			if err != nil {
				t.Fatal(err)
			}
			there := market.Launch{Mint: address(3), Curve: address(elsewhere), Block: 1}
			if err := s.Commit(ctx, bsc, launchCommit(1, map[market.Address]market.Launch{}, there)); err != nil {
				t.Fatal(err)
			}
			rows, err := s.Load(ctx, "base", market.Wanted{
				Curves: []market.Address{address(elsewhere), address(claimed), address(alone), address(declared), address(3)}, ExpireFrom: 1,
			})
			want := []market.OwnCurve{
				{Contract: address(declared)}, {Contract: address(alone), Mint: address(3)}, {Contract: address(claimed)},
			}
			slices.SortFunc(rows.Curves, func(a, b market.OwnCurve) int { return a.Contract.Compare(b.Contract) })
			if err != nil || !slices.Equal(rows.Curves, want) {
				t.Errorf("the contracts hold %v, %v; want %v", rows.Curves, err, want)
			}
			wantOwn(true)
			wantOwn(true, address(declared))
			wantOwn(true, address(claimed), address(declared))
			wantOwn(false, address(alone), address(claimed), address(declared))
		})
	}
}
