package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	evmblock "github.com/boardwalkhq/boardwalk/indexer/evm/block"
)

// shortChain answers as a node whose newest block is a given one. Each block has a transaction.
func shortChain(t *testing.T, newest *int64) *node {
	t.Helper()
	hash := func(n int64) string { return fmt.Sprintf("0x%064x", n+1) }
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var c call
		if err := json.NewDecoder(r.Body).Decode(&c); err != nil {
			t.Error(err)
		}
		number, isLatest, ok := c.asksForBlock()
		if !ok {
			t.Errorf("the chain is asked for %s %s", c.Method, c.Params)
		}
		if isLatest {
			number = *newest
		}
		c.result = json.RawMessage("null")
		if number <= *newest {
			zero := "0x" + strings.Repeat("0", 64)
			c.tell(object{
				"number": hexOf(number), "hash": hash(number), "parentHash": hash(number - 1), "timestamp": "0x64", "stateRoot": zero,
				"sha3Uncles": zero, "receiptsRoot": zero, "transactionsRoot": zero, "logsBloom": "0x" + strings.Repeat("0", 512), "difficulty": "0x0",
				"gasLimit": "0x0", "gasUsed": "0x0", "extraData": "0x", "mixHash": zero, "nonce": "0x0000000000000000",
				"miner": "0x" + strings.Repeat("0", 40), "transactions": []any{object{"hash": "0xaa", "blockHash": hash(number), "blockNumber": hexOf(number)}},
			})
		}
		_ = json.NewEncoder(w).Encode(rpcAnswer{Version: "2.0", ID: 1, Result: c.result})
	}))
	t.Cleanup(s.Close)
	n := &node{stopped: t.Context()}
	n.real.Store(&s.URL)
	return n
}

// ask is what a node with a fault answers to a question for a block with its transactions: nil where it has none.
func (n *node) ask(t *testing.T, fault string, request int64, name string) object {
	t.Helper()
	c := &call{Method: "eth_getBlockByNumber", Params: []json.RawMessage{json.RawMessage(`"` + name + `"`), json.RawMessage("true")}, request: request}
	block, err := n.blockAt(name)
	if err != nil {
		t.Fatal(err)
	}
	c.answer(block)
	evmFaults[fault].calls(n, c)
	var out object
	if err := json.Unmarshal(c.result, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestFalseHeadsAreFalseByNumberToo: a node that tells a false head says of the blocks at the head, when asked for them by number, what fits it. Blocks
// that it makes up have the hash of their fields, and transactions that name them.
func TestFalseHeadsAreFalseByNumberToo(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fault   string
		request int64
		// latest is the number of the head that is told while the newest block is 200; it was 190 when the node was asked first.
		latest int64
		// made are numbers of blocks that are made up, there those of real ones, and none those of no block.
		made, there, none []int64
	}{
		"ahead":                        {"head far ahead", 0, 1200, []int64{201}, []int64{200}, []int64{202, 1199, 1200, 1201}},
		"ahead, with blocks":           {"head ahead, with blocks", 0, 1200, []int64{201, 202, 1200}, []int64{200}, []int64{1201}},
		"behind":                       {"head far behind", 0, 140, nil, []int64{140}, []int64{141, 200, 201}},
		"three behind":                 {"three behind", 0, 197, nil, []int64{197}, []int64{198, 200, 201}},
		"frozen":                       {"head frozen", 0, 190, nil, []int64{190}, []int64{191, 200, 201}},
		"flapping, ahead":              {"head flapping", 3, 1200, []int64{201}, []int64{200}, []int64{202}},
		"flapping, behind":             {"head flapping", 4, 140, nil, []int64{140}, []int64{141, 201}},
		"flapping, at the true head":   {"head flapping", 5, 200, nil, []int64{200}, []int64{201}},
		"another time of the new head": {"head of the year 10000", 0, 200, []int64{200}, []int64{199}, []int64{201}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			newest := int64(190)
			n := shortChain(t, &newest)
			n.ask(t, tt.fault, tt.request, latest)
			newest = 200
			if at, _ := numberOf(n.ask(t, tt.fault, tt.request, latest)); at != tt.latest {
				t.Errorf("its head is %d, want %d", at, tt.latest)
			}
			for _, number := range tt.made {
				block := n.ask(t, tt.fault, tt.request, hexOf(number))
				if at, ok := numberOf(block); !ok || at != number {
					t.Errorf("block %d is %v, want one that is made up", number, block)
					continue
				}
				checkMadeUp(t, block)
			}
			for _, number := range tt.there {
				if block := n.ask(t, tt.fault, tt.request, hexOf(number)); text(block["hash"]) != fmt.Sprintf("0x%064x", number+1) {
					t.Errorf("block %d is %v, want the chain's", number, block)
				}
			}
			for _, number := range tt.none {
				if block := n.ask(t, tt.fault, tt.request, hexOf(number)); block != nil {
					t.Errorf("block %d is %v, want none", number, block)
				}
			}
		})
	}
}

// checkMadeUp checks that a block has the hash of its fields, and transactions that name it.
func checkMadeUp(t *testing.T, block object) {
	t.Helper()
	list, _ := block["transactions"].([]any)
	if len(list) != 1 {
		t.Fatalf("the block has the transactions %v", block["transactions"])
	}
	tx, _ := list[0].(object)
	if tx["blockHash"] != block["hash"] || tx["blockNumber"] != block["number"] {
		t.Errorf("a transaction of block %v %v names block %v %v", block["number"], block["hash"], tx["blockNumber"], tx["blockHash"])
	}
	raw, err := json.Marshal(block)
	if err != nil {
		t.Fatal(err)
	}
	if hash, err := evmblock.HeaderHash(raw); err != nil || hash.String() != block["hash"] {
		t.Errorf("block %v has the hash %v, and its fields have %v, %v", block["number"], block["hash"], hash, err)
	}
}
