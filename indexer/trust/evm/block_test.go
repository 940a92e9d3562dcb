package evm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm"
	"github.com/boardwalkhq/boardwalk/indexer/trust"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// refusal is what a node answers instead of a result; the zero one answers.
type refusal struct {
	code    int
	message string
}

// refusing stands before the world's node and refuses some calls by the block that they are of: a quantity or a tag as a JSON
// string, or an object that names a hash.
func (w *testWorld) refusing(t *testing.T, refuse func(block json.RawMessage) refusal) string {
	t.Helper()
	type call struct {
		ID     json.RawMessage   `json:"id"`
		Method string            `json:"method"`
		Params []json.RawMessage `json:"params"`
	}
	// The index of the block among the parameters of each method that reads state.
	place := map[string]int{"eth_call": 1, "eth_getCode": 1, "eth_getStorageAt": 2}
	one := func(ctx context.Context, raw json.RawMessage) json.RawMessage {
		var c call
		if json.Unmarshal(raw, &c) != nil {
			return nil
		}
		if i, ok := place[c.Method]; ok && len(c.Params) > i {
			if r := refuse(c.Params[i]); r.code != 0 {
				answer, _ := json.Marshal(map[string]any{
					"jsonrpc": "2.0", "id": c.ID, "error": map[string]any{"code": r.code, "message": r.message},
				})
				return answer
			}
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.Node.URL(), bytes.NewReader(raw))
		if err != nil {
			return nil
		}
		req.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return nil // the test has ended
		}
		defer res.Body.Close()
		answer, _ := io.ReadAll(res.Body)
		return answer
	}
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		var batch []json.RawMessage
		if json.Unmarshal(body, &batch) != nil {
			_, _ = rw.Write(one(r.Context(), body))
			return
		}
		answers := make([]json.RawMessage, len(batch))
		for i, raw := range batch {
			if answers[i] = one(r.Context(), raw); answers[i] == nil {
				return
			}
		}
		_ = json.NewEncoder(rw).Encode(answers)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestBlockIsReplaced: the indexed block was replaced by another since. The check is made after the newest block, all of it, and
// says so. The words are those of go-ethereum (eth/api_backend.go), which keeps blocks of branches that it left for a while.
func TestBlockIsReplaced(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token, pool := w.listed(t, "Clean")
	for name, message := range map[string]string{
		"kept":    "hash is not currently canonical",
		"dropped": "header for hash not found",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := w.known(t, token, pool)
			k.Block.Hash[0] ^= 1 // of a branch that was left
			left := k.Block.Hash.String()
			url := w.refusing(t, func(block json.RawMessage) refusal {
				if strings.Contains(string(block), left) {
					return refusal{-32000, message}
				}
				return refusal{}
			})
			cfg := w.config()
			cfg.Endpoints = []chainconfig.Endpoint{{URL: url, Weight: 1}}
			c, _ := w.checkerOf(t, cfg, w.source(t, cfg), trust.Options{}, k)
			r, err := c.Check(t.Context(), token)
			if err != nil {
				t.Fatal(err)
			}
			expect(t, r, nil)
			if r.Block.Hash == left || r.Block.Number < k.Block.Number {
				t.Errorf("the report is of block %+v, which isn't the chain's", r.Block)
			}
		})
	}
}

// TestEndpointsWithoutBlockHashes: an endpoint takes no block by its hash (EIP-1898). It is asked by the block's number.
func TestEndpointsWithoutBlockHashes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token, pool := w.listed(t, "Clean")
	k := w.known(t, token, pool)
	url := w.refusing(t, func(block json.RawMessage) refusal {
		if len(block) > 0 && block[0] == '{' {
			return refusal{-32602, "invalid argument 1: json: cannot unmarshal object into Go value of type string"}
		}
		return refusal{}
	})
	cfg := w.config()
	cfg.Endpoints = []chainconfig.Endpoint{{URL: url, Weight: 1}}
	c, _ := w.checkerOf(t, cfg, w.source(t, cfg), trust.Options{}, k)
	r, err := c.Check(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, r, nil)
	if r.Block.Number != k.Block.Number || r.Block.Hash != k.Block.Hash.String() {
		t.Errorf("the report is of block %+v, want %d %s", r.Block, k.Block.Number, k.Block.Hash)
	}
}

// leavingNode answers about a block once and then has left it for another.
type leavingNode struct {
	*evm.Source

	hash market.Hash
	mu   sync.Mutex
	left bool
	// after counts what was asked of other blocks, by contract.
	after map[market.Address]int
}

func (n *leavingNode) Ask(ctx context.Context, at chain.Ref, list []*evm.Question) error {
	n.mu.Lock()
	gone := at.Hash == n.hash && n.left
	n.left = true
	if at.Hash != n.hash {
		for _, q := range list {
			if q.Kind == evm.AskStorage {
				n.after[q.To]++
			}
		}
	}
	n.mu.Unlock()
	if gone {
		return evm.ErrStateGone
	}
	return n.Source.Ask(ctx, at, list)
}

// TestReportIsOfOneBlock: the block is replaced while the check is under way. What was answered of it is asked again of the block
// that the report then names.
func TestReportIsOfOneBlock(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token, pool := w.listed(t, "Clean")
	k := w.known(t, token, pool)
	w.send(t) // a newer block
	cfg := w.config()
	node := &leavingNode{Source: w.source(t, cfg), hash: k.Block.Hash, after: map[market.Address]int{}}
	c, _ := w.checkerOf(t, cfg, node, trust.Options{}, k)
	r, err := c.Check(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, r, nil)
	if r.Block.Hash == k.Block.Hash.String() {
		t.Errorf("the report is of block %+v, which was left", r.Block)
	}
	node.mu.Lock()
	defer node.mu.Unlock()
	if n := node.after[token]; n != 4 {
		t.Errorf("%d of the token's 4 slots were read in the state that the report is of; the others are of the block that was left", n)
	}
}
