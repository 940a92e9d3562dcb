package derive

import (
	"cmp"
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/pnl"
	"github.com/boardwalkhq/boardwalk/internal/price"
)

// positions are what the block does to what members' wallets have: the entries, the positions that they move, and the hours that they count in. The rules
// of profit are package pnl's.
type positions struct {
	*work
	trades *trades
	// txs are the block's transactions with anything of a watched wallet, in their order.
	txs []walletTx
	// touched are the positions that the block changes, and seq counts its entries.
	touched map[market.PositionKey]bool
	seq     uint32
	// gas is what watched wallets paid for the block's transactions.
	gas map[market.GasKey]market.Amount
	// charged has the swaps' parts of the platform's fee in 1e-9 USD, by their places.
	charged map[int]int64
}

// walletTx is a transaction with its swaps, from one place to before another, and with what else moved of watched wallets' tokens and the
// platform's fees that they paid.
type walletTx struct {
	id       market.TxID
	from, to int
	moves    []move
	fees     []market.Fee
}

// move is what a wallet got or sent besides its trades. to is another wallet of the same member, which has it now.
type move struct {
	wallet, to, token market.Address
	isOut             bool
	amount            market.Amount
}

// isWatched reports whether entries are kept of a wallet.
func (s *State) isWatched(wallet market.Address) bool { return s.watched.get(wallet) != nil }

// watch takes up a wallet, or gives one that is watched to its new member. What was traded before is copied: it gives a basis, and counts for nobody.
func (ps *positions) watch(f market.WatchFact) {
	before := ps.s.watched.get(f.Wallet)
	if before != nil { // what is kept of it stays
		f.PastIn = before.PastIn
	}
	*ps.s.watched.edit(f.Wallet) = f.WatchedWallet
	if before != nil {
		return
	}
	past := slices.Clone(ps.s.past[f.Wallet])
	for i := range ps.s.trades { // of earlier blocks, which aren't written yet
		if t := &ps.s.trades[i]; t.Trader == f.Wallet {
			past = append(past, *t)
		}
	}
	if len(past) > market.CopiedTrades {
		return
	}
	slices.SortFunc(past, func(a, b market.Trade) int {
		return cmp.Or(cmp.Compare(a.Block, b.Block), cmp.Compare(a.LogIndex, b.LogIndex))
	})
	told := map[toldBy]bool{}
	seq := uint32(0)
	for i := range past {
		t := &past[i]
		if ps.isQuote(t.Base) {
			continue
		}
		if seq++; i == 0 || past[i-1].Block != t.Block {
			seq = 0
		}
		e := tradeEntry(t, told)
		e.HasGas = true // it counts for nobody, and neither does its gas
		ps.enter(entryOf(t, seq), &e, &sales{})
	}
	for k := range ps.touched {
		if p := ps.position(k); !p.Quantity.IsZero() {
			p.IsCopied = true
		}
	}
	ps.settleEmpty()
}

// held bounds the basis of a wallet's copied trades by what the wallet had before the block.
func (ps *positions) held(f market.HeldFact) {
	k := f.PositionKey
	if p := ps.s.positions.get(k); p == nil || !p.IsCopied {
		return
	}
	ps.position(k).IsCopied = false
	if f.Known {
		row := market.Entry{Wallet: f.Wallet, Block: ps.b.Number, Seq: ps.next(), Time: ps.b.Time, Token: f.Token}
		ps.enter(row, &pnl.Entry{Kind: pnl.Held, At: ps.b.Time, Amount: f.Amount, Ineligible: true}, &sales{})
	}
	ps.settleEmpty()
}

// toldBy names a transaction's trades of one token: the first of them tells the balance before.
type toldBy struct {
	tx     market.TxID
	trader market.Address
	token  market.Address
}

// tradeEntry is a trade as the rules of profit take it. Nothing counts in it before it is found to.
func tradeEntry(t *market.Trade, told map[toldBy]bool) pnl.Entry {
	e := pnl.TradeOf("", t)
	e.Ineligible = true
	if !e.HasBefore {
		return e
	}
	by := toldBy{t.Tx, t.Trader, t.Base}
	if e.HasBefore = !told[by]; !e.HasBefore {
		e.Before = market.Amount{}
	}
	told[by] = true
	return e
}

func entryOf(t *market.Trade, seq uint32) market.Entry {
	return market.Entry{
		Wallet: t.Trader, Block: t.Block, Seq: seq, Time: t.Time, Tx: t.Tx, Token: t.Base, Pool: t.Pool, LogIndex: t.LogIndex,
	}
}

// take takes in a transaction, whose swaps (those from the given place on) are settled.
func (ps *positions) take(tx *market.Tx, from int) {
	if len(ps.s.watched.rows) == 0 {
		return
	}
	t := walletTx{id: tx.ID, from: from, to: len(ps.trades.swaps)}
	isTrader := false
	for i := from; i < t.to && !isTrader; i++ {
		isTrader = ps.s.isWatched(ps.trades.swaps[i].Trader)
	}
	t.moves, t.fees = ps.moved(tx, from), ps.paid(tx, from)
	if isTrader || len(t.moves)+len(t.fees) > 0 {
		ps.txs = append(ps.txs, t)
	}
}

// moved are what watched wallets got or sent besides their swaps, from the given one on: to or from each other where they are one member's, else as what is
// left of the change of their balances. A trader whom the quote alone shows has nothing of what they bought: it went out, too.
func (ps *positions) moved(tx *market.Tx, from int) []move {
	m := movements{positions: ps, tx: tx, from: from, left: map[hands]market.SignedAmount{}, among: map[move]int{}}
	for i := from; i < len(ps.trades.swaps); i++ {
		if s := &ps.trades.swaps[i]; ps.s.isWatched(s.Trader) && !ps.isQuote(s.Base) {
			m.note(hands{s.Trader, s.Base})
		}
	}
	for i := range tx.Logs {
		if e, ok := ps.transferOf(tx, tx.Logs[i].Event); ok && !e.Amount.IsZero() && e.From != e.To {
			m.transfer(&e)
		}
		if _, ok := tx.Logs[i].Event.(market.BalanceChange); ok {
			m.ofBalances = true
		}
	}
	if m.ofBalances {
		m.pairWallets()
	}
	return m.all()
}

// movements adds up what a transaction moved of watched wallets' tokens.
type movements struct {
	*positions

	tx *market.Tx
	// from is the place of the transaction's first swap.
	from int
	// left is the change of a wallet's balance of a token that nothing has explained yet; order has its keys as they came up.
	left  map[hands]market.SignedAmount
	order []hands
	// moves lists the moves of tokens between two wallets of one member, and among has the place of each in moves.
	moves []move
	among map[move]int
	// ofBalances says that the transaction tells balances in place of transfers.
	ofBalances bool
}

// note begins with the change of a wallet's balance that swaps don't explain.
func (m *movements) note(h hands) {
	if _, ok := m.left[h]; !ok {
		m.order = append(m.order, h)
		m.left[h] = m.unexplained(m.tx, h, m.from)
	}
}

func (m *movements) transfer(e *market.Transfer) {
	sender, recipient := m.s.isWatched(e.From), m.s.isWatched(e.To)
	if !sender && !recipient || m.isQuote(e.Token) || m.s.tokens.get(e.Token) == nil {
		return
	}
	gone, come := hands{e.From, e.Token}, hands{e.To, e.Token}
	if sender {
		m.note(gone)
	}
	if recipient {
		m.note(come)
	}
	if !sender || !recipient || !m.areOnes(e.From, e.To) {
		return
	}
	m.between(gone, come, &e.Amount)
}

// between notes that an amount went from a wallet to another one of the same member.
func (m *movements) between(gone, come hands, amount *market.Amount) {
	of := move{wallet: gone.trader, to: come.trader, token: gone.token, isOut: true}
	k, ok := m.among[of]
	if !ok {
		k = len(m.moves)
		m.among[of], m.moves = k, append(m.moves, of)
	}
	if _, over := m.moves[k].amount.AddOverflow(&m.moves[k].amount, amount); over {
		m.moves[k].amount.SetAllOne()
	}
	m.left[gone] = m.left[gone].Add(market.SignedAmount{Abs: *amount})
	m.left[come] = m.left[come].Add(market.SignedAmount{Abs: *amount, Neg: true})
}

// pairWallets finds what went between two wallets of a member where balances alone are told: what one of them has less for no trade, and another one more. Wallets are
// taken in the order in which they came up.
func (m *movements) pairWallets() {
	for _, gone := range m.order {
		for _, come := range m.order {
			less, more := m.left[gone], m.left[come]
			if gone.token != come.token || !less.Neg || more.Neg || more.IsZero() || !m.areOnes(gone.trader, come.trader) {
				continue
			}
			amount := less.Abs
			if more.Abs.Lt(&amount) {
				amount = more.Abs
			}
			m.between(gone, come, &amount)
		}
	}
}

// all are the moves, those from and to others last.
func (m *movements) all() []move {
	for _, h := range m.order {
		if rest := m.left[h]; !rest.IsZero() {
			m.moves = append(m.moves, move{wallet: h.trader, token: h.token, isOut: rest.Neg, amount: rest.Abs})
		}
	}
	return m.moves
}

// unexplained is by how much a transaction changed a wallet's balance of a token, less what its swaps from the given one on say.
func (ps *positions) unexplained(tx *market.Tx, h hands, from int) market.SignedAmount {
	rest := ps.trades.netChanges(tx, h.token).Change(h.trader)
	for i := from; i < len(ps.trades.swaps); i++ {
		if s := &ps.trades.swaps[i]; s.Trader == h.trader && s.Base == h.token {
			rest = rest.Add(market.SignedAmount{Abs: s.Traded(), Neg: !s.Sell})
		}
	}
	return rest
}

// areOnes reports whether two wallets are one member's by now: from then on the basis travels between them.
func (ps *positions) areOnes(a, b market.Address) bool {
	x, y := ps.s.watched.get(a), ps.s.watched.get(b)
	return x.Member == y.Member && ps.b.Time >= x.Since && ps.b.Time >= y.Since
}

// close makes the block's entries, once its swaps are valued.
func (ps *positions) close() {
	if len(ps.txs) == 0 {
		return
	}
	own := ps.ownTrades()
	before := len(ps.s.entries)
	for i := range ps.txs {
		t := &ps.txs[i]
		var sold sales
		told := map[toldBy]bool{}
		ps.valueFees(t)
		for k := t.from; k < t.to; k++ {
			if s := &ps.trades.swaps[k]; ps.s.isWatched(s.Trader) && !ps.isQuote(s.Base) {
				e := tradeEntry(s, told)
				e.Ineligible = !ps.isEligible(s, ps.trades.liquidity[k]) || own[k]
				e.FeeNanoUSD = ps.charged[k]
				if e.GasNanoUSD, e.HasGas = ps.gasOf(s); e.Ineligible || !ps.isWorth(s.NanoUSD, s.HasUSD) {
					e.HasGas = true // anybody can make such a trade for a wallet, and would make its gas unknown
				}
				ps.enter(entryOf(s, ps.next()), &e, &sold)
			}
		}
		for k := range t.moves {
			ps.move(t, &t.moves[k], &sold)
		}
		sold.conclude(ps)
	}
	ps.streamTrades(ps.s.entries[before:])
	ps.settleEmpty()
}

// isEligible reports whether a trade may count: in a pool that may price its token and had as much liquidity before the block, and has after it, as the
// launch board's quality bar asks for, or on a curve of a declared venue.
func (ps *positions) isEligible(t *market.Trade, before float64) bool {
	p := ps.s.pools.get(t.Pool)
	if p.Untrusted != market.Trusted {
		return false
	}
	return p.Protocol == market.BondingCurve || min(before, p.Locked*ps.s.usd(p.Quote)) >= ps.countedUSD
}

// ownTrades finds the places of the block's swaps that are between two wallets of one member: in a pool in which one of them bought and another one
// sold. What is below the chain's least trade is nobody's counterpart: a stranger could make it.
func (ps *positions) ownTrades() map[int]bool {
	type side struct {
		member int64
		pool   market.Address
		sell   bool
	}
	wallets := map[side][]market.Address{} // up to two different ones: whatever the wallet, another one is among them
	for k := range ps.trades.swaps {
		s := &ps.trades.swaps[k]
		w := ps.s.watched.get(s.Trader)
		if w == nil || !ps.isWorth(s.NanoUSD, s.HasUSD) {
			continue
		}
		h := side{w.Member, s.Pool, s.Sell}
		if list := wallets[h]; len(list) < 2 && !slices.Contains(list, s.Trader) {
			wallets[h] = append(list, s.Trader)
		}
	}
	out := map[int]bool{}
	for k := range ps.trades.swaps {
		s := &ps.trades.swaps[k]
		w := ps.s.watched.get(s.Trader)
		if w == nil {
			continue
		}
		out[k] = slices.ContainsFunc(wallets[side{w.Member, s.Pool, !s.Sell}], func(other market.Address) bool { return other != s.Trader })
	}
	return out
}

// isWorth reports whether a trade has at least the value of the chain's least trade.
func (ps *positions) isWorth(nano int64, known bool) bool {
	return known && float64(nano) >= ps.leastTradeUSD*1e9
}

// gasOf gives the cost of a trade's transaction to its wallet, in 1e-9 USD: the first of the wallet's trades in the transaction has all of it.
func (ps *positions) gasOf(t *market.Trade) (nano int64, known bool) {
	k := market.GasKey{Wallet: t.Trader, Tx: t.Tx}
	paid, known := ps.gas[k]
	if !known {
		return 0, false
	}
	if nano, known = price.NanoUSD(&paid, ps.coinDecimals, ps.s.usd(ps.wrapped)); known {
		ps.gas[k] = market.Amount{}
	}
	return nano, known
}

// move makes an entry, or one of either wallet, of what came or went besides trades.
func (ps *positions) move(t *walletTx, m *move, sold *sales) {
	row := market.Entry{Wallet: m.wallet, Block: ps.b.Number, Seq: ps.next(), Time: ps.b.Time, Tx: t.id, Token: m.token, To: m.to}
	e := pnl.Entry{Kind: pnl.In, At: ps.b.Time, Tx: t.id, Amount: m.amount, To: m.to, Ineligible: true}
	if m.isOut {
		e.Kind = pnl.Out
	}
	wasIn := ps.position(market.PositionKey{Wallet: m.wallet, Token: m.token}).IsIn
	f := ps.enter(row, &e, sold)
	if m.to.IsNone() {
		return
	}
	p := ps.position(market.PositionKey{Wallet: m.to, Token: m.token})
	pnl.Receive(p, &f.Carried, f.CarriedCost, &m.amount)
	p.IsIn = p.IsIn || wasIn && !p.Quantity.IsZero()
	ps.s.entries = append(ps.s.entries, market.Entry{
		Wallet: m.to, Block: row.Block, Seq: ps.next(), Time: row.Time, Tx: row.Tx, Token: row.Token, Kind: market.CameIn, Amount: m.amount,
	})
}

func (ps *positions) next() uint32 {
	ps.seq++
	return ps.seq - 1
}

// position is a watched wallet's position for changing.
func (ps *positions) position(k market.PositionKey) *market.Position {
	ps.touched[k] = true
	return ps.s.positions.edit(k)
}

// enter moves a position by an entry, and books what that came to.
func (ps *positions) enter(row market.Entry, e *pnl.Entry, sold *sales) pnl.Effect {
	p := ps.position(market.PositionKey{Wallet: row.Wallet, Token: row.Token})
	f := pnl.Apply(p, e)
	w := ps.s.watched.get(row.Wallet)
	isTrade := e.Kind == pnl.Buy || e.Kind == pnl.Sell
	row.Kind, row.Amount, row.Before, row.HasBefore, row.MovedOut = e.Kind, e.Amount, e.Before, e.HasBefore, f.MovedOut
	if isTrade {
		row.NanoUSD, row.HasUSD = e.NanoUSD, e.HasUSD
		row.GasNanoUSD, row.HasGas = e.GasNanoUSD, e.HasGas
		row.Counts, row.Fee = !e.Ineligible && e.At >= w.Since, f.Charged
	}
	if e.Kind == pnl.Sell {
		row.Proceeds, row.Cost = f.Proceeds, f.Cost
	}
	if e.Kind == pnl.Buy && row.Counts && ps.isWorth(e.NanoUSD, e.HasUSD) {
		p.IsIn = true
	}
	ps.s.entries = append(ps.s.entries, row)
	if e.At < w.Since || !isTrade && f.MovedOut.Sign() == 0 {
		return f
	}
	h := ps.hour(w, e.At)
	pnl.Book(&h.Profit, e, &f)
	if f.IsSale(e) {
		sold.add(h.HourKey, row.Token, e.At, f.Realised())
	}
	return f
}

const hourSeconds = 60 * 60

// hour gives the sums of a wallet's entries of an hour, for changing.
func (ps *positions) hour(w *market.WatchedWallet, at int64) *market.WalletHour {
	k := market.HourKey{Wallet: w.Wallet, Member: w.Member, Open: at - at%hourSeconds}
	h := ps.s.hours.edit(k)
	h.HourKey = k
	return h
}

// settleEmpty removes the positions that say nothing any more.
func (ps *positions) settleEmpty() {
	for k := range ps.touched {
		if ps.s.positions.get(k).IsEmpty() {
			ps.s.positions.remove(k)
		}
	}
	clear(ps.touched)
}

// sales adds up what a transaction's sales gained: all sales of one token are one sale.
type sales struct{ list []sale }

type sale struct {
	hour  market.HourKey
	token market.Address
	at    int64
	gain  market.USD
}

func (s *sales) add(hour market.HourKey, token market.Address, at int64, gain market.USD) {
	for i := range s.list {
		if s.list[i].hour == hour && s.list[i].token == token {
			s.list[i].gain = s.list[i].gain.Add(gain)
			return
		}
	}
	s.list = append(s.list, sale{hour, token, at, gain})
}

// conclude counts the sales in their hours.
func (s *sales) conclude(ps *positions) {
	for i := range s.list {
		s.list[i].conclude(ps.s.hours.edit(s.list[i].hour))
	}
}

// conclude counts the sale in its hour.
func (s *sale) conclude(h *market.WalletHour) {
	pnl.Conclude(&h.Profit, s.gain)
	if best := (market.BestSale{Token: s.token, At: s.at, Gain: s.gain}); best.Better(&h.Best) {
		h.Best = best
	}
}

// HasCopied reports whether a wallet's position, which is cached, has the basis of copied trades of which nobody has said yet how much is left.
func (s *State) HasCopied(k market.PositionKey) bool {
	p := s.positions.get(k)
	return p != nil && p.IsCopied
}

// MayCopy reports whether a wallet that the batch begins to watch has traded a token before.
func (s *State) MayCopy(k market.PositionKey) bool {
	return slices.ContainsFunc(s.past[k.Wallet], func(t market.Trade) bool { return t.Base == k.Token })
}

// HasMore reports whether a position, which is cached, has more of a basis than the wallet is said to have.
func (s *State) HasMore(k market.PositionKey, held *market.Amount) bool {
	p := s.positions.get(k)
	return p != nil && held.Lt(&p.Quantity)
}

// Watches reports whether entries are kept of a wallet.
func (s *State) Watches(wallet market.Address) bool { return s.isWatched(wallet) }

// Watched gives the row of a watched wallet; ok is false if the wallet isn't watched.
func (s *State) Watched(wallet market.Address) (w market.WatchedWallet, ok bool) {
	if v := s.watched.get(wallet); v != nil {
		return *v, true
	}
	return w, false
}

// WatchedWallets is how many wallets are watched.
func (s *State) WatchedWallets() int { return len(s.watched.rows) }

// WatchedOf are the wallets of a member that are watched, in no order.
func (s *State) WatchedOf(member int64) (list []market.Address) {
	for wallet, r := range s.watched.rows {
		if r.exists && r.v.Member == member {
			list = append(list, wallet)
		}
	}
	return list
}

// ForgetWallets drops what is cached of wallets that aren't watched any more. It must not be called between a change and its Flush.
func (s *State) ForgetWallets(wallets []market.Address) {
	s.watched.dropAll(wallets)
	for k := range s.positions.rows {
		if slices.Contains(wallets, k.Wallet) {
			s.positions.drop(k)
		}
	}
	for k := range s.hours.rows {
		if slices.Contains(wallets, k.Wallet) {
			s.hours.drop(k)
		}
	}
}
