package evm

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/block/blocktest"
	"github.com/boardwalkhq/boardwalk/indexer/evm/decode"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// TestANodeThatGivesNoTransactions follows chains through nodes that ignore, refuse or garble what they are asked for: the chain goes on, read
// without, and with transactions again once the node gives them.
func TestANodeThatGivesNoTransactions(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*wholeNode){
		"hashes alone": func(n *wholeNode) { n.how = func(string) string { return `"` + blocktest.Hash(1) + `"` } },
		"garbage":      func(n *wholeNode) { n.how = func(string) string { return `{"from":5}` } },
		"of another block": func(n *wholeNode) {
			n.how = func(string) string { return blocktest.Transaction(1, `,"blockHash":"`+blocktest.Hash(77)+`"`) }
		},
		"the same twice":         func(n *wholeNode) { n.how = func(list string) string { return list + "," + list } },
		"it refuses":             func(n *wholeNode) { n.refusesWhole = `{"code":-32602,"message":"invalid argument 1"}` },
		"it has an error inside": func(n *wholeNode) { n.refusesWhole = `{"code":-32603,"message":"Internal error"}` },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newWholeNode(t, 1_000)
			f := newFollower(t, true, n)
			f.grow(n, 5)
			n.set(func() { spoil(n) })
			f.without = nil
			for range 30 {
				n.set(func() { n.head++ })
				for range 2 {
					if _, err := f.look(); err != nil { // an answer may be lost, and the next one isn't
						t.Log(err)
					}
					f.now = f.now.Add(time.Second)
				}
			}
			if f.last.Number < 1_032 {
				t.Errorf("the head is 1035, the last block %d", f.last.Number)
			}
			if len(f.without) < 25 {
				t.Errorf("only blocks %v were read without their transactions", f.without)
			}
			n.set(func() { n.refusesWhole, n.how = "", func(list string) string { return list } })
			f.now = f.now.Add(longestBlocksPause)
			f.poll()
			f.without, f.read = nil, nil
			f.grow(n, 5)
			f.wantAll(f.read[0], n.head)
		})
	}
}

// TestOneEndpointWithoutTransactions follows chains through two endpoints, of which one ignores, refuses or garbles a question for transactions: all
// blocks are read with those that the other gives.
func TestOneEndpointWithoutTransactions(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*wholeNode){
		"hashes alone":     func(n *wholeNode) { n.how = func(string) string { return `"` + blocktest.Hash(1) + `"` } },
		"no list":          func(n *wholeNode) { n.how = func(string) string { return `],"transactions":null,"x":[` } },
		"garbage":          func(n *wholeNode) { n.how = func(string) string { return `{"from":5}` } },
		"invalid argument": func(n *wholeNode) { n.refusesWhole = `{"code":-32602,"message":"invalid argument 1"}` },
		"internal error":   func(n *wholeNode) { n.refusesWhole = `{"code":-32603,"message":"Internal error"}` },
	} {
		for _, spoiled := range []int{0, 1} {
			for _, atOnce := range []uint64{1, 3} {
				t.Run(fmt.Sprintf("%s, endpoint %d, %d blocks at once", name, spoiled+1, atOnce), func(t *testing.T) {
					t.Parallel()
					nodes := []*wholeNode{newWholeNode(t, 1_000), newWholeNode(t, 1_000)}
					spoil(nodes[spoiled])
					f := newFollower(t, true, nodes...)
					for range 200 {
						for _, n := range nodes {
							n.set(func() { n.head += atOnce })
						}
						f.seconds(2)
					}
					f.wantAll(f.read[0], nodes[0].head)
					if whole := nodes[spoiled].whole; whole > 40 {
						t.Errorf("the endpoint was asked for %d blocks with their transactions", whole)
					}
				})
			}
		}
	}
}

// TestTheEndpointWithTransactionsIsDown follows a chain through two endpoints, of which one tells hashes alone and the other is down for an hour: the
// chain goes on without transactions, and with them soon after the outage. The one that is down isn't asked for each block.
func TestTheEndpointWithTransactionsIsDown(t *testing.T) {
	t.Parallel()
	bare, other := newWholeNode(t, 1_000), newWholeNode(t, 1_000)
	bare.how = func(string) string { return `"` + blocktest.Hash(1) + `"` }
	f := newFollower(t, true, bare, other)
	grow := func(blocks int) {
		for range blocks {
			bare.set(func() { bare.head++ })
			other.set(func() { other.head++ })
			f.seconds(2)
		}
	}
	grow(20)
	f.wantAll(f.read[0], 1_020)
	other.set(func() { other.down = true })
	asked := other.Count("eth_getBlockByNumber")
	grow(1_800)
	if f.last.Number != 2_820 {
		t.Errorf("the last block is %d, want 2820", f.last.Number)
	}
	if n := other.Count("eth_getBlockByNumber") - asked; n > 600 {
		t.Errorf("the endpoint that is down was asked %d times for 1800 blocks", n)
	}
	other.set(func() { other.down = false })
	grow(60)
	f.without = nil
	grow(60)
	if len(f.without) > 0 || f.last.Number != 2_940 {
		t.Errorf("the last block is %d; blocks %v were read without their transactions after the outage", f.last.Number, f.without)
	}
}

// TestTransactionsAfterAnOutage lets a node be down for an hour: soon after that blocks are read with their transactions again.
func TestTransactionsAfterAnOutage(t *testing.T) {
	t.Parallel()
	n := newWholeNode(t, 1_000)
	f := newFollower(t, true, n)
	f.grow(n, 5)
	n.set(func() { n.down = true })
	for range 3600 {
		if _, err := f.look(); err == nil {
			t.Fatal("a node that is down tells a head")
		}
		f.now = f.now.Add(time.Second)
	}
	n.set(func() { n.down, n.head = false, n.head+3 })
	f.seconds(4)
	f.without = nil
	f.grow(n, 10)
	if len(f.without) > 0 || f.last.Number != n.head {
		t.Errorf("the last block is %d; blocks %v were read without their transactions after the outage", f.last.Number, f.without)
	}
}

// TestForeignTransactions gives a block the logs of a transaction that the list lacks: the block is then read without its transactions.
func TestForeignTransactions(t *testing.T) {
	t.Parallel()
	s := sourceForLaunches(t, Options{}, "http://one.invalid")
	var h chain.Header
	two := blocktest.Transaction(1, "") + "," + blocktest.Transaction(2, "")
	if err := takeBlock(&h)(json.RawMessage(blocktest.Block(5, blocktest.Hash(5), two))); err != nil {
		t.Fatal(err)
	}
	s.pool.List[0].tells(&h)
	logs := func(txs ...int) (list []decode.Log) {
		for _, n := range txs {
			var hash market.Hash
			hash[31] = byte(n)
			list = append(list, decode.Log{TxHash: hash})
		}
		return list
	}
	for _, tt := range []struct {
		txs []int
		has bool
	}{{nil, true}, {[]int{1}, true}, {[]int{1, 1, 2}, true}, {[]int{2, 3}, false}, {[]int{3, 1}, false}} {
		id := market.EVMTx(logs(2)[0].TxHash)
		b := market.Block{Txs: []market.Tx{{ID: id}}}
		s.addTransactions(&h, logs(tt.txs...), &b)
		if b.HasPayments != tt.has || (len(b.Payments) == 2) != tt.has || (b.Txs[0].Nonce == 7) != tt.has || b.Txs[0].Sender.IsNone() == tt.has {
			t.Errorf("logs of %v gave %+v; want that it is read with its transactions: %t", tt.txs, b, tt.has)
		}
	}
	if !s.pool.List[0].toldForeign {
		t.Error("nothing was logged of the endpoint")
	}
}
