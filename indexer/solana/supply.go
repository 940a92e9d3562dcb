package solana

import (
	"context"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/solana/layout"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// TellsNewestSupplies reports that nodes tell supplies as they are now, and not those of a given block.
func (Accounts) TellsNewestSupplies() bool { return true }

// NewestSupplies asks for the supplies of tokens as they are now. Of several endpoints two have to say the same, each of the newest block that it has; the supply
// then holds for the later one of both. One that changes from block to block may take several calls of this.
func (as Accounts) NewestSupplies(ctx context.Context, noEarlier uint64, tokens []market.Address) ([]chain.SupplyAfter, error) {
	first, by, err := as.suppliesBut(ctx, nil, noEarlier, tokens)
	if lacks(err) {
		return nil, nil // no endpoint has come so far: they are asked for again later
	}
	if err != nil || len(as.s.pool.List) == 1 {
		return present(first), err
	}
	second, _, err := as.suppliesBut(ctx, by, noEarlier, tokens)
	if err != nil {
		return nil, ctx.Err() // nobody confirms them
	}
	for i := range first {
		a, b := first[i], second[i]
		switch {
		case a == nil || b == nil || max(a.After, b.After)-min(a.After, b.After) > ahead:
			first[i] = nil
		case a.Supply == b.Supply:
			a.After = max(a.After, b.After)
		default:
			if a.After == b.After {
				as.s.tell(chain.Aside{Kind: "token", Subject: a.Token.String(), Reason: chain.EndpointsDiffer})
			}
			first[i] = nil
		}
	}
	return present(first), nil
}

// suppliesBut asks one endpoint, but not a given one. What is no token has none.
func (as Accounts) suppliesBut(ctx context.Context, but *endpoint, noEarlier uint64, tokens []market.Address) (out []*chain.SupplyAfter, by *endpoint, err error) {
	var accounts []account
	err = as.s.pool.TryOf(ctx, as.s.pool.Others(but), func(ctx context.Context, e *endpoint) (err error) {
		by = e
		accounts, err = e.accountsOn(ctx, tokens, noEarlier)
		return err
	})
	if err != nil {
		return nil, by, err
	}
	out = make([]*chain.SupplyAfter, len(tokens))
	newest := max(noEarlier, as.s.highest()) + ahead // nobody is further
	for i, token := range tokens {
		if m, ok := layout.MintOf(&accounts[i].Account); ok && token != wrappedSOL && accounts[i].slot <= newest {
			out[i] = &chain.SupplyAfter{SupplyFact: market.SupplyFact{Token: token}, After: accounts[i].slot}
			out[i].Supply.SetUint64(m.Supply)
		}
	}
	return out, by, nil
}

func present(list []*chain.SupplyAfter) (out []chain.SupplyAfter) {
	for _, s := range list {
		if s != nil {
			out = append(out, *s)
		}
	}
	return out
}
