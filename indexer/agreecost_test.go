package indexer_test

import (
	"encoding/json"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// TestAgreementCostsLittle follows the head through one node and through two, and counts the requests but those for the head itself, which
// follow the clock: what a second node is asked for is less than 0.3 requests a block.
func TestAgreementCostsLittle(t *testing.T) {
	t.Parallel()
	const blocks = 200
	requests := func(t *testing.T, endpoints int) int64 {
		t.Helper()
		w := newWorld(t, 60)
		var asked atomic.Int64
		count := func(method string, params []json.RawMessage, result json.RawMessage) json.RawMessage {
			if method != "eth_getBlockByNumber" || !slices.Contains([]string{`"latest"`, `"safe"`, `"finalized"`}, string(params[0])) {
				asked.Add(1)
			}
			return result
		}
		cfg := w.config()
		cfg.Endpoints = nil
		for range endpoints {
			cfg.Endpoints = append(cfg.Endpoints, chainconfig.Endpoint{URL: w.relay(t, count), Weight: 1})
		}
		st := storetest.Open(t, "sqlite")
		_, stop := startImpatient(t, cfg, st)
		w.await(t, st)
		asked.Store(0)
		for range blocks / 8 {
			w.trade(t, 8)
			w.await(t, st)
		}
		stop()
		return asked.Load()
	}
	one, two := requests(t, 1), requests(t, 2)
	extra := float64(two-one) / blocks
	t.Logf("%d blocks: %d requests to one endpoint, %d to two, %.2f more a block", blocks, one, two, extra)
	if extra >= 0.3 {
		t.Errorf("%.2f requests more a block, want less than 0.3", extra)
	}
}
