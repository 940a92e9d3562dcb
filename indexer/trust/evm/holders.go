package evm

import (
	"fmt"
	"math"
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/trust"
)

// supply is the token's total supply after the block, else the indexed one; ok is false where there is none.
func (l *look) supply() (v market.Amount, ok bool) {
	if v, ok = l.state.supply.Uint(); ok && !v.IsZero() {
		return v, true
	}
	return l.known.Token.Supply, l.known.Token.HasSupply && !l.known.Token.Supply.IsZero()
}

// share is part of the whole in percent, to four decimals.
func share(part, whole market.Amount) float64 {
	return math.Round(part.Float64()/whole.Float64()*1e6) / 1e4
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
	supply, ok := l.supply()
	if l.known.Token.Holders.Status != market.HoldersCurrent || !ok {
		return rule.Unknown(trust.NotIndexed)
	}
	var sum market.Amount
	n := 0
	for _, h := range l.known.Holders {
		if n < 10 && !l.held(h.Account) {
			sum.Add(&sum, &h.Amount)
			n++
		}
	}
	c := rule.Measure(share(sum, supply))
	c.Evidence = append(c.Evidence, l.indexed(l.mint.String(),
		fmt.Sprintf("the %d largest of %d accounts, of a supply of %s", n, l.known.Token.Holders.Count, supply.Dec())))
	return c
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
	c := rule.Measure(share(has, supply))
	c.Evidence = append(c.Evidence, l.evidence("call", l.known.Launch.Creator.String(),
		fmt.Sprintf("balanceOf answers %s, of a supply of %s", has.Dec(), supply.Dec())))
	return c
}

// creatorHistory judges the launches on curves before this one. Where tokens are live pools from the start none can graduate,
// so that it says nothing against them.
func (l *look) creatorHistory(rule trust.Rule) trust.Check {
	launch := l.known.Launch
	if launch == nil || launch.Creator.IsNone() {
		return rule.Unknown(trust.NotIndexed)
	}
	before, graduated := l.known.CreatorLaunches, l.known.CreatorGraduated
	c := trust.History(rule, before, graduated)
	if launch.State == market.LaunchLive {
		c = rule.Pass(float64(before))
	}
	c.Evidence = append(c.Evidence, l.indexed(launch.Creator.String(),
		fmt.Sprintf("%d launches on curves before this one, %d of them left their curve", before, graduated)))
	return c
}

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

// bundle is what was bought in the block of the launch, but by the creator, whose holding is a check of its own.
func (l *look) bundle(rule trust.Rule) trust.Check {
	supply, ok := l.supply()
	if l.known.Launch == nil || !l.known.HasFirstTrades || !ok {
		return rule.Unknown(trust.NotIndexed)
	}
	var sum market.Amount
	buyers := map[market.Address]bool{}
	for i := range l.known.FirstTrades {
		t := &l.known.FirstTrades[i]
		if t.Block == l.known.Launch.Block && !t.Sell && t.Trader != l.known.Launch.Creator {
			sum.Add(&sum, &t.BaseAmount)
			if !t.Trader.IsNone() {
				buyers[t.Trader] = true
			}
		}
	}
	c := rule.Measure(share(sum, supply))
	e := l.indexed(l.mint.String(), fmt.Sprintf("%d accounts bought %s in the block of the launch", len(buyers), sum.Dec()))
	e.Block = l.known.Launch.Block
	c.Evidence = append(c.Evidence, e)
	return c
}
