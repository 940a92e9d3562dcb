package indexer_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"sync"
	"testing"

	"github.com/boardwalkhq/boardwalk/hack/simnet/venues"
	evmblock "github.com/boardwalkhq/boardwalk/indexer/evm/block"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// headLiar stands before a node and tells a false head once it is armed: when it is asked for the newest block, and when it is asked for blocks above
// its head or the true one by number. Every header that it makes up has the hash of its fields, and its transactions name it.
type headLiar struct {
	t *testing.T
	w *testWorld
	// ahead is how many blocks above the true head the false one is, asked the number of times that the head was asked for. A nil ahead repeats
	// the head that was the newest at first.
	ahead func(asked int) int
	// makesUp says that it has the blocks between the true head and the false one, each the child of the one below. Else it has the next one alone.
	makesUp bool
	// nextFirst says that it tells the true head until it was asked for a block above its head or the true one by number: after a lie about the newest
	// block it may never be asked so.
	nextFirst bool

	mu    sync.Mutex
	armed bool
	asked int
	lies  int
	// nextLies are the lies about blocks that were asked for by number.
	nextLies int
	// madeUp are blocks by their number: those above the true head, where it makes them up.
	madeUp map[int64]map[string]any
	// frozen is the head that a liar with a nil ahead repeats.
	frozen map[string]any
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
	var number int64
	isLatest := method == "eth_getBlockByNumber" && string(params[0]) == `"latest"`
	switch {
	case method == "eth_getLogs" && isRange(params) && json.Unmarshal(result, &logs) == nil && len(logs) > 0:
		out, _ := json.Marshal(inflate(logs))
		return out
	case method != "eth_getBlockByNumber":
		return result
	case !isLatest:
		if _, err := fmt.Sscanf(string(params[0]), `"0x%x"`, &number); err != nil {
			return result // the safe or the final block
		}
	}
	head := l.block("latest")
	if head == nil {
		return result
	}
	if l.frozen == nil {
		l.frozen = head
	}
	if isLatest && l.nextFirst && l.nextLies == 0 {
		return result
	}
	if isLatest || number == numberOf(head)+1 {
		l.asked++
	}
	told, isLie := l.lie(head, number, isLatest)
	if !isLie {
		return result
	}
	if l.lies++; !isLatest {
		l.nextLies++
	}
	return shaped(told, string(params[1]) == "true")
}

// lie is what the liar says of the newest block or of one that is asked for by number; isLie is false where it says what is so.
func (l *headLiar) lie(head map[string]any, number int64, isLatest bool) (told map[string]any, isLie bool) {
	at, ahead := numberOf(head), 0
	if l.ahead == nil {
		ahead = int(numberOf(l.frozen) - at)
	} else {
		ahead = l.ahead(l.asked)
	}
	last := at + int64(ahead)
	if isLatest {
		number = last
	}
	switch {
	case l.ahead == nil && isLatest:
		return l.frozen, true
	case ahead < 0 && isLatest:
		told = l.block(fmt.Sprintf("0x%x", number))
		return told, told != nil
	case ahead < 0:
		return nil, number > last && number <= at
	case ahead == 0 || number <= at:
		return nil, false
	case l.makesUp:
		told = l.above(head, last)[number]
	case isLatest || number == at+1:
		told = l.childOf(head, head, number)
	}
	return told, told != nil
}

// block is the node's block, with its transactions.
func (l *headLiar) block(name string) (out map[string]any) {
	if err := l.w.node.Call(l.t.Context(), &out, "eth_getBlockByNumber", name, true); err != nil {
		return nil
	}
	return out
}

// above makes up the blocks from the true head up to a number.
func (l *headLiar) above(head map[string]any, last int64) map[int64]map[string]any {
	below := head
	for n := numberOf(head) + 1; n <= last; n++ {
		if l.madeUp[n] == nil { // else the chain that was made up before goes on
			l.madeUp[n] = l.childOf(head, below, n)
		}
		below = l.madeUp[n]
	}
	return l.madeUp
}

// childOf makes up a block like the head, with a number and a parent.
func (l *headLiar) childOf(head, parent map[string]any, number int64) map[string]any {
	made := maps.Clone(head)
	made["parentHash"], made["number"] = parent["hash"], fmt.Sprintf("0x%x", number)
	delete(made, "transactions")
	raw, _ := json.Marshal(made)
	hash, err := evmblock.HeaderHash(raw)
	if err != nil {
		l.t.Error(err)
		return nil
	}
	made["hash"] = hash.String()
	own := []any{}
	list, _ := head["transactions"].([]any)
	for i := range list {
		tx, _ := list[i].(map[string]any)
		tx = maps.Clone(tx)
		tx["blockHash"], tx["blockNumber"] = made["hash"], made["number"]
		own = append(own, tx)
	}
	made["transactions"] = own
	return made
}

// shaped is a block as an answer, with its transactions or with their hashes.
func shaped(block map[string]any, whole bool) json.RawMessage {
	if list, ok := block["transactions"].([]any); ok && !whole {
		hashes := []any{}
		for i := range list {
			tx, _ := list[i].(map[string]any)
			hashes = append(hashes, tx["hash"])
		}
		block = maps.Clone(block)
		block["transactions"] = hashes
	}
	raw, _ := json.Marshal(block)
	return raw
}

// isRange reports whether the logs of several blocks are asked for.
func isRange(params []json.RawMessage) bool {
	var f struct{ FromBlock, ToBlock string }
	return json.Unmarshal(params[0], &f) == nil && f.FromBlock != f.ToBlock
}

func numberOf(header map[string]any) (n int64) {
	text, _ := header["number"].(string)
	_, _ = fmt.Sscanf(text, "0x%x", &n)
	return n
}

// TestOneFalseHeadOfThree indexes through a node that tells a false head and forges the logs of the past, beside two honest ones. The chain
// goes on at the true head, what the API serves is near it, and the rows are those of an honest index: nothing at the head was read as past. With a
// launch venue, blocks at the head are read with their transactions, and the next one is asked for by number.
func TestOneFalseHeadOfThree(t *testing.T) {
	t.Parallel()
	const far = 10_000
	for name, made := range map[string]*headLiar{
		"far ahead, without the blocks": {ahead: func(int) int { return far }},
		"far ahead, with blocks":        {ahead: func(int) int { return far }, makesUp: true},
		"a little ahead":                {ahead: func(int) int { return 6 }},
		"far behind":                    {ahead: func(int) int { return -50 }},
		"flapping":                      {ahead: func(asked int) int { return []int{far, -50, 0}[asked%3] }},
		"frozen":                        {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			indexBesideLiar(t, &headLiar{ahead: made.ahead, makesUp: made.makesUp})
		})
		t.Run(name+", on a chain with a launch venue", func(t *testing.T) {
			t.Parallel()
			liar := &headLiar{ahead: made.ahead, makesUp: made.makesUp, nextFirst: true}
			indexBesideLiar(t, liar, venues.BoardwalkCurve)
			if liar.nextLies == 0 {
				t.Error("no lie was told of a block by its number: the test shows nothing of the next block")
			}
		})
	}
}

// indexBesideLiar indexes a world through a liar and two honest nodes, and holds the index against an honest one.
func indexBesideLiar(t *testing.T, liar *headLiar, protocols ...venues.Protocol) {
	t.Helper()
	w := newWorld(t, 60, protocols...)
	liar.t, liar.w, liar.madeUp = t, w, map[int64]map[string]any{}
	cfg := w.config()
	cfg.ReorgBlocks, cfg.Start.Block = 400, 1
	cfg.Endpoints = []chainconfig.Endpoint{
		{URL: w.relay(t, liar.answer), Weight: 50}, {URL: w.node.URL(), Weight: 1}, {URL: w.node.URL(), Weight: 1},
	}
	st := storetest.Open(t, "sqlite")
	_, stop := startImpatient(t, cfg, st)
	w.await(t, st)
	liar.arm()
	for i := range w.Venues {
		w.launch(t, w.Venues[i])
	}
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
