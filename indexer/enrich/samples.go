package enrich

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"

	"github.com/boardwalkhq/boardwalk/indexer/budget"
	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/derive"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

const (
	// sampleBlocks is how far apart the blocks are before which derived balances are held against the contracts'.
	sampleBlocks = 32
	// samples is the most tokens that are sampled at one block, and lostSupplies the most that are asked for a supply that they didn't
	// tell when they came up, or for one that is doubted.
	samples, lostSupplies = 8, 8
)

// keptSamples adds the balances and supplies that an earlier index kept of the blocks, to all of them before the first sample is held against any.
func (e *enrichment) keptSamples(ctx context.Context) error {
	for i := range e.blocks {
		b := &e.blocks[i]
		facts, err := e.recorded(ctx, b)
		if err != nil {
			return err
		}
		for _, f := range facts {
			if isSample(f) {
				e.add(b, f)
			}
		}
	}
	return nil
}

func isSample(f market.Fact) bool {
	switch f.(type) {
	case market.BalanceFact, market.SupplyFact:
		return true
	}
	return false
}

// samples asks some tokens, at some blocks, for a balance that was just moved and for their supply. Which ones follows
// from the block's hash: nobody can tell in advance, and every index asks the same, unless GivesUp says that samples are given up.
func (e *enrichment) samples(ctx context.Context) error {
	keys := make([][]market.BalanceKey, len(e.blocks))
	last := -1
	launched := launches{}
	for i := range e.blocks {
		if i > 0 {
			launched.see(&e.blocks[i-1])
		}
		if n := e.blocks[i].Number; n > 0 && n%sampleBlocks == 0 {
			keys[i], last = e.sampled(&e.blocks[i], launched), i
		}
	}
	expect := e.Machine.Expect(e.state, slices.Concat(keys...))
	for i := range e.blocks[:last+1] {
		e.Beat()
		if i > 0 {
			expect.See(&e.blocks[i-1])
		}
		if b := &e.blocks[i]; b.Number > 0 && b.Number%sampleBlocks == 0 {
			if err := e.sample(ctx, b, keys[i], expect); err != nil {
				return err
			}
		}
	}
	return nil
}

// sampled draws tokens that a block moves, each with an account that it was moved from or to. Of launched tokens those count
// that were launched in an earlier block.
func (e *enrichment) sampled(b *market.Block, launched launches) []market.BalanceKey {
	last := map[market.Address]market.BalanceKey{}
	var tokens []market.Address
	for _, tx := range b.Txs {
		for _, l := range tx.Logs {
			t, ok := l.Event.(market.Transfer)
			if c, told := l.Event.(market.BalanceChange); told {
				t, ok = c.AsTransfer(), true
			}
			if !ok || (!launched[t.Token] && !e.followed(t.Token)) {
				continue
			}
			account := cmp.Or(t.From, t.To)
			if account.IsNone() {
				continue
			}
			if _, seen := last[t.Token]; !seen {
				tokens = append(tokens, t.Token)
			}
			last[t.Token] = market.BalanceKey{Token: t.Token, Account: account}
		}
	}
	if len(tokens) == 0 {
		return nil
	}
	first := int(binary.BigEndian.Uint32(b.Hash[:]) % uint32(len(tokens)))
	keys := make([]market.BalanceKey, min(samples, len(tokens)))
	for k := range keys {
		keys[k] = last[tokens[(first+k)%len(tokens)]]
	}
	return keys
}

// sample asks for balances in the state before a block, and for the supplies of their tokens. Not after it: a node can
// answer for its newest block out of the state of the one that it is making. What contradicts derivation, and could end a
// token's holders or its supply, is no fact before two endpoints say so; nor is a supply of which nothing is known, if a second endpoint tells one.
func (e *enrichment) sample(ctx context.Context, b *market.Block, keys []market.BalanceKey, expect *derive.Expectation) error {
	known, err := e.recorded(ctx, b)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(known, isSample) || e.GivesUp(budget.Samples) {
		return nil
	}
	asking := rpc.For(ctx, budget.Samples)
	mints, err := e.wantedSupplies(ctx, b)
	if err != nil {
		return err
	}
	for _, k := range keys {
		mints = append(mints, k.Token)
	}
	slices.SortFunc(mints, market.Address.Compare)
	mints = slices.Compact(mints)
	if len(mints) == 0 {
		return nil
	}
	if err := e.Load(ctx, market.Wanted{Tokens: mints, Balances: keys, ExpireFrom: 1}); err != nil {
		return err
	}
	balances, err := e.Nodes.Balances(asking, before(b), keys, expect.Contradicts)
	if err != nil {
		return err
	}
	for _, f := range balances {
		e.add(b, f)
	}
	supplies, err := e.Nodes.Supplies(asking, before(b), mints, func(f market.SupplyFact) chain.Doubt {
		switch {
		case expect.Contradicts(f):
			return chain.Contradicted
		case expect.LacksSupply(f.Token):
			return chain.Untold
		default:
			return chain.NoDoubt
		}
	})
	if err != nil {
		return err
	}
	for _, f := range supplies {
		e.add(b, f)
	}
	return e.sampleNewestSupplies(asking, b, mints, expect)
}

// wantedSupplies draws tokens that are asked for their supply although nothing moves them: priced ones that told none when they came up, for
// want of their block's state perhaps, since without one they have no market cap for good; and those whose supply was contradicted once,
// since until another answer it passes for known. The block's hash says where in their order it begins, so that one that never tells holds
// up no other.
func (e *enrichment) wantedSupplies(ctx context.Context, b *market.Block) ([]market.Address, error) {
	if !e.following {
		return nil, nil
	}
	from := market.Drawn(b.Hash, e.Config.Native.Wrapped)
	without, err := e.Tokens.WithoutSupply(ctx, e.Index(), from, lostSupplies)
	if err != nil {
		return nil, err
	}
	doubted, err := e.Tokens.DoubtedSupplies(ctx, e.Index(), from, lostSupplies)
	if err != nil {
		return nil, err
	}
	declared, err := e.declaredWithoutSupply(ctx)
	return slices.Concat(without, doubted, declared), err
}

// followed reports whether a token's derived balances can be sampled: not on its first mention in the same batch.
func (e *enrichment) followed(mint market.Address) bool {
	return e.Machine.Follows(e.state, mint) && e.state.Pool(mint) == nil
}
