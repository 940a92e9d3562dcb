package derive_test

import (
	"maps"
	"testing"

	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// settled is what a trade should say of its trader: what the trade changed (0 is the pool's amount), and what there was before.
type settled struct {
	trader         market.Address
	amount, before market.Amount
	told           bool
}

func (b *bench) wantSettled(name string, want ...settled) {
	b.t.Helper()
	got := b.db.trades[max(len(b.db.trades)-len(want), 0):]
	if len(got) != len(want) {
		b.t.Fatalf("%s: %d trades, want %d", name, len(got), len(want))
	}
	for i := range got {
		is := settled{got[i].Trader, got[i].TraderAmount, got[i].TraderBefore, got[i].HasTraderBefore}
		if is != want[i] {
			b.t.Errorf("%s: trade %d of %s says %s of %s (%v), want %s, %s of %s (%v)", name, i, who(is.trader), is.amount.Dec(), is.before.Dec(), is.told,
				who(want[i].trader), want[i].amount.Dec(), want[i].before.Dec(), want[i].told)
		}
	}
}

// TestSettle: what a trade did to its trader's balance, and what that was before the transaction. poolA is a pair of dog and WETH,
// poolC one of dog and USDC.
func TestSettle(t *testing.T) {
	t.Parallel()
	buy := func(pool market.Address, tokens uint64) market.Event {
		return swapped(pool, out(e18(tokens)), in(e6(tokens)), router, alice)
	}
	sell := func(pool market.Address, tokens uint64) market.Event {
		return swapped(pool, in(e18(tokens)), out(e6(tokens)), router, alice)
	}
	nought := raw(0)
	b := stage(t, followAll)
	b.next(12, nil, tx(pair(poolA, dog, weth), pair(poolC, dog, usdc), moved(dog, nobody, poolA, e18(9000)), moved(dog, nobody, poolC, e18(9000))))

	b.next(12, nil, tx(moved(dog, poolA, alice, e18(100)), buy(poolA, 100)))
	b.wantSettled("a plain buy", settled{alice, nought, nought, true})
	b.next(12, nil, tx(moved(dog, poolA, collector, e18(30)), moved(dog, poolA, alice, e18(70)), buy(poolA, 100)))
	b.wantSettled("a tax of 30 %", settled{alice, e18(70), e18(100), true})
	b.next(12, nil, tx(moved(dog, alice, carol, e18(50))))
	b.next(12, nil, tx(moved(dog, alice, collector, e18(6)), moved(dog, alice, poolA, e18(14)), sell(poolA, 14)))
	b.wantSettled("a taxed sell after a transfer", settled{alice, e18(20), e18(120), true})
	b.next(12, nil,
		tx(moved(dog, poolA, alice, e18(10)), buy(poolA, 10)),
		tx(moved(dog, alice, carol, e18(5))),
		tx(moved(dog, alice, poolC, e18(1)), sell(poolC, 1)))
	b.wantSettled("two transactions of a block, a transfer between", settled{alice, nought, e18(100), true}, settled{alice, nought, e18(105), true})
	b.next(12, nil, tx(
		moved(dog, poolA, router, e18(60)), buy(poolA, 60), moved(dog, poolC, router, e18(30)), buy(poolC, 30),
		moved(dog, router, collector, e18(9)), moved(dog, router, alice, e18(81))))
	b.wantSettled("over two pools, the router keeps a tenth", settled{alice, e18(54), e18(104), true}, settled{alice, e18(27), e18(104), true})
	b.next(12, nil, tx(moved(dog, poolA, alice, e18(60)), buy(poolA, 60), moved(dog, alice, poolC, e18(20)), sell(poolC, 20)))
	b.wantSettled("both ways", settled{alice, nought, e18(185), true}, settled{alice, nought, e18(185), true})
	b.next(12, nil, tx(moved(dog, poolA, alice, e18(60)), moved(dog, carol, alice, e18(5)), buy(poolA, 60)))
	b.wantSettled("more came than the pool gave", settled{alice, nought, e18(225), true})
	b.next(12, nil, tx(moved(dog, alice, poolA, e18(290)), sell(poolA, 290)))
	b.wantSettled("all that there is", settled{alice, nought, e18(290), true})
	b.next(12, nil, tx(moved(dog, poolA, alice, e18(3)), moved(dog, alice, bob, e18(3)), moved(weth, alice, poolA, e18(1)), buy(poolA, 3)))
	b.wantSettled("bought for another", settled{bob, nought, nought, true})
	b.next(12, nil, tx(moved(dog, alice, bob, e18(1)))) // more than there is
	b.wantHolders(dog, market.HoldersUnavailable, market.ReasonNegative, 0)
	b.next(12, nil, tx(moved(dog, poolA, collector, e18(30)), moved(dog, poolA, alice, e18(70)), buy(poolA, 100)))
	b.wantSettled("a token whose transfers don't add up", settled{alice, e18(70), nought, false})
}

// TestSettleOfSeveralTradersAndTokens has one transaction in which alice buys two tokens and bob buys one of them, each taxed.
func TestSettleOfSeveralTradersAndTokens(t *testing.T) {
	t.Parallel()
	b := stage(t, followAll)
	b.next(12, nil, tx(
		pair(poolA, dog, usdc), pair(poolB, dog, weth), pair(poolC, cat, usdc),
		moved(dog, nobody, poolA, e18(9000)), moved(dog, nobody, poolB, e18(9000)), moved(cat, nobody, poolC, e18(9000)),
		moved(dog, nobody, alice, e18(1)), moved(cat, nobody, alice, e18(2)), moved(dog, nobody, bob, e18(3))))
	b.next(12, nil, tx(
		moved(dog, poolA, collector, e18(30)), moved(dog, poolA, alice, e18(70)), swapped(poolA, out(e18(100)), in(e6(1)), router, alice),
		moved(cat, poolC, collector, e18(20)), moved(cat, poolC, alice, e18(80)), swapped(poolC, out(e18(100)), in(e6(1)), router, alice),
		moved(dog, poolB, collector, e18(10)), moved(dog, poolB, bob, e18(90)), swapped(poolB, out(e18(100)), in(e18(1)), router, bob)))
	b.wantSettled("three purchases", settled{alice, e18(70), e18(1), true}, settled{alice, e18(80), e18(2), true}, settled{bob, e18(90), e18(3), true})
}

// TestSettleOfQuotesAndLatecomers: quote assets are no positions, and a balance is told of tokens alone whose past did not have to be
// read first.
func TestSettleOfQuotesAndLatecomers(t *testing.T) {
	t.Parallel()
	b := newBench(t, followAll)
	late := market.TokenFact{Token: dog, HasDecimals: true, Decimals: 18}
	b.next(12, append(facts(usdc, weth), late), tx(pair(poolD, weth, usdc), synced(poolD, e18(10_000), e6(20_000_000)), moved(weth, nobody, poolD, e18(100)),
		pair(poolC, dog, usdc), moved(dog, nobody, poolC, e18(100))))
	b.next(12, nil, tx(moved(weth, poolD, alice, e18(1)), moved(weth, poolD, collector, e18(1)), swapped(poolD, out(e18(2)), in(e6(2)), router, alice)))
	b.wantSettled("a quote asset", settled{trader: alice})
	buy := tx(moved(dog, poolC, alice, e18(2)), moved(dog, poolC, collector, e18(1)), swapped(poolC, out(e18(3)), in(e6(3)), router, alice))
	b.next(12, nil, buy)
	b.wantSettled("while the past is read", settled{trader: alice, amount: e18(2)})
	b.merge(t, dog, b.last.Number-2, map[market.Address]market.Amount{poolC: e18(100)}, false)
	b.next(12, nil, buy)
	current(b, dog, 2)
	b.wantSettled("once it is read", settled{trader: alice, amount: e18(2)})
	// A pair's own token that trades elsewhere: its transfers aren't booked.
	b.next(12, facts(poolC), tx(pair(poolB, poolC, usdc), moved(poolC, nobody, poolB, e18(9))))
	b.next(12, nil, tx(moved(poolC, poolB, alice, e18(2)), swapped(poolB, out(e18(2)), in(e6(2)), router, alice)))
	b.next(12, nil, tx(moved(poolC, alice, poolB, e18(2)), swapped(poolB, in(e18(2)), out(e6(2)), router, alice)))
	b.wantSettled("a liquidity token", settled{trader: alice}, settled{trader: alice})
}

// TestBeforesAreSums: what a trade says of its trader's balance before is the sum of all transfers before its transaction, from the
// block on whose facts say that nobody had any of the token before it.
func TestBeforesAreSums(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		blocks, c := drawStory(t)
		x := newIndexer(t, c, 100_000)
		batched(t, x, blocks, func() int { return rapid.IntRange(1, 9).Draw(t, "batch") }, false)
		of := map[market.TxID][]market.Trade{}
		for i := range x.db.trades {
			of[x.db.trades[i].Tx] = append(of[x.db.trades[i].Tx], x.db.trades[i])
		}
		sums := map[market.BalanceKey]market.SignedAmount{}
		for i := range blocks {
			for _, f := range blocks[i].Facts {
				if f, ok := f.(market.TokenFact); ok {
					maps.DeleteFunc(sums, func(k market.BalanceKey, _ market.SignedAmount) bool { return k.Token == f.Token })
				}
			}
			for k := range blocks[i].Txs {
				for _, trade := range of[blocks[i].Txs[k].ID] {
					if !trade.TraderAmount.IsZero() && trade.Sell != trade.BaseAmount.Lt(&trade.TraderAmount) {
						t.Fatalf("a trader who gives less or gets more than the pool: %+v", trade)
					}
					if !trade.HasTraderBefore {
						continue
					}
					if sum := sums[market.BalanceKey{Token: trade.Base, Account: trade.Trader}]; sum.Neg || sum.Abs != trade.TraderBefore {
						t.Fatalf("before it there was %v%s: %+v", sum.Neg, sum.Abs.Dec(), trade)
					}
				}
				sumUp(sums, &blocks[i].Txs[k])
			}
		}
	})
}

// sumUp adds a transaction's transfers to the sums; the wrapped coin is nobody's position.
func sumUp(sums map[market.BalanceKey]market.SignedAmount, tx *market.Tx) {
	for _, l := range tx.Logs {
		e, ok := l.Event.(market.Transfer)
		if !ok {
			continue
		}
		for account, amount := range map[market.Address]market.SignedAmount{
			e.From: {Abs: e.Amount, Neg: !e.Amount.IsZero()}, e.To: {Abs: e.Amount},
		} {
			if e.From != e.To {
				k := market.BalanceKey{Token: e.Token, Account: account}
				sums[k] = sums[k].Add(amount)
			}
		}
	}
}

// asTold are transactions whose transfers are told as the changes of balances that they make.
func asTold(txs [][]market.Event) [][]market.Event {
	told := make([][]market.Event, len(txs))
	for i, tx := range txs {
		for _, event := range tx {
			e, isTransfer := event.(market.Transfer)
			if !isTransfer {
				told[i] = append(told[i], event)
				continue
			}
			for _, c := range []market.BalanceChange{
				{Token: e.Token, Owner: e.From, Change: market.SignedAmount{Abs: e.Amount, Neg: true}},
				{Token: e.Token, Owner: e.To, Change: market.SignedAmount{Abs: e.Amount}},
			} {
				if !c.Owner.IsNone() {
					told[i] = append(told[i], c)
				}
			}
		}
	}
	return told
}

// TestToldBalances: changes of balances derive the same as the transfers that make them: balances, holders, supplies, traders.
func TestToldBalances(t *testing.T) {
	t.Parallel()
	logged, told := stage(t, followAll), stage(t, followAll)
	next := func(txs ...[]market.Event) {
		t.Helper()
		logged.next(12, nil, txs...)
		told.next(12, nil, asTold(txs)...)
		if !maps.Equal(logged.db.balances, told.db.balances) || !maps.Equal(logged.db.tokens, told.db.tokens) {
			t.Fatalf("told: %+v\n%+v\nlogged: %+v\n%+v", told.db.tokens, told.db.balances, logged.db.tokens, logged.db.balances)
		}
		for i, trade := range logged.db.trades {
			if is := told.db.trades[i]; is.Trader != trade.Trader || is.TraderAmount != trade.TraderAmount || is.TraderBefore != trade.TraderBefore {
				t.Fatalf("trade %d is %+v, logged %+v", i, is, trade)
			}
		}
	}
	buy := swapped(poolA, out(e18(100)), in(e6(100)), router, alice)
	next(tx(pair(poolA, dog, weth), moved(dog, nobody, poolA, e18(9000))))
	next(tx(moved(dog, poolA, alice, e18(100)), buy))
	next(tx(moved(dog, poolA, collector, e18(30)), moved(dog, poolA, alice, e18(70)), buy))                         // a tax
	next(tx(moved(dog, alice, carol, e18(50)), moved(dog, alice, nobody, e18(1)), moved(dog, nobody, bob, e18(2)))) // sent, burnt and minted
	next(tx(moved(dog, alice, alice, e18(5))), tx(moved(dog, carol, bob, e18(50))))                                 // to oneself; all of it
	next(tx(moved(dog, alice, poolA, e18(100)), swapped(poolA, in(e18(100)), out(e6(100)), router, alice)))
	next(tx(moved(dog, carol, bob, e18(1)))) // more than there is
	told.wantHolders(dog, market.HoldersUnavailable, market.ReasonNegative, 0)
}
