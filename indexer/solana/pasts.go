package solana

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/indexer/solana/digest"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Nodes list the transactions that name an account, the newest first. So the past of a wallet is read transaction by transaction, and not in blocks: those have
// megabytes.

const (
	// listedAtOnce is the most transactions that nodes list at once, and mostLists how many lists are read of one account.
	listedAtOnce, mostLists = 1000, 200
	// mostInBlock is the most transactions of one block that name an account.
	mostInBlock = 1000
	// transactionsAtOnce is how many transactions are asked for at once.
	transactionsAtOnce = 20
	// laterWithin is how many slots after a slot are searched for blocks. laterTried is how many of those blocks are searched for a transaction.
	laterWithin, laterTried = 256, 8
)

// History is the part of a Source that finds where in the past something happened to a wallet or a pool, and who has a token.
type History struct{ s *Source }

// History gives the part that looks into the past, by the source's endpoints.
func (s *Source) History() History { return History{s} }

// listed is a transaction as a node lists it.
type listed struct {
	signature string
	slot      uint64
	failed    bool
}

// named are the transactions that name an account, by their blocks, as they were listed last.
type named struct {
	mu       sync.Mutex
	account  market.Address
	from, to uint64
	blocks   map[uint64][]string
}

// of returns the account's transactions in a block. ok is false if the list that is kept is another account's, or doesn't reach to that block.
func (n *named) of(account market.Address, slot uint64) (signatures []string, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.blocks[slot], n.account == account && slot >= n.from && slot <= n.to
}

func (n *named) keep(account market.Address, from, to uint64, blocks map[uint64][]string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.account, n.from, n.to, n.blocks = account, from, to, blocks
}

// list asks an endpoint that has come to a slot for transactions that name an account, older than a given one, the newest first.
func (e *endpoint) list(ctx context.Context, account market.Address, before string, limit int, reached uint64) (list []listed, err error) {
	how := map[string]any{"commitment": "finalized", "limit": limit, "minContextSlot": reached}
	if before != "" {
		how["before"] = before
	}
	var told []struct {
		Signature string
		Slot      uint64
		Err       json.RawMessage
	}
	if err := e.Do(ctx, &rpc.Request{Method: "getSignaturesForAddress", Params: []any{account.String(), how}, Take: take(&told)}); err != nil {
		return nil, err
	}
	if len(told) > limit {
		return nil, fmt.Errorf("%w: asked for %d transactions, got %d", rpc.ErrGarbage, limit, len(told))
	}
	for i, t := range told {
		// Errors don't name a transaction: it tells whose wallet it is.
		if id, err := market.ParseTx(t.Signature); err != nil || id.String() != t.Signature || t.Slot > highestSlot || i > 0 && t.Slot > told[i-1].Slot {
			return nil, fmt.Errorf("%w: the %d-th of a list of transactions has no signature, or a slot out of order", rpc.ErrGarbage, i+1)
		}
		list = append(list, listed{t.Signature, t.Slot, len(t.Err) > 0 && string(t.Err) != "null"})
	}
	return list, nil
}

// listRange lists an account's transactions that didn't fail from one slot to another, by their blocks and in the order of each. whole is false where there are more
// than are listed.
func (e *endpoint) listRange(ctx context.Context, account market.Address, from, to uint64) (blocks map[uint64][]string, whole bool, err error) {
	blocks = map[uint64][]string{}
	before := ""
	for range mostLists {
		some, err := e.list(ctx, account, before, listedAtOnce, to)
		if err != nil {
			return nil, false, err
		}
		for _, t := range some {
			if t.slot < from || t.slot > to || t.failed {
				continue
			}
			if blocks[t.slot] = append(blocks[t.slot], t.signature); len(blocks[t.slot]) > mostInBlock {
				return nil, false, fmt.Errorf("%w: more than %d transactions of one account in block %d", rpc.ErrGarbage, mostInBlock, t.slot)
			}
		}
		if len(some) == 0 {
			if err := e.keepsFrom(ctx, from); err != nil {
				return nil, false, err
			}
		}
		if len(some) == 0 || some[len(some)-1].slot < from {
			for _, signatures := range blocks {
				slices.Reverse(signatures)
			}
			return blocks, true, nil
		}
		before = some[len(some)-1].signature
	}
	return nil, false, nil
}

// oldest is the slot of the oldest block that an endpoint says it has.
func (e *endpoint) oldest(ctx context.Context) (slot uint64, err error) {
	err = e.Do(ctx, &rpc.Request{Method: "getFirstAvailableBlock", Take: take(&slot)})
	return slot, err
}

// keepsFrom returns an error if an endpoint doesn't have the blocks from a slot on: its lists end where they do.
func (e *endpoint) keepsFrom(ctx context.Context, slot uint64) error {
	first, err := e.oldest(ctx)
	if err != nil {
		return err
	}
	if first > max(slot, 1) {
		return fmt.Errorf("%w: its blocks begin with %d, and those from %d on are wanted", chain.ErrNoBlock, first, slot)
	}
	return nil
}

// listing is what endpoints list together: each block's transactions that any of them has, and the blocks that only one of the two endpoints lists.
type listing struct {
	blocks map[uint64][]string
	alone  map[uint64]bool
}

// listAccount lists an account's transactions from one slot to another, as two endpoints list them where there are several. What only one of them lists is marked. Both have
// to say it of an account that has too many.
func (h History) listAccount(ctx context.Context, account market.Address, from, to uint64) (out listing, err error) {
	out = listing{map[uint64][]string{}, map[uint64]bool{}}
	lists := 0
	err = h.askTwo(ctx, func(ctx context.Context, e *endpoint) error {
		blocks, whole, err := e.listRange(ctx, account, from, to)
		if err == nil && whole {
			lists++
			out.merge(blocks, lists)
		}
		return err
	})
	switch {
	case err != nil:
		return out, fmt.Errorf("list an account's transactions: %w", err)
	case lists == 0:
		return out, &chain.BusyError{Account: account, Transactions: mostLists * listedAtOnce}
	case len(h.s.pool.List) == 1:
		clear(out.alone)
	}
	return out, nil
}

// askTwo asks endpoints one after the other until two have answered, or the only one.
func (h History) askTwo(ctx context.Context, ask func(context.Context, *endpoint) error) error {
	missing := min(2, len(h.s.pool.List))
	var errs []error
	for _, e := range h.s.pool.Candidates() {
		err := h.s.pool.On(ctx, e, ask)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			errs = append(errs, fmt.Errorf("%s: %w", e.Name, err))
			continue
		}
		if missing--; missing == 0 {
			return nil
		}
	}
	return fmt.Errorf("%w: %w", rpc.ErrUnanswered, errors.Join(errs...))
}

// merge takes in the n-th list.
func (l *listing) merge(blocks map[uint64][]string, n int) {
	for slot, signatures := range blocks {
		known := l.blocks[slot]
		l.alone[slot] = n == 1 || known == nil
		have := make(map[string]bool, len(known))
		for _, signature := range known {
			have[signature] = true
		}
		for _, signature := range signatures {
			if !have[signature] {
				known = append(known, signature)
			}
		}
		l.blocks[slot] = known
	}
}

// ListsAccounts reports that nodes list what an account did.
func (History) ListsAccounts() bool { return true }

// TransfersOfWallets finds the blocks with transactions that name a wallet: those that it made, and what others did with it. Which tokens they move isn't known yet.
// A transfer to one of the wallet's token accounts is not found if its transaction doesn't name the wallet itself.
func (h History) TransfersOfWallets(ctx context.Context, wallets []market.Address, from, to uint64) (found []chain.WalletTransfer, upTo uint64, err error) {
	for _, wallet := range wallets {
		l, err := h.listAccount(ctx, wallet, from, to)
		if err != nil {
			return nil, 0, err
		}
		h.s.named.keep(wallet, from, to, l.blocks)
		for slot := range l.blocks {
			found = append(found, chain.WalletTransfer{Wallet: wallet, Block: slot, Alone: l.alone[slot]})
		}
	}
	return found, to, nil
}

// PastBlock reads the transactions of a block that name an account, in their order, with the block's number and time. Without an account it reads only the number and the
// time. The time is 0 if the block has no transaction of the account. Where there are several endpoints two have to have the same.
func (h History) PastBlock(ctx context.Context, number uint64, account market.Address) (market.Block, error) {
	signatures, ok := h.s.priced.of(account, number)
	if !ok {
		signatures, ok = h.s.named.of(account, number)
	}
	if !ok && !account.IsNone() { // another process found the block
		to := max(number, h.s.heads.newestFinal())
		l, err := h.listAccount(ctx, account, number, to)
		if err != nil {
			return market.Block{}, err
		}
		h.s.named.keep(account, number, to, l.blocks)
		signatures = l.blocks[number]
	}
	var votes []market.Block
	errs := []error{errors.New("no two endpoints say the same")}
	for _, e := range h.s.pool.Candidates() {
		var b market.Block
		err := h.s.pool.On(ctx, e, func(ctx context.Context, e *endpoint) (err error) {
			if account.IsNone() {
				header, err := h.s.headerOn(ctx, e, number)
				b.Header = header.Header
				return err
			}
			b, err = h.transactionsOn(ctx, e, number, signatures)
			return err
		})
		if ctx.Err() != nil {
			return b, ctx.Err()
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", e.Name, err))
			continue
		}
		sum := digest.Block(&b)
		if len(h.s.pool.List) == 1 || slices.ContainsFunc(votes, func(v market.Block) bool { return v.Time == b.Time && digest.Block(&v) == sum }) {
			return b, nil
		}
		votes = append(votes, b)
	}
	return market.Block{}, fmt.Errorf("block %d: %w: %w", number, rpc.ErrUnanswered, errors.Join(errs...))
}

// transactionsOn reads those of some transactions that an endpoint has in a block. If it has none of them, it has to have the block, or the chain must have no block there.
func (h History) transactionsOn(ctx context.Context, e *endpoint, slot uint64, signatures []string) (market.Block, error) {
	b := market.Block{Header: market.Header{Number: slot}}
	if len(signatures) > 1 { // the lists of two endpoints may have different orders
		var err error
		if signatures, err = e.inOrder(ctx, slot, signatures); err != nil && !lacks(err) {
			return b, err
		}
	}
	told, at, err := e.placedIn(ctx, slot, signatures)
	if err != nil {
		return b, err
	}
	if len(told) == 0 {
		return b, h.hasBlock(ctx, e, slot)
	}
	none := strings.Repeat("1", 32) // 32 zero bytes in base58
	whole, err := h.s.decoder.ParseBlock(slot, fmt.Appendf(nil, `{"blockhash":%q,"previousBlockhash":%q,"parentSlot":%d,"blockTime":%d,"transactions":[%s]}`,
		none, none, slot-min(slot, 1), at, bytes.Join(told, []byte{','})))
	if err != nil {
		return b, err
	}
	for i := range whole.Txs {
		if !slices.Contains(signatures, whole.Txs[i].ID.String()) {
			return b, fmt.Errorf("%w: a transaction that wasn't asked for", rpc.ErrGarbage)
		}
	}
	whole.Facts = nil
	return whole.Block, nil
}

// hasBlock returns an error if the endpoint doesn't have the block of a slot, unless the chain is known to have no block in that slot.
func (h History) hasBlock(ctx context.Context, e *endpoint, slot uint64) error {
	_, err := h.s.headerOn(ctx, e, slot)
	if lacks(err) {
		if _, asked := h.s.Header(ctx, slot); errors.Is(asked, chain.ErrSkipped) {
			return nil
		}
	}
	return err
}

// placedIn are those of transactions that an endpoint has in a block, and the block's time.
func (e *endpoint) placedIn(ctx context.Context, slot uint64, signatures []string) (told [][]byte, at int64, err error) {
	for some := range slices.Chunk(signatures, transactionsAtOnce) {
		for raw, err := range e.transactions(ctx, some) {
			if err != nil {
				return nil, 0, err
			}
			var placed struct {
				Slot uint64 `json:"slot"`
				Time *int64 `json:"blockTime"`
			}
			if err := take(&placed)(raw); err != nil {
				return nil, 0, err
			}
			switch {
			case placed.Slot != slot: // it isn't there
			case placed.Time == nil || at != 0 && at != *placed.Time:
				return nil, 0, fmt.Errorf("%w: the transactions of block %d have no time, or several", rpc.ErrGarbage, slot)
			default:
				told, at = append(told, raw), *placed.Time
			}
		}
	}
	return told, at, nil
}

// inOrder are transactions in the order that they have in an endpoint's block, without those that it doesn't have.
func (e *endpoint) inOrder(ctx context.Context, slot uint64, signatures []string) (out []string, err error) {
	all, err := e.signaturesOf(ctx, slot)
	if err != nil {
		return nil, err
	}
	wanted := make(map[string]bool, len(signatures))
	for _, signature := range signatures {
		wanted[signature] = true
	}
	for _, signature := range all {
		if wanted[signature] {
			out = append(out, signature)
		}
	}
	return out, nil
}

// signaturesOf are those of a block's transactions.
func (e *endpoint) signaturesOf(ctx context.Context, slot uint64) ([]string, error) {
	var told *struct{ Signatures []string }
	params := []any{slot, map[string]any{"transactionDetails": "signatures", "rewards": false, "commitment": "finalized", "maxSupportedTransactionVersion": newestVersion}}
	if err := e.Do(ctx, &rpc.Request{Method: "getBlock", Params: params, Take: take(&told)}); err != nil {
		return nil, err
	}
	if told == nil {
		return nil, chain.ErrNoBlock
	}
	return told.Signatures, nil
}

// transactions asks an endpoint for transactions, and gives those that it has.
func (e *endpoint) transactions(ctx context.Context, signatures []string) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		told := make([]json.RawMessage, len(signatures))
		asks := make([]*rpc.Request, len(signatures))
		for i, signature := range signatures {
			how := map[string]any{"encoding": "json", "commitment": "finalized", "maxSupportedTransactionVersion": newestVersion}
			asks[i] = &rpc.Request{Method: "getTransaction", Params: []any{signature, how}, Take: func(raw json.RawMessage) error {
				told[i] = bytes.Clone(raw)
				return nil
			}}
		}
		if err := e.Do(ctx, asks...); err != nil {
			yield(nil, err)
			return
		}
		for _, raw := range told {
			if string(raw) != "null" && !yield(raw, nil) {
				return
			}
		}
	}
}

// LastPrice looks through the transactions that name a pool, from those of the range's last block on. Whether one of them tells a price the block's transactions say.
func (h History) LastPrice(ctx context.Context, pool *market.Pool, first, last uint64) (block uint64, ok bool, from uint64, err error) {
	var signatures []string
	err = h.askTwo(ctx, func(ctx context.Context, e *endpoint) error {
		list, err := e.listUpTo(ctx, pool.ID, last)
		if err != nil {
			return err
		}
		newest, has, looked := lastOf(list, first, last)
		if from = max(from, looked); !has || ok && newest < block {
			return nil
		}
		if newest > block {
			signatures = nil
		}
		block, ok = newest, true
		for _, signature := range inBlock(list, newest) {
			if !slices.Contains(signatures, signature) {
				signatures = append(signatures, signature)
			}
		}
		return nil
	})
	switch {
	case err != nil:
		return 0, false, 0, fmt.Errorf("list a pool's transactions up to slot %d: %w", last, err)
	case !ok:
		return 0, false, from, nil
	}
	h.s.priced.keep(pool.ID, block, block, map[uint64][]string{block: signatures})
	return block, true, block, nil
}

// listUpTo lists some of an account's transactions up to a slot, the newest first. Nodes list what is older than a transaction, whoever's it is: one of a later block.
func (e *endpoint) listUpTo(ctx context.Context, account market.Address, last uint64) ([]listed, error) {
	later, err := e.slots(ctx, last+1, last+laterWithin)
	if err != nil {
		return nil, err
	}
	for _, slot := range later[:min(len(later), laterTried)] {
		signatures, err := e.signaturesOf(ctx, slot)
		if err != nil {
			return nil, err
		}
		if len(signatures) > 0 {
			list, err := e.list(ctx, account, signatures[0], listedAtOnce, 0)
			return slices.DeleteFunc(list, func(t listed) bool { return t.slot > last }), err
		}
	}
	return nil, fmt.Errorf("%w: it has no block with a transaction soon after slot %d", chain.ErrNoBlock, last)
}

// lastOf finds in a list, which ends with slot last, the newest block from slot first on with a transaction that didn't fail. from is the first slot of which the list has all.
func lastOf(list []listed, first, last uint64) (block uint64, ok bool, from uint64) {
	for _, t := range list {
		if t.slot >= first && !t.failed {
			return t.slot, true, t.slot
		}
	}
	if n := len(list); n == listedAtOnce { // the oldest one's block may have others
		return 0, false, max(first, min(list[n-1].slot+1, last))
	}
	return 0, false, first
}

// inBlock are a list's transactions of one block that didn't fail, in the order of the block.
func inBlock(list []listed, slot uint64) (out []string) {
	for _, t := range slices.Backward(list) {
		if t.slot == slot && !t.failed {
			out = append(out, t.signature)
		}
	}
	return out
}
