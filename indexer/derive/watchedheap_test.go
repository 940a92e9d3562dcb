package derive_test

import (
	"encoding/binary"
	"runtime"
	"testing"

	"github.com/boardwalkhq/boardwalk/indexer/derive"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// TestWatchedWalletsInMemory: an indexer keeps all members' wallets in memory. 100,000 of them cost less than 16 MB.
func TestWatchedWalletsInMemory(t *testing.T) { //nolint:paralleltest // it measures the heap
	const wallets, most = 100_000, 16_000_000
	heap := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	begin := func() *derive.State {
		list := make([]market.WatchedWallet, wallets)
		for i := range list {
			raw := make([]byte, 20)
			binary.BigEndian.PutUint64(raw[12:], uint64(i+1)*0x9e3779b97f4a7c15)
			a, err := market.AddressFromBytes(raw)
			if err != nil {
				t.Fatal(err)
			}
			list[i] = market.WatchedWallet{Wallet: a, Member: int64(i), Change: int64(i), Since: 1_700_000_000}
		}
		return derive.NewState(market.Beginning{Last: genesis, Watched: list})
	}
	before := heap()
	s := begin()
	after := heap()
	if n := s.WatchedWallets(); n != wallets {
		t.Fatalf("%d wallets are watched", n)
	}
	cost := int64(after) - int64(before)
	t.Logf("%d watched wallets cost %.1f MB", wallets, float64(cost)/1e6)
	if cost > most {
		t.Errorf("%d watched wallets cost %d bytes, want at most %d", wallets, cost, most)
	}
	runtime.KeepAlive(s)
}
