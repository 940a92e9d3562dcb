package simnet

import (
	"errors"
	"math/big"
)

// launchFeeBps is the fee of every curve here, in basis points.
const launchFeeBps = 100

// curveShape is what a venue's curves are at first, in smallest units.
type curveShape struct {
	virtualBase, virtualQuote, saleBase *big.Int
	// feeBps is what of a trade's quote doesn't reach or leave the curve, taxes included.
	feeBps int64
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
	return new(big.Int).Div(new(big.Int).Mul(s.VirtualQuote, units(1, 18)), s.VirtualBase)
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

func (s curveShape) fresh() CurveState {
	return CurveState{VirtualBase: s.virtualBase, VirtualQuote: s.virtualQuote, RealBase: s.saleBase, RealQuote: new(big.Int)}
}

func (s curveShape) product() *big.Int { return new(big.Int).Mul(s.virtualBase, s.virtualQuote) }

// last is the virtual base of a full curve.
func (s curveShape) last() *big.Int { return new(big.Int).Sub(s.virtualBase, s.saleBase) }

// target is what a full curve has raised.
func (s curveShape) target() *big.Int {
	return new(big.Int).Sub(ceilDiv(s.product(), s.last()), s.virtualQuote)
}

// at is the curve with these virtual reserves.
func (s curveShape) at(base, quote *big.Int) CurveState {
	left := new(big.Int).Sub(base, s.last())
	return CurveState{
		VirtualBase: base, VirtualQuote: quote, RealBase: left, RealQuote: new(big.Int).Sub(quote, s.virtualQuote),
		Completed: left.Sign() == 0,
	}
}

var (
	errCurveFull  = errors.New("simnet: the curve is full")
	errCurveSmall = errors.New("simnet: too small a trade for the curve")
)

const bps = 10_000

// buy is a purchase for a value with the fee in it; the last one takes less. Virtual base times virtual quote
// never falls below their product at first.
func (s curveShape) buy(from CurveState, value *big.Int) (Fill, CurveState, error) {
	if from.Completed {
		return Fill{}, from, errCurveFull
	}
	fee := s.share(value)
	f := Fill{Net: new(big.Int).Sub(value, fee), Fee: fee}
	quote := new(big.Int).Add(from.VirtualQuote, f.Net)
	base := ceilDiv(s.product(), quote)
	if base.Cmp(s.last()) <= 0 {
		base, quote = s.last(), new(big.Int).Add(s.virtualQuote, s.target())
		f.Net = new(big.Int).Sub(quote, from.VirtualQuote)
		f.Fee = new(big.Int).Sub(s.gross(f.Net), f.Net)
	}
	f.Base = new(big.Int).Sub(from.VirtualBase, base)
	if f.Base.Sign() <= 0 {
		return Fill{}, from, errCurveSmall
	}
	return f, s.at(base, quote), nil
}

// sell is a sale of tokens that came from the curve.
func (s curveShape) sell(from CurveState, amount *big.Int) (Fill, CurveState, error) {
	if from.Completed {
		return Fill{}, from, errCurveFull
	}
	base := new(big.Int).Add(from.VirtualBase, amount)
	quote := ceilDiv(s.product(), base)
	f := Fill{Base: amount, Net: new(big.Int).Sub(from.VirtualQuote, quote)}
	f.Fee = s.share(f.Net)
	if base.Cmp(s.virtualBase) > 0 || f.Got().Sign() <= 0 {
		return Fill{}, from, errCurveSmall
	}
	return f, s.at(base, quote), nil
}

// valueFor is what buys about an amount of tokens, and all that are left where that is the amount.
func (s curveShape) valueFor(from CurveState, amount *big.Int) *big.Int {
	base := new(big.Int).Sub(from.VirtualBase, amount)
	if base.Cmp(s.last()) < 0 {
		base = s.last()
	}
	net := new(big.Int).Sub(ceilDiv(s.product(), base), from.VirtualQuote)
	value := s.gross(net)
	if new(big.Int).Sub(value, s.share(value)).Cmp(net) < 0 { // a tax is rounded up by itself
		value.Add(value, big.NewInt(1))
	}
	return value
}

// share is the fee of a value. Every part of it is rounded up by itself.
func (s curveShape) share(value *big.Int) *big.Int {
	fee := bpsOf(value, launchFeeBps)
	return fee.Add(fee, bpsOf(value, s.feeBps-launchFeeBps))
}

// gross is the least value that leaves net after the fee.
func (s curveShape) gross(net *big.Int) *big.Int {
	return ceilDiv(new(big.Int).Mul(net, big.NewInt(bps)), big.NewInt(bps-s.feeBps))
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
