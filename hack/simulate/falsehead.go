package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"sync"

	evmblock "github.com/boardwalkhq/boardwalk/indexer/evm/block"
)

// The functions below are faults of the block that an endpoint tells as its newest. An indexer asks for that block by the tag "latest", and for the
// block after the newest one that it knows by number: an endpoint lies to both questions alike. Headers that are made up have the hash of their
// fields, and the transactions of another block as their own, or any endpoint would be found out by that.

// falseHeads is what an endpoint remembers of the false heads that it told.
type falseHeads struct {
	mu sync.Mutex
	// frozen is the head that it repeats, as the answer to a call, and frozenBlock as a block with its transactions.
	frozen      json.RawMessage
	frozenBlock object
	// madeUp are blocks above the true head, by their number. Each is the child of the one below it.
	madeUp map[int64]object
}

const latest = "latest"

// asksForBlock reports which block a call asks for by number; isLatest says that it is the newest one.
func (c *call) asksForBlock() (number int64, isLatest, ok bool) {
	if c.Method != "eth_getBlockByNumber" || len(c.Params) == 0 || c.err != nil {
		return 0, false, false
	}
	if string(c.Params[0]) == `"`+latest+`"` {
		return 0, true, true
	}
	number, ok = quantity(c.Params[0])
	return number, false, ok
}

// hasNoBlock reports whether the chain has no block of a number yet.
func (c *call) hasNoBlock() bool { return string(c.result) == "null" }

// tell answers with a block: with its transactions where the call asks for them, else with their hashes.
func (c *call) tell(block object) {
	list, ok := block["transactions"].([]any)
	if isWhole := len(c.Params) > 1 && string(c.Params[1]) == "true"; isWhole || !ok {
		c.answer(block)
		return
	}
	hashes := make([]any, len(list))
	for i := range list {
		tx, _ := list[i].(object)
		hashes[i] = tx["hash"]
	}
	block = maps.Clone(block)
	block["transactions"] = hashes
	c.answer(block)
}

// headBy tells a head so many blocks above the true one, without the blocks between but for the next one, or below it.
func headBy(blocks int64) func(*node, *call) {
	if blocks > 0 {
		return headAhead(blocks)
	}
	return headBehind(blocks)
}

func headAhead(blocks int64) func(*node, *call) {
	return func(n *node, c *call) {
		number, isLatest, ok := c.asksForBlock()
		if !ok || !isLatest && !c.hasNoBlock() {
			return
		}
		head, at, ok := n.newest()
		if !ok || !isLatest && number != at+1 {
			return
		}
		if isLatest {
			number = at + blocks
		}
		head["number"], head["parentHash"] = hexOf(number), "0x"+strings.Repeat("5a", 32)
		c.tell(sealed(head))
	}
}

func headBehind(blocks int64) func(*node, *call) {
	return func(n *node, c *call) {
		number, isLatest, ok := c.asksForBlock()
		if !ok || c.hasNoBlock() {
			return
		}
		_, at, ok := n.newest()
		last := max(at+blocks, 0)
		switch {
		case !ok:
		case !isLatest && number > last:
			c.result = json.RawMessage("null")
		case isLatest:
			if older, err := n.blockAt(hexOf(last)); err == nil && older != nil {
				c.tell(older)
			}
		}
	}
}

// headWithBlocks tells a head so many blocks above the true one, and has those between.
func headWithBlocks(blocks int64) func(*node, *call) {
	return func(n *node, c *call) {
		number, isLatest, ok := c.asksForBlock()
		if !ok || !isLatest && !c.hasNoBlock() {
			return
		}
		head, at, ok := n.newest()
		if !ok {
			return
		}
		if isLatest {
			number = at + blocks
		}
		if made := n.heads.above(head, at, blocks)[number]; made != nil {
			c.tell(made)
		}
	}
}

// above makes up blocks above the true head, up to so many, and gives them by their numbers.
func (f *falseHeads) above(head object, at, blocks int64) map[int64]object {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.madeUp == nil {
		f.madeUp = map[int64]object{}
	}
	below := head["hash"]
	for i := at + 1; i <= at+blocks; i++ {
		if f.madeUp[i] == nil { // else the chain that was made up before goes on
			more := maps.Clone(head)
			more["number"], more["parentHash"] = hexOf(i), below
			f.madeUp[i] = sealed(more)
		}
		below = f.madeUp[i]["hash"]
	}
	return maps.Clone(f.madeUp)
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

// headFrozen repeats the head that was the newest when the fault began, and has no block above it.
func headFrozen(n *node, c *call) {
	number, isLatest, ok := c.asksForBlock()
	if !ok {
		return
	}
	frozen, last, ok := n.frozen()
	switch {
	case !ok:
	case isLatest:
		c.tell(frozen)
	case number > last:
		c.result = json.RawMessage("null")
	}
}

// frozen is the block that was the newest when it was first asked for.
func (n *node) frozen() (block object, number int64, ok bool) {
	n.heads.mu.Lock()
	defer n.heads.mu.Unlock()
	if n.heads.frozenBlock == nil {
		if block, _, ok = n.newest(); !ok {
			return nil, 0, false
		}
		n.heads.frozenBlock = block
	}
	number, ok = numberOf(n.heads.frozenBlock)
	return n.heads.frozenBlock, number, ok
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
	return func(n *node, c *call) {
		number, isLatest, ok := c.asksForBlock()
		if !ok || c.hasNoBlock() {
			return
		}
		head, at, ok := n.newest()
		if ok && (isLatest || number == at) {
			head["timestamp"] = hexOf(seconds)
			c.tell(sealed(head))
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

// sealed is a block with the hash of its fields, which its transactions name as theirs.
func sealed(block object) object {
	header := maps.Clone(block)
	delete(header, "transactions")
	raw, err := json.Marshal(header)
	if err != nil {
		return block
	}
	hash, err := evmblock.HeaderHash(raw)
	if err != nil {
		return block
	}
	block["hash"] = hash.String()
	list, ok := block["transactions"].([]any)
	if !ok {
		return block
	}
	own := make([]any, len(list))
	for i := range list {
		tx, isWhole := list[i].(object)
		if !isWhole {
			return block
		}
		tx = maps.Clone(tx)
		tx["blockHash"], tx["blockNumber"] = block["hash"], block["number"]
		own[i] = tx
	}
	block["transactions"] = own
	return block
}

// newest asks the chain for its newest block, with its transactions.
func (n *node) newest() (block object, number int64, ok bool) {
	block, err := n.blockAt(latest)
	if err != nil {
		return nil, 0, false
	}
	number, ok = numberOf(block)
	return block, number, ok
}

// blockAt asks the chain for a block as it is, with its transactions. It is nil where the chain has none.
func (n *node) blockAt(name string) (block object, err error) {
	request := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"eth_getBlockByNumber","params":["%s",true]}`, name)
	raw, err := post(n.stopped, *n.real.Load(), request)
	if err != nil {
		return nil, err
	}
	var a struct{ Result object }
	err = json.Unmarshal(raw, &a)
	return a.Result, err
}

func numberOf(block object) (int64, bool) {
	raw, err := json.Marshal(text(block["number"]))
	if err != nil {
		return 0, false
	}
	return quantity(raw)
}
