package poolkeys

import (
	"iter"
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

const (
	// tokensTried is the most tokens of one block that are tried for one pool.
	tokensTried = 16
	// poolsTried is the most V4 pools of one block that are looked at, known ones among them: some 400,000 hashes with five quotes if each moves tokens of its own.
	poolsTried = 1024
	// feesTried is how many V4 pools of one block are tried with the fee that their first swap paid, known ones among them: some 70,000 hashes with five quotes.
	feesTried = 128
)

// provenBy gives the pools without a hook that a block itself tells: those with a usual fee, and those whose trades say their fee. The id of a pool is the hash of its key, and
// the transactions that trade in the pool move its tokens to and from the exchange: a key of such a token and a quote that has the pool's id is the pool's. No node is asked,
// and other pools count for nothing except that a pool beyond the block's first poolsTried isn't looked at: the block alone decides whether a pool is known by it.
func (f *Finder) provenBy(b *market.Block, pools []market.Address) (known []market.PoolCreated) {
	for _, x := range f.Exchanges {
		if x.Protocol != market.UniswapV4 {
			continue
		}
		tokens, left := movedBy(b, without(pools, known), x.Factory)
		for _, token := range tokens {
			for _, p := range f.Nodes.UsualPools([]chainconfig.Exchange{x}, f.pairsOf(token)) {
				if slices.Contains(left[p.Pool], token) {
					known = append(known, p)
					delete(left, p.Pool)
				}
			}
			if len(left) == 0 {
				break
			}
		}
		known = append(known, f.provenByFee(b, x, left)...)
	}
	return known
}

// provenByFee gives those of an exchange's pools whose fee is the one that their first swap in a block paid. That is so unless the protocol takes a share, or the fee isn't
// fixed. tokensOf has the tokens that move with each pool's trades. A pool beyond the block's first feesTried isn't tried.
func (f *Finder) provenByFee(b *market.Block, x chainconfig.Exchange, tokensOf map[market.Address][]market.Address) (known []market.PoolCreated) {
	first := map[market.Address]bool{}
	for swap := range v4SwapsOf(b) {
		if first[swap.Pool] {
			continue
		}
		if len(first) == feesTried {
			break
		}
		first[swap.Pool] = true
		for _, token := range tokensOf[swap.Pool] {
			pools := f.Nodes.UsualPools([]chainconfig.Exchange{x}, f.pairsOf(token), swap.FeePips)
			if i := slices.IndexFunc(pools, func(p market.PoolCreated) bool { return p.Pool == swap.Pool }); i >= 0 {
				known = append(known, pools[i])
				break
			}
		}
	}
	return known
}

// v4SwapsOf are a block's swaps of V4 pools.
func v4SwapsOf(b *market.Block) iter.Seq[market.Swap] {
	return func(yield func(market.Swap) bool) {
		for i := range b.Txs {
			for _, l := range b.Txs[i].Logs {
				if swap, ok := l.Event.(market.Swap); ok && swap.Pool.Kind() == market.V4Pool && !yield(swap) {
					return
				}
			}
		}
	}
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

// movedBy gives for each pool the first tokensTried tokens that move to or from an exchange in the transactions that trade in that pool, and all of these tokens.
func movedBy(b *market.Block, pools []market.Address, exchange market.Address) (tokens []market.Address, of map[market.Address][]market.Address) {
	of = map[market.Address][]market.Address{}
	first, has := map[market.Address]bool{}, map[market.Address]bool{}
	for i := range b.Txs {
		logs := b.Txs[i].Logs
		traded := slices.DeleteFunc(tradedIn(logs, first), func(a market.Address) bool { return !slices.Contains(pools, a) })
		if len(traded) == 0 {
			continue
		}
		moved := movedIn(logs, exchange)
		for _, pool := range traded {
			for _, token := range moved {
				if len(of[pool]) == tokensTried {
					break
				}
				if slices.Contains(of[pool], token) {
					continue
				}
				of[pool] = append(of[pool], token)
				if !has[token] {
					has[token] = true
					tokens = append(tokens, token)
				}
			}
		}
	}
	return tokens, of
}

// tradedIn gives the V4 pools that a transaction trades in, if they are among the first poolsTried of the block.
func tradedIn(logs []market.Log, first map[market.Address]bool) (traded []market.Address) {
	for _, l := range logs {
		swap, ok := l.Event.(market.Swap)
		if !ok || swap.Pool.Kind() != market.V4Pool || !first[swap.Pool] && len(first) == poolsTried {
			continue
		}
		first[swap.Pool] = true
		traded = append(traded, swap.Pool)
	}
	return traded
}

// movedIn gives the first tokensTried tokens that move to or from an exchange in a transaction. A token that moved in an earlier transaction counts again.
func movedIn(logs []market.Log, exchange market.Address) (tokens []market.Address) {
	for _, l := range logs {
		t, ok := l.Event.(market.Transfer)
		if !ok || t.From != exchange && t.To != exchange || slices.Contains(tokens, t.Token) {
			continue
		}
		if tokens = append(tokens, t.Token); len(tokens) == tokensTried {
			break
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
