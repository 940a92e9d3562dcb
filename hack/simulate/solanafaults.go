package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// The functions below are faults of what a node of Solana answers.

// The codes by which a node says that a slot has no block, and that the caller doesn't take a transaction's version.
const skippedSlot, skippedInStorage, otherVersion = -32007, -32009, -32015

var solanaFaults = map[string]nodeFault{
	"no block":             {kind: omission, calls: noBlockOfSlot},
	"block not available":  {kind: omission, calls: notAvailable},
	"another version":      {kind: omission, calls: unreadable},
	"a slot left out":      {kind: omission, calls: slotLeftOut},
	"no time":              {kind: omission, calls: inBlock(func(b object) bool { b["blockTime"] = nil; return true })},
	"accounts not reached": {kind: omission, calls: accountsNotReached},
	"three behind":         {kind: omission, calls: slotBy(-3)},
	"head far behind":      {kind: omission, ofHead: true, calls: slotBy(-60)},
	"head frozen":          {kind: omission, ofHead: true, calls: slotFrozen},

	"slot without a block":          {kind: lie, calls: skipped},
	"slot missing in storage":       {kind: lie, calls: missingInStorage},
	"half of the transactions":      {kind: lie, lasting: true, calls: inBlock(halfOfTransactions)},
	"a transaction twice":           {kind: lie, lasting: true, calls: inBlock(transactionTwice)},
	"transactions out of order":     {kind: lie, lasting: true, calls: inBlock(transactionsReversed)},
	"amounts":                       {kind: lie, lasting: true, calls: inBlock(inTransactions(otherAmounts))},
	"no logs":                       {kind: lie, lasting: true, calls: inBlock(inTransactions(func(meta object) { meta["logMessages"] = []any{} }))},
	"no balances":                   {kind: lie, lasting: true, calls: inBlock(inTransactions(noTokenBalances))},
	"no inner instructions":         {kind: lie, lasting: true, calls: inBlock(inTransactions(func(meta object) { meta["innerInstructions"] = []any{} }))},
	"another hash":                  {kind: lie, calls: inBlock(func(b object) bool { b["blockhash"] = otherKey(text(b["blockhash"])); return true })},
	"another parent":                {kind: lie, calls: inBlock(func(b object) bool { b["previousBlockhash"] = otherKey(text(b["previousBlockhash"])); return true })},
	"the parent one slot below":     {kind: lie, calls: inBlock(parentBelow)},
	"time ahead by an hour":         {kind: lie, calls: inBlock(blockTimeBy(3600))},
	"time before the parent":        {kind: lie, calls: inBlock(blockTimeBy(-7200))},
	"head far ahead":                {kind: lie, ofHead: true, calls: slotBy(1000)},
	"head flapping":                 {kind: lie, ofHead: true, calls: flaps(slotBy)},
	"decimals and supply of others": {kind: lie, calls: otherMint},
}

// inBlock changes the blocks that a node tells.
func inBlock(change func(block object) bool) func(*node, *call) {
	return func(_ *node, c *call) {
		var b object
		if c.Method == "getBlock" && c.result != nil && json.Unmarshal(c.result, &b) == nil && b != nil && change(b) {
			c.answer(b)
		}
	}
}

func noBlockOfSlot(_ *node, c *call) {
	if c.Method == "getBlock" {
		c.result, c.err = json.RawMessage("null"), nil
	}
}

func notAvailable(_ *node, c *call) {
	if c.Method == "getBlock" {
		c.fail(-32004, "Block not available for slot")
	}
}

func skipped(_ *node, c *call) {
	if c.Method == "getBlock" {
		c.fail(skippedSlot, "Slot was skipped, or missing due to ledger jump to recent snapshot")
	}
}

func missingInStorage(_ *node, c *call) {
	if c.Method == "getBlock" {
		c.fail(skippedInStorage, "Slot was skipped, or missing in long-term storage")
	}
}

func unreadable(_ *node, c *call) {
	if c.Method == "getBlock" {
		c.fail(otherVersion, "Transaction version (1) is not supported by the requesting client")
	}
}

// slotLeftOut leaves out the last of the slots with a block.
func slotLeftOut(_ *node, c *call) {
	var slots []uint64
	if c.Method == "getBlocks" && json.Unmarshal(c.result, &slots) == nil && len(slots) > 0 {
		c.answer(slots[:len(slots)-1])
	}
}

func accountsNotReached(_ *node, c *call) {
	if c.Method == "getMultipleAccounts" {
		c.fail(-32016, "Minimum context slot has not been reached")
	}
}

// slot is the answer to a call for the newest slot.
func (c *call) slot() (slot int64, ok bool) {
	return slot, c.Method == "getSlot" && json.Unmarshal(c.result, &slot) == nil
}

// slotBy tells a head so many slots above the true one, or below it.
func slotBy(slots int64) func(*node, *call) {
	return func(_ *node, c *call) {
		if slot, ok := c.slot(); ok {
			c.answer(max(slot+slots, 0))
		}
	}
}

// slotFrozen repeats the slot that was the newest when the fault began.
func slotFrozen(n *node, c *call) {
	if _, ok := c.slot(); ok {
		n.heads.repeat(c)
	}
}

func halfOfTransactions(b object) bool {
	list, _ := b["transactions"].([]any)
	b["transactions"] = list[:len(list)/2]
	return len(list) > 0
}

func transactionTwice(b object) bool {
	list, _ := b["transactions"].([]any)
	if len(list) > 0 {
		b["transactions"] = append(list, list[0])
	}
	return len(list) > 0
}

func transactionsReversed(b object) bool {
	list, _ := b["transactions"].([]any)
	slices.Reverse(list)
	return len(list) > 1
}

// inTransactions changes what became of transactions.
func inTransactions(change func(meta object)) func(object) bool {
	return func(b object) bool {
		list, _ := b["transactions"].([]any)
		for _, tx := range list {
			if tx, ok := tx.(object); ok {
				if meta, ok := tx["meta"].(object); ok {
					change(meta)
				}
			}
		}
		return len(list) > 0
	}
}

// otherAmounts changes the last digit of what accounts have after a transaction.
func otherAmounts(meta object) {
	list, _ := meta["postTokenBalances"].([]any)
	for _, balance := range list {
		if balance, ok := balance.(object); ok {
			if amount, ok := balance["uiTokenAmount"].(object); ok {
				amount["amount"] = otherDigit(text(amount["amount"]))
			}
		}
	}
}

func otherDigit(number string) string {
	last := len(number) - 1
	if last < 0 || number == "0" {
		return "1"
	}
	return number[:last] + string('0'+('9'-number[last]+1)%10)
}

func noTokenBalances(meta object) {
	meta["preTokenBalances"], meta["postTokenBalances"] = []any{}, []any{}
}

// otherKey is another key in base58.
func otherKey(key string) string {
	return strings.NewReplacer("1", "2", "2", "3", "A", "B", "B", "A").Replace(key[:len(key)-1]) + "2"
}

func parentBelow(b object) bool {
	slot, ok := b["parentSlot"].(float64)
	b["parentSlot"] = slot - 1
	return ok && slot > 0
}

func blockTimeBy(seconds float64) func(object) bool {
	return func(b object) bool {
		at, ok := b["blockTime"].(float64)
		b["blockTime"] = at + seconds
		return ok
	}
}

// otherMint changes a byte of each account's data: of a token that of its supply.
func otherMint(_ *node, c *call) {
	var told struct {
		Context json.RawMessage `json:"context"`
		Value   []object        `json:"value"`
	}
	if c.Method != "getMultipleAccounts" || json.Unmarshal(c.result, &told) != nil {
		return
	}
	const inSupply = 38 * 4 / 3
	for _, account := range told.Value {
		data, _ := account["data"].([]any)
		if len(data) == 0 || len(text(data[0])) <= inSupply {
			continue
		}
		was := text(data[0])
		data[0] = was[:inSupply] + map[bool]string{true: "B", false: "A"}[was[inSupply] == 'A'] + was[inSupply+1:]
	}
	c.answer(told)
}

// faultsOfFamily are what an endpoint of a family can do wrong.
func faultsOfFamily(family string) map[string]nodeFault {
	out := maps.Clone(anyFaults)
	of := evmFaults
	if family == familySolana {
		of = solanaFaults
	}
	maps.Copy(out, of)
	return out
}
