package traction

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// bought are purchases of wallets 1, 2, … for 100 USD each, with their funding.
func bought(of ...market.Funding) (flows []Flow) {
	for i, f := range of {
		flows = append(flows, Flow{Wallet: address(i + 1), Time: clusterNow, USD: 100, Funding: f})
	}
	return flows
}

// TestBreakdownNamesClusters tells the wallets of each cluster, and who paid them.
func TestBreakdownNamesClusters(t *testing.T) {
	t.Parallel()
	flows := bought(paidBy(300, 0), oldWallet, notSeen, paidBy(300, 60), paidBy(4, 0), paidBy(99, 0), oldWallet, oldWallet)
	flows[4].USD = 120
	b := BreakDown(flows, []market.Address{address(99)}, 0, clusterNow)
	want := []Cluster{
		{Funder: address(300), Wallets: []market.Address{address(5), address(1), address(4)}, Share: 320.0 / 820},
		{Wallets: []market.Address{address(3)}, Share: 100.0 / 820},
		{Funder: address(99), Creator: true, Wallets: []market.Address{address(6)}, Share: 100.0 / 820},
	}
	equal := func(a, b Cluster) bool {
		return a.Funder == b.Funder && a.Creator == b.Creator && slices.Equal(a.Wallets, b.Wallets) && math.Abs(a.Share-b.Share) < 1e-12
	}
	if b.Buyers != 8 || !b.Trades || !slices.EqualFunc(b.Clusters, want, equal) {
		t.Errorf("%d buyers in clusters %+v, want 8 in %+v", b.Buyers, b.Clusters, want)
	}
	if b.Parts.Clusters != 5 {
		t.Errorf("%d independent buyers, want 5: three old wallets, a funder's and the unseen", b.Parts.Clusters)
	}
}

// TestBreakdownOfNothing: trades that have left the window, and those of excluded accounts, are nobody's.
func TestBreakdownOfNothing(t *testing.T) {
	t.Parallel()
	late := bought(paidBy(300, 0), oldWallet)
	for name, b := range map[string]Breakdown{
		"no trade":            BreakDown(nil, nil, 5000, clusterNow),
		"older ones":          BreakDown(late, nil, 5000, clusterNow+Window),
		"the creator's alone": BreakDown(late[:1], []market.Address{address(1)}, 5000, clusterNow),
	} {
		if b.Trades || b.Buyers != 0 || len(b.Clusters) != 0 {
			t.Errorf("%s: %+v", name, b)
		}
	}
	if b := BreakDown(late, nil, 5000, clusterNow+Window-1); !b.Trades || b.Buyers != 2 || len(b.Clusters) != 1 {
		t.Errorf("in the window's last second: %+v", b)
	}
}

// TestBreakdownIsTheMeasure holds the clusters by name against the parts, whatever trades there are: shares and numbers are the same, and no wallet is in two.
func TestBreakdownIsTheMeasure(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var flows []Flow
		for range rapid.IntRange(0, 80).Draw(t, "trades") {
			wallet := rapid.IntRange(1, 30).Draw(t, "wallet")
			f := Flow{
				Wallet: address(wallet), Time: clusterNow - rapid.Int64Range(0, 2*Window).Draw(t, "ago"),
				Sell: rapid.Bool().Draw(t, "sell"), USD: rapid.Float64Range(0.01, 5000).Draw(t, "usd"),
			}
			f.Funding.State, f.Funding.Age = market.FundingState(rapid.IntRange(0, 2).Draw(t, "state")), market.AgeState(rapid.IntRange(1, 2).Draw(t, "age"))
			if wallet%3 == 0 { // others send its transactions
				f.Funding.State, f.Funding.Age = market.FundingNotSeen, market.AgeUnknown
			}
			if f.Funding.State == market.FundingSeen {
				f.Funding.Funder, f.Funding.At = address(rapid.IntRange(25, 40).Draw(t, "funder")), f.Time
			}
			flows = append(flows, f)
		}
		flows = inOrder(flows)
		excluded := []market.Address{address(40), address(1)}
		liquidity := rapid.Float64Range(0, 50_000).Draw(t, "liquidity")
		b := BreakDown(flows, excluded, liquidity, clusterNow)

		tape, p := new(Tape), Parts{LiquidityUSD: liquidity}
		for _, who := range excluded {
			tape.Exclude(who)
		}
		for _, f := range flows {
			tape.Add(f)
		}
		if tape.Measure(&p, clusterNow); p != b.Parts {
			t.Fatalf("the parts are %+v, want %+v", b.Parts, p)
		}
		var all, creators float64
		in, traders := map[market.Address]bool{}, map[market.Address]bool{}
		for _, f := range flows {
			traders[f.Wallet] = true
		}
		for i, c := range b.Clusters {
			if i > 0 && c.Share > b.Clusters[i-1].Share {
				t.Fatalf("a larger cluster comes after a smaller one: %+v", b.Clusters)
			}
			if all += c.Share; c.Creator {
				creators += c.Share
			}
			for _, w := range c.Wallets {
				if in[w] || !traders[w] || w == address(1) {
					t.Fatalf("wallet %v is in two clusters, or didn't trade: %+v", w, b.Clusters)
				}
				in[w] = true
			}
		}
		if math.Abs(all-p.Fresh) > 1e-9 || math.Abs(creators-p.ByCreator) > 1e-9 {
			t.Fatalf("the clusters have shares of %v, and %v by the creator, want %v and %v", all, creators, p.Fresh, p.ByCreator)
		}
		if p.Clusters > b.Buyers {
			t.Fatalf("%d independent buyers of %d", p.Clusters, b.Buyers)
		}
		if !p.KnowsFunding && len(b.Clusters) > 0 {
			t.Fatalf("clusters where nothing is known of the funding: %+v", b.Clusters)
		}
	})
}

// TestWalletThatOthersTradeFor: what others traded for a wallet is in a cluster, what it traded itself is not, and it is one buyer.
func TestWalletThatOthersTradeFor(t *testing.T) {
	t.Parallel()
	flows := []Flow{
		{Wallet: address(1), Time: clusterNow, USD: 100, Funding: oldWallet},
		{Wallet: address(1), Time: clusterNow, USD: 50, Funding: contractFor},
		{Wallet: address(2), Time: clusterNow, USD: 50, Funding: notSeen},
		{Wallet: address(2), Time: clusterNow, USD: 30, Funding: contractFor},
	}
	b := BreakDown(flows, nil, 5000, clusterNow)
	if b.Buyers != 2 || len(b.Clusters) != 1 || !slices.Equal(b.Clusters[0].Wallets, []market.Address{address(2), address(1)}) || math.Abs(b.Clusters[0].Share-130.0/230) > 1e-9 {
		t.Errorf("the wallets are %+v", b)
	}
	tape := new(Tape)
	for _, f := range flows {
		tape.Add(f)
	}
	if h := tape.Hour(clusterNow); h.Buyers != 2 {
		t.Errorf("the hour has %d buyers, want 2", h.Buyers)
	}
}
