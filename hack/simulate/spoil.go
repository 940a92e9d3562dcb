package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// The functions below are faults of single answers. Numbers are hexadecimal texts, as JSON-RPC has them.

type object = map[string]any

func (c *call) logs() (logs []object) {
	if c.Method != "eth_getLogs" || c.result == nil || json.Unmarshal(c.result, &logs) != nil {
		return nil
	}
	return logs
}

func (c *call) answer(v any) {
	if raw, err := json.Marshal(v); err == nil {
		c.result = raw
	}
}

func noLogs(_ *node, c *call) {
	if len(c.logs()) > 0 {
		c.result = json.RawMessage("[]")
	}
}

func halfOfLogs(_ *node, c *call) {
	if logs := c.logs(); len(logs) > 1 {
		c.answer(logs[:len(logs)/2])
	}
}

func logsTwice(_ *node, c *call) {
	if logs := c.logs(); len(logs) > 0 {
		c.answer(append(logs, logs[0]))
	}
}

func logsReversed(_ *node, c *call) {
	if logs := c.logs(); len(logs) > 1 {
		slices.Reverse(logs)
		c.answer(logs)
	}
}

func repeatedIndex(_ *node, c *call) {
	if logs := c.logs(); len(logs) > 1 {
		for _, l := range logs[1:] {
			if l["blockHash"] == logs[0]["blockHash"] {
				l["logIndex"] = logs[0]["logIndex"]
				break
			}
		}
		c.answer(logs)
	}
}

// amounts makes the last word of every log's data 16 times as much.
func amounts(_ *node, c *call) {
	logs := c.logs()
	for _, l := range logs {
		if data := text(l["data"]); len(data) >= 2+64 {
			l["data"] = data[:len(data)-64] + data[len(data)-63:] + "0"
		}
	}
	if len(logs) > 0 {
		c.answer(logs)
	}
}

func invented(_ *node, c *call) {
	if logs := c.logs(); len(logs) > 0 {
		more := maps.Clone(logs[len(logs)-1])
		more["address"], more["logIndex"] = "0x00000000000000000000000000000000feedbeef", "0xffff"
		c.answer(append(logs, more))
	}
}

func foreignLogs(_ *node, c *call) {
	logs := c.logs()
	for _, l := range logs {
		l["blockHash"] = "0xdead" + text(l["blockHash"])[6:]
	}
	if len(logs) > 0 {
		c.answer(logs)
	}
}

func (c *call) header() object {
	var block object
	if !strings.HasPrefix(c.Method, "eth_getBlockBy") || c.result == nil || json.Unmarshal(c.result, &block) != nil {
		return nil
	}
	return block
}

func noBlock(_ *node, c *call) {
	if c.header() != nil {
		c.result = json.RawMessage("null")
	}
}

func noReceipts(_ *node, c *call) {
	if c.Method == "eth_getBlockReceipts" {
		c.result = json.RawMessage("null")
	}
}

// pruned has the state after the newest block alone, as nodes of some chains do. Who names a block, by number or hash, doesn't get it.
func pruned(n *node, c *call) {
	block, ofState := map[string]int{"eth_call": 1, "eth_getCode": 1, "eth_getBalance": 1, "eth_getStorageAt": 2}[c.Method]
	if ofState && (len(c.Params) <= block || string(c.Params[block]) != `"latest"`) {
		if c.Method == "eth_call" && len(c.Params) > block {
			n.refused.add(c.Params[block])
		}
		c.fail(-32000, "missing trie node 5a1c (path ) state is not available")
	}
}

func timeBy(seconds int64) func(*node, *call) {
	return func(_ *node, c *call) {
		if h := c.header(); h != nil {
			if t, err := strconv.ParseInt(text(h["timestamp"]), 0, 64); err == nil {
				h["timestamp"] = hexOf(t + seconds)
				c.answer(h)
			}
		}
	}
}

func timeIs(seconds int64) func(*node, *call) {
	return func(_ *node, c *call) {
		if h := c.header(); h != nil {
			h["timestamp"] = hexOf(seconds)
			c.answer(h)
		}
	}
}

func noBloom(_ *node, c *call) {
	if h := c.header(); h != nil {
		h["logsBloom"] = "0x" + strings.Repeat("0", 512)
		c.answer(h)
	}
}

func anotherParent(_ *node, c *call) {
	if h := c.header(); h != nil {
		h["parentHash"] = "0xdead" + text(h["parentHash"])[6:]
		c.answer(h)
	}
}

// asks reports whether a call asks a contract for one of some functions, by selector.
func (c *call) asks(selectors ...string) bool {
	return c.Method == "eth_call" && c.err == nil && len(c.Params) > 0 &&
		slices.ContainsFunc(selectors, func(s string) bool { return strings.Contains(string(c.Params[0]), s) })
}

const (
	selectorBalanceOf   = "0x70a08231"
	selectorTotalSupply = "0x18160ddd"
	selectorDecimals    = "0x313ce567"
)

func noBalances(_ *node, c *call) { c.zero(selectorBalanceOf) }

func noSupply(_ *node, c *call) { c.zero(selectorTotalSupply) }

// zero answers 0 where a contract is asked for a function.
func (c *call) zero(selector string) {
	if c.asks(selector) {
		c.answer("0x" + strings.Repeat("0", 64))
	}
}

func balancesLie(_ *node, c *call) {
	if c.asks(selectorBalanceOf) {
		c.answer("0x" + strings.Repeat("0", 48) + "00000000deadbeef")
	}
}

func decimalsLie(_ *node, c *call) {
	if c.asks(selectorDecimals) {
		c.answer("0x" + strings.Repeat("0", 63) + "3")
	}
}

func receiptsLie(_ *node, c *call) {
	var receipts []object
	if c.Method != "eth_getBlockReceipts" || c.result == nil || json.Unmarshal(c.result, &receipts) != nil {
		return
	}
	for _, r := range receipts {
		r["cumulativeGasUsed"] = "0x1"
	}
	c.answer(receipts)
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

func quantity(raw json.RawMessage) (int64, bool) {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 0, 64)
	return n, err == nil
}

func hexOf(n int64) string { return fmt.Sprintf("0x%x", n) }
