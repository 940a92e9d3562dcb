package pnl_test

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/pnl"
)

// having is a trade of a wallet that had so many tokens before the transaction.
func having(tokens int64, tx byte, e pnl.Entry) pnl.Entry {
	e.Before, e.HasBefore, e.Tx = units(tokens), true, market.EVMTx([32]byte{tx})
	return e
}

// TestSentAwayBetweenTrades: what a balance lacks was sent away, and took its part of the cost along.
func TestSentAwayBetweenTrades(t *testing.T) {
	t.Parallel()
	untold := func(e pnl.Entry) pnl.Entry {
		e.Before, e.HasBefore = market.Amount{}, false
		return e
	}
	for name, c := range map[string]struct {
		entries         []pnl.Entry
		realised, moved float64
		excluded        float64
	}{
		"half of it": {
			entries:  []pnl.Entry{having(0, 1, buy(100, 1)), having(50, 2, sell(50, 2))},
			realised: 50, moved: 50,
		},
		"half of it, over a trade that tells nothing": {
			entries:  []pnl.Entry{having(0, 1, buy(100, 1)), untold(having(0, 2, buy(100, 1))), having(100, 3, sell(100, 2))},
			realised: 100, moved: 100,
		},
		"nothing": {
			entries:  []pnl.Entry{having(0, 1, buy(100, 1)), having(100, 2, sell(40, 2)), having(60, 3, sell(60, 2))},
			realised: 100,
		},
		"what came in has no basis": {
			entries:  []pnl.Entry{having(0, 1, buy(100, 1)), having(150, 2, sell(150, 2))},
			realised: 100, excluded: 100,
		},
		"before the first trade nobody knows": {
			entries:  []pnl.Entry{buy(100, 1), having(10, 2, sell(10, 2))},
			realised: 10,
		},
		"an order over two pools": {
			entries: []pnl.Entry{
				having(0, 1, buy(60, 1)), having(0, 1, buy(40, 1)), having(80, 2, sell(30, 2)), having(80, 2, sell(50, 2)), having(0, 3, buy(1, 1)),
			},
			realised: 80, moved: 20,
		},
		"a loan within a transaction": {
			entries: []pnl.Entry{
				having(0, 1, buy(10, 1)), having(10, 2, sell(100, 1)), having(10, 2, buy(100, 1)), having(10, 3, sell(10, 2)),
			},
			realised: 10, excluded: 90,
		},
		"transfers that are told are not found again": {
			entries: []pnl.Entry{
				having(0, 1, buy(100, 1)),
				{Position: of, Kind: pnl.Out, At: noon, Amount: units(40)},
				{Position: of, Kind: pnl.In, At: noon, Amount: units(5)},
				having(65, 2, sell(65, 2)),
			},
			realised: 60, moved: 40, excluded: 10,
		},
	} {
		w, _ := day(c.entries...)
		is(t, name+": realised", w.Realised(), c.realised)
		is(t, name+": moved out", w.MovedOut, c.moved)
		is(t, name+": excluded", w.Excluded, c.excluded)
	}
	w, _ := day(having(0, 1, buy(100, 1)), having(50, 2, sell(50, 2)))
	if !w.MovesAway() {
		t.Error("half of all was moved away, and nothing is said of it")
	}
}

// TestBalancesTellTransfers: the balances before the trades tell a ledger what the transfers themselves would.
func TestBalancesTellTransfers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		o := pnl.Options{Now: now, Spans: []int64{pnl.Day}, Points: 5}
		told, found := pnl.NewLedger(o), pnl.NewLedger(o)
		has := map[byte]uint64{}
		for i := range rapid.IntRange(1, 20).Draw(t, "transactions") {
			at, mint := noon+int64(i), byte(rapid.IntRange(0, 1).Draw(t, "token"))
			position := pnl.Position{Wallet: of.Wallet, Token: token(mint)}
			moves := pnl.Entry{Position: position, Kind: pnl.In, At: at}
			n := rapid.Uint64Range(0, 50).Draw(t, "moved")
			if rapid.Bool().Draw(t, "out") {
				n = min(n, has[mint])
				moves.Kind = pnl.Out
				has[mint] -= n
			} else {
				has[mint] += n
			}
			moves.Amount.SetUint64(n)
			told.Add(&moves)
			before := has[mint]
			for range rapid.IntRange(1, 3).Draw(t, "pools") {
				e := pnl.Entry{
					Position: position, At: at, Tx: market.EVMTx([32]byte{1, byte(i)}), HasUSD: rapid.IntRange(0, 5).Draw(t, "valued") > 0,
					NanoUSD: rapid.Int64Range(0, 1000).Draw(t, "value"),
				}
				n := rapid.Uint64Range(1, 50).Draw(t, "traded")
				if has[mint] > 0 && rapid.Bool().Draw(t, "sell") {
					e.Kind = pnl.Sell
					n = min(n, has[mint])
					has[mint] -= n
				} else {
					has[mint] += n
				}
				e.Amount.SetUint64(n)
				told.Add(&e)
				e.Before.SetUint64(before)
				e.HasBefore = true
				found.Add(&e)
			}
		}
		if a, b := told.Windows(), found.Windows(); !reflect.DeepEqual(a, b) {
			t.Fatalf("transfers give\n%+v\nbalances\n%+v", a, b)
		}
	})
}
