package node

import (
	"encoding/json"
	"slices"

	"github.com/boardwalkhq/boardwalk/hack/provider/profiles"
)

// ledger says which of the chain's slots a node of Solana has while it answers a request.
type ledger struct {
	limits *profiles.SolanaLimits
	// head is the chain's newest slot, first the lowest one that the node keeps.
	head, first uint64
}

func newLedger(limits *profiles.SolanaLimits, head uint64) *ledger {
	l := &ledger{limits: limits, head: head}
	if limits.Kept > 0 {
		l.first = head - min(head, limits.Kept)
	}
	return l
}

// isWhole reports whether the node lacks no slot.
func (l *ledger) isWhole() bool { return l.first == 0 && l.limits.Holes.Slots == 0 }

// hole finds the first and the last slot of the hole that a slot is in; ok is false for a slot in no hole, and for one that the chain hasn't come to.
func (l *ledger) hole(slot uint64) (first, last uint64, ok bool) {
	holes := &l.limits.Holes
	first, last, ok = holes.Around(slot)
	return first, last, ok && slot+holes.Below <= l.head
}

// has reports whether the node has the transactions of a slot.
func (l *ledger) has(slot uint64) bool {
	_, _, inHole := l.hole(slot)
	return slot >= l.first && !inHole
}

// hasJumpedTo reports whether a slot is that of the snapshot from which the node began anew.
func (l *ledger) hasJumpedTo(slot uint64) bool {
	_, last, inHole := l.hole(slot)
	return inHole && l.limits.Holes.Jumped && slot == last && last < l.head
}

// refusal is what the node says to a question about a slot, and which limit that is. It is nil where the chain is asked.
func (l *ledger) refusal(slot uint64) (refusal *profiles.Refusal, why string) {
	holes := &l.limits.Holes
	_, last, inHole := l.hole(slot)
	switch {
	case slot < l.first:
		return said(l.limits.Gone, slot, l.first), "kept"
	case !inHole || l.hasJumpedTo(slot):
		return nil, ""
	case holes.Jumped && last >= l.head:
		return said(holes.NotYet, slot), "gap"
	default:
		return said(holes.Missing, slot), "gap"
	}
}

// newest is the newest slot that the node tells where the chain tells another.
func (l *ledger) newest(slot uint64) uint64 {
	first, last, inHole := l.hole(slot)
	switch {
	case !inHole || !l.limits.Holes.Jumped:
		return slot
	case last < l.head:
		return last // that of the snapshot is final
	default:
		return first - 1
	}
}

// slot is the one that a call asks about; ok is false for other calls.
func (c *call) slot() (slot uint64, ok bool) {
	ok = (c.Method == "getBlock" || c.Method == "getBlockTime") && json.Unmarshal(c.param(0), &slot) == nil
	return slot, ok
}

// mostListed is how long the lists of Solana's nodes may be.
var mostListed = map[string]int{"getBlocksWithLimit": 500_000, "getSignaturesForAddress": 1000}

// widen asks the chain for the longest list. A node that lacks some entries goes on to the next ones until its list is as long as it was asked for.
func (c *call) widen() {
	most, ok := mostListed[c.Method]
	if !ok {
		return
	}
	c.most = most
	if c.Method == "getBlocksWithLimit" {
		if json.Unmarshal(c.param(1), &c.most) == nil {
			c.Params[1] = encoded(most)
		}
		return
	}
	how := map[string]json.RawMessage{}
	_ = json.Unmarshal(c.param(1), &how)      // there may be none
	_ = json.Unmarshal(how["limit"], &c.most) // the same
	how["limit"] = encoded(most)
	c.Params = []json.RawMessage{c.param(0), encoded(how)}
}

// forget leaves out of the chain's answer what the node doesn't have.
func (l *ledger) forget(c *call) {
	switch c.Method {
	case "getSlot":
		var slot uint64
		if json.Unmarshal(c.result, &slot) == nil {
			c.answer(l.newest(slot))
		}
	case "getFirstAvailableBlock":
		if l.first > 0 {
			c.answer(l.first)
		}
	case "minimumLedgerSlot":
		lowest := l.first
		if below := l.limits.Holes.Below; below > 0 {
			lowest = max(lowest, l.head-min(l.head, below)+1) // older blocks are in the storage
		}
		if lowest > 0 {
			c.answer(lowest)
		}
	case "getBlocks", "getBlocksWithLimit":
		l.forgetSlots(c)
	case "getTransaction":
		if slot, ok := slotIn(c.result); ok && !l.has(slot) {
			c.result = null
		}
	case "getSignaturesForAddress":
		var list []json.RawMessage
		if json.Unmarshal(c.result, &list) == nil {
			list = slices.DeleteFunc(list, func(raw json.RawMessage) bool { slot, ok := slotIn(raw); return ok && !l.has(slot) })
			c.answer(list[:min(len(list), c.most)])
		}
	}
}

func (l *ledger) forgetSlots(c *call) {
	var slots []uint64
	if json.Unmarshal(c.result, &slots) != nil {
		return
	}
	slots = slices.DeleteFunc(slots, func(slot uint64) bool { return !l.has(slot) && !l.hasJumpedTo(slot) })
	if c.most > 0 {
		slots = slots[:min(len(slots), c.most)]
	}
	c.answer(slots)
}

// lacksContent reports whether the node has no block or time for a slot although it doesn't refuse it: that of the snapshot from which it began, and the block that
// follows the snapshot's, as the hash of its parent is missing.
func (l *ledger) lacksContent(c *call) bool {
	slot, ok := c.slot()
	if !ok || !l.limits.Holes.Jumped {
		return false
	}
	var block struct {
		ParentSlot *uint64 `json:"parentSlot"`
	}
	if c.Method == "getBlock" && json.Unmarshal(c.result, &block) == nil && block.ParentSlot != nil {
		if _, _, inHole := l.hole(*block.ParentSlot); inHole {
			return true
		}
	}
	return l.hasJumpedTo(slot)
}

// slotIn is the slot that a transaction is told with.
func slotIn(raw json.RawMessage) (slot uint64, ok bool) {
	var told struct {
		Slot *uint64 `json:"slot"`
	}
	if json.Unmarshal(raw, &told) != nil || told.Slot == nil {
		return 0, false
	}
	return *told.Slot, true
}

func encoded(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return raw
}
