package derive

import (
	"math"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/pnl"
)

// positions are what the block does to what members' wallets have: the entries, the positions that they move, and the hours that they count in. The rules
// of profit are package pnl's.
type positions struct {
	*work
	trades *trades
	// done are the block's transactions with anything of a watched wallet, in their order.
	done []walletTx
	// touched are the positions that the block changes, and seq counts its entries.
	touched map[market.PositionKey]bool
	seq     uint32
}

// walletTx is a transaction with its swaps, from one place to before another, and with what else moved of watched wallets' tokens.
type walletTx struct {
	id       market.TxID
	from, to int
	moves    []move
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
	isNew := !ps.s.isWatched(f.Wallet)
	*ps.s.watched.edit(f.Wallet) = f.WatchedWallet
	if !isNew {
		return
	}
	past := ps.s.past[f.Wallet]
	for i := range past {
		ps.copied(&past[i])
	}
	for i := range ps.s.trades { // of earlier blocks, which aren't written yet
		if t := &ps.s.trades[i]; t.Trader == f.Wallet {
			ps.copied(t)
		}
	}
	ps.settleEmpty()
}

// copied makes an entry of a trade from before its wallet was watched.
func (ps *positions) copied(t *market.Trade) {
	if ps.isQuote(t.Base) {
		return
	}
	e := tradeEntry(t)
	ps.enter(market.Entry{
		Wallet: t.Trader, Block: t.Block, Seq: uint32(min(t.LogIndex, math.MaxUint32)), Time: t.Time, Tx: t.Tx, Token: t.Base, Pool: t.Pool, LogIndex: t.LogIndex,
	}, &e, &sales{})
}

// tradeEntry is a trade as the rules of profit take it. Nothing counts in it before it is found to.
func tradeEntry(t *market.Trade) pnl.Entry {
	e := pnl.TradeOf("", t)
	e.Ineligible = true
	return e
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
	t.moves = ps.moved(tx, from)
	if isTrader || len(t.moves) > 0 {
		ps.done = append(ps.done, t)
	}
}

// moved are what watched wallets got or sent besides their swaps, from the given one on: to or from each other where they are one member's, else as what is
// left of the change of their balances.
func (ps *positions) moved(tx *market.Tx, from int) (moves []move) {
	var order []hands
	left := map[hands]market.SignedAmount{}
	for i := range tx.Logs {
		e, ok := ps.transferOf(tx, tx.Logs[i].Event)
		if !ok || e.Amount.IsZero() || e.From == e.To {
			continue
		}
		sender, recipient := ps.s.isWatched(e.From), ps.s.isWatched(e.To)
		if !sender && !recipient || ps.isQuote(e.Token) || ps.s.tokens.get(e.Token) == nil {
			continue
		}
		for _, w := range []struct {
			wallet  market.Address
			watched bool
		}{{e.From, sender}, {e.To, recipient}} {
			h := hands{w.wallet, e.Token}
			if _, ok := left[h]; !ok && w.watched {
				order = append(order, h)
				left[h] = ps.besides(tx, h, from)
			}
		}
		if sender && recipient && ps.areOnes(e.From, e.To) {
			moves = append(moves, move{wallet: e.From, to: e.To, token: e.Token, isOut: true, amount: e.Amount})
			gone, come := hands{e.From, e.Token}, hands{e.To, e.Token}
			left[gone] = left[gone].Add(market.SignedAmount{Abs: e.Amount})
			left[come] = left[come].Add(market.SignedAmount{Abs: e.Amount, Neg: true})
		}
	}
	for _, h := range order {
		if rest := left[h]; !rest.IsZero() {
			moves = append(moves, move{wallet: h.trader, token: h.token, isOut: rest.Neg, amount: rest.Abs})
		}
	}
	return moves
}

// besides is by how much a transaction changed a wallet's balance of a token, less what its swaps from the given one on say.
func (ps *positions) besides(tx *market.Tx, h hands, from int) market.SignedAmount {
	rest := changeOf(ps.trades.netChanges(tx, h.token), h.trader)
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
	if len(ps.done) == 0 {
		return
	}
	alone := ps.tradedWithOneself()
	for i := range ps.done {
		t := &ps.done[i]
		var done sales
		told := map[hands]bool{}
		for k := t.from; k < t.to; k++ {
			if s := &ps.trades.swaps[k]; ps.s.isWatched(s.Trader) && !ps.isQuote(s.Base) {
				ps.trade(s, ps.isEligible(s, ps.trades.liquidity[k]) && !alone[k], told, &done)
			}
		}
		for k := range t.moves {
			ps.move(t, &t.moves[k], &done)
		}
		done.conclude(ps)
	}
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

// tradedWithOneself are the places of the block's swaps in a pool in which one wallet of a member bought and another one sold.
func (ps *positions) tradedWithOneself() map[int]bool {
	type hand struct {
		member int64
		pool   market.Address
	}
	places := map[hand][]int{}
	for k := range ps.trades.swaps {
		s := &ps.trades.swaps[k]
		if w := ps.s.watched.get(s.Trader); w != nil {
			h := hand{w.Member, s.Pool}
			places[h] = append(places[h], k)
		}
	}
	out := map[int]bool{}
	for _, list := range places {
		for _, a := range list {
			for _, b := range list {
				x, y := &ps.trades.swaps[a], &ps.trades.swaps[b]
				if x.Trader != y.Trader && x.Sell != y.Sell {
					out[a] = true
				}
			}
		}
	}
	return out
}

// trade makes an entry of a swap.
func (ps *positions) trade(t *market.Trade, eligible bool, told map[hands]bool, done *sales) {
	e := tradeEntry(t)
	e.Ineligible = !eligible
	h := hands{t.Trader, t.Base}
	if e.HasBefore {
		if e.HasBefore = !told[h]; !e.HasBefore { // of one transaction the first trade tells
			e.Before = market.Amount{}
		}
		told[h] = true
	}
	ps.enter(market.Entry{
		Wallet: t.Trader, Block: t.Block, Seq: ps.next(), Time: t.Time, Tx: t.Tx, Token: t.Base, Pool: t.Pool, LogIndex: t.LogIndex,
	}, &e, done)
}

// move makes an entry, or one of either wallet, of what came or went besides trades.
func (ps *positions) move(t *walletTx, m *move, done *sales) {
	row := market.Entry{Wallet: m.wallet, Block: ps.b.Number, Seq: ps.next(), Time: ps.b.Time, Tx: t.id, Token: m.token, To: m.to}
	e := pnl.Entry{Kind: pnl.In, At: ps.b.Time, Tx: t.id, Amount: m.amount, To: m.to, Ineligible: true}
	if m.isOut {
		e.Kind = pnl.Out
	}
	wasIn := ps.position(market.PositionKey{Wallet: m.wallet, Token: m.token}).IsIn
	f := ps.enter(row, &e, done)
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
func (ps *positions) enter(row market.Entry, e *pnl.Entry, done *sales) pnl.Effect {
	p := ps.position(market.PositionKey{Wallet: row.Wallet, Token: row.Token})
	f := pnl.Apply(p, e)
	w := ps.s.watched.get(row.Wallet)
	isTrade := e.Kind == pnl.Buy || e.Kind == pnl.Sell
	row.Kind, row.Amount, row.Before, row.HasBefore, row.MovedOut = e.Kind, e.Amount, e.Before, e.HasBefore, f.MovedOut
	if isTrade {
		row.NanoUSD, row.HasUSD = e.NanoUSD, e.HasUSD
		row.Counts = !e.Ineligible && e.At >= w.Since
	}
	if e.Kind == pnl.Sell {
		row.Proceeds, row.Cost = f.Proceeds, f.Cost
	}
	if e.Kind == pnl.Buy && !e.Ineligible && e.HasUSD && float64(e.NanoUSD) >= ps.leastTradeUSD*1e9 {
		p.IsIn = true
	}
	ps.s.entries = append(ps.s.entries, row)
	if e.At < w.Since || !isTrade && f.MovedOut.Sign() == 0 {
		return f
	}
	h := ps.hour(w, e.At)
	pnl.Book(&h.Profit, e, &f)
	if f.IsSale(e) {
		done.add(h.HourKey, row.Token, e.At, f.Realised())
	}
	return f
}

const hourSeconds = 60 * 60

// hour is what a wallet's entries of an hour came to, for changing.
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

// sales are what a transaction's sales gained: those of one token are one sale.
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
		sold := &s.list[i]
		h := ps.s.hours.edit(sold.hour)
		pnl.Conclude(&h.Profit, sold.gain)
		if best := (market.BestSale{Token: sold.token, At: sold.at, Gain: sold.gain}); best.Better(&h.Best) {
			h.Best = best
		}
	}
}

// Watches reports whether entries are kept of a wallet.
func (s *State) Watches(wallet market.Address) bool { return s.isWatched(wallet) }

// Watched is what is known of a wallet; ok is false where it isn't watched.
func (s *State) Watched(wallet market.Address) (w market.WatchedWallet, ok bool) {
	if v := s.watched.get(wallet); v != nil {
		return *v, true
	}
	return w, false
}

// WatchedOf are the wallets of a member that are watched, in no order.
func (s *State) WatchedOf(member int64) (list []market.Address) {
	for wallet, r := range s.watched.rows {
		if r.exists && r.v.Member == member {
			list = append(list, wallet)
		}
	}
	return list
}

// ForgetWallet drops what is cached of a wallet that isn't watched any more. It must not be called between a change and its Flush.
func (s *State) ForgetWallet(wallet market.Address) {
	s.watched.drop(wallet)
	for k := range s.positions.rows {
		if k.Wallet == wallet {
			s.positions.drop(k)
		}
	}
	for k := range s.hours.rows {
		if k.Wallet == wallet {
			s.hours.drop(k)
		}
	}
}
