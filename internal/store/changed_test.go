package store_test

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/commitlog"
	"github.com/boardwalkhq/boardwalk/internal/store/schema"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// TestChangedSince changes rows of each kind on one of two chains, and asks for both at once.
func TestChangedSince(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := storetest.Open(t, kind)
			ctx := t.Context()
			leases := map[string]*store.Lease{}
			for _, chain := range []string{"base", "bsc"} {
				l, err := s.Leases.Acquire(ctx, chain, "test", time.Minute)
				if err != nil {
					t.Fatal(err)
				}
				leases[chain] = l
			}
			now := func() map[string]int64 {
				out := map[string]int64{}
				for chain := range leases {
					status, _, err := s.Chain(ctx, chain)
					if err != nil {
						t.Fatal(err)
					}
					out[chain] = status.CommitNo
				}
				return out
			}
			block := 0
			commit := func(change func(*market.Changes)) error {
				block++
				c := &store.Commit{Last: header(block), Blocks: []market.Header{header(block)}}
				change(&c.Changes)
				return s.Commit(ctx, leases["bsc"], c)
			}
			began := now()
			for _, step := range []struct {
				name, want string
				do         func() error
			}{
				{"nothing", "[] trades false launches [] quotes false metadata false trust false", func() error { return commit(func(*market.Changes) {}) }},
				{"a token", "[1] trades false launches [] quotes false metadata false trust false", func() error {
					return commit(func(c *market.Changes) {
						c.Tokens = append(c.Tokens, market.Change[market.Address, market.Token]{Key: address(1), After: &market.Token{Mint: address(1)}})
					})
				}},
				{"a pool", "[2] trades true launches [] quotes false metadata false trust false", func() error {
					return commit(func(c *market.Changes) {
						c.Pools = append(c.Pools, market.Change[market.Address, market.Pool]{
							Key: poolID(1), After: &market.Pool{ID: poolID(1), Factory: address(9), Token0: address(2), Token1: address(3), Base: address(2), Quote: address(3)},
						})
					})
				}},
				{"a launch", "[] trades false launches [1] quotes false metadata false trust false", func() error {
					return commit(func(c *market.Changes) {
						c.Launches = append(c.Launches, market.Change[market.Address, market.Launch]{Key: address(1), After: &market.Launch{Mint: address(1)}})
					})
				}},
				{"a quote", "[] trades false launches [] quotes true metadata false trust false", func() error {
					return commit(func(c *market.Changes) {
						c.Quotes = append(c.Quotes, market.Change[market.Address, market.QuotePrice]{
							Key: address(3), After: &market.QuotePrice{Asset: address(3), USD: 2},
						})
					})
				}},
				{"metadata", "[] trades false launches [] quotes false metadata true trust false", func() error {
					return s.Metadata.Save(ctx, leases["bsc"], []store.TokenMetadata{{Mint: address(1)}})
				}},
				{"a report", "[] trades false launches [] quotes false metadata false trust true", func() error {
					return s.Trust.Save(ctx, leases["bsc"], []store.TrustRow{{Mint: address(1), Report: []byte("null")}})
				}},
			} {
				before := now()
				if err := step.do(); err != nil {
					t.Fatal(step.name, err)
				}
				got, err := s.ChangedSince(ctx, before)
				if err != nil || len(got) != 2 || saysChanged(got["base"]) != "[] trades false launches [] quotes false metadata false trust false" {
					t.Fatalf("%s: %v, %v", step.name, got, err)
				}
				if says := saysChanged(got["bsc"]); says != step.want {
					t.Errorf("after %s changed it says %s", step.name, says)
				}
			}
			got, err := s.ChangedSince(ctx, map[string]int64{"bsc": began["bsc"]})
			if says := saysChanged(got["bsc"]); err != nil || says != "[1 2] trades true launches [1] quotes true metadata true trust true" {
				t.Errorf("since the beginning: %s, %v", says, err)
			}
			if none, err := s.ChangedSince(ctx, nil); err != nil || len(none) != 0 {
				t.Errorf("of no chain: %v, %v", none, err)
			}
		})
	}
}

func saysChanged(c *store.Changed) string {
	numbers := func(list []market.Address) (out []int) {
		for n := range 5 {
			if slices.Contains(list, address(n)) {
				out = append(out, n)
			}
		}
		return out
	}
	return fmt.Sprint(numbers(c.Tokens), " trades ", c.Trades, " launches ", numbers(c.Launches), " quotes ", c.Quotes, " metadata ", c.Metadata, " trust ", c.Trust)
}

// tokensOf is a commit of block n that writes some tokens, by their numbers.
func tokensOf(n int, numbers ...int) *store.Commit {
	c := &store.Commit{Last: header(n), Blocks: []market.Header{header(n)}}
	for _, i := range numbers {
		c.Changes.Tokens = append(c.Changes.Tokens, market.Change[market.Address, market.Token]{Key: address(i), After: &market.Token{Mint: address(i), FirstBlock: uint64(n)}})
	}
	return c
}

// TestCommitsThatTellNothing: nothing is told of a chain unless all of it is: where a commit of an earlier version has no list, or one changed more than it lists.
func TestCommitsThatTellNothing(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := storetest.Open(t, kind)
			l := lease(t, s)
			db := s.Inspect.Database().Write
			exec := func(query string, args ...any) {
				t.Helper()
				if _, err := db.ExecContext(t.Context(), query, args...); err != nil {
					t.Fatal(err)
				}
			}
			told := func(seen int64) (tokens int) {
				t.Helper()
				changed, err := s.ChangedSince(t.Context(), map[string]int64{"base": seen})
				if err != nil {
					t.Fatal(err)
				}
				if changed["base"] == nil {
					return -1
				}
				return len(changed["base"].Tokens)
			}
			wantTold := func(when string, want ...int) {
				t.Helper()
				for seen := range want {
					if got := told(int64(seen)); got != want[seen] {
						t.Errorf("%s: after commit %d changed %d tokens, want %d", when, seen, got, want[seen])
					}
				}
			}
			for n := 1; n <= 4; n++ {
				if err := s.Commit(t.Context(), l, tokensOf(n, 10*n, 10*n+1, 7)); err != nil { // one that each changes
					t.Fatal(err)
				}
			}
			wantTold("all are listed", 9, 7, 5, 3, 0)
			exec("INSERT INTO commits (chain, number, kinds, tokens, launches) SELECT chain, number + 1, kinds, tokens, launches FROM commits WHERE number = 4")
			wantTold("one is of a purged index", 9, 7, 5, 3, 0)
			exec("DELETE FROM commits WHERE number IN (2, 5)")
			wantTold("the second isn't listed", -1, -1, 5, 3, 0)
			exec("DELETE FROM commits WHERE number = 4")
			wantTold("nor is the last", -1, -1, -1, -1, 0)
			exec("DELETE FROM commits WHERE chain = 'base'")
			wantTold("none is", -1, -1, -1, -1, 0)
			for n, many := range []int{commitlog.ListedAtMost, commitlog.ListedAtMost + 1} {
				numbers := make([]int, many)
				for i := range numbers {
					numbers[i] = 1000 + i
				}
				if err := s.Commit(t.Context(), l, tokensOf(5+n, numbers...)); err != nil {
					t.Fatal(err)
				}
				var length int
				if err := db.QueryRowContext(t.Context(), "SELECT length(tokens) FROM commits WHERE number = ?", 5+n).Scan(&length); err != nil {
					t.Fatal(err)
				}
				want := []int{many, 0}[n]
				if listed := length / (1 + market.EVMAddressLen); listed != want || told(int64(4+n)) != []int{many, -1}[n] {
					t.Errorf("a commit of %d tokens lists %d, and %d are told", many, listed, told(int64(4+n)))
				}
			}
			exec("UPDATE commits SET kinds = 0, tokens = ? WHERE number = 6", []byte{20, 1})
			if _, err := s.ChangedSince(t.Context(), map[string]int64{"base": 5}); err == nil || !strings.Contains(err.Error(), "ends within an address of 20 bytes") {
				t.Errorf("a list that is cut off: %v", err)
			}
		})
	}
}

// TestOldCommitsAreDropped: the lists of the newest commits alone are kept, and nothing is told to a reader who has missed more.
func TestOldCommitsAreDropped(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, "sqlite")
	l := lease(t, s)
	const last = commitlog.Kept + 3*commitlog.DroppedAtOnce
	for n := 1; n <= last; n++ {
		if err := s.Commit(t.Context(), l, tokensOf(n, n)); err != nil {
			t.Fatal(err)
		}
	}
	var first, kept int
	if err := s.Inspect.Database().Read.QueryRowContext(t.Context(), "SELECT min(number), count(*) FROM commits").Scan(&first, &kept); err != nil {
		t.Fatal(err)
	}
	if first != last-commitlog.Kept+1 || kept != commitlog.Kept {
		t.Errorf("%d commits are kept, from %d on; want %d", kept, first, commitlog.Kept)
	}
	for seen, want := range map[int64]int{0: -1, last - commitlog.Kept - 1: -1, last - commitlog.Kept: commitlog.Kept, last - 1: 1} {
		changed, err := s.ChangedSince(t.Context(), map[string]int64{"base": seen})
		if err != nil {
			t.Fatal(err)
		}
		if c := changed["base"]; (c == nil) != (want < 0) || c != nil && len(c.Tokens) != want {
			t.Errorf("after commit %d is told %v, want %d tokens", seen, c, want)
		}
	}
}

// TestManyChangedTokens: of a chain on which more tokens have changed than are told, nothing is.
func TestManyChangedTokens(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, "sqlite")
	l := lease(t, s)
	n := 0
	for ; n*commitlog.ListedAtMost <= commitlog.ToldAtMost; n++ {
		c := tokensOf(n + 1)
		for i := range commitlog.ListedAtMost {
			key := poolID(n*commitlog.ListedAtMost + i)
			if n >= 16 { // the numbers of ids end
				key = address((n-16)*commitlog.ListedAtMost + i)
			}
			c.Changes.Tokens = append(c.Changes.Tokens, market.Change[market.Address, market.Token]{Key: key, Before: &market.Token{}})
		}
		if err := s.Commit(t.Context(), l, c); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Commit(t.Context(), l, tokensOf(n+1)); err != nil {
		t.Fatal(err)
	}
	for seen, want := range map[int64]bool{0: false, 1: true} {
		changed, err := s.ChangedSince(t.Context(), map[string]int64{"base": seen})
		if err != nil || (changed["base"] != nil) != want {
			t.Errorf("after commit %d it is told: %v, %v; want %v", seen, changed["base"] != nil, err, want)
		}
	}
}

// TestUnusedIndexes: an index that earlier versions asked isn't made anew, and dropped where it is.
func TestUnusedIndexes(t *testing.T) {
	t.Parallel()
	s, db := onPostgres(t)
	commitUpTo(t, s, lease(t, s), 1, 3)
	for _, when := range []string{"in a new database", "where it was"} {
		var there bool
		if err := db.QueryRowContext(t.Context(), "SELECT to_regclass('tokens_commit') IS NOT NULL").Scan(&there); err != nil || there {
			t.Errorf("%s there is one, %v", when, err)
		}
		must(t, db, "CREATE INDEX IF NOT EXISTS tokens_commit ON tokens (chain, commit_no)")
		if err := schema.DropUnused(t.Context(), s.Inspect.Database(), slog.New(slog.DiscardHandler)); err != nil {
			t.Fatal(err)
		}
	}
}
