package poolkeys

import (
	"iter"
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// tokensTried is the most tokens of one block that are tried: some 1,600 hashes with five quotes.
const tokensTried = 64

// provenBy gives the pools without a hook and with one of the usual fees that a block itself tells. The id of a pool is the hash of its key, and the transactions that
// trade in the pool move its tokens to and from the exchange: a key of such a token and a quote that has the pool's id is the pool's. No node is asked, so that every
// index of the block has the same answer, from the pool's first trade on.
func (f *Finder) provenBy(b *market.Block, pools []market.Address) (known []market.PoolCreated) {
	left := slices.Clone(pools)
	for _, x := range f.Exchanges {
		if x.Protocol != market.UniswapV4 {
			continue
		}
		for _, token := range movedBy(b, pools, x.Factory) {
			for _, p := range f.Nodes.UsualPools([]chainconfig.Exchange{x}, f.pairsOf(token)) {
				if i := slices.Index(left, p.Pool); i >= 0 {
					known = append(known, p)
					left = slices.Delete(left, i, i+1)
				}
			}
			if len(left) == 0 {
				return known
			}
		}
	}
	return known
}

// pairsOf are a token's pairs with the quotes.
func (f *Finder) pairsOf(token market.Address) (pairs [][2]market.Address) {
	for _, quote := range f.Quotes {
		if quote != token {
			pairs = append(pairs, [2]market.Address{token, quote})
		}
	}
	return pairs
}

// movedBy gives the first tokensTried tokens that move to or from an exchange in the transactions that trade in the pools.
func movedBy(b *market.Block, pools []market.Address, exchange market.Address) (tokens []market.Address) {
	for i := range b.Txs {
		tx := &b.Txs[i]
		if !slices.ContainsFunc(tx.Logs, func(l market.Log) bool {
			swap, ok := l.Event.(market.Swap)
			return ok && slices.Contains(pools, swap.Pool)
		}) {
			continue
		}
		for _, l := range tx.Logs {
			t, ok := l.Event.(market.Transfer)
			if !ok || t.From != exchange && t.To != exchange || slices.Contains(tokens, t.Token) {
				continue
			}
			if tokens = append(tokens, t.Token); len(tokens) == tokensTried {
				return tokens
			}
		}
	}
	return tokens
}

// swapsOf are a block's swaps of some pools.
func swapsOf(b *market.Block, pools []market.Address) iter.Seq[market.Swap] {
	return func(yield func(market.Swap) bool) {
		for i := range b.Txs {
			for _, l := range b.Txs[i].Logs {
				if swap, ok := l.Event.(market.Swap); ok && slices.Contains(pools, swap.Pool) && !yield(swap) {
					return
				}
			}
		}
	}
}
