package pnl_test

import (
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/pnl"
)

// BenchmarkLedger is a wallet with 100,000 trades of 200 tokens within 23 days.
func BenchmarkLedger(b *testing.B) {
	const trades = 100_000
	var entries []pnl.Entry
	for i := range trades {
		e := buy(10, 1+float64(i%7))
		if i%3 == 2 {
			e = sell(15, 2+float64(i%5))
		}
		e.At, e.Token, e.Tx = now-int64(trades-i)*20, token(byte(i%200)), market.EVMTx([32]byte{byte(i), byte(i >> 8), byte(i >> 16)})
		entries = append(entries, e)
	}
	b.ReportAllocs()
	for b.Loop() {
		l := pnl.NewLedger(pnl.Options{Now: now, Spans: []int64{pnl.Day, pnl.Week}, Points: 48, Quote: func(pnl.Token) bool { return false }})
		for i := range entries {
			l.Add(&entries[i])
		}
		if w := l.Windows(); w[0].Sales == 0 || w[1].Sales <= w[0].Sales {
			b.Fatalf("%d sales in a day, %d in a week", w[0].Sales, w[1].Sales)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/trades, "ns/trade")
}
