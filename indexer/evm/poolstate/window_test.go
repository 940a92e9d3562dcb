package poolstate

import (
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/indexer/evm/decode"
	"github.com/boardwalkhq/boardwalk/indexer/evm/manycalls"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
	"github.com/boardwalkhq/boardwalk/internal/price"
)

// mockPool answers the calls for a concentrated pool's state as its contract would. It is no contract: what it is asked for it looks up in a map.
type mockPool struct {
	market.PoolCreated
	tick      int32
	liquidity market.Amount
	ticks     market.TickMap
	// way is what the chain has for many calls; word and net change an answer, where they are set.
	way  manycalls.Way
	word func(n int, w [32]byte) []byte
	net  func(tick int32, net market.SignedAmount) market.SignedAmount
	// slots are a V4 pool's; calls counts what was asked.
	slots map[string][32]byte
	calls int
}

// newMockPool has ranges, and as much liquidity at the tick as they make.
func newMockPool(protocol market.Protocol, spacing, tick int32, ranges ...market.RangeLiquidity) *mockPool {
	p := &mockPool{PoolCreated: market.PoolCreated{Protocol: protocol, TickSpacing: spacing, Pool: market.EVMAddress([32]byte{31: 9})}, tick: tick}
	if protocol == market.UniswapV4 {
		p.Pool = market.PoolID([32]byte{31: 9})
	}
	nets := map[int32]market.SignedAmount{}
	for _, r := range ranges {
		nets[r.TickLower] = nets[r.TickLower].Add(r.Delta)
		nets[r.TickUpper] = nets[r.TickUpper].Add(r.Delta.Negate())
	}
	var active market.SignedAmount
	for t, net := range nets {
		p.ticks = append(p.ticks, market.TickNet{Tick: t, Net: net})
		if t <= tick {
			active = active.Add(net)
		}
	}
	slices.SortFunc(p.ticks, func(a, b market.TickNet) int { return int(a.Tick) - int(b.Tick) })
	p.liquidity = active.Abs
	return p
}

// bitmap is the n-th word of the ticks that are marked.
func (p *mockPool) bitmap(n int) []byte {
	var w [32]byte
	first := n << 8 * int(p.TickSpacing)
	from, _ := slices.BinarySearchFunc(p.ticks, first, func(t market.TickNet, at int) int { return int(t.Tick) - at })
	for _, t := range p.ticks[from:] {
		at := int(t.Tick) / int(p.TickSpacing)
		if at>>8 != n {
			break
		}
		w[31-at&255/8] |= 1 << (at & 7)
	}
	if p.word != nil {
		return p.word(n, w)
	}
	return w[:]
}

func (p *mockPool) netAt(tick int32) (net market.SignedAmount) {
	if i, ok := slices.BinarySearchFunc(p.ticks, tick, func(t market.TickNet, at int32) int { return int(t.Tick) - int(at) }); ok {
		net = p.ticks[i].Net
	}
	if p.net != nil {
		net = p.net(tick, net)
	}
	return net
}

// sqrtPrice is that of the tick, in the middle between it and the next.
func (p *mockPool) sqrtPrice() (v market.Amount) {
	mantissa, exponent := math.Frexp(math.Exp((float64(p.tick) + 0.5) * math.Log(1.0001) / 2))
	v.SetUint64(uint64(math.Ldexp(mantissa, 32)))
	return *v.Lsh(&v, uint(96+exponent-32))
}

// answer is what one call of the pool's contract gives.
func (p *mockPool) answer(data string) []byte {
	argument, _ := strconv.ParseUint(data[max(10, len(data)-16):], 16, 64)
	switch data[:10] {
	case callSlot0:
		root := p.sqrtPrice()
		word := root.Bytes32()
		return append(word[:], decode.SignedWord(int(p.tick))...)
	case callLiquidity:
		word := p.liquidity.Bytes32()
		return word[:]
	case callTickBitmap:
		return p.bitmap(int(int64(argument)))
	case callTicks:
		word := markettest.SignedWord(p.netAt(int32(int64(argument))))
		return append(make([]byte, 32), word[:]...)
	}
	return nil
}

func numbers(list ...int) (out []byte) {
	for _, n := range list {
		out = append(out, decode.NumberWord(uint64(n))...)
	}
	return out
}

func (p *mockPool) First() manycalls.Way { return manycalls.ByMulticall3 }

func (p *mockPool) Next(missing manycalls.Way) manycalls.Way {
	if missing == manycalls.ByMulticall3 && p.way == manycalls.ByDeployless {
		return manycalls.ByDeployless
	}
	return manycalls.Alone
}

// deployless answers the calls that stand at the end of a program.
func (p *mockPool) deployless(c *Call) (answer []byte) {
	const digits = 2 * (20 + 2 + questionLength)
	answer = []byte{1}
	for i := range c.Questions {
		question := c.Data[len(c.Data)-(c.Questions-i)*digits:][2*(20+2) : digits]
		one := p.answer("0x" + question)
		one = one[:min(len(one), tickLength)]
		answer = append(append(answer, 1, 0, byte(len(one))), one...)
	}
	return answer
}

// ask answers calls as a node would.
func (p *mockPool) ask(list []*Call) (unsure []bool, gone bool, err error) {
	p.calls += len(list)
	for _, c := range list {
		c.OK = true
		switch {
		case strings.HasPrefix(c.Data, callExtsloads):
			c.Answer = numbers(32, c.Questions)
			for i := range c.Questions {
				slot := p.slots[c.Data[10+128+64*i:][:64]]
				c.Answer = append(c.Answer, slot[:]...)
			}
		case c.To.IsNone():
			if c.OK = p.way == manycalls.ByDeployless; c.OK {
				c.Answer = p.deployless(c)
			}
		case c.To == Multicall3Address && p.way == manycalls.ByMulticall3:
			var bodies []byte
			c.Answer = numbers(32, c.Questions)
			for i := range c.Questions {
				inner := c.Data[10+64*(2+c.Questions+6*i+4):][:72]
				answer := p.answer("0x" + inner)
				c.Answer = append(c.Answer, numbers(32*c.Questions+len(bodies))...)
				bodies = append(append(bodies, numbers(1, 64, len(answer))...), answer...)
			}
			c.Answer = append(c.Answer, bodies...)
		case c.To != Multicall3Address:
			c.Answer = p.answer(c.Data)
		}
		if len(c.Answer) > LongestAnswer {
			c.Answer, c.OK = nil, false
		}
	}
	return make([]bool, len(list)), false, nil
}

// store puts a V4 pool into slots.
func (p *mockPool) store() {
	r := newV4Reader(p.PoolCreated)
	root := p.sqrtPrice()
	slot0 := root.Bytes32()
	copy(slot0[9:12], decode.SignedWord(int(p.tick))[29:])
	p.slots = map[string][32]byte{slotText(r.slot): slot0, slotText(r.part(v4Liquidity)): p.liquidity.Bytes32()}
	last := math.MinInt
	for _, t := range p.ticks {
		if n := wordOf(int(t.Tick) / int(p.TickSpacing)); n != last {
			p.slots[r.word(n)], last = [32]byte(p.bitmap(n)), n
		}
		var word [32]byte
		net := markettest.SignedWord(t.Net)
		copy(word[:16], net[16:])
		p.slots[r.tick(t.Tick)] = word
	}
}

func (p *mockPool) state(t fataler) (state market.PoolStateFact, known bool) {
	t.Helper()
	if p.Protocol == market.UniswapV4 {
		p.store()
	}
	states, gone, err := States([]market.PoolCreated{p.PoolCreated}, p, p.ask)
	most := map[manycalls.Way]int{
		manycalls.ByMulticall3: stateCalls, manycalls.ByDeployless: stateCalls + nearCalls, manycalls.Alone: singleCalls + nearCalls, // nearCalls go to the Multicall3 that isn't there
	}[p.way]
	if err != nil || gone || p.calls > most {
		t.Fatalf("%d calls, gone %v, %v", p.calls, gone, err)
	}
	return states[0].PoolStateFact, states[0].Known
}

type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// quote is what a map says of the pool's price, depth and liquidity.
func (p *mockPool) quote(ticks market.TickMap, f *market.PoolStateFact, baseIs0 bool) price.Quote {
	return price.Concentrated{
		SqrtPriceX96: &f.SqrtPriceX96, Liquidity: &f.Liquidity, Tick: f.Tick, Ticks: ticks, BaseIs0: baseIs0, BaseDecimals: 18, QuoteDecimals: 18,
	}.Quote()
}

// holdWindow holds a state against the whole map: price and depth are those of it, and what is locked is no more.
func (p *mockPool) holdWindow(t fataler, f market.PoolStateFact) {
	t.Helper()
	got, err := market.UnmarshalTickMap([]byte(f.Ticks))
	if err != nil || f.Tick != p.tick || f.Liquidity != p.liquidity || f.SqrtPriceX96 != p.sqrtPrice() {
		t.Fatalf("%v: tick %d, liquidity %s", err, f.Tick, f.Liquidity.Dec())
	}
	if f.Window.IsWhole() {
		if !slices.Equal(got, p.ticks) {
			t.Fatalf("the whole map differs: %d ticks, want %d", len(got), len(p.ticks))
		}
		return
	}
	w := f.Window
	spacing := p.TickSpacing
	if w.Lower%spacing != 0 || w.Upper%spacing != 0 || !w.Fits(got, p.tick) || !w.HasDepth(p.tick) {
		t.Fatalf("the window is %+v around %d", w, p.tick)
	}
	if int(p.tick)-int(w.Lower) < leastWindow && w.Lower > market.MinTick || int(w.Upper)-int(p.tick) < leastWindow && w.Upper < market.MaxTick {
		t.Fatalf("the window %+v is too narrow around %d", w, p.tick)
	}
	inside := func(m market.TickMap) market.TickMap {
		return slices.DeleteFunc(slices.Clone(m), func(n market.TickNet) bool { return n.Tick <= w.Lower || n.Tick >= w.Upper })
	}
	if !slices.Equal(inside(got), inside(p.ticks)) {
		t.Fatalf("within the window %+v there are %d ticks, want %d", w, len(inside(got)), len(inside(p.ticks)))
	}
	if !got.AddsUp(f.Tick, f.Liquidity) {
		t.Fatalf("the window's ticks don't add up: %v", got)
	}
	for _, baseIs0 := range []bool{true, false} {
		is, whole := p.quote(got, &f, baseIs0), p.quote(p.ticks, &f, baseIs0)
		if is.Price != whole.Price || is.Depth != whole.Depth || is.Locked > whole.Locked*(1+1e-12) {
			t.Fatalf("by the window %+v, by the whole map %+v", is, whole)
		}
	}
}

// TestStateOfManyTicks draws pools with many ticks or few, and holds what is read of them against all of them.
func TestStateOfManyTicks(t *testing.T) {
	t.Parallel()
	windows := 0
	rapid.Check(t, func(t *rapid.T) {
		spacing := rapid.SampledFrom([]int32{1, 2, 10, 60, 200}).Draw(t, "spacing")
		within := func(label string, from, to int32) int32 {
			return rapid.Int32Range(from/spacing, to/spacing).Draw(t, label) * spacing
		}
		tick := rapid.Int32Range(-880_000, 880_000).Draw(t, "tick")
		if rapid.Bool().Draw(t, "middle") {
			tick %= 20_000
		}
		var ranges []market.RangeLiquidity
		for range rapid.IntRange(0, 8).Draw(t, "ranges") {
			if lower, upper := within("lower", -887_000, 887_000), within("upper", -887_000, 887_000); lower < upper {
				ranges = append(ranges, markettest.Range(lower, upper, rapid.Uint64Range(1, 1<<60).Draw(t, "liquidity")))
			}
		}
		for range rapid.IntRange(0, 2).Draw(t, "ladders") {
			n := rapid.SampledFrom([]int{100, 300, 479, 480, 900, 3_000, 4_000, 9_000}).Draw(t, "rungs")
			from := tick/spacing*spacing + within("from", -9_000*spacing, 3_000*spacing)
			if from > -887_000 && int(from)+n*int(spacing) < 887_000 {
				ranges = append(ranges, markettest.Ladder(from, spacing, n)...)
			}
		}
		p := newMockPool(rapid.SampledFrom([]market.Protocol{market.UniswapV3, market.UniswapV4}).Draw(t, "protocol"), spacing, tick, ranges...)
		if p.Protocol == market.UniswapV3 {
			p.way = rapid.SampledFrom([]manycalls.Way{manycalls.ByMulticall3, manycalls.ByMulticall3, manycalls.ByDeployless, manycalls.Alone}).Draw(t, "way")
		}
		f, known := p.state(t)
		switch {
		case known:
			p.holdWindow(t, f)
			if !f.Window.IsWhole() {
				windows++
			}
		case p.way != manycalls.Alone:
			t.Fatalf("a pool with %d ticks isn't known", len(p.ticks))
		}
	})
	if windows == 0 {
		t.Error("no window was drawn: the test shows nothing")
	}
}

// TestStateAtTheCallsBound: with the most ticks that the calls carry the whole map is read, with one more a window.
func TestStateAtTheCallsBound(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		protocol market.Protocol
		spacing  int32
		way      manycalls.Way
		most     int
	}{
		"V3, spacing 1":              {market.UniswapV3, 1, manycalls.ByMulticall3, (stateCalls - 2 - 24) * ticksAtOnce},
		"V3, spacing 10":             {market.UniswapV3, 10, manycalls.ByMulticall3, (stateCalls - 2 - 3) * ticksAtOnce},
		"V3, spacing 60":             {market.UniswapV3, 60, manycalls.ByMulticall3, (stateCalls - 2 - 1) * ticksAtOnce},
		"Slipstream, spacing 50":     {market.Slipstream, 50, manycalls.ByMulticall3, (stateCalls - 2 - 1) * ticksAtOnce},
		"V3, each alone, spacing 60": {market.UniswapV3, 60, manycalls.Alone, singleCalls - 2 - 116},
		"V4, spacing 1":              {market.UniswapV4, 1, manycalls.ByMulticall3, (stateCalls - 1 - 7) * slotsAtOnce},
		"V4, spacing 60":             {market.UniswapV4, 60, manycalls.ByMulticall3, (stateCalls - 1 - 1) * slotsAtOnce},
		"V3, deployless, spacing 1":  {market.UniswapV3, 1, manycalls.ByDeployless, (stateCalls - 2 - 24) * ticksAtOnce},
		"V3, deployless, spacing 60": {market.UniswapV3, 60, manycalls.ByDeployless, (stateCalls - 2 - 1) * ticksAtOnce},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for more, whole := range []bool{true, false} {
				n := tt.most + more
				p := newMockPool(tt.protocol, tt.spacing, 7, markettest.Ladder(-int32(n/2)*tt.spacing, tt.spacing, n-1)...)
				p.way = tt.way
				f, known := p.state(t)
				if !known || f.Window.IsWhole() != whole {
					t.Fatalf("with %d ticks it is known: %v, and its window is %+v", len(p.ticks), known, f.Window)
				}
				p.holdWindow(t, f)
			}
		})
	}
}

// TestWindowsEnds: ticks at the window's ends are in the liquidity that closes it.
func TestWindowsEnds(t *testing.T) {
	t.Parallel()
	// Near words of a spacing of 1 are those of ticks from -115,200 on, and there are too many ticks for all.
	const end = nearCalls * wordsAtOnce / 2 * 256
	for name, at := range map[string]int32{"at its lower end": -end, "at its upper end": end, "within its lower end": 1 - end, "within its upper end": end - 1} {
		p := newMockPool(market.UniswapV3, 1, 5, append(markettest.Ladder(-300, 1, 600), markettest.Range(min(at, 3), max(at, 3), 1000), markettest.Range(-800_000, 800_000, 77))...)
		f, known := p.state(t)
		if !known || f.Window != (market.TickWindow{Lower: -end, Upper: end}) {
			t.Fatalf("%s: known %v, the window is %+v", name, known, f.Window)
		}
		p.holdWindow(t, f)
	}
}

// TestWindowTooNarrow: where each tick takes a call, a pool has a window if a move of 2 % and as much again lie within it.
func TestWindowTooNarrow(t *testing.T) {
	t.Parallel()
	const room = singleCalls - 2 - singleNear
	for spacing, want := range map[int32]bool{1: false, 4: false, 5: true, 10: true} {
		p := newMockPool(market.UniswapV3, spacing, 0, markettest.Ladder(-2_000*spacing, spacing, 4_000)...)
		p.way = manycalls.Alone
		f, known := p.state(t)
		if known != want {
			t.Errorf("spacing %d: known is %v; %d ticks at most lie within %+v", spacing, known, room, f.Window)
		}
		if known {
			p.holdWindow(t, f)
		}
	}
}

// TestStateOfALiar: what can't be a pool's state isn't known, nor does it take more calls.
func TestStateOfALiar(t *testing.T) {
	t.Parallel()
	largest := market.SignedAmount{}
	largest.Abs.SetAllOne()
	largest.Abs.Rsh(&largest.Abs, 129)
	all := func(int, [32]byte) []byte { return []byte(strings.Repeat("\xff", 32)) }
	for name, change := range map[string]func(*mockPool){
		"liquidity that ends below the price": func(p *mockPool) {
			p.net = func(tick int32, net market.SignedAmount) market.SignedAmount {
				if tick == -20 {
					return market.SignedAmount{Abs: largest.Abs}
				}
				return net
			}
		},
		"liquidity that ends above the price": func(p *mockPool) {
			p.net = func(tick int32, net market.SignedAmount) market.SignedAmount {
				if tick == 20 {
					return largest.Negate()
				}
				return net
			}
		},
		"more liquidity than a pool can have": func(p *mockPool) {
			p.net = func(tick int32, net market.SignedAmount) market.SignedAmount {
				if tick > 20 && tick < 30 {
					return largest
				}
				return net
			}
		},
		"words that end early":            func(p *mockPool) { p.word = func(_ int, w [32]byte) []byte { return w[:31] } },
		"all words marked":                func(p *mockPool) { p.word = all; p.way = manycalls.Alone },
		"a price beyond the ticks":        func(p *mockPool) { p.tick = 1 << 22 },
		"a price below the ticks":         func(p *mockPool) { p.tick = -1 << 22 },
		"a spacing that no pool can have": func(p *mockPool) { p.TickSpacing, p.word, p.way = 800_000, all, manycalls.Alone },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newMockPool(market.UniswapV3, 1, 7, markettest.Ladder(-2_000, 1, 4_000)...)
			p.liquidity.SetUint64(1 << 40)
			if _, known := p.state(t); !known {
				t.Fatal("it isn't known without a lie")
			}
			p.calls = 0
			change(p)
			if f, known := p.state(t); known {
				t.Errorf("it is known, with the window %+v", f.Window)
			}
		})
	}
	// Ticks that are marked and have nothing are as good as none.
	p := newMockPool(market.UniswapV3, 1, 7, markettest.Range(-9_000, 9_000, 5))
	p.word = all
	if f, known := p.state(t); !known || len(f.Ticks) > 21*(stateCalls*ticksAtOnce) || hex.EncodeToString([]byte(f.Ticks[:4])) != fmt.Sprintf("%08x", uint32(f.Window.Lower)) {
		t.Errorf("known is %v, the window %+v, %d bytes of ticks", known, f.Window, len(f.Ticks))
	}
}
