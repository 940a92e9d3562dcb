package view

import (
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// TestChangeAcrossAGraduation compares with the curve's price of a day ago while the token left its curve less than a day ago,
// whenever the pool that it moved to was made.
func TestChangeAcrossAGraduation(t *testing.T) {
	t.Parallel()
	const now, hour = 1_800_000_000, 3600
	mint, quote := evm("0xa000000000000000000000000000000000000001"), evm(wrapped)
	for name, c := range map[string]struct {
		madeAt, graduatedAt int64
		onCurve             float64 // the price of a day ago, in USD
		want                float64
	}{
		"into a new pool":           {now - hour, now - hour, 2, 2},
		"into one made days before": {now - 72*hour, now - hour, 2, 2},
		"two days ago":              {now - 48*hour, now - 48*hour, 2, 5},
		"then into a newer pool":    {now - hour, now - 48*hour, 2, 5},
		"a day ago":                 {now - 24*hour, now - 24*hour, 2, 5},
		"launched today":            {now - hour, now - hour, 0, 5},
		"never":                     {now - hour, 0, 0, 5},
	} {
		f := newFacts(&Token{
			AsOf: now, GraduatedAt: c.graduatedAt, Token: market.Token{Mint: mint, Pool: market.CurveID(quote)},
			Pools: []market.Pool{
				{ID: market.CurveID(mint), Protocol: market.BondingCurve, Quote: quote, Day: market.Window{ReferenceUSD: c.onCurve}},
				{ID: market.CurveID(quote), Protocol: market.UniswapV2, Quote: quote, CreatedAt: c.madeAt, Price: 0.01, Day: market.Window{ReferenceUSD: 5}},
			},
		})
		usd := map[market.Address]market.QuotePrice{quote: {USD: 1000}}
		if got := f.figures(mint, usd, 0).Change24hPct; got == nil || *got != (10/c.want-1)*100 {
			t.Errorf("%s: the change is %v, want against %g", name, got, c.want)
		}
	}
}

// TestTokensKnowTheirGraduation reads it with the token.
func TestTokensKnowTheirGraduation(t *testing.T) {
	t.Parallel()
	w, v, mint := oneLaunch(t)
	for _, want := range []int64{0, w.now} {
		list, err := v.Tokens(t.Context(), mint)
		if err != nil || len(list) != 1 || list[0].GraduatedAt != want {
			t.Errorf("want a graduation at %d: %+v, %v", want, list, err)
		}
		w.commit("base", func(ch *market.Changes) {
			w.set(ch, "base", mint, 2, launched{name: "Otter", symbol: "OTR", venue: "four-meme", state: market.LaunchGraduated, locked: 5})
		})
		v.now = func() time.Time { return time.Unix(w.now+60, 0) } // past what is remembered
	}
}

// TestBodiesHaveTheirRoom keeps bodies as far as there is room, which one that takes another's place gives back.
func TestBodiesHaveTheirRoom(t *testing.T) {
	t.Parallel()
	k := newCardBodies()
	first, next, other := bodyKey{mint: evm(wrapped)}, bodyKey{mint: evm(wrapped), withClones: true}, bodyKey{chain: "base"}
	was, is := &Card{}, &Card{verdict: verdict{rank: 1}}
	for _, step := range []struct {
		key    bodyKey
		card   *Card
		length int
		kept   bool
	}{{first, was, bodyRoom / 2, true}, {next, was, bodyRoom / 2, true}, {other, was, 1, false}, {first, is, bodyRoom/2 - 1, true}, {other, was, 1, true}} {
		c := cardBody{card: step.card}
		c.body = make([]byte, step.length)
		k.put(step.key, c)
		if _, ok := k.get(step.key, cardBody{card: step.card}); ok != step.kept {
			t.Errorf("of %d bytes there are %d left; the body is kept: %v", bodyRoom, k.room, ok)
		}
	}
	if _, ok := k.get(first, cardBody{card: was}); ok {
		t.Error("a card that changed has the body of the last one")
	}
	if _, ok := k.get(first, cardBody{card: is, stale: true}); ok {
		t.Error("a card has the same body while its chain stands still")
	}
}
