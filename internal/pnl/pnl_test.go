package pnl_test

import (
	"math"
	"testing"

	"github.com/holiman/uint256"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/pnl"
)

const (
	now  = 1_700_000_000
	noon = now - 3600
)

func wallet(n byte) market.Address { return market.EVMAddress([32]byte{12: 0xaa, 31: n}) }

func token(n byte) pnl.Token {
	return pnl.Token{Chain: "base", Mint: market.EVMAddress([32]byte{12: 0xbb, 31: n})}
}

// of is wallet 1's position in token 1.
var of = pnl.Position{Wallet: wallet(1), Token: token(1)}

const whole = 1_000_000 // raw units of a token with 6 decimals

func units(n int64) market.Amount { return *uint256.NewInt(uint64(n) * whole) }

func dollars(v float64) int64 { return int64(math.Round(v * 1e9)) }

// trade is one of n whole tokens at a price.
func trade(kind pnl.Kind, n int64, price float64) pnl.Entry {
	return pnl.Entry{Position: of, Kind: kind, At: noon, Amount: units(n), NanoUSD: dollars(float64(n) * price), HasUSD: true}
}

func buy(n int64, price float64) pnl.Entry  { return trade(pnl.Buy, n, price) }
func sell(n int64, price float64) pnl.Entry { return trade(pnl.Sell, n, price) }
func in(n int64) pnl.Entry {
	return pnl.Entry{Position: of, Kind: pnl.In, At: noon, Amount: units(n)}
}

func out(n int64) pnl.Entry {
	return pnl.Entry{Position: of, Kind: pnl.Out, At: noon, Amount: units(n)}
}

func at(t int64, e pnl.Entry) pnl.Entry {
	e.At = t
	return e
}

func charged(usd float64, e pnl.Entry) pnl.Entry {
	e.FeeNanoUSD = int64(math.Round(usd * 1e9))
	return e
}

func unvalued(e pnl.Entry) pnl.Entry {
	e.NanoUSD, e.HasUSD = 0, false
	return e
}

func day(entries ...pnl.Entry) (pnl.Window, *pnl.Ledger) {
	l := pnl.NewLedger(pnl.Options{Now: now, Spans: []int64{pnl.Day}})
	for i := range entries {
		l.Add(&entries[i])
	}
	return l.Windows()[0], l
}

func is(t *testing.T, what string, got pnl.USD, want float64) {
	t.Helper()
	if got != pnl.Nano(dollars(want)) {
		t.Errorf("%s is %s, want %v USD", what, got.Big(), want)
	}
}

// TestGolden holds the cases that the method was defined with; docs/pnl.md tells them.
func TestGolden(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name               string
		entries            []pnl.Entry
		realised, excluded float64
		wins               int
		movesAway          bool
	}{
		{name: "a, the first sale", entries: []pnl.Entry{buy(10, 1), sell(4, 2)}, realised: 4, wins: 1},
		{name: "a", entries: []pnl.Entry{buy(10, 1), sell(4, 2), buy(10, 2), sell(16, 2)}, realised: 10, wins: 2},
		{name: "b, where first in first out says 30", entries: []pnl.Entry{buy(10, 1), buy(10, 3), sell(10, 4)}, realised: 20, wins: 1},
		{name: "c", entries: []pnl.Entry{buy(10, 1), in(90), sell(100, 2)}, realised: 10, excluded: 180, wins: 1},
		{name: "d", entries: []pnl.Entry{buy(10, 1), out(10)}, movesAway: true},
		{name: "e", entries: []pnl.Entry{charged(0.8, buy(100, 1)), charged(0.88, sell(100, 1.1))}, realised: 8.32, wins: 1},
	} {
		w, _ := day(c.entries...)
		is(t, c.name+": realised", w.Realised(), c.realised)
		is(t, c.name+": excluded", w.Excluded, c.excluded)
		if w.Wins != c.wins || w.Losses != 0 || w.MovesAway() != c.movesAway {
			t.Errorf("%s: %d wins, %d losses, moves away %v", c.name, w.Wins, w.Losses, w.MovesAway())
		}
	}
}

func TestFees(t *testing.T) {
	t.Parallel()
	w, _ := day(charged(0.8, buy(100, 1)), charged(0.88, sell(100, 1.1)))
	is(t, "cost", w.Cost, 100.8)
	is(t, "proceeds", w.Proceeds, 109.12)
	is(t, "fees", w.Fees, 1.68)
	is(t, "volume", w.Volume, 210)
	// Half of what is sold has no basis: the fee is shared.
	w, _ = day(buy(1, 1), charged(1.6, sell(2, 100)))
	is(t, "proceeds of the half with a basis", w.Proceeds, 99.2)
	is(t, "proceeds of the half without", w.Excluded, 99.2)
	// Nobody is charged more than all, and nothing below nought.
	w, _ = day(buy(1, 1), charged(2, sell(1, 2)))
	is(t, "all was charged", w.Realised(), -1)
	w, _ = day(buy(1, 1), charged(2.000000001, sell(1, 2)))
	is(t, "more than all was charged", w.Realised(), -1)
	w, _ = day(charged(3, buy(1, 1)), charged(-1, sell(1, 2)))
	is(t, "a purchase for its double, and nothing on the sale", w.Realised(), 0)
	w, _ = day(charged(1, unvalued(buy(1, 1))), charged(1, unvalued(sell(1, 1))))
	is(t, "what has no value is charged nothing", w.Fees, 0)
}

// TestSellsRoundOnce to the even unit, and the last one takes what is left.
func TestSellsRoundOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tokens, paid, each int64
		costs              []int64
	}{
		{4, 10, 1, []int64{2, 3, 2, 3}}, // 2.5 of 10, 2.67 of 8, 2.5 of 5, the rest
		{8, 14, 2, []int64{4, 3, 4, 3}}, // 3.5 of 14, 3.33 of 10, 3.5 of 7, the rest
	} {
		l := pnl.NewLedger(pnl.Options{Now: now, Spans: []int64{pnl.Day}})
		bought := buy(c.tokens, 0)
		bought.NanoUSD = c.paid
		l.Add(&bought)
		cost := pnl.Nano(0)
		for i, want := range c.costs {
			sold := sell(c.each, 0)
			l.Add(&sold)
			w := l.Windows()[0]
			if got := w.Cost.Sub(cost); got != pnl.Nano(want) {
				t.Errorf("sell %d cost %s, want %d", i, got.Big(), want)
			}
			cost = w.Cost
		}
		if quantity, left := l.Held(of); !quantity.IsZero() || left != (pnl.USD{}) || cost != pnl.Nano(c.paid) {
			t.Errorf("after all was sold: %s units at %s, and %s of %d were sold", quantity.Dec(), left.Big(), cost.Big(), c.paid)
		}
	}
	// So is the share of the proceeds of a sell with too little basis: half of 5 and of 7.
	for brought, want := range map[int64]int64{5: 2, 7: 4} {
		sold := sell(2, 0)
		sold.NanoUSD = brought
		if w, _ := day(buy(1, 0), sold); w.Proceeds != pnl.Nano(want) || w.Excluded != pnl.Nano(brought-want) {
			t.Errorf("of %d: %s and %s", brought, w.Proceeds.Big(), w.Excluded.Big())
		}
	}
}

func TestWindows(t *testing.T) {
	t.Parallel()
	const from = now - pnl.Day
	entries := []pnl.Entry{
		at(0, buy(100, 1)),
		at(now-pnl.Week, sell(1, 100)), at(now-pnl.Week+1, sell(1, 3)),
		at(from, sell(1, 5)), at(from+1, sell(1, 9)), at(now, sell(1, 17)),
		at(now+1, sell(1, 1000)),
	}
	l := pnl.NewLedger(pnl.Options{Now: now, Spans: []int64{pnl.Day, pnl.Week, 0}, Points: 3})
	for i := range entries {
		l.Add(&entries[i])
	}
	w := l.Windows()
	is(t, "the day", w[0].Realised(), 8+16)
	is(t, "the week", w[1].Realised(), 2+4+8+16)
	is(t, "no time at all", w[2].Realised(), 0)
	for i, want := range [][]float64{{0, 8, 24}, {0, 2, 30}, {0, 0, 0}} {
		for k := range want {
			is(t, "a point", w[i].Line[k], want[k])
		}
	}
	if quantity, _ := l.Held(of); quantity != units(95) {
		t.Errorf("held are %s units", quantity.Dec())
	}
	if w[0].From != from || w[0].To != now || w[0].Trades != 2 || w[1].Trades != 4 {
		t.Errorf("the day is (%d, %d] with %d trades, the week has %d", w[0].From, w[0].To, w[0].Trades, w[1].Trades)
	}
}

func TestSpans(t *testing.T) {
	t.Parallel()
	if pnl.Day != 86_400 || pnl.Week != 604_800 {
		t.Errorf("a day is %d s and a week %d s, want 86,400 and 604,800", pnl.Day, pnl.Week)
	}
}

// A position of no wallet, no chain and no token is one like any other, also where its entry is the first.
func TestPositionOfNobody(t *testing.T) {
	t.Parallel()
	first := buy(1, 2)
	first.Position = pnl.Position{}
	_, l := day(first, buy(10, 1))
	quantity, cost := l.Held(pnl.Position{})
	if quantity != units(1) {
		t.Errorf("nobody holds %s, want 1 whole token", &quantity)
	}
	is(t, "the cost of nobody's token", cost, 2)
	quantity, cost = l.Held(of)
	if quantity != units(10) {
		t.Errorf("the wallet holds %s, want 10 whole tokens", &quantity)
	}
	is(t, "the cost of the wallet's tokens", cost, 10)
}

// TestLine has a sale in each of the four parts of a line of five points, at its end.
func TestLine(t *testing.T) {
	t.Parallel()
	l := pnl.NewLedger(pnl.Options{Now: now, Spans: []int64{pnl.Day}, Points: 5})
	entries := []pnl.Entry{at(0, buy(10, 1))}
	for i := int64(1); i <= 4; i++ {
		entries = append(entries, at(now-pnl.Day+i*pnl.Day/4, sell(1, float64(1+i))))
	}
	for i := range entries {
		l.Add(&entries[i])
	}
	for range 2 { // asked twice, it says the same
		w := l.Windows()[0]
		if len(w.Line) != 5 || w.Line[4] != w.Realised() {
			t.Errorf("a line of %d points ends at %s; realised is %s", len(w.Line), w.Line[4].Big(), w.Realised().Big())
		}
		for i, want := range []float64{0, 1, 3, 6, 10} {
			is(t, "a point", w.Line[i], want)
		}
	}
}

// TestUnknownValues: quantity bought for nobody knows what has no basis; quantity sold so is gone, and what it cost with it.
func TestUnknownValues(t *testing.T) {
	t.Parallel()
	w, l := day(unvalued(buy(10, 1)), sell(4, 2))
	is(t, "realised of what was bought without a value", w.Realised(), 0)
	is(t, "excluded", w.Excluded, 8)
	if quantity, _ := l.Held(of); w.Unvalued != 1 || w.Trades != 2 || w.Sales != 0 || !quantity.IsZero() {
		t.Errorf("%d of %d trades are unvalued, %d sales, %s units", w.Unvalued, w.Trades, w.Sales, quantity.Dec())
	}
	w, l = day(buy(10, 1), unvalued(sell(4, 1)), sell(6, 2))
	is(t, "realised of the rest", w.Realised(), 6)
	if w.Unvalued != 1 || w.Sales != 1 {
		t.Errorf("%d unvalued, %d sales", w.Unvalued, w.Sales)
	}
	_, cost := l.Held(of)
	is(t, "left", cost, 0)
	negative := sell(1, 1)
	negative.NanoUSD = -1
	if w, _ = day(buy(1, 1), negative); w.Unvalued != 1 || w.Realised().Sign() != 0 {
		t.Errorf("a negative value counts: %+v", w)
	}
}

// TestIneligible: a sale in a shallow pool moves the position and counts for nothing; a purchase there has its basis.
func TestIneligible(t *testing.T) {
	t.Parallel()
	bought, sold := buy(10, 1), sell(4, 100)
	bought.Ineligible, sold.Ineligible = true, true
	w, _ := day(bought, sold, sell(10, 2))
	is(t, "realised", w.Realised(), 6)
	is(t, "excluded", w.Excluded, 8)
	if w.Sales != 1 || w.IneligibleSells != 1 || w.Best == nil || w.Best.Realised != w.Realised() {
		t.Errorf("%+v", w)
	}
}

func TestTransfers(t *testing.T) {
	t.Parallel()
	other := of
	other.Wallet = wallet(2)
	mine := func(e pnl.Entry) pnl.Entry { // between wallets of one member
		e.To = other.Wallet
		return e
	}
	elsewhere := sell(10, 3)
	elsewhere.Position = other
	// 4 of 10 go to the other wallet with their basis, 6 to nobody knows whom; of the 10 that are sold there 4 have a basis.
	w, l := day(buy(10, 1), mine(out(4)), out(6), elsewhere)
	is(t, "realised by the other wallet", w.Realised(), 8)
	is(t, "excluded", w.Excluded, 18)
	is(t, "moved out", w.MovedOut, 6)
	if quantity, _ := l.Held(of); !quantity.IsZero() || w.MovesAway() {
		t.Errorf("%s units are left; moves away %v, at 6 of 40 USD", quantity.Dec(), w.MovesAway())
	}
	// Exactly a fifth is not more than a fifth.
	if w, _ = day(buy(10, 1), out(2)); w.MovesAway() {
		t.Error("a fifth of the volume is too much")
	}
	if w, _ = day(buy(100, 1), out(21)); !w.MovesAway() {
		t.Error("more than a fifth is not too much")
	}
	// What goes to oneself stays.
	self := out(10)
	self.To = of.Wallet
	w, _ = day(buy(10, 1), self, sell(10, 2))
	is(t, "realised after a transfer to oneself", w.Realised(), 10)
	// What never had a basis takes none along.
	if w, _ = day(in(10), out(10)); w.MovedOut.Sign() != 0 {
		t.Errorf("moved out: %s", w.MovedOut.Big())
	}
}

// TestSwap is one token for another: a sale and a purchase of one value.
func TestSwap(t *testing.T) {
	t.Parallel()
	got, sold := buy(3, 5), sell(10, 1.5)
	got.Token = token(2)
	after := sell(3, 6)
	after.Token = token(2)
	w, _ := day(buy(10, 1), sold, got, after)
	is(t, "realised", w.Realised(), 5+3)
	if w.Best == nil || w.Best.Token != of.Token || w.Best.Realised != pnl.Nano(dollars(5)) {
		t.Errorf("the best is %+v", w.Best)
	}
}

// TestSalesOfOneTransaction count once: what a router splits is one sale.
func TestSalesOfOneTransaction(t *testing.T) {
	t.Parallel()
	in1 := func(tx byte, e pnl.Entry) pnl.Entry {
		e.Tx = market.EVMTx([32]byte{tx})
		return e
	}
	second := sell(1, 4)
	second.Token = token(2)
	bought := buy(10, 1)
	bought.Token = token(2)
	w, _ := day(
		buy(10, 1), bought,
		in1(1, sell(1, 10)), in1(1, second), in1(1, sell(1, 0)), // +9 -1 = +8, and +3
		in1(2, sell(1, 0)),             // -1
		in1(3, sell(1, 1)),             // 0
		in1(4, sell(1, 9)), sell(1, 9), // +8, and +8 by itself
		sell(1, 1.5), sell(1, 1.5), // two without a transaction
	)
	if w.Sales != 8 || w.Wins != 6 || w.Losses != 1 {
		t.Errorf("%d sales, %d wins, %d losses", w.Sales, w.Wins, w.Losses)
	}
	if w.Best == nil || w.Best.Realised != pnl.Nano(dollars(8)) {
		t.Errorf("the best is %+v", w.Best)
	}
	if pct, ok := w.WinRatePct(); !ok || pct != 75 {
		t.Errorf("win rate %v, %v", pct, ok)
	}
}

// TestBest takes the earlier of equal gains, then what comes first by chain, token and wallet, whatever order they come in.
func TestBest(t *testing.T) {
	t.Parallel()
	of := func(later int64, chain string, n, w byte) (out [2]pnl.Entry) {
		out = [2]pnl.Entry{buy(1, 1), at(noon+later, sell(1, 2))}
		for i := range out {
			out[i].Position = pnl.Position{Wallet: wallet(w), Token: pnl.Token{Chain: chain, Mint: token(n).Mint}}
		}
		return out
	}
	inOrder := [][2]pnl.Entry{
		of(1, "bsc", 3, 2), of(2, "base", 2, 1), of(2, "base", 2, 2), of(2, "base", 3, 1), of(2, "bsc", 1, 1), of(3, "base", 1, 1),
	}
	for first := range inOrder {
		var entries []pnl.Entry
		for _, pair := range inOrder[first:] {
			entries = append(entries, pair[:]...)
		}
		for range 20 { // maps have no order
			if w, _ := day(entries...); w.Best == nil || w.Best.Position != inOrder[first][0].Position {
				t.Fatalf("the best from %d on is %+v", first, w.Best)
			}
		}
	}
	if w, _ := day(buy(1, 1), sell(1, 1)); w.Best != nil {
		t.Errorf("no gain is the best: %+v", w.Best)
	}
}

func TestDollars(t *testing.T) {
	t.Parallel()
	for nano, want := range map[int64]float64{0: 0, 1: 1e-9, -1: -1e-9, -123_456_789: -0.123456789, math.MaxInt64: 9223372036.854775807, math.MinInt64: -9223372036.854775808} {
		if got := pnl.Nano(nano).Dollars(); got != want {
			t.Errorf("%d is %v, want %v", nano, got, want)
		}
	}
}

func TestPercent(t *testing.T) {
	t.Parallel()
	w, _ := day(buy(1, 2), sell(1, 3))
	if pct, ok := w.RealisedPct(); !ok || pct != 50 {
		t.Errorf("50 %% are %v, %v", pct, ok)
	}
	w, _ = day(buy(1, 1), sell(1, 3))
	if pct, ok := w.RealisedPct(); !ok || pct != 200 {
		t.Errorf("200 %% are %v, %v", pct, ok)
	}
	w, _ = day(buy(1, 0.999_999_999), sell(1, 3))
	if pct, ok := w.RealisedPct(); ok {
		t.Errorf("of a cost below 1 USD %v %%", pct)
	}
	if pct, ok := w.WinRatePct(); !ok || pct != 100 {
		t.Errorf("win rate %v, %v", pct, ok)
	}
	w, _ = day()
	if _, ok := w.WinRatePct(); ok {
		t.Error("a win rate without sales")
	}
}

func TestGas(t *testing.T) {
	t.Parallel()
	bought, sold := buy(1, 1), sell(1, 2)
	bought.GasNanoUSD, bought.HasGas = dollars(0.25), true
	w, _ := day(bought, sold)
	is(t, "gas", w.Gas, 0.25)
	is(t, "realised", w.Realised(), 1)
	if w.WithoutGas != 1 {
		t.Errorf("%d trades without gas", w.WithoutGas)
	}
}

func TestQuotesAreNoPositions(t *testing.T) {
	t.Parallel()
	l := pnl.NewLedger(pnl.Options{Now: now, Spans: []int64{pnl.Day}, Quote: func(t pnl.Token) bool { return t == of.Token }})
	other := of
	other.Chain = "bsc"
	for _, e := range []pnl.Entry{buy(10, 1), sell(10, 2), out(1)} {
		l.Add(&e)
		e.Position = other
		l.Add(&e)
	}
	w := l.Windows()[0]
	is(t, "realised on the other chain", w.Realised(), 10)
	if w.Trades != 2 || w.Sales != 1 {
		t.Errorf("%d trades, %d sales", w.Trades, w.Sales)
	}
}

// TestHostileQuantities are of a token whose contract says what it likes.
func TestHostileQuantities(t *testing.T) {
	t.Parallel()
	most := *new(uint256.Int).SetAllOne()
	huge := func(e pnl.Entry, amount market.Amount) pnl.Entry {
		e.Amount = amount
		return e
	}
	third := *new(uint256.Int).Div(&most, uint256.NewInt(3))
	w, l := day(huge(buy(1, 9), most), huge(sell(1, 7), third), huge(sell(1, 7), third), huge(sell(1, 7), third))
	is(t, "in thirds", w.Realised(), 12)
	if quantity, cost := l.Held(of); !quantity.IsZero() || cost.Sign() != 0 {
		t.Errorf("left: %s, %s", quantity.Dec(), cost.Big())
	}
	// Beyond 256 bits the quantity stays where it is and the cost is kept: no profit comes of it.
	w, l = day(huge(buy(1, 9), most), huge(buy(1, 9), most), huge(sell(1, 20), most))
	is(t, "realised", w.Realised(), 2)
	if quantity, cost := l.Held(of); !quantity.IsZero() || cost.Sign() != 0 {
		t.Errorf("left: %s, %s", quantity.Dec(), cost.Big())
	}
	// Values beyond 64 bits in sum.
	const trades = 50
	entries := make([]pnl.Entry, 0, trades+1)
	for range trades {
		e := buy(1, 0)
		e.NanoUSD = math.MaxInt64
		entries = append(entries, e)
	}
	for _, sold := range []int64{trades, trades / 2, 1} {
		w, l = day(append(entries, sell(sold, 0))...)
		want := pnl.Nano(0)
		for range sold {
			want = want.Sub(pnl.Nano(math.MaxInt64))
		}
		if w.Realised() != want || w.Losses != 1 {
			t.Errorf("of %d realised %s, want %s", sold, w.Realised().Big(), want.Big())
		}
		if got := w.Realised().Dollars(); math.Abs(got+float64(sold)*9223372036.854775807) > 1e-3 {
			t.Errorf("in dollars: %v", got)
		}
		if _, cost := l.Held(of); cost.Add(w.Cost) != w.Volume {
			t.Errorf("left: %s", cost.Big())
		}
	}
	// A sell of nothing is none.
	if w, _ = day(buy(1, 1), huge(sell(1, 1), market.Amount{})); w.Trades != 1 || w.Excluded.Sign() != 0 {
		t.Errorf("%+v", w)
	}
}

func TestTradeOf(t *testing.T) {
	t.Parallel()
	tr := market.Trade{
		Time: 5, Tx: market.EVMTx([32]byte{1}), Base: of.Mint, Trader: of.Wallet, BaseAmount: units(2), QuoteAmount: units(9), NanoUSD: 7, HasUSD: true,
	}
	want := pnl.Entry{Position: of, Kind: pnl.Buy, At: 5, Tx: tr.Tx, Amount: units(2), NanoUSD: 7, HasUSD: true}
	if got := pnl.TradeOf("base", &tr); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	tr.Sell, want.Kind = true, pnl.Sell
	if got := pnl.TradeOf("base", &tr); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
