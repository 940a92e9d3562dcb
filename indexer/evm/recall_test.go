package evm

import (
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node/nodetest"
)

// TestRecalledReads keeps the digest of a read, as a restart does, and asks endpoints for the block again: nobody knows which of them gave
// the logs, so that two others have to say the same.
func TestRecalledReads(t *testing.T) {
	t.Parallel()
	type says []int
	for name, tt := range map[string]struct {
		kept             int // how many logs the block was committed with
		nodes            []says
		changed, agreed  bool
		doubtful         bool
		distrusted, asks int // the endpoint that is outvoted, -1 for none; calls for logs
	}{
		"two have the same":             {kept: 2, nodes: []says{{2}, {2}, {2}}, agreed: true, distrusted: -1, asks: 2},
		"two have others":               {kept: 1, nodes: []says{{2}, {2}, {2}}, agreed: true, changed: true, distrusted: -1, asks: 2},
		"the forger says so once more":  {kept: 1, nodes: []says{{1}, {2}, {2}}, agreed: true, changed: true, distrusted: 0, asks: 3},
		"one answers":                   {kept: 1, nodes: []says{{2}, {-1}}, distrusted: -1, asks: 2},
		"none answers":                  {kept: 1, nodes: []says{{-1}, {-1}}, distrusted: -1, asks: 2},
		"two differ, and nobody proves": {kept: 1, nodes: []says{{1}, {2}}, doubtful: true, distrusted: -1, asks: 2 * (1 + rereads)},
	} {
		h := blockFive(t, true)
		keeper := sourceOf(t, time.Now, blockNode(t, h, true, tt.kept).URL)
		first, err := keeper.Block(t.Context(), h)
		if err != nil {
			t.Fatal(err)
		}
		var nodes []*nodetest.Node
		var urls []string
		for _, n := range tt.nodes {
			nodes = append(nodes, blockNode(t, h, true, n...))
			urls = append(urls, nodes[len(nodes)-1].URL)
		}
		s := sourceOf(t, time.Now, urls...)
		s.rereadPause = time.Millisecond
		r, ok := s.Recall(keeper.LogsHash(&first))
		if !ok || r.Suspect() || r.Doubtful {
			t.Errorf("%s: recalled %v, a suspect %v, doubtful %v", name, ok, r.Suspect(), r.Doubtful)
			continue
		}
		changed, err := s.Agree(t.Context(), chain.Header{Header: h.Header}, &r)
		if err != nil || r.Agreed != tt.agreed || r.Agreed && changed != tt.changed || r.Doubtful != tt.doubtful {
			t.Errorf("%s: changed %v, agreed %v, doubtful %v, %v; want %+v", name, changed, r.Agreed, r.Doubtful, err, tt)
		}
		asks := 0
		for i, e := range s.pool.List {
			asks += nodes[i].Count("eth_getLogs")
			if e.IsDistrusted() != (i == tt.distrusted) {
				t.Errorf("%s: endpoint %d is distrusted: %v", name, i, e.IsDistrusted())
			}
		}
		if asks != tt.asks {
			t.Errorf("%s: asked %d times, want %d", name, asks, tt.asks)
		}
	}
}

// TestWhatCanBeRecalled wants a doubt kept, any endpoint that is outvoted to make a recalled block a suspect, and no digest recalled
// where other logs are asked for.
func TestWhatCanBeRecalled(t *testing.T) {
	t.Parallel()
	h := blockFive(t, true)
	s := sourceOf(t, time.Now, blockNode(t, h, true, 3).URL, blockNode(t, h, true, 2).URL)
	r, err := s.Block(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	r.Doubtful = true
	kept := s.LogsHash(&r)
	again, ok := s.Recall(kept)
	if !ok || !again.Doubtful || again.Suspect() {
		t.Errorf("recalled %v, doubtful %v, a suspect %v; want a doubtful one", ok, again.Doubtful, again.Suspect())
	}
	if s.outvoted(s.pool.List[1]); !again.Suspect() {
		t.Error("no suspect, although an endpoint was outvoted")
	}
	other := sourceOf(t, time.Now, "http://127.0.0.1:1")
	other.asked = hashAsked(append(other.topics, [32]byte{1}))
	for name, hash := range map[string][]byte{"none": nil, "a short one": kept[:40], "a long one": append(kept, 0)} {
		if _, ok := s.Recall(hash); ok {
			t.Errorf("%s was recalled", name)
		}
	}
	if _, ok := other.Recall(kept); ok {
		t.Error("the digest of other logs than are asked for was recalled")
	}
}
