package derive

import (
	"cmp"
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/pnl"
)

// takePast takes in what a wallet did before it was watched. All that the wallets of its member did since is worked out again: what they sold may have had a
// basis, and basis travels between them. Who is in a token stays: nothing of it counts.
func (ps *positions) takePast(f market.PastFact) {
	w := ps.s.watched.get(f.Wallet)
	if w == nil || w.PastIn != 0 {
		return
	}
	if f.In == 0 {
		f.In = ps.b.Number
	}
	ps.s.watched.edit(f.Wallet).PastIn = f.In
	if len(f.Entries) == 0 {
		return
	}
	wallets := map[market.Address]bool{}
	for _, wallet := range ps.s.WatchedOf(w.Member) {
		wallets[wallet] = true
	}
	b := book{
		positions: ps, wallets: wallets, arrivals: map[market.EntryKey]market.TxID{}, of: map[market.PositionKey]*market.Position{},
		hours: map[market.HourKey]*market.WalletHour{},
	}
	if b.find(); len(b.entries)+len(f.Entries) > market.MostReworked {
		return
	}
	b.add(&f)
	b.work()
	b.write(&f)
}

// book is all that the wallets of a member did, while it is worked out again.
type book struct {
	*positions

	wallets map[market.Address]bool
	entries []booked
	// arrivals are what came in, with the transactions; touched are the positions that entries of the block moved which is worked out.
	arrivals map[market.EntryKey]market.TxID
	touched  []market.PositionKey
	of       map[market.PositionKey]*market.Position
	hours    map[market.HourKey]*market.WalletHour
}

// booked is an entry of a book: a row of the database, or the one at a place among those that the batch adds.
type booked struct {
	market.Entry

	isNew bool
	place int
}

// find collects the entries of the wallets.
func (b *book) find() {
	b.entries = nil
	for k, r := range b.s.booked.rows {
		if r.exists && b.wallets[k.Wallet] {
			b.entries = append(b.entries, booked{Entry: r.v})
		}
	}
	for i := range b.s.entries {
		if e := &b.s.entries[i]; b.wallets[e.Wallet] {
			b.entries = append(b.entries, booked{Entry: *e, isNew: true, place: i})
		}
	}
}

// add adds what a wallet did in the past. Of a transaction in which it traded a token by the index's own word that word counts.
func (b *book) add(f *market.PastFact) {
	own := map[toldBy]bool{}
	for i := range b.entries {
		if e := &b.entries[i]; e.Wallet == f.Wallet && e.Block < f.Before {
			own[toldBy{e.Tx, e.Wallet, e.Token}] = true
		}
	}
	for _, e := range f.Entries {
		e.HasGas = e.Kind == pnl.Buy || e.Kind == pnl.Sell // it counts for nobody, and neither does its gas
		if !own[toldBy{e.Tx, e.Wallet, e.Token}] {
			b.s.entries = append(b.s.entries, e)
		}
	}
	b.find()
}

// work works the entries out in the order of the chain, from nothing.
func (b *book) work() {
	slices.SortFunc(b.entries, func(x, y booked) int {
		return cmp.Or(cmp.Compare(x.Block, y.Block), cmp.Compare(x.Seq, y.Seq), x.Wallet.Compare(y.Wallet))
	})
	for i := range b.entries {
		if e := &b.entries[i]; e.Kind == pnl.In {
			b.arrivals[e.Key()] = e.Tx
		}
	}
	var sold bookSales
	arrived := map[market.EntryKey]bool{} // what came from another wallet of the member, with its basis
	for i := range b.entries {
		e := &b.entries[i]
		if i > 0 && b.entries[i-1].Block != e.Block {
			b.endBlock(&sold)
		}
		if arrived[e.Key()] {
			continue
		}
		var to *market.EntryKey
		if arrival, ok := b.arrivalOf(e); ok {
			arrived[arrival], to = true, &arrival
		}
		b.enter(e, to, &sold)
	}
	b.endBlock(&sold)
}

// arrivalOf is the entry of another wallet of the member that got what an entry sent, as long as there is one: that wallet may have been somebody else's since.
func (b *book) arrivalOf(e *booked) (k market.EntryKey, ok bool) {
	k = market.EntryKey{Wallet: e.To, Block: e.Block, Seq: e.Seq + 1}
	tx, ok := b.arrivals[k]
	return k, ok && !e.To.IsNone() && tx == e.Tx
}

// endBlock counts the sales of a block, and forgets the positions that say nothing after it.
func (b *book) endBlock(sold *bookSales) {
	sold.conclude(b)
	for _, k := range b.touched {
		if p := b.of[k]; p != nil && p.IsEmpty() {
			delete(b.of, k)
		}
	}
	b.touched = b.touched[:0]
}

// enter moves a position by an entry, and another one where the basis went to it, and notes what that came to.
func (b *book) enter(e *booked, to *market.EntryKey, sold *bookSales) {
	was := e.Entry
	in := pnl.Entry{
		Kind: e.Kind, At: e.Time, Tx: e.Tx, Amount: e.Amount, Before: e.Before, HasBefore: e.HasBefore, NanoUSD: e.NanoUSD, HasUSD: e.HasUSD,
		GasNanoUSD: e.GasNanoUSD, HasGas: e.HasGas, Ineligible: !e.Counts, To: e.To,
	}
	fee := e.Fee.Amount()
	in.FeeNanoUSD = int64(fee.Uint64()) // at most the trade's value
	f := pnl.Apply(b.position(e.Wallet, e.Token), &in)
	if to != nil {
		pnl.Receive(b.position(to.Wallet, e.Token), &f.Carried, f.CarriedCost, &e.Amount)
	}
	isTrade := e.Kind == pnl.Buy || e.Kind == pnl.Sell
	if e.MovedOut = f.MovedOut; e.Kind == pnl.Sell {
		e.Proceeds, e.Cost = f.Proceeds, f.Cost
	}
	switch {
	case e.Entry == was:
	case e.isNew:
		b.s.entries[e.place] = e.Entry
	default:
		*b.s.booked.edit(e.Key()) = e.Entry
	}
	w := b.s.watched.get(e.Wallet)
	if e.Time < w.Since || !isTrade && f.MovedOut.Sign() == 0 {
		return
	}
	h := b.hour(w, e.Time)
	pnl.Book(&h.Profit, &in, &f)
	if f.IsSale(&in) {
		sold.add(bookSale{h.HourKey, e.Tx, e.Token}, e.Time, f.Realised())
	}
}

func (b *book) position(wallet, token market.Address) *market.Position {
	k := market.PositionKey{Wallet: wallet, Token: token}
	b.touched = append(b.touched, k)
	if b.of[k] == nil {
		b.of[k] = &market.Position{}
	}
	return b.of[k]
}

func (b *book) hour(w *market.WatchedWallet, at int64) *market.WalletHour {
	k := market.HourKey{Wallet: w.Wallet, Member: w.Member, Open: at - at%hourSeconds}
	if b.hours[k] == nil {
		b.hours[k] = &market.WalletHour{HourKey: k}
	}
	return b.hours[k]
}

// write puts the positions and hours in the place of those that there were.
func (b *book) write(f *market.PastFact) {
	isPast := map[market.PositionKey]bool{}
	for i := range f.Entries {
		isPast[market.PositionKey{Wallet: f.Wallet, Token: f.Entries[i].Token}] = true
	}
	for k := range b.s.positions.rows {
		if b.wallets[k.Wallet] && b.of[k] == nil {
			b.s.positions.remove(k)
		}
	}
	for k, p := range b.of {
		was := b.s.positions.get(k)
		p.IsIn = was != nil && was.IsIn && !p.Quantity.IsZero()
		p.IsCopied = (isPast[k] || was != nil && was.IsCopied) && !p.Quantity.IsZero()
		if p.IsEmpty() {
			b.s.positions.remove(k)
		} else {
			*b.s.positions.edit(k) = *p
		}
	}
	for k := range b.s.hours.rows {
		if w := b.s.watched.get(k.Wallet); b.wallets[k.Wallet] && k.Member == w.Member && b.hours[k] == nil {
			b.s.hours.remove(k)
		}
	}
	for k, h := range b.hours {
		*b.s.hours.edit(k) = *h
	}
}

// bookSales adds up what the sales of a block gained. All sales of one token in one transaction are one sale.
type bookSales struct {
	order []bookSale
	sales map[bookSale]*sale
}

type bookSale struct {
	hour  market.HourKey
	tx    market.TxID
	token market.Address
}

func (s *bookSales) add(k bookSale, at int64, gain market.USD) {
	if s.sales == nil {
		s.sales = map[bookSale]*sale{}
	}
	if s.sales[k] == nil {
		s.order, s.sales[k] = append(s.order, k), &sale{hour: k.hour, token: k.token, at: at}
	}
	s.sales[k].gain = s.sales[k].gain.Add(gain)
}

func (s *bookSales) conclude(b *book) {
	for _, k := range s.order {
		s.sales[k].conclude(b.hours[k.hour])
	}
	s.order, s.sales = nil, nil
}
