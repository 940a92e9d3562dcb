package evm

import (
	"fmt"
	"math"
	"slices"

	check "github.com/boardwalkhq/boardwalk/indexer/trust"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/trust"
)

// ofIndex makes the checks of what is indexed.
func (l *look) ofIndex() *check.Indexed {
	return &check.Indexed{Known: l.known, Market: l.pool, Now: l.block.Time}
}

// supply is the token's total supply after the block, else the indexed one; ok is false where there is none.
func (l *look) supply() (v market.Amount, ok bool) {
	if v, ok = l.state.supply.Uint(); ok && !v.IsZero() {
		return v, true
	}
	if !l.known.Token.HasSupply {
		return market.Amount{}, false
	}
	return l.known.Token.Supply, !l.known.Token.Supply.IsZero()
}

// held is whether an account of a token's holders is nobody's in particular: burned, in a market, or locked.
func (l *look) held(a market.Address) bool {
	_, factory := l.c.managers[a]
	_, venue := l.c.contracts[a]
	pool := slices.ContainsFunc(l.known.Pools, func(p market.Pool) bool { return p.ID == a })
	curve := l.known.Launch != nil && l.known.Launch.Curve == a
	return isNobody(a) || factory || venue || pool || curve || slices.Contains(l.c.lockers, a)
}

func (l *look) top10(rule trust.Rule) trust.Check {
	supply, _ := l.supply()
	return l.ofIndex().Top10(rule, supply, l.held)
}

func (l *look) creatorHolding(rule trust.Rule) trust.Check {
	supply, ok := l.supply()
	if l.known.Launch == nil || l.known.Launch.Creator.IsNone() || !ok {
		return rule.Unknown(trust.NotIndexed)
	}
	has, ok := l.state.creatorHas.Uint()
	if !ok {
		return rule.Unknown(trust.CallFailed)
	}
	c := rule.Measure(check.Share(has, supply))
	c.Evidence = append(c.Evidence, l.evidence("call", l.known.Launch.Creator.String(),
		fmt.Sprintf("balanceOf answers %s, of a supply of %s", has.Dec(), supply.Dec())))
	return c
}

func (l *look) creatorHistory(rule trust.Rule) trust.Check { return l.ofIndex().CreatorHistory(rule) }

// supplyChange holds the supply against the oldest one that the token said. The wrapped coin's follows deposits.
func (l *look) supplyChange(rule trust.Rule) trust.Check {
	if l.mint == l.c.wrapped {
		c := rule.Pass(nil)
		c.Evidence = append(c.Evidence, l.evidence("account", l.mint.String(), "it wraps the chain's own coin, one for one"))
		return c
	}
	now, ok := l.state.supply.Uint()
	first := l.known.First
	switch {
	case first == nil || !first.HasSupply || first.Supply.IsZero():
		return rule.Unknown(trust.NotIndexed)
	case !ok:
		return rule.Unknown(trust.CallFailed)
	}
	c := rule.Measure(math.Round((now.Float64()/first.Supply.Float64()-1)*1e6) / 1e4)
	c.Evidence = append(c.Evidence,
		l.indexed(l.mint.String(), "the oldest known supply is "+first.Supply.Dec()),
		l.evidence("call", l.mint.String(), "totalSupply answers "+now.Dec()))
	return c
}

func (l *look) bundle(rule trust.Rule) trust.Check {
	supply, _ := l.supply()
	return l.ofIndex().Bundle(rule, supply)
}
