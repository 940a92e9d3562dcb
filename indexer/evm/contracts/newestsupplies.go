package contracts

import (
	"context"
	"sync"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/ethcall"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// newestSupplies are the supplies that one endpoint told after one block, in the order of the tokens; ok is false of those that it didn't tell.
type newestSupplies struct {
	by       *node.Endpoint
	after    chain.Ref
	supplies []suppliedAmount
}

type suppliedAmount struct {
	amount market.Amount
	ok     bool
}

// TellsNewestSupplies reports whether nodes seem to give no state but the newest: none gave that of the last recent block that was asked for.
func (cs Contracts) TellsNewestSupplies() bool { return cs.calls.NewestAlone.Load() }

// NewestSupplies asks tokens for their supply as it is now, which is that after the newest block if the block is the same before and after the question. Where there
// are several endpoints two have to say the same after the same block.
func (cs Contracts) NewestSupplies(ctx context.Context, noEarlier uint64, tokens []market.Address) (out []chain.SupplyAfter, err error) {
	if !cs.TellsNewestSupplies() {
		return nil, nil
	}
	list := cs.askedForNewest()
	told := make([]newestSupplies, len(list))
	var asking sync.WaitGroup
	for i, e := range list {
		asking.Go(func() { told[i] = cs.newestSuppliesOn(ctx, e, noEarlier, tokens) })
	}
	asking.Wait()
	for i, token := range tokens {
		if amount, after, ok := cs.agreedSupply(told, i); ok {
			out = append(out, chain.SupplyAfter{SupplyFact: market.SupplyFact{Token: token, Supply: amount}, After: after.Number, Hash: after.Hash})
		}
	}
	return out, ctx.Err()
}

// newestSuppliesOn asks one endpoint. It tells nothing where its newest block is an earlier one than is wanted.
func (cs Contracts) newestSuppliesOn(ctx context.Context, e *node.Endpoint, noEarlier uint64, tokens []market.Address) newestSupplies {
	out := newestSupplies{by: e}
	var calls []*ethcall.Call
	after, ok := cs.withinOneBlock(ctx, e, len(tokens), func(ctx context.Context, count int) error {
		calls = make([]*ethcall.Call, count)
		for i := range calls {
			calls[i] = &ethcall.Call{To: tokens[i], Data: ethcall.TotalSupply}
		}
		return ethcall.AskNewest(ctx, e, calls)
	})
	if !ok || after.Number < noEarlier {
		return out
	}
	out.after, out.supplies = after, make([]suppliedAmount, len(tokens))
	for i, c := range calls {
		out.supplies[i].amount, out.supplies[i].ok = c.Uint()
	}
	return out
}

// agreedSupply is the supply of the i-th token that two endpoints told alike after the same block, or that a chain's only endpoint told.
func (cs Contracts) agreedSupply(told []newestSupplies, i int) (amount market.Amount, after chain.Ref, ok bool) {
	var given []newestSupplies
	for _, t := range told {
		if i < len(t.supplies) && t.supplies[i].ok {
			given = append(given, t)
		}
	}
	if len(cs.pool.List) == 1 && len(given) == 1 {
		return given[0].supplies[i].amount, given[0].after, true
	}
	for k, a := range given {
		for _, b := range given[:k] {
			if a.after == b.after && a.supplies[i].amount == b.supplies[i].amount {
				amount, after, ok = a.supplies[i].amount, a.after, true
			}
		}
	}
	for _, t := range given {
		if ok && t.after == after && t.supplies[i].amount != amount {
			cs.calls.Contradicted(t.by)
		}
	}
	return amount, after, ok
}
