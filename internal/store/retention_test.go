package store_test

import (
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// TestPruneInPieces lets most of a chain's trades and minutes go: no step takes more than a piece, and nothing goes
// that isn't final.
func TestPruneInPieces(t *testing.T) {
	t.Parallel()
	const blocks, perBlock, piece, final = 40, 400, 5000, 33
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := storetest.Open(t, kind)
			l := lease(t, s)
			for n := 1; n <= blocks; n++ {
				c := &store.Commit{Last: header(n), Blocks: []market.Header{header(n)}}
				for i := range perBlock {
					c.Changes.Trades = append(c.Changes.Trades, market.Trade{
						Block: uint64(n), LogIndex: uint64(i), Time: header(n).Time, Pool: poolID(1), Base: address(1), Trader: address(2),
					})
					k := market.CandleKey{Pool: poolID(i), Interval: 60, Open: int64(n) * 60}
					c.Changes.Candles = append(c.Changes.Candles, market.Change[market.CandleKey, market.Candle]{
						Key: k, After: &market.Candle{CandleKey: k},
					})
				}
				if err := s.Commit(t.Context(), l, c); err != nil {
					t.Fatal(err)
				}
			}
			count := func() (trades, minutes int) {
				rows := derivedRows(t, s)
				return len(rows["trades"]), len(rows["candles"])
			}
			// The trades of blocks below 36 are older, but only those up to 33 are final.
			p := store.Pruning{TradesBefore: header(36).Time, MinutesBefore: 36 * 60, Final: final}
			steps := 0
			for more := true; more; steps++ {
				trades, minutes := count()
				var err error
				if more, err = s.Upkeep.Prune(t.Context(), l, p); err != nil {
					t.Fatal(err)
				}
				left, leftMinutes := count()
				if trades-left > piece+perBlock || minutes-leftMinutes > piece {
					t.Errorf("a step took %d trades and %d candles; want at most %d and %d", trades-left, minutes-leftMinutes, piece+perBlock, piece)
				}
				if more && trades == left && minutes == leftMinutes {
					t.Fatal("a step took nothing and says that there is more")
				}
			}
			trades, minutes := count()
			if trades != (blocks-final)*perBlock || minutes != (blocks-35)*perBlock || steps < 3 {
				t.Errorf("after %d steps %d trades and %d candles are left; want %d and %d", steps, trades, minutes,
					(blocks-final)*perBlock, (blocks-35)*perBlock)
			}
			if oldest, err := s.Inspect.Trades(t.Context(), "base", 0, 0); err != nil || oldest[0].Block != final+1 {
				t.Errorf("the oldest trade is of block %d, %v; want %d", oldest[0].Block, err, final+1)
			}
		})
	}
}
