package evm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/decode"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// ListsAccounts reports that nodes look through blocks.
func (History) ListsAccounts() bool { return false }

// TransfersOfWallets finds the transfers of tokens from and to wallets in a range, by what two endpoints say where there are two, and the last block of it that it
// got to: one before the end where a node refused the range as too wide. The rules of empty.go say when an empty answer is believed.
func (h History) TransfersOfWallets(ctx context.Context, wallets []market.Address, from, to uint64) (found []chain.WalletTransfer, upTo uint64, err error) {
	topics := make([][32]byte, len(wallets))
	of := make(map[[32]byte]market.Address, len(wallets))
	for i, w := range wallets {
		copy(topics[i][12:], w.Bytes())
		of[topics[i]] = w
	}
	reading := &logReading[[]chain.WalletTransfer]{
		ask: func(ctx context.Context, e *endpoint, a asking) (out answer[[]chain.WalletTransfer], err error) {
			err = inRange(from, a.to, func(to uint64) error {
				out = answer[[]chain.WalletTransfer]{upTo: to}
				seen := map[chain.WalletTransfer]bool{}
				for _, received := range []bool{false, true} {
					err := e.transfersOfWallets(ctx, topics, received, from, to, func(l *decode.Log, place int) {
						out.logs++
						t := chain.WalletTransfer{Wallet: of[l.Topics[place]], Token: decode.Address(l.Address), Block: l.Block}
						if !seen[t] {
							seen[t], out.found = true, append(out.found, t)
						}
					})
					if err != nil {
						return err
					}
				}
				return nil
			})
			return out, err
		},
	}
	a, err := readLogs(ctx, h.s, to, reading)
	if err != nil || a.logs == 0 || len(h.s.pool.List) == 1 {
		return a.found, a.upTo, err
	}
	second, err := askFor(ctx, h.s, h.s.pool.Others(a.by), asking{to: a.upTo}, reading)
	if ctx.Err() != nil {
		return nil, 0, ctx.Err()
	}
	if err != nil { // it says nothing
		return a.found, a.upTo, nil //nolint:nilerr // as where there is one
	}
	upTo = min(a.upTo, second.upTo)
	named := map[chain.WalletTransfer]int{}
	for _, t := range slices.Concat(a.found, second.found) {
		named[t]++
	}
	for _, t := range slices.Concat(a.found, second.found) {
		if n := named[t]; t.Block <= upTo && n > 0 {
			named[t] = 0
			t.Alone = n == 1
			found = append(found, t)
		}
	}
	return found, upTo, nil
}

// transfersOfWallets reads the transfers that wallets sent, or received, in a range.
func (e *endpoint) transfersOfWallets(ctx context.Context, wallets [][32]byte, received bool, from, to uint64, each func(l *decode.Log, place int)) error {
	q := node.LogQuestion{
		Where: map[string]any{"fromBlock": rpc.HexQuantity(from), "toBlock": rpc.HexQuantity(to)}, Event: decode.TopicTransfer, Third: received, Topics: wallets,
		Single: from == to,
	}
	logs, got, err := e.Logs(ctx, &q)
	if err != nil {
		return err
	}
	defer got.Done()
	if err := node.AreAskedFor(logs, wallets, q.Place()); err != nil {
		return err
	}
	for i := range logs {
		l := &logs[i]
		if l.Block < from || l.Block > to || l.Topics[0] != decode.TopicTransfer {
			return fmt.Errorf("%w: a log that wasn't asked for", rpc.ErrGarbage)
		}
		if l.NumTopics == 3 { // those of ERC-721 have four
			each(l, q.Place())
		}
	}
	return nil
}

// inRange asks for a range of blocks, and for the beginning of it where that is too wide.
func inRange(from, to uint64, ask func(to uint64) error) error {
	for width := to - from + 1; ; {
		err := node.AsRangeError(ask(from + width - 1))
		narrow, ok := errors.AsType[*node.RangeError](err)
		if !ok || width <= 1 {
			return err
		}
		if width /= 2; narrow.Fits > 0 && narrow.Fits < width {
			width = narrow.Fits
		}
	}
}

// LastPrice finds the last block of a range in which a pool told a price, in as much of the range's end as the endpoints take at once; from is its first block.
func (h History) LastPrice(ctx context.Context, pool *market.Pool, first, last uint64) (block uint64, ok bool, from uint64, err error) {
	topic, known := decode.PriceTopic(pool.Protocol)
	if !known {
		return 0, false, first, nil
	}
	q := node.LogQuestion{Where: map[string]any{"toBlock": rpc.HexQuantity(last), "address": pool.ID.String()}, Topics: [][32]byte{topic}}
	if pool.Protocol == market.UniswapV4 { // its manager has all pools
		q.Where["address"], q.Event, q.Topics = pool.Factory.String(), topic, [][32]byte{[32]byte(pool.ID.Bytes())}
	}
	answers := 0
	take := func(ctx context.Context, e *endpoint) error {
		found, starts, err := e.lastLog(ctx, q, first, last)
		if err != nil {
			return err
		}
		answers++
		block, ok, from = max(block, found), ok || found > 0, max(from, starts)
		return nil
	}
	var answered *endpoint
	err = h.s.pool.Try(ctx, func(ctx context.Context, e *endpoint) error {
		answered = e
		return take(ctx, e)
	})
	if err != nil || len(h.s.pool.List) == 1 {
		return block, ok, from, err
	}
	for _, e := range h.s.pool.Others(answered) {
		if err = h.s.pool.On(ctx, e, take); err == nil || ctx.Err() != nil {
			break
		}
	}
	if answers < 2 {
		return 0, false, 0, fmt.Errorf("a pool's price of then: one endpoint alone answers: %w", err)
	}
	return block, ok, from, nil
}

// pastFits is how many questions in a row an endpoint answers before it is asked for twice as many blocks.
const pastFits = 16

// lastLog finds the block of the last log of a range, in as much of its end as the endpoint takes at once; 0 where there is none.
func (e *endpoint) lastLog(ctx context.Context, q node.LogQuestion, first, last uint64) (block, from uint64, err error) {
	e.mu.Lock()
	most := cmp.Or(e.pastLen, last-first+1)
	e.mu.Unlock()
	err = inRange(first, min(last, first+most-1), func(to uint64) error {
		from = last - (to - first)
		q.Where, q.Single = maps.Clone(q.Where), from == last
		q.Where["fromBlock"] = rpc.HexQuantity(from)
		logs, got, err := e.Logs(ctx, &q)
		if err != nil {
			return err
		}
		defer got.Done()
		if err := node.AreAskedFor(logs, q.Topics, q.Place()); err != nil {
			return err
		}
		block = 0
		for i := range logs {
			if logs[i].Block < from || logs[i].Block > last {
				return fmt.Errorf("%w: a log that wasn't asked for", rpc.ErrGarbage)
			}
			block = max(block, logs[i].Block)
		}
		return nil
	})
	if width := last - from + 1; err == nil && from > first {
		e.mu.Lock()
		if e.pastFits++; width < most {
			e.pastFits = 0
		}
		if e.pastLen = width; e.pastFits == pastFits { // it may take more by now
			e.pastLen, e.pastFits = 2*width, 0
		}
		e.mu.Unlock()
	}
	return block, from, err
}

// PastBlock reads a whole block far behind the head by its number, with its time. Where there are several endpoints, two have to have the same: what comes of it is kept for
// good.
func (h History) PastBlock(ctx context.Context, number uint64, _ market.Address) (market.Block, error) {
	first, err := h.s.readPiece(ctx, 0, number, number)
	if err != nil || len(h.s.pool.List) == 1 {
		return pastBlock(&first), err
	}
	votes := []answer[chain.Batch]{first}
	for _, e := range h.s.pool.Others(first.by) {
		vote, err := h.s.pastOf(ctx, e, 0, number, number)
		if ctx.Err() != nil {
			return market.Block{}, ctx.Err()
		}
		if err != nil {
			continue
		}
		if slices.ContainsFunc(votes, func(v answer[chain.Batch]) bool { return sameBlocks(&v, &vote) }) {
			return pastBlock(&vote), nil
		}
		votes = append(votes, vote)
	}
	if len(votes) > 1 { // the block's receipts may decide
		header, err := h.s.Header(ctx, number)
		var is chain.BlockRead
		if err == nil {
			_, err = h.s.Agree(ctx, header, &is)
		}
		if err != nil || is.Agreed {
			return is.Block, err
		}
	}
	return market.Block{}, fmt.Errorf("block %d: no two endpoints have the same", number)
}

func pastBlock(a *answer[chain.Batch]) market.Block {
	b := blockOf(&a.found, a.upTo)
	b.Header = a.found.Last.Header
	return b
}
