package traction

import (
	"math"
	"slices"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// truth is what a tape should say of a token's trades, from all of them, by its definitions.
type truth struct {
	Parts
	Hour
	raw float64
	// organic is the organic volume before the bound of a fifth.
	organic float64
	// edge says that a wallet's share of round trips is a buyer's or not by no more than rounding.
	edge bool
}

func tell(flows []Flow, excluded []market.Address, liquidity float64, now int64) (out truth) {
	for i := len(flows) - 1; i > 0; i-- { // a tape without a trade for Window is as good as new
		if flows[i].Time-flows[i-1].Time >= Window {
			flows = flows[i:]
			break
		}
	}
	if len(flows) > 0 && now-flows[len(flows)-1].Time >= Window {
		flows = nil
	}
	byWallet := map[market.Address][]Flow{}
	var order []market.Address
	for _, f := range flows {
		if slices.Contains(excluded, f.Wallet) {
			continue
		}
		of := byWallet[f.Wallet]
		if of == nil {
			order = append(order, f.Wallet)
		} else if f.Time-of[len(of)-1].Time >= Window {
			of = nil
		}
		byWallet[f.Wallet] = append(of, f)
	}
	var organic []float64
	for _, w := range order {
		of := byWallet[w]
		if now-of[len(of)-1].Time >= Window {
			continue
		}
		var buy, sell float64
		bought, sold := false, false
		for _, f := range of {
			usd := f.USD * math.Exp2(-float64(now-f.Time)/HalfLife)
			if f.Sell {
				sell += usd
				sold = sold || f.Time > now-3600
			} else {
				buy += usd
				bought = bought || f.Time > now-3600
			}
		}
		if bought {
			out.Hour.Buyers++
		}
		if sold {
			out.Sellers++
		}
		back := 2 * min(buy, sell)
		out.raw += buy + sell
		out.Wash += back
		out.edge = out.edge || buy+sell > 0 && math.Abs(back/(buy+sell)-0.8) < 1e-9
		if back >= 0.8*(buy+sell) {
			continue
		}
		if buy > sell {
			out.Parts.Buyers += min(1, (buy-sell)/2)
		}
		organic = append(organic, min(buy+sell-back, max(250, liquidity/20)))
	}
	slices.Sort(organic)
	slices.Reverse(organic)
	for i, o := range organic {
		out.Parts.VolumeUSD += o
		if i < 5 {
			out.Concentration += o
		}
	}
	out.Concentration = max(0, 2*out.Concentration/out.Parts.VolumeUSD-1)
	if out.Parts.VolumeUSD == 0 {
		out.Concentration = 0
	}
	out.organic = out.Parts.VolumeUSD
	out.Parts.VolumeUSD = fifths(organic)
	if out.Wash /= out.raw; out.raw == 0 {
		out.Wash = 0
	}
	out.hour(flows, now)
	return out
}

// fifths is the largest sum of volumes that each count up to a fifth of it.
func fifths(volumes []float64) float64 {
	low, high := 0.0, 0.0
	for _, v := range volumes {
		high += v
	}
	for range 200 {
		sum, all := (low+high)/2, 0.0
		for _, v := range volumes {
			all += min(v, sum/5)
		}
		if all >= sum*(1-1e-15) {
			low = sum
		} else {
			high = sum
		}
	}
	return low
}

// hour tells volume and reference; minutes are those of the clock.
func (out *truth) hour(flows []Flow, now int64) {
	from := now/60*60 - 59*60
	var first float64
	for _, f := range flows {
		if f.Time >= from {
			out.Hour.VolumeUSD += f.USD
		} else if f.CloseUSD > 0 {
			out.ReferenceUSD = f.CloseUSD
		}
		if first == 0 {
			first = f.CloseUSD
		}
	}
	if out.ReferenceUSD == 0 {
		out.ReferenceUSD = first
	}
}

// within fails unless got is as close to want as sums of floats of that size allow.
func within(t *rapid.T, what string, got, want, size float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9*size || math.IsNaN(got) {
		t.Fatalf("%s is %v, want %v", what, got, want)
	}
}

func (out *truth) check(t *rapid.T, tape *Tape, liquidity float64, now int64) {
	t.Helper()
	p := Parts{LiquidityUSD: liquidity, NewHolders: 1, Members: 2, AgeS: 3}
	tape.Measure(&p, now)
	if p.LiquidityUSD != liquidity || p.NewHolders != 1 || p.Members != 2 || p.AgeS != 3 {
		t.Fatalf("measuring changed what isn't its own: %+v", p)
	}
	if !out.edge {
		within(t, "B", p.Buyers, out.Parts.Buyers, out.Parts.Buyers)
		// The organic volume is a difference of sums, so that it is only as exact as these are.
		within(t, "V", p.VolumeUSD, out.Parts.VolumeUSD, out.raw)
	}
	within(t, "wash", p.Wash, out.Wash, 1)
	if !out.edge && out.organic > 1e-6*out.raw {
		within(t, "conc", p.Concentration, out.Concentration, out.raw/out.organic)
	}
	h := tape.Hour(now)
	if h.Buyers != out.Hour.Buyers || h.Sellers != out.Sellers || h.ReferenceUSD != out.ReferenceUSD {
		t.Fatalf("at %d the hour is %+v, want %+v", now, h, out.Hour)
	}
	within(t, "the hour's volume", h.VolumeUSD, out.Hour.VolumeUSD, out.Hour.VolumeUSD)
}

func address(n int) market.Address {
	var w [32]byte
	w[29], w[30], w[31] = byte(n>>16), byte(n>>8), byte(n)
	return market.EVMAddress(w)
}

// A tape knows what all the trades would say, however it is read and pruned on the way, and whenever a wallet is excluded.
func TestTapeEqualsTheSumOfItsTrades(t *testing.T) {
	t.Parallel()
	steps := []int64{0, 0, 1, 12, 59, 60, 61, 600, 1800, 3540, 3600, 3601, Window - 1, Window, Window + 1, 3 * 86400}
	rapid.Check(t, func(t *rapid.T) {
		var quiet, busy Tape
		var flows []Flow
		var excluded []market.Address
		now := rapid.Int64Range(1_500_000_000, 2_000_000_000).Draw(t, "start")
		crowd := rapid.SampledFrom([]int{2, 12, 300}).Draw(t, "wallets")
		liquidity := rapid.SampledFrom([]float64{0, 5_000, 80_000}).Draw(t, "liquidity")
		for range rapid.IntRange(1, 150).Draw(t, "trades") {
			now += rapid.SampledFrom(steps).Draw(t, "step")
			f := Flow{
				Wallet: address(rapid.IntRange(1, crowd).Draw(t, "wallet")), Time: now, Sell: rapid.Bool().Draw(t, "sell"),
				USD:      rapid.OneOf(rapid.Float64Range(0, 3), rapid.Float64Range(0, 1e6)).Draw(t, "usd"),
				CloseUSD: rapid.SampledFrom([]float64{0, 1, 2, 3}).Draw(t, "close"),
			}
			flows = append(flows, f)
			quiet.Add(f)
			busy.Add(f)
			switch rapid.IntRange(0, 30).Draw(t, "then") {
			case 0:
				w := address(rapid.IntRange(1, crowd).Draw(t, "excluded"))
				excluded = append(excluded, w)
				quiet.Exclude(w)
				busy.Exclude(w)
			case 1, 2, 3, 4:
				now += rapid.SampledFrom(steps).Draw(t, "pause")
				if empty := busy.Prune(now); empty != (now-f.Time >= Window) {
					t.Fatalf("%d s after the last trade empty is %v", now-f.Time, empty)
				}
			case 5, 6, 7:
				want := tell(flows, excluded, liquidity, now)
				want.check(t, &busy, liquidity, now)
			}
		}
		now += rapid.SampledFrom(steps).Draw(t, "rest")
		want := tell(flows, excluded, liquidity, now)
		want.check(t, &quiet, liquidity, now)
		want.check(t, &busy, liquidity, now)
	})
}

// A token that trades for half a year, one wallet of it all the time, overflows nothing and drifts nowhere.
func TestTapeOfALongRun(t *testing.T) {
	t.Parallel()
	const start, step = 1_700_000_000, 887 // no divisor of a half-life
	fade := math.Exp2(-float64(step) / HalfLife)
	var tape Tape
	var buys, sells float64
	for i := range int64(180 * 86400 / step) {
		at := start + i*step
		buys, sells = buys*fade, sells*fade
		f := Flow{Wallet: address(1), Time: at, Sell: i%3 == 0, USD: 1e9, CloseUSD: float64(i + 1)}
		if f.Sell {
			sells += f.USD
		} else {
			buys += f.USD
		}
		tape.Add(f)
		// Of fifty others one buys at a time, so each again after 12 hours, long forgotten.
		tape.Add(Flow{Wallet: address(int(2 + i%50)), Time: at, USD: 10})
		others := 0.0
		for n := range min(i+1, (Window-1)/step+1) {
			others += 10 * math.Exp2(-float64(n*step)/HalfLife)
		}
		var p Parts
		tape.Measure(&p, at)
		want := 2 * min(buys, sells) / (buys + sells + others)
		if math.Abs(p.Wash-want) > 1e-9 {
			t.Fatalf("trade %d: wash is %v, want %v", i, p.Wash, want)
		}
		var volumes []float64
		if 2*min(buys, sells) < 0.8*(buys+sells) {
			volumes = append(volumes, min(math.Abs(buys-sells), 250))
		}
		for n := range min(i+1, (Window-1)/step+1) {
			volumes = append(volumes, 10*math.Exp2(-float64(n*step)/HalfLife))
		}
		if v := fifths(volumes); math.Abs(p.VolumeUSD-v) > 1e-9*(v+others) {
			t.Fatalf("trade %d: volume is %v, want %v", i, p.VolumeUSD, v)
		}
	}
}

// A reader of trades may be ahead of the clock that it asks with.
func TestTapeAheadOfTheClock(t *testing.T) {
	t.Parallel()
	const now = 1_700_000_000
	var tape Tape
	for i := range 5 {
		tape.Add(Flow{Wallet: address(1 + i), Time: now + HalfLife, USD: 20, CloseUSD: 3})
	}
	var p Parts
	if tape.Measure(&p, now); p.VolumeUSD != 100 || p.Buyers != 5 {
		t.Errorf("a trade of the time to come measures %+v, want it whole and no more", p)
	}
	if h := tape.Hour(now - 3600); h != (Hour{Buyers: 5, VolumeUSD: 100, ReferenceUSD: 3}) {
		t.Errorf("and its hour is %+v", h)
	}
	if tape.Prune(now - Window) {
		t.Error("and is pruned")
	}
}

// What a wallet that trades on keeps of trades older than the window is below 1 % of them.
func TestResidueOfOldTrades(t *testing.T) {
	t.Parallel()
	const now = 1_700_000_000
	var tape Tape
	for i := range 5 {
		tape.Add(Flow{Wallet: address(1 + i), Time: now - Window, USD: 200})
	}
	for i := range 5 {
		tape.Add(Flow{Wallet: address(1 + i), Time: now - Window/2, USD: 0})
	}
	p := Parts{}
	if tape.Measure(&p, now); p.VolumeUSD != 1000.0/128 {
		t.Errorf("%v of 1000 USD is left after the window, want 1/128", p.VolumeUSD)
	}
	if tape.Measure(&p, now+Window/2); p.VolumeUSD != 0 || p.Buyers != 0 {
		t.Errorf("a wallet that was silent for the window leaves %+v", p)
	}
}

func TestTapeBounds(t *testing.T) {
	t.Parallel()
	const now = 1_700_000_000
	for name, c := range map[string]struct {
		flows        []Flow
		buyers, conc float64
	}{
		"a buy":                          {[]Flow{{USD: 5}}, 1, 1},
		"dust":                           {[]Flow{{USD: 0.5}}, 0.25, 1},
		"a sale":                         {[]Flow{{USD: 5, Sell: true}}, 0, 1},
		"dust, half of it sold":          {[]Flow{{USD: 1.5}, {USD: 0.5, Sell: true}}, 0.5, 1},
		"round trips of 80 %":            {[]Flow{{USD: 6}, {USD: 4, Sell: true}}, 0, 0},
		"round trips of just below 80 %": {[]Flow{{USD: 6}, {USD: 3.99, Sell: true}}, 1, 1},
	} {
		var tape Tape
		for _, f := range c.flows {
			f.Wallet, f.Time = address(1), now
			tape.Add(f)
		}
		var p Parts
		if tape.Measure(&p, now); p.Buyers != c.buyers || p.Concentration != c.conc {
			t.Errorf("%s: %v buyers, concentration %v; want %v and %v", name, p.Buyers, p.Concentration, c.buyers, c.conc)
		}
	}
	// Ten alike: the five largest are a half, which is no concentration yet. Of nine they are 5/9.
	var tape Tape
	var p Parts
	for i := range 9 {
		tape.Add(Flow{Wallet: address(i + 1), Time: now, USD: 100})
	}
	if tape.Measure(&p, now); math.Abs(p.Concentration-1.0/9) > 1e-12 {
		t.Errorf("nine alike have the concentration %v, want 1/9", p.Concentration)
	}
	tape.Add(Flow{Wallet: address(10), Time: now, USD: 100})
	if tape.Measure(&p, now); p.Concentration != 0 {
		t.Errorf("ten alike have the concentration %v", p.Concentration)
	}
}

// Without organic volume there is no concentration, and the score is a number.
func TestNoVolumeIsNoConcentration(t *testing.T) {
	t.Parallel()
	const now = 1_700_000_000
	var empty, washed Tape
	for i := range 10 {
		washed.Add(Flow{Wallet: address(1), Time: now, Sell: i%2 == 1, USD: 8})
	}
	for name, tape := range map[string]*Tape{"no trades": &empty, "round trips alone": &washed} {
		p := Parts{LiquidityUSD: 1000}
		if tape.Measure(&p, now); p.VolumeUSD != 0 || p.Concentration != 0 || Score(p) < 0 || math.IsNaN(Score(p)) {
			t.Errorf("%s: %+v, score %v; want neither volume nor concentration, and a score", name, p, Score(p))
		}
	}
}

// The epoch moves after 512 half-lives and not before: each move goes through all wallets.
func TestEpochMovesSeldom(t *testing.T) {
	t.Parallel()
	const start = 1_700_000_000
	var tape Tape
	for n := range int64(2*512 + 1) {
		at := start + n*HalfLife
		tape.Add(Flow{Wallet: address(1), Time: at, USD: 1})
		if want := start + n/512*512*HalfLife; tape.epoch != want {
			t.Fatalf("after %d half-lives the epoch is %d s after the start, want %d", n, tape.epoch-start, want-start)
		}
	}
}

func TestLastMinute(t *testing.T) {
	t.Parallel()
	const base = 1_700_000_040 // the open of a minute
	var tape Tape
	if got := tape.LastMinute(base); got != 0 {
		t.Errorf("without trades the last minute is %d", got)
	}
	for _, f := range []Flow{
		{Time: base, CloseUSD: 1}, {Time: base + 61, CloseUSD: 2}, {Time: base + 125}, {Time: base + 200, CloseUSD: 3},
	} {
		f.Wallet = address(1)
		tape.Add(f)
	}
	for before, want := range map[int64]int64{
		base: 0, base + 1: base, base + 60: base, base + 61: base + 60, base + 120: base + 60,
		base + 180: base + 60, // no price is known of the minute between
		base + 181: base + 180, base + 3600: base + 180,
	} {
		if got := tape.LastMinute(before); got != want {
			t.Errorf("before %d s the last minute opens at %d s, want %d", before-base, got-base, want-base)
		}
	}
	tape.Prune(base + 3600 + 130) // the minutes up to the unpriced one leave the hour
	for before, want := range map[int64]int64{base + 180: base + 60, base + 181: base + 180} {
		if got := tape.LastMinute(before); got != want {
			t.Errorf("after pruning, before %d s the last minute opens at %d s, want %d", before-base, got-base, want-base)
		}
	}
}

// The price from before the hour is the last known one, whatever unpriced minutes came after it.
func TestReferenceBeforeAnUnpricedMinute(t *testing.T) {
	t.Parallel()
	const base = 1_700_000_040
	var tape Tape
	for _, f := range []Flow{{Time: base, CloseUSD: 1}, {Time: base + 60, CloseUSD: 2}, {Time: base + 120}} {
		f.Wallet = address(1)
		tape.Add(f)
	}
	if got := tape.Hour(base + 3600 + 180).ReferenceUSD; got != 2 {
		t.Errorf("the reference is %v, want 2: of the newest minute with a price", got)
	}
}

func TestHourOfATape(t *testing.T) {
	t.Parallel()
	const base = 1_700_000_040 // the open of a minute
	var tape Tape
	if h := tape.Hour(base); h != (Hour{}) {
		t.Errorf("nothing at all is %+v", h)
	}
	for i, f := range []Flow{
		{USD: 1, Time: base, CloseUSD: 0},               // not priced yet
		{USD: 2, Time: base + 30, CloseUSD: 7},          // the first price
		{USD: 4, Time: base + 59, CloseUSD: 8},          // the price that the minute ends at
		{USD: 8, Time: base + 60, CloseUSD: 9},          //
		{USD: 16, Time: base + 61, Sell: true},          // unpriced: the price stands
		{USD: 32, Time: base + 3000, CloseUSD: 5},       //
		{USD: 64, Time: base + 3000 + 5, Sell: true},    //
		{USD: 128, Time: base + 3000 + 6, Sell: true},   // wallet 7
		{USD: 256, Time: base + 3000 + 7, CloseUSD: 10}, // wallet 8
	} {
		f.Wallet = address(i)
		if i == 6 {
			f.Wallet = address(5)
		}
		tape.Add(f)
	}
	for _, c := range []struct {
		after int64
		want  Hour
	}{
		{3007, Hour{6, 3, 511, 7}},
		{3599, Hour{6, 3, 511, 7}},
		// Wallets leave by the second, volume and price by the minute.
		{3600, Hour{5, 3, 504, 8}},
		{3659, Hour{3, 3, 504, 8}},
		{3660, Hour{2, 3, 480, 9}},
		{3661, Hour{2, 2, 480, 9}},
		{3000 + 3605, Hour{1, 1, 0, 10}},
		{3000 + 3700, Hour{0, 0, 0, 10}},
		{3007 + Window, Hour{}},
	} {
		if got := tape.Hour(base + c.after); got != c.want {
			t.Errorf("after %d s: %+v, want %+v", c.after, got, c.want)
		}
	}
}

// There are millions of them in memory.
func TestTapeIsSmall(t *testing.T) {
	t.Parallel()
	if got := unsafe.Sizeof(walletSums{}); got != 40 {
		t.Errorf("a wallet takes %d bytes, want 40", got)
	}
	if got := unsafe.Sizeof(bucket{}); got != 24 {
		t.Errorf("a minute takes %d bytes, want 24", got)
	}
	const start = 1_700_000_000
	var tape Tape
	for i := range 100_000 {
		tape.Add(Flow{Wallet: address(i%0xffff + 1), Time: start + int64(i), USD: 1, CloseUSD: 1})
	}
	if n := len(tape.minutes); n > 60 {
		t.Errorf("%d minutes are kept, want 60 at most", n)
	}
	if n := bytesOf(&tape); n > 70*0xffff {
		t.Errorf("%d bytes for %d wallets", n, len(tape.wallets.list))
	}
	now := start + int64(100_000)
	tape.Prune(now)
	if n := len(tape.wallets.list); n != Window-1 {
		t.Errorf("%d wallets are left, want those of the window's %d seconds", n, Window-1)
	}
	if n := bytesOf(&tape); n > 70*Window {
		t.Errorf("%d bytes for %d wallets after pruning", n, len(tape.wallets.list))
	}
	if !tape.Prune(now+Window) || bytesOf(&tape) > 256 {
		t.Errorf("an empty tape takes %d bytes", bytesOf(&tape))
	}
}

func bytesOf(t *Tape) int {
	return int(unsafe.Sizeof(*t)) + cap(t.wallets.list)*int(unsafe.Sizeof(walletSums{})) + cap(t.wallets.slots)*4 +
		cap(t.minutes)*int(unsafe.Sizeof(bucket{})) + cap(t.excluded)*8 + cap(t.clusters.list)*40
}

// TestTradesOfNobody: a trade without a wallet makes prices and the hour's volume, and counts for nobody.
func TestTradesOfNobody(t *testing.T) {
	t.Parallel()
	const now = 1_700_000_000
	var tape, without Tape
	for i := range 10 {
		f := Flow{Wallet: address(1 + i), Time: now + int64(i), USD: 100, CloseUSD: 2}
		tape.Add(f)
		without.Add(f)
		tape.Add(Flow{Time: now + int64(i), USD: 1000, CloseUSD: 2, Sell: i%2 == 0})
	}
	got, want := tape.Hour(now+20), without.Hour(now+20)
	if got.Buyers != want.Buyers || got.Sellers != want.Sellers || got.VolumeUSD != want.VolumeUSD+10_000 {
		t.Errorf("the hour is %+v; without nobody's trades %+v", got, want)
	}
	gotParts, wantParts := Parts{LiquidityUSD: 10_000}, Parts{LiquidityUSD: 10_000}
	tape.Measure(&gotParts, now+20)
	without.Measure(&wantParts, now+20)
	if gotParts != wantParts {
		t.Errorf("the parts are %+v, without nobody's trades %+v", gotParts, wantParts)
	}
}
