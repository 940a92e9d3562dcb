package traction

import (
	"math"
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Wallets whose coins one account paid may be one person's. They are a cluster, which counts by its logarithm: a wallet that is alone in it as one wallet,
// three as two, and 63 as six. Wallets whose coins came from nobody knows where are one cluster, too, as long as they are new: else whoever hides a payment
// would be better off.

const (
	// freshFor is the time in seconds for which coins are fresh: a wallet counts as freshShare of one when they have just come, and evenly more up to one.
	freshFor   = 24 * 60 * 60
	freshShare = 0.5
)

// Values of walletSums.fundedAt that are no times.
const (
	fundingUnknown = iota
	// fundingOld says that a wallet had sent a transaction before the window, fundingUnseen that a wallet is new and nobody was seen to pay it.
	fundingOld
	fundingUnseen
)

// unseen names the cluster of new wallets that nobody was seen to pay. No wallet has the key.
const unseen uint64 = sentByOthers

// cluster puts a wallet where its newest trade says that it belongs. The newest trade decides, so that it doesn't matter how far back trades were read.
func (t *Tape) cluster(w *walletSums, f *market.Funding) {
	w.cluster, w.fundedAt = 0, fundingUnknown
	switch {
	case f.State == market.FundingUnknown:
	case f.Age == market.AgeOld:
		w.fundedAt = fundingOld
	case f.State == market.FundingNotSeen:
		w.cluster, w.fundedAt = t.clusters.place(unseen)+1, fundingUnseen
	default:
		w.cluster, w.fundedAt = t.clusters.place(key(f.Funder))+1, uint32(max(f.At, fundingUnseen+1))
	}
}

// clusters are the keys of the accounts that paid wallets. Of more than scanned keys places has where they stand in the list.
type clusters struct {
	list   []uint64
	places map[uint64]uint32
}

// place is where a cluster stands in the list; a new one comes to its end.
func (c *clusters) place(key uint64) uint32 {
	if c.places == nil {
		if n := slices.Index(c.list, key); n >= 0 {
			return uint32(n)
		}
	} else if at, ok := c.places[key]; ok {
		return at
	}
	at := uint32(len(c.list))
	c.list = append(c.list, key)
	switch n := len(c.list); {
	case c.places != nil:
		c.places[key] = at
	case n > scanned:
		c.places = make(map[uint64]uint32, n)
		for i, k := range c.list {
			c.places[k] = uint32(i)
		}
	}
	return at
}

// keepClusters drops the clusters without a wallet.
func (t *Tape) keepClusters() {
	if len(t.clusters.list) == 0 {
		return
	}
	var kept clusters
	for i := range t.wallets.list {
		if w := &t.wallets.list[i]; w.cluster > 0 {
			w.cluster = kept.place(t.clusters.list[w.cluster-1]) + 1
		}
	}
	t.clusters = kept
}

// clusterSums is what the wallets of a cluster do together.
type clusterSums struct {
	buyers, organic float64
	// joined is the place of the cluster that this one belongs to, plus 1; 0 for none.
	joined uint32
	// lives says that a wallet of the cluster traded within the window, creator that one who has part in the launch paid its wallets.
	lives, creator bool
}

// root is the place of the cluster that one belongs to in the end. It shortens the way there.
func root(sums []clusterSums, at uint32) uint32 {
	for sums[at].joined > 0 {
		next := sums[at].joined
		if after := sums[next-1].joined; after > 0 {
			sums[at].joined = after
		}
		at = next - 1
	}
	return at
}

// joinClusters makes the clusters' sums, in the memory given if that is enough. A cluster is joined to the cluster of the wallet that paid it. A wallet that is in no
// cluster and paid others is in their cluster: payers has the place of that cluster, plus 1, by the wallet's place in the list of wallets.
func (t *Tape) joinClusters(memory []clusterSums, now int64) (sums []clusterSums, payers map[int]uint32) {
	n := len(t.clusters.list)
	if n == 0 {
		return nil, nil
	}
	if sums = memory; n > cap(sums) {
		sums = make([]clusterSums, n)
	}
	sums = sums[:n]
	for i := range t.wallets.list {
		if w := &t.wallets.list[i]; w.cluster > 0 && !w.silent(now) {
			sums[w.cluster-1].lives = true
		}
	}
	for i, k := range t.clusters.list {
		at := uint32(i)
		if k == unseen || !sums[at].lives {
			continue
		}
		if t.excludes(k) {
			sums[root(sums, at)].creator = true
		}
		n, ok := t.wallets.position(k)
		if !ok || t.wallets.list[n].silent(now) {
			continue
		}
		other := t.wallets.list[n].cluster
		if other == 0 {
			if payers == nil {
				payers = make(map[int]uint32)
			}
			payers[n] = at + 1
			continue
		}
		if a, b := root(sums, at), root(sums, other-1); a != b {
			sums[a].joined = b + 1
			sums[b].creator = sums[b].creator || sums[a].creator
		}
	}
	return sums, payers
}

// age is which part of a wallet one counts as that is in a cluster.
func (w *walletSums) age(now int64) float64 {
	switch {
	case w.fundedAt == fundingUnseen:
		return freshShare
	case w.fundedAt <= fundingOld:
		return 1
	}
	since := float64(max(now-int64(w.fundedAt), 0)) / freshFor
	return freshShare + (1-freshShare)*min(since, 1)
}

// effective is how many independent wallets those of a cluster count as.
func effective(wallets float64) float64 { return min(wallets, math.Log2(1+wallets)) }
