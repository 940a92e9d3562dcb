package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"sync"

	"github.com/boardwalkhq/boardwalk/indexer/evm"
)

// The functions below are faults of the block that an endpoint tells as its newest. Headers that are made up have the hash of their fields,
// or any endpoint would be found out by that.

// falseHeads is what an endpoint remembers of the false heads that it told.
type falseHeads struct {
	mu sync.Mutex
	// frozen is the head that it repeats.
	frozen json.RawMessage
	// madeUp are headers above the true head, by their number as it is asked for. Each is the child of the one below it.
	madeUp map[string]json.RawMessage
}

// head is the answer to a call that asks for the newest block; nil for other calls.
func (c *call) head() object {
	if c.Method != "eth_getBlockByNumber" || len(c.Params) == 0 || string(c.Params[0]) != `"latest"` {
		return nil
	}
	return c.header()
}

// headBy tells a head so many blocks above the true one, without the blocks between, or below it.
func headBy(blocks int64) func(*node, *call) {
	return func(n *node, c *call) {
		head := c.head()
		at, ok := number(quoted(head["number"]))
		switch {
		case head == nil || !ok:
		case blocks > 0:
			head["number"], head["parentHash"] = hexOf(at+blocks), "0x"+strings.Repeat("5a", 32)
			c.answer(sealed(head))
		default:
			if older, err := n.header(max(at+blocks, 0)); err == nil {
				c.result = older
			}
		}
	}
}

// headWithBlocks tells a head so many blocks above the true one, and has those between.
func headWithBlocks(blocks int64) func(*node, *call) {
	return func(n *node, c *call) {
		n.heads.mu.Lock()
		defer n.heads.mu.Unlock()
		if c.Method == "eth_getBlockByNumber" && len(c.Params) > 0 && string(c.result) == "null" {
			if made, ok := n.heads.madeUp[string(c.Params[0])]; ok {
				c.result = made
			}
			return
		}
		head := c.head()
		at, ok := number(quoted(head["number"]))
		if head == nil || !ok {
			return
		}
		if n.heads.madeUp == nil {
			n.heads.madeUp = map[string]json.RawMessage{}
		}
		below := text(head["hash"])
		for i := at + 1; i <= at+blocks; i++ {
			name := string(quoted(hexOf(i)))
			if made, ok := n.heads.madeUp[name]; ok { // the chain that was made up before goes on
				c.result, below = made, hashIn(made)
				continue
			}
			more := maps.Clone(head)
			more["number"], more["parentHash"] = hexOf(i), below
			c.answer(sealed(more))
			n.heads.madeUp[name], below = c.result, hashIn(c.result)
		}
	}
}

// flaps tells a head far ahead, one far behind and the true one, by the number of the request. by makes the fault of a head that is so many blocks away.
func flaps(by func(blocks int64) func(*node, *call)) func(*node, *call) {
	ahead, behind := by(1000), by(-60)
	return func(n *node, c *call) {
		switch c.request % 3 {
		case 0:
			ahead(n, c)
		case 1:
			behind(n, c)
		}
	}
}

// headFrozen repeats the head that was the newest when the fault began.
func headFrozen(n *node, c *call) {
	if c.head() == nil {
		return
	}
	n.heads.repeat(c)
}

// repeat answers with the head that was told first.
func (f *falseHeads) repeat(c *call) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.frozen == nil {
		f.frozen = c.result
	}
	c.result = f.frozen
}

// beyondFormat is the first second that Go's RFC 3339 can't write: the year 10000.
const beyondFormat = 253402300800

// headTime tells the newest block with another time.
func headTime(seconds int64) func(*node, *call) {
	return func(_ *node, c *call) {
		if head := c.head(); head != nil {
			head["timestamp"] = hexOf(seconds)
			c.answer(sealed(head))
		}
	}
}

// logTimes gives every log's block another time.
func logTimes(seconds int64) func(*node, *call) {
	return func(_ *node, c *call) {
		logs := c.logs()
		for _, l := range logs {
			l["blockTimestamp"] = hexOf(seconds)
		}
		if len(logs) > 0 {
			c.answer(logs)
		}
	}
}

// sealed is a header with the hash of its fields.
func sealed(header object) object {
	raw, err := json.Marshal(header)
	if err != nil {
		return header
	}
	if hash, err := evm.HeaderHash(raw); err == nil {
		header["hash"] = hash.String()
	}
	return header
}

// header asks the chain for a header, as it is.
func (n *node) header(number int64) (json.RawMessage, error) {
	request := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"eth_getBlockByNumber","params":["%s",false]}`, hexOf(number))
	raw, err := post(n.stopped, *n.real.Load(), request)
	if err != nil {
		return nil, err
	}
	var a rpcAnswer
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil, err
	}
	return a.Result, nil
}

func hashIn(header json.RawMessage) string {
	var h struct{ Hash string }
	_ = json.Unmarshal(header, &h)
	return h.Hash
}

// quoted is a text as JSON has it.
func quoted(v any) json.RawMessage {
	raw, _ := json.Marshal(text(v))
	return raw
}
