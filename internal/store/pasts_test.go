package store_test

import (
	"reflect"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// TestPastsOfWallets: a past is read in steps, is ready once it has its fact, until a block takes it in that is final, and belongs to the watch that it was begun for.
func TestPastsOfWallets(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := storetest.Open(t, kind)
			l := lease(t, s)
			c := commitOf(1, 3, map[string]*market.Changes{})
			for i := range c.Changes.Watched {
				w := c.Changes.Watched[i].After
				w.Since, w.Change, w.PastIn = int64(100+i), int64(7+i), 0
				c.Facts = append(c.Facts, store.StoredFact{Block: 1, Hash: hash(1), Fact: market.WatchFact{WatchedWallet: *w}})
			}
			if err := s.Commit(t.Context(), l, c); err != nil {
				t.Fatal(err)
			}
			wantWithout := func(what string, before int64, want ...market.Address) {
				t.Helper()
				list, err := s.Wallets.WithoutPast(t.Context(), "base", before, 1, 2)
				if err != nil {
					t.Fatal(err)
				}
				var got []market.Address
				for _, w := range list {
					got = append(got, w.Wallet)
				}
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%s: without a past are %v, want %v", what, got, want)
				}
			}
			ada, bob, carol := address(600), address(601), address(602)
			if list, err := s.Wallets.WithoutPast(t.Context(), "base", 1000, 0, 2); err != nil || len(list) != 0 {
				t.Errorf("watched from a block that isn't final: %+v, %v", list, err)
			}
			if list, err := s.Wallets.WithoutPast(t.Context(), "base", 1000, 1, 1); err != nil || len(list) != 1 || list[0].From != 1 {
				t.Errorf("%+v, %v", list, err)
			}
			kept := []store.StoredFact{{Block: 5, Hash: hash(5), Fact: market.PastFact{Wallet: address(602), Before: 1}}}
			if err := s.Inspect.KeepFacts(t.Context(), l, kept); err != nil {
				t.Fatal(err)
			}
			if list, err := s.Wallets.WithoutPast(t.Context(), "base", 1000, 1, 9); err != nil || len(list) != 2 || list[0].Wallet != ada || list[1].Wallet != bob {
				t.Errorf("of carol an earlier index knows it: %+v, %v", list, err)
			}
			if _, err := s.Rewind(t.Context(), l, 1); err != nil { // it takes facts of later blocks along
				t.Fatal(err)
			}
			wantWithout("before the first", 100)
			wantWithout("at the second", 101, ada)
			wantWithout("two at most", 1000, ada, bob)

			jobs := []market.PastJob{
				{Wallet: ada, Change: 7, Since: -5, First: 2, Next: 3, Before: 9, Found: []uint64{1, 1 << 62}, Alone: 1},
				{Wallet: bob, Change: 8, Since: 5, Next: 3, Before: 9},
			}
			if err := s.Wallets.SavePasts(t.Context(), l, jobs); err != nil {
				t.Fatal(err)
			}
			if got, err := s.Wallets.PastJobs(t.Context(), "base"); err != nil || !reflect.DeepEqual(got, jobs) {
				t.Errorf("%v: %+v, want %+v", err, got, jobs)
			}
			wantWithout("two are being read", 1000, carol)
			gone := market.PastJob{Wallet: carol, Change: 77, Next: 3, Before: 9} // of a member who had the wallet before
			if err := s.Wallets.MovePasts(t.Context(), l, []market.Address{bob}, 5, []market.PastJob{gone}); err != nil {
				t.Fatal(err)
			}
			jobs[1].Next = 5
			if got, err := s.Wallets.PastJobs(t.Context(), "base"); err != nil || !reflect.DeepEqual(got, jobs) {
				t.Errorf("%v: %+v, want %+v", err, got, jobs)
			}
			if _, ok, err := s.Wallets.ReadyPast(t.Context(), "base"); ok || err != nil {
				t.Errorf("ready before it is read: %v", err)
			}

			jobs[1].Next, jobs[1].Fact = 9, &market.PastFact{Wallet: bob, Before: 9, Entries: []market.Entry{{Wallet: bob, Block: 4, Tx: market.EVMTx(hash(3)), Token: address(1), Amount: amount(3)}}}
			if err := s.Wallets.SavePasts(t.Context(), l, jobs[1:]); err != nil {
				t.Fatal(err)
			}
			if got, ok, err := s.Wallets.ReadyPast(t.Context(), "base"); !ok || err != nil || !reflect.DeepEqual(&got, jobs[1].Fact) {
				t.Errorf("%v, %v: %+v", ok, err, got)
			}
			if got, err := s.Wallets.PastJobs(t.Context(), "base"); err != nil || len(got) != 1 {
				t.Errorf("%v: %+v", err, got)
			}

			next := commitOf(2, 0, map[string]*market.Changes{})
			for i, w := range c.Changes.Watched[:2] { // bob's is taken in, and ada is another member's
				after := *w.After
				if after.PastIn = 2; i == 0 {
					after.PastIn, after.Change = 0, 99
				}
				next.Changes.Watched = append(next.Changes.Watched, market.Change[market.Address, market.WatchedWallet]{Key: w.Key, Before: w.After, After: &after})
			}
			if err := s.Commit(t.Context(), l, next); err != nil {
				t.Fatal(err)
			}
			if _, ok, err := s.Wallets.ReadyPast(t.Context(), "base"); ok || err != nil {
				t.Errorf("ready when it is taken in: %v", err)
			}
			if err := s.Wallets.DropPasts(t.Context(), l, 1); err != nil {
				t.Fatal(err)
			}
			wantWithout("of ada nothing is known as another member's", 1000, ada, carol)
			if _, err := s.Rewind(t.Context(), l, 1); err != nil {
				t.Fatal(err)
			}
			if _, ok, err := s.Wallets.ReadyPast(t.Context(), "base"); !ok || err != nil {
				t.Errorf("not ready when the block that took it in is taken back: %v", err)
			}
			next.Changes.Watched = next.Changes.Watched[1:]
			if err := s.Commit(t.Context(), l, next); err != nil {
				t.Fatal(err)
			}
			if err := s.Wallets.DropPasts(t.Context(), l, 2); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Rewind(t.Context(), l, 1); err != nil {
				t.Fatal(err)
			}
			if _, ok, err := s.Wallets.ReadyPast(t.Context(), "base"); ok || err != nil {
				t.Errorf("kept after the block that took it in is final: %v", err)
			}
		})
	}
}
