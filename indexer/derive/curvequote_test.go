package derive_test

import (
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// untold is the launch of a curve of which no log tells what it takes.
func untold(e *market.Launched) {
	e.Venue, e.Curve, e.Quote = "other", otherPad, market.Address{}
	e.Rules = market.CurveRules{Pricing: market.PricePosted, Basis: market.TokensSold}
	e.Reserves, e.Tells, e.SaleBase = market.CurveReserves{}, 0, raw(0)
}

// untoldBuy takes 200 of 800 pups of such a curve, for 101 USDC if that is what the curve takes.
func untoldBuy() market.CurveTrade {
	return market.CurveTrade{
		Venue: "other", Curve: otherPad, Token: pup, Trader: bob, BaseAmount: e18(200), QuoteAmount: e6(101), Raised: e6(100),
		After: market.CurveReserves{RealBase: e18(600), RealQuote: e6(100), Price: e6(2)},
		Tells: market.TellsBase | market.TellsQuote | market.TellsPrice,
	}
}

func curveFact(contract, quote market.Address) market.CurveFact {
	return market.CurveFact{CurveKey: market.CurveKey{Curve: contract, Token: pup}, Known: true, Quote: quote}
}

// TestQuoteOfACurve: what a curve takes is what its contract answers at the launch, where its venue's log doesn't say; without an
// answer it stays unknown, and the curve has no price.
func TestQuoteOfACurve(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer []market.Fact
		quote  market.Address
		usd    float64
	}{
		"a declared token":           {[]market.Fact{curveFact(otherPad, usdc)}, usdc, 2},
		"the native coin":            {[]market.Fact{curveFact(otherPad, market.Native)}, weth, 2e-12 * 2000},
		"an undeclared token":        {[]market.Fact{curveFact(otherPad, frog)}, frog, 0},
		"nothing to be believed":     {[]market.Fact{market.CurveFact{CurveKey: curveFact(otherPad, usdc).CurveKey, Reason: "no record"}}, market.Address{}, 0},
		"nothing at all":             {nil, market.Address{}, 0},
		"about another contract":     {[]market.Fact{curveFact(pad, usdc)}, market.Address{}, 0},
		"about another token beside": {[]market.Fact{curveFact(otherPad, usdc), market.CurveFact{CurveKey: market.CurveKey{Curve: otherPad, Token: kit}, Known: true, Quote: market.Native}}, usdc, 2},
	} {
		b := stage(t)
		b.next(12, append(facts(pup), c.answer...), tx(moved(pup, nobody, otherPad, e18(1000)), launched(untold)))
		if l := b.db.launches[pup]; l.Quote != c.quote {
			t.Errorf("%s: at its launch the curve takes %q, want %q", name, l.Quote, c.quote)
		}
		b.next(12, nil, tx(untoldBuy()))
		l := b.db.launches[pup]
		if l.Quote != c.quote || l.SaleBase != e18(800) || l.Progress != 25 || l.Reserves.RealQuote != e6(100) {
			t.Errorf("%s: takes %q and sells %s, %v %% sold; want %q, 800 and 25 %%", name, l.Quote, l.SaleBase.Dec(), l.Progress, c.quote)
		}
		if got := b.usd(pup); got < c.usd*(1-1e-12) || got > c.usd*(1+1e-12) {
			t.Errorf("%s: a pup is at %v USD, want %v", name, got, c.usd)
		}
	}
}

// TestSpoofedQuote: whoever makes a curve's first trade can move in its transaction what he likes, of any amount, to or from the
// curve's contract. It says nothing of what the curve takes.
func TestSpoofedQuote(t *testing.T) {
	t.Parallel()
	for name, spoof := range map[string]market.Event{
		"the trade's amount of a dear quote": moved(weth, bob, otherPad, e6(101)),
		"what the curve keeps, from it":      moved(weth, otherPad, bob, e6(100)),
		"the amount of an undeclared token":  moved(frog, bob, otherPad, e6(101)),
		"another amount":                     moved(usdt, bob, otherPad, raw(1)),
		"no token at all":                    moved(weth, bob, router, e6(101)),
	} {
		for answer, facts := range map[string][]market.Fact{
			"known":   append(facts(pup), curveFact(otherPad, usdc)),
			"unknown": facts(pup),
		} {
			b := stage(t)
			b.next(12, facts, tx(moved(pup, nobody, otherPad, e18(1000)), launched(untold)))
			b.next(12, nil, tx(spoof, untoldBuy(), spoof))
			want, usd := usdc, 2.0
			if answer == "unknown" {
				want, usd = market.Address{}, 0
			}
			if l := b.db.launches[pup]; l.Quote != want || b.usd(pup) != usd || l.Reserves.RealQuote != e6(100) {
				t.Errorf("%s moved, the quote %s: takes %q at %v USD with %s raised, want %q at %v", name, answer, l.Quote, b.usd(pup),
					l.Reserves.RealQuote.Dec(), want, usd)
			}
		}
	}
}

// TestNoPoolStandsInForACurve: a token on a curve whose price is unknown has none: not that of a pool which somebody else made.
func TestNoPoolStandsInForACurve(t *testing.T) {
	t.Parallel()
	b := stage(t)
	b.launchPup(untold)
	b.next(12, nil, tx(pair(poolA, pup, usdc), synced(poolA, e18(1000), e6(9_000_000))))
	b.idle(20, 12)
	if got := b.db.tokens[pup]; !got.Pool.IsNone() || !got.Candidate.IsNone() {
		t.Errorf("%s prices a token on a curve that takes nobody knows what, %s is to", got.Pool, got.Candidate)
	}
}

// TestTradeAheadOfTheLaunch: a curve's first trade counts although its log comes before the one that announces the curve.
func TestTradeAheadOfTheLaunch(t *testing.T) {
	t.Parallel()
	b := stage(t)
	b.next(12, facts(pup), tx(moved(pup, nobody, pad, e18(1000)), moved(pup, pad, bob, e18(200)), bought(bob), launched()))
	l := b.db.launches[pup]
	if !l.Traded || l.Progress != 25 || len(b.db.trades) != 1 || b.db.trades[0].Trader != bob || l.LogIndex != 3 {
		t.Errorf("%v %% sold in trades %+v; want 25 %% in bob's: %+v", l.Progress, b.db.trades, l)
	}
	if h := b.db.tokens[pup].Holders; h.Status != market.HoldersCurrent || h.Count != 1 {
		t.Errorf("holders %+v, want bob alone", h)
	}
}

// TestBuyback: what a curve buys from itself moves the curve, and is nobody's trade.
func TestBuyback(t *testing.T) {
	t.Parallel()
	b := stage(t)
	b.launchPup()
	own := bought(pad)
	own.Buyback = true
	b.next(12, nil, tx(moved(pup, pad, carol, e18(200)), own))
	p := b.db.pools[market.CurveID(pup)]
	if l := b.db.launches[pup]; l.Progress != 25 || p.Price != 12.5/800 {
		t.Errorf("%v %% sold at %v, want the curve moved by it", l.Progress, p.Price)
	}
	if len(b.db.trades) != 0 || len(b.db.candles) != 0 || p.Day != (market.Window{ReferenceUSD: 20, ReferenceQuote: 0.01}) || p.LastTradeAt != 0 {
		t.Errorf("%+v counts as somebody's trade: %+v", b.db.trades, p.Day)
	}
}
