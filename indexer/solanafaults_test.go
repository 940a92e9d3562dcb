package indexer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/indexer/solana/solanatest"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

func parameterOf[T any](params []json.RawMessage, i int) (v T) {
	_ = json.Unmarshal(params[i], &v)
	return v
}

// hides is a node's lie that it has no block of some slots: it calls them skipped.
func hides(slots ...uint64) func(string, []json.RawMessage, any) (any, *solanatest.Refusal) {
	return func(method string, params []json.RawMessage, result any) (any, *solanatest.Refusal) {
		switch method {
		case "getBlock":
			if slices.Contains(slots, parameterOf[uint64](params, 0)) {
				return nil, &solanatest.Refusal{Code: -32009, Message: "Slot was skipped, or missing in long-term storage"}
			}
		case "getBlocks":
			list, _ := result.([]uint64)
			return slices.DeleteFunc(slices.Clone(list), func(s uint64) bool { return slices.Contains(slots, s) }), nil
		}
		return result, nil
	}
}

// TestSolanaBlockThatANodeLacks: a node lacks blocks and calls their slots skipped. Where another has them nothing is lost; where none has, the index waits at the
// gap, and goes on when one does.
func TestSolanaBlockThatANodeLacks(t *testing.T) {
	t.Parallel()
	for name, behind := range map[string]int{"at the head": 5, "in the past": 150} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := solanatest.NewWorld(5)
			w.Grow(200)
			missing := w.Blocks[len(w.Blocks)-behind]
			n, other := solanaNode(t, w), solanaNode(t, w)
			n.Lie(hides(missing.Number, w.Blocks[len(w.Blocks)-behind-1].Number))
			fresh, st, alone := storetest.Open(t, "sqlite"), storetest.Open(t, "sqlite"), storetest.Open(t, "sqlite")
			end := startSolana(t, fresh, solanaConfig(other))
			awaitSolana(t, fresh, w)
			end()
			end = startSolana(t, st, solanaConfig(n, other))
			awaitSolana(t, st, w)
			end()
			wantSame(t, st, fresh, "solana")

			end = startSolana(t, alone, solanaConfig(n))
			indexed := func() uint64 {
				s, _, err := alone.Chain(t.Context(), "solana")
				if err != nil {
					t.Fatal(err)
				}
				return s.Last.Number
			}
			below := w.Blocks[len(w.Blocks)-behind-2].Number
			eventually(t, "the index has the block below the gap", func() bool { return indexed() >= below })
			time.Sleep(time.Second) // nothing tells that it waits for good
			if now := indexed(); now != below {
				t.Errorf("the index is at block %d, and at %d blocks are missing", now, missing.Number)
			}
			n.Lie(nil)
			awaitSolana(t, alone, w)
			end()
			wantSame(t, alone, fresh, "solana")
		})
	}
}

// TestSolanaRangeMissing: which blocks no endpoint has is told when the index has waited for them for ten minutes, and no longer once it goes on.
func TestSolanaRangeMissing(t *testing.T) {
	t.Parallel()
	w := solanatest.NewWorld(5)
	w.Grow(100)
	n, st, later := solanaNode(t, w), storetest.Open(t, "sqlite"), new(atomic.Int64)
	at := len(w.Blocks) - 5
	n.Lie(hides(w.Blocks[at].Number, w.Blocks[at-1].Number))
	metrics := NewMetrics(prometheus.NewRegistry())
	ix, err := New(solanaConfig(n), st, Options{
		Metrics: metrics, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return time.Now().Add(time.Duration(later.Load())) }, Holder: t.Name(), CachedRows: 1000,
		RereadPause: 10 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	end := running(t, ix)
	defer func() { end() }()
	until := func(what string, so func(s chainconfig.State) bool) {
		for range 3000 {
			if so(ix.State()) {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Fatalf("%s: %+v", what, ix.State())
	}
	until("it waits at the gap", func(s chainconfig.State) bool { return s.Indexed != nil && s.Indexed.Number == w.Blocks[at-2].Number })
	time.Sleep(300 * time.Millisecond)
	if m := ix.State().Missing; m != nil {
		t.Errorf("at once %+v is missing", m)
	}
	later.Store(int64(missingAfter + time.Minute))
	until("blocks are missing", func(s chainconfig.State) bool {
		return s.Missing != nil && s.Missing.First <= w.Blocks[at-1].Number && s.Missing.First > w.Blocks[at-2].Number && s.Missing.Last == w.Blocks[at].Number
	})
	lacking := metrics.lacking.WithLabelValues("solana")
	until("the metric says how many", func(s chainconfig.State) bool {
		return s.Missing != nil && testutil.ToFloat64(lacking) == float64(s.Missing.Last-s.Missing.First+1)
	})
	end() // a run that ends takes it along
	end = running(t, ix)
	until("it waits again", func(s chainconfig.State) bool {
		return s.Missing == nil && s.Phase == chainconfig.PhaseFailing || s.Missing != nil
	})
	n.Lie(nil)
	awaitSolana(t, st, w)
	until("none is missing any more", func(s chainconfig.State) bool { return s.Missing == nil && testutil.ToFloat64(lacking) == 0 })
}

// prunes has a node keep the blocks from a slot on alone, as Agave does.
func prunes(from uint64) func(string, []json.RawMessage, any) (any, *solanatest.Refusal) {
	return func(method string, params []json.RawMessage, result any) (any, *solanatest.Refusal) {
		switch method {
		case "getBlock":
			if slot := parameterOf[uint64](params, 0); slot < from {
				return nil, &solanatest.Refusal{Code: -32001, Message: fmt.Sprintf("Block %d cleaned up, does not exist on node. First available block: %d", slot, from)}
			}
		case "getBlocks":
			list, _ := result.([]uint64)
			return slices.DeleteFunc(slices.Clone(list), func(s uint64) bool { return s < from }), nil
		case "getFirstAvailableBlock":
			return from, nil
		}
		return result, nil
	}
}

// interruptions is a log that tells whether the index was interrupted for a reason.
type interruptions struct {
	reason string
	came   atomic.Bool
}

func (l *interruptions) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("indexing interrupted")) && bytes.Contains(line, []byte(l.reason)) {
		l.came.Store(true)
	}
	return len(line), nil
}

// TestSolanaPrunedBelowTheIndex: a node has pruned the block that an index has last, and some above it, while nobody indexed. The index says which blocks are missing, and goes on
// once a node has them.
func TestSolanaPrunedBelowTheIndex(t *testing.T) {
	t.Parallel()
	w := solanatest.NewWorld(5)
	w.Grow(60)
	n, st, later := solanaNode(t, w), storetest.Open(t, "sqlite"), new(atomic.Int64)
	end := startSolana(t, st, solanaConfig(n))
	awaitSolana(t, st, w)
	end()
	last := w.Blocks[len(w.Blocks)-1].Number
	w.Grow(150)
	n.ServeWorld(w)
	oldest := w.Blocks[len(w.Blocks)-130].Number
	n.Lie(prunes(oldest))
	waits := &interruptions{reason: "no endpoint keeps it any more"}
	ix, err := New(solanaConfig(n), st, Options{
		Metrics: NewMetrics(prometheus.NewRegistry()), Log: slog.New(slog.NewTextHandler(waits, nil)), Holder: t.Name(), CachedRows: 1000, RereadPause: 10 * time.Millisecond,
		Now: func() time.Time { return time.Now().Add(time.Duration(later.Load())) },
	})
	if err != nil {
		t.Fatal(err)
	}
	end = running(t, ix)
	defer func() { end() }()
	eventually(t, "the index waits", waits.came.Load)
	later.Store(int64(missingAfter + time.Minute))
	eventually(t, "blocks are missing", func() bool {
		m := ix.State().Missing
		return m != nil && m.First == last && m.Last == oldest-1
	})
	n.Lie(nil)
	awaitSolana(t, st, w)
}

// TestSolanaStartAboveAGap: an index that waits at a gap for good is left behind by a start above the gap and a new generation, as docs/kubernetes.md says. The new
// one has the rows of an index that never knew the blocks below. A start within the gap waits as well.
func TestSolanaStartAboveAGap(t *testing.T) {
	t.Parallel()
	w := solanatest.NewWorld(5)
	w.Grow(200)
	n, st := solanaNode(t, w), storetest.Open(t, "sqlite")
	at := len(w.Blocks) - 120
	n.Lie(hides(w.Blocks[at].Number, w.Blocks[at+1].Number))
	end := startSolana(t, st, solanaConfig(n))
	eventually(t, "the index has the block below the gap", func() bool {
		s, _, err := st.Chain(t.Context(), "solana")
		return err == nil && s.Last.Number == w.Blocks[at-1].Number
	})
	end()
	head := w.Blocks[len(w.Blocks)-1].Number
	generation := int64(1)
	for _, c := range []struct {
		name  string
		start uint64
		waits bool
	}{
		{"within the gap", w.Blocks[at+1].Number, true},
		{"right above it", w.Blocks[at+2].Number, false},
		{"farther above", w.Blocks[at+5].Number, false},
	} {
		generation++
		cfg := solanaConfig(n)
		cfg.Start, cfg.Generation = chainconfig.Start{Block: c.start}, generation
		ix, err := New(cfg, st, Options{Log: slog.New(slog.DiscardHandler), Now: time.Now, Holder: t.Name(), CachedRows: 1000, RereadPause: 10 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		over := make(chan struct{})
		go func() {
			defer close(over)
			ix.Keep(ctx)
		}()
		if c.waits {
			eventually(t, "the index that starts "+c.name+" waits", func() bool {
				s := ix.State().Reindexing
				return s != nil && s.Phase == chainconfig.PhaseFailing && s.Indexed == nil
			})
		} else {
			eventually(t, "the index that starts "+c.name+" is served, and at the head", func() bool {
				list, err := st.Served().Chains(t.Context())
				return err == nil && len(list) == 1 && list[0].Generation == generation && list[0].Last.Number == head
			})
		}
		stop()
		<-over
		if c.waits {
			continue
		}
		fresh := storetest.Open(t, "sqlite")
		cfg.Generation = 1
		end = startSolana(t, fresh, cfg)
		awaitSolana(t, fresh, w)
		end()
		wantRowsOf(t, st, chainconfig.IndexID("solana", generation), fresh, "solana")
	}
}

// TestSolanaStartBehindASkippedSlot: an index whose start comes behind a slot without a block reads the start's own block.
func TestSolanaStartBehindASkippedSlot(t *testing.T) {
	t.Parallel()
	w := solanatest.NewWorld(5)
	w.Grow(200)
	at := len(w.Blocks) - 100
	for w.Blocks[at].Number == w.Blocks[at-1].Number+1 {
		at--
	}
	cfg, st := solanaConfig(solanaNode(t, w)), storetest.Open(t, "sqlite")
	cfg.Start = chainconfig.Start{Block: w.Blocks[at].Number}
	end := startSolana(t, st, cfg)
	awaitSolana(t, st, w)
	end()
	if first, ok, err := st.Indexes.FirstBlock(t.Context(), "solana"); err != nil || !ok || first != w.Blocks[at-1].Number+1 {
		t.Errorf("the first block is %d (%t, %v), want the first after %d, which is %d", first, ok, err, w.Blocks[at-1].Number, w.Blocks[at].Number)
	}
}

// TestSolanaForgedBlock: one of three nodes tells other contents of blocks. They end as two others have them.
func TestSolanaForgedBlock(t *testing.T) {
	t.Parallel()
	w := solanatest.NewWorld(6)
	w.Grow(120)
	liar := solanaNode(t, w)
	honest := []*solanatest.Node{solanaNode(t, w), solanaNode(t, w)}
	var lies atomic.Int64
	liar.Lie(func(method string, _ []json.RawMessage, result any) (any, *solanatest.Refusal) {
		block, ok := result.(map[string]any)
		if txs, _ := block["transactions"].([]json.RawMessage); ok && method == "getBlock" && len(txs) > 0 {
			forged := slices.Clone(txs)
			for i := range forged {
				forged[i] = json.RawMessage(strings.ReplaceAll(string(forged[i]), `"amount":"1`, `"amount":"9`))
				if string(forged[i]) != string(txs[i]) {
					lies.Add(1)
				}
			}
			block["transactions"] = forged
		}
		return result, nil
	})
	st, fresh := storetest.Open(t, "sqlite"), storetest.Open(t, "sqlite")
	end := startSolana(t, st, solanaConfig(liar, honest[0], honest[1]))
	for range 40 {
		w.Grow(3)
		for _, n := range append(honest, liar) {
			n.ServeWorld(w)
		}
		awaitSolana(t, st, w)
	}
	if lies.Load() == 0 {
		t.Fatal("the liar wasn't asked")
	}
	endFresh := startSolana(t, fresh, solanaConfig(honest[0]))
	settleSolana(t, w, append(honest, liar), st, fresh)
	end()
	endFresh()
	wantSolanaHolders(t, st, w)
}

// TestSolanaBadAnswers: answers that no honest node gives are errors. The index goes on when they end.
func TestSolanaBadAnswers(t *testing.T) {
	t.Parallel()
	edit := func(change func(block map[string]any)) func(string, []json.RawMessage, any) (any, *solanatest.Refusal) {
		return func(method string, _ []json.RawMessage, result any) (any, *solanatest.Refusal) {
			if block, ok := result.(map[string]any); ok && method == "getBlock" {
				change(block)
			}
			return result, nil
		}
	}
	refuse := func(code int, message string) func(string, []json.RawMessage, any) (any, *solanatest.Refusal) {
		return func(method string, _ []json.RawMessage, result any) (any, *solanatest.Refusal) {
			if method == "getBlock" {
				return nil, &solanatest.Refusal{Code: code, Message: message}
			}
			return result, nil
		}
	}
	const anotherSlots = "another slot's block"
	var mu sync.Mutex
	first := map[bool]map[string]any{} // with its transactions and without
	var others atomic.Int64            // how often another block than that of the slot was told
	for name, lie := range map[string]func(string, []json.RawMessage, any) (any, *solanatest.Refusal){
		anotherSlots: func(method string, _ []json.RawMessage, result any) (any, *solanatest.Refusal) {
			block, ok := result.(map[string]any)
			if !ok || method != "getBlock" {
				return result, nil
			}
			mu.Lock()
			defer mu.Unlock()
			_, whole := block["transactions"]
			if first[whole] == nil {
				first[whole] = block
			}
			if first[whole]["blockhash"] != block["blockhash"] {
				others.Add(1)
			}
			return first[whole], nil
		},
		"null": func(method string, _ []json.RawMessage, result any) (any, *solanatest.Refusal) {
			if method == "getBlock" {
				return nil, nil
			}
			return result, nil
		},
		"not available":          refuse(-32004, "Block not available for slot"),
		"skipped":                refuse(-32007, "Slot was skipped, or missing due to ledger jump to recent snapshot"),
		"an unsupported version": refuse(-32015, "Transaction version (2) is not supported by the requesting client"),
		"asked too often":        refuse(429, "Too many requests for a specific RPC call"),
		"a parent that isn't":    edit(func(b map[string]any) { b["previousBlockhash"] = solanatest.Name("nobody") }),
		"another hash":           edit(func(b map[string]any) { b["blockhash"] = "0" }),
		"a parent above":         edit(func(b map[string]any) { b["parentSlot"] = uint64(1 << 40) }),
		"a time to come":         edit(func(b map[string]any) { b["blockTime"] = time.Now().Add(time.Hour).Unix() }),
		"half a transaction": edit(func(b map[string]any) {
			if _, whole := b["transactions"]; whole {
				b["transactions"] = []any{map[string]any{"meta": map[string]any{"err": nil}}}
			}
		}),
		"a head far ahead": func(method string, _ []json.RawMessage, result any) (any, *solanatest.Refusal) {
			if method == "getSlot" {
				return uint64(1 << 45), nil
			}
			return result, nil
		},
		"slots out of order": func(method string, _ []json.RawMessage, result any) (any, *solanatest.Refusal) {
			if list, ok := result.([]uint64); ok && method == "getBlocks" && len(list) > 1 {
				return []uint64{list[len(list)-1], list[0]}, nil
			}
			return result, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := solanatest.NewWorld(8)
			w.Grow(80)
			n := solanaNode(t, w)
			st, fresh := storetest.Open(t, "sqlite"), storetest.Open(t, "sqlite")
			end := startSolana(t, st, solanaConfig(n))
			awaitSolana(t, st, w)
			before := w.Blocks[len(w.Blocks)-1]
			w.Grow(5)
			n.Lie(lie)
			n.ServeWorld(w)
			time.Sleep(300 * time.Millisecond)
			s, _, err := st.Chain(t.Context(), "solana")
			if err != nil || s.Last.Number > w.Blocks[len(w.Blocks)-1].Number || s.State == "halted" {
				t.Errorf("the index is at %+v after %d, in state %s: %v", s.Last, before.Number, s.State, err)
			}
			if !slices.ContainsFunc(w.Blocks, func(b solanatest.Made) bool { return b.Number == s.Last.Number && b.Hash == s.Last.Hash }) {
				t.Errorf("block %d of hash %s isn't the chain's", s.Last.Number, s.Last.Hash)
			}
			if name == anotherSlots && others.Load() == 0 {
				t.Error("no other block was told")
			}
			n.Lie(nil)
			awaitSolana(t, st, w)
			endFresh := startSolana(t, fresh, solanaConfig(n))
			settleSolana(t, w, []*solanatest.Node{n}, st, fresh)
			end()
			endFresh()
			wantSame(t, st, fresh, "solana")
		})
	}
}

// TestSolanaAnotherChain: a node of another chain is left alone, and one alone halts the chain.
func TestSolanaAnotherChain(t *testing.T) {
	t.Parallel()
	w := solanatest.NewWorld(9)
	n := solanaNode(t, w)
	n.SetGenesis(solanatest.Name("another chain"))
	o := Options{Log: slog.New(slog.DiscardHandler), Now: time.Now, Holder: t.Name()}
	if err := Check(t.Context(), solanaConfig(n), o); !errors.Is(err, rpc.ErrWrongChain) || !strings.Contains(err.Error(), "genesisHash "+solanatest.Genesis) {
		t.Errorf("a node of another chain: %v", err)
	}
	cfg := solanaConfig(n)
	cfg.GenesisHash = ""
	if err := Check(t.Context(), cfg, o); !errors.Is(err, rpc.ErrWrongChain) || !strings.Contains(err.Error(), "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d") {
		t.Errorf("without a declared hash it isn't the mainnet's: %v", err)
	}
	ix, err := New(solanaConfig(n), storetest.Open(t, "sqlite"), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := ix.Run(t.Context()); !errors.Is(err, rpc.ErrWrongChain) {
		t.Errorf("the index ended with %v", err)
	}
}
