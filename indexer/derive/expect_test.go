package derive_test

import (
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// TestExpectationFollowsABatch holds answers against what the blocks before, of the same batch, leave of balances and
// supply.
func TestExpectationFollowsABatch(t *testing.T) {
	t.Parallel()
	ix := newIndexer(t, config(), 100_000)
	m, s := ix.machine, ix.state
	holds := func(a market.Address) market.BalanceKey { return market.BalanceKey{Token: dog, Account: a} }
	w := market.Wanted{Tokens: []market.Address{dog}, Balances: []market.BalanceKey{holds(alice), holds(bob)}, ExpireFrom: 1}
	s.Put(w, market.Rows{
		Tokens:   []market.Token{{Mint: dog, HasSupply: true, Supply: e18(100), Holders: market.Holders{Status: market.HoldersCurrent}}},
		Balances: map[market.BalanceKey]market.Balance{holds(alice): {Amount: e18(10)}},
	})
	x := m.Expect(s, w.Balances)
	check := func(when string, ofAlice, ofBob, supply uint64) {
		t.Helper()
		for account, want := range map[market.Address]uint64{alice: ofAlice, bob: ofBob} {
			if x.Contradicts(market.BalanceFact{Token: dog, Account: account, Amount: e18(want)}) {
				t.Errorf("%s: a balance of %d is doubted", when, want)
			}
			if !x.Contradicts(market.BalanceFact{Token: dog, Account: account, Amount: e18(want + 1)}) {
				t.Errorf("%s: a balance of %d is not doubted, want %d", when, want+1, want)
			}
		}
		right, wrong := market.SupplyFact{Token: dog, Supply: e18(supply)}, market.SupplyFact{Token: dog, Supply: e18(supply + 1)}
		if x.Contradicts(right) || !x.Contradicts(wrong) {
			t.Errorf("%s: want the supply %d expected and nothing else", when, supply)
		}
	}
	check("at first", 10, 0, 100)
	x.See(&market.Block{Txs: inOneTx(moved(dog, alice, bob, e18(4)), moved(dog, nobody, bob, e18(5)))})
	check("after a transfer and a mint", 6, 9, 105)
	x.See(&market.Block{
		Facts: []market.Fact{market.SupplyFact{Token: dog, Supply: e18(200)}},
		Txs:   inOneTx(moved(dog, bob, nobody, e18(2))),
	})
	check("after a fact and a burn", 6, 7, 198)
	withheld := func(n uint64, neg bool) market.Event {
		return market.Withheld{Token: dog, Change: market.SignedAmount{Abs: e18(n), Neg: neg}}
	}
	x.See(&market.Block{Txs: inOneTx(moved(dog, bob, nobody, e18(3)), withheld(3, false))})
	check("after a transfer whose fee is withheld", 6, 4, 198)
	x.See(&market.Block{Txs: inOneTx(withheld(2, true))})
	check("after what was withheld is burnt", 6, 4, 196)
	if x.Contradicts(market.SupplyFact{Token: bob, Supply: e18(1)}) {
		t.Error("a supply contradicts one that nobody knows")
	}
	if x.LacksSupply(dog) || !x.LacksSupply(bob) {
		t.Error("want the supply of one token known, and that of the other lacking")
	}
	x.See(&market.Block{Txs: inOneTx(moved(bob, nobody, alice, e18(5)))})
	if !x.LacksSupply(bob) {
		t.Error("a mint alone makes a supply known")
	}
	x.See(&market.Block{Facts: []market.Fact{market.SupplyFact{Token: bob, Supply: e18(7)}}})
	if x.LacksSupply(bob) || x.Contradicts(market.SupplyFact{Token: bob, Supply: e18(7)}) || !x.Contradicts(market.SupplyFact{Token: bob, Supply: e18(8)}) {
		t.Error("a supply that a fact of the batch tells isn't what others are held against")
	}
}

// TestBalancesOutsideOfACountContradictNothing: only where a token's holders are counted does derivation say what an account has.
func TestBalancesOutsideOfACountContradictNothing(t *testing.T) {
	t.Parallel()
	for status, want := range map[market.HolderStatus]bool{
		market.HoldersNone: false, market.HoldersIndexing: false, market.HoldersUnavailable: false, market.HoldersCurrent: true,
	} {
		ix := newIndexer(t, config(), 100_000)
		ofAlice := market.BalanceKey{Token: dog, Account: alice}
		w := market.Wanted{Tokens: []market.Address{dog}, Balances: []market.BalanceKey{ofAlice}, ExpireFrom: 1}
		ix.state.Put(w, market.Rows{Tokens: []market.Token{{Mint: dog, Holders: market.Holders{Status: status}}}})
		x := ix.machine.Expect(ix.state, w.Balances)
		if got := x.Contradicts(market.BalanceFact{Token: dog, Account: alice, Amount: e18(1)}); got != want {
			t.Errorf("holders are %q: a balance where none is booked is doubted: %v, want %v", status, got, want)
		}
	}
}

// TestAnswersContradictNoUntoldSupply: once a token's transfers have turned out not to tell its supply, no answer is held against another.
func TestAnswersContradictNoUntoldSupply(t *testing.T) {
	t.Parallel()
	for strikes, want := range map[int32]bool{market.SupplyUntold - 1: true, market.SupplyUntold: false} {
		ix := newIndexer(t, config(), 100_000)
		w := market.Wanted{Tokens: []market.Address{dog}, ExpireFrom: 1}
		ix.state.Put(w, market.Rows{Tokens: []market.Token{{Mint: dog, SupplyStrikes: strikes}}})
		x := ix.machine.Expect(ix.state, nil)
		x.See(&market.Block{Facts: []market.Fact{market.SupplyFact{Token: dog, Supply: e18(100)}}})
		if got := x.Contradicts(market.SupplyFact{Token: dog, Supply: e18(101)}); got != want {
			t.Errorf("after %d strikes a supply other than the batch's last answer is doubted: %v, want %v", strikes, got, want)
		}
		if got := ix.machine.Expect(ix.state, nil).LacksSupply(dog); got != want {
			t.Errorf("after %d strikes the next supply is waited for: %v, want %v", strikes, got, want)
		}
	}
}

func inOneTx(events ...market.Event) []market.Tx {
	var t market.Tx
	for i, e := range events {
		t.Logs = append(t.Logs, market.Log{Index: uint64(i), Event: e})
	}
	return []market.Tx{t}
}
