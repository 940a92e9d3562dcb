package chain

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkBlocks makes blocks, and answers for all their logs: a provider must have a small part of a fast chain's block time of it.
func BenchmarkBlocks(b *testing.B) {
	for _, size := range []struct{ txs, logs int }{{30, 120}, {400, 1600}, {400, 3000}} {
		c := startChain(b, Options{Txs: size.txs, Logs: size.logs})
		b.Run(fmt.Sprintf("txs=%d/logs=%d/make", size.txs, size.logs), func(b *testing.B) {
			for b.Loop() {
				if _, err := c.Extend(time.Unix(int64(c.Head().Time), 0)); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("txs=%d/logs=%d/answer", size.txs, size.logs), func(b *testing.B) {
			head := c.Head()
			txs, err := c.Txs(head)
			if err != nil {
				b.Fatal(err)
			}
			var out []byte
			for b.Loop() {
				out, _ = head.AppendLogs(out[:0], txs, &Filter{}, true)
			}
			b.SetBytes(int64(len(out)))
		})
	}
}
