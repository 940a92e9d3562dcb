package enrich

import (
	"context"
	"slices"

	"github.com/boardwalkhq/boardwalk/indexer/budget"
	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/derive"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// newestSuppliesKept is the most supplies that are kept for a block to come.
const newestSuppliesKept = 4096

// newestSupplies are supplies that nodes told as the newest. Such a supply holds after the block that was the newest then, which the index
// may not have yet: it waits for the first block after that one, whatever its number. Where the block's hash is known it waits for the first one with events, which
// a fresh index reads, too: a block without any moves no token.
type newestSupplies struct{ list []chain.SupplyAfter }

// askNewestSupplies asks for the supplies of tokens that a block brings up, where no node told one of the state after that block.
func (e *enrichment) askNewestSupplies(ctx context.Context, b *market.Block, facts []market.TokenFact) error {
	if !e.Nodes.TellsNewestSupplies() || !e.following { // far below the head it is no use
		return nil
	}
	if !e.Config.Family.KeepsSupplies() { // where programs keep supplies, that is how a new token tells its own
		if e.GivesUp(budget.Samples) {
			return nil
		}
		ctx = rpc.For(ctx, budget.Samples)
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

// sampleNewestSupplies asks for the newest supplies of tokens that are sampled: of all where programs keep supplies, and else of those that have none. A newest
// supply isn't held against a known one, since nobody vouches for the block that it is of.
func (e *enrichment) sampleNewestSupplies(ctx context.Context, b *market.Block, mints []market.Address, expect *derive.Expectation) error {
	if !e.Nodes.TellsNewestSupplies() || !e.following {
		return nil
	}
	if !e.Config.Family.KeepsSupplies() {
		mints = slices.DeleteFunc(slices.Clone(mints), func(mint market.Address) bool { return !expect.LacksSupply(mint) })
	}
	if len(mints) == 0 {
		return nil
	}
	return e.keepNewestSupplies(ctx, b, mints)
}

// keepNewestSupplies asks for supplies, and keeps them for the blocks of which they are.
func (e *enrichment) keepNewestSupplies(ctx context.Context, b *market.Block, tokens []market.Address) error {
	supplies, err := e.Nodes.NewestSupplies(ctx, b.Number, tokens)
	n := &e.newestSupplies
	for _, s := range supplies {
		if s.Hash.IsZero() || s.After < b.Number+newestAhead {
			n.list = append(n.list, s)
		}
	}
	n.list = slices.Delete(n.list, 0, max(0, len(n.list)-newestSuppliesKept))
	return err
}

// supplies takes in the supplies of the state before each block that nodes told.
func (e *enrichment) supplies(ctx context.Context) error {
	n := &e.newestSupplies
	if !e.following { // blocks are left out, so that it can't be seen which state a supply is of
		n.list = slices.DeleteFunc(n.list, hasHash)
	}
	if err := e.loadWaiting(ctx); err != nil {
		return err
	}
	for i := range e.blocks {
		b := &e.blocks[i]
		n.list = slices.DeleteFunc(n.list, func(s chain.SupplyAfter) bool {
			if isOfAnotherState(&s, b) {
				return true
			}
			if s.After >= b.Number || hasHash(s) && len(b.Txs) == 0 {
				return false
			}
			isKnown := hasHash(s) && e.isSupplyKnown(s.Token, i) || slices.ContainsFunc(b.Facts, isSupplyOf(s.Token))
			if !isKnown {
				e.add(b, s.SupplyFact)
			}
			return true
		})
	}
	return nil
}

func hasHash(s chain.SupplyAfter) bool { return !s.Hash.IsZero() }

// loadWaiting loads the tokens of which a supply with a hash waits.
func (e *enrichment) loadWaiting(ctx context.Context) error {
	var mints []market.Address
	for _, s := range e.newestSupplies.list {
		if hasHash(s) {
			mints = append(mints, s.Token)
		}
	}
	if len(mints) == 0 {
		return nil
	}
	slices.SortFunc(mints, market.Address.Compare)
	return e.Load(ctx, market.Wanted{Tokens: slices.Compact(mints), ExpireFrom: 1})
}

// isSupplyKnown reports whether a token has a supply before the i-th block, or is told one with it.
func (e *enrichment) isSupplyKnown(token market.Address, i int) bool {
	if t := e.state.Token(token); t != nil && t.HasSupply {
		return true
	}
	isTold := isSupplyOf(token)
	for k := range e.blocks[:i+1] {
		if slices.ContainsFunc(e.blocks[k].Facts, func(f market.Fact) bool {
			t, ok := f.(market.TokenFact)
			return ok && t.Token == token && t.HasSupply || isTold(f)
		}) {
			return true
		}
	}
	return false
}

// isOfAnotherState reports whether a block shows that a supply with a hash isn't of the state for which it was told: the chain has another block there, or the next
// block makes or burns some of the token. A node may answer for its newest block out of the state of the one that it is making.
func isOfAnotherState(s *chain.SupplyAfter, b *market.Block) bool {
	switch {
	case s.Hash.IsZero():
		return false
	case b.Number == s.After:
		return b.Hash != s.Hash
	case b.Number == s.After+1:
		return b.Parent != s.Hash || changesSupply(b, s.Token)
	}
	return false
}

// changesSupply reports whether a block makes or burns some of a token.
func changesSupply(b *market.Block, token market.Address) bool {
	for _, tx := range b.Txs {
		for _, l := range tx.Logs {
			switch ev := l.Event.(type) {
			case market.Transfer:
				if ev.Token == token && (ev.From.IsNone() || ev.To.IsNone()) {
					return true
				}
			case market.Wrap:
				if ev.Token == token {
					return true
				}
			}
		}
	}
	return false
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
