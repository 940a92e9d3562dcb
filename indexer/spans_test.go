package indexer

import (
	"testing"

	"github.com/boardwalkhq/boardwalk/indexer/solana/solanatest"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
	"github.com/boardwalkhq/boardwalk/internal/telemetry"
	"github.com/boardwalkhq/boardwalk/internal/telemetry/tracetest"
)

// TestSpansOfAnIndex: each look for the head is a trace, with the blocks that it indexes, what it asks nodes for and what it commits. Each commit of the past is
// a trace of its own.
func TestSpansOfAnIndex(t *testing.T) {
	r, endTraces := tracetest.Trace(t, telemetry.TracesOptions{Service: "boardwalk-indexer", Chain: "solana"})
	w := solanatest.NewWorld(5)
	w.Grow(200)
	n := solanaNode(t, w)
	st := storetest.Open(t, "sqlite")
	end := startSolana(t, st, solanaConfig(n))
	awaitSolana(t, st, w)
	for range 5 {
		w.Grow(2)
		n.ServeWorld(w)
		awaitSolana(t, st, w)
	}
	end()
	endTraces()
	byID := map[string]tracetest.Span{}
	for _, s := range r.Spans() {
		byID[s.ID] = s
	}
	parents := func(name string) map[string]int {
		out := map[string]int{}
		for _, s := range r.Named(name) {
			out[byID[s.Parent].Name]++
		}
		return out
	}
	for name, allowed := range map[string][]string{
		"look for the head": {""}, "index past blocks": {""}, "index a block": {"look for the head"},
		"commit": {"index a block", "index past blocks", "look for the head"}, // the last one where a chain begins
	} {
		got := parents(name)
		for _, parent := range allowed {
			if delete(got, parent); name != "commit" && len(r.Named(name)) == 0 {
				t.Errorf("there is no span %q", name)
			}
		}
		if len(got) > 0 {
			t.Errorf("spans %q are also within %v", name, got)
		}
	}
	if got := parents("commit"); got["index a block"] == 0 || got["index past blocks"] == 0 {
		t.Errorf("commits are within %v, want blocks and past ones", got)
	}
	for _, s := range r.Named("index a block") {
		if s.Attributes["boardwalk.chain"] != "solana" || s.Attributes["boardwalk.blocks"] != "1" || s.Attributes["boardwalk.logs"] == "" || s.Attributes["boardwalk.block"] == "" {
			t.Errorf("the span of a block has %v", s.Attributes)
		}
	}
	asked := 0
	for _, s := range r.Spans() {
		if s.Attributes["rpc.system.name"] == "" {
			continue
		}
		if asked++; byID[s.Parent].ID == "" || s.Attributes["boardwalk.endpoint"] != "endpoint 1" {
			t.Errorf("%+v is no request within a look or a commit", s)
		}
	}
	if asked == 0 {
		t.Error("no request to a node has a span")
	}
}
