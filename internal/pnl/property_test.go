package pnl_test

import (
	"math/big"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/pnl"
)

// naive is the method once more, the slow way: fractions instead of integers, one window at a time, every entry kept. With
// exact it doesn't round at all.
type naive struct {
	from, to int64
	exact    bool

	quantity, cost map[pnl.Position]*big.Rat
	// bought and spent are over all time: the costs of what was bought, and of what went.
	bought, spent                                                 *big.Rat
	realised, costs, proceeds, excluded, fees, volume, moved, gas *big.Rat
	trades, unvalued, ineligible, withoutGas                      int
	roundings                                                     int64
	sales                                                         []naiveSale
}

type naiveSale struct {
	of       pnl.Position
	tx       market.TxID
	at       int64
	realised *big.Rat
}

func rat(n int64) *big.Rat                  { return new(big.Rat).SetInt64(n) }
func ratOf(a market.Amount) *big.Rat        { return new(big.Rat).SetInt(a.ToBig()) }
func plus(a, b *big.Rat) *big.Rat           { return new(big.Rat).Add(a, b) }
func minus(a, b *big.Rat) *big.Rat          { return new(big.Rat).Sub(a, b) }
func times(a, b *big.Rat) *big.Rat          { return new(big.Rat).Mul(a, b) }
func least(a, b *big.Rat) *big.Rat          { return map[bool]*big.Rat{true: a, false: b}[a.Cmp(b) < 0] }
func (n *naive) holds(e *pnl.Entry) bool    { return n.from < e.At && e.At <= n.to }
func (n *naive) isValued(e *pnl.Entry) bool { return e.HasUSD && e.NanoUSD >= 0 }

// round is to the nearest integer, of two equally near ones to the even: what is written with no decimals is so rounded in
// decimal, away from zero, so that halves are told apart first.
func (n *naive) round(x *big.Rat) *big.Rat {
	if n.exact || x.IsInt() {
		return x
	}
	n.roundings++
	if doubled := times(x, rat(2)); doubled.IsInt() { // halfway: x/2 to the nearest integer, twice, is the even neighbour
		half, _ := new(big.Rat).SetString(times(x, big.NewRat(1, 2)).FloatString(0))
		return times(half, rat(2))
	}
	nearest, _ := new(big.Rat).SetString(x.FloatString(0))
	return nearest
}

func compute(entries []pnl.Entry, now, span int64, exact bool) *naive {
	n := &naive{
		from: now - span, to: now, exact: exact, quantity: map[pnl.Position]*big.Rat{}, cost: map[pnl.Position]*big.Rat{},
	}
	for _, sum := range []**big.Rat{
		&n.bought, &n.spent, &n.realised, &n.costs, &n.proceeds, &n.excluded, &n.fees, &n.volume, &n.moved, &n.gas,
	} {
		*sum = new(big.Rat)
	}
	for i := range entries {
		e := &entries[i]
		if e.At > now || e.Amount.IsZero() && e.Kind != pnl.Held || e.Chain == "quotes" {
			continue
		}
		if n.quantity[e.Position] == nil {
			n.quantity[e.Position], n.cost[e.Position] = new(big.Rat), new(big.Rat)
		}
		switch e.Kind {
		case pnl.Buy, pnl.Sell:
			n.trade(e)
		case pnl.Out:
			n.out(e)
		case pnl.In:
		case pnl.Held:
			n.held(e)
		}
	}
	return n
}

var most = new(big.Rat).SetInt(new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1)))

func (n *naive) give(p pnl.Position, quantity, cost *big.Rat) {
	if n.quantity[p] == nil {
		n.quantity[p], n.cost[p] = new(big.Rat), new(big.Rat)
	}
	n.quantity[p] = least(plus(n.quantity[p], quantity), most)
	n.cost[p] = plus(n.cost[p], cost)
}

func (n *naive) remove(p pnl.Position, wanted *big.Rat) (quantity, cost *big.Rat) {
	quantity = least(wanted, n.quantity[p])
	if quantity.Sign() == 0 {
		return new(big.Rat), new(big.Rat)
	}
	cost = n.round(times(n.cost[p], new(big.Rat).Quo(quantity, n.quantity[p])))
	n.quantity[p], n.cost[p] = minus(n.quantity[p], quantity), minus(n.cost[p], cost)
	return quantity, cost
}

func (n *naive) out(e *pnl.Entry) {
	quantity, cost := n.remove(e.Position, ratOf(e.Amount))
	switch {
	case !e.To.IsNone():
		n.give(pnl.Position{Wallet: e.To, Token: e.Token}, quantity, cost)
	default:
		n.spent = plus(n.spent, cost)
		if n.holds(e) {
			n.moved = plus(n.moved, cost)
		}
	}
}

// held takes what is beyond what the wallet has.
func (n *naive) held(e *pnl.Entry) {
	if beyond := minus(n.quantity[e.Position], ratOf(e.Amount)); beyond.Sign() > 0 {
		_, cost := n.remove(e.Position, beyond)
		n.spent = plus(n.spent, cost)
	}
}

func (n *naive) trade(e *pnl.Entry) {
	charged := rat(0)
	if n.isValued(e) {
		charged = rat(max(0, min(e.FeeNanoUSD, e.NanoUSD)))
	}
	if n.holds(e) {
		n.trades++
		if n.isValued(e) {
			n.volume, n.fees = plus(n.volume, rat(e.NanoUSD)), plus(n.fees, charged)
		} else {
			n.unvalued++
		}
		if e.HasGas {
			n.gas = plus(n.gas, rat(e.GasNanoUSD))
		} else {
			n.withoutGas++
		}
	}
	if e.Kind == pnl.Buy {
		if n.isValued(e) {
			n.give(e.Position, ratOf(e.Amount), plus(rat(e.NanoUSD), charged))
			n.bought = plus(n.bought, plus(rat(e.NanoUSD), charged))
		}
		return
	}
	quantity, cost := n.remove(e.Position, ratOf(e.Amount))
	n.spent = plus(n.spent, cost)
	if !n.isValued(e) || !n.holds(e) {
		return
	}
	if e.Ineligible {
		n.ineligible++
		return
	}
	net := minus(rat(e.NanoUSD), charged)
	proceeds := n.round(times(net, new(big.Rat).Quo(quantity, ratOf(e.Amount))))
	n.excluded = plus(n.excluded, minus(net, proceeds))
	if quantity.Sign() == 0 {
		return
	}
	n.proceeds, n.costs = plus(n.proceeds, proceeds), plus(n.costs, cost)
	n.realised = plus(n.realised, minus(proceeds, cost))
	n.sales = append(n.sales, naiveSale{e.Position, e.Tx, e.At, minus(proceeds, cost)})
}

// merged puts the sales of one position in one transaction together.
func (n *naive) merged() (out []naiveSale) {
	for _, s := range n.sales {
		found := false
		for i := range out {
			if o := &out[i]; !s.tx.IsNone() && o.tx == s.tx && o.of == s.of {
				o.realised, found = plus(o.realised, s.realised), true
			}
		}
		if !found {
			out = append(out, s)
		}
	}
	return out
}

// drawEntries draws what may happen to some positions. A transaction is of one moment.
func drawEntries(t *rapid.T) []pnl.Entry {
	amounts := rapid.OneOf(
		rapid.Custom(func(t *rapid.T) market.Amount { return market.Amount{rapid.Uint64Range(0, 12).Draw(t, "few")} }),
		rapid.Custom(func(t *rapid.T) market.Amount {
			word := rapid.Uint64()
			return market.Amount{word.Draw(t, "w0"), word.Draw(t, "w1"), word.Draw(t, "w2"), word.Draw(t, "w3")}
		}),
		rapid.Custom(func(t *rapid.T) market.Amount {
			var a market.Amount
			a.SetAllOne()
			return *a.Rsh(&a, rapid.UintRange(0, 255).Draw(t, "shift"))
		}),
	)
	values := rapid.OneOf(rapid.Int64Range(0, 9), rapid.Int64Range(0, 1e13), rapid.Int64Range(-2, 1<<63-1))
	at, tx := int64(now-pnl.Week-10_000), byte(0)
	var out []pnl.Entry
	for range rapid.IntRange(0, 30).Draw(t, "entries") {
		if step := rapid.SampledFrom([]int64{0, 0, 1, 3600, 80_000}).Draw(t, "seconds"); step > 0 || rapid.Bool().Draw(t, "next transaction") {
			at, tx = at+step, tx+1
		}
		e := pnl.Entry{
			Position: pnl.Position{Wallet: wallet(rapid.ByteRange(1, 2).Draw(t, "wallet")), Token: token(rapid.ByteRange(1, 2).Draw(t, "token"))},
			Kind:     rapid.SampledFrom([]pnl.Kind{pnl.Buy, pnl.Buy, pnl.Sell, pnl.Sell, pnl.In, pnl.Out, pnl.Held}).Draw(t, "kind"),
			At:       at, Amount: amounts.Draw(t, "amount"), HasUSD: rapid.IntRange(0, 9).Draw(t, "unvalued") > 0,
			HasGas: rapid.Bool().Draw(t, "gas"), GasNanoUSD: rapid.Int64Range(0, 1e9).Draw(t, "gas paid"),
			Ineligible: rapid.IntRange(0, 9).Draw(t, "ineligible") == 0,
		}
		e.NanoUSD = values.Draw(t, "value")
		if rapid.Bool().Draw(t, "charged") {
			e.FeeNanoUSD = values.Draw(t, "fee")
		}
		if rapid.Bool().Draw(t, "known transaction") {
			e.Tx = market.EVMTx([32]byte{1, tx})
		}
		if rapid.IntRange(0, 9).Draw(t, "quote") == 0 {
			e.Chain = "quotes"
		}
		if e.Kind == pnl.Out && rapid.Bool().Draw(t, "to the other") {
			e.To = wallet(rapid.ByteRange(1, 2).Draw(t, "to"))
		}
		out = append(out, e)
	}
	return out
}

var spans = []int64{pnl.Day, pnl.Week, 1 << 40}

func ledgerOf(points int, entries []pnl.Entry) *pnl.Ledger {
	l := pnl.NewLedger(pnl.Options{Now: now, Spans: spans, Points: points, Quote: func(t pnl.Token) bool { return t.Chain == "quotes" }})
	for i := range entries {
		l.Add(&entries[i])
	}
	return l
}

// TestAgainstFractions holds every figure against the slow way, to the unit, and what was realised against one that never
// rounds, to a unit for each time it was rounded.
func TestAgainstFractions(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		entries := drawEntries(t)
		points := rapid.IntRange(0, 9).Draw(t, "points")
		l := ledgerOf(points, entries)
		for i, w := range l.Windows() {
			n, exact := compute(entries, now, spans[i], false), compute(entries, now, spans[i], true)
			for what, pair := range map[string][2]*big.Rat{
				"realised": {ratUSD(w.Realised()), n.realised}, "cost": {ratUSD(w.Cost), n.costs}, "proceeds": {ratUSD(w.Proceeds), n.proceeds},
				"excluded": {ratUSD(w.Excluded), n.excluded}, "fees": {ratUSD(w.Fees), n.fees}, "volume": {ratUSD(w.Volume), n.volume},
				"moved out": {ratUSD(w.MovedOut), n.moved}, "gas": {ratUSD(w.Gas), n.gas},
			} {
				if pair[0].Cmp(pair[1]) != 0 {
					t.Fatalf("window %d: %s is %s, want %s", i, what, pair[0], pair[1])
				}
			}
			if off := new(big.Rat).Abs(minus(n.realised, exact.realised)); off.Cmp(rat(n.roundings)) > 0 {
				t.Fatalf("window %d: rounded %d times, and off by %s", i, n.roundings, off.FloatString(3))
			}
			if want := times(n.moved, rat(5)).Cmp(n.volume) > 0; w.MovesAway() != want {
				t.Fatalf("window %d: moves away %v", i, w.MovesAway())
			}
			if w.Trades != n.trades || w.Unvalued != n.unvalued || w.IneligibleSells != n.ineligible || w.WithoutGas != n.withoutGas {
				t.Fatalf("window %d: %+v, want %+v", i, w, n)
			}
			holdSales(t, &w, n.merged())
			holdLine(t, &w, points, entries)
		}
		holdConservation(t, l, compute(entries, now, 1<<40, false))
	})
}

func ratUSD(u pnl.USD) *big.Rat { return new(big.Rat).SetInt(u.Big()) }

func holdSales(t *rapid.T, w *pnl.Window, sales []naiveSale) {
	wins, losses := 0, 0
	var best *naiveSale
	for i := range sales {
		s := &sales[i]
		switch s.realised.Sign() {
		case 1:
			wins++
			if best == nil || s.realised.Cmp(best.realised) > 0 {
				best = s
			}
		case -1:
			losses++
		}
	}
	if w.Sales != len(sales) || w.Wins != wins || w.Losses != losses {
		t.Fatalf("%d sales, %d wins, %d losses; want %d, %d, %d", w.Sales, w.Wins, w.Losses, len(sales), wins, losses)
	}
	if (w.Best == nil) != (best == nil) || best != nil && ratUSD(w.Best.Realised).Cmp(best.realised) != 0 {
		t.Fatalf("the best is %+v, want %+v", w.Best, best)
	}
}

// holdLine computes every point as a window that ends there.
func holdLine(t *rapid.T, w *pnl.Window, points int, entries []pnl.Entry) {
	if points < 2 {
		if w.Line != nil {
			t.Fatalf("a line of %d points", len(w.Line))
		}
		return
	}
	for i, got := range w.Line {
		end := w.From + (w.To-w.From)*int64(i)/int64(points-1) // in whole seconds, as entries are
		if want := compute(entries, end, end-w.From, false).realised; ratUSD(got).Cmp(want) != 0 {
			t.Fatalf("point %d is %s, want %s", i, ratUSD(got), want)
		}
	}
}

// holdConservation: what was ever paid is the cost of what went and of what is left.
func holdConservation(t *rapid.T, l *pnl.Ledger, n *naive) {
	left := new(big.Rat)
	for p, quantity := range n.quantity {
		q, cost := l.Held(p)
		if ratOf(q).Cmp(quantity) != 0 || ratUSD(cost).Cmp(n.cost[p]) != 0 || cost.Sign() < 0 {
			t.Fatalf("%v: %s units at %s, want %s at %s", p, q.Dec(), cost.Big(), quantity, n.cost[p])
		}
		left = plus(left, ratUSD(cost))
	}
	if plus(n.spent, left).Cmp(n.bought) != 0 {
		t.Fatalf("bought for %s; what went had cost %s, what is left %s", n.bought, n.spent, left)
	}
}

// TestChainsInAnyOrder: positions are independent, so that one chain may come after the other or between, in one go or with
// questions in between.
func TestChainsInAnyOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		first, second := drawEntries(t), drawEntries(t)
		for i := range second {
			second[i].Chain += "2"
		}
		straight := ledgerOf(5, append(append([]pnl.Entry(nil), first...), second...)).Windows()
		mixed := ledgerOf(5, nil)
		for len(first)+len(second) > 0 {
			from := &first
			if len(first) == 0 || len(second) > 0 && rapid.Bool().Draw(t, "the second") {
				from = &second
			}
			mixed.Add(&(*from)[0])
			*from = (*from)[1:]
			if rapid.IntRange(0, 9).Draw(t, "asked") == 0 {
				mixed.Windows()
			}
		}
		for i, w := range mixed.Windows() {
			if !equal(&w, &straight[i]) {
				t.Fatalf("window %d\n%+v, want\n%+v", i, w, straight[i])
			}
		}
	})
}

func equal(a, b *pnl.Window) bool {
	if (a.Best == nil) != (b.Best == nil) || a.Best != nil && *a.Best != *b.Best || !slices.Equal(a.Line, b.Line) {
		return false
	}
	x, y := *a, *b
	x.Best, y.Best, x.Line, y.Line = nil, nil, nil, nil
	return reflect.DeepEqual(x, y)
}
