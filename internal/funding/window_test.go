package funding_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/internal/funding"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

const day = 24 * 60 * 60

func account(n int) market.Address {
	return market.EVMAddress([32]byte{12: 0xac, 28: byte(n >> 24), 29: byte(n >> 16), 30: byte(n >> 8), 31: byte(n)})
}

func amount(n uint64) (v market.Amount) {
	v.SetUint64(n)
	return v
}

func pays(from, to int, n uint64) market.Payment {
	return market.Payment{From: account(from), To: account(to), Amount: amount(n)}
}

func blockAt(number uint64, at int64, payments ...market.Payment) *market.BlockPayments {
	return &market.BlockPayments{Number: number, Time: at, Payments: funding.Counted(payments)}
}

func seen(funder int, at int64) market.Funding {
	return market.Funding{State: market.FundingSeen, Funder: account(funder), At: at}
}

var notSeen, unknown = market.Funding{State: market.FundingNotSeen}, market.Funding{}

func want(t *testing.T, w *funding.Window, of int, want market.Funding) {
	t.Helper()
	if got := w.Of(account(of)); got != want {
		t.Errorf("the funding of account %d is %+v, want %+v", of, got, want)
	}
}

// TestWhoPaidTheMost: the funder is the account that paid the most in all, of equal ones the one that paid first; the time is that of its first
// payment. Dust of strangers changes nothing.
func TestWhoPaidTheMost(t *testing.T) {
	t.Parallel()
	w := funding.New(funding.Default)
	w.Add(blockAt(1, 100, pays(1, 9, 50), pays(2, 9, 30), pays(8, 8, 1_000), pays(4, 9, 0)))
	want(t, w, 9, seen(1, 100))
	w.Add(blockAt(2, 112, pays(2, 9, 20)))
	want(t, w, 9, seen(1, 100)) // both paid 50
	w.Add(blockAt(3, 124, pays(2, 9, 1)))
	want(t, w, 9, seen(2, 100))
	for n := range 40 {
		w.Add(blockAt(uint64(4+n), 125, pays(100+n, 9, 1)))
	}
	want(t, w, 9, seen(2, 100))
	want(t, w, 8, unknown) // a payment to oneself tells nothing, and neither does one of nothing
	want(t, w, 4, unknown)
	if got := w.Of(market.SolanaAddress([32]byte{1})); got != unknown {
		t.Errorf("the funding of an account of another family is %+v", got)
	}
}

// TestTheDay: a payment counts for exactly a day, and an account without any is told once a day of blocks is known.
func TestTheDay(t *testing.T) {
	t.Parallel()
	w := funding.New(funding.Default)
	w.Add(blockAt(1, 1000, pays(1, 9, 5)))
	w.Add(blockAt(2, 1001, pays(2, 9, 1)))
	w.Add(blockAt(3, 1000+day-1))
	want(t, w, 9, seen(1, 1000))
	want(t, w, 8, unknown)
	w.Add(blockAt(4, 1000+day))
	want(t, w, 9, seen(1, 1000))
	want(t, w, 8, notSeen)
	w.Add(blockAt(5, 1001+day))
	want(t, w, 9, seen(2, 1001))
	w.Add(blockAt(6, 1002+day))
	want(t, w, 9, notSeen)
}

// TestTheBoundOfPayments: whole blocks count, from the newest back, that together have no more payments than the bound; the newest in any case.
func TestTheBoundOfPayments(t *testing.T) {
	t.Parallel()
	w := funding.New(funding.Bounds{Seconds: day, Payments: 5, OfAccount: 64})
	w.Add(blockAt(1, 1, pays(1, 9, 1), pays(1, 8, 1)))
	want(t, w, 7, unknown)
	w.Add(blockAt(2, 2, pays(2, 20, 1), pays(2, 21, 1), pays(2, 22, 1)))
	want(t, w, 9, seen(1, 1)) // five payments
	want(t, w, 7, notSeen)    // an earlier one would be beyond the bound
	w.Add(blockAt(3, 3))
	want(t, w, 9, seen(1, 1))
	w.Add(blockAt(4, 4, pays(2, 23, 1)))
	want(t, w, 9, notSeen) // six, so that the whole first block doesn't count
	want(t, w, 20, seen(2, 2))
	w.Add(blockAt(5, 5, pays(30, 1, 1), pays(30, 2, 1), pays(30, 3, 1), pays(30, 4, 1), pays(30, 5, 1), pays(30, 6, 1)))
	want(t, w, 1, seen(30, 5))
	want(t, w, 6, seen(30, 5))
	want(t, w, 23, notSeen)
	w.Add(blockAt(6, 6))
	want(t, w, 1, notSeen) // a block alone with more is beyond the bound from the next block on
}

// TestTheBoundOfAnAccount: of the payments to an account the newest are looked at, up to the bound.
func TestTheBoundOfAnAccount(t *testing.T) {
	t.Parallel()
	w := funding.New(funding.Bounds{Seconds: day, Payments: 500_000, OfAccount: 64})
	w.Add(blockAt(1, 1, pays(1, 9, 1_000_000)))
	for n := range 63 {
		w.Add(blockAt(uint64(n+2), int64(n+2), pays(2, 9, 1)))
	}
	want(t, w, 9, seen(1, 1))
	w.Add(blockAt(65, 65, pays(2, 9, 1)))
	want(t, w, 9, seen(2, 2))
}

// TestBlocksWithoutTransactions: a block that was read without its transactions tells nothing, and what is known begins anew after it.
func TestBlocksWithoutTransactions(t *testing.T) {
	t.Parallel()
	w := funding.New(funding.Default)
	if _, ok := w.Oldest(); ok {
		t.Error("a window without blocks needs one")
	}
	w.Pass(7, 0)
	want(t, w, 9, unknown)
	w.Add(blockAt(8, 8, pays(1, 9, 1)))
	w.Add(blockAt(9, 8+day))
	want(t, w, 9, seen(1, 8))
	want(t, w, 5, notSeen)
	w.Pass(9, 0) // it has that
	want(t, w, 5, notSeen)
	w.Pass(10, 0)
	want(t, w, 9, unknown)
	want(t, w, 5, unknown)
	w.Add(blockAt(11, 8+day+gap, pays(2, 5, 1))) // a short gap
	want(t, w, 9, notSeen)
	want(t, w, 5, seen(2, 8+day+gap))
	w.Rewind(market.Header{Number: 10, Time: 8 + day})
	want(t, w, 5, unknown)
	w.Add(blockAt(11, 9+day+gap, pays(2, 5, 1)))
	want(t, w, 9, unknown)
	want(t, w, 5, seen(2, 9+day+gap))
	w.Add(blockAt(13, 10+day+2*gap)) // 12 is left out
	want(t, w, 5, unknown)
	w.Rewind(market.Header{Number: 11, Time: 9 + day + gap})
	want(t, w, 5, seen(2, 9+day+gap))
	w.Rewind(market.Header{Number: 9, Time: 8 + day})
	want(t, w, 9, seen(1, 8))
	want(t, w, 5, notSeen)
	w.Pass(12, 8+day+gap+1)
	w.Pass(13, 9+day+gap)
	w.Forget(12)
	if n, ok := w.Oldest(); n != 14 || !ok {
		t.Errorf("block %d is needed (%v), none of which can count any more", n, ok)
	}
}

// TestHugeAmounts: amounts that no coin has are cut, and don't overflow a sum.
func TestHugeAmounts(t *testing.T) {
	t.Parallel()
	var huge, most market.Amount
	huge.SetAllOne()
	most.SetAllOne().Rsh(&most, 128)
	p := funding.Counted([]market.Payment{{From: account(1), To: account(9), Amount: huge}, {From: account(2), To: account(9), Amount: most}})
	if len(p) != 2 || p[0].Amount != most || p[1].Amount != most {
		t.Fatalf("counted are %v", p)
	}
	w := funding.New(funding.Default)
	w.Add(&market.BlockPayments{Number: 1, Time: 1, Payments: slices.Concat(p, p, p[1:])})
	want(t, w, 9, seen(2, 1))
	if list := funding.Counted([]market.Payment{{From: account(1), Amount: huge}, {From: account(1), To: market.Native, Amount: huge}, {To: account(1), Amount: huge}}); list != nil {
		t.Errorf("payments from or to nobody count: %v", list)
	}
}

// gap is for how long blocks may be without transactions, in seconds.
const gap = 600

// story is a chain as it stands, with what a database has of it.
type story struct {
	bounds funding.Bounds
	blocks []told // those that stand, oldest first
	// undoable is how many of the newest blocks can be taken back.
	undoable int
	// rows are the oldest block that the database still has a row of.
	rows uint64
}

type told struct {
	market.BlockPayments
	covered bool
}

// naive is what the window says of an account, by looking at all blocks.
func (s *story) naive(a market.Address) market.Funding {
	var known []told // newest first
	for _, b := range slices.Backward(s.blocks) {
		if !b.covered && len(known) > 0 {
			continue
		}
		if !b.covered || len(known) > 0 && known[len(known)-1].Number != b.Number+1 && known[len(known)-1].Time-b.Time > gap {
			break
		}
		known = append(known, b)
	}
	if len(known) == 0 {
		return unknown
	}
	since, all := known[0].Time-s.bounds.Seconds, 0
	var paid []market.Payment // newest first
	var at []int64
	closed := false
	for i, b := range known {
		all += len(b.Payments)
		closed = closed || b.Time < since || i > 0 && len(b.Payments) > 0 && all > s.bounds.Payments
		for _, p := range slices.Backward(b.Payments) {
			if !closed && p.To == a && len(paid) < s.bounds.OfAccount {
				paid, at = append(paid, p), append(at, b.Time)
			}
		}
	}
	if len(paid) == 0 {
		if known[len(known)-1].Time <= since || all >= s.bounds.Payments {
			return notSeen
		}
		return unknown
	}
	sums, first := map[market.Address]uint64{}, map[market.Address]int{}
	for i, p := range paid {
		sums[p.From] += p.Amount.Uint64()
		first[p.From] = i
	}
	best := paid[0].From
	for f := range sums {
		if sums[f] > sums[best] || sums[f] == sums[best] && first[f] > first[best] {
			best = f
		}
	}
	return market.Funding{State: market.FundingSeen, Funder: best, At: at[first[best]]}
}

// TestWindowIsWhatAllBlocksSay holds a window against all blocks of chains that are drawn: with blocks without transactions, gaps, reorgs, restarts from
// the rows that it said to need, and bounds that are reached.
func TestWindowIsWhatAllBlocksSay(t *testing.T) {
	t.Parallel()
	const reorg = 6
	rapid.Check(t, func(t *rapid.T) {
		s := &story{bounds: funding.Bounds{
			Seconds: rapid.SampledFrom([]int64{10, 7200, day}).Draw(t, "seconds"), Payments: rapid.IntRange(1, 12).Draw(t, "payments"), OfAccount: rapid.IntRange(1, 4).Draw(t, "of account"),
		}}
		w := funding.New(s.bounds)
		var number uint64
		var now int64
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"block", "block", "block", "block", "bare", "gap", "reorg", "restart", "forget"}).Draw(t, "step") {
			case "block":
				number++
				now += rapid.SampledFrom([]int64{0, 0, 1, 1, 2, s.bounds.Seconds / 2, s.bounds.Seconds - 1, s.bounds.Seconds, s.bounds.Seconds + 1, gap, gap + 1}).Draw(t, "later")
				var list []market.Payment
				for range rapid.SampledFrom([]int{0, 0, 1, 2, 5}).Draw(t, "paid") {
					list = append(list, pays(rapid.IntRange(0, 3).Draw(t, "from"), rapid.IntRange(0, 4).Draw(t, "to"), rapid.Uint64Range(0, 3).Draw(t, "amount")))
				}
				b := blockAt(number, now, list...)
				w.Add(b)
				s.blocks, s.undoable = append(s.blocks, told{*b, true}), s.undoable+1
			case "bare":
				number++
				w.Pass(number, now)
				s.blocks, s.undoable = append(s.blocks, told{*blockAt(number, now), false}), s.undoable+1
			case "gap": // the past isn't taken back
				number += rapid.Uint64Range(1, 9).Draw(t, "blocks")
				w.Pass(number, now)
				s.blocks, s.undoable = append(s.blocks, told{*blockAt(number, now), false}), 0
			case "reorg":
				depth := rapid.IntRange(0, min(reorg, s.undoable)).Draw(t, "depth")
				s.blocks, s.undoable = s.blocks[:len(s.blocks)-depth], s.undoable-depth
				if len(s.blocks) == 0 {
					number, now = 0, 0
				} else {
					last := s.blocks[len(s.blocks)-1]
					number, now = last.Number, last.Time
				}
				w.Rewind(market.Header{Number: number, Time: now})
				s.rows = min(s.rows, number+1)
			case "forget":
				s.undoable = min(s.undoable, reorg)
				if number >= reorg {
					w.Forget(number - reorg)
				}
				if oldest, ok := w.Oldest(); ok {
					s.rows = max(s.rows, rapid.Uint64Range(min(s.rows, oldest), oldest).Draw(t, "rows from"))
				}
			case "restart":
				w = funding.New(s.bounds)
				for i := range s.blocks {
					if b := &s.blocks[i]; b.covered && b.Number >= s.rows {
						w.Add(&b.BlockPayments)
					}
				}
				w.Pass(number, now)
			}
			for a := range 6 {
				if got, want := w.Of(account(a)), s.naive(account(a)); got != want {
					t.Fatalf("at block %d the funding of account %d is %+v, want %+v", number, a, got, want)
				}
			}
		}
	})
}

// TestNumbersBeginAnew: more payments than their numbers tell apart change nothing.
func TestNumbersBeginAnew(t *testing.T) {
	t.Parallel()
	w := funding.New(funding.Bounds{Seconds: day, Payments: 10, OfAccount: 4})
	w.StartNumbers(1<<32 - 5)
	for n := range 40 {
		w.Add(blockAt(uint64(n+1), int64(n+1), pays(200+n, 9, 1), pays(200+n, 100+n, 1)))
		if n > 3 {
			w.Forget(uint64(n - 2))
			want(t, w, 9, seen(197+n, int64(n-2)))
			want(t, w, 100+n-4, seen(196+n, int64(n-3)))
			w.Add(blockAt(uint64(n+2), int64(n+2), pays(1, 9, 7)))
			want(t, w, 9, seen(1, int64(n+2)))
			w.Rewind(market.Header{Number: uint64(n + 1), Time: int64(n + 1)})
			want(t, w, 9, seen(197+n, int64(n-2)))
		}
		if n > 9 {
			want(t, w, 100+n-5, notSeen)
		}
	}
	if p, a, b := w.Held(); p > 24 || a > 13 || b > 12 {
		t.Errorf("%d payments to %d accounts in %d blocks are held, of a window of 10 payments", p, a, b)
	}
}

// TestOfEqualPayersTheFirstCounts: it is the payer whose first payment is the earliest, whoever paid last.
func TestOfEqualPayersTheFirstCounts(t *testing.T) {
	t.Parallel()
	w := funding.New(funding.Default)
	w.Add(blockAt(1, 10, pays(1, 9, 1), pays(3, 8, 2)))
	w.Add(blockAt(2, 20, pays(2, 9, 2), pays(4, 8, 2)))
	w.Add(blockAt(3, 30, pays(1, 9, 1)))
	want(t, w, 9, seen(1, 10))
	want(t, w, 8, seen(3, 10))
}

// TestAHorizonAtTheEndOfASpan: a rewind to the horizon finds the blocks that end there.
func TestAHorizonAtTheEndOfASpan(t *testing.T) {
	t.Parallel()
	w := funding.New(funding.Default)
	for n := range uint64(3) {
		w.Add(blockAt(n+1, int64(n+1), pays(int(n)+1, 9, n+1)))
	}
	w.Pass(4, 4)
	w.Pass(5, 5)
	want(t, w, 9, market.Funding{})
	w.Forget(3)
	w.Rewind(market.Header{Number: 3, Time: 3})
	want(t, w, 9, seen(3, 3))
}

// TestALowerHorizon: after a rewind the horizon may be lower than it was before. What is gone stays so, and nothing else goes.
func TestALowerHorizon(t *testing.T) {
	t.Parallel()
	w := funding.New(funding.Bounds{Seconds: 10, Payments: 100, OfAccount: 4})
	for n := range 200 {
		w.Add(blockAt(uint64(n+1), int64(n+1), pays(n+1, 1000+n, 1)))
	}
	w.Forget(150)
	before, _, _ := w.Held()
	w.Forget(100)
	if after, _, _ := w.Held(); after != before || after > 130 {
		t.Errorf("%d payments are held, and %d after a lower horizon", before, after)
	}
	w.Rewind(market.Header{Number: 150, Time: 150})
	w.Forget(100)
	want(t, w, 1139, seen(140, 140))
	want(t, w, 1138, notSeen)
}

// TestABlockOfEachHourIsKept: of blocks without payments one is kept that is an hour younger than the one before, and none before.
func TestABlockOfEachHourIsKept(t *testing.T) {
	t.Parallel()
	for at, wanted := range map[int64]int{3599: 1, 3600: 2} {
		w := funding.New(funding.Default)
		w.Add(blockAt(1, 0))
		w.Add(blockAt(2, at))
		if _, _, blocks := w.Held(); blocks != wanted {
			t.Errorf("with a block %d s after the first, %d are held, want %d", at, blocks, wanted)
		}
	}
}

// TestAccounts leaves out addresses of other kinds, and keeps the order of the others.
func TestAccounts(t *testing.T) {
	t.Parallel()
	all := []market.Address{account(2), {}, market.SolanaAddress([32]byte{5}), account(1)}
	if got := funding.Accounts(all); !slices.Equal(got, []market.Address{account(2), account(1)}) || len(all) != 4 || !all[1].IsNone() {
		t.Errorf("the accounts are %v, and the list is %v", got, all)
	}
}

// TestAChainWithoutPayments forgets its blocks as others do.
func TestAChainWithoutPayments(t *testing.T) {
	t.Parallel()
	w := funding.New(funding.Default)
	for n := range 3 * day / 60 {
		w.Add(blockAt(uint64(n), int64(n)*60))
		w.Forget(uint64(max(0, n-20)))
	}
	last := uint64(3*day/60 - 1)
	oldest, ok := w.Oldest()
	if _, _, blocks := w.Held(); !ok || oldest > last-day/60 || oldest < last-day/60-140 || blocks > 30 {
		t.Errorf("block %d is the oldest that is needed at %d, %d blocks are held", oldest, last, blocks)
	}
	want(t, w, 1, notSeen)
}

// BenchmarkWindow adds payments to a full window, each to another account, with a thousand in a block, and tells the memory of a full one.
func BenchmarkWindow(b *testing.B) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	w := funding.New(funding.Default)
	next := 0
	add := func() {
		list := make([]market.Payment, 1000)
		for i := range list {
			list[i] = pays(1, 10+next, 1)
			next++
		}
		n := next / 1000
		w.Add(blockAt(uint64(n), int64(n), list...))
		w.Forget(uint64(max(0, n-64)))
	}
	for range 1500 {
		add()
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ResetTimer()
	for range b.N {
		add()
	}
	b.StopTimer()
	payments, accounts, _ := w.Held()
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/1e6, "MB")
	b.ReportMetric(float64(payments), "payments")
	b.ReportMetric(float64(accounts), "accounts")
}

// BenchmarkOf asks for an account that is paid all the time.
func BenchmarkOf(b *testing.B) {
	w := funding.New(funding.Default)
	for n := range 1000 {
		w.Add(blockAt(uint64(n), int64(n), pays(n+10, 9, 1)))
	}
	for b.Loop() {
		if f := w.Of(account(9)); f.State != market.FundingSeen {
			b.Fatal(fmt.Sprint(f))
		}
	}
}
