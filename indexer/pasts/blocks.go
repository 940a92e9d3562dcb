package pasts

import (
	"context"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/derive"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

const (
	// blocksKept is how many blocks are kept for the prices that the next ones may need.
	blocksKept = 16
	// pricesWithin and priceRanges are how many blocks before a trade a price is looked for, at first, and in how many ranges, each ten times as wide.
	pricesWithin, priceRanges = 300, 3
	// sourcesTried is in how many pools of a quote asset a price is looked for.
	sourcesTried = 3
)

// blocks are blocks of the past, while one wallet's are read.
type blocks struct {
	*Reader

	read map[uint64]market.Block
}

// block reads a block of the past, of which two endpoints have the same logs where there are two.
func (p *blocks) block(ctx context.Context, number uint64) (market.Block, error) {
	b, ok := p.read[number]
	if ok {
		return b, nil
	}
	h, err := p.Nodes.Header(ctx, number)
	if err != nil {
		return b, err
	}
	for r, err := range p.Nodes.Blocks(ctx, []chain.Header{h}) {
		if err == nil {
			_, err = p.Nodes.Agree(ctx, h, &r)
		}
		if err != nil {
			return b, err
		}
		b = r.Block
	}
	if len(p.read) == blocksKept {
		clear(p.read)
	}
	p.read[number] = b
	return b, nil
}

// entries are what a block did to a wallet.
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
	last, width := b.Number-1, uint64(pricesWithin)
	for range priceRanges {
		number, ok, from, err := p.Nodes.LastPrice(ctx, pool, last-min(last, width-1), last)
		if err != nil {
			return nil, false, err
		}
		if ok {
			b, err := p.block(ctx, number)
			if err != nil {
				return nil, false, err
			}
			if e, ok := derive.LastPriceIn(&b, pool); ok {
				return e, true, nil
			}
			from = number
		}
		if from == 0 {
			break
		}
		last, width = from-1, 10*width
	}
	return nil, false, nil
}
