package profit_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/apiserver/read/members"
	"github.com/boardwalkhq/boardwalk/apiserver/read/profit"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/pnl"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/social"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// now is a time within an hour.
const now = 1_700_000_000

var chains = []profit.Chain{{ID: "base", Family: chainconfig.EVM}, {ID: "bsc", Family: chainconfig.EVM}}

func wallet(n int) market.Address { return market.EVMAddress([32]byte{12: 0xaa, 31: byte(n)}) }
func token(n int) market.Address {
	return market.EVMAddress([32]byte{12: 0xbb, 30: byte(n >> 8), 31: byte(n)})
}

// book is what an indexer would write of some wallets' entries, by the rules of package pnl.
type book struct {
	market.Changes
	positions map[market.PositionKey]*market.Position
	hours     map[market.HourKey]*market.WalletHour
	owners    map[market.Address]int64
	seq       uint32
	// all are the entries as pnl takes them, with their members.
	all []owned
}

type owned struct {
	member int64
	pnl.Entry
}

// enter writes an entry of a transaction of its own.
func (b *book) enter(chain string, w market.Address, e pnl.Entry) {
	k := market.PositionKey{Wallet: w, Token: e.Mint}
	if b.positions[k] == nil {
		b.positions[k] = &market.Position{}
	}
	b.seq++
	e.Wallet, e.Chain, e.Tx = w, chain, market.EVMTx([32]byte{byte(b.seq), byte(b.seq >> 8), 1})
	f := pnl.Apply(b.positions[k], &e)
	counts := !e.Ineligible && (e.Kind == pnl.Buy || e.Kind == pnl.Sell)
	b.Entries = append(b.Entries, market.Entry{
		Wallet: w, Block: 1, Seq: b.seq, Time: e.At, Tx: e.Tx, Token: e.Mint, Kind: e.Kind, Amount: e.Amount, NanoUSD: e.NanoUSD, HasUSD: e.HasUSD, Counts: counts,
		Proceeds: f.Proceeds, Cost: f.Cost, MovedOut: f.MovedOut,
	})
	if e.Kind == pnl.Out || e.Kind == pnl.Buy {
		b.Entries[len(b.Entries)-1].Cost = market.USD{}
	}
	b.all = append(b.all, owned{b.owners[w], e})
	hk := market.HourKey{Wallet: w, Member: b.owners[w], Open: e.At - e.At%3600}
	h := b.hours[hk]
	if h == nil {
		h = &market.WalletHour{HourKey: hk}
		b.hours[hk] = h
	}
	pnl.Book(&h.Profit, &e, &f)
	if f.IsSale(&e) {
		pnl.Conclude(&h.Profit, f.Realised())
		if best := (market.BestSale{Token: e.Mint, At: e.At, Gain: f.Realised()}); best.Better(&h.Best) {
			h.Best = best
		}
	}
}

// TestBoardIsWhatWindowsAre holds the leaderboard of any entries and moment against a window over all of them, member by member.
func TestBoardIsWhatWindowsAre(t *testing.T) {
	t.Parallel()
	st := storetest.Open(t, "sqlite")
	owners, d := enrol(t, st)
	round := 0
	rapid.Check(t, func(rt *rapid.T) {
		round++
		of := []profit.Chain{{ID: fmt.Sprint("base-", round), Family: chainconfig.EVM}, {ID: fmt.Sprint("bsc-", round), Family: chainconfig.EVM}}
		all := []owned{}
		for _, chain := range of {
			b := newBook(owners)
			b.fill(rt, chain.ID)
			b.write(t, st, chain.ID)
			all = append(all, b.all...)
		}
		to := int64(now - now%60)
		if len(all) > 0 { // the window begins or ends where something happened
			at := rapid.SampledFrom(all).Draw(rt, "near").At
			to = at - at%60 + rapid.SampledFrom([]int64{0, pnl.Day, 60, pnl.Day - 60}).Draw(rt, "how near")
		}
		got, stale, err := profit.NewReader(st.Wallets, st.Social.Profit, d, time.Now).Board(t.Context(), of, to, false)
		if err != nil || stale {
			rt.Fatal(stale, err)
		}
		want := map[member.Number]pnl.Window{}
		slices.SortStableFunc(all, func(a, b owned) int { return cmp.Compare(a.At, b.At) })
		for _, n := range owners {
			l := pnl.NewLedger(pnl.Options{Now: to, Spans: []int64{pnl.Day}})
			for i := range all {
				if all[i].member == n {
					l.Add(&all[i].Entry)
				}
			}
			if w := l.Windows()[0]; w.Sales > 0 && !w.MovesAway() {
				want[member.Number(n)] = w
			}
		}
		if len(got.Traders) != len(want) || got.To != to || got.From != to-pnl.Day {
			rt.Fatalf("%d members are on it: %+v\nwant %+v", len(got.Traders), got, want)
		}
		for i := range got.Traders {
			is, should := &got.Traders[i], want[got.Traders[i].Member]
			realised, wanted := is.Realised(), should.Realised()
			if realised != wanted || is.Sales != should.Sales || is.Wins != should.Wins || is.Losses != should.Losses || is.Excluded != should.Excluded ||
				(is.Best == nil) != (should.Best == nil) || is.Best != nil && is.Best.Realised != should.Best.Realised {
				rt.Fatalf("member %d has\n%+v, want\n%+v", is.Member, is.Window, should)
			}
			if i > 0 {
				if before := got.Traders[i-1].Realised(); before.Cmp(realised) < 0 {
					rt.Fatalf("place %d has realised more than the one before", i)
				}
			}
		}
	})
}

// fill draws entries in the order of time.
func (b *book) fill(t *rapid.T, chain string) {
	at := int64(now - now%60 - 2*pnl.Day)
	for range rapid.IntRange(0, 40).Draw(t, "entries") {
		at += rapid.SampledFrom([]int64{60, 3600, 600, 1, 59, 20_040}).Draw(t, "seconds")
		b.enter(chain, wallet(rapid.IntRange(1, 4).Draw(t, "wallet")), pnl.Entry{
			Position: pnl.Position{Token: pnl.Token{Mint: token(rapid.IntRange(1, 2).Draw(t, "token"))}},
			Kind:     rapid.SampledFrom([]pnl.Kind{pnl.Sell, pnl.Buy, pnl.Sell, pnl.Buy, pnl.Sell, pnl.Buy, pnl.Sell, pnl.Buy, pnl.In, pnl.In, pnl.Out}).Draw(t, "kind"), At: at,
			Amount: market.Amount{rapid.Uint64Range(1, 1000).Draw(t, "amount")}, NanoUSD: rapid.Int64Range(1000, 1_000_000).Draw(t, "value"),
			HasUSD: rapid.IntRange(0, 5).Draw(t, "valued") > 0, Ineligible: rapid.IntRange(0, 5).Draw(t, "ineligible") == 0,
		})
	}
}

func newBook(owners map[market.Address]int64) *book {
	return &book{positions: map[market.PositionKey]*market.Position{}, hours: map[market.HourKey]*market.WalletHour{}, owners: owners}
}

// enrol has three members: the first with two wallets. It gives their numbers by wallet.
func enrol(t *testing.T, st *store.Store) (owners map[market.Address]int64, d *members.Directory) {
	t.Helper()
	var records []member.Record
	for id, wallets := range [][]int{{1, 2}, {3}, {4}} {
		name := member.ID(fmt.Sprint("u", id+1))
		records = append(records, member.Record{ID: name, Handle: string(name), JoinedAt: 1, UpdatedAt: 1})
		for _, n := range wallets {
			w := &member.WalletRecord{Family: chainconfig.EVM, Address: wallet(n), Since: 1}
			if n == 4 { // that of the third is proved
				w.Names, w.Signed, w.IssuedAt, w.Proof = true, true, now, &member.Proof{Text: "text", Signature: "signature", CheckedAt: now}
			}
			records = append(records, member.Record{ID: name, UpdatedAt: 1, Wallet: w})
		}
	}
	applied, _, err := st.Social.Registry.Apply(t.Context(), records, true, now)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range applied {
		if a.Err != nil {
			t.Fatal(a.Err)
		}
	}
	d = members.NewDirectory(st.Social.Registry)
	if err := d.Follow(t.Context()); err != nil {
		t.Fatal(err)
	}
	owners = map[market.Address]int64{}
	for n := range 4 {
		w, ok := d.Owner(chainconfig.EVM, wallet(n+1), "base")
		if !ok {
			t.Fatalf("wallet %d is nobody's", n+1)
		}
		owners[wallet(n+1)] = int64(w.Number)
	}
	return owners, d
}

// write commits what an indexer would.
func (b *book) write(t *testing.T, st *store.Store, chain string) {
	t.Helper()
	l, err := st.Leases.Acquire(t.Context(), chain, "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for k, h := range b.hours {
		b.Hours = append(b.Hours, market.Change[market.HourKey, market.WalletHour]{Key: k, After: h})
	}
	for k, p := range b.positions {
		b.Positions = append(b.Positions, market.Change[market.PositionKey, market.Position]{Key: k, After: p})
	}
	last := market.Header{Number: 1, Hash: market.Hash{1}, Time: now}
	if err := st.Commit(t.Context(), l, &store.Commit{Last: last, Blocks: []market.Header{last}, Changes: b.Changes}); err != nil {
		t.Fatal(err)
	}
}

// TestProvedAlone leaves out what wallets realised that the platform alone vouches for.
func TestProvedAlone(t *testing.T) {
	t.Parallel()
	st := storetest.Open(t, "sqlite")
	owners, d := enrol(t, st)
	b := newBook(owners)
	for _, w := range []int{1, 3, 4} {
		for i, kind := range []pnl.Kind{pnl.Buy, pnl.Sell, pnl.Buy, pnl.Sell} { // in a whole hour, and in one that isn't over
			b.enter("base", wallet(w), pnl.Entry{
				Position: pnl.Position{Token: pnl.Token{Mint: token(1)}}, Kind: kind, At: now - now%60 - 7200*int64(1-i/2), Amount: market.Amount{10}, NanoUSD: int64(100 + i), HasUSD: true,
			})
		}
	}
	b.write(t, st, "base")
	r := profit.NewReader(st.Wallets, st.Social.Profit, d, time.Now)
	for provedAlone, want := range map[bool]int{false: 3, true: 1} {
		got, _, err := r.Board(t.Context(), chains, now-now%60, provedAlone)
		if err != nil || len(got.Traders) != want {
			t.Fatalf("%d members, %v; want %d", len(got.Traders), err, want)
		}
		if last := got.Traders[len(got.Traders)-1]; last.Sales != 2 || int64(last.Member) != owners[wallet(4)] {
			t.Errorf("the last is %+v", last)
		}
	}
}

// TestSeries adds up hours by buckets, remembers those that can't change, and counts each member once.
func TestSeries(t *testing.T) {
	t.Parallel()
	st := storetest.Open(t, "sqlite")
	owners, _ := enrol(t, st)
	b := newBook(owners)
	const open = now - now%3600
	trade := func(w int, kind pnl.Kind, at, nano int64) {
		b.enter("base", wallet(w), pnl.Entry{
			Position: pnl.Position{Token: pnl.Token{Mint: token(1)}}, Kind: kind, At: at, Amount: market.Amount{10}, NanoUSD: nano, HasUSD: true,
		})
	}
	for _, w := range []int{1, 2, 3} {
		trade(w, pnl.Buy, open-3*3600, 100)
		trade(w, pnl.Buy, open-3*3600, 100)
	}
	trade(1, pnl.Sell, open-3600, 150)
	trade(2, pnl.Sell, open-1, 50)
	trade(3, pnl.Sell, open-1800, 101)
	trade(3, pnl.Sell, open, 300)
	b.write(t, st, "base")
	r := profit.NewReader(st.Wallets, st.Social.Profit, members.NewDirectory(st.Social.Registry), time.Now)
	if first, ok, err := r.FirstHour(t.Context(), chains); first != open-3*3600 || !ok || err != nil {
		t.Errorf("the first hour is %d, %v, %v", first, ok, err)
	}
	s, stale, err := r.Series(t.Context(), chains, profit.Span{Interval: 3600, From: open - 3*3600, To: now, Final: open + 10})
	if err != nil || stale || len(s.Points) != 4 {
		t.Fatalf("%+v, %v, %v", s, stale, err)
	}
	for i, want := range []profit.Point{
		{T: open - 3*3600, HourSums: market.HourSums{Volume: market.NanoUSD(600), Trades: 6}, IsFinal: true},
		{T: open - 7200, IsFinal: true},
		{T: open - 3600, HourSums: market.HourSums{Realised: market.NanoUSD(1), Sales: 3, Members: 2, Volume: market.NanoUSD(301), Trades: 3}, IsFinal: true},
		{T: open, HourSums: market.HourSums{Realised: market.NanoUSD(200), Sales: 1, Members: 1, Volume: market.NanoUSD(300), Trades: 1}},
	} {
		if s.Points[i] != want {
			t.Errorf("point %d is %+v, want %+v", i, s.Points[i], want)
		}
	}
	if _, ok, err := r.FirstHour(t.Context(), chains[1:]); ok || err != nil {
		t.Errorf("a chain without any: %v, %v", ok, err)
	}
}

// TestClosedBuckets: a bucket that is closed is told as it was, whatever its hours come to by now.
func TestClosedBuckets(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			st := storetest.Open(t, kind)
			l, err := st.Social.Leases.Acquire(t.Context(), "test", time.Hour.Milliseconds())
			if err != nil || l == nil {
				t.Fatal(err)
			}
			const open = now - now%3600
			lost := market.HourSums{Realised: market.NanoUSD(-1_500), Sales: 7, Members: 3, Volume: market.NanoUSD(math.MaxInt64).Add(market.NanoUSD(math.MaxInt64)), Trades: 9}
			for _, b := range []social.ProfitBucket{
				{Width: 3600, OpenAt: open - 4*3600, HourSums: market.HourSums{Sales: 1}}, {Width: 3600, OpenAt: open - 2*3600, HourSums: lost}, {Width: 6 * 3600, OpenAt: open - 3600, HourSums: market.HourSums{Sales: 1}},
			} {
				if err := st.Social.Profit.CloseProfitBuckets(t.Context(), l, b.Width, 0, []social.ProfitBucket{b}); err != nil {
					t.Fatal(err)
				}
			}
			r := profit.NewReader(st.Wallets, st.Social.Profit, members.NewDirectory(st.Social.Registry), time.Now)
			s, stale, err := r.Series(t.Context(), chains, profit.Span{Interval: 3600, From: open - 3*3600, To: now, Final: 0})
			if err != nil || stale {
				t.Fatal(stale, err)
			}
			want := []profit.Point{{T: open - 3*3600}, {T: open - 2*3600, HourSums: lost, IsFinal: true}, {T: open - 3600}, {T: open}}
			if !slices.Equal(s.Points, want) {
				t.Errorf("the points are %+v, want %+v", s.Points, want)
			}
			if err := st.Social.Profit.CloseProfitBuckets(t.Context(), l, 3600, open-2*3600, nil); err != nil {
				t.Fatal(err)
			}
			if all, err := st.Social.Profit.ProfitBuckets(t.Context(), 3600, 0, now); err != nil || len(all) != 1 || all[0].OpenAt != open-2*3600 {
				t.Errorf("of the old ones there are %+v, %v", all, err)
			}
		})
	}
}

// TestAskedAgain: sums are made anew beside who asks; after a while, or at first, who asks waits for them.
func TestAskedAgain(t *testing.T) {
	t.Parallel()
	st := storetest.Open(t, "sqlite")
	owners, d := enrol(t, st)
	var passed atomic.Int64
	r := profit.NewReader(st.Wallets, st.Social.Profit, d, func() time.Time { return time.Unix(now+passed.Load(), 0) })
	sales := func() int {
		t.Helper()
		b, stale, err := r.Board(t.Context(), chains, now-now%60, false)
		if err != nil || stale {
			t.Fatal(stale, err)
		}
		return len(b.Traders)
	}
	if n := sales(); n != 0 {
		t.Fatalf("%d members at first", n)
	}
	sell := func(w int, chain string) {
		b := newBook(owners)
		for i, kind := range []pnl.Kind{pnl.Buy, pnl.Sell} {
			b.enter(chain, wallet(w), pnl.Entry{
				Position: pnl.Position{Token: pnl.Token{Mint: token(1)}}, Kind: kind, At: now - 7200, Amount: market.Amount{10}, NanoUSD: int64(100 + i), HasUSD: true,
			})
		}
		b.write(t, st, chain)
	}
	sell(1, "base")
	passed.Add(9)
	if n := sales(); n != 0 {
		t.Errorf("%d members a moment later", n)
	}
	passed.Add(1)
	if n := sales(); n != 0 {
		t.Errorf("%d members: who asks waited", n)
	}
	for range 500 {
		if sales() == 1 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	sell(3, "bsc")
	passed.Add(60)
	if n := sales(); n != 2 {
		t.Errorf("%d members after a long while", n)
	}
}
