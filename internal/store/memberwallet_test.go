package store_test

import (
	"errors"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store"
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
			applied, _, err := s.Social.Registry.Apply(t.Context(), records, false, 2)
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

// TestForgottenWallets leaves nothing of a wallet that isn't a member's any more: no row, and no fact about it.
func TestForgottenWallets(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := storetest.Open(t, kind)
			l := lease(t, s)
			c := commitOf(1, 2, map[string]*market.Changes{})
			gone, stays := address(600), address(601)
			kept := map[market.Fact]bool{}
			for _, wallet := range []market.Address{gone, stays} {
				for _, f := range []market.Fact{
					market.WatchFact{WatchedWallet: market.WatchedWallet{Wallet: wallet, Member: 1}},
					market.HeldFact{PositionKey: market.PositionKey{Wallet: wallet, Token: address(1)}, Known: true, Amount: amount(1)},
					market.HeldFact{PositionKey: market.PositionKey{Wallet: wallet, Token: address(2)}},
					market.GasFact{GasKey: market.GasKey{Wallet: wallet, Tx: market.EVMTx(hash(1))}, Known: true, Amount: amount(1)},
					market.GasFact{GasKey: market.GasKey{Wallet: wallet, Tx: market.EVMTx(hash(2))}},
				} {
					c.Facts = append(c.Facts, store.StoredFact{Block: 1, Hash: hash(1), Fact: f})
					kept[f] = wallet == stays
				}
			}
			for _, wallet := range []market.Address{gone, stays} {
				c.Facts = append(c.Facts, store.StoredFact{Block: 1, Hash: hash(1), Fact: market.PastFact{Wallet: wallet, Before: 1}})
			}
			balance := market.BalanceFact{Token: gone, Account: gone} // of a token that has the same address
			c.Facts, kept[balance] = append(c.Facts, store.StoredFact{Block: 1, Hash: hash(1), Fact: balance}), true
			if err := s.Commit(t.Context(), l, c); err != nil {
				t.Fatal(err)
			}
			if more, err := s.Wallets.Forget(t.Context(), l, gone); err != nil || more {
				t.Fatal(more, err)
			}
			facts, err := s.Facts.Between(t.Context(), "base", 0, 9)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range facts {
				if !kept[f.Fact] {
					t.Errorf("%+v is kept", f.Fact)
				}
				delete(kept, f.Fact)
			}
			for f, stays := range kept {
				if stays {
					t.Errorf("%+v is gone", f)
				}
			}
			pasts, err := s.Wallets.PastFacts(t.Context(), "base", 0)
			if of, ok := pasts[0].Fact.(market.PastFact); err != nil || len(pasts) != 1 || !ok || of.Wallet != stays {
				t.Errorf("pasts of %+v are kept, %v", pasts, err)
			}
			rows := derivedRows(t, s)
			for _, table := range []string{"watched_wallets", "wallet_entries", "wallet_fees", "wallet_positions", "wallet_hours"} {
				if len(rows[table]) != 1 {
					t.Errorf("%s: %v", table, rows[table])
				}
			}
		})
	}
}

// TestForgottenWalletIsRewound: where a wallet's member left, and it is watched anew as another's, undoing the block from which it is and the one before brings
// nothing of the former member back.
func TestForgottenWalletIsRewound(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := storetest.Open(t, kind)
			l, before, gone := lease(t, s), map[string]*market.Changes{}, address(600)
			for n := 1; n <= 2; n++ {
				if err := s.Commit(t.Context(), l, commitOf(n, 2, before)); err != nil {
					t.Fatal(err)
				}
			}
			if more, err := s.Wallets.Forget(t.Context(), l, gone); err != nil || more {
				t.Fatal(more, err)
			}
			again := commitOf(3, 0, map[string]*market.Changes{})
			again.Changes = market.Changes{Watched: []market.Change[market.Address, market.WatchedWallet]{
				{Key: gone, After: &market.WatchedWallet{Wallet: gone, Member: 2, Since: 3}},
			}}
			if err := s.Commit(t.Context(), l, again); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Rewind(t.Context(), l, 1); err != nil {
				t.Fatal(err)
			}
			rows := derivedRows(t, s)
			for _, table := range []string{"watched_wallets", "wallet_entries", "wallet_fees", "wallet_positions", "wallet_hours"} {
				if len(rows[table]) != 1 { // the other wallet's
					t.Errorf("%s: %v", table, rows[table])
				}
			}
		})
	}
}
