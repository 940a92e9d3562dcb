package traction

import (
	"hash/maphash"
	"math"
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

const (
	// walletUSD is the decayed purchase in USD from which on a wallet counts as a whole buyer: the smallest trade that the
	// platform itself takes. Below it the wallet counts in part, so that dust buys no place.
	walletUSD = 2
	// washed is the share of round trips in its volume from which on a wallet is no buyer.
	washed = 0.8
	// topWallets are those whose share of the organic volume is its concentration.
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
	excluded []uint64
	minutes  []bucket // the last hour's minutes that have trades, oldest first: 60 at most
	// first is the first price known and before that of the newest minute that left minutes; 0 while there is none.
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
func key(wallet market.Address) uint64 { return maphash.Comparable(seed, wallet) }

// Exclude leaves a wallet out of everything that counts wallets, whether it traded before or trades later: the token's
// creator, its pools, the venue's contracts. Its trades still make prices and the hour's volume.
func (t *Tape) Exclude(wallet market.Address) {
	k := key(wallet)
	if slices.Contains(t.excluded, k) {
		return
	}
	t.excluded = append(t.excluded, k)
	if w := t.wallets.find(k); w != nil {
		*w = walletSums{key: k} // silent for ever
	}
}

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
	if slices.Contains(t.excluded, k) {
		return
	}
	w := t.wallets.get(k)
	if w.silent(f.Time) {
		*w = walletSums{key: k}
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
	scale := 1 / lives(now-t.epoch)
	ceiling := max(walletFloorUSD, walletShare*p.LiquidityUSD)
	p.Buyers, p.VolumeUSD, p.Wash, p.Concentration = 0, 0, 0, 0
	var raw, round float64
	var top [topWallets]float64 // descending
	for i := range t.wallets.list {
		w := &t.wallets.list[i]
		if w.silent(now) {
			continue
		}
		buy, sell := w.buy*scale, w.sell*scale
		volume, back := buy+sell, 2*min(buy, sell)
		raw += volume
		round += back
		if buy > sell && back < washed*volume {
			// A wallet that bought long ago fades like everything else.
			p.Buyers += min(1, (buy-sell)/walletUSD)
		}
		organic := min(volume-back, ceiling)
		p.VolumeUSD += organic
		if organic > top[topWallets-1] {
			for n := range top {
				if organic > top[n] {
					organic, top[n] = top[n], organic
				}
			}
		}
	}
	if raw > 0 {
		p.Wash = round / raw
	}
	if p.VolumeUSD > 0 {
		var largest float64
		for _, organic := range top {
			largest += organic
		}
		// The largest wallets' sum is rounded in another order than that of all.
		p.Concentration = min(1, max(0, (largest/p.VolumeUSD-0.5)/0.5))
	}
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
		if int64(w.lastBuy) > now-hour {
			h.Buyers++
		}
		if int64(w.lastSell) > now-hour {
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
	t.wallets.keep(func(w *walletSums) bool { return !w.silent(now) })
	return false
}
