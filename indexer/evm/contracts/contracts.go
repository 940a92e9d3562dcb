// Package contracts asks the contracts of a chain about themselves: tokens, pools, factories and curves. How a call is made, and which answers to it count, is
// package ethcall.
package contracts

import (
	"context"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/ethcall"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Contracts asks contracts: tokens, pools, factories and curves. It also tells what transactions cost, and finds the logs by which pools were made.
type Contracts struct {
	pool    *rpc.Pool[*node.Endpoint]
	calls   *ethcall.Caller
	wrapped market.Address // the declared form of the native coin; none where none is declared
}

// New asks contracts by a caller and by its endpoints. Wrapped is the declared form of the native coin; none where none is declared.
func New(pool *rpc.Pool[*node.Endpoint], caller *ethcall.Caller, wrapped market.Address) Contracts {
	return Contracts{pool, caller, wrapped}
}

// TokenFacts asks tokens about themselves at a block. Where its state is gone, the answers are the newest ones, without
// a supply. Where there are several endpoints two have to give decimals and supply; unsure are the facts, by their place, of which they
// don't. Names and symbols are one endpoint's.
func (cs Contracts) TokenFacts(ctx context.Context, at chain.Ref, tokens []market.Address) (facts []market.TokenFact, unsure []bool, err error) {
	list := make([]*ethcall.Call, 0, 4*len(tokens))
	for _, t := range tokens {
		for _, data := range []string{callName, callSymbol, callDecimals, ethcall.TotalSupply} {
			list = append(list, &ethcall.Call{To: t, Data: data})
		}
	}
	gone, err := cs.calls.CallAtOrNewest(ctx, at, list)
	if err != nil {
		return nil, nil, err
	}
	unsure = make([]bool, len(tokens))
	var vouched []*ethcall.Call
	var of []int
	for i := range tokens {
		vouched, of = append(vouched, list[4*i+2]), append(of, i)
		if !gone {
			vouched, of = append(vouched, list[4*i+3]), append(of, i)
		}
	}
	open, err := cs.calls.Vouch(ctx, at, gone, vouched)
	if err != nil {
		return nil, nil, err
	}
	for k, i := range of {
		unsure[i] = unsure[i] || open[k]
	}
	out := make([]market.TokenFact, len(tokens))
	for i, t := range tokens {
		c := list[4*i:]
		f := market.TokenFact{Token: t, Name: c[0].Text(), Symbol: c[1].Text()}
		if d, ok := c[2].Uint(); ok && d.IsUint64() && d.Uint64() <= maxDecimals {
			f.HasDecimals, f.Decimals = true, uint8(d.Uint64())
		}
		if !gone {
			f.Supply, f.HasSupply = c[3].Uint()
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
	list := make([]*ethcall.Call, len(tokens))
	for i, t := range tokens {
		list[i] = &ethcall.Call{To: t, Data: ethcall.TotalSupply}
	}
	return samplesOf(ctx, cs.calls, at, list, func(i int, v market.Amount) market.SupplyFact {
		return market.SupplyFact{Token: tokens[i], Supply: v}
	}, doubt)
}

// Balances asks tokens for accounts' balances at the end of a block; those that don't answer are left out, all of them
// when the block's state is gone. A balance that doubt names is doubted as chain.Contradicted is.
func (cs Contracts) Balances(ctx context.Context, at chain.Ref, keys []market.BalanceKey, doubt func(market.Fact) bool,
) ([]market.BalanceFact, error) {
	list := make([]*ethcall.Call, len(keys))
	for i, k := range keys {
		list[i] = &ethcall.Call{To: k.Token, Data: callBalanceOf + word(k.Account)}
	}
	return samplesOf(ctx, cs.calls, at, list, func(i int, v market.Amount) market.BalanceFact {
		return market.BalanceFact{Token: keys[i].Token, Account: keys[i].Account, Amount: v}
	}, func(f market.BalanceFact) chain.Doubt {
		if doubt(f) {
			return chain.Contradicted
		}
		return chain.NoDoubt
	})
}

// samplesOf runs calls that answer with a number, of which fact makes a fact. It leaves out what is untold and no two of several endpoints say.
func samplesOf[F market.Fact](ctx context.Context, caller *ethcall.Caller, at chain.Ref, list []*ethcall.Call, fact func(i int, v market.Amount) F, doubt func(F) chain.Doubt,
) ([]F, error) {
	gone, err := caller.CallAt(ctx, at, list)
	if err != nil || gone {
		return nil, err
	}
	doubtOf := func(i int, c *ethcall.Call) chain.Doubt {
		if v, ok := c.Uint(); ok {
			return doubt(fact(i, v))
		}
		return chain.NoDoubt
	}
	var contradicted, untold []*ethcall.Call
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
		expected := func(k int, c *ethcall.Call) bool { return c.OK && doubtOf(of[k], c) != chain.Contradicted }
		if err := caller.Second(ctx, at, contradicted, expected); err != nil {
			return nil, err
		}
	}
	unsure, err := caller.Vouch(ctx, at, false, untold)
	if err != nil {
		return nil, err
	}
	for k, c := range untold {
		c.OK = c.OK && !unsure[k]
	}
	var out []F
	for i, c := range list {
		if v, ok := c.Uint(); ok {
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
		err := cs.pool.Try(ctx, func(ctx context.Context, e *node.Endpoint) error {
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
		case err != nil && node.StateMissing(err, cs.calls.IsRecent(number)):
			return nil, false, nil
		case err != nil:
			return nil, false, err
		}
	}
	return exist, true, nil
}
