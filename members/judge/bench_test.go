package judge_test

import (
	"fmt"
	"testing"

	"github.com/boardwalkhq/boardwalk/hack/written"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// BenchmarkLook looks at 10,000 open calls of 2,000 tokens: with nothing new, and after a block in which a tenth of the tokens was traded.
func BenchmarkLook(b *testing.B) {
	const tokens, callers = 2_000, 5
	for _, kind := range storetest.Both {
		b.Run(kind, func(b *testing.B) {
			st, err := store.Open(b.Context(), storetest.DSN(b, kind))
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { _ = st.Close() })
			w := newWorld(b, st)
			mint := func(n int) market.Address {
				return market.EVMAddress([32]byte{12: 0xcb, 30: byte(n >> 8), 31: byte(n)})
			}
			pair := func(n int) market.Address {
				return market.EVMAddress([32]byte{12: 0xcc, 30: byte(n >> 8), 31: byte(n)})
			}
			var facts []market.Fact
			var events []market.Event
			for n := range tokens {
				facts = append(facts, written.Told(mint(n), 18))
				events = append(append(events, written.PairOf(w.Factory, pair(n), mint(n), w.USDC)), written.TradeAt(pair(n), 10, 100_000)...)
			}
			w.block(b, 1, facts, events...)
			for n := range tokens { // as many members as tokens, with five calls each
				by := member.ID(fmt.Sprint("m", n))
				records := []member.Record{{ID: by, Handle: string(by), JoinedAt: 1, UpdatedAt: 1}}
				for i := range callers {
					records = append(records, member.Record{ID: by, UpdatedAt: 1, Call: &member.CallRecord{
						ID: member.CallID(fmt.Sprintf("c%d-%d", n, i)), Chain: "base", Mint: mint((n + i) % tokens),
						Price: member.CallPrice{USD: 10, Block: w.Last.Number, Time: w.Last.Time, FinalTime: start},
					}})
				}
				for _, a := range w.apply(b, records...) {
					if a.Err != nil {
						b.Fatal(a.Err)
					}
				}
			}
			look := func() {
				if err := w.judge.Look(b.Context(), w.lease); err != nil {
					b.Fatal(err)
				}
			}
			look()
			b.Run("nothing new", func(b *testing.B) {
				for b.Loop() {
					look()
				}
			})
			b.Run("a tenth traded", func(b *testing.B) {
				for n := 0; b.Loop(); n++ {
					b.StopTimer()
					var events []market.Event
					for i := range tokens / 10 {
						events = append(events, written.TradeAt(pair((n*tokens/10+i)%tokens), 10+uint64(n%3), 100_000)...)
					}
					w.block(b, 2, nil, events...)
					b.StartTimer()
					look()
				}
			})
		})
	}
}
