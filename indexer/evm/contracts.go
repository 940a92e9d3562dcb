package evm

import (
	"context"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Contracts is the part of a Source that asks contracts: tokens, pools, factories and curves. It also tells what transactions cost, and finds the logs by which
// pools were made.
type Contracts struct{ s *Source }

// Contracts gives the part that asks contracts, by the source's endpoints.
func (s *Source) Contracts() Contracts { return Contracts{s} }

// TokenFacts asks tokens about themselves at a block. Where its state is gone, the answers are the newest ones, without
// a supply. Where there are several endpoints two have to give decimals and supply; unsure are the facts, by their place, of which they
// don't. Names and symbols are one endpoint's.
func (cs Contracts) TokenFacts(ctx context.Context, at chain.Ref, tokens []market.Address) (facts []market.TokenFact, unsure []bool, err error) {
	list := make([]*call, 0, 4*len(tokens))
	for _, t := range tokens {
		for _, data := range []string{callName, callSymbol, callDecimals, callSupply} {
			list = append(list, &call{to: t, data: data})
		}
	}
	gone, err := cs.s.callsOrLatest(ctx, at, list)
	if err != nil {
		return nil, nil, err
	}
	unsure = make([]bool, len(tokens))
	var vouched []*call
	var of []int
	for i := range tokens {
		vouched, of = append(vouched, list[4*i+2]), append(of, i)
		if !gone {
			vouched, of = append(vouched, list[4*i+3]), append(of, i)
		}
	}
	open, err := cs.s.vouch(ctx, at, gone, vouched)
	if err != nil {
		return nil, nil, err
	}
	for k, i := range of {
		unsure[i] = unsure[i] || open[k]
	}
	out := make([]market.TokenFact, len(tokens))
	for i, t := range tokens {
		c := list[4*i:]
		f := market.TokenFact{Token: t, Name: c[0].text(), Symbol: c[1].text()}
		if d, ok := c[2].uint(); ok && d.IsUint64() && d.Uint64() <= maxDecimals {
			f.HasDecimals, f.Decimals = true, uint8(d.Uint64())
		}
		if !gone {
			f.Supply, f.HasSupply = c[3].uint()
		}
		out[i] = f
	}
	return out, unsure, nil
}

// maxDecimals is beyond what any token means in earnest.
const maxDecimals = 64

// Supplies asks tokens for their total supply at the end of a block; those that don't answer are left out, all of them
// when the block's state is gone.
func (cs Contracts) Supplies(ctx context.Context, at chain.Ref, tokens []market.Address, doubt func(market.SupplyFact) chain.Doubt,
) ([]market.SupplyFact, error) {
	list := make([]*call, len(tokens))
	for i, t := range tokens {
		list[i] = &call{to: t, data: callSupply}
	}
	return samplesOf(ctx, cs.s, at, list, func(i int, v market.Amount) market.SupplyFact {
		return market.SupplyFact{Token: tokens[i], Supply: v}
	}, doubt)
}

// Balances asks tokens for accounts' balances at the end of a block; those that don't answer are left out, all of them
// when the block's state is gone. A balance that doubt names is doubted as chain.Contradicted is.
func (cs Contracts) Balances(ctx context.Context, at chain.Ref, keys []market.BalanceKey, doubt func(market.Fact) bool,
) ([]market.BalanceFact, error) {
	list := make([]*call, len(keys))
	for i, k := range keys {
		list[i] = &call{to: k.Token, data: callBalanceOf + word(k.Account)}
	}
	return samplesOf(ctx, cs.s, at, list, func(i int, v market.Amount) market.BalanceFact {
		return market.BalanceFact{Token: keys[i].Token, Account: keys[i].Account, Amount: v}
	}, func(f market.BalanceFact) chain.Doubt {
		if doubt(f) {
			return chain.Contradicted
		}
		return chain.NoDoubt
	})
}

// samplesOf runs calls that answer with a number, of which fact makes a fact. It leaves out what is untold and no two of several endpoints say.
func samplesOf[F market.Fact](ctx context.Context, s *Source, at chain.Ref, list []*call, fact func(i int, v market.Amount) F, doubt func(F) chain.Doubt,
) ([]F, error) {
	gone, err := s.calls(ctx, at, list)
	if err != nil || gone {
		return nil, err
	}
	doubtOf := func(i int, c *call) chain.Doubt {
		if v, ok := c.uint(); ok {
			return doubt(fact(i, v))
		}
		return chain.NoDoubt
	}
	var contradicted, untold []*call
	var of []int // the places of contradicted
	for i, c := range list {
		switch doubtOf(i, c) {
		case chain.Contradicted:
			contradicted, of = append(contradicted, c), append(of, i)
		case chain.Untold:
			untold = append(untold, c)
		case chain.NoDoubt:
		}
	}
	if len(contradicted) > 0 {
		expected := func(k int, c *call) bool { return c.ok && doubtOf(of[k], c) != chain.Contradicted }
		if err := s.second(ctx, blockParam(at), contradicted, expected); err != nil {
			return nil, err
		}
	}
	unsure, err := s.vouch(ctx, at, false, untold)
	if err != nil {
		return nil, err
	}
	for k, c := range untold {
		c.ok = c.ok && !unsure[k]
	}
	var out []F
	for i, c := range list {
		if v, ok := c.uint(); ok {
			out = append(out, fact(i, v))
		}
	}
	return out, nil
}

// Exists reports whether a contract had code at a block; known is false when no node keeps that block's state.
func (cs Contracts) Exists(ctx context.Context, contract market.Address, number uint64) (exists, known bool, err error) {
	exist, known, err := cs.AllExist(ctx, []market.Address{contract}, number)
	return known && exist[0], known, err
}

// AllExist is Exists for many contracts at once; exist is nil where known is false.
func (cs Contracts) AllExist(ctx context.Context, contracts []market.Address, number uint64) (exist []bool, known bool, err error) {
	exist = make([]bool, len(contracts))
	for first := 0; first < len(contracts); first += rpc.CallsAtOnce {
		part := contracts[first:min(first+rpc.CallsAtOnce, len(contracts))]
		err := cs.s.pool.Try(ctx, func(ctx context.Context, e *endpoint) error {
			reqs := make([]*rpc.Request, len(part))
			for i, c := range part {
				reqs[i] = node.CodeRequest(c, rpc.HexQuantity(number), &exist[first+i])
			}
			if err := e.KeepsState(ctx, rpc.HexQuantity(number)); err != nil {
				return err
			}
			return e.WithoutState(ctx, rpc.HexQuantity(number), e.Do(ctx, reqs...))
		})
		switch {
		case err != nil && node.StateMissing(err, number+lateBlocks > cs.s.seen.Load()):
			return nil, false, nil
		case err != nil:
			return nil, false, err
		}
	}
	return exist, true, nil
}
