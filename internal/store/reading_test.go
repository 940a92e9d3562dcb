package store_test

import (
	"iter"
	"maps"
	"slices"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// listed is what TestListings expects of a listing.
type listed struct {
	usd float64
	ok  bool
}

// TestListings reads what a search knows of tokens: all of them, and those that a commit changed.
func TestListings(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := storetest.Open(t, kind)
			l := lease(t, s)
			const quote = 900
			token := func(n int) market.Change[market.Address, market.Token] {
				return market.Change[market.Address, market.Token]{Key: address(n), After: &market.Token{Mint: address(n), Symbol: "T", FirstBlock: 1}}
			}
			pool := func(n, base int, price, locked float64, untrusted market.UntrustedReason) market.Change[market.Address, market.Pool] {
				return market.Change[market.Address, market.Pool]{Key: poolID(n), After: &market.Pool{
					ID: poolID(n), Factory: address(901), Token0: address(base), Token1: address(quote), Base: address(base), Quote: address(quote),
					Price: price, Locked: locked, Untrusted: untrusted,
				}}
			}
			first := &store.Commit{Last: header(1), Blocks: []market.Header{header(1)}}
			for n := range 5 {
				first.Changes.Tokens = append(first.Changes.Tokens, token(n))
			}
			first.Changes.Quotes = append(first.Changes.Quotes, market.Change[market.Address, market.QuotePrice]{
				Key: address(quote), After: &market.QuotePrice{Asset: address(quote), USD: 2},
			})
			first.Changes.Pools = append(first.Changes.Pools,
				pool(0, 0, 1, 10, market.Trusted), pool(1, 0, 1, 5, market.Trusted), // two of one token
				pool(2, 1, 1, 100, market.UntrustedHook), // listed, and worth nothing
				pool(3, 2, 0, 100, market.Trusted))       // without a price
			if err := s.Commit(t.Context(), l, first); err != nil {
				t.Fatal(err)
			}
			read := func(walk iter.Seq2[store.Listing, error]) map[market.Address]listed {
				out := map[market.Address]listed{}
				for row, err := range walk {
					if err != nil {
						t.Fatal(err)
					}
					out[row.Mint] = listed{row.LiquidityUSD, row.Listed}
				}
				return out
			}
			if got, want := read(s.Tokens.Listings(t.Context(), "base")), (map[market.Address]listed{address(0): {30, true}, address(1): {0, true}}); !maps.Equal(got, want) {
				t.Errorf("all: %v, want %v", got, want)
			}
			second := &store.Commit{Last: header(2), Blocks: []market.Header{header(2)}}
			second.Changes.Pools = append(second.Changes.Pools, pool(3, 2, 1, 100, market.Trusted), pool(2, 1, 0, 100, market.UntrustedHook))
			second.Changes.Tokens = append(second.Changes.Tokens, token(4))
			if err := s.Commit(t.Context(), l, second); err != nil {
				t.Fatal(err)
			}
			want := map[market.Address]listed{address(2): {200, true}, address(1): {0, false}, address(4): {0, false}}
			if got := read(s.Tokens.ListingsOf(t.Context(), "base", []market.Address{address(2), address(1), address(4), address(77)})); !maps.Equal(got, want) {
				t.Errorf("of some: %v, want %v", got, want)
			}
		})
	}
}

// TestWindows reads candles by spans, and the closes before moments.
func TestWindows(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := storetest.Open(t, kind)
			c := &store.Commit{Last: header(1), Blocks: []market.Header{header(1)}}
			for pool := range 3 {
				for _, open := range []int64{60, 120, 300, 3600} {
					for _, interval := range []int32{60, 300} {
						if open%int64(interval) != 0 {
							continue
						}
						k := market.Candle{
							CandleKey: market.CandleKey{Pool: poolID(pool), Interval: interval, Open: open}, USD: market.OHLC{Close: float64(open)},
							VolumeUSD: huge(uint64(pool)), Buys: open, Sells: 1,
						}
						c.Changes.Candles = append(c.Changes.Candles, market.Change[market.CandleKey, market.Candle]{Key: k.CandleKey, After: &k})
					}
				}
			}
			if err := s.Commit(t.Context(), lease(t, s), c); err != nil {
				t.Fatal(err)
			}
			got, err := s.Candles.Activities(t.Context(), "base", []market.Address{poolID(0), poolID(2), poolID(7)},
				[]market.CandleSpan{{Interval: 60, From: 60, To: 300}, {Interval: 300, From: 300, To: 3600}})
			if err != nil {
				t.Fatal(err)
			}
			sums := map[market.Address]int64{}
			for _, a := range got {
				sums[a.Pool] += a.Buys
				if a.Sells != 1 || a.VolumeUSD.IsZero() {
					t.Errorf("a candle tells %+v", a)
				}
			}
			if want := map[market.Address]int64{poolID(0): 480, poolID(2): 480}; !maps.Equal(sums, want) {
				t.Errorf("sums are %v, want %v", sums, want)
			}
			moments := []store.PoolTime{{Pool: poolID(0), At: 60}, {Pool: poolID(0), At: 61}, {Pool: poolID(1), At: 3600}, {Pool: poolID(7), At: 3600}}
			found, err := s.Candles.ClosesBefore(t.Context(), "base", moments)
			closes := map[store.PoolTime]float64{}
			for moment, c := range found {
				closes[moment] = c.USD
				if c.Open >= moment.At {
					t.Errorf("before %d: %+v", moment.At, c)
				}
			}
			if want := map[store.PoolTime]float64{moments[1]: 60, moments[2]: 300}; err != nil || !maps.Equal(closes, want) {
				t.Errorf("closes are %v, %v; want %v", closes, err, want)
			}
		})
	}
}

// TestFlows reads the trades in trusted pools that have a value, with the price that their block closed at where the pool
// prices the token.
func TestFlows(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := storetest.Open(t, kind)
			l := lease(t, s)
			for n := 1; n <= 3; n++ {
				c := &store.Commit{Last: header(n), Blocks: []market.Header{header(n)}}
				c.Changes.Tokens = []market.Change[market.Address, market.Token]{
					{Key: address(n), After: &market.Token{Mint: address(n), Pool: poolID(4 * n)}},
				}
				for i, trader := range []int{50, 51, 52, 53} { // in the reference, without a value, in another pool, in an untrusted one
					pool := &market.Pool{ID: poolID(4*n + i), Factory: address(8), Token0: address(n), Token1: address(9), Base: address(n), Quote: address(9)}
					if i == 3 {
						pool.Untrusted = market.UntrustedHook
					}
					c.Changes.Pools = append(c.Changes.Pools, market.Change[market.Address, market.Pool]{Key: pool.ID, After: pool})
					c.Changes.Trades = append(c.Changes.Trades, market.Trade{
						Block: uint64(n), LogIndex: uint64(i), Time: header(n).Time, Pool: pool.ID, Base: address(n), Trader: address(trader), Sell: n == 2,
						NanoUSD: int64(n), HasUSD: i != 1, CloseUSD: float64(n) / 8,
					})
				}
				if err := s.Commit(t.Context(), l, c); err != nil {
					t.Fatal(err)
				}
			}
			read := func(block uint64, since int64) (out []store.Flow) {
				for f, err := range s.Trades.Flows(t.Context(), "base", block, since) {
					if err != nil {
						t.Fatal(err)
					}
					out = append(out, f)
				}
				return out
			}
			var want []store.Flow
			for n := 2; n <= 3; n++ {
				want = append(want, store.Flow{
					Block: uint64(n), Time: header(n).Time, Base: address(n), Trader: address(50), Sell: n == 2, NanoUSD: int64(n), CloseUSD: float64(n) / 8,
				}, store.Flow{
					Block: uint64(n), Time: header(n).Time, Base: address(n), Trader: address(52), Sell: n == 2, NanoUSD: int64(n),
				})
			}
			if got := read(2, 0); !slices.Equal(got, want) {
				t.Errorf("from block 2 on: %+v, want %+v", got, want)
			}
			if got := read(0, header(3).Time); !slices.Equal(got, want[2:]) {
				t.Errorf("since block 3's time: %+v, want %+v", got, want[2:])
			}
		})
	}
}
