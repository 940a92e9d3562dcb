package funding_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/internal/funding"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// sentFirst is a block in which accounts sent their first transactions.
func sentFirst(number uint64, at int64, accounts ...int) *market.BlockPayments {
	b := blockAt(number, at)
	for _, n := range accounts {
		b.Firsts = append(b.Firsts, account(n))
	}
	return b
}

// TestAges: an account is new for exactly a day after its first transaction, and old if it sent one before; a contract's age isn't known.
func TestAges(t *testing.T) {
	t.Parallel()
	l := funding.NewLedger(funding.Default)
	check := func(of int, isSender bool, before uint64, want market.Funding) {
		t.Helper()
		if got := l.Of(&funding.Trade{Trader: account(of), Sent: isSender, Before: before}); got != want {
			t.Errorf("account %d, which sent %d before, is %+v, want %+v", of, before, got, want)
		}
	}
	fresh := func(at int64, f market.Funding) market.Funding {
		f.Age, f.First = market.AgeNew, at
		return f
	}
	old := market.Funding{State: market.FundingNotSeen, Age: market.AgeOld}
	b := sentFirst(1, 1000, 1)
	b.Payments = funding.Counted([]market.Payment{pays(7, 2, 5), pays(7, 3, 5)})
	l.Add(b)
	check(1, true, 1, fresh(1000, unknown))
	check(2, true, 3, unknown) // it may be old
	check(2, true, 0, fresh(1000, seen(7, 1000)))
	check(3, false, 0, seen(7, 1000))
	l.Add(sentFirst(2, 1000+day))
	check(1, true, 2, fresh(1000, notSeen))
	aged := seen(7, 1000)
	aged.Age = market.AgeOld
	check(2, true, 3, aged)
	l.Add(sentFirst(3, 1000+day+1, 4))
	check(1, true, 2, old)
	check(4, true, 1, fresh(1001+day, notSeen))
	check(4, false, 1, notSeen)
	l.Rewind(market.Header{Number: 2, Time: 1000 + day})
	check(4, true, 1, old)
	check(1, true, 2, fresh(1000, notSeen))
	if oldest, ok := l.Oldest(); !ok || oldest != 1 {
		t.Errorf("the oldest block that is needed is %d, %v; want 1", oldest, ok)
	}
	l.Add(sentFirst(3, 1001+2*day))
	l.Forget(3)
	if oldest, ok := l.Oldest(); !ok || oldest < 2 {
		t.Errorf("two days later the oldest block that is needed is %d, %v", oldest, ok)
	}
	l.Pass(4, 1001+2*day)
	check(1, true, 2, unknown)
}

// TestCoinsAreFollowed: the funder is the first account on the way of the coins that isn't new. Coins that came through more than 32 new accounts, or from a new
// account that nobody was seen to pay, came from nobody knows where.
func TestCoinsAreFollowed(t *testing.T) {
	t.Parallel()
	const exchange, begin = 500, 1000
	chainOf := func(hops int) *funding.Ledger {
		l := funding.NewLedger(funding.Default)
		l.Add(blockAt(1, begin-day))
		for n := range hops { // account n+1 pays account n
			b := blockAt(uint64(2+n), begin, pays(hops-n, hops-n-1, 5))
			b.Firsts = append(b.Firsts, account(hops-n))
			if n == 0 {
				b.Payments = append(b.Payments, pays(exchange, hops, 5))
			}
			l.Add(b)
		}
		return l
	}
	for hops, want := range map[int]market.Funding{1: seen(exchange, begin), 31: seen(exchange, begin), 32: notSeen, 40: notSeen} {
		if got := chainOf(hops).Of(&funding.Trade{Trader: account(0)}); got != want {
			t.Errorf("through %d new accounts: %+v, want %+v", hops, got, want)
		}
	}
	if got, want := chainOf(9).Of(&funding.Trade{Trader: account(0), Creator: account(4)}), seen(4, begin); got != want {
		t.Errorf("through the token's creator: %+v, want %+v", got, want)
	}
	l := funding.NewLedger(funding.Default)
	l.Add(blockAt(1, begin-day))
	silent := blockAt(2, begin, pays(3, 4, 5), pays(6, 7, 5), pays(7, 6, 5))
	silent.Firsts = []market.Address{account(3), account(6), account(7)}
	l.Add(silent)
	for of, why := range map[int]string{4: "from a new account that nobody was seen to pay", 7: "in a ring"} {
		if got := l.Of(&funding.Trade{Trader: account(of)}); got != notSeen {
			t.Errorf("coins %s: %+v, want %+v", why, got, notSeen)
		}
	}
	young := funding.NewLedger(funding.Default)
	b := blockAt(1, begin, pays(3, 4, 5))
	b.Firsts = []market.Address{account(3)}
	young.Add(b)
	if got, want := young.Of(&funding.Trade{Trader: account(4)}), seen(3, begin); got != want {
		t.Errorf("while earlier payments aren't known: %+v, want %+v", got, want)
	}
}

// TestOldWhenPaymentsAreBeyondTheBound: an account whose first transaction is older than the payments that count isn't new any more: who paid it then isn't known.
func TestOldWhenPaymentsAreBeyondTheBound(t *testing.T) {
	t.Parallel()
	l := funding.NewLedger(funding.Bounds{Seconds: day, Payments: 5, OfAccount: 4})
	for n, b := range []*market.BlockPayments{sentFirst(1, 1), sentFirst(2, day, 1), sentFirst(3, day+10, 2), sentFirst(4, day+20)} {
		for range 3 * (n % 2) {
			b.Payments = append(b.Payments, pays(7, 8, 1))
		}
		l.Add(b)
	}
	ages := func(when string, want map[int]market.AgeState) {
		t.Helper()
		for of, age := range want {
			if got := l.Of(&funding.Trade{Trader: account(of), Sent: true, Before: 1}); got.Age != age {
				t.Errorf("%s account %d is %+v", when, of, got)
			}
		}
	}
	ages("with six payments", map[int]market.AgeState{1: market.AgeOld, 2: market.AgeNew, 3: market.AgeOld})
	l.Rewind(market.Header{Number: 3, Time: day + 10})
	ages("with three", map[int]market.AgeState{1: market.AgeNew, 2: market.AgeNew, 3: market.AgeOld})
}

// TestLedgerWhateverIsForgotten: what a ledger tells doesn't depend on what it forgot, what was taken back, and where it began anew.
func TestLedgerWhateverIsForgotten(t *testing.T) {
	t.Parallel()
	const reorg = 4
	rapid.Check(t, func(t *rapid.T) {
		bounds := funding.Bounds{Seconds: rapid.SampledFrom([]int64{20, 5000}).Draw(t, "seconds"), Payments: rapid.IntRange(1, 9).Draw(t, "payments"), OfAccount: 4}
		whole, other := funding.NewLedger(bounds), funding.NewLedger(bounds)
		var rows []*market.BlockPayments
		now, since, horizon := int64(0), uint64(1), uint64(0)
		for n := range rapid.IntRange(1, 40).Draw(t, "blocks") {
			now += rapid.SampledFrom([]int64{0, 1, 9, 10, 2500}).Draw(t, "later")
			b := blockAt(uint64(n+1), now)
			for range rapid.IntRange(0, 3).Draw(t, "paid") {
				b.Payments = append(b.Payments, pays(rapid.IntRange(1, 6).Draw(t, "from"), rapid.IntRange(7, 12).Draw(t, "to"), 1))
			}
			for range rapid.IntRange(0, 1).Draw(t, "first") {
				b.Firsts = append(b.Firsts, account(rapid.IntRange(1, 12).Draw(t, "who")))
			}
			rows = append(rows, b)
			whole.Add(b)
			other.Add(b)
			switch rapid.IntRange(0, 3).Draw(t, "then") {
			case 0:
				if b.Number > reorg {
					horizon = b.Number - reorg
					other.Forget(horizon)
					since, _ = other.Oldest()
				}
			case 1:
				if back := int(b.Number) - rapid.IntRange(1, reorg).Draw(t, "back"); back > 0 && uint64(back) >= horizon {
					other.Rewind(market.Header{Number: uint64(back), Time: rows[back-1].Time})
					for _, again := range rows[back:] {
						other.Add(again)
					}
				}
			case 2:
				other = funding.NewLedger(bounds)
				for _, kept := range rows {
					if kept.Number >= since {
						other.Add(kept)
					}
				}
			}
			for a := range 13 {
				trade := funding.Trade{Trader: account(a), Sent: a%2 == 0, Before: 1}
				if got, want := other.Of(&trade), whole.Of(&trade); got != want {
					t.Fatalf("at block %d account %d is %+v, want %+v", b.Number, a, got, want)
				}
			}
		}
	})
}
