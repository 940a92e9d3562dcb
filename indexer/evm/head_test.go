package evm

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node/nodetest"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
)

// headNode tells a head that a test moves on: its number, and how many seconds after the epoch of the test the block's time is. It has all blocks
// up to it where it has any.
type headNode struct {
	*nodetest.Node

	number, time uint64
	// alone says that it has no other block, down that it answers nothing.
	alone, down bool
}

const headEpoch = 1_800_000_000

func newHeadNode(t *testing.T, number uint64) *headNode {
	t.Helper()
	n := &headNode{number: number}
	n.Node = nodetest.New(t, func(method string, params []json.RawMessage) (string, string) {
		asked := strings.Trim(string(params[0]), `"`)
		at := n.number
		switch {
		case n.down:
			return "", `{"code":-32603,"message":"Internal error"}`
		case method != "eth_getBlockByNumber" || asked == "safe" || asked == "finalized":
			return "null", ""
		case asked != node.Newest:
			if _, err := fmt.Sscanf(asked, "0x%x", &at); err != nil || at > n.number || n.alone && at < n.number {
				return "null", ""
			}
		}
		return fmt.Sprintf(`{"number":"0x%x","hash":"0x%064x","parentHash":"0x%064x","timestamp":"0x%x"}`, at, at+1, at, headEpoch+n.time), ""
	})
	return n
}

// move sets what the node tells from now on.
func (n *headNode) move(number, seconds uint64) {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	n.number, n.time = number, seconds
}

func (n *headNode) fail(down bool) {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	n.down = down
}

// headTest has a source with some nodes, of which the first is asked first, and a clock.
type headTest struct {
	*Source

	t     *testing.T
	nodes []*headNode
	now   time.Time
}

func newHeadTest(t *testing.T, numbers ...uint64) *headTest {
	t.Helper()
	h := &headTest{t: t, now: time.Unix(headEpoch, 0)}
	var endpoints []chainconfig.Endpoint
	for _, number := range numbers {
		n := newHeadNode(t, number)
		h.nodes, endpoints = append(h.nodes, n), append(endpoints, chainconfig.Endpoint{URL: n.URL, Weight: 1})
	}
	endpoints[0].Weight = 50
	h.Source = sourceFor(t, Options{Now: func() time.Time { return h.now }}, endpoints...)
	return h
}

// want checks the head and what is reached.
func (h *headTest) want(number, reached uint64) {
	h.t.Helper()
	head, err := h.Head(h.t.Context())
	if err != nil || head.Number != number || head.Reached != reached {
		h.t.Fatalf("the head is %d, reached is %d, %v; want %d and %d", head.Number, head.Reached, err, number, reached)
	}
}

func (h *headTest) wantError(want error) {
	h.t.Helper()
	if head, err := h.Head(h.t.Context()); !errors.Is(err, want) {
		h.t.Fatalf("the head is %d, %v; want %v", head.Number, err, want)
	}
}

// pass lets time pass, in which the nodes come to other heads.
func (h *headTest) pass(seconds uint64, numbers ...uint64) {
	h.now = h.now.Add(time.Duration(seconds) * time.Second)
	for i, n := range numbers {
		h.nodes[i].move(n, uint64(h.now.Unix()-headEpoch))
	}
}

// TestHeadOfThree: two endpoints decide, whatever the third tells, which is asked first.
func TestHeadOfThree(t *testing.T) {
	t.Parallel()
	h := newHeadTest(t, 10_000, 1_000, 1_001)
	h.want(1_001, 1_000) // nobody is near the first; the second and the third are near each other
	h.pass(1, 11_000, 1_002, 1_003)
	h.want(1_003, 1_002)
	h.pass(600, 10, 1_100, 1_103) // nobody asked for long, and the first tells a head far behind
	h.want(1_103, 1_100)
	h.pass(600, 1_200, 1_200, 1_200) // it tells the true one again
	h.want(1_200, 1_200)
	h.pass(1, 1_220, 1_201, 1_201) // a little ahead is taken; what is reached is not
	h.want(1_220, 1_200)
	h.pass(1, 1_240, 1_202, 1_202)
	h.want(1_202, 1_202)
}

// TestAChainThatGotShorter: two endpoints tell a lower head, and are believed.
func TestAChainThatGotShorter(t *testing.T) {
	t.Parallel()
	h := newHeadTest(t, 1_000, 1_000, 1_000)
	h.want(1_000, 1_000)
	h.pass(1, 1_000, 960, 961)
	h.want(1_000, 1_000) // the first doesn't know it yet
	h.pass(1, 962, 962, 963)
	h.want(962, 962)
}

// TestAFrozenHead: an endpoint that tells one head for ever isn't the only one that is asked.
func TestAFrozenHead(t *testing.T) {
	t.Parallel()
	h := newHeadTest(t, 1_000, 1_000, 1_000)
	h.want(1_000, 1_000)
	h.pass(4, 1_000, 1_004, 1_004)
	h.want(1_000, 1_000)
	h.pass(2, 1_000, 1_006, 1_006)
	h.want(1_006, 1_000)
	h.pass(1, 1_000, 1_007, 1_007)
	h.want(1_007, 1_000)
	calls := h.nodes[0].Count("eth_getBlockByNumber")
	h.pass(1, 1_000, 1_008, 1_008)
	h.want(1_008, 1_000)
	if h.nodes[0].Count("eth_getBlockByNumber") > calls {
		t.Error("the endpoint that has stopped is asked first")
	}
}

// TestHeadOfTwo: the one that is far ahead is believed where it has the blocks, and where the chain can have made them since the other's.
func TestHeadOfTwo(t *testing.T) {
	t.Parallel()
	h := newHeadTest(t, 5_000, 1_000)
	h.want(1_000, 1_000) // in no time
	h.pass(1_000, 5_000, 1_100)
	h.want(1_100, 1_100)
	h.pass(300, 1_400)
	h.want(1_400, 1_400) // the second has stopped
	h.pass(300, 1_700)
	h.nodes[0].alone = true
	h.want(1_100, 1_100) // the first doesn't have the blocks below its head
}

// TestHeadBesideADeadNode: one of two goes on alone, while it tells heads that the chain can have.
func TestHeadBesideADeadNode(t *testing.T) {
	t.Parallel()
	h := newHeadTest(t, 1_000, 1_000)
	h.want(1_000, 1_000)
	h.nodes[1].fail(true)
	h.pass(100, 1_100)
	h.want(1_100, 1_100)
	h.pass(1, 9_000)
	h.wantError(errAlone)
	h.pass(1, 1_050)
	h.wantError(errBehind)
	h.pass(70, 1_060) // nobody has the higher one any more
	h.want(1_060, 1_060)
	h.pass(1, 1_061)
	h.want(1_061, 1_060)
}

// TestHeadOfOne: the only endpoint is believed where it has the blocks below its head.
func TestHeadOfOne(t *testing.T) {
	t.Parallel()
	h := newHeadTest(t, 1_000)
	h.want(1_000, 1_000)
	calls := h.nodes[0].Count("eth_getBlockByNumber")
	h.pass(1, 1_001)
	h.want(1_001, 1_001)
	if more := h.nodes[0].Count("eth_getBlockByNumber") - calls; more != 1 {
		t.Errorf("the next head cost %d calls", more)
	}
	h.pass(1, 900_000)
	h.want(900_000, 900_000)
	h.pass(1, 800)
	h.want(800, 800)
	h.nodes[0].alone = true
	h.pass(1, 1_000_000)
	h.wantError(chain.ErrNoBlock)
}

// TestAHeadThatNobodyHas: where no endpoint has the block above the last, the one that told a head above it is asked last.
func TestAHeadThatNobodyHas(t *testing.T) {
	t.Parallel()
	h := newHeadTest(t, 1_000, 1_000, 1_000)
	h.want(1_000, 1_000)
	h.pass(1, 1_010)
	h.want(1_010, 1_000)
	h.nodes[0].move(1_000, 1)
	if _, err := h.Headers(t.Context(), chain.Header{}.Header, 1_001, 1_010); !errors.Is(err, chain.ErrNoBlock) {
		t.Fatalf("headers that nobody has: %v", err)
	}
	h.nodes[0].move(1_010, 1)
	h.pass(0)
	h.want(1_000, 1_000)
}
