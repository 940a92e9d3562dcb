package pnl

import (
	"cmp"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Window is what the sales of a stretch of time came to.
type Window struct {
	// From is exclusive and To inclusive, unix seconds.
	From, To int64
	market.Profit
	// Best is the sale with the highest gain; nil when there was no gain.
	Best *Sale
	// Line is what was realised from From up to each of the points, which are evenly spaced: the first stands at From and is
	// nought, the last at To and is all that was realised. It is nil unless points are wanted.
	Line []USD
}

// Sale is what a wallet realised by selling one token in one transaction.
type Sale struct {
	Position
	At       int64 // unix seconds
	Realised USD
}

// oneUSD is the cost below which a percentage says nothing.
var oneUSD = Nano(1e9)

// RealisedPct is what was realised in percent of what it had cost; ok is false when that is below 1 USD.
func (w *Window) RealisedPct() (pct float64, ok bool) {
	if w.Cost.Cmp(oneUSD) < 0 {
		return 0, false
	}
	return 100 * w.Realised().Dollars() / w.Cost.Dollars(), true
}

// WinRatePct is how many of 100 sales were wins; ok is false without any.
func (w *Window) WinRatePct() (pct float64, ok bool) {
	if w.Sales == 0 {
		return 0, false
	}
	return 100 * float64(w.Wins) / float64(w.Sales), true
}

// movedOutShare is the part of the volume, as one in so many, that may be moved out before it counts as hiding losses.
const movedOutShare = 5

// MovesAway reports whether more than a fifth of the volume was sent to strangers, at cost: losses would be hidden by moving
// them away.
func (w *Window) MovesAway() bool {
	moved := w.MovedOut
	for range movedOutShare - 1 {
		moved = moved.Add(w.MovedOut)
	}
	return moved.Cmp(w.Volume) > 0
}

func (w *Window) holds(at int64) bool { return at > w.From && at <= w.To }

// mark puts what a sale gained on the line.
func (w *Window) mark(at int64, gain USD) {
	if n := int64(len(w.Line)) - 1; n > 0 {
		// The first point that the sale isn't after.
		i := ceilShare(at-w.From, n, w.To-w.From)
		w.Line[i] = w.Line[i].Add(gain)
	}
}

// conclude counts a whole sale.
func (w *Window) conclude(s *Sale) {
	Conclude(&w.Profit, s.Realised)
	if s.Realised.Sign() > 0 && (w.Best == nil || Better(s, w.Best)) {
		best := *s
		w.Best = &best
	}
}

// Better orders sales by gain; the earlier of two equal ones is the better, and then the one whose token comes first.
func Better(a, b *Sale) bool {
	return cmp.Or(
		b.Realised.Cmp(a.Realised), cmp.Compare(a.At, b.At), cmp.Compare(a.Chain, b.Chain), a.Mint.Compare(b.Mint), a.Wallet.Compare(b.Wallet),
	) < 0
}
