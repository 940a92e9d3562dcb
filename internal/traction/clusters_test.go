package traction

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

const clusterNow = 1_700_000_000

// paidBy is the funding of a new wallet that an account paid so many seconds before.
func paidBy(funder int, ago int64) market.Funding {
	return market.Funding{State: market.FundingSeen, Funder: address(funder), At: clusterNow - ago, Age: market.AgeNew, First: clusterNow}
}

var (
	oldWallet   = market.Funding{State: market.FundingSeen, Funder: address(500), At: clusterNow, Age: market.AgeOld}
	notSeen     = market.Funding{State: market.FundingNotSeen, Age: market.AgeNew, First: clusterNow}
	contractFor = market.Funding{State: market.FundingNotSeen} // somebody else sent the transaction
)

// buying is a tape of wallets 1, 2, … that buy for 100 USD each, with their funding.
func buying(of ...market.Funding) *Tape {
	t := new(Tape)
	for i, f := range of {
		t.Add(Flow{Wallet: address(i + 1), Time: clusterNow, USD: 100, Funding: f})
	}
	return t
}

// TestClusters tells who counts together, and as how many.
func TestClusters(t *testing.T) {
	t.Parallel()
	day, half := int64(freshFor), func(n float64) float64 { return effective(n / 2) }
	for name, c := range map[string]struct {
		tape     *Tape
		buyers   float64
		clusters int
	}{
		"nothing is known":                     {buying(market.Funding{}, market.Funding{}), 2, 2},
		"old wallets that one account paid":    {buying(oldWallet, oldWallet, oldWallet), 3, 3},
		"new wallets that one account paid":    {buying(paidBy(300, day), paidBy(300, day), paidBy(300, day)), 2, 1},
		"just now":                             {buying(paidBy(300, 0), paidBy(300, 0), paidBy(300, 0)), half(3), 1},
		"half a day ago":                       {buying(paidBy(300, day/2)), effective(0.75), 1},
		"longer ago than a day":                {buying(paidBy(300, 2*day)), 1, 1},
		"after the clock":                      {buying(paidBy(300, -50)), half(1), 1},
		"by several":                           {buying(paidBy(300, day), paidBy(301, day), paidBy(302, day)), 3, 3},
		"nobody was seen to pay them":          {buying(notSeen, notSeen, contractFor), half(3), 1},
		"each paid the next":                   {buying(paidBy(300, day), paidBy(1, day), paidBy(2, day)), 2, 1},
		"each paid the one before":             {buying(paidBy(2, day), paidBy(3, day), paidBy(300, day)), 2, 1},
		"in a ring":                            {buying(paidBy(3, day), paidBy(1, day), paidBy(2, day)), 2, 1},
		"an old wallet that paid two":          {buying(oldWallet, paidBy(1, day), paidBy(1, day)), 2, 1},
		"a wallet that nobody was seen to pay": {buying(notSeen, paidBy(1, day)), effective(1.5), 1},
		"one that paid itself":                 {buying(paidBy(1, day), oldWallet), 2, 2},
		"two rings":                            {buying(paidBy(2, day), paidBy(1, day), paidBy(4, day), paidBy(3, day)), 2 * math.Log2(3), 2},
	} {
		var p Parts
		c.tape.Measure(&p, clusterNow)
		if math.Abs(p.Buyers-c.buyers) > 1e-12 || p.Clusters != c.clusters {
			t.Errorf("%s: %v buyers in %d clusters, want %v in %d", name, p.Buyers, p.Clusters, c.buyers, c.clusters)
		}
		if known := name != "nothing is known"; p.KnowsFunding != known {
			t.Errorf("%s: knows the funding: %v", name, p.KnowsFunding)
		}
	}
}

// TestVolumeOfClusters: a cluster adds no more to the volume than one wallet may. The share of fresh money is of what the wallets trade themselves.
func TestVolumeOfClusters(t *testing.T) {
	t.Parallel()
	tape := new(Tape)
	for i := range 20 {
		f := oldWallet
		if i < 10 {
			f = paidBy(300, 0)
		}
		tape.Add(Flow{Wallet: address(i + 1), Time: clusterNow, USD: 200, Funding: f})
	}
	p := Parts{LiquidityUSD: 6000}
	tape.Measure(&p, clusterNow)
	if want := 300.0 + 10*200; math.Abs(p.VolumeUSD-want) > 1e-9 || p.Fresh != 0.5 {
		t.Errorf("the volume is %v, want %v; the fresh share is %v, want a half", p.VolumeUSD, want, p.Fresh)
	}
}

// TestWhoTheCreatorPaidCountsForNobody: neither do those whom these paid, whenever the creator is known.
func TestWhoTheCreatorPaidCountsForNobody(t *testing.T) {
	t.Parallel()
	for _, early := range []bool{false, true} {
		tape := new(Tape)
		if early {
			tape.Exclude(address(99))
		}
		for i, f := range []market.Funding{paidBy(99, 0), paidBy(1, 0), oldWallet, oldWallet, oldWallet, oldWallet, oldWallet} {
			tape.Add(Flow{Wallet: address(i + 1), Time: clusterNow, USD: 100, Funding: f})
		}
		tape.Exclude(address(99))
		var p Parts
		tape.Measure(&p, clusterNow)
		if p.Buyers != 5 || p.Clusters != 5 || math.Abs(p.VolumeUSD-500) > 1e-9 || math.Abs(p.ByCreator-2.0/7) > 1e-9 {
			t.Errorf("creator known early: %v: %+v; want five buyers for 500 USD, and 2/7 of the volume by the creator", early, p)
		}
	}
}

// member is a wallet of the naive model of clusters. Those whose trades others sent have numbers above foreigners.
type member struct {
	wallet, funder int
	state          market.FundingState
	old            bool
	usd            float64
}

const foreigners = 1000

// drawMember draws a trade of one of n wallets.
func drawMember(t *rapid.T, n int) (m member, f market.Funding) {
	m = member{wallet: rapid.IntRange(1, n).Draw(t, "wallet"), funder: rapid.IntRange(1, n+5).Draw(t, "funder"), state: market.FundingState(rapid.IntRange(0, 2).Draw(t, "state"))}
	f = market.Funding{State: m.state, At: clusterNow - freshFor, Age: market.AgeNew}
	if m.state == market.FundingSeen {
		f.Funder = address(m.funder)
	}
	switch rapid.IntRange(0, 3).Draw(t, "age") {
	case 0:
		m.old, f.Age = true, market.AgeOld
	case 1:
		if f.Age = market.AgeUnknown; m.state != market.FundingUnknown {
			m.wallet += foreigners
		}
	}
	m.usd = rapid.SampledFrom([]float64{0.5, 1, 10}).Draw(t, "usd")
	return m, f
}

// naiveClusters says which wallets count together: the names are equal of those that do.
func naiveClusters(members []member) map[int]int {
	name := map[int]int{}
	for _, m := range members {
		name[m.wallet] = m.wallet
	}
	join := func(a, b int) {
		from, to := name[a], name[b]
		for k, v := range name {
			if v == from {
				name[k] = to
			}
		}
	}
	const unseenName = -1
	for _, m := range members {
		with := m.funder
		switch {
		case m.old || m.state == market.FundingUnknown:
			continue
		case m.state == market.FundingNotSeen:
			with = unseenName
		}
		if _, ok := name[with]; !ok {
			name[with] = with
		}
		join(m.wallet, with)
	}
	return name
}

// TestClustersOfAnyTrades holds clusters against a naive model, whatever trades there are, in whatever order wallets came, pruned or not. Wallets that are silent count for nobody.
func TestClustersOfAnyTrades(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "wallets")
		newest, tape := map[int]member{}, new(Tape)
		var order []int
		trade := func(at int64) {
			m, f := drawMember(t, n)
			if at == clusterNow-Window {
				m.usd = 1e-9
			}
			tape.Add(Flow{Wallet: address(m.wallet % foreigners), Time: at, USD: m.usd, Funding: f})
			if at == clusterNow-Window {
				return
			}
			if before, ok := newest[m.wallet]; ok {
				m.usd += before.usd
			} else {
				order = append(order, m.wallet)
			}
			newest[m.wallet] = m
		}
		for range rapid.IntRange(0, n).Draw(t, "silent") {
			trade(clusterNow - Window)
		}
		for range rapid.IntRange(n, 3*n).Draw(t, "trades") {
			trade(clusterNow - 1)
			if rapid.IntRange(0, 9).Draw(t, "prune") == 0 {
				tape.Prune(clusterNow)
			}
		}
		members := make([]member, 0, n)
		for _, w := range order {
			members = append(members, newest[w])
		}
		sums, name := map[int]float64{}, naiveClusters(members)
		for _, m := range members {
			share := min(1, m.usd/walletUSD)
			if m.state == market.FundingNotSeen && !m.old {
				share *= freshShare
			}
			sums[name[m.wallet]] += share
		}
		want := 0.0
		for _, k := range order {
			of := name[k]
			want += effective(sums[of])
			sums[of] = 0
		}
		var p Parts
		if tape.Measure(&p, clusterNow); math.Abs(p.Buyers-want) > 1e-3*want+1e-6 {
			t.Fatalf("%v buyers, want %v of %+v", p.Buyers, want, members)
		}
	})
}

// TestStrangersLowerNoScore: whatever strangers buy and sell, whoever paid them and whatever they pay each other, the score is no lower than without them.
func TestStrangersLowerNoScore(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		liquidity := rapid.SampledFrom([]float64{0, 5_000, 80_000}).Draw(t, "liquidity")
		draw := func(who string, most, from, to, funders int) (flows []Flow) {
			for range rapid.IntRange(0, most).Draw(t, who) {
				f := Flow{
					Wallet: address(rapid.IntRange(from, to).Draw(t, "wallet")), Time: washNow - rapid.Int64Range(0, Window-1).Draw(t, "age"),
					Sell: rapid.Bool().Draw(t, "sell"), USD: rapid.OneOf(rapid.Float64Range(0.01, 500), rapid.Float64Range(1, 1e6)).Draw(t, "usd"),
				}
				f.Funding.State = market.FundingState(rapid.IntRange(0, 2).Draw(t, "state"))
				if f.Funding.At = f.Time - rapid.Int64Range(0, freshFor).Draw(t, "paid"); f.Funding.State == market.FundingSeen {
					f.Funding.Funder = address(rapid.OneOf(rapid.IntRange(200, 205), rapid.IntRange(from, from+funders)).Draw(t, "funder"))
				}
				f.Funding.Age = market.AgeState(rapid.IntRange(0, 2).Draw(t, "age known"))
				flows = append(flows, f)
			}
			return flows
		}
		// Some accounts pay honest wallets and strangers, as those of exchanges.
		honest, strangers := draw("honest", 60, 1, 30, 5), draw("strangers", 60, 101, 130, 20)
		for i := range honest { // who trades by others' transactions is in the cluster of whoever paid the most, which a stranger may be
			if f := &honest[i]; f.Funding.State != market.FundingUnknown && f.Funding.Age == market.AgeUnknown {
				f.Funding.Age = market.AgeNew
			}
		}
		for i := range strangers { // they buy for honest wallets, and for those of exchanges, too
			if f := &strangers[i]; f.Funding.State != market.FundingUnknown && f.Funding.Age == market.AgeUnknown {
				f.Wallet, f.Sell = address(rapid.OneOf(rapid.IntRange(1, 30), rapid.IntRange(200, 205)).Draw(t, "for")), false // nobody sells others' tokens
			}
		}
		alone := scoreOf(inOrder(honest), liquidity)
		with := scoreOf(inOrder(append(slices.Clone(honest), strangers...)), liquidity)
		if with < alone*(1-1e-9)-1e-9 {
			t.Fatalf("with strangers the score falls from %v to %v", alone, with)
		}
	})
}

// TestSalesThatOthersSend: what others' transactions sell for a wallet that trades by itself counts against what it bought, and what they buy for it doesn't count for it.
func TestSalesThatOthersSend(t *testing.T) {
	t.Parallel()
	bought := Flow{Wallet: address(1), Time: clusterNow, USD: 100, Funding: oldWallet}
	sold := Flow{Wallet: address(1), Time: clusterNow, USD: 100, Sell: true, Funding: contractFor}
	gift := Flow{Wallet: address(1), Time: clusterNow, USD: 100, Funding: contractFor}
	for name, c := range map[string]struct {
		flows  []Flow
		buyers float64
		wash   float64
	}{
		"bought, and sold by others":         {[]Flow{bought, sold}, 0, 1},
		"sold by others alone":               {[]Flow{sold}, 0, 0},
		"bought, and bought for it":          {[]Flow{bought, gift}, 1.5, 0},
		"bought for it, and sold by others":  {[]Flow{gift, sold}, 0, 1},
		"bought for it, bought, sold by all": {[]Flow{gift, bought, sold}, 0.5, 2.0 / 3},
	} {
		var tape Tape
		for _, f := range c.flows {
			tape.Add(f)
		}
		var p Parts
		if tape.Measure(&p, clusterNow); math.Abs(p.Buyers-c.buyers) > 1e-9 || math.Abs(p.Wash-c.wash) > 1e-9 {
			t.Errorf("%s: %v buyers and a wash of %v, want %v and %v", name, p.Buyers, p.Wash, c.buyers, c.wash)
		}
	}
}
