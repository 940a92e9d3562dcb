package indexer_test

import (
	"encoding/hex"
	"encoding/json"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// isDrawn reports whether a log's block is one of those that two endpoints have to agree on in any case.
func isDrawn(log map[string]any) bool {
	hash := text(log["blockHash"])
	last, err := hex.DecodeString(hash[len(hash)-8:])
	if err != nil || len(last) != 4 {
		return false
	}
	return (uint32(last[0])<<24|uint32(last[1])<<16|uint32(last[2])<<8|uint32(last[3]))%10 == 0
}

// isRewound reports whether blocks were taken back.
func isRewound(t *testing.T, st *store.Store) bool {
	t.Helper()
	s, _, err := st.Chain(t.Context(), "base")
	if err != nil {
		t.Fatal(err)
	}
	return s.Rewinds > 0
}

// TestForgedBlocksOfBeforeARestart indexes blocks through a forger beside two honest nodes, and ends the indexer before the forger is
// found out. The next indexer takes the forged blocks back: as soon as the forger is found out where it lies on, and by and by where it
// doesn't.
func TestForgedBlocksOfBeforeARestart(t *testing.T) {
	t.Parallel()
	for name, liesOn := range map[string]bool{"the forger lies on": true, "the forger lies no more": false} {
		for _, kind := range storetest.Both {
			t.Run(name+" on "+kind, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, 30)
				f, url := w.forger(t, func(_ uint64, logs []map[string]any) []map[string]any {
					if isDrawn(logs[0]) {
						return logs
					}
					return keepHalf(logs)
				})
				cfg := w.config()
				cfg.ReorgBlocks, cfg.Start.Block = 400, 1
				cfg.Endpoints = []chainconfig.Endpoint{{URL: url, Weight: 50}, {URL: w.node.URL(), Weight: 1}, {URL: w.node.URL(), Weight: 1}}
				st := storetest.Open(t, kind)
				ix, stop := startImpatient(t, cfg, st)
				w.await(t, st)
				f.armed.Store(true)
				for n := 0; f.lies.Load() < 8; n++ {
					if n == 40 {
						t.Fatal("next to nothing was forged")
					}
					w.trade(t, 1)
					w.await(t, st)
				}
				stop()
				if contradicted(ix) || isRewound(t, st) {
					t.Fatal("the forger was found out before the restart: the test shows nothing")
				}

				if f.forge = func(_ uint64, logs []map[string]any) []map[string]any { return keepHalf(logs) }; !liesOn {
					f.armed.Store(false)
				}
				ix, stop = startImpatient(t, cfg, st)
				if liesOn {
					w.untilContradicted(t, ix, st)
				} else {
					for n := 0; n < 60 && !isRewound(t, st); n++ {
						w.trade(t, 4)
						w.await(t, st)
					}
					w.trade(t, 4)
					w.await(t, st)
				}
				stop()
				honest := w.config()
				honest.ReorgBlocks, honest.Start.Block = cfg.ReorgBlocks, cfg.Start.Block
				w.compare(t, st, honest)
			})
		}
	}
}

// TestBlocksOfBeforeARestartCostLittle starts again behind two honest nodes, and counts how often logs are asked for: once for each block, for
// one in ten of them twice, and twice every eighth block for one of before, which is sure from then on.
func TestBlocksOfBeforeARestartCostLittle(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 30)
	var asked atomic.Int64
	count := func(method string, _ []json.RawMessage, result json.RawMessage) json.RawMessage {
		if method == "eth_getLogs" {
			asked.Add(1)
		}
		return result
	}
	cfg := w.config()
	cfg.ReorgBlocks, cfg.Start.Block = 400, 1
	cfg.Endpoints = []chainconfig.Endpoint{{URL: w.relay(t, count), Weight: 1}, {URL: w.relay(t, count), Weight: 1}}
	st := storetest.Open(t, "sqlite")
	_, stop := startImpatient(t, cfg, st)
	w.await(t, st)
	stop()
	before, err := st.Facts.UnsureBlocks(t.Context(), "base")
	if err != nil || len(before) < 20 {
		t.Fatalf("%d blocks rest on one endpoint's word, %v: the test shows nothing", len(before), err)
	}
	asked.Store(0)
	_, stop = startImpatient(t, cfg, st)
	const blocks = 64
	for range blocks / 8 {
		w.trade(t, 8)
		w.await(t, st)
	}
	stop()
	after, err := st.Facts.UnsureBlocks(t.Context(), "base")
	if err != nil {
		t.Fatal(err)
	}
	sure := 0
	for _, b := range before {
		if !slices.ContainsFunc(after, func(a store.UnsureBlock) bool { return a.Hash == b.Hash }) {
			sure++
		}
	}
	if sure < blocks/8-1 || sure > blocks/8+1 {
		t.Errorf("%d of %d blocks of before are sure after %d more, want one for each eight", sure, len(before), blocks)
	}
	// What is drawn, or moves a reference price, isn't the same in each run: half of the blocks is far beyond it.
	if most := int64(blocks + blocks/2 + 2*blocks/8); asked.Load() > most || asked.Load() < blocks {
		t.Errorf("logs were asked for %d times for %d blocks, want %d at most", asked.Load(), blocks, most)
	}
	t.Logf("logs were asked for %d times for %d blocks", asked.Load(), blocks)
}

// TestALiarIsKnownAfterARestart finds a forger out beside two honest nodes and starts again: the forger is asked for no logs any more. After a
// week it is one of those that are asked first again.
func TestALiarIsKnownAfterARestart(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 30)
			f, url := w.forger(t, func(_ uint64, logs []map[string]any) []map[string]any { return keepHalf(logs) })
			cfg := w.config()
			cfg.ReorgBlocks, cfg.Start.Block = 400, 1
			cfg.Endpoints = []chainconfig.Endpoint{{URL: url, Weight: 50}, {URL: w.node.URL(), Weight: 1}, {URL: w.node.URL(), Weight: 1}}
			st := storetest.Open(t, kind)
			var c clock
			ix, stop := startAt(t, &c, cfg, st)
			w.await(t, st)
			f.armed.Store(true)
			w.untilContradicted(t, ix, st)
			stop()
			if records, err := st.Facts.EndpointRecords(t.Context(), "base"); err != nil || len(records) != 1 {
				t.Errorf("the database knows of %d endpoints that were contradicted, %v; want 1", len(records), err)
			}

			lies := f.lies.Load()
			_, stop = startAt(t, &c, cfg, st)
			w.trade(t, 10)
			w.await(t, st)
			stop()
			if f.lies.Load() != lies {
				t.Errorf("after a restart the forger was asked for logs %d times", f.lies.Load()-lies)
			}

			c.ahead.Add(int64(8 * 24 * time.Hour))
			ix, stop = startAt(t, &c, cfg, st)
			w.untilContradicted(t, ix, st)
			stop()
			if f.lies.Load() == lies {
				t.Error("after eight days the forger wasn't asked for logs")
			}
		})
	}
}
