package venues

import (
	"errors"
	"math/big"
)

// FeeBps is the fee of every curve here, in basis points.
const FeeBps = 100

// Shape is what a venue's curves are at first, in smallest units.
type Shape struct {
	VirtualBase, VirtualQuote, SaleBase *big.Int
	// FeeBps is what of a trade's quote doesn't reach or leave the curve, taxes included.
	FeeBps int64
}

// CurveState is a bonding curve as its contract tells it, in smallest units. RealBase is left for sale and
// RealQuote raised.
type CurveState struct {
	VirtualBase, VirtualQuote *big.Int
	RealBase, RealQuote       *big.Int
	Completed                 bool
	// Pool is where the token went: a Uniswap V4 pool's id, or a pool's address; empty before.
	Pool string
}

// Price is that of 10^18 base units in quote units, rounded down.
func (s CurveState) Price() *big.Int {
	return new(big.Int).Div(new(big.Int).Mul(s.VirtualQuote, big.NewInt(1_000_000_000_000_000_000)), s.VirtualBase)
}

// Fill is what a trade with a curve comes to.
type Fill struct {
	// Base is the tokens. Net is what the curve's quote rises or falls by, Fee what is taken of the trader's, taxes included.
	Base, Net, Fee *big.Int
}

// Paid is what a buyer gives in all.
func (f Fill) Paid() *big.Int { return new(big.Int).Add(f.Net, f.Fee) }

// Got is what a seller gets in the end.
func (f Fill) Got() *big.Int { return new(big.Int).Sub(f.Net, f.Fee) }

// Fresh is a curve that nobody has bought from.
func (s Shape) Fresh() CurveState {
	return CurveState{VirtualBase: s.VirtualBase, VirtualQuote: s.VirtualQuote, RealBase: s.SaleBase, RealQuote: new(big.Int)}
}

// Product is that of the virtual reserves at first. No trade lets it fall.
func (s Shape) Product() *big.Int { return new(big.Int).Mul(s.VirtualBase, s.VirtualQuote) }

// Last is the virtual base of a full curve.
func (s Shape) Last() *big.Int { return new(big.Int).Sub(s.VirtualBase, s.SaleBase) }

// Target is what a full curve has raised.
func (s Shape) Target() *big.Int {
	return new(big.Int).Sub(ceilDiv(s.Product(), s.Last()), s.VirtualQuote)
}

// at is the curve with these virtual reserves.
func (s Shape) at(base, quote *big.Int) CurveState {
	left := new(big.Int).Sub(base, s.Last())
	return CurveState{
		VirtualBase: base, VirtualQuote: quote, RealBase: left, RealQuote: new(big.Int).Sub(quote, s.VirtualQuote),
		Completed: left.Sign() == 0,
	}
}

var (
	errCurveFull  = errors.New("simnet: the curve is full")
	errCurveSmall = errors.New("simnet: too small a trade for the curve")
)

const bps = 10_000

// Buy is a purchase for a value with the fee in it; the last one takes less. Virtual base times virtual quote
// never falls below their product at first.
func (s Shape) Buy(from CurveState, value *big.Int) (Fill, CurveState, error) {
	if from.Completed {
		return Fill{}, from, errCurveFull
	}
	fee := s.share(value)
	f := Fill{Net: new(big.Int).Sub(value, fee), Fee: fee}
	quote := new(big.Int).Add(from.VirtualQuote, f.Net)
	base := ceilDiv(s.Product(), quote)
	if base.Cmp(s.Last()) <= 0 {
		base, quote = s.Last(), new(big.Int).Add(s.VirtualQuote, s.Target())
		f.Net = new(big.Int).Sub(quote, from.VirtualQuote)
		f.Fee = new(big.Int).Sub(s.gross(f.Net), f.Net)
	}
	f.Base = new(big.Int).Sub(from.VirtualBase, base)
	if f.Base.Sign() <= 0 {
		return Fill{}, from, errCurveSmall
	}
	return f, s.at(base, quote), nil
}

// Sell is a sale of tokens that came from the curve.
func (s Shape) Sell(from CurveState, amount *big.Int) (Fill, CurveState, error) {
	if from.Completed {
		return Fill{}, from, errCurveFull
	}
	base := new(big.Int).Add(from.VirtualBase, amount)
	quote := ceilDiv(s.Product(), base)
	f := Fill{Base: amount, Net: new(big.Int).Sub(from.VirtualQuote, quote)}
	f.Fee = s.share(f.Net)
	if base.Cmp(s.VirtualBase) > 0 || f.Got().Sign() <= 0 {
		return Fill{}, from, errCurveSmall
	}
	return f, s.at(base, quote), nil
}

// ValueFor is what buys about an amount of tokens, and all that are left where that is the amount.
func (s Shape) ValueFor(from CurveState, amount *big.Int) *big.Int {
	base := new(big.Int).Sub(from.VirtualBase, amount)
	if base.Cmp(s.Last()) < 0 {
		base = s.Last()
	}
	net := new(big.Int).Sub(ceilDiv(s.Product(), base), from.VirtualQuote)
	value := s.gross(net)
	if new(big.Int).Sub(value, s.share(value)).Cmp(net) < 0 { // a tax is rounded up by itself
		value.Add(value, big.NewInt(1))
	}
	return value
}

// share is the fee of a value. Every part of it is rounded up by itself.
func (s Shape) share(value *big.Int) *big.Int {
	fee := bpsOf(value, FeeBps)
	return fee.Add(fee, bpsOf(value, s.FeeBps-FeeBps))
}

// gross is the least value that leaves net after the fee.
func (s Shape) gross(net *big.Int) *big.Int {
	return ceilDiv(new(big.Int).Mul(net, big.NewInt(bps)), big.NewInt(bps-s.FeeBps))
}

func bpsOf(value *big.Int, share int64) *big.Int {
	return ceilDiv(new(big.Int).Mul(value, big.NewInt(share)), big.NewInt(bps))
}

func ceilDiv(a, b *big.Int) *big.Int {
	quotient, rest := new(big.Int).QuoRem(a, b, new(big.Int))
	if rest.Sign() > 0 {
		quotient.Add(quotient, big.NewInt(1))
	}
	return quotient
}
