package derive

import (
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// wallets collects what the state lacks of the rows of members' wallets.
type wallets struct {
	// begun are the wallets that the blocks begin to watch, or give to other members, with those members.
	begun map[market.Address][]int64
	// opened are the pools that the blocks bring up.
	opened    map[market.Address]market.PoolCreated
	positions *set[market.PositionKey]
	hours     *set[market.HourKey]
	past      []market.Address
	books     [][]market.Address
	touches   []Touch
}

// Touch is a transaction that may move something of a wallet that is watched, or will be by a fact of the batch.
type Touch struct {
	Wallet market.Address
	Tx     market.TxID
	// Block is the place of the transaction's block among those of the batch.
	Block int
	// Tokens are those that may be moved, quote assets left out, each once; in no order that matters.
	Tokens []market.Address
	// IsTrade says that the transaction trades in a pool that is tracked or with a launch's curve, and IsNamed that such a trade's log names the wallet, or that
	// the transaction moves quote assets of it.
	IsTrade, IsNamed bool

	// listed has Tokens once there are many: whoever sends a wallet thousands of tokens in one transaction must not have each looked for among all.
	listed map[market.Address]bool
}

// manyTokens is the number of tokens from which on a touch keeps them as a set as well.
const manyTokens = 32

// Touches lists the touches in the blocks of the last call of MoreKeys, in their order.
func (s *State) Touches() []Touch { return s.touches }

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
			case market.HeldFact:
				w.positions.add(f.PositionKey)
			case market.PoolFact:
				w.opened[f.Pool] = f.Info
			}
		}
	}
	if len(s.watched.rows)+len(w.begun) == 0 {
		return w
	}
	w.wantBooks(s, blocks)
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

// wantBooks wants all that is kept of the members of whose wallets the blocks' facts tell the past.
func (w *wallets) wantBooks(s *State, blocks []market.Block) {
	members := map[int64]bool{}
	for i := range blocks {
		for _, f := range blocks[i].Facts {
			f, ok := f.(market.PastFact)
			if !ok || len(f.Entries) == 0 {
				continue
			}
			for _, member := range w.begun[f.Wallet] {
				members[member] = true
			}
			if now := s.watched.get(f.Wallet); now != nil {
				members[now.Member] = true
			}
		}
	}
	for member := range members {
		list := s.WatchedOf(member)
		for wallet, begun := range w.begun {
			if slices.Contains(begun, member) && !slices.Contains(list, wallet) {
				list = append(list, wallet)
			}
		}
		if slices.ContainsFunc(list, func(wallet market.Address) bool { return !s.hasBook[wallet] }) {
			w.books = append(w.books, list)
		}
	}
}

// entries wants the positions and hours that a transaction of the i-th block may change: of each watched wallet that it moves a token of, in that token and in
// those that it trades.
func (k *keys) entries(i int, tx *market.Tx, at int64) {
	if len(k.s.watched.rows)+len(k.wallets.begun) == 0 {
		return
	}
	touches := k.touchesOf(i, tx)
	for t := range touches {
		touch := &touches[t]
		k.hour(touch.Wallet, at)
		for i := range tx.Logs {
			for _, base := range k.tradedBases(tx.Logs[i].Event) {
				touch.IsTrade = true
				touch.add(base)
			}
		}
		for _, token := range touch.Tokens {
			k.wallets.positions.add(market.PositionKey{Wallet: touch.Wallet, Token: token})
		}
	}
	k.wallets.touches = append(k.wallets.touches, touches...)
}

// touchesOf are the watched wallets that a transaction of the i-th block touches, with the tokens that its transfers move of each.
func (k *keys) touchesOf(i int, tx *market.Tx) []Touch {
	c := touching{keys: k, tx: tx.ID, block: i}
	for i := range tx.Logs {
		switch e := tx.Logs[i].Event.(type) {
		case market.Swap:
			c.trades(e.Recipient, e)
		case market.CurveTrade:
			c.trades(e.Trader, e)
		case market.FeePaid:
			k.feeAsset(e.Asset)
		default:
			if t, ok := k.m.transferOf(tx, e); ok {
				c.see(t.From, t.Token)
				c.see(t.To, t.Token)
				if k.m.feeRecipients[t.To] {
					k.feeAsset(t.Token)
				}
			}
		}
	}
	return c.touches
}

// touching collects the touches of one transaction.
type touching struct {
	*keys
	tx      market.TxID
	block   int
	touches []Touch
}

// trades notes that a log says that a wallet trades. Any contract can log that: it has to be a pool that is tracked, or a launch's curve.
func (c *touching) trades(wallet market.Address, e market.Event) {
	if c.watches(wallet) && len(c.tradedBases(e)) > 0 {
		c.see(wallet, market.Address{})
	}
}

// see notes that a log names a wallet, with the token that it moves of it, if it does.
func (c *touching) see(wallet, token market.Address) {
	if wallet.IsNone() || !c.watches(wallet) {
		return
	}
	t := slices.IndexFunc(c.touches, func(t Touch) bool { return t.Wallet == wallet })
	if t < 0 {
		t = len(c.touches)
		c.touches = append(c.touches, Touch{Wallet: wallet, Tx: c.tx, Block: c.block})
	}
	if token.IsNone() || c.m.isQuote(token) {
		c.touches[t].IsNamed = true
		return
	}
	c.tokens.add(token)
	c.touches[t].add(token)
}

func (t *Touch) add(token market.Address) {
	if t.listed[token] || t.listed == nil && slices.Contains(t.Tokens, token) {
		return
	}
	t.Tokens = append(t.Tokens, token)
	if t.listed != nil {
		t.listed[token] = true
		return
	}
	if len(t.Tokens) < manyTokens {
		return
	}
	t.listed = make(map[market.Address]bool, 2*manyTokens)
	for _, listed := range t.Tokens {
		t.listed[listed] = true
	}
}

// feeAsset wants the token row of what the platform's fee may be paid in.
func (k *keys) feeAsset(asset market.Address) {
	if quote := k.m.Canonical(asset); k.m.isQuote(quote) {
		k.tokens.add(quote)
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

// tradedBases lists the tokens that may be the base of the pool or curve that an event trades with.
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
