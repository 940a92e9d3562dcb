package indexer

import (
	"slices"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// paidBlock is a block an hour after the one before that was read with its transactions. They pay some of the traders.
func (r *rewinder) paidBlock() *market.Block {
	b := r.block()
	b.Time, b.HasPayments = 1_700_000_000+3600*int64(b.Number), true
	for range 100 {
		b.Payments = append(b.Payments, market.Payment{From: madeAddress(7, r.rng.IntN(3)), To: madeAddress(5, r.rng.IntN(1000)), Amount: amount(uint64(r.rng.IntN(3)))})
	}
	for i := range b.Txs {
		if e, ok := b.Txs[i].Logs[1].Event.(market.CurveTrade); ok && i%2 == 0 {
			if b.Txs[i].Sender, b.Txs[i].Nonce = e.Trader, uint64(i/2%3); b.Txs[i].Nonce == 0 {
				b.Firsts = append(b.Firsts, e.Trader)
			}
		}
	}
	return b
}

func (r *rewinder) allTrades(t *testing.T) []market.Trade {
	t.Helper()
	trades, err := r.store.Inspect.Trades(t.Context(), r.cfg.ID, 0, 0)
	r.must(t, err)
	return trades
}

// TestFundingsAfterRestartsAndReorgs: trades tell the same of where their traders' coins came from, whether the blocks are committed straight on, or with restarts
// and with blocks of other branches that are taken back.
func TestFundingsAfterRestartsAndReorgs(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			straight, other := newRewinder(t, kind, 20, 20), newRewinder(t, kind, 20, 20)
			straight.trades, other.trades = 20, 20
			for n := range 70 {
				b := straight.paidBlock()
				b.HasPayments = n != 5
				straight.commitBlock(t, b)
				if n%7 == 3 {
					back := other.state.Last()
					for i := range 1 + n%5 {
						lost := other.paidBlock()
						lost.HasPayments = (n+i)%4 > 0
						other.commitBlock(t, lost)
					}
					if n%2 == 0 {
						other.must(t, other.resume(t.Context()))
					}
					other.must(t, other.goBackTo(t.Context(), back))
				}
				other.commitBlock(t, b)
				if n%6 == 0 {
					other.must(t, other.resume(t.Context()))
				}
			}
			want, got := straight.allTrades(t), other.allTrades(t)
			if !slices.Equal(want, got) {
				t.Errorf("straight on there are %d trades and otherwise %d, or they tell different things", len(want), len(got))
			}
			states, ages := map[market.FundingState]int{}, map[market.AgeState]int{}
			for _, trade := range want {
				states[trade.Funding.State]++
				ages[trade.Funding.Age]++
			}
			if len(states) != 3 || len(ages) != 3 {
				t.Errorf("the trades have the states %v and the ages %v: the test lacks some", states, ages)
			}
		})
	}
}

// TestPaymentsAreRecalledInPieces: a session that begins takes up all payments that the database has, however many blocks they are of.
func TestPaymentsAreRecalledInPieces(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			r := newRewinder(t, kind, 1, 1)
			r.trades = 1
			first := r.state.Last().Number + 1
			past := &store.Commit{Last: r.header(first + 2*paymentsAtOnce - 1)}
			for n := range uint64(2 * paymentsAtOnce) {
				h := r.header(first + n)
				if n == 2*paymentsAtOnce-1 {
					h = past.Last
				}
				b := market.BlockPayments{Number: h.Number, Hash: h.Hash, Time: h.Time}
				if n == 1 {
					for trader := range 1000 {
						b.Payments = append(b.Payments, market.Payment{From: madeAddress(7, 1), To: madeAddress(5, trader), Amount: amount(1)})
					}
				}
				past.Changes.Payments = append(past.Changes.Payments, b)
			}
			past.Blocks = []market.Header{past.Last}
			r.must(t, r.store.Commit(t.Context(), r.lease, past))
			r.must(t, r.resume(t.Context()))
			b := r.block()
			b.HasPayments = true
			r.commitBlock(t, b)
			trades := r.allTrades(t)
			want := market.Funding{State: market.FundingSeen, Funder: madeAddress(7, 1), At: past.Changes.Payments[1].Time}
			if len(trades) != 1 || trades[0].Funding != want {
				t.Errorf("the trades are %+v, want one with the funding %+v", trades, want)
			}
		})
	}
}
