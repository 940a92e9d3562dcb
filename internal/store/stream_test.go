package store_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// streamed makes commit n, which brings two trades and a launch.
func streamed(n int, before map[string]*market.Changes) *store.Commit {
	c := commitOf(n, 4, before)
	for i := range 2 {
		e := &c.Changes.Entries[i]
		c.Changes.Stream = append(c.Changes.Stream, market.StreamItem{
			Kind: market.StreamTrade, Token: e.Token, Time: e.Time, Trade: market.StreamTradeRef{Wallet: e.Wallet, Member: 7, Block: e.Block, Tx: e.Tx, Sell: e.Kind == market.Sold},
		})
	}
	c.Changes.Stream = append(c.Changes.Stream, market.StreamItem{Kind: market.StreamLaunch, Token: address(3), Time: header(n).Time})
	return c
}

// shortly are items as texts: the number, the kind, and the block of a trade or the token of a launch or what is taken back.
func shortly(items []store.StreamItem) (out []string) {
	for _, it := range items {
		switch {
		case it.Retracts > 0:
			out = append(out, fmt.Sprintf("%d %s not %d", it.Number, it.Kind, it.Retracts))
		case it.Kind == market.StreamReset:
			out = append(out, fmt.Sprintf("%d %s", it.Number, it.Kind))
		case it.Kind == market.StreamTrade:
			out = append(out, fmt.Sprintf("%d %s %d/%d of %d", it.Number, it.Kind, it.Trade.Block, map[bool]int{true: 1}[it.Trade.Sell], it.Trade.Member))
		default:
			out = append(out, fmt.Sprintf("%d %s %s", it.Number, it.Kind, it.Token))
		}
	}
	return out
}

func wholeStream(t *testing.T, s *store.Store) []string {
	t.Helper()
	items, err := s.Stream.After(t.Context(), 0, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	return shortly(items)
}

func wantStream(t *testing.T, s *store.Store, what string, want ...string) {
	t.Helper()
	if got := wholeStream(t, s); !slices.Equal(got, want) {
		t.Errorf("%s the stream has\n%q\nwant\n%q", what, got, want)
	}
}

// TestStream has blocks bring items, and a reorg take them back.
func TestStream(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			s := storetest.Open(t, kind)
			l := lease(t, s)
			before := map[string]*market.Changes{}
			history := streamed(1, before)
			history.Undo = false
			for _, c := range []*store.Commit{history, streamed(2, before)} {
				if err := s.Commit(ctx, l, c); err != nil {
					t.Fatal(err)
				}
			}
			launch := address(3).String()
			wantStream(t, s, "after history and a block", "1 trade 2/0 of 7", "2 trade 2/1 of 7", "3 launch "+launch)
			third := streamed(3, before)
			third.Changes.Stream = third.Changes.Stream[:1]
			if err := s.Commit(ctx, l, third); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Rewind(ctx, l, 2); err != nil {
				t.Fatal(err)
			}
			wantStream(t, s, "after a reorg", "1 trade 2/0 of 7", "2 trade 2/1 of 7", "3 launch "+launch, "5 trade not 4")
			if err := s.Commit(ctx, l, third); err != nil {
				t.Fatal(err)
			}
			wantStream(t, s, "after its return", "1 trade 2/0 of 7", "2 trade 2/1 of 7", "3 launch "+launch, "5 trade not 4", "6 trade 3/0 of 7")
			if last, err := s.Stream.Last(ctx); err != nil || last != 6 {
				t.Errorf("the last number: %d, %v; want 6", last, err)
			}
			for what, c := range map[string]struct {
				kind  market.StreamKind
				below int64
				token market.Address
				limit int
				want  []string
			}{
				"trades":            {market.StreamTrade, 1 << 53, market.Address{}, 2, []string{"6 trade 3/0 of 7", "2 trade 2/1 of 7"}},
				"older trades":      {market.StreamTrade, 2, market.Address{}, 2, []string{"1 trade 2/0 of 7"}},
				"launches":          {market.StreamLaunch, 1 << 53, market.Address{}, 2, []string{"3 launch " + launch}},
				"trades of a token": {market.StreamTrade, 1 << 53, address(1), 2, []string{"2 trade 2/1 of 7"}},
			} {
				got, err := s.Stream.Before(ctx, c.below, c.kind, c.token, c.limit)
				if err != nil || !slices.Equal(shortly(got), c.want) {
					t.Errorf("%s: %q, %v; want %q", what, shortly(got), err, c.want)
				}
			}
		})
	}
}

// TestStreamTrades adds up what the entries of a trade say.
func TestStreamTrades(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			s := storetest.Open(t, kind)
			c := streamed(1, map[string]*market.Changes{})
			bought := &c.Changes.Entries[0]
			bought.Counts, bought.Amount = true, amount(8)
			more, sold, other := *bought, *bought, *bought // in another pool; another trade of the same transaction; another transaction
			more.Seq, more.Pool, more.NanoUSD, more.Amount = 10, poolID(9), bought.NanoUSD+1, amount(5)
			sold.Seq, sold.Kind, sold.Counts = 11, market.Sold, false
			sold.Proceeds, sold.Cost = market.NanoUSD(30), market.NanoUSD(10)
			other.Seq, other.Tx = 12, market.EVMTx(hash(99))
			c.Changes.Entries = append(c.Changes.Entries, more, sold, other)
			c.Changes.Stream = append(c.Changes.Stream, market.StreamItem{
				Kind: market.StreamTrade, Token: sold.Token, Time: sold.Time, Trade: market.StreamTradeRef{Wallet: sold.Wallet, Member: 7, Block: 1, Tx: sold.Tx, Sell: true},
			}, market.StreamItem{
				Kind: market.StreamTrade, Token: address(77), Time: sold.Time, Trade: market.StreamTradeRef{Wallet: sold.Wallet, Member: 7, Block: 1, Tx: other.Tx},
			})
			if err := s.Commit(ctx, lease(t, s), c); err != nil {
				t.Fatal(err)
			}
			items, err := s.Stream.After(ctx, 0, 10)
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.Stream.Trades(ctx, items)
			if err != nil {
				t.Fatal(err)
			}
			want := store.StreamTrade{
				Amount: amount(13), NanoUSD: 15, Counts: true, Proceeds: market.NanoUSD(18), Pool: poolID(9),
			}
			if got[1] != want {
				t.Errorf("a purchase in two pools: %+v; want %+v", got[1], want)
			}
			want = store.StreamTrade{
				Amount: amount(8), NanoUSD: 7, Proceeds: market.NanoUSD(30), Cost: market.NanoUSD(10), Pool: bought.Pool,
			}
			if got[4] != want {
				t.Errorf("a sale: %+v; want %+v", got[4], want)
			}
			if _, there := got[5]; there || len(got) != 3 {
				t.Errorf("a trade without entries is told: %+v", got)
			}
		})
	}
}

// TestStreamOfAReplacedIndex has another index take over, which lacks a trade and a launch that were told, and has a block more.
func TestStreamOfAReplacedIndex(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			s := storetest.Open(t, kind)
			l := lease(t, s)
			if err := s.Commit(ctx, l, streamed(1, map[string]*market.Changes{})); err != nil {
				t.Fatal(err)
			}
			if err := s.Indexes.Begin(ctx, "base", 2); err != nil {
				t.Fatal(err)
			}
			next, err := s.Leases.Acquire(ctx, chainconfig.IndexID("base", 2), "test", time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			before := map[string]*market.Changes{}
			first, second := streamed(1, before), streamed(2, before)
			first.Changes.Entries = slices.Delete(first.Changes.Entries, 1, 2)
			first.Changes.Launches[3].After.Unvalued = true
			second.Changes.Launches[3].After.Unvalued = true
			second.Changes.Launches[2].After.Block = 2
			unvalued := second.Changes.Entries[0] // nobody knows the value of a part of it
			unvalued.Seq, unvalued.Tx = 20, market.EVMTx(hash(50))
			part := unvalued
			part.Seq, part.HasUSD, part.NanoUSD = 21, false, 0
			early := unvalued // before the wallet was the member's
			early.Seq, early.Time, early.Tx = 22, 4, market.EVMTx(hash(51))
			second.Changes.Entries = append(second.Changes.Entries, unvalued, part, early)
			for _, c := range []*store.Commit{first, second} {
				if err := s.Commit(ctx, next, c); err != nil {
					t.Fatal(err)
				}
			}
			launch := address(3).String()
			told := []string{"1 trade 1/0 of 7", "2 trade 1/1 of 7", "3 launch " + launch}
			wantStream(t, s, "while the index is made", told...)
			if _, err := s.Rewind(ctx, next, 1); err != nil {
				t.Fatal(err)
			}
			if err := s.Commit(ctx, next, second); err != nil {
				t.Fatal(err)
			}
			wantStream(t, s, "after a reorg of the one that is made", told...)
			if err := s.Indexes.TakeOver(ctx, next, 2); err != nil {
				t.Fatal(err)
			}
			wantStream(t, s, "after it took over", told[0], "4 trade not 2", "5 launch not 3", "6 trade 2/0 of 2", "7 trade 2/1 of 2")
		})
	}
}

// TestStreamOfForgottenWallets takes the items of a wallet back that isn't a member's any more, so many at once, and no others.
func TestStreamOfForgottenWallets(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			s := storetest.Open(t, kind)
			l := lease(t, s)
			c := streamed(1, map[string]*market.Changes{})
			for i := range 500 {
				it := c.Changes.Stream[0]
				it.Trade.Tx = market.EVMTx(hash(100 + i))
				c.Changes.Stream = append(c.Changes.Stream, it)
			}
			if err := s.Commit(ctx, l, c); err != nil {
				t.Fatal(err)
			}
			counts := []int{}
			for more := true; more; {
				var err error
				if more, err = s.Wallets.Forget(ctx, l, address(600)); err != nil {
					t.Fatal(err)
				}
				left, err := s.Stream.Before(ctx, 1<<53, market.StreamTrade, market.Address{}, 1000)
				if err != nil {
					t.Fatal(err)
				}
				counts = append(counts, len(left))
			}
			if !slices.Equal(counts, []int{2, 1, 1}) {
				t.Errorf("trades that are left after each step: %v; want 2, 1, 1", counts)
			}
			all := wholeStream(t, s)
			if len(all) != 2+501 || all[0] != "2 trade 1/1 of 7" || all[2] != "504 trade not 1" || all[502] != "1004 trade not 503" {
				t.Errorf("the stream has %d rows, from %q to %q", len(all), all[:3], all[len(all)-1])
			}
		})
	}
}

// TestStreamIsPruned deletes what is older than the time that is given, of whatever chain.
func TestStreamIsPruned(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			s := storetest.Open(t, kind)
			l := lease(t, s)
			other, err := s.Leases.Acquire(ctx, "bsc", "test", time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			before := map[string]*market.Changes{}
			if err := errors.Join(s.Commit(ctx, l, streamed(1, before)), s.Commit(ctx, l, streamed(2, before)), s.Commit(ctx, other, streamed(1, map[string]*market.Changes{}))); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Upkeep.Prune(ctx, l, store.Pruning{StreamBefore: header(2).Time, Final: 2}); err != nil {
				t.Fatal(err)
			}
			launch := address(3).String()
			wantStream(t, s, "after pruning", "4 trade 2/0 of 7", "5 trade 2/1 of 7", "6 launch "+launch)
		})
	}
}

// TestStreamNumbersAfterAFailover loses a commit whose numbers readers have seen: none of them is given to anything else.
func TestStreamNumbersAfterAFailover(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			dsn := storetest.DSN(t, kind)
			s := storetest.OpenAt(t, dsn)
			former := lease(t, s)
			before := map[string]*market.Changes{}
			if err := s.Commit(ctx, former, streamed(1, before)); err != nil {
				t.Fatal(err)
			}
			restore := storetest.Snapshot(t, dsn)
			if err := s.Commit(ctx, former, streamed(2, before)); err != nil {
				t.Fatal(err)
			}
			restore()
			l := lease(t, s)
			if err := s.Leases.SkipNumbers(ctx, l, former); err != nil {
				t.Fatal(err)
			}
			if err := s.Commit(ctx, l, streamed(2, map[string]*market.Changes{})); err != nil {
				t.Fatal(err)
			}
			got := wholeStream(t, s)
			if len(got) != 7 || got[3] != "7 reset" || got[4] != "8 trade 2/0 of 7" {
				t.Errorf("after the failover the stream has %q; want that it begins anew at 7, and then the block", got)
			}
		})
	}
}
