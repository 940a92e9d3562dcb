package evm

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/block"
	"github.com/boardwalkhq/boardwalk/indexer/evm/block/blocktest"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node/nodetest"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// pastNode has as many logs of the last block of each range that it is asked for, or an error where it is -1. Of the block by its hash it has as
// many as byHash says.
func pastNode(t *testing.T, logs, byHash int) *nodetest.Node {
	t.Helper()
	return nodetest.New(t, func(method string, params []json.RawMessage) (string, string) {
		var p struct{ BlockHash, ToBlock string }
		number, _ := rpc.ParseQuantity(params[0])
		n := logs
		if method == "eth_getLogs" {
			if err := json.Unmarshal(params[0], &p); err != nil {
				t.Error(err)
			}
			if p.ToBlock == "" {
				p.ToBlock, n = "0x"+p.BlockHash[len(p.BlockHash)-2:], byHash
			}
			number, _ = rpc.ParseQuantity(json.RawMessage(`"` + p.ToBlock + `"`))
		}
		switch {
		case n < 0:
			return "", `{"code":-32000,"message":"no"}`
		case method == "eth_getBlockByNumber":
			return blocktest.Header(number, true, "5208"), ""
		case method == "eth_getLogs":
			h, err := block.ParseHeader(json.RawMessage(blocktest.Header(number, true, "5208")))
			if err != nil {
				t.Error(err)
			}
			return transferLogs(h, []int{0, 1, 2, 3}[:n]...), ""
		default:
			return "null", ""
		}
	})
}

// TestAgreePast reads a range of the past from one endpoint, on probation, and wants the logs that two have, or that the block is found out to
// have.
func TestAgreePast(t *testing.T) {
	t.Parallel()
	type node struct{ logs, byHash int }
	for name, tt := range map[string]struct {
		nodes    []node
		record   int // the endpoint that was outvoted before, less 1
		logs     int
		alone    bool
		outvoted []bool
		doubtful bool
	}{
		"two agree":                    {nodes: []node{{2, 2}, {2, 2}}, logs: 2, outvoted: []bool{false, false}},
		"one of three forges":          {nodes: []node{{3, 3}, {2, 2}, {2, 2}}, logs: 2, outvoted: []bool{true, false, false}},
		"another one forges":           {nodes: []node{{2, 2}, {3, 3}, {2, 2}}, logs: 2, outvoted: []bool{false, true, false}},
		"it forges ranges alone":       {nodes: []node{{3, 2}, {2, 2}}, logs: 2, outvoted: []bool{true, false}},
		"the other one does":           {nodes: []node{{2, 2}, {3, 2}}, logs: 2, outvoted: []bool{false, true}},
		"one drops all":                {nodes: []node{{2, 2}, {0, 2}}, logs: 2, outvoted: []bool{false, true}},
		"two differ":                   {nodes: []node{{3, 3}, {2, 2}}, logs: 3, outvoted: []bool{false, false}, doubtful: true},
		"two differ, one was outvoted": {nodes: []node{{2, 2}, {3, 3}}, record: 1, logs: 3, outvoted: []bool{true, false}, doubtful: true},
		"the second fails":             {nodes: []node{{3, 3}, {-1, -1}}, logs: 3, alone: true, outvoted: []bool{false, false}},
	} {
		var urls []string
		for _, n := range tt.nodes {
			urls = append(urls, pastNode(t, n.logs, n.byHash).URL)
		}
		var asides []chain.Aside
		s := sourceOf(t, time.Now, urls...)
		s.rereadPause = time.Millisecond
		first, err := s.readPiece(t.Context(), 0, 1, 7)
		if err != nil || first.by != s.pool.List[0] {
			t.Errorf("%s: read from %v, %v", name, first.by, err)
			continue
		}
		if tt.record > 0 {
			s.outvoted(s.pool.List[tt.record-1])
		}
		s.aside = func(a chain.Aside) { asides = append(asides, a) }
		a, alone, err := s.agreePast(t.Context(), 0, 1, first)
		if err != nil || a.upTo != 7 || alone != tt.alone || len(a.found.Blocks) != 1 || len(a.found.Blocks[0].Txs) != tt.logs {
			t.Errorf("%s: %+v, alone %v, %v; want %+v", name, a.found.Blocks, alone, err, tt)
		}
		doubtful := false
		for _, a := range asides {
			doubtful = doubtful || a.Reason == chain.EndpointsDiffer && a.Subject == "7"
		}
		if doubtful != tt.doubtful {
			t.Errorf("%s: told %+v, want doubtful %v", name, asides, tt.doubtful)
		}
		for i, e := range s.pool.List {
			if e.IsDistrusted() != tt.outvoted[i] {
				t.Errorf("%s: endpoint %d is distrusted: %v", name, i, !tt.outvoted[i])
			}
		}
	}
}

// TestPastSamples counts how often ranges with logs are asked for once the endpoints' probation is over: one in ten twice, and all of those that
// an endpoint gave which was outvoted.
func TestPastSamples(t *testing.T) {
	t.Parallel()
	const ranges = 40
	nodes := []*nodetest.Node{pastNode(t, 2, 2), pastNode(t, 2, 2)}
	s := sourceOf(t, time.Now, nodes[0].URL, nodes[1].URL)
	asked := func() int { return nodes[0].Count("eth_getLogs") + nodes[1].Count("eth_getLogs") }
	for i, e := range s.pool.List {
		for range probation {
			if !e.useProbation() {
				t.Fatalf("the probation of endpoint %d is over too soon", i)
			}
		}
	}
	var batches []chain.Batch
	for n := uint64(1); n <= ranges; n++ { // a block's hash is its number
		b, err := s.read(t.Context(), 0, n, n)
		if err != nil {
			t.Fatal(err)
		}
		batches = append(batches, b)
	}
	if asked() != ranges+ranges/chain.AgreedShare {
		t.Errorf("%d reads of %d ranges, want %d", asked(), ranges, ranges+ranges/chain.AgreedShare)
	}
	liar := aloneWords(&batches[0])[0].by
	before := asked()
	s.outvoted(liar)
	again := 0
	for i := range batches {
		if words := aloneWords(&batches[i]); len(words) > 0 && words[0].by == liar {
			again++
		}
		if err := s.RereadPast(t.Context(), market.Header{}, &batches[i]); err != nil {
			t.Fatal(err)
		}
	}
	if again == 0 || asked() != before+again {
		t.Errorf("%d reads after an endpoint was outvoted, want %d", asked()-before, again)
	}
}

func aloneWords(b *chain.Batch) []loneWord {
	if known, ok := b.Known.(*batchSource); ok {
		return known.words
	}
	return nil
}
