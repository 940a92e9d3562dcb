package indexer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/venues"
	"github.com/boardwalkhq/boardwalk/indexer"
	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// spied are the blocks that an index has read at the head.
type spied struct {
	mu     sync.Mutex
	blocks []market.Block
}

func (s *spied) see(b chain.BlockRead) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.blocks = append(s.blocks, b.Block)
}

func (s *spied) list() []market.Block {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.blocks)
}

// startSpied indexes, and shows the blocks that are read at the head.
func startSpied(t *testing.T, cfg *chainconfig.Chain, st *store.Store) (seen *spied, stop func()) {
	t.Helper()
	ix, err := indexer.New(cfg, st, indexer.Options{
		Log: logger(t), Now: time.Now, Holder: t.Name(), RereadPause: 2 * time.Millisecond, VouchTime: patientVouch,
	})
	if err != nil {
		t.Fatal(err)
	}
	seen = &spied{}
	ix.SpyBlocks(seen.see)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- ix.Run(ctx) }()
	return seen, func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// pay sends some of the chain's coin, and mines a block of it and of trades.
func (w *testWorld) pay(t *testing.T, amounts ...int64) {
	t.Helper()
	var list []anvil.Transaction
	for i, amount := range amounts {
		list = append(list, anvil.Transaction{From: w.Wallets[0], To: fmt.Sprintf("0x%040x", 0xbeef00+i), Value: big.NewInt(amount)})
	}
	if _, err := w.node.Send(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	w.trade(t, 1)
}

// checkPayments holds a block against the node's own: its payments, and who sent the transactions with logs of ours. It reports how many there are of
// both, and whether the chain still has the block.
func (w *testWorld) checkPayments(t *testing.T, b *market.Block) (payments, senders int, there bool) {
	t.Helper()
	var block *struct {
		Transactions []struct {
			Hash, From, Value, Nonce string
			To                       *string
		}
	}
	if err := w.node.Call(t.Context(), &block, "eth_getBlockByHash", b.Hash.String(), true); err != nil || block == nil {
		return 0, 0, false
	}
	amount := func(text string) market.Amount {
		n, ok := new(big.Int).SetString(text, 0)
		var out market.Amount
		if !ok || out.SetFromBig(n) {
			t.Fatalf("%q is no amount", text)
		}
		return out
	}
	var want []market.Payment
	for _, tx := range block.Transactions {
		if paid := amount(tx.Value); !paid.IsZero() && tx.To != nil {
			want = append(want, market.Payment{From: markettest.Address(tx.From), To: markettest.Address(*tx.To), Amount: paid})
		}
		for i := range b.Txs {
			if b.Txs[i].ID.String() != tx.Hash {
				continue
			}
			if nonce := amount(tx.Nonce); b.Txs[i].Sender != markettest.Address(tx.From) || b.Txs[i].Nonce != nonce.Uint64() {
				t.Errorf("block %d: %s is from %s with nonce %s; it has %s and %d", b.Number, tx.Hash, tx.From, tx.Nonce, b.Txs[i].Sender, b.Txs[i].Nonce)
			}
			senders++
		}
	}
	if !slices.Equal(b.Payments, want) {
		t.Errorf("block %d has the payments %v, want %v", b.Number, b.Payments, want)
	}
	if senders != len(b.Txs) {
		t.Errorf("block %d: %d transactions of %d are in the node's block", b.Number, senders, len(b.Txs))
	}
	return len(want), senders, true
}

// TestBlocksAtTheHeadHavePayments follows a chain with a launch venue, through one node and through two, while it grows, in single blocks and several
// at once, and while blocks are replaced: each block that is read at the head has its payments and senders, as the node has them.
func TestBlocksAtTheHeadHavePayments(t *testing.T) {
	t.Parallel()
	for _, endpoints := range []int{1, 2} {
		t.Run(fmt.Sprint(endpoints, " endpoints"), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 60, venues.BoardwalkCurve)
			cfg := w.config()
			cfg.Endpoints = nil
			for range endpoints {
				cfg.Endpoints = append(cfg.Endpoints, chainconfig.Endpoint{URL: w.node.URL(), Weight: 1})
			}
			st := storetest.Open(t, "sqlite")
			seen, stop := startSpied(t, cfg, st)
			w.await(t, st)
			w.launch(t, w.Venues[0])
			for round := range 6 {
				w.pay(t, 1, 2, int64(1000+round))
				w.await(t, st)
				w.trade(t, 1+3*(round%2))
				w.await(t, st)
				if round%2 == 1 {
					if err := w.node.Reorg(t.Context(), 1+round); err != nil {
						t.Fatal(err)
					}
					w.pay(t, 7)
					w.await(t, st)
				}
			}
			stop()
			payments, senders, gone := 0, 0, 0
			at := map[market.Hash]bool{}
			for _, b := range seen.list() {
				if !b.HasPayments {
					t.Errorf("block %d was read without its transactions", b.Number)
				}
				at[b.Hash] = true
				paid, sent, there := w.checkPayments(t, &b)
				if payments, senders = payments+paid, senders+sent; !there {
					gone++
				}
			}
			t.Logf("%d blocks, of which %d were replaced: %d payments, %d transactions with a sender", len(seen.list()), gone, payments, senders)
			if payments < 21 || senders < 20 {
				t.Errorf("%d payments and %d senders were compared", payments, senders)
			}
			known, err := st.RecentBlocks(t.Context(), "base")
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range known[:12] {
				if !at[h.Hash] {
					t.Errorf("block %d was committed, and not read at the head", h.Number)
				}
			}
			w.compare(t, st, cfg)
		})
	}
}

// replaceTransactions has a node tell something else in place of its blocks' transactions, where it is asked for them.
func replaceTransactions(with func(list []map[string]any) any) spoil {
	return func(method string, params []json.RawMessage, result json.RawMessage) json.RawMessage {
		var block map[string]any
		if method != "eth_getBlockByNumber" || string(params[1]) != "true" || json.Unmarshal(result, &block) != nil || block == nil {
			return result
		}
		var txs []map[string]any
		for _, tx := range block["transactions"].([]any) { //nolint:errcheck // anvil's list
			txs = append(txs, tx.(map[string]any)) //nolint:errcheck // of objects
		}
		block["transactions"] = with(txs)
		raw, _ := json.Marshal(block)
		return raw
	}
}

// hashesAlone are the hashes of transactions.
func hashesAlone(txs []map[string]any) any {
	out := []any{}
	for _, tx := range txs {
		out = append(out, tx["hash"])
	}
	return out
}

func garbageAlone([]map[string]any) any { return []any{5} }

// TestANodeWithoutTransactions follows a chain with a launch venue through a node that tells the hashes of transactions alone, or garbage in their place
// once it is at the head: the index is that of an honest node, and no block has payments that aren't the chain's.
func TestANodeWithoutTransactions(t *testing.T) {
	t.Parallel()
	for name, with := range map[string]func([]map[string]any) any{
		"hashes alone": hashesAlone,
		"garbage":      garbageAlone,
		"without those that have logs": func(txs []map[string]any) any {
			return slices.DeleteFunc(txs, func(tx map[string]any) bool { return tx["input"] != "0x" })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 60, venues.BoardwalkCurve)
			cfg := w.config()
			var armed atomic.Bool
			lie := replaceTransactions(with)
			cfg.Endpoints[0].URL = w.relay(t, func(method string, params []json.RawMessage, result json.RawMessage) json.RawMessage {
				if !armed.Load() {
					return result
				}
				return lie(method, params, result)
			})
			st := storetest.Open(t, "sqlite")
			seen, stop := startSpied(t, cfg, st)
			w.await(t, st)
			before := len(seen.list())
			armed.Store(true)
			w.launch(t, w.Venues[0])
			for range 5 {
				w.pay(t, 5)
				w.await(t, st)
			}
			stop()
			without := 0
			for _, b := range seen.list()[before:] {
				if !b.HasPayments {
					without++
				}
				if b.HasPayments {
					w.checkPayments(t, &b)
				}
			}
			if without < 4 {
				t.Errorf("%d blocks were read without transactions", without)
			}
			w.compare(t, st, w.config())
		})
	}
}

// TestOneNodeWithoutTransactions follows a chain with a launch venue through two nodes, of which one tells the hashes of transactions alone, or garbage in
// their place: each block that is read at the head has its payments and senders.
func TestOneNodeWithoutTransactions(t *testing.T) {
	t.Parallel()
	for name, with := range map[string]func([]map[string]any) any{"hashes alone": hashesAlone, "garbage": garbageAlone} {
		for spoiled := range 2 {
			t.Run(fmt.Sprint(name, ", node ", spoiled+1), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, 60, venues.BoardwalkCurve)
				cfg := w.config()
				urls := []string{w.node.URL(), w.node.URL()}
				urls[spoiled] = w.relay(t, replaceTransactions(with))
				cfg.Endpoints = nil
				for _, url := range urls {
					cfg.Endpoints = append(cfg.Endpoints, chainconfig.Endpoint{URL: url, Weight: 1})
				}
				st := storetest.Open(t, "sqlite")
				seen, stop := startSpied(t, cfg, st)
				w.await(t, st)
				w.launch(t, w.Venues[0])
				for range 5 {
					w.pay(t, 5)
					w.await(t, st)
				}
				stop()
				payments := 0
				for _, b := range seen.list() {
					if !b.HasPayments {
						t.Errorf("block %d was read without its transactions", b.Number)
						continue
					}
					paid, _, _ := w.checkPayments(t, &b)
					payments += paid
				}
				if payments < 5 {
					t.Errorf("%d payments were compared, want at least 5", payments)
				}
				w.compare(t, st, w.config())
			})
		}
	}
}
