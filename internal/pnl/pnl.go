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

// holding is a position with its newest sale, which may go on with the next entry, of transaction tx.
type holding struct {
	market.Position

	sale   Sale
	tx     market.TxID
	isOpen bool
	quote  bool
	// told is the transaction whose first trade told the balance.
	told market.TxID
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
	if e.At > l.options.Now || e.Amount.IsZero() && e.Kind != Held {
		return
	}
	h := l.holding(&e.Position)
	if h.quote {
		return
	}
	if e.HasBefore {
		if h.told == e.Tx && !e.Tx.IsNone() { // of one transaction the first trade tells
			later := *e
			later.HasBefore = false
			e = &later
		}
		h.told = e.Tx
	}
	f := Apply(&h.Position, e)
	if !e.To.IsNone() && e.Kind == Out {
		to := l.holding(&Position{Wallet: e.To, Token: e.Token})
		Receive(&to.Position, &f.Carried, f.CarriedCost, &e.Amount)
	}
	for i := range l.windows {
		w := &l.windows[i]
		if !w.holds(e.At) {
			continue
		}
		Book(&w.Profit, e, &f)
		if f.IsSale(e) {
			w.mark(e.At, f.Realised())
		}
	}
	if f.IsSale(e) {
		l.sale(h, e, f.Realised())
	}
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
		quantity, cost = h.Quantity, h.Cost
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
