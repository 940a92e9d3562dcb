package derive

import "github.com/boardwalkhq/boardwalk/internal/market"

// streamTrades adds what members traded in the block to the stream: an item for what a wallet bought, or sold, of one token in one transaction. entries are
// those of the block. A trade whose value isn't known is none, nor is one from before the wallet was the member's.
func (s *State) streamTrades(entries []market.Entry) {
	type tradeKey struct {
		wallet, token market.Address
		tx            market.TxID
		kind          market.EntryKind
	}
	var items []market.StreamItem
	indexOf := make(map[tradeKey]int, len(entries))
	unvalued := make(map[int]bool)
	for i := range entries {
		e := &entries[i]
		if e.Kind != market.Bought && e.Kind != market.Sold {
			continue
		}
		w := s.watched.get(e.Wallet)
		if e.Time < w.Since {
			continue
		}
		k := tradeKey{e.Wallet, e.Token, e.Tx, e.Kind}
		item, ok := indexOf[k]
		if !ok {
			item = len(items)
			indexOf[k] = item
			items = append(items, market.StreamItem{
				Kind: market.StreamTrade, Token: e.Token, Time: e.Time,
				Trade: market.StreamTradeRef{Wallet: e.Wallet, Member: w.Member, Block: e.Block, Tx: e.Tx, Sell: e.Kind == market.Sold},
			})
		}
		unvalued[item] = unvalued[item] || !e.HasUSD
	}
	for i := range items {
		if !unvalued[i] {
			s.stream = append(s.stream, items[i])
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
