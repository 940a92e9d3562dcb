package trust

import (
	"fmt"
	"math"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/trust"
)

// The sources of figures, values of the API's open enumeration.
const (
	FromAccounts   = "rpc_accounts"
	FromSimulation = "rpc_simulation"
	FromTransfers  = "chain_transfers"
	FromSwaps      = "chain_swaps"
	FromLaunches   = "chain_launches"
	FromReserves   = "pool_reserves"
	FromCurve      = "curve_state"
)

// Indexed makes the checks that every family makes alike: of what is indexed of a token.
type Indexed struct {
	*Known

	// Market is the pool or curve in which the token is traded; nil where it is none.
	Market *market.Pool
	// Now is the time of the block that the token is looked at after, in unix seconds.
	Now int64
}

// Evidence makes the evidence for what the index says at its newest block.
func (x *Indexed) Evidence(ref, detail string) trust.Evidence {
	return trust.Evidence{Kind: "index", Ref: ref, Block: x.Block.Number, Detail: detail}
}

// Share is part of the whole in percent, to four decimals.
func Share(part, whole market.Amount) float64 {
	return math.Round(part.Float64()/whole.Float64()*1e6) / 1e4
}

// MainPool is the pool that prices the token, else the one that its launch announced, else the one with the most in it, of those that are usable; nil when
// there is none.
func (k *Known) MainPool(usable func(*market.Pool) bool) *market.Pool {
	// beyond is more than any pool holds, in USD.
	const beyond = 1e12
	var best *market.Pool
	rank := func(p *market.Pool) float64 {
		r := p.Locked * k.USD[p.Quote]
		switch {
		case p.ID == k.Token.Pool:
			return math.Inf(1)
		case k.Launch != nil && p.ID == k.Launch.Pool:
			return math.MaxFloat64
		case p.Untrusted != market.Trusted:
			return r - beyond
		}
		return r
	}
	for i := range k.Pools {
		p := &k.Pools[i]
		if usable(p) && (best == nil || rank(p) > rank(best)) {
			best = p
		}
	}
	return best
}

// Top10 checks how much the ten largest holders have. It leaves out the accounts of which held reports that they are nobody's in particular.
func (x *Indexed) Top10(rule trust.Rule, supply market.Amount, held func(market.Address) bool) trust.Check {
	if x.Token.Holders.Status != market.HoldersCurrent || supply.IsZero() {
		return rule.Unknown(trust.NotIndexed)
	}
	var sum market.Amount
	n := 0
	for _, h := range x.Holders {
		if n < 10 && !held(h.Account) {
			sum.Add(&sum, &h.Amount)
			n++
		}
	}
	c := rule.Measure(Share(sum, supply))
	c.Evidence = append(c.Evidence, x.Evidence(x.Token.Mint.String(),
		fmt.Sprintf("the %d largest of %d accounts, of a supply of %s", n, x.Token.Holders.Count, supply.Dec())))
	return c
}

// CreatorHistory judges the launches on curves before this one. Where tokens are live pools from the start none can graduate,
// so that it says nothing against them.
func (x *Indexed) CreatorHistory(rule trust.Rule) trust.Check {
	if x.Launch == nil || x.Launch.Creator.IsNone() {
		return rule.Unknown(trust.NotIndexed)
	}
	before, graduated := x.CreatorLaunches, x.CreatorGraduated
	c := trust.History(rule, before, graduated)
	if x.Launch.State == market.LaunchLive {
		c = rule.Pass(float64(before))
	}
	c.Evidence = append(c.Evidence, x.Evidence(x.Launch.Creator.String(),
		fmt.Sprintf("%d launches on curves before this one, %d of them left their curve", before, graduated)))
	return c
}

// Bundle checks how much was bought in the block of the launch. The creator's purchases don't count: their holding is a check of its own.
func (x *Indexed) Bundle(rule trust.Rule, supply market.Amount) trust.Check {
	if x.Launch == nil || !x.HasFirstTrades || supply.IsZero() {
		return rule.Unknown(trust.NotIndexed)
	}
	var sum market.Amount
	buyers := map[market.Address]bool{}
	for i := range x.FirstTrades {
		t := &x.FirstTrades[i]
		if t.Block == x.Launch.Block && !t.Sell && t.Trader != x.Launch.Creator {
			sum.Add(&sum, &t.BaseAmount)
			if !t.Trader.IsNone() {
				buyers[t.Trader] = true
			}
		}
	}
	c := rule.Measure(Share(sum, supply))
	e := x.Evidence(x.Token.Mint.String(), fmt.Sprintf("%d accounts bought %s in the block of the launch", len(buyers), sum.Dec()))
	e.Block = x.Launch.Block
	c.Evidence = append(c.Evidence, e)
	return c
}

// Depth checks how much the market holds, both sides, in USD, and names the amount that moves the price by 2 % beside. A curve holds what it raised
// and gives it back for what it sold, so that there is nothing to fall below.
func (x *Indexed) Depth(rule trust.Rule) trust.Check {
	if x.Market == nil {
		return rule.Unknown(trust.NoPool)
	}
	usd, ok := x.USD[x.Market.Quote]
	if !ok || usd <= 0 || x.Market.Untrusted == market.UntrustedTicks {
		return rule.Unknown(trust.NotIndexed)
	}
	value := cents(x.Market.Locked * usd)
	c, holds := rule.Measure(value), "it holds"
	if !x.Market.Window.IsWhole() { // there may be more beyond its ends
		if holds = "it holds at least"; c.Result != trust.Pass {
			return rule.Unknown(trust.NotIndexed)
		}
	}
	if x.Market.Protocol == market.BondingCurve {
		c = rule.Pass(value)
		c.Source = FromCurve
	}
	c.Evidence = append(c.Evidence, x.Evidence(x.Market.ID.String(),
		fmt.Sprintf("%s %.2f USD; sales of %.2f USD move the price by 2 %%", holds, value, cents(x.Market.Depth*usd))))
	return c
}

func cents(usd float64) float64 { return math.Round(usd*100) / 100 }

// PairAge checks how long the token has had a market.
func (x *Indexed) PairAge(rule trust.Rule) trust.Check {
	var created int64
	ref := x.Token.Mint.String()
	if x.Market != nil {
		created, ref = x.Market.CreatedAt, x.Market.ID.String()
	}
	if launch := x.Launch; launch != nil && launch.CreatedAt > 0 && (created == 0 || launch.CreatedAt < created) {
		created, ref = launch.CreatedAt, launch.Tx.String()
	}
	if created <= 0 {
		return rule.Unknown(trust.NotIndexed)
	}
	c := rule.Measure(float64(max(0, x.Now-created)))
	c.Evidence = append(c.Evidence, x.Evidence(ref, fmt.Sprintf("created at %d, unix seconds", created)))
	return c
}
