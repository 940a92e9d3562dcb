package traction

import (
	"fmt"
	"testing"
)

// trades are n trades of a number of wallets, all in the window.
func trades(n, wallets int) []Flow {
	out := make([]Flow, n)
	for i := range out {
		out[i] = Flow{
			Wallet: address(i*7919%wallets + 1), Time: 1_700_000_000 + int64(i*3600/n), Sell: i%5 == 0, USD: float64(10 + i%90), CloseUSD: 1,
		}
	}
	return out
}

func BenchmarkTapeAdd(b *testing.B) {
	for _, wallets := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprint(wallets, " wallets"), func(b *testing.B) {
			var t Tape
			list := trades(1<<16, wallets)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				f := list[i%len(list)]
				f.Time += int64(i/len(list)) * 3600
				t.Add(f)
			}
		})
	}
}

func BenchmarkTapeMeasure(b *testing.B) {
	for _, wallets := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprint(wallets, " wallets"), func(b *testing.B) {
			var t Tape
			for _, f := range trades(3*wallets, wallets) {
				t.Add(f)
			}
			p := Parts{LiquidityUSD: 20_000}
			b.ReportAllocs()
			for b.Loop() {
				t.Measure(&p, t.last)
			}
			b.ReportMetric(float64(bytesOf(&t))/float64(wallets), "B/wallet")
		})
	}
}

func BenchmarkTapeHour(b *testing.B) {
	for _, wallets := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprint(wallets, " wallets"), func(b *testing.B) {
			var t Tape
			for _, f := range trades(3*wallets, wallets) {
				t.Add(f)
			}
			b.ReportAllocs()
			for b.Loop() {
				t.Hour(t.last)
			}
		})
	}
}

// BenchmarkTapes is what the API holds at worst: 100,000 tokens with 5 million wallets among them.
func BenchmarkTapes(b *testing.B) {
	for b.Loop() {
		tapes := make([]Tape, 100_000)
		total := 0
		for i := range tapes {
			// Few have most: from 5 wallets to 50,000, 50 on average.
			for w := range min(50_000, 5+450_000/(i+1)) {
				tapes[i].Add(Flow{Wallet: address(w + 1), Time: 1_700_000_000 + int64(w%3600), USD: 10, CloseUSD: 1})
			}
			total += bytesOf(&tapes[i])
		}
		b.ReportMetric(float64(total)/1e6, "MB")
	}
}
