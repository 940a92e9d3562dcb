package indexer_test

import (
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// TestForgedBlocksThatComeBack has forged blocks taken back and read anew from an honest node, and then the database go back to the forged ones:
// what this process read since says nothing about the rows that are there again.
func TestForgedBlocksThatComeBack(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
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
			dsn := storetest.DSN(t, kind)
			st := storetest.OpenAt(t, dsn)
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
			if contradicted(ix) || isRewound(t, st) {
				t.Fatal("the forger was found out at once: the test shows nothing")
			}
			restore := storetest.Snapshot(t, dsn)

			f.forge = func(_ uint64, logs []map[string]any) []map[string]any { return keepHalf(logs) }
			w.untilContradicted(t, ix, st)
			w.trade(t, 4)
			w.await(t, st)
			f.armed.Store(false)
			restore()
			w.trade(t, 4)
			w.await(t, st)
			w.trade(t, 8)
			w.await(t, st)
			stop()
			honest := w.config()
			honest.ReorgBlocks, honest.Start.Block = cfg.ReorgBlocks, cfg.Start.Block
			w.compare(t, st, honest)
		})
	}
}
