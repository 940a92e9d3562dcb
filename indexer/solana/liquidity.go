package solana

import (
	"context"
	"fmt"

	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/indexer/solana/layout"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Liquidity is what a node tells of who can take a pool's liquidity out, after the block of a slot.
type Liquidity struct {
	layout.Shares

	Slot uint64
	// Left is how many shares exist now, as the account of their token says. What Whole has beyond that was burned.
	Left uint64
	// Held is how many shares each of the owners has that the question named.
	Held []Holding
}

// Liquidity asks for a pool's shares, and for what some owners have of them in their usual accounts. known is false where the account belongs to another
// program, is no pool of this protocol, or its shares aren't there.
func (as Accounts) Liquidity(ctx context.Context, pool *market.Pool, owners []market.Address) (out Liquidity, known bool, err error) {
	err = as.s.pool.Try(ctx, func(ctx context.Context, e *endpoint) error {
		known = false
		told, err := e.accountsOn(ctx, []market.Address{pool.ID}, 0)
		if err != nil {
			return err
		}
		shares, ok := sharesOf(pool, &told[0])
		out = Liquidity{Slot: told[0].slot, Shares: shares}
		if known = ok; !ok || shares.Token.IsNone() {
			return nil
		}
		known, err = e.askShares(ctx, pool, owners, &out)
		return err
	})
	return out, known && err == nil, err
}

// sharesOf reads a pool's account, which must be of the pool's program.
func sharesOf(pool *market.Pool, a *account) (layout.Shares, bool) {
	if a.Owner != pool.Factory {
		return layout.Shares{}, false
	}
	return layout.SharesOf(pool.Protocol, &a.Account)
}

// askShares asks for a pool once more, with the token of its shares and what owners have of it, so that all of it is of one slot. Only this answer
// tells which token program has the shares.
func (e *endpoint) askShares(ctx context.Context, pool *market.Pool, owners []market.Address, out *Liquidity) (known bool, err error) {
	programs := []market.Address{layout.TokenProgram, layout.Token2022Program}
	keys := []market.Address{pool.ID, out.Token}
	for _, p := range programs {
		for _, o := range owners {
			keys = append(keys, layout.UsualAccountOf(o, p, out.Token))
		}
	}
	told, err := e.accountsOn(ctx, keys, out.Slot)
	if err != nil {
		return false, err
	}
	shares, ok := sharesOf(pool, &told[0])
	if !ok || shares.Token != out.Token {
		return false, fmt.Errorf("%w: pool %s has other shares than a moment ago", rpc.ErrGarbage, pool.ID)
	}
	m, ok := layout.MintOf(&told[1].Account)
	*out = Liquidity{Shares: shares, Slot: told[0].slot, Left: m.Supply}
	for i, p := range programs {
		if told[1].Owner != p {
			continue
		}
		for j, o := range owners {
			at := 2 + i*len(owners) + j
			out.Held = append(out.Held, Holding{Owner: o, Account: keys[at], Slot: told[at].slot, Amount: layout.HeldBy(o, p, out.Token, &told[at].Account)})
		}
	}
	return ok, nil
}
