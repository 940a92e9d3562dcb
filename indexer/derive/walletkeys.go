package derive

import "github.com/boardwalkhq/boardwalk/internal/market"

// wallets collects what the state lacks of the rows of members' wallets.
type wallets struct {
	// begun are the wallets that the blocks begin to watch, or give to other members, with those members.
	begun map[market.Address][]int64
	// opened are the pools that the blocks bring up.
	opened    map[market.Address]market.PoolCreated
	positions *set[market.PositionKey]
	hours     *set[market.HourKey]
	past      []market.Address
}

func newWallets(m *Machine, s *State, blocks []market.Block) wallets {
	w := wallets{
		begun: map[market.Address][]int64{}, opened: map[market.Address]market.PoolCreated{},
		positions: newSet(s.positions.cached), hours: newSet(s.hours.cached),
	}
	for i := range blocks {
		for _, f := range blocks[i].Facts {
			switch f := f.(type) {
			case market.WatchFact:
				_, twice := w.begun[f.Wallet]
				if _, has := s.past[f.Wallet]; !has && !twice && !s.isWatched(f.Wallet) {
					w.past = append(w.past, f.Wallet)
				}
				w.begun[f.Wallet] = append(w.begun[f.Wallet], f.Member)
			case market.PoolFact:
				w.opened[f.Pool] = f.Info
			}
		}
	}
	if len(s.watched.rows)+len(w.begun) == 0 {
		return w
	}
	for i := range blocks {
		for j := range blocks[i].Txs {
			for _, l := range blocks[i].Txs[j].Logs {
				if e, ok := l.Event.(market.PoolCreated); ok && m.believes(e) {
					w.opened[e.Pool] = e
				}
			}
		}
	}
	return w
}

// entries wants the positions and hours that a transaction of a time may change: of each watched wallet that it moves a token of, in that token and in those
// that it trades.
func (k *keys) entries(tx *market.Tx, at int64) {
	if len(k.s.watched.rows)+len(k.wallets.begun) == 0 {
		return
	}
	var seen []market.Address
	see := func(wallet, token market.Address) {
		if wallet.IsNone() || !k.watches(wallet) {
			return
		}
		seen = append(seen, wallet)
		if !token.IsNone() && !k.m.isQuote(token) {
			k.tokens.add(token)
			k.wallets.positions.add(market.PositionKey{Wallet: wallet, Token: token})
		}
	}
	for i := range tx.Logs {
		switch e := tx.Logs[i].Event.(type) {
		case market.Swap:
			see(e.Recipient, market.Address{})
		case market.CurveTrade:
			see(e.Trader, market.Address{})
		default:
			if t, ok := k.m.transferOf(tx, e); ok {
				see(t.From, t.Token)
				see(t.To, t.Token)
			}
		}
	}
	for _, wallet := range seen {
		k.hour(wallet, at)
		for i := range tx.Logs {
			for _, base := range k.tradedBases(tx.Logs[i].Event) {
				k.wallets.positions.add(market.PositionKey{Wallet: wallet, Token: base})
			}
		}
	}
}

// watches reports whether a wallet is watched, or will be by a block's facts.
func (k *keys) watches(wallet market.Address) bool {
	_, begun := k.wallets.begun[wallet]
	return begun || k.s.isWatched(wallet)
}

// hour wants the rows of a wallet for the hour of a time. There is one for the member who has the wallet before these blocks, and one for each
// member to whom the facts of these blocks give it.
func (k *keys) hour(wallet market.Address, at int64) {
	open := at - at%hourSeconds
	if w := k.s.watched.get(wallet); w != nil {
		k.wallets.hours.add(market.HourKey{Wallet: wallet, Member: w.Member, Open: open})
	}
	for _, member := range k.wallets.begun[wallet] {
		k.wallets.hours.add(market.HourKey{Wallet: wallet, Member: member, Open: open})
	}
}

// tradedBases are what may be the base of the pool or curve that an event trades with.
func (k *keys) tradedBases(e market.Event) []market.Address {
	switch e := e.(type) {
	case market.Swap:
		if p := k.s.pools.get(e.Pool); p != nil {
			return []market.Address{p.Base}
		}
		if p, ok := k.wallets.opened[e.Pool]; ok {
			return []market.Address{k.m.Canonical(p.Token0), k.m.Canonical(p.Token1)}
		}
	case market.CurveTrade:
		if mint, ok := k.fresh.launchOf(k.s, e); ok { // the log of a contract of its own doesn't name the token
			return []market.Address{mint}
		}
	}
	return nil
}
