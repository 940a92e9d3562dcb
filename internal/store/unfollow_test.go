package store_test

import (
	"errors"
	"maps"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// TestUnfollow: nothing is left of the holders of a token that isn't followed any more but which accounts don't count, and no rewind
// brings any of it back. Launches and declared tokens keep theirs.
func TestUnfollow(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := storetest.Open(t, kind)
			ctx := t.Context()
			l := lease(t, s)
			const counted, waiting, declared, launched, pool = 1, 2, 3, 4, 50
			token := func(n int, h market.Holders) market.Change[market.Address, market.Token] {
				return market.Change[market.Address, market.Token]{
					Key: address(n), After: &market.Token{Mint: address(n), FirstBlock: 1, Holders: h, SinceCreation: true},
				}
			}
			balance := func(n, account int, amount uint64) market.Change[market.BalanceKey, market.Balance] {
				return market.Change[market.BalanceKey, market.Balance]{
					Key: market.BalanceKey{Token: address(n), Account: address(account)}, After: &market.Balance{Amount: huge(amount), IsPool: account == pool},
				}
			}
			current := market.Holders{Status: market.HoldersCurrent, Count: 1}
			c := &store.Commit{Last: header(1), Blocks: []market.Header{header(1)}, Undo: true}
			for _, n := range []int{counted, declared, launched} {
				c.Changes.Tokens = append(c.Changes.Tokens, token(n, current))
				c.Changes.Balances = append(c.Changes.Balances, balance(n, 8, 5), balance(n, pool, 7))
			}
			c.Changes.Tokens = append(c.Changes.Tokens, token(waiting, market.Holders{Status: market.HoldersIndexing}))
			c.Changes.Queued = []market.QueuedTransfer{{Token: address(waiting), From: address(8), To: address(9), Block: 1, Amount: huge(1)}}
			c.Changes.Launches = []market.Change[market.Address, market.Launch]{{Key: address(launched), After: &market.Launch{Mint: address(launched), Block: 1}}}
			if err := s.Commit(ctx, l, c); err != nil {
				t.Fatal(err)
			}
			job := market.HolderJob{Token: address(waiting), Final: 9, Next: 5}
			if err := s.Jobs.Begin(ctx, l, []market.HolderJob{job}); err != nil {
				t.Fatal(err)
			}
			staged := map[market.Address]market.Amount{address(8): huge(3)}
			if err := s.Jobs.Save(ctx, l, &store.HolderProgress{Before: job, After: job, Staged: staged}); err != nil {
				t.Fatal(err)
			}
			// Its rewind would bring back what the accounts had before.
			c = &store.Commit{Last: header(2), Blocks: []market.Header{header(2)}, Undo: true}
			before, after := balance(counted, 8, 5), balance(counted, 8, 6)
			after.Before = before.After
			c.Changes.Balances = []market.Change[market.BalanceKey, market.Balance]{after}
			c.Changes.Tokens = []market.Change[market.Address, market.Token]{token(counted, current)}
			c.Changes.Tokens[0].Before = token(counted, current).After
			if err := s.Commit(ctx, l, c); err != nil {
				t.Fatal(err)
			}

			unfollow := func(want int) {
				t.Helper()
				if n, err := s.Upkeep.Unfollow(ctx, l, []market.Address{address(declared)}); err != nil || n != want {
					t.Fatalf("%d tokens aren't followed any more, %v; want %d", n, err, want)
				}
				for n, want := range map[int]map[market.Address]market.Balance{
					counted:  {address(pool): {IsPool: true}},
					waiting:  {},
					declared: {address(8): {Amount: huge(5)}, address(pool): {Amount: huge(7), IsPool: true}},
					launched: {address(8): {Amount: huge(5)}, address(pool): {Amount: huge(7), IsPool: true}},
				} {
					if got, err := s.Balances.All(ctx, "base", address(n)); err != nil || !maps.Equal(got, want) {
						t.Errorf("token %d: the balances are %v, %v; want %v", n, got, err, want)
					}
				}
				jobs, err := s.Jobs.List(ctx, "base")
				queue, e := s.Jobs.Queued(ctx, "base", address(waiting), 0, 0, 9)
				staged, e2 := s.Jobs.StagedFrom(ctx, "base", address(waiting), market.Address{}, 9)
				if err != nil || e != nil || e2 != nil || len(jobs)+len(queue)+len(staged) > 0 {
					t.Errorf("jobs %v, %v; queue %v, %v; staged %v, %v", jobs, err, queue, e, staged, e2)
				}
				gaps, err := s.Jobs.Gaps(ctx, "base", 9, nil, 9)
				if err != nil || len(gaps) > 0 {
					t.Errorf("gaps %v, %v", gaps, err)
				}
			}
			unfollow(2)
			unfollow(0)
			touched, err := s.Rewind(ctx, l, 1)
			if err != nil {
				t.Fatal(err)
			}
			anyUnfollowed := func(tokens []market.Address, declared int, want bool) {
				t.Helper()
				if got, err := s.Upkeep.AnyUnfollowed(ctx, "base", tokens, []market.Address{address(declared)}); err != nil || got != want {
					t.Errorf("of %v any isn't followed any more: %v, %v; want %v", tokens, got, err, want)
				}
			}
			anyUnfollowed(touched.Tokens, declared, true) // the row of the token itself came back
			anyUnfollowed(touched.Tokens, counted, false)
			anyUnfollowed([]market.Address{address(waiting), address(declared), address(launched)}, declared, false)
			anyUnfollowed(nil, declared, false)
			unfollow(1)
			unfollow(0)
			anyUnfollowed(touched.Tokens, declared, false)
		})
	}
}

// TestUnfollowLooksOnce: tokens are looked through again only after something that may have brought one back whose balances nobody asks for.
func TestUnfollowLooksOnce(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			dsn := storetest.DSN(t, kind)
			s := storetest.OpenAt(t, dsn)
			db := raw(t, kind, dsn)
			defer func() { _ = db.Close() }()
			l := lease(t, s)
			for n := 1; n <= 2; n++ {
				c := &store.Commit{Last: header(n), Blocks: []market.Header{header(n)}, Undo: true}
				c.Changes.Tokens = []market.Change[market.Address, market.Token]{{Key: address(n), After: &market.Token{Mint: address(n), FirstBlock: 1}}}
				if err := s.Commit(t.Context(), l, c); err != nil {
					t.Fatal(err)
				}
			}
			look := func(when string, want int, declared ...market.Address) {
				t.Helper()
				must(t, db, "UPDATE tokens SET holders_status = 'current' WHERE first_block = 1") // as no indexer does
				if n, err := s.Upkeep.Unfollow(t.Context(), l, declared); err != nil || n != want {
					t.Errorf("%s: %d tokens were unfollowed, %v; want %d", when, n, err, want)
				}
			}
			look("the first time", 2)
			look("under the same lease", 0)
			l = lease(t, s)
			look("under the next lease", 0)
			look("for another document", 1, address(1))
			look("for this one again", 0, address(1))
			if _, err := s.Rewind(t.Context(), l, 1); err != nil {
				t.Fatal(err)
			}
			look("after a rewind", 1)
			lease(t, s) // by a binary that doesn't note anything
			l = lease(t, s)
			look("after a lease of another binary", 1)
			old := l
			l = lease(t, s)
			if err := s.Upkeep.NoteFollowed(t.Context(), old, []market.Address{address(9)}); !errors.Is(err, store.ErrLeaseLost) {
				t.Errorf("a note under a lease that is lost: %v, want %v", err, store.ErrLeaseLost)
			}
			look("after a note under a lease that is lost", 0)
		})
	}
}
