package indexer_test

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/boardwalkhq/boardwalk/indexer/evm"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// headLiar stands before a node and tells a false head once it is armed. Every header that it makes up has the hash of its fields.
type headLiar struct {
	t *testing.T
	w *testWorld
	// ahead is how many blocks above the true head the false one is, asked the number of times that the head was asked for.
	ahead func(asked int) int
	// makesUp says that it has the blocks between the true head and the false one, each the child of the one below.
	makesUp bool

	mu    sync.Mutex
	armed bool
	asked int
	lies  int
	// madeUp are headers by their number: those that were told as the head, and those below them where it makes them up.
	madeUp map[string]json.RawMessage
	// frozen is the head that a liar with a nil ahead repeats.
	frozen json.RawMessage
}

func (l *headLiar) arm() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.armed = true
}

// answer is the liar's answer to one call. It also forges the logs of ranges, by which the past is read.
func (l *headLiar) answer(method string, params []json.RawMessage, result json.RawMessage) json.RawMessage {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.armed {
		return result
	}
	var logs []map[string]any
	switch {
	case method == "eth_getLogs" && isRange(params) && json.Unmarshal(result, &logs) == nil && len(logs) > 0:
		out, _ := json.Marshal(inflate(logs))
		return out
	case method != "eth_getBlockByNumber":
		return result
	case string(params[0]) != `"latest"`:
		if made, ok := l.madeUp[string(params[0])]; ok && string(result) == "null" {
			return made
		}
		return result
	case l.frozen == nil:
		l.frozen = result
	}
	if l.asked++; l.ahead == nil {
		l.lies++
		return l.frozen
	}
	switch ahead := l.ahead(l.asked); {
	case ahead < 0:
		l.lies++
		return l.below(result, -ahead)
	case ahead > 0:
		l.lies++
		return l.above(result, ahead)
	default:
		return result
	}
}

// below is the true header so many blocks below another.
func (l *headLiar) below(head json.RawMessage, blocks int) json.RawMessage {
	var out json.RawMessage
	if err := l.w.node.Call(l.t.Context(), &out, "eth_getBlockByNumber", fmt.Sprintf("0x%x", numberOf(head)-int64(blocks)), false); err != nil {
		return head
	}
	return out
}

// above makes up a header so many blocks above another.
func (l *headLiar) above(head json.RawMessage, blocks int) json.RawMessage {
	var fields map[string]any
	if json.Unmarshal(head, &fields) != nil {
		return head
	}
	last := numberOf(head) + int64(blocks)
	first := last
	if l.makesUp {
		first = numberOf(head) + 1
	}
	for n := first; n <= last; n++ {
		name := fmt.Sprintf(`"0x%x"`, n)
		if made, ok := l.madeUp[name]; ok && l.makesUp { // the chain that was made up before goes on
			head = made
			continue
		}
		fields["parentHash"] = hashOf(head)
		fields["number"] = fmt.Sprintf("0x%x", n)
		raw, _ := json.Marshal(fields)
		hash, err := evm.HeaderHash(raw)
		if err != nil {
			l.t.Error(err)
			return head
		}
		fields["hash"] = hash.String()
		head, _ = json.Marshal(fields)
		if l.makesUp {
			l.madeUp[name] = head
		}
	}
	return head
}

// isRange reports whether the logs of several blocks are asked for.
func isRange(params []json.RawMessage) bool {
	var f struct{ FromBlock, ToBlock string }
	return json.Unmarshal(params[0], &f) == nil && f.FromBlock != f.ToBlock
}

func numberOf(header json.RawMessage) (n int64) {
	var h struct{ Number string }
	_ = json.Unmarshal(header, &h)
	_, _ = fmt.Sscanf(h.Number, "0x%x", &n)
	return n
}

func hashOf(header json.RawMessage) string {
	var h struct{ Hash string }
	_ = json.Unmarshal(header, &h)
	return h.Hash
}

// TestOneFalseHeadOfThree indexes through a node that tells a false head and forges the logs of the past, beside two honest ones. The chain
// goes on at the true head, what the API serves is near it, and the rows are those of an honest index: nothing at the head was read as past.
func TestOneFalseHeadOfThree(t *testing.T) {
	t.Parallel()
	const far = 10_000
	for name, liar := range map[string]*headLiar{
		"far ahead, without the blocks": {ahead: func(int) int { return far }},
		"far ahead, with blocks":        {ahead: func(int) int { return far }, makesUp: true},
		"a little ahead":                {ahead: func(int) int { return 6 }},
		"far behind":                    {ahead: func(int) int { return -50 }},
		"flapping":                      {ahead: func(asked int) int { return []int{far, -50, 0}[asked%3] }},
		"frozen":                        {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 60)
			liar.t, liar.w, liar.madeUp = t, w, map[string]json.RawMessage{}
			cfg := w.config()
			cfg.ReorgBlocks, cfg.Start.Block = 400, 1
			cfg.Endpoints = []chainconfig.Endpoint{
				{URL: w.relay(t, liar.answer), Weight: 50}, {URL: w.node.URL(), Weight: 1}, {URL: w.node.URL(), Weight: 1},
			}
			st := storetest.Open(t, "sqlite")
			_, stop := startImpatient(t, cfg, st)
			w.await(t, st)
			liar.arm()
			for range 8 {
				w.trade(t, 5)
				w.await(t, st)
				told(t, w, st)
			}
			stop()
			if liar.lies == 0 {
				t.Error("no false head was told: the test shows nothing")
			}
			honest := w.config()
			honest.ReorgBlocks, honest.Start.Block = cfg.ReorgBlocks, cfg.Start.Block
			w.compare(t, st, honest)
		})
	}
}

// told checks that the head and the final block that the API serves are at most the node's.
func told(t *testing.T, w *testWorld, st *store.Store) {
	t.Helper()
	head, err := w.node.Latest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s, _, err := st.Chain(t.Context(), "base")
	if err != nil {
		t.Fatal(err)
	}
	const tolerated = 32 // what one endpoint may say alone
	if s.Head.Number > head.Number+tolerated || s.Head.Final > head.Number {
		t.Errorf("the head is %d, the final block %d; the node's head is %d", s.Head.Number, s.Head.Final, head.Number)
	}
}
