package contracts

import (
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node/nodetest"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// newestNode answers calls for its newest block alone. A pool has as many of its first token as the block's number says, and more of it where the
// node lies.
type newestNode struct {
	head, lie int
	// fork is what tells the node's blocks from others of their numbers.
	fork byte
	// moves is how often the head moves on while the pool is asked.
	moves int32
	// fails says that it answers no calls, silent that it answers for its newest block whatever it is asked for, late that it knows the
	// newest block alone, and speaks of an older one as of one that it doesn't have.
	fails, silent, late bool
	// keeps says that it has the state after each block, in which the pool is the same.
	keeps bool
}

func hashOfBlock(number int, fork byte) market.Hash {
	return market.Hash{0: fork, 30: byte(number >> 8), 31: byte(number)}
}

func (n newestNode) start(t *testing.T) *nodetest.Node {
	t.Helper()
	var head atomic.Int64
	head.Store(int64(n.head))
	var moved atomic.Int32
	const notHere = `{"code":-32603,"message":"invalid block height: 5"}`
	out := nodetest.New(t, func(method string, params []json.RawMessage) (string, string) {
		now := int(head.Load())
		isNewest := func(raw json.RawMessage) bool { return n.silent || string(raw) == `"latest"` }
		switch method {
		case "eth_getBlockByNumber", "eth_getBlockByHash":
			number := now
			if string(params[0]) != `"latest"` {
				number = 5
				if n.late {
					return "null", ""
				}
			}
			return fmt.Sprintf(`{"number":"0x%x","hash":"%s","parentHash":"%s","timestamp":"0x1"}`, number, hashOfBlock(number, n.fork),
				hashOfBlock(number-1, n.fork)), ""
		case "eth_getBalance":
			if !isNewest(params[1]) {
				return `"0x0"`, ""
			}
			return `"0x7"`, ""
		case "eth_call":
			switch {
			case n.fails:
				return "", `{"code":-32603,"message":"internal error"}`
			case !isNewest(params[1]) && !n.keeps:
				return "", notHere
			case moved.Add(1) <= n.moves:
				head.Add(1)
			}
			return fmt.Sprintf(`"0x%064x%064x%064x"`, now+n.lie, 1, 0), ""
		}
		return "null", ""
	})
	out.Balances = true
	return out
}

var someV2Pools = []market.PoolCreated{{Protocol: market.UniswapV2, Pool: market.EVMAddress([32]byte{31: 1})}, {Protocol: market.UniswapV2, Pool: market.EVMAddress([32]byte{31: 2})}}

// TestStateOfTheNewestBlockAlone asks for the state after block 5.
func TestStateOfTheNewestBlockAlone(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		node        newestNode
		gone, fails bool
	}{
		"it says that it has none":         {node: newestNode{head: 9}, gone: true},
		"it doesn't have the block":        {node: newestNode{head: 9, late: true}, fails: true},
		"it answers with the newest state": {node: newestNode{head: 9, silent: true}, gone: true},
		"it has all states":                {node: newestNode{head: 9, keeps: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			node := tt.node.start(t)
			now := time.Now()
			s := sourceOf(t, func() time.Time { return now }, node.URL)
			s.seen.Store(9)
			for range 6 {
				now = now.Add(time.Hour/3 + time.Second)
				_, gone, err := s.Contracts().PoolStates(t.Context(), chain.Ref{Number: 5, Hash: hashOfBlock(5, 0)}, someV2Pools)
				if gone != tt.gone || (err != nil) != tt.fails {
					t.Errorf("gone %v, %v", gone, err)
				}
			}
			if n := node.Count("eth_getBalance"); n != 6 {
				t.Errorf("asked for %d balances, want two times 3: the answer holds for a while", n)
			}
			if calls := node.Count("eth_call"); tt.node.silent && calls > 0 {
				t.Errorf("%d calls went to an endpoint whose answers would be for another block", calls)
			}
		})
	}
}
