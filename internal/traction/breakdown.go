package traction

import (
	"cmp"
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Breakdown names the wallets behind the parts of a score. A Tape keeps no addresses, so that it can't.
type Breakdown struct {
	Parts Parts
	// Buyers is the number of wallets within the window that bought more than they sold, without those whose trades are round trips.
	Buyers int
	// Trades says that a wallet that isn't excluded traded within the window.
	Trades bool
	// Clusters lists the clusters of wallets that don't count by themselves, the largest share first.
	Clusters []Cluster
}

// Cluster is a number of wallets that count together.
type Cluster struct {
	// Funder is the account that paid the wallets, directly or through others of them. It is none where nobody was seen to pay them.
	Funder market.Address
	// Creator says that one who has part in the launch paid the wallets.
	Creator bool
	// Wallets lists the cluster's wallets that traded within the window, the largest organic volume first.
	Wallets []market.Address
	// Share is the wallets' share of the organic volume before the clusters' bounds, as Parts.Fresh is: from 0 to 1.
	Share float64
}

// BreakDown measures one token's trades, which come in order of time, as a Tape does that leaves the excluded accounts out.
func BreakDown(flows []Flow, excluded []market.Address, liquidityUSD float64, now int64) Breakdown {
	var t Tape
	for _, who := range excluded {
		t.Exclude(who)
	}
	addresses := make(map[uint64]market.Address)
	for i := range flows {
		f := &flows[i]
		t.Add(*f)
		addresses[key(f.Wallet)] = f.Wallet
		if f.Funding.State == market.FundingSeen {
			addresses[key(f.Funding.Funder)] = f.Funding.Funder
		}
	}
	out := Breakdown{Parts: Parts{LiquidityUSD: liquidityUSD}}
	t.Measure(&out.Parts, now)
	t.breakDown(&out, max(now, t.last), addresses)
	return out
}

// memberWallet is a wallet of a cluster.
type memberWallet struct {
	wallet  market.Address
	organic float64
}

// addMember adds what a wallet traded by itself, or by others' transactions; mayBeIn says that the list may have the wallet.
func addMember(list []memberWallet, wallet market.Address, organic float64, mayBeIn bool) []memberWallet {
	if mayBeIn {
		if n := slices.IndexFunc(list, func(m memberWallet) bool { return m.wallet == wallet }); n >= 0 {
			list[n].organic += organic
			return list
		}
	}
	return append(list, memberWallet{wallet, organic})
}

// breakDown lists the clusters' wallets, whose addresses are given by their keys.
func (t *Tape) breakDown(out *Breakdown, now int64, addresses map[uint64]market.Address) {
	m, scale := measuring{ceiling: max(walletFloorUSD, walletShare*out.Parts.LiquidityUSD)}, t.scale(now)
	sums, payers := t.joinClusters(nil, now)
	members, buyers := make([][]memberWallet, len(sums)), make(map[uint64]bool)
	for n := range t.wallets.list {
		w := &t.wallets.list[n]
		if w.silent(now) {
			continue
		}
		out.Trades = true
		buyer, organic := m.take(w.buy*scale, w.sell*scale)
		wallet := w.key &^ sentByOthers
		if buyer > 0 {
			buyers[wallet] = true
		}
		cluster := w.cluster
		if cluster == 0 {
			cluster = payers[n]
		}
		if cluster > 0 {
			at := root(sums, cluster-1)
			isTwice := w.key != wallet && t.wallets.find(wallet) != nil
			members[at] = addMember(members[at], addresses[wallet], organic, isTwice)
		}
	}
	out.Buyers = len(buyers)
	for at, list := range members {
		if len(list) == 0 {
			continue
		}
		c := Cluster{Funder: addresses[t.clusters.list[at]], Creator: sums[at].creator}
		if t.clusters.list[at] == unseen {
			c.Funder = market.Address{}
		}
		slices.SortStableFunc(list, func(a, b memberWallet) int { return cmp.Compare(b.organic, a.organic) })
		organic := 0.0
		for _, w := range list {
			c.Wallets = append(c.Wallets, w.wallet)
			organic += w.organic
		}
		if m.all > 0 {
			c.Share = min(1, organic/m.all)
		}
		out.Clusters = append(out.Clusters, c)
	}
	slices.SortStableFunc(out.Clusters, func(a, b Cluster) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(len(b.Wallets), len(a.Wallets)))
	})
}
