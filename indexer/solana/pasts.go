package solana

import (
	"bytes"
	"cmp"
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
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Nodes list the transactions that name an account, the newest first. So the past of a wallet is read transaction by transaction, and not in blocks: those have
// megabytes.

const (
	// listedAtOnce is the most transactions that nodes list at once, and mostLists how many lists are read of one account.
	listedAtOnce, mostLists = 1000, 200
	// priceListed is how many of a pool's transactions are listed to find one that tells its price.
	priceListed = 50
	// transactionsAtOnce is how many transactions are asked for at once.
	transactionsAtOnce = 20
	// listsKept is of how many wallets the lists are kept, and namedKept of how many blocks the transactions.
	listsKept, namedKept = 1000, 20_000
	// laterWithin is within how many slots after one there is a block.
	laterWithin = 1000
)

// listed is a transaction as a node lists it.
type listed struct {
	signature string
	slot      uint64
	failed    bool
}

// pasts are what was listed of accounts.
type pasts struct {
	mu sync.Mutex
	// blocks are the blocks that name a wallet.
	blocks map[market.Address]blocksOf
	// named are the transactions of a block that name an account, in the order of the block.
	named map[accountIn][]string
}

// blocksOf are those from one slot to another, the oldest first, without transactions: these may be many.
type blocksOf struct {
	from, to uint64
	list     []chain.WalletTransfer
}

type accountIn struct {
	account market.Address
	slot    uint64
}

// note keeps a block's transactions that name an account.
func (p *pasts) note(account market.Address, slot uint64, signatures []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.named == nil || len(p.named) >= namedKept {
		p.named = map[accountIn][]string{}
	}
	p.named[accountIn{account, slot}] = signatures
}

func (p *pasts) of(account market.Address, slot uint64) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.named[accountIn{account, slot}]
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
		if id, err := market.ParseTx(t.Signature); err != nil || id.String() != t.Signature || t.Slot > highestSlot || i > 0 && t.Slot > told[i-1].Slot {
			return nil, fmt.Errorf("%w: a list of transactions with %.100q at slot %d", rpc.ErrGarbage, t.Signature, t.Slot)
		}
		list = append(list, listed{t.Signature, t.Slot, len(t.Err) > 0 && string(t.Err) != "null"})
	}
	return list, nil
}

// listFrom lists an account's transactions from a slot on that didn't fail, the oldest first. whole is false where there are more than are listed.
func (e *endpoint) listFrom(ctx context.Context, account market.Address, from, reached uint64) (out []listed, whole bool, err error) {
	before := ""
	for range mostLists {
		some, err := e.list(ctx, account, before, listedAtOnce, reached)
		if err != nil {
			return nil, false, err
		}
		for _, t := range some {
			if t.slot >= from && !t.failed {
				out = append(out, t)
			}
		}
		if len(some) == 0 || some[len(some)-1].slot < from {
			slices.Reverse(out)
			return out, true, nil
		}
		before = some[len(some)-1].signature
	}
	return nil, false, nil
}

// lists are an account's transactions from a slot on, as one endpoint lists them, and a second one where there are several and it answers.
func (s *Source) lists(ctx context.Context, account market.Address, from, reached uint64) (out [][]listed, err error) {
	answered, errs := 0, []error(nil)
	for _, e := range s.pool.Candidates() {
		var list []listed
		whole := false
		err := s.pool.On(ctx, e, func(ctx context.Context, e *endpoint) (err error) {
			list, whole, err = e.listFrom(ctx, account, from, reached)
			return err
		})
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			errs = append(errs, fmt.Errorf("%s: %w", e.Name, err))
			continue
		case whole:
			out = append(out, list)
		}
		if answered++; answered == 2 {
			break
		}
	}
	switch {
	case answered == 0:
		return nil, fmt.Errorf("list an account's transactions: %w: %w", rpc.ErrUnanswered, errors.Join(errs...))
	case len(out) == 0:
		return nil, &chain.BusyError{Account: account, Transactions: mostLists * listedAtOnce}
	}
	return out, nil
}

// noteAll keeps lists of an account, in which each block's transactions are those that any of them has. It gives the blocks.
func (s *Source) noteAll(account market.Address, lists [][]listed) (blocks []chain.WalletTransfer) {
	told, named := map[uint64]int{}, map[uint64][]string{}
	for i, list := range lists {
		for _, t := range list {
			if !slices.Contains(named[t.slot], t.signature) {
				named[t.slot] = append(named[t.slot], t.signature)
			}
			told[t.slot] |= 1 << i
		}
	}
	for slot, signatures := range named {
		s.pasts.note(account, slot, signatures)
		blocks = append(blocks, chain.WalletTransfer{Wallet: account, Block: slot, Alone: len(lists) == 2 && told[slot] != 3})
	}
	slices.SortFunc(blocks, func(a, b chain.WalletTransfer) int { return cmp.Compare(a.Block, b.Block) })
	return blocks
}

// TransfersOfWallets finds the blocks with transactions that name a wallet: each that a wallet made, and what others did with it. Which tokens they move isn't known yet.
// What came to one of its token accounts without naming it isn't found.
func (s *Source) TransfersOfWallets(ctx context.Context, wallets []market.Address, from, to uint64) (found []chain.WalletTransfer, upTo uint64, err error) {
	for _, wallet := range wallets {
		s.pasts.mu.Lock()
		known, ok := s.pasts.blocks[wallet]
		s.pasts.mu.Unlock()
		if !ok || from < known.from || to > known.to {
			s.heads.mu.Lock()
			known = blocksOf{from: from, to: max(to, s.heads.final)}
			s.heads.mu.Unlock()
			lists, err := s.lists(ctx, wallet, from, known.to)
			if err != nil {
				return nil, 0, err
			}
			known.list = s.noteAll(wallet, lists)
			s.pasts.mu.Lock()
			if s.pasts.blocks == nil || len(s.pasts.blocks) >= listsKept {
				s.pasts.blocks = map[market.Address]blocksOf{}
			}
			s.pasts.blocks[wallet] = known
			s.pasts.mu.Unlock()
		}
		for _, t := range known.list {
			if t.Block >= from && t.Block <= to {
				found = append(found, t)
			}
		}
	}
	return found, to, nil
}

// PastBlock reads the transactions of a block that name an account, in their order, with the block's number and time; without an account, only these. Where there
// are several endpoints, two have to have the same.
func (s *Source) PastBlock(ctx context.Context, number uint64, account market.Address) (market.Block, error) {
	named := s.pasts.of(account, number)
	if named == nil && !account.IsNone() { // it was found by another process, or is kept no more
		lists, err := s.lists(ctx, account, number, number)
		if err != nil {
			return market.Block{}, err
		}
		s.noteAll(account, lists)
		named = s.pasts.of(account, number)
	}
	var votes []market.Block
	var errs []error
	for _, e := range s.pool.Candidates() {
		var b market.Block
		err := s.pool.On(ctx, e, func(ctx context.Context, e *endpoint) (err error) {
			if account.IsNone() {
				h, err := s.headerOn(ctx, e, number)
				b.Header = h.Header
				return err
			}
			b, err = s.transactionsOn(ctx, e, number, named)
			return err
		})
		if ctx.Err() != nil {
			return b, ctx.Err()
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", e.Name, err))
			continue
		}
		digest := digestOf(&b)
		if len(s.pool.List) == 1 || slices.ContainsFunc(votes, func(v market.Block) bool { return v.Time == b.Time && digestOf(&v) == digest }) {
			return b, nil
		}
		votes = append(votes, b)
	}
	return market.Block{}, fmt.Errorf("block %d: no two endpoints have the same: %w", number, errors.Join(errs...))
}

// transactionsOn reads transactions of one block, those that an endpoint has.
func (s *Source) transactionsOn(ctx context.Context, e *endpoint, slot uint64, signatures []string) (market.Block, error) {
	var told [][]byte
	var at *int64
	for some := range slices.Chunk(signatures, transactionsAtOnce) {
		for raw, err := range e.transactions(ctx, some) {
			if err != nil {
				return market.Block{}, err
			}
			var placed struct {
				Slot uint64 `json:"slot"`
				Time *int64 `json:"blockTime"`
			}
			if err := take(&placed)(raw); err != nil {
				return market.Block{}, err
			}
			if placed.Slot != slot || placed.Time == nil || at != nil && *at != *placed.Time {
				return market.Block{}, fmt.Errorf("%w: asked for a transaction of slot %d, got one of slot %d, or of another time", rpc.ErrGarbage, slot, placed.Slot)
			}
			told, at = append(told, raw), placed.Time
		}
	}
	if at == nil {
		return market.Block{}, fmt.Errorf("block %d: it has none of %d transactions: %w", slot, len(signatures), chain.ErrNoBlock)
	}
	none := strings.Repeat("1", 32) // 32 zero bytes in base58
	b, err := s.decoder.ParseBlock(slot, fmt.Appendf(nil, `{"blockhash":%q,"previousBlockhash":%q,"parentSlot":%d,"blockTime":%d,"transactions":[%s]}`,
		none, none, slot-min(slot, 1), *at, bytes.Join(told, []byte{','})))
	if err != nil {
		return market.Block{}, err
	}
	for i := range b.Txs {
		if !slices.Contains(signatures, b.Txs[i].ID.String()) {
			return market.Block{}, fmt.Errorf("%w: a transaction that wasn't asked for", rpc.ErrGarbage)
		}
	}
	b.Facts = nil
	return b.Block, nil
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
func (s *Source) LastPrice(ctx context.Context, pool *market.Pool, first, last uint64) (block uint64, ok bool, from uint64, err error) {
	type vote struct {
		block, from uint64
		ok          bool
	}
	var votes []vote
	var errs []error
	for _, e := range s.pool.Candidates() {
		var v vote
		err := s.pool.On(ctx, e, func(ctx context.Context, e *endpoint) (err error) {
			list, err := s.listUpTo(ctx, e, pool.ID, last)
			if err != nil {
				return err
			}
			v.block, v.ok, v.from = lastOf(list, first)
			if v.ok {
				s.pasts.note(pool.ID, v.block, inBlock(list, v.block))
			}
			return nil
		})
		if ctx.Err() != nil {
			return 0, false, 0, ctx.Err()
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", e.Name, err))
			continue
		}
		if len(s.pool.List) == 1 || slices.Contains(votes, v) {
			return v.block, v.ok, v.from, nil
		}
		votes = append(votes, v)
	}
	return 0, false, 0, fmt.Errorf("the transactions of pool %s up to slot %d: no two endpoints list the same: %w", pool.ID, last, errors.Join(errs...))
}

// listUpTo lists some of an account's transactions up to a slot, the newest first. Nodes list what is older than a transaction, whoever's it is: one of a later block.
func (s *Source) listUpTo(ctx context.Context, e *endpoint, account market.Address, last uint64) ([]listed, error) {
	var later []uint64
	params := []any{last + 1, last + laterWithin, map[string]any{"commitment": "finalized"}}
	if err := e.Do(ctx, &rpc.Request{Method: "getBlocks", Params: params, Take: take(&later)}); err != nil {
		return nil, err
	}
	for _, slot := range later {
		var told struct{ Signatures []string }
		params := []any{slot, map[string]any{"transactionDetails": "signatures", "rewards": false, "commitment": "finalized", "maxSupportedTransactionVersion": newestVersion}}
		if err := e.Do(ctx, &rpc.Request{Method: "getBlock", Params: params, Take: take(&told)}); err != nil {
			return nil, err
		}
		if len(told.Signatures) > 0 {
			list, err := e.list(ctx, account, told.Signatures[0], priceListed, 0)
			return slices.DeleteFunc(list, func(t listed) bool { return t.slot > last }), err
		}
	}
	return nil, fmt.Errorf("%w: no block with a transaction in slots %d to %d", rpc.ErrGarbage, last+1, last+laterWithin)
}

// lastOf is the last block of a list, from a first slot on, with a transaction that didn't fail; without one, ok is false. from is as far back as was looked.
func lastOf(list []listed, first uint64) (block uint64, ok bool, from uint64) {
	from = first
	if n := len(list); n == priceListed {
		from = max(first, list[n-1].slot)
	}
	for _, t := range list {
		if t.slot >= first && !t.failed {
			return t.slot, true, t.slot
		}
	}
	return 0, false, from
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
