package derive

import (
	"math"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// streamTrades adds what members traded in the block to the stream: an item for what a wallet bought, or sold, of one token in one transaction. A trade whose
// value isn't known is no item, nor is a trade from before the wallet was the member's. entries are the block's
// entries; entries of items that are worth the chain's least trade count in the game, as far as they count.
func (ps *positions) streamTrades(entries []market.Entry) {
	type tradeKey struct {
		wallet, token market.Address
		tx            market.TxID
		kind          market.EntryKind
	}
	type trade struct {
		market.StreamItem
		isUnvalued  bool
		countedNano int64
	}
	var trades []trade
	indexOf := make(map[tradeKey]int, len(entries))
	keyOf := func(e *market.Entry) tradeKey { return tradeKey{e.Wallet, e.Token, e.Tx, e.Kind} }
	for i := range entries {
		e := &entries[i]
		if e.Kind != market.Bought && e.Kind != market.Sold {
			continue
		}
		w := ps.s.watched.get(e.Wallet)
		if e.Time < w.Since {
			continue
		}
		n, ok := indexOf[keyOf(e)]
		if !ok {
			n = len(trades)
			indexOf[keyOf(e)] = n
			trades = append(trades, trade{StreamItem: market.StreamItem{
				Kind: market.StreamTrade, Token: e.Token, Time: e.Time,
				Trade: market.StreamTradeRef{Wallet: e.Wallet, Member: w.Member, Block: e.Block, Tx: e.Tx, Sell: e.Kind == market.Sold},
			}})
		}
		t := &trades[n]
		t.isUnvalued = t.isUnvalued || !e.HasUSD
		if e.Counts {
			t.countedNano += min(e.NanoUSD, math.MaxInt64-t.countedNano)
		}
	}
	for i := range entries {
		e := &entries[i]
		n, ok := indexOf[keyOf(e)]
		if ok && e.Counts && !trades[n].isUnvalued && ps.isWorth(trades[n].countedNano, true) {
			e.Player = trades[n].Trade.Member
		}
	}
	for i := range trades {
		if !trades[i].isUnvalued {
			ps.s.stream = append(ps.s.stream, trades[i].StreamItem)
		}
	}
}

// streamLaunches adds to the stream which of some tokens are launches that have a value in USD for the first time. One whose curve or pool nothing happens to
// is looked at when something does, even if its quote asset has a price meanwhile.
func (r *run) streamLaunches(mints []market.Address) {
	for _, mint := range mints {
		l, t := r.s.launches.get(mint), r.s.tokens.get(mint)
		if l == nil || !l.Unvalued || t == nil {
			continue
		}
		if p := r.s.pools.get(t.Pool); p == nil || p.Untrusted != market.Trusted || p.Price*r.s.usd(p.Quote) <= 0 {
			continue
		}
		r.s.launches.edit(mint).Unvalued = false
		r.s.stream = append(r.s.stream, market.StreamItem{Kind: market.StreamLaunch, Token: mint, Time: r.b.Time})
	}
}
