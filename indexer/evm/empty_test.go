package evm

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/block"
	"github.com/boardwalkhq/boardwalk/indexer/evm/block/blocktest"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node/nodetest"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// quietNode has blocks without logs; logs, if set, is what it says about them from its n-th answer on.
func quietNode(t *testing.T, full bool, n int, logs string) *nodetest.Node {
	t.Helper()
	asked := 0
	return nodetest.New(t, func(method string, params []json.RawMessage) (string, string) {
		if method == "eth_getBlockByNumber" {
			number, err := rpc.ParseQuantity(params[0])
			if err != nil {
				t.Error(err)
			}
			return blocktest.Header(number, full, "5208"), ""
		}
		if asked++; logs != "" && asked >= n {
			return logs, ""
		}
		return "[]", ""
	})
}

func emptyNode(t *testing.T) *nodetest.Node {
	t.Helper()
	return quietNode(t, true, 0, "")
}

func failingNode(t *testing.T) *nodetest.Node {
	t.Helper()
	return nodetest.New(t, func(string, []json.RawMessage) (string, string) { return "", `{"code":-32000,"message":"no"}` })
}

// TestWhatAnEmptyBlockCosts counts the reads of logs until it is believed that a block has none.
func TestWhatAnEmptyBlockCosts(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		header string
		second func(*testing.T) *nodetest.Node // nil: there is none
		want   int                             // of the first endpoint
	}{
		"the bloom proves it":           {header: blocktest.Header(5, false, "5208"), want: 1},
		"nothing ran":                   {header: blocktest.Header(5, true, "0"), want: 1},
		"there is no bloom":             {header: strings.Replace(blocktest.Header(5, true, "5208"), "logsBloom", "other", 1), want: 1 + rereads},
		"nobody else is there":          {header: blocktest.Header(5, true, "5208"), want: 1 + rereads},
		"another says so too":           {header: blocktest.Header(5, true, "5208"), second: emptyNode, want: 1},
		"another fails":                 {header: blocktest.Header(5, true, "5208"), second: failingNode, want: 1 + rereads},
		"another fails, but it matters": {header: blocktest.Header(5, false, "5208"), second: failingNode, want: 1},
	} {
		h, err := block.ParseHeader(json.RawMessage(tt.header))
		if err != nil {
			t.Fatal(err)
		}
		first := quietNode(t, true, 0, "")
		urls := []string{first.URL}
		if tt.second != nil {
			urls = append(urls, tt.second(t).URL)
		}
		s := sourceOf(t, time.Now, urls...)
		s.rereadPause = time.Millisecond
		if b, err := s.Block(t.Context(), h); err != nil || len(b.Txs) > 0 {
			t.Errorf("%s: %+v, %v", name, b, err)
		}
		if got := first.Count("eth_getLogs"); got != tt.want {
			t.Errorf("%s: %d reads of logs, want %d", name, got, tt.want)
		}
	}
}

// TestWaitingTakesAShareOfTheTime reads blocks of a chain whose blooms allow everything from one node: the second of them
// waits for nothing.
func TestWaitingTakesAShareOfTheTime(t *testing.T) {
	t.Parallel()
	node := quietNode(t, true, 0, "")
	now := time.Unix(1_700_000_000, 0)
	s := sourceOf(t, func() time.Time { now = now.Add(time.Second); return now }, node.URL)
	s.rereadPause = time.Millisecond
	h, err := block.ParseHeader(json.RawMessage(blocktest.Header(5, true, "5208")))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{1 + rereads, 2} {
		before := node.Count("eth_getLogs")
		if _, err := s.Block(t.Context(), h); err != nil {
			t.Fatal(err)
		}
		if got := node.Count("eth_getLogs") - before; got != want {
			t.Errorf("block %d takes %d reads of logs, want %d", i, got, want)
		}
	}
}

// TestAnEmptyPast asks for ranges of the past that a first endpoint has no logs of.
func TestAnEmptyPast(t *testing.T) {
	t.Parallel()
	var h chain.Header
	h.Number, h.Hash = 5, market.Hash{31: 5}
	logs := transferLogs(h, 0)
	for name, tt := range map[string]struct {
		first  *nodetest.Node
		second *nodetest.Node
		blocks int
		want   int // reads of the first endpoint
	}{
		"headers prove it":            {quietNode(t, false, 0, ""), nil, 0, 1},
		"it says so again":            {quietNode(t, true, 0, ""), nil, 0, 1 + rereads},
		"it has them later":           {quietNode(t, true, 3, logs), nil, 1, 3},
		"another has them":            {quietNode(t, true, 0, ""), quietNode(t, true, 0, logs), 1, 1},
		"another has none":            {quietNode(t, true, 0, ""), quietNode(t, true, 0, ""), 0, 1},
		"another fails":               {quietNode(t, true, 0, ""), failingNode(t), 0, 1 + rereads},
		"another fails, and has them": {quietNode(t, true, 4, logs), failingNode(t), 1, 4},
	} {
		urls := []string{tt.first.URL}
		if tt.second != nil {
			urls = append(urls, tt.second.URL)
		}
		s := sourceOf(t, time.Now, urls...)
		s.rereadPause = time.Millisecond
		piece, err := s.readPiece(t.Context(), 0, 1, 10)
		if err != nil || piece.upTo != 10 || len(piece.found.Blocks) != tt.blocks {
			t.Errorf("%s: %d blocks up to %d, %v; want %d up to 10", name, len(piece.found.Blocks), piece.upTo, err, tt.blocks)
		}
		if got := tt.first.Count("eth_getLogs"); got != tt.want {
			t.Errorf("%s: %d reads of logs, want %d", name, got, tt.want)
		}
	}
}

// TestEmptyTransfersAreNotBelievedAtOnce reads a token's past from a node that has its transfers from the third answer on.
func TestEmptyTransfersAreNotBelievedAtOnce(t *testing.T) {
	t.Parallel()
	var h chain.Header
	h.Number, h.Hash = 5, market.Hash{31: 5}
	s := sourceOf(t, time.Now, quietNode(t, true, 3, transferLogs(h, 0)).URL, failingNode(t).URL)
	s.rereadPause = time.Millisecond
	txs, upTo, err := s.History().TransfersOf(t.Context(), market.EVMAddress([32]byte{30: 0xa, 31: 0xbc}), 1, 10)
	if err != nil || len(txs) != 1 || upTo != 10 {
		t.Errorf("%+v up to %d, %v; want one transfer", txs, upTo, err)
	}
}

// TestAPauseEndsWithItsContext asks a node for logs that it doesn't have, with a pause that nobody waits for.
func TestAPauseEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	node := nodetest.New(t, func(string, []json.RawMessage) (string, string) {
		cancel()
		return "[]", ""
	})
	s := sourceOf(t, time.Now, node.URL)
	s.rereadPause = time.Hour
	h, err := block.ParseHeader(json.RawMessage(blocktest.Header(5, true, "5208")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Block(ctx, h); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the context's end", err)
	}
}
