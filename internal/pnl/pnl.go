// Package pnl works out realised profit and loss by the method wac-v1 (docs/pnl.md): weighted average cost, in integers. It
// is pure: entries in, figures out, and the time is an input.
package pnl

import (
	"math/bits"
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Method is the name of the rules, as the API tells it.
const Method = "wac-v1"

// Day and Week are the lengths of the usual windows, in seconds.
const (
	Day  = 24 * 60 * 60
	Week = 7 * Day
)

// TradeLimit is how many trades of one wallet are read for its figures, which takes half a second of a processor: a hundred a day
// for more than a year.
const TradeLimit = 50_000

// Options say what a Ledger is to work out.
type Options struct {
	// Now is the moment at which the windows end, unix seconds. What comes after it did not happen yet.
	Now int64
	// Spans are the lengths of the windows in seconds: (Now-span, Now].
	Spans []int64
	// Points is how many points each window's line has, both ends included; below 2 there are no lines.
	Points int
	// Quote tells the quote assets (native coins, their wrapped forms, stables), which are never positions: their entries are
	// left out. Nil says that there are none.
	Quote func(Token) bool
}

// Ledger takes the entries of one wallet, or of all wallets of one member, and keeps of them what the figures need: a
// position is some 500 bytes, however many entries it has.
type Ledger struct {
	options Options
	held    map[Position]*holding
	windows []Window
	// last is the position of the entry before, since the next is often of the same.
	last    Position
	lastOne *holding
}

// holding is the quantity of a position that has a basis. What came without one needs no record: it is what is sold beyond.
type holding struct {
	quantity market.Amount
	cost     USD
	// sale is the newest sale, which may go on with the next entry, of transaction tx.
	sale   Sale
	tx     market.TxID
	isOpen bool
	quote  bool
	// balance is what there should be of the token, with a basis or without.
	balance balance
}

// balance is a wallet's whole balance of a token as its entries have it, from the first one on that tells it, in transaction tx.
type balance struct {
	amount market.Amount
	known  bool
	tx     market.TxID
}

func (b *balance) add(v *market.Amount) {
	if _, over := b.amount.AddOverflow(&b.amount, v); over {
		b.known = false
	}
}

// sub forgets a balance that would go below nought: a part of it came in unseen.
func (b *balance) sub(v *market.Amount) {
	if _, under := b.amount.SubOverflow(&b.amount, v); under {
		b.known = false
	}
}

// NewLedger is an empty ledger.
func NewLedger(o Options) *Ledger {
	l := &Ledger{options: o, held: make(map[Position]*holding), windows: make([]Window, len(o.Spans))}
	for i, span := range o.Spans {
		l.windows[i].From, l.windows[i].To = o.Now-span, o.Now
		if o.Points > 1 {
			l.windows[i].Line = make([]USD, o.Points)
		}
	}
	return l
}

// Add takes the next entry. Entries of one position come in the order of its chain; positions are independent of each other,
// so that one chain may follow another, unless basis goes from one to another (Entry.To).
func (l *Ledger) Add(e *Entry) {
	if e.At > l.options.Now || e.Amount.IsZero() {
		return
	}
	h := l.holding(&e.Position)
	if h.quote {
		return
	}
	switch e.Kind {
	case Buy:
		l.compare(h, e)
		l.buy(h, e)
		h.balance.add(&e.Amount)
	case Sell:
		l.compare(h, e)
		l.sell(h, e)
		h.balance.sub(&e.Amount)
	case Out:
		l.out(h, e)
		h.balance.sub(&e.Amount)
	case In: // what has no basis needs no other record
		h.balance.add(&e.Amount)
	}
}

// compare finds what was sent away since the trade before. What came in between has no basis.
func (l *Ledger) compare(h *holding, e *Entry) {
	b := &h.balance
	if !e.HasBefore || (b.tx == e.Tx && !e.Tx.IsNone()) {
		return // of one transaction the first trade tells
	}
	if b.known && e.Before.Lt(&b.amount) {
		out := Entry{Position: e.Position, Kind: Out, At: e.At}
		out.Amount.Sub(&b.amount, &e.Before)
		l.out(h, &out)
	}
	*b = balance{amount: e.Before, known: true, tx: e.Tx}
}

func (l *Ledger) holding(p *Position) *holding {
	if l.lastOne != nil && l.last == *p {
		return l.lastOne
	}
	h := l.held[*p]
	if h == nil {
		h = &holding{quote: l.options.Quote != nil && l.options.Quote(p.Token)}
		l.held[*p] = h
	}
	l.last, l.lastOne = *p, h
	return h
}

func (l *Ledger) buy(h *holding, e *Entry) {
	valued := e.valued()
	charged := l.count(e, valued)
	if valued {
		h.put(&e.Amount, Nano(e.NanoUSD).Add(charged))
	}
}

func (l *Ledger) sell(h *holding, e *Entry) {
	valued := e.valued()
	charged := l.count(e, valued)
	sold, cost := h.take(&e.Amount)
	if !valued {
		return
	}
	net := Nano(e.NanoUSD).Sub(charged)
	proceeds := share(net, &sold, &e.Amount)
	for i := range l.windows {
		w := &l.windows[i]
		switch {
		case !w.holds(e.At):
		case e.Ineligible:
			w.IneligibleSells++
		default:
			w.Excluded = w.Excluded.Add(net.Sub(proceeds))
			w.realise(e.At, proceeds, cost)
		}
	}
	if !e.Ineligible && !sold.IsZero() {
		l.sale(h, e, proceeds.Sub(cost))
	}
}

// sale makes the sell a sale, or a part of the one before.
func (l *Ledger) sale(h *holding, e *Entry, realised USD) {
	if h.isOpen && h.tx == e.Tx && !e.Tx.IsNone() {
		h.sale.Realised = h.sale.Realised.Add(realised)
		return
	}
	if h.isOpen {
		conclude(l.windows, &h.sale)
	}
	h.sale, h.tx, h.isOpen = Sale{Position: e.Position, At: e.At, Realised: realised}, e.Tx, true
}

func (l *Ledger) out(h *holding, e *Entry) {
	sent, cost := h.take(&e.Amount)
	if !e.To.IsNone() {
		to := l.holding(&Position{Wallet: e.To, Token: e.Token})
		to.put(&sent, cost)
		to.balance.add(&e.Amount)
		return
	}
	for i := range l.windows {
		if w := &l.windows[i]; w.holds(e.At) {
			w.MovedOut = w.MovedOut.Add(cost)
		}
	}
}

// count books what every trade counts for, and gives the platform's fee.
func (l *Ledger) count(e *Entry, valued bool) (charged USD) {
	if valued {
		charged = Nano(fee(e.NanoUSD, e.FeeBps))
	}
	for i := range l.windows {
		w := &l.windows[i]
		if !w.holds(e.At) {
			continue
		}
		w.Trades++
		if valued {
			w.Volume, w.Fees = w.Volume.Add(Nano(e.NanoUSD)), w.Fees.Add(charged)
		} else {
			w.Unvalued++
		}
		if e.HasGas {
			w.Gas = w.Gas.Add(Nano(e.GasNanoUSD))
		} else {
			w.WithoutGas++
		}
	}
	return charged
}

// valued reports whether the value is known. A negative one is none.
func (e *Entry) valued() bool { return e.HasUSD && e.NanoUSD >= 0 }

// put adds quantity with its cost. What is beyond 256 bits, which no token that keeps its promises can bring about, is cut
// off: the cost then lies on less, and nobody gains by it.
func (h *holding) put(quantity *market.Amount, cost USD) {
	if _, over := h.quantity.AddOverflow(&h.quantity, quantity); over {
		h.quantity.SetAllOne()
	}
	h.cost = h.cost.Add(cost)
}

// take removes as much of wanted as has a basis, with its part of the cost. The last unit takes all that is left of it.
func (h *holding) take(wanted *market.Amount) (taken market.Amount, cost USD) {
	if h.quantity.IsZero() {
		return taken, cost
	}
	taken = *wanted
	if h.quantity.Lt(wanted) {
		taken = h.quantity
	}
	cost = share(h.cost, &taken, &h.quantity)
	h.quantity.Sub(&h.quantity, &taken)
	h.cost = h.cost.Sub(cost)
	return taken, cost
}

// Windows are the figures of what was added so far, in the order of Options.Spans.
func (l *Ledger) Windows() []Window {
	out := slices.Clone(l.windows)
	for _, h := range l.held {
		if h.isOpen {
			conclude(out, &h.sale)
		}
	}
	for i := range out {
		out[i].Line = slices.Clone(out[i].Line)
		for k := 1; k < len(out[i].Line); k++ {
			out[i].Line[k] = out[i].Line[k].Add(out[i].Line[k-1])
		}
	}
	return out
}

// Held is the quantity of a position that has a basis, and what it cost.
func (l *Ledger) Held(p Position) (quantity market.Amount, cost USD) {
	if h := l.held[p]; h != nil {
		quantity, cost = h.quantity, h.cost
	}
	return quantity, cost
}

func conclude(windows []Window, s *Sale) {
	for i := range windows {
		if windows[i].holds(s.At) {
			windows[i].conclude(s)
		}
	}
}

// ceilShare is at * n / span rounded up, for 0 < at <= span.
func ceilShare(at, n, span int64) int64 {
	hi, lo := bits.Mul64(uint64(at), uint64(n))
	quotient, rest := bits.Div64(hi, lo, uint64(span))
	if rest > 0 {
		quotient++
	}
	return int64(quotient)
}
