package pasts

import (
	"context"

	"github.com/boardwalkhq/boardwalk/indexer/derive"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

const (
	// blocksKept is how many blocks are kept for the prices that the next ones may need.
	blocksKept = 16
	// pricesWithin is how many blocks before a trade a price is looked for, firstPrices in how many of them at first; each question after it is about ten times as
	// many. priceQuestions is how many questions that takes at most, with nodes that take few blocks at once.
	pricesWithin, firstPrices, priceQuestions = 30_000, 300, 60
	// sourcesTried is in how many pools of a quote asset a price is looked for: a pool of ranges tells none before its first trade.
	sourcesTried = 8
)

// blocks are blocks of the past, while one wallet's are read.
type blocks struct {
	*Reader

	read map[blockOf]market.Block
}

// blockOf names a block that was read for what an account did in it.
type blockOf struct {
	number  uint64
	account market.Address
}

// block reads a block of the past, at least what an account did in it.
func (p *blocks) block(ctx context.Context, number uint64, account market.Address) (market.Block, error) {
	of := blockOf{number: number}
	if p.Nodes.ListsAccounts() { // else it is the whole block
		of.account = account
	}
	b, ok := p.read[of]
	if ok {
		return b, nil
	}
	b, err := p.Nodes.PastBlock(ctx, number, account)
	if err != nil {
		return b, err
	}
	if len(p.read) == blocksKept {
		clear(p.read)
	}
	p.read[of] = b
	return b, nil
}

// entries makes the entries of a block for a wallet.
func (p *blocks) entries(ctx context.Context, whole *market.Block, wallet market.Address, quotes *market.Beginning) ([]market.Entry, error) {
	b := derive.OfWallet(whole, wallet)
	s := derive.PastState(&b, wallet, quotes)
	list := []market.Block{b}
	for _, keys := range []func() market.Wanted{
		func() market.Wanted { return p.Machine.LaunchKeys(s, list) },
		func() market.Wanted { return p.Machine.Keys(s, list, b.Header) },
		func() market.Wanted { return p.Machine.MoreKeys(s, list, b.Header) },
	} {
		w := keys()
		rows, err := p.Store.Load(ctx, p.Index(), w)
		if err != nil {
			return nil, err
		}
		s.Put(w, rows)
	}
	var prices []derive.PastPrice
	for _, sources := range p.Machine.PriceSources(s, &b) {
		for _, source := range sources[:min(len(sources), sourcesTried)] {
			e, ok, err := p.price(ctx, whole, &source)
			if err != nil {
				return nil, err
			}
			if ok {
				prices = append(prices, derive.PastPrice{Pool: source, Event: e})
				break
			}
		}
	}
	return p.Machine.PastEntries(s, &b, prices)
}

// price is the last event up to a block that tells a pool's price; ok is false where there is none near it.
func (p *blocks) price(ctx context.Context, b *market.Block, pool *market.Pool) (e market.Event, ok bool, err error) {
	if e, ok = derive.LastPriceIn(b, pool); ok {
		return e, true, nil
	}
	last := b.Number - 1
	least := last - min(last, pricesWithin-1)
	width := uint64(firstPrices)
	for range priceQuestions {
		number, ok, from, err := p.Nodes.LastPrice(ctx, pool, max(least, last-min(last, width-1)), last)
		if err != nil {
			return nil, false, err
		}
		if ok {
			b, err := p.block(ctx, number, pool.ID)
			if err != nil {
				return nil, false, err
			}
			if e, ok := derive.LastPriceIn(&b, pool); ok {
				return e, true, nil
			}
			from = number
		}
		if from <= least {
			break
		}
		last, width = from-1, 10*width
	}
	return nil, false, nil
}
