package indexer

import (
	"encoding/binary"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// BenchmarkMergeOfAMajor merges the staged balances of 1.8 million accounts, or of BOARDWALK_MERGE_ACCOUNTS, by commits of empty blocks. It tells
// the longest commit, and how much more memory the process had at most than before.
func BenchmarkMergeOfAMajor(b *testing.B) {
	accounts := 1_800_000
	if n, err := strconv.Atoi(os.Getenv("BOARDWALK_MERGE_ACCOUNTS")); err == nil {
		accounts = n
	}
	for _, kind := range storetest.Both {
		b.Run(kind, func(b *testing.B) {
			for range b.N {
				mergeOfAMajor(b, kind, accounts)
			}
		})
	}
}

func benchHeader(n uint64) market.Header {
	h := market.Header{Number: n, Time: int64(1_700_000_000 + n)}
	binary.BigEndian.PutUint64(h.Hash[24:], n)
	binary.BigEndian.PutUint64(h.Parent[24:], n-1)
	return h
}

func mergeOfAMajor(b *testing.B, kind string, accounts int) {
	b.Helper()
	b.StopTimer()
	ctx := b.Context()
	mint := market.EVMAddress([32]byte{12: 1})
	cfg := &chainconfig.Chain{
		ID: "base", Family: chainconfig.EVM, EVMChainID: 1, BlockTime: chainconfig.Duration(time.Second), ReorgBlocks: 64, FinalityDepth: 64,
		Native:    chainconfig.Native{Symbol: "ETH", Wrapped: mint},
		Quotes:    []chainconfig.Quote{{Symbol: "WETH", Address: mint}},
		Majors:    []chainconfig.Major{{Asset: "ETH", Address: mint}},
		Endpoints: []chainconfig.Endpoint{{URL: "http://127.0.0.1:1", Weight: 1}},
		Tracking:  chainconfig.Tracking{Holders: chainconfig.HoldersDeclared},
	}
	st, err := store.Open(ctx, storetest.DSN(b, kind))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = st.Close() }()
	ix, err := New(cfg, st, Options{Log: slog.New(slog.DiscardHandler), Now: time.Now, Holder: "bench"})
	if err != nil {
		b.Fatal(err)
	}
	if ix.lease, err = st.Leases.Acquire(ctx, cfg.ID, "bench", time.Hour); err != nil {
		b.Fatal(err)
	}
	token := market.Token{Mint: mint, FirstBlock: 100, Holders: market.Holders{Status: market.HoldersIndexing}}
	c := &store.Commit{Last: benchHeader(100), Blocks: []market.Header{benchHeader(100)}, Horizon: 100}
	c.Changes.Tokens = []market.Change[market.Address, market.Token]{{Key: mint, After: &token}}
	if err := st.Commit(ctx, ix.lease, c); err != nil {
		b.Fatal(err)
	}
	job := market.HolderJob{Token: mint, Final: 99, Next: 100}
	if err := st.Jobs.Begin(ctx, ix.lease, []market.HolderJob{job}); err != nil {
		b.Fatal(err)
	}
	const piece = 20_000
	for n := 0; n < accounts; n += piece {
		p := store.HolderProgress{Before: job, After: job, Staged: map[market.Address]market.Amount{}}
		for i := n; i < min(n+piece, accounts); i++ {
			var word [32]byte
			binary.BigEndian.PutUint64(word[12:], uint64(i)*0x9e3779b97f4a7c15)
			word[31] = 1
			var amount market.Amount
			amount.SetUint64(uint64(i + 1))
			p.Staged[market.EVMAddress(word)] = amount
		}
		p.After.Accounts = int64(min(n+piece, accounts))
		if p.After.Accounts == int64(accounts) {
			p.After.Step = market.MergeAccounts
		}
		if err := st.Jobs.Save(ctx, ix.lease, &p); err != nil {
			b.Fatal(err)
		}
		job = p.After
	}
	if err := ix.resume(ctx); err != nil {
		b.Fatal(err)
	}
	m := watchMemory()
	var took []time.Duration
	b.StartTimer()
	for n := uint64(101); ; n++ {
		began := time.Now()
		if err := ix.commit(ctx, nil, benchHeader(n), true); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
		ix.merges.until = time.Time{} // no pauses: they are for blocks
		jobs, err := st.Jobs.List(ctx, cfg.ID)
		if err != nil {
			b.Fatal(err)
		}
		if len(jobs) == 0 {
			break
		}
	}
	b.StopTimer()
	heap, rss := m.end()
	if h := ix.state.Token(mint).Holders; h.Status != market.HoldersCurrent || h.Count != int64(accounts) {
		b.Fatalf("the holders are %+v", h)
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)-1].Milliseconds()), "longest-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Milliseconds()), "p99-ms")
	b.ReportMetric(float64(len(took)), "commits")
	b.ReportMetric(heap, "heap-MB")
	b.ReportMetric(rss, "rss-MB")
}

// memory is how much more of it the process had at most.
type memory struct {
	stop      chan struct{}
	done      sync.WaitGroup
	heap, rss float64
}

func watchMemory() *memory {
	m := &memory{stop: make(chan struct{})}
	runtime.GC()
	heap, rss := memoryNow()
	m.done.Go(func() {
		for {
			select {
			case <-m.stop:
				return
			case <-time.After(50 * time.Millisecond):
				h, r := memoryNow()
				m.heap, m.rss = max(m.heap, h-heap), max(m.rss, r-rss)
			}
		}
	})
	return m
}

func (m *memory) end() (heapMB, rssMB float64) {
	close(m.stop)
	m.done.Wait()
	return m.heap, m.rss
}

func memoryNow() (heapMB, rssMB float64) {
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	text, err := os.ReadFile("/proc/self/statm")
	var size, resident float64
	if err == nil {
		_, _ = fmt.Sscan(string(text), &size, &resident)
	}
	return float64(s.HeapInuse) / 1e6, resident * float64(os.Getpagesize()) / 1e6
}
