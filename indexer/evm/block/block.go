// Package block reads a block of an EVM chain as eth_getBlockByNumber answers it: the header, what the header proves of the block, and the block's
// transactions. It asks no node.
package block

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// maxTime is the year 9999; anything later is garbage.
const maxTime = 253402300799

var errUnreadable = fmt.Errorf("%w: an unreadable block", rpc.ErrGarbage)

// ParseHeader reads a header, and passes over its block's transactions. Its Known is a Proof, and its Body nil. chain.ErrNoBlock is in the error's tree
// where the JSON is empty or null, as a node without the block answers, and rpc.ErrGarbage where it is no header. The header's hash isn't held against its
// fields: its Proof has the hash that follows from them.
func ParseHeader(raw json.RawMessage) (h chain.Header, err error) {
	_, h, err = parseWith(raw, nil)
	return h, err
}

// Parse reads a header as ParseHeader does, together with its block's transactions, in one pass. ErrTransactions is in the error's tree where ParseHeader
// reads the header, and the list of transactions is garbage. A list that is missing or too long is none, nor is one with the transactions' hashes alone: the
// transactions then count as not told.
func Parse(raw json.RawMessage) (h chain.Header, t Transactions, err error) {
	var list transactionList
	w, h, err := parseWith(raw, &list)
	switch {
	case errors.Is(err, chain.ErrNoBlock):
		return h, t, err
	case err != nil:
		if alone, headerErr := ParseHeader(raw); headerErr == nil {
			return chain.Header{}, t, fmt.Errorf("%w of block %d", ErrTransactions, alone.Number)
		}
		return h, t, err
	}
	if t, err = list.against(h.Hash, &w); err != nil {
		return chain.Header{}, t, err
	}
	return h, t, nil
}

// parseWith reads a header, and its block's transactions into a list where there is one.
func parseWith(raw json.RawMessage, list *transactionList) (w wireHeader, h chain.Header, err error) {
	if len(raw) == 0 || string(raw) == "null" {
		return w, h, chain.ErrNoBlock
	}
	if w, err = readHeader(raw, list); err == nil {
		h, err = w.header()
	}
	return w, h, err
}

// header is what is kept of the fields.
func (w *wireHeader) header() (h chain.Header, err error) {
	parent, bloom := w.fields[atParentHash], w.fields[atLogsBloom]
	if !mayBeText(w.hash) || !mayBeText(parent) || !mayBeText(bloom) {
		return h, errUnreadable
	}
	if h.Number, err = rpc.ParseQuantity(w.fields[atNumber]); err != nil {
		return h, err
	}
	t, err := rpc.ParseQuantity(w.fields[atTimestamp])
	if err != nil {
		return h, err
	}
	if t > maxTime {
		return h, fmt.Errorf("%w: a block of the time %d", rpc.ErrGarbage, t)
	}
	h.Time = int64(t)
	if h.Hash, err = market.ParseHash(strings.Trim(string(w.hash), `"`)); err == nil {
		h.Parent, err = market.ParseHash(strings.Trim(string(parent), `"`))
	}
	if err != nil {
		return h, fmt.Errorf("%w: %w", rpc.ErrGarbage, err)
	}
	if h.Hash.IsZero() {
		return h, fmt.Errorf("%w: a block without a hash", rpc.ErrGarbage)
	}
	p := &Proof{idle: string(w.fields[atGasUsed]) == `"0x0"` || string(w.fields[atTransactionsRoot]) == noTransactions}
	h.Known = p
	if from, to := len(`"0x`), len(`"0x`)+2*len(p.bloom); len(bloom) == to+1 {
		if _, err := hex.Decode(p.bloom[:], bloom[from:to]); err != nil {
			return h, fmt.Errorf("%w: an unreadable logs bloom", rpc.ErrGarbage)
		}
		p.hasBloom = true
	}
	p.sum, p.sumErr = w.sum()
	return h, nil
}
