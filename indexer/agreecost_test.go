package indexer_test

import (
	"encoding/json"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// TestAgreementCostsLittle follows the head through one node and, at the same time, through two, and counts the requests but those for the head itself,
// which follow the clock: what a second node is asked for is less than 0.3 requests a block. How many blocks are read at once depends on how busy the
// machine is, for both alike.
func TestAgreementCostsLittle(t *testing.T) {
	t.Parallel()
	const blocks = 200
	w := newWorld(t, 60)
	asked := make([]atomic.Int64, 2) // by an index with one endpoint, and by one with two
	stores := make([]*store.Store, len(asked))
	for i := range asked {
		count := func(method string, params []json.RawMessage, result json.RawMessage) json.RawMessage {
			if method != "eth_getBlockByNumber" || !slices.Contains([]string{`"latest"`, `"safe"`, `"finalized"`}, string(params[0])) {
				asked[i].Add(1)
			}
			return result
		}
		cfg := w.config()
		cfg.Endpoints = nil
		for range i + 1 {
			cfg.Endpoints = append(cfg.Endpoints, chainconfig.Endpoint{URL: w.relay(t, count), Weight: 1})
		}
		stores[i] = storetest.Open(t, "sqlite")
		_, stop := startImpatient(t, cfg, stores[i])
		defer stop()
		w.await(t, stores[i])
	}
	before := []int64{asked[0].Load(), asked[1].Load()}
	for range blocks / 8 {
		w.trade(t, 8)
		for _, st := range stores {
			w.await(t, st)
		}
	}
	one, two := asked[0].Load()-before[0], asked[1].Load()-before[1]
	extra := float64(two-one) / blocks
	t.Logf("%d blocks: %d requests to one endpoint, %d to two, %.2f more a block", blocks, one, two, extra)
	if extra >= 0.3 {
		t.Errorf("%.2f requests more a block, want less than 0.3", extra)
	}
}
