package profit_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/read/members"
	"github.com/boardwalkhq/boardwalk/apiserver/read/profit"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/pnl"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

const (
	benchMembers = 100_000
	benchTokens  = 5_000
	// benchActive are the wallets that do something in an hour, benchDays are how long they do, and benchEntries how many entries each then has.
	benchActive, benchDays, benchEntries = 4_000, 7, 3
)

func benchWallet(n int) market.Address {
	return market.EVMAddress([32]byte{12: 0xcc, 29: byte(n >> 16), 30: byte(n >> 8), 31: byte(n)})
}

// BenchmarkReads reads leaderboard and series as the first to ask does, beside 100,000 members with a wallet each, of which 4,000
// do something in an hour, on PostgreSQL: 2 million entries. It tells the time of each (p50), and what the directory of members takes.
func BenchmarkReads(b *testing.B) {
	dsn := storetest.DSN(b, "postgres")
	st, err := store.Open(b.Context(), dsn)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = st.Close() }()
	numbers := benchRegistry(b, st)
	benchRows(b, st, numbers)
	if _, err := st.Inspect.Database().Write.ExecContext(b.Context(), "ANALYZE"); err != nil {
		b.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	began := time.Now()
	d := members.NewDirectory(st.Social.Registry)
	if err := d.Follow(b.Context()); err != nil {
		b.Fatal(err)
	}
	followed := time.Since(began)
	runtime.GC()
	runtime.ReadMemStats(&after)
	chains := []profit.Chain{{ID: "base", Family: chainconfig.EVM}}
	for name, read := range map[string]func(*profit.Reader) error{
		"leaderboard": func(r *profit.Reader) error {
			_, _, err := r.Board(b.Context(), chains, now-now%60, false)
			return err
		},
		"series7d": func(r *profit.Reader) error {
			_, _, err := r.Series(b.Context(), chains, profit.Span{Interval: 6 * 3600, From: now - now%21600 - 27*21600, To: now, Final: now})
			return err
		},
	} {
		b.Run(name, func(b *testing.B) {
			var cold, warm []time.Duration
			for b.Loop() {
				r := profit.NewReader(st.Wallets, st.Social.Profit, d, time.Now)
				for _, took := range []*[]time.Duration{&cold, &warm} {
					began := time.Now()
					if err := read(r); err != nil {
						b.Fatal(err)
					}
					*took = append(*took, time.Since(began))
				}
			}
			slices.Sort(cold)
			slices.Sort(warm)
			b.ReportMetric(float64(cold[len(cold)/2].Microseconds())/1000, "first-p50-ms")
			b.ReportMetric(float64(warm[len(warm)/2].Microseconds()), "again-p50-us")
			b.ReportMetric(followed.Seconds(), "directory-s")
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "directory-MiB")
		})
	}
}

// benchRegistry has the members join, and gives their numbers by wallet.
func benchRegistry(b *testing.B, st *store.Store) map[int]int64 {
	b.Helper()
	for from := 0; from < benchMembers; from += 1000 {
		var records []member.Record
		for n := from; n < from+1000; n++ {
			id := member.ID(fmt.Sprint("u", n))
			records = append(records, member.Record{ID: id, Handle: fmt.Sprint("member_", n), JoinedAt: 1, UpdatedAt: 1},
				member.Record{ID: id, UpdatedAt: 1, Wallet: &member.WalletRecord{Family: chainconfig.EVM, Address: benchWallet(n), Since: 1}})
		}
		if _, written, err := st.Social.Registry.Apply(b.Context(), records, true, now); err != nil || !written {
			b.Fatal(written, err)
		}
	}
	d := members.NewDirectory(st.Social.Registry)
	if err := d.Follow(b.Context()); err != nil {
		b.Fatal(err)
	}
	numbers := make(map[int]int64, benchMembers)
	for n := range benchMembers {
		w, _ := d.Owner(chainconfig.EVM, benchWallet(n), "base")
		numbers[n] = int64(w.Number)
	}
	return numbers
}

// benchRows writes hours, entries and positions.
func benchRows(b *testing.B, st *store.Store, numbers map[int]int64) {
	b.Helper()
	l, err := st.Leases.Acquire(b.Context(), "base", "bench", time.Hour)
	if err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	in := map[market.PositionKey]bool{}
	for h := range benchDays * 24 {
		open := int64(now - now%3600 - 3600*h)
		c := &store.Commit{Last: market.Header{Number: uint64(h + 1), Hash: market.Hash{byte(h), byte(h >> 8), 1}, Time: now}}
		for i := range benchActive {
			n := (h*benchActive + i) * 7919 % benchMembers // each of them once
			k := market.HourKey{Wallet: benchWallet(n), Member: numbers[n], Open: open}
			hour := &market.WalletHour{HourKey: k, Profit: market.Profit{Cost: pnl.Nano(r.Int64N(1e12)), Proceeds: pnl.Nano(r.Int64N(1e12)), Volume: pnl.Nano(2e12), Trades: 3, Sales: 1, Wins: 1}}
			c.Changes.Hours = append(c.Changes.Hours, market.Change[market.HourKey, market.WalletHour]{Key: k, After: hour})
			for e := range benchEntries {
				c.Changes.Entries = append(c.Changes.Entries, market.Entry{
					Wallet: k.Wallet, Block: uint64(h + 1), Seq: uint32(len(c.Changes.Entries)), Time: min(open+int64(e*1000), now), Tx: market.EVMTx([32]byte{byte(e), 1}),
					Token: token(r.IntN(benchTokens)), Kind: market.EntryKind(e % 2), Amount: market.Amount{5}, NanoUSD: 1e9, HasUSD: true, Counts: true,
					Proceeds: pnl.Nano(5), Cost: pnl.Nano(3),
				})
			}
			p := market.PositionKey{Wallet: k.Wallet, Token: token(r.IntN(benchTokens))}
			if !in[p] {
				in[p] = true
				c.Changes.Positions = append(c.Changes.Positions, market.Change[market.PositionKey, market.Position]{Key: p, After: &market.Position{Quantity: market.Amount{5}, IsIn: true}})
			}
		}
		if err := st.Commit(b.Context(), l, c); err != nil {
			b.Fatal(err)
		}
	}
}
