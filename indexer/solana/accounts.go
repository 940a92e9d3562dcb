package solana

import (
	"context"
	"fmt"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/solana/layout"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Accounts is the part of a Source that asks for accounts, which on Solana hold what contracts tell on other chains.
type Accounts struct{ s *Source }

// Accounts gives the part that asks for accounts, by the source's endpoints.
func (s *Source) Accounts() Accounts { return Accounts{s} }

// Exists reports whether an account is there now. No node tells it of an earlier block.
func (as Accounts) Exists(ctx context.Context, key market.Address, _ uint64) (exists, known bool, err error) {
	told, err := as.now(ctx, []market.Address{key})
	return err == nil && told[0].exists, err == nil, err
}

// AllExist tells nothing: nodes answer for now alone.
func (Accounts) AllExist(context.Context, []market.Address, uint64) (exist []bool, known bool, err error) {
	return nil, false, nil
}

// Paused says that nothing is: the programs have no state that says so.
func (Accounts) Paused(_ context.Context, accounts []market.Address) ([]bool, error) {
	return make([]bool, len(accounts)), nil
}

// now asks for accounts as they are now.
func (as Accounts) now(ctx context.Context, keys []market.Address) (told []account, err error) {
	err = as.s.pool.Try(ctx, func(ctx context.Context, e *endpoint) (err error) {
		told, err = e.accountsOn(ctx, keys, 0)
		return err
	})
	return told, err
}

// CheckDeclared holds the declared programs, tokens and accounts against what nodes have of them.
func (as Accounts) CheckDeclared(ctx context.Context, c *chainconfig.Chain) ([]chain.Declared, error) {
	list, check := declaredOf(c)
	keys := make([]market.Address, len(list))
	for i := range list {
		keys[i] = list[i].Address
	}
	told, err := as.now(ctx, keys)
	if err != nil {
		return nil, err
	}
	for i := range list {
		if list[i].Wrong = check[i](&told[i]); !told[i].exists {
			list[i].Wrong = "no account is there"
		}
	}
	return list, nil
}

// declaredOf are the declared addresses, each with what says why its account can't be right.
func declaredOf(c *chainconfig.Chain) (list []chain.Declared, check []func(*account) string) {
	add := func(a market.Address, f func(*account) string, what string, names ...any) {
		list, check = append(list, chain.Declared{What: fmt.Sprintf(what, names...), Address: a}), append(check, f)
	}
	isProgram := func(a *account) string {
		if !a.executable {
			return "its account is no program"
		}
		return ""
	}
	isToken := func(a *account) string {
		if _, ok := layout.MintOf(&a.Account); !ok {
			return "its account is no token's"
		}
		return ""
	}
	add(c.Native.Wrapped, isToken, "nativeAsset.wrapped")
	for _, q := range c.Quotes {
		add(q.Address, isToken, "quote asset %s", q.Symbol)
	}
	for _, m := range c.Majors {
		add(m.Address, isToken, "major %s", m.Asset)
	}
	for _, x := range c.Exchanges {
		add(x.Factory, isProgram, "factory of %s", x.Name)
	}
	for _, v := range c.Venues {
		for _, a := range v.Contracts {
			add(a, func(*account) string { return "" }, "account of venue %s", v.ID)
		}
	}
	return list, check
}
