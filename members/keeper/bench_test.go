package keeper_test

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/boardwalkhq/boardwalk/internal/game"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
	"github.com/boardwalkhq/boardwalk/members/keeper"
)

// benchTrades is how many trades come in a second.
const benchTrades = 500

// BenchmarkLook looks once a second, beside 10,000 members who traded on fourteen days: with nothing new, with 500 trades of as many members in tokens that aren't
// counted yet, and with 500 in tokens that are.
func BenchmarkLook(b *testing.B) {
	const members, days = 10_000, 14
	for _, kind := range storetest.Both {
		b.Run(kind, func(b *testing.B) {
			st, err := store.Open(b.Context(), storetest.DSN(b, kind))
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { _ = st.Close() })
			w := &benchWorld{b: b, st: st, now: start}
			for from := 0; from < members; from += 1000 {
				var records []member.Record
				for n := from; n < from+1000; n++ {
					records = append(records, member.Record{ID: member.ID(fmt.Sprint("u", n)), Handle: fmt.Sprint("member_", n), JoinedAt: 1, UpdatedAt: 1})
				}
				if _, written, err := st.Social.Registry.Apply(b.Context(), records, true, start); err != nil || !written {
					b.Fatal(written, err)
				}
			}
			social, err := st.Social.Leases.Acquire(b.Context(), "bench", time.Hour.Milliseconds())
			if err != nil || social == nil {
				b.Fatal(err)
			}
			k := keeper.New(keeper.Options{
				Store: st.Served(), Rules: game.Default(), Now: func() time.Time { return time.Unix(w.now, 0) }, Log: slog.New(slog.DiscardHandler),
				Behind: prometheus.NewGauge(prometheus.GaugeOpts{}),
			})
			look := func() {
				if err := k.Look(b.Context(), social); err != nil {
					b.Fatal(err)
				}
			}
			for range days {
				for n := range members / 2 { // two tokens each
					w.trade(2*n, n)
					w.trade(2*n+1, n+1)
				}
				w.commit()
				w.now += 86400
			}
			look()
			if kind == "postgres" {
				if _, err := st.Inspect.Database().Write.ExecContext(b.Context(), "ANALYZE"); err != nil {
					b.Fatal(err)
				}
			}
			b.Run("nothing new", func(b *testing.B) {
				for b.Loop() {
					look()
				}
			})
			second := 0
			for name, token := range map[string]func(n int) int{"500 new tokens": func(n int) int { return second*7 + n }, "500 counted tokens": func(int) int { return 3 }} {
				b.Run(name, func(b *testing.B) {
					for b.Loop() {
						b.StopTimer()
						second++
						for n := range benchTrades {
							w.trade((n+1000*(second%4))%members, token(n))
						}
						w.commit()
						w.now++
						b.StartTimer()
						look()
					}
				})
			}
		})
	}
}

// benchWorld is a chain whose rows are written without deriving them.
type benchWorld struct {
	b       *testing.B
	st      *store.Store
	now     int64
	lease   *store.Lease
	last    market.Header
	changes market.Changes
}

func (w *benchWorld) trade(of, token int) {
	wallet := market.EVMAddress([32]byte{12: 0xcc, 29: byte(of >> 16), 30: byte(of >> 8), 31: byte(of)})
	mint := market.EVMAddress([32]byte{12: 0xdd, 29: byte(token >> 16), 30: byte(token >> 8), 31: byte(token)})
	ch := &w.changes
	tx := market.EVMTx(market.Hash{1: byte(w.now >> 16), 2: byte(w.now >> 8), 3: byte(w.now), 4: byte(len(ch.Entries) >> 8), 5: byte(len(ch.Entries))})
	block := w.last.Number + 1
	ch.Entries = append(ch.Entries, market.Entry{
		Wallet: wallet, Block: block, Seq: uint32(len(ch.Entries)), Time: w.now, Tx: tx, Token: mint, Kind: market.Bought, NanoUSD: 5e9, HasUSD: true, Counts: true, Player: int64(of + 1),
	})
	ch.Stream = append(ch.Stream, market.StreamItem{
		Kind: market.StreamTrade, Token: mint, Time: w.now, Trade: market.StreamTradeRef{Wallet: wallet, Member: int64(of + 1), Block: block, Tx: tx},
	})
}

func (w *benchWorld) commit() {
	w.b.Helper()
	if w.lease == nil {
		var err error
		if w.lease, err = w.st.Leases.Acquire(w.b.Context(), "base", "bench", 24*time.Hour); err != nil {
			w.b.Fatal(err)
		}
	}
	n := w.last.Number + 1
	w.last = market.Header{Number: n, Hash: market.Hash{31: byte(n), 30: byte(n >> 8)}, Parent: w.last.Hash, Time: w.now}
	if err := w.st.Commit(w.b.Context(), w.lease, &store.Commit{
		Last: w.last, Blocks: []market.Header{w.last}, Undo: true, Horizon: n - min(n, 64),
		Head: store.HeadStatus{Number: n, Time: w.now, Final: n, FinalTime: w.now, SilentFrom: w.now + 3600}, Changes: w.changes,
	}); err != nil {
		w.b.Fatal(err)
	}
	w.changes = market.Changes{}
}
