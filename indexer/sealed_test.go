package indexer_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// TestAHeadersTimeIsThatOfItsHash indexes through an endpoint that has all blocks two hours early, while the honest one is away. What it
// says fits together, and still nothing of it is taken: the headers' hashes tell.
func TestAHeadersTimeIsThatOfItsHash(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 60)
	var armed atomic.Bool
	var lies atomic.Int64
	liar := w.relay(t, func(method string, _ []json.RawMessage, result json.RawMessage) json.RawMessage {
		var header map[string]any
		if !strings.HasPrefix(method, "eth_getBlockBy") || !armed.Load() || json.Unmarshal(result, &header) != nil || header == nil {
			return result
		}
		at, err := strconv.ParseInt(text(header["timestamp"]), 0, 64)
		if err != nil {
			return result
		}
		header["timestamp"] = fmt.Sprintf("0x%x", at-7200)
		out, err := json.Marshal(header)
		if err != nil {
			return result
		}
		lies.Add(1)
		return out
	})
	m, honest := w.behind(t, 0)
	cfg := w.config()
	cfg.Endpoints = []chainconfig.Endpoint{{URL: liar, Weight: 50}, {URL: honest, Weight: 1}}
	st := storetest.Open(t, "sqlite")
	stop := run(t, cfg, st, 0)
	w.await(t, st)
	armed.Store(true)
	m.down.Store(true)
	w.trade(t, 12)
	for deadline := time.Now().Add(30 * time.Second); lies.Load() < 5 && time.Now().Before(deadline); {
		time.Sleep(20 * time.Millisecond)
	}
	m.down.Store(false)
	w.trade(t, 3)
	w.await(t, st)
	stop()
	if lies.Load() < 5 {
		t.Errorf("only %d headers were forged: the test shows little", lies.Load())
	}
	w.compare(t, st, w.config())
}
