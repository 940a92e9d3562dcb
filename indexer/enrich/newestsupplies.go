package enrich

import (
	"context"
	"slices"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// newestSuppliesKept is the most supplies that are kept for a block to come.
const newestSuppliesKept = 4096

// newestSupplies are the supplies that nodes told which tell none but the newest. Such a supply holds after the block that was the newest then, which the index
// may not have yet: it waits for the first block after that one, whatever its number. Where the block's hash is known it waits for the first one with events, which
// a fresh index reads, too: a block without any moves no token.
type newestSupplies struct{ list []chain.SupplyAfter }

// askNewestSupplies asks for the supplies of tokens that a block brings up, where no node told one of the state after that block.
func (e *enrichment) askNewestSupplies(ctx context.Context, b *market.Block, facts []market.TokenFact) error {
	if !e.Nodes.TellsNewestSupplies() || !e.following { // far below the head it is no use
		return nil
	}
	var tokens []market.Address
	for i := range facts {
		if facts[i].HasDecimals && !facts[i].HasSupply {
			tokens = append(tokens, facts[i].Token)
		}
	}
	if len(tokens) == 0 {
		return nil
	}
	return e.keepNewestSupplies(ctx, b, tokens)
}

// keepNewestSupplies asks for supplies, and keeps them for the blocks of which they are.
func (e *enrichment) keepNewestSupplies(ctx context.Context, b *market.Block, tokens []market.Address) error {
	supplies, err := e.Nodes.NewestSupplies(ctx, b.Number, tokens)
	n := &e.newestSupplies
	n.list = append(n.list, supplies...)
	n.list = slices.Delete(n.list, 0, max(0, len(n.list)-newestSuppliesKept))
	return err
}

// supplies takes in the supplies of the state before each block that nodes told, or that an earlier index kept.
func (e *enrichment) supplies(ctx context.Context) error {
	n := &e.newestSupplies
	if !e.following { // blocks are left out, and whose supply it is can't be seen
		n.list = slices.DeleteFunc(n.list, func(s chain.SupplyAfter) bool { return !s.Hash.IsZero() })
	} else if len(n.list) == 0 && !e.Nodes.TellsNewestSupplies() {
		return nil
	}
	for i := range e.blocks {
		b := &e.blocks[i]
		if err := e.takeKeptSupplies(ctx, b); err != nil {
			return err
		}
		n.list = slices.DeleteFunc(n.list, func(s chain.SupplyAfter) bool {
			if isOfAnotherBranch(&s, b) {
				return true
			}
			if s.After >= b.Number || !s.Hash.IsZero() && len(b.Txs) == 0 {
				return false
			}
			if !slices.ContainsFunc(b.Facts, isSupplyOf(s.Token)) {
				e.add(b, s.SupplyFact)
			}
			return true
		})
	}
	return nil
}

// isOfAnotherBranch reports whether a block shows that the chain doesn't have the one after which a supply was told.
func isOfAnotherBranch(s *chain.SupplyAfter, b *market.Block) bool {
	switch {
	case s.Hash.IsZero():
		return false
	case b.Number == s.After:
		return b.Hash != s.Hash
	default:
		return b.Number == s.After+1 && b.Parent != s.Hash
	}
}

// takeKeptSupplies takes in the supplies that an earlier index kept of a block.
func (e *enrichment) takeKeptSupplies(ctx context.Context, b *market.Block) error {
	facts, err := e.recorded(ctx, b)
	for _, f := range facts {
		if s, ok := f.(market.SupplyFact); ok && !slices.ContainsFunc(b.Facts, isSupplyOf(s.Token)) {
			e.add(b, s)
		}
	}
	return err
}

func isSupplyOf(token market.Address) func(market.Fact) bool {
	return func(f market.Fact) bool {
		s, ok := f.(market.SupplyFact)
		return ok && s.Token == token
	}
}

// declaredWithoutSupply are the declared quotes and majors whose supply isn't known: they may have a price without a pool.
func (e *enrichment) declaredWithoutSupply(ctx context.Context) (without []market.Address, err error) {
	if !e.Nodes.TellsNewestSupplies() {
		return nil, nil
	}
	var declared []market.Address
	for _, q := range e.Config.Quotes {
		declared = append(declared, q.Address)
	}
	for _, m := range e.Config.Majors {
		declared = append(declared, m.Address)
	}
	if err := e.Load(ctx, market.Wanted{Tokens: declared, ExpireFrom: 1}); err != nil {
		return nil, err
	}
	for _, mint := range declared {
		if t := e.state.Token(mint); t != nil && mint != e.Config.Native.Wrapped && !t.HasSupply && t.SupplyStrikes < market.SupplyUntold {
			without = append(without, mint)
		}
	}
	return without, nil
}
