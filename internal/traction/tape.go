package traction

import (
	"hash/maphash"
	"iter"
	"math"
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

const (
	// walletUSD is the decayed purchase in USD from which on a wallet counts as a whole buyer: the smallest trade that the
	// platform itself takes. Below it the wallet counts in part, so that dust buys no place.
	walletUSD = 2
	// washed is the share of round trips in its volume from which on a wallet counts for nobody.
	washed = 0.8
	// topWallets is how many of the largest wallets make the concentration, by their share of the organic volume. No cluster has more of the volume than one
	// part in so many.
	topWallets = 5
	// walletFloorUSD and walletShare bound what one wallet adds to the organic volume: the larger of the first and the
	// second's share of the liquidity.
	walletFloorUSD, walletShare = 250, 0.05
)

const (
	hour   = 60 * 60
	minute = 60
	// epochLives is after how many half-lives the epoch moves. A sum of a trillion USD stays below 2^560 of the 2^1023 that a
	// float64 holds.
	epochLives = 512
)

// Tape is one token's trades as sums per wallet, which is what a score and a card need of them. The zero value is an empty
// one.
//
// A trade counts half after each HalfLife. A wallet is forgotten once it has been silent for Window, and so are all its
// trades: those have come down to less than 1/128. While it goes on trading, its older trades count on with that rest. A
// tape without a trade for Window is as good as new, prices included. How often Prune runs or the tape is asked changes no
// result beyond rounding.
//
// Trades come in order of time. A tape that is asked about a time before its newest trade answers as of that trade: whoever
// reads a chain's trades may be a block ahead of what it read the chain's time from.
type Tape struct {
	// epoch is the time (unix seconds) at which a dollar stands in the sums as 1; an hour later it stands as 4. That way
	// nothing has to be touched for the sums to decay.
	epoch    int64
	last     int64 // the newest trade; 0 while there is none
	wallets  wallets
	clusters clusters
	excluded []uint64
	minutes  []bucket // the last hour's minutes that have trades, oldest first: 60 at most
	// first is the first price known, and before the price of the newest minute that has left minutes; 0 while there is none.
	first, before float64
	beforeAt      uint32 // the open of the minute of before; unix seconds
}

// bucket is one minute's trades.
type bucket struct {
	volume, close float64 // USD; close is 0 while no price is known
	open          uint32  // unix seconds
}

// Hour is what a token's last 60 minutes were.
type Hour struct {
	// Buyers and Sellers are distinct wallets. One that did both is both.
	Buyers, Sellers int64
	// VolumeUSD is to the minute: the running one and the 59 before it.
	VolumeUSD float64
	// ReferenceUSD is the price before those minutes, or the first one known while the token is younger; 0 when unknown.
	ReferenceUSD float64
}

// seed makes a wallet's key different in each process, so that nobody can search for an address that collides with another.
var seed = maphash.MakeSeed()

// key is 8 bytes for a wallet's address. Where two collide, for which a token of a million wallets has a chance of 1 in 30
// million, they count as one wallet: never as more buyers.
func key(wallet market.Address) uint64 { return maphash.Comparable(seed, wallet) &^ sentByOthers }

// sentByOthers is the bit of a key that names, beside a wallet, what others' transactions traded for it. Those are sums of their own: else anybody could change what
// is known of a wallet by buying a little for it.
const sentByOthers = 1

// Exclude leaves a wallet out of everything that counts wallets, whether it traded before or trades later: the token's
// creator, its pools, the venue's contracts. Its trades still make prices and the hour's volume.
func (t *Tape) Exclude(wallet market.Address) {
	k := key(wallet)
	if t.excludes(k) {
		return
	}
	t.excluded = append(t.excluded, k)
	for _, k := range []uint64{k, k | sentByOthers} {
		if w := t.wallets.find(k); w != nil {
			*w = walletSums{key: k} // silent for ever
		}
	}
}

func (t *Tape) excludes(key uint64) bool { return slices.Contains(t.excluded, key) }

// Add takes in a trade. One without a wallet makes prices and the hour's volume, and counts for nobody.
func (t *Tape) Add(f Flow) {
	switch {
	case t.last == 0:
		t.epoch = f.Time
	case f.Time-t.last >= Window:
		*t = Tape{epoch: f.Time, excluded: t.excluded}
	case f.Time-t.epoch >= epochLives*HalfLife:
		t.moveEpoch(f.Time)
	}
	t.last = max(t.last, f.Time)
	t.book(f)
	if f.Wallet.IsNone() {
		return
	}
	k := key(f.Wallet)
	if t.excludes(k) {
		return
	}
	bySomebodyElse := f.Funding.State != market.FundingUnknown && f.Funding.Age == market.AgeUnknown
	if bySomebodyElse && (!f.Sell || !t.trades(k, f.Time)) {
		k |= sentByOthers
	}
	w := t.wallets.get(k)
	if w.silent(f.Time) {
		*w = walletSums{key: k}
	}
	if !bySomebodyElse || k&sentByOthers != 0 {
		t.cluster(w, &f.Funding)
	}
	usd := f.USD * lives(f.Time-t.epoch)
	if f.Sell {
		w.sell += usd
		w.lastSell = max(w.lastSell, uint32(f.Time))
	} else {
		w.buy += usd
		w.lastBuy = max(w.lastBuy, uint32(f.Time))
	}
}

// trades reports whether a wallet trades by itself. Nobody sells its tokens without its leave, so that such a sale is its own, whoever sends it.
func (t *Tape) trades(key uint64, now int64) bool {
	w := t.wallets.find(key)
	return w != nil && !w.silent(now)
}

// lives is by how much a dollar of seconds ago has halved, the other way round.
func lives(seconds int64) float64 { return math.Exp2(float64(seconds) / HalfLife) }

// moveEpoch brings the epoch up to now by whole half-lives: a power of two, by which floats scale without rounding.
func (t *Tape) moveEpoch(now int64) {
	n := (now - t.epoch) / HalfLife
	t.epoch += n * HalfLife
	for i := range t.wallets.list {
		w := &t.wallets.list[i]
		w.buy, w.sell = math.Ldexp(w.buy, -int(n)), math.Ldexp(w.sell, -int(n))
	}
}

// book puts a trade into its minute.
func (t *Tape) book(f Flow) {
	open := uint32(f.Time - f.Time%minute)
	if n := len(t.minutes); n == 0 || t.minutes[n-1].open < open {
		t.dropMinutes(f.Time)
		t.minutes = append(t.minutes, bucket{open: open})
	}
	b := &t.minutes[len(t.minutes)-1]
	b.volume += f.USD
	if f.CloseUSD > 0 {
		b.close = f.CloseUSD
		if t.first == 0 {
			t.first = f.CloseUSD
		}
	}
}

// hourOpens is the open of the first minute of the hour up to now.
func hourOpens(now int64) uint32 { return uint32(now - now%minute - hour + minute) }

// dropMinutes forgets the minutes that have left the hour, except for the price that they ended at.
func (t *Tape) dropMinutes(now int64) {
	from, gone := hourOpens(now), 0
	for gone < len(t.minutes) && t.minutes[gone].open < from {
		if c := t.minutes[gone].close; c > 0 {
			t.before, t.beforeAt = c, t.minutes[gone].open
		}
		gone++
	}
	if t.minutes = slices.Delete(t.minutes, 0, gone); len(t.minutes) == 0 {
		t.minutes = nil
	}
}

// Measure sets the parts that follow from the trades. LiquidityUSD must be set before.
func (t *Tape) Measure(p *Parts, now int64) {
	now = max(now, t.last)
	m, scale := measuring{ceiling: max(walletFloorUSD, walletShare*p.LiquidityUSD)}, t.scale(now)
	var few [16]clusterSums // most tokens have no more
	sums, payers := t.joinClusters(few[:0], now)
	known := uint32(0)
	for n := range t.wallets.list {
		w := &t.wallets.list[n]
		if w.silent(now) {
			continue
		}
		known |= w.fundedAt
		buyer, organic := m.take(w.buy*scale, w.sell*scale)
		cluster := w.cluster
		if cluster == 0 && payers != nil {
			cluster = payers[n]
		}
		if cluster == 0 {
			m.count(buyer, organic)
			continue
		}
		of := &sums[root(sums, cluster-1)]
		of.buyers += buyer * w.age(now)
		of.organic += organic
	}
	for i := range sums {
		if sums[i].joined == 0 {
			m.countCluster(&sums[i])
		}
	}
	m.tell(p)
	p.KnowsFunding = known != fundingUnknown
}

// scale is what a dollar of the sums is worth at a time.
func (t *Tape) scale(now int64) float64 { return 1 / lives(now-t.epoch) }

// Wallets are the sums of what each wallet bought and sold within the window, decayed, in USD.
func (t *Tape) Wallets(now int64) iter.Seq2[float64, float64] {
	return func(yield func(buy, sell float64) bool) {
		now = max(now, t.last)
		scale := t.scale(now)
		for i := range t.wallets.list {
			if w := &t.wallets.list[i]; !w.silent(now) && !yield(w.buy*scale, w.sell*scale) {
				return
			}
		}
	}
}

// measuring is what a token's wallets come to.
type measuring struct {
	ceiling          float64
	raw, round       float64
	buyers           float64
	clusters         int
	organic          float64             // of all clusters, each up to the ceiling
	largest          [topWallets]float64 // of these, descending
	all              float64             // of all wallets
	fresh, byCreator float64             // of wallets in clusters, and of those that the creator paid
}

// take is what one wallet counts as by itself: which part of a buyer it is, and its organic volume.
func (m *measuring) take(buy, sell float64) (buyer, organic float64) {
	volume, back := buy+sell, 2*min(buy, sell)
	m.raw += volume
	m.round += back
	if back >= washed*volume {
		return 0, 0
	}
	if buy > sell {
		// A wallet that bought long ago fades like everything else.
		buyer = min(1, (buy-sell)/walletUSD)
	}
	organic = min(volume-back, m.ceiling)
	m.all += organic
	return buyer, organic
}

// count takes in a cluster, which may be one wallet.
func (m *measuring) count(buyers, organic float64) {
	m.buyers += buyers
	if buyers > 0 {
		m.clusters++
	}
	m.organic += organic
	if organic > m.largest[topWallets-1] {
		m.rank(organic)
	}
}

// rank puts an organic volume among the largest.
func (m *measuring) rank(organic float64) {
	for n := range m.largest {
		if organic > m.largest[n] {
			organic, m.largest[n] = m.largest[n], organic
		}
	}
}

func (m *measuring) countCluster(c *clusterSums) {
	m.fresh += c.organic
	if c.creator {
		m.byCreator += c.organic
		return
	}
	m.count(effective(c.buyers), min(c.organic, m.ceiling))
}

// tell sets the parts.
func (m *measuring) tell(p *Parts) {
	p.Buyers, p.Clusters, p.VolumeUSD = m.buyers, m.clusters, m.bounded()
	p.Wash, p.Concentration, p.Fresh, p.ByCreator = 0, 0, 0, 0
	if m.raw > 0 {
		p.Wash = m.round / m.raw
	}
	if m.organic > 0 {
		var largest float64
		for _, organic := range m.largest {
			largest += organic
		}
		// The largest wallets' sum is rounded in another order than that of all.
		p.Concentration = min(1, max(0, (largest/m.organic-0.5)/0.5))
	}
	if m.all > 0 {
		p.Fresh, p.ByCreator = min(1, m.fresh/m.all), min(1, m.byCreator/m.all)
	}
}

// bounded is the organic volume where no cluster has more than a fifth of it: the most that all may add up to where each counts up to a fifth of the sum.
func (m *measuring) bounded() float64 {
	rest := m.organic
	for n, organic := range m.largest {
		if organic == 0 { // fewer clusters than could have a fifth each: what is left is rounding
			return 0
		}
		sum := rest / (1 - float64(n)/topWallets)
		if organic <= sum/topWallets || n == topWallets-1 {
			return max(0, sum)
		}
		rest -= organic
	}
	return 0
}

// Hour sums up the last 60 minutes.
func (t *Tape) Hour(now int64) Hour {
	if now = max(now, t.last); now-t.last >= Window {
		return Hour{}
	}
	h := Hour{ReferenceUSD: t.before}
	from := hourOpens(now)
	for _, b := range t.minutes {
		switch {
		case b.open >= from:
			h.VolumeUSD += b.volume
		case b.close > 0:
			h.ReferenceUSD = b.close
		}
	}
	if h.ReferenceUSD == 0 {
		h.ReferenceUSD = t.first
	}
	for i := range t.wallets.list {
		w := &t.wallets.list[i]
		var own *walletSums // of the same wallet, which counts once
		if w.key&sentByOthers != 0 {
			own = t.wallets.find(w.key &^ sentByOthers)
		}
		if int64(w.lastBuy) > now-hour && (own == nil || int64(own.lastBuy) <= now-hour) {
			h.Buyers++
		}
		if int64(w.lastSell) > now-hour && (own == nil || int64(own.lastSell) <= now-hour) {
			h.Sellers++
		}
	}
	return h
}

// LastMinute is the open of the newest minute with a price before a moment; 0 when the tape knows none. Unix seconds.
func (t *Tape) LastMinute(before int64) int64 {
	last := int64(t.beforeAt)
	for _, b := range t.minutes {
		if int64(b.open) < before && b.close > 0 {
			last = int64(b.open)
		}
	}
	return last
}

// Prune gives back the memory of wallets that were silent for Window and reports whether nothing is left; then the tape can
// be dropped, and with it the excluded wallets.
func (t *Tape) Prune(now int64) (empty bool) {
	if now = max(now, t.last); t.last == 0 || now-t.last >= Window {
		*t = Tape{excluded: t.excluded}
		return true
	}
	t.dropMinutes(now)
	dropped := t.wallets.keep(func(w *walletSums) bool { return !w.silent(now) })
	if dropped || len(t.clusters.list) > len(t.wallets.list) {
		t.keepClusters()
	}
	return false
}
