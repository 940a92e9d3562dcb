package indexer_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/boardwalkhq/boardwalk/indexer"
	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// forger stands before a node and forges the logs of blocks, once it is armed.
type forger struct {
	armed, noReceipts atomic.Bool

	lies  atomic.Int64
	forge func(block uint64, logs []map[string]any) []map[string]any
}

func (w *testWorld) forger(t *testing.T, forge func(block uint64, logs []map[string]any) []map[string]any) (f *forger, url string) {
	t.Helper()
	f = &forger{forge: forge}
	return f, w.relay(t, func(method string, _ []json.RawMessage, result json.RawMessage) json.RawMessage {
		if method == "eth_getBlockReceipts" && f.noReceipts.Load() {
			return json.RawMessage("null")
		}
		var logs []map[string]any
		if method != "eth_getLogs" || !f.armed.Load() || json.Unmarshal(result, &logs) != nil || len(logs) == 0 {
			return result
		}
		number, err := strconv.ParseUint(text(logs[0]["blockNumber"]), 0, 64)
		if err != nil {
			return result
		}
		out, err := json.Marshal(f.forge(number, logs))
		if err != nil {
			return result
		}
		f.lies.Add(1)
		return out
	})
}

// text is a member of a log that is a text.
func text(member any) string {
	s, _ := member.(string)
	return s
}

// keepHalf drops the second half of a block's logs.
func keepHalf(logs []map[string]any) []map[string]any { return logs[:len(logs)/2] }

// invent adds a transfer of a token that nobody knows to a block's logs.
func invent(logs []map[string]any) []map[string]any {
	out := maps.Clone(logs[len(logs)-1])
	out["address"], out["logIndex"] = "0x00000000000000000000000000000000feedbeef", "0xffff"
	return append(logs, out)
}

// inflate multiplies the second reserve that pairs tell by 16 and the amounts of V3's swaps, which nothing else tells.
func inflate(logs []map[string]any) []map[string]any {
	sync := "0x" + hex.EncodeToString(keccak([]byte("Sync(uint112,uint112)")))
	swap := "0x" + hex.EncodeToString(keccak([]byte("Swap(address,address,int256,int256,uint160,uint128,int24)")))
	for _, l := range logs {
		data := text(l["data"])
		topics, _ := l["topics"].([]any)
		switch text(topics[0]) {
		case sync:
			l["data"] = data[:66] + data[67:] + "0"
		case swap:
			l["data"] = data[:2+2*64] + "000" + data[2+2*64+1:2+3*64-2] + data[2+3*64:]
		}
	}
	return logs
}

// contradicted reports whether an endpoint was found out.
func contradicted(ix *indexer.Indexer) bool {
	return slices.ContainsFunc(ix.State().SetAside, func(a chainconfig.SetAside) bool {
		return a.Kind == "endpoint" && a.Reason == chain.Outvoted
	})
}

// untilContradicted trades until an endpoint was found out, and on for some blocks.
func (w *testWorld) untilContradicted(t *testing.T, ix *indexer.Indexer, st *store.Store) {
	t.Helper()
	for n := 0; !contradicted(ix); n++ {
		if n == 40 {
			t.Fatal("the forger was not found out in 200 blocks")
		}
		w.trade(t, 5)
		w.await(t, st)
	}
	w.trade(t, 10)
	w.await(t, st)
}

// TestOneForgerOfThree indexes the head through a node that drops logs or changes amounts, which no header tells, beside two
// honest ones. Once it was found out, the rows are those of an honest index, and stay so.
func TestOneForgerOfThree(t *testing.T) {
	t.Parallel()
	for name, forge := range map[string]func(uint64, []map[string]any) []map[string]any{
		"drops logs":      func(_ uint64, logs []map[string]any) []map[string]any { return keepHalf(logs) },
		"changes amounts": func(_ uint64, logs []map[string]any) []map[string]any { return inflate(logs) },
		"drops logs of some blocks": func(block uint64, logs []map[string]any) []map[string]any {
			if block%3 > 0 {
				return logs
			}
			return keepHalf(logs)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 60)
			f, url := w.forger(t, forge)
			cfg := w.config()
			cfg.ReorgBlocks = 400
			cfg.Start.Block = 1
			cfg.Endpoints = []chainconfig.Endpoint{{URL: url, Weight: 50}, {URL: w.node.URL(), Weight: 1}, {URL: w.node.URL(), Weight: 1}}
			st := storetest.Open(t, "sqlite")
			ix, stop := startImpatient(t, cfg, st)
			w.await(t, st)
			f.armed.Store(true)
			w.untilContradicted(t, ix, st)
			stop()
			if f.lies.Load() == 0 {
				t.Error("nothing was forged: the test shows nothing")
			}
			honest := w.config()
			honest.ReorgBlocks, honest.Start.Block = cfg.ReorgBlocks, cfg.Start.Block
			w.compare(t, st, honest)
		})
	}
}

// TestAnInventedLogIsDenied indexes the head through a node that adds logs, beside one honest one: the headers' blooms tell.
func TestAnInventedLogIsDenied(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 60)
	f, url := w.forger(t, func(_ uint64, logs []map[string]any) []map[string]any { return invent(logs) })
	cfg := w.config()
	cfg.Endpoints = []chainconfig.Endpoint{{URL: url, Weight: 50}, {URL: w.node.URL(), Weight: 1}}
	st := storetest.Open(t, "sqlite")
	ix, stop := startImpatient(t, cfg, st)
	w.await(t, st)
	f.armed.Store(true)
	w.trade(t, 12)
	w.await(t, st)
	stop()
	if !contradicted(ix) {
		t.Errorf("after %d lies the endpoint was not found out", f.lies.Load())
	}
	w.compare(t, st, w.config())
}

// TestReceiptsDecideBetweenTwo indexes the head through a forger and one honest node: where they differ, the receipts tell who is right.
func TestReceiptsDecideBetweenTwo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 60)
	f, url := w.forger(t, func(_ uint64, logs []map[string]any) []map[string]any { return keepHalf(logs) })
	cfg := w.config()
	cfg.ReorgBlocks, cfg.Start.Block = 400, 1
	cfg.Endpoints = []chainconfig.Endpoint{{URL: url, Weight: 50}, {URL: w.node.URL(), Weight: 1}}
	st := storetest.Open(t, "sqlite")
	ix, stop := startImpatient(t, cfg, st)
	w.await(t, st)
	f.armed.Store(true)
	w.untilContradicted(t, ix, st)
	stop()
	honest := w.config()
	honest.ReorgBlocks, honest.Start.Block = cfg.ReorgBlocks, cfg.Start.Block
	w.compare(t, st, honest)
}

// TestTwoThatDifferStopNothing indexes the head through a forger and one honest node, neither of which has receipts: nobody can tell
// who is right, and the chain goes on.
func TestTwoThatDifferStopNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 60)
	f, url := w.forger(t, func(_ uint64, logs []map[string]any) []map[string]any { return keepHalf(logs) })
	cfg := w.config()
	cfg.Endpoints = []chainconfig.Endpoint{{URL: url, Weight: 50}, {URL: w.withoutReceipts(t), Weight: 1}}
	st := storetest.Open(t, "sqlite")
	ix, stop := startImpatient(t, cfg, st)
	w.await(t, st)
	f.noReceipts.Store(true)
	f.armed.Store(true)
	doubtful := func(a chainconfig.SetAside) bool { return a.Kind == "block" && a.Reason == chain.EndpointsDiffer }
	for n := 0; !slices.ContainsFunc(ix.State().SetAside, doubtful); n++ {
		if n == 40 {
			t.Fatal("no block was doubtful in 200")
		}
		w.trade(t, 5)
		w.await(t, st)
	}
	w.trade(t, 3)
	w.await(t, st)
	stop()
}

// withoutReceipts stands before an honest node.
func (w *testWorld) withoutReceipts(t *testing.T) (url string) {
	t.Helper()
	return w.relay(t, func(method string, _ []json.RawMessage, result json.RawMessage) json.RawMessage {
		if method == "eth_getBlockReceipts" {
			return json.RawMessage("null")
		}
		return result
	})
}

// TestAForgerOfThePast indexes the past, beyond the reach of reorgs, through a node that drops logs or changes amounts of some blocks, beside
// two honest ones, or one whose receipts prove what is so. The rows are those of an honest index.
func TestAForgerOfThePast(t *testing.T) {
	t.Parallel()
	for name, forge := range map[string]func(block uint64, logs []map[string]any) []map[string]any{
		"drops logs":      func(_ uint64, logs []map[string]any) []map[string]any { return keepHalf(logs) },
		"changes amounts": func(_ uint64, logs []map[string]any) []map[string]any { return inflate(logs) },
	} {
		for honest := 1; honest <= 2; honest++ {
			t.Run(fmt.Sprintf("%s beside %d", name, honest), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, 120)
				f, url := w.forger(t, forge)
				f.armed.Store(true)
				cfg := w.config()
				cfg.Endpoints = []chainconfig.Endpoint{{URL: url, Weight: 50}}
				for range honest {
					cfg.Endpoints = append(cfg.Endpoints, chainconfig.Endpoint{URL: w.node.URL(), Weight: 1})
				}
				st := storetest.Open(t, "sqlite")
				ix, stop := startImpatient(t, cfg, st)
				w.await(t, st)
				stop()
				if f.lies.Load() == 0 {
					t.Error("nothing was forged: the test shows nothing")
				}
				if !contradicted(ix) {
					t.Errorf("after %d lies the endpoint was not found out", f.lies.Load())
				}
				w.compare(t, st, w.config())
			})
		}
	}
}
