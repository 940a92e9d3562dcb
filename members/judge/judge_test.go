package judge_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/hack/written"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/social"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
	"github.com/boardwalkhq/boardwalk/members/judge"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// second is another pair of the token.
var second = written.Contract(12)

// world is a chain with a token, and members who call it.
type world struct {
	*written.Market

	judge *judge.Judge
	lease *social.Lease
	now   int64
	calls int
	// tradesAtOnce is the judge's Options.TradesAtOnce.
	tradesAtOnce int
}

const start = 1_760_000_000

func newWorld(t written.TB, st *store.Store) *world {
	t.Helper()
	w := &world{Market: written.NewMarket(t, st, start)}
	w.FinalAfter, w.now = 6, w.Last.Time
	var err error
	if w.lease, err = st.Social.Leases.Acquire(t.Context(), "test", time.Hour.Milliseconds()); err != nil || w.lease == nil {
		t.Fatal("no lease", err)
	}
	w.apply(t, member.Record{ID: "u1", Handle: "ada", JoinedAt: 1, UpdatedAt: 1}, member.Record{ID: "u2", Handle: "bob", JoinedAt: 1, UpdatedAt: 1})
	w.restart()
	return w
}

func (w *world) restart() {
	w.judge = judge.New(judge.Options{
		Store: w.Store.Served(), Now: func() time.Time { return time.Unix(w.now, 0) }, Open: prometheus.NewGauge(prometheus.GaugeOpts{}),
		TradesAtOnce: w.tradesAtOnce,
	})
}

func (w *world) block(t written.TB, seconds int64, facts []market.Fact, events ...market.Event) {
	t.Helper()
	w.Block(t, seconds, facts, events...)
	w.now = w.Last.Time
}

// closes writes a block in which the token is traded to a price, in a pool that holds so many USD on either side.
func (w *world) closes(t written.TB, seconds int64, in market.Address, usd, side uint64) {
	t.Helper()
	w.block(t, seconds, nil, written.TradeAt(in, usd, side)...)
}

func (w *world) apply(t written.TB, records ...member.Record) []social.Applied {
	t.Helper()
	applied, _, err := w.Store.Social.Registry.Apply(t.Context(), records, false, w.now)
	if err != nil {
		t.Fatal(err)
	}
	return applied
}

func (w *world) price(t written.TB, chain string, mint market.Address) judge.Priced {
	t.Helper()
	p := judge.Pricer{Store: w.Store.Served(), Now: func() time.Time { return time.Unix(w.now, 0) }}
	at := store.TokenAt{Chain: chain, Mint: mint}
	prices, err := p.Prices(t.Context(), []store.TokenAt{at})
	if err != nil {
		t.Fatal(err)
	}
	return prices[at]
}

// call has a member call the token; the error is why they can't.
func (w *world) call(t written.TB, of member.ID) (id member.CallID, err error) {
	t.Helper()
	price := w.price(t, "base", w.Token)
	w.calls++
	id = member.CallID(fmt.Sprintf("c%d", w.calls))
	applied := w.apply(t, member.Record{ID: of, UpdatedAt: w.now * 1e6, Call: &member.CallRecord{ID: id, Chain: "base", Mint: w.Token, Price: price.CallPrice, NoPrice: price.Err}})
	return id, applied[0].Err
}

// look has the calls judged, and gives how one stands.
func (w *world) look(t written.TB, id member.CallID) *member.Call {
	t.Helper()
	looks := 1
	if w.tradesAtOnce > 0 {
		looks = 40 // until everything is read
	}
	for range looks {
		if err := w.judge.Look(t.Context(), w.lease); err != nil {
			t.Fatal(err)
		}
	}
	c, err := w.Store.Social.Calls.Call(t.Context(), id)
	if err != nil || c == nil {
		t.Fatal(id, c, err)
	}
	return c
}

// close is the price at the end of a block in which the token was traded.
type closing struct {
	block uint64
	time  int64
	usd   float64
}

// stands says how a call stands by a block: the highest price that was held since, and how it ends.
func stands(c *member.Call, blocks []closing, head market.Header) (peak float64, outcome member.CallOutcome) {
	isDecided := head.Time > c.Deadline()
	list := []closing{{c.Price.Block, c.Price.Time, c.Price.CloseUSD}}
	for _, b := range blocks {
		if b.block >= c.Price.Block {
			list = append(list, b)
		}
	}
	for i, from := range list {
		isOver := func(block uint64, at int64) bool { return block >= from.block+10 && at >= from.time+20 }
		if from.time > c.Deadline() {
			continue
		}
		if !isOver(head.Number, head.Time) {
			isDecided = false
			continue
		}
		low := from.usd
		for _, b := range list[i:] {
			if !isOver(b.block, b.time) {
				low = min(low, b.usd)
			}
		}
		peak = max(peak, low)
	}
	switch {
	case peak >= 2*c.Price.USD:
		return peak, member.CallWin
	case isDecided:
		return peak, member.CallLoss
	default:
		return peak, member.CallOpen
	}
}

// TestJudgedAsFromScratch: whatever blocks come and are taken back, and however often the program looks or begins anew, a call stands as somebody says who has
// all blocks before them.
func TestJudgedAsFromScratch(t *testing.T) {
	t.Parallel()
	dir, n := t.TempDir(), 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		st, err := store.Open(context.Background(), "sqlite:"+filepath.Join(dir, fmt.Sprintf("%d.db", n)))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = st.Close() }()
		w := newWorld(t, st)
		var blocks []closing
		trade := func(seconds int64, usd uint64) {
			w.closes(t, seconds, w.Pair, usd, 100_000)
			blocks = append(blocks, closing{w.Last.Number, w.Last.Time, float64(usd)})
		}
		trade(1, 10)
		final := w.Last.Number
		w.tradesAtOnce = rapid.SampledFrom([]int{0, 0, 2}).Draw(t, "trades at once")
		w.restart()
		var calls []member.CallID
		settled := map[member.CallID]member.Standing{}
		for range rapid.IntRange(5, 60).Draw(t, "steps") {
			seconds := rapid.SampledFrom([]int64{1, 2, 3, 12, 40, 20 * 3600}).Draw(t, "seconds")
			switch rapid.SampledFrom([]string{"trade", "trade", "trade", "idle", "reorg", "call", "look", "look", "restart", "untold"}).Draw(t, "step") {
			case "trade":
				trade(seconds, uint64(rapid.SampledFrom([]int{5, 10, 16, 20, 25, 40}).Draw(t, "usd")))
			case "idle":
				w.block(t, seconds, nil)
			case "reorg":
				if final = max(final, w.Last.Number-uint64(w.FinalAfter)); w.Last.Number > final {
					w.Rewind(t, rapid.IntRange(1, int(w.Last.Number-final)).Draw(t, "depth"))
					w.now = w.Last.Time
					blocks = slices.DeleteFunc(blocks, func(b closing) bool { return b.block > w.Last.Number })
				}
			case "call":
				id, err := w.call(t, rapid.SampledFrom([]member.ID{"u1", "u2"}).Draw(t, "of"))
				if err == nil {
					calls = append(calls, id)
				} else if !errors.Is(err, member.ErrCallOpen) && !errors.Is(err, member.ErrManyCalls) && !errors.Is(err, member.ErrChainBehind) {
					t.Fatal(err)
				}
			case "restart":
				w.restart()
			case "untold": // what its blocks changed
				if _, err := st.Inspect.Database().Write.ExecContext(t.Context(), "DELETE FROM commits"); err != nil {
					t.Fatal(err)
				}
			case "look":
				for _, id := range calls {
					c := w.look(t, id)
					if was, ok := settled[id]; ok {
						if was != c.Standing {
							t.Fatalf("%s was settled as %+v, and is %+v", id, was, c.Standing)
						}
						continue
					}
					want, outcome := stands(c, blocks, w.Last)
					if math.Abs(c.PeakUSD-want) > 1e-9 || c.Outcome != outcome {
						t.Fatalf("at block %d, %s of %v USD in block %d has the peak %v and is %s; want %v, %s\n%v", w.Last.Number, id, c.Price.USD, c.Price.Block, c.PeakUSD, c.Outcome, want, outcome, blocks)
					}
					if c.Settled {
						settled[id] = c.Standing
					}
				}
			}
			final = max(final, w.Last.Number-uint64(w.FinalAfter))
		}
	})
}

// steady writes n blocks in which nothing happens.
func (w *world) steady(t written.TB, n int, seconds int64) {
	t.Helper()
	for range n {
		w.block(t, seconds, nil)
	}
}

// items are the stream's items, and what it took back, as a kind of text: "+1" for the item of the first call, "-3" for what had the number 3.
func (w *world) items(t *testing.T) (out []string) {
	t.Helper()
	list, err := w.Store.Served().Stream.After(t.Context(), 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, it := range list {
		if it.Kind != market.StreamCall {
			continue
		}
		if it.Retracts > 0 {
			out = append(out, fmt.Sprintf("-%d", it.Retracts))
		} else {
			out = append(out, fmt.Sprintf("+%d", it.Call))
		}
	}
	return out
}

func both(t *testing.T, f func(t *testing.T, w *world)) {
	t.Helper()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, storetest.Open(t, kind))
			w.closes(t, 1, w.Pair, 10, 100_000)
			f(t, w)
		})
	}
}

func (w *world) must(t *testing.T, of member.ID) member.CallID {
	t.Helper()
	id, err := w.call(t, of)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func hold(t *testing.T, what string, c *member.Call, outcome member.CallOutcome, peak float64, closed bool) {
	t.Helper()
	if c.Outcome != outcome || math.Abs(c.PeakUSD-peak) > 1e-9 || c.Settled != closed {
		t.Errorf("%s, the call is %s with a peak of %v USD, closed: %v; want %s, %v, %v", what, c.Outcome, c.PeakUSD, c.Settled, outcome, peak, closed)
	}
}

// TestAWinThatAReorgTakesBack: a call wins once twice its price was held, is told anew under another number, and is open again when the block is gone by
// which it had been held.
func TestAWinThatAReorgTakesBack(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		t.Helper()
		id := w.must(t, "u1")
		hold(t, "at once", w.look(t, id), member.CallOpen, 0, false)
		w.closes(t, 12, w.Pair, 20, 100_000)
		w.steady(t, 9, 12)
		hold(t, "a block before", w.look(t, id), member.CallOpen, 10, false)
		w.steady(t, 1, 12)
		won := w.look(t, id)
		hold(t, "held for ten blocks", won, member.CallWin, 20, false)
		if won.DecidedAt != w.Last.Time {
			t.Errorf("it won at %d, want %d", won.DecidedAt, w.Last.Time)
		}
		w.Rewind(t, 1)
		hold(t, "without the tenth block", w.look(t, id), member.CallOpen, 10, false)
		w.closes(t, 12, w.Pair, 15, 100_000) // lower, but outside what was held
		w.restart()
		hold(t, "with another tenth block", w.look(t, id), member.CallWin, 20, false)
		w.steady(t, 7, 12)
		w.closes(t, 12, w.Pair, 5, 100_000)
		hold(t, "once it fell", w.look(t, id), member.CallWin, 20, false)
		w.block(t, member.CallSpan, nil)
		hold(t, "after seven days", w.look(t, id), member.CallWin, 20, false)
		w.steady(t, 9, 12)
		hold(t, "when the last price of its time was held", w.look(t, id), member.CallWin, 20, false)
		w.steady(t, 5, 12)
		hold(t, "and not yet for good", w.look(t, id), member.CallWin, 20, false)
		w.steady(t, 1, 12)
		hold(t, "and for good", w.look(t, id), member.CallWin, 20, true)
		if got, want := w.items(t), []string{"-1", "-3", "-5", "+1"}; !slices.Equal(got, want) {
			t.Errorf("the stream has %v, want %v", got, want)
		}
	})
}

// TestALoss: seven days without twice the price. What is held from a block at the very end counts, and from one later it doesn't.
func TestALoss(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		late    int64
		outcome member.CallOutcome
		peak    float64
	}{{0, member.CallWin, 32}, {1, member.CallLoss, 10}} {
		w := newWorld(t, storetest.Open(t, "sqlite"))
		w.closes(t, 1, w.Pair, 10, 100_000)
		id := w.must(t, "u1")
		w.steady(t, 12, 12)
		w.closes(t, member.CallSpan-12*12+c.late, w.Pair, 32, 100_000)
		if stands := w.look(t, id); stands.Outcome == member.CallLoss != (c.late > 0) {
			t.Errorf("%d s late: it is a %s as soon as its time is over", c.late, stands.Outcome)
		}
		w.steady(t, 10, 12)
		hold(t, fmt.Sprintf("%d s late", c.late), w.look(t, id), c.outcome, c.peak, c.late > 0)
		w.restart()
		w.look(t, id)
		w.steady(t, 6, 12)
		hold(t, fmt.Sprintf("%d s late, for good", c.late), w.look(t, id), c.outcome, c.peak, true)
	}
}

// TestAThinPool: a token whose pool holds less than the chain asks for can't be called, and no price counts that was held while it held less: not even if nobody
// could trade, since all liquidity was gone.
func TestAThinPool(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		t.Helper()
		id := w.must(t, "u1")
		w.closes(t, 12, w.Pair, 40, 2_000)
		if _, err := w.call(t, "u2"); !errors.Is(err, member.ErrThinPool) {
			t.Errorf("a call of a token in a thin pool: %v", err)
		}
		w.steady(t, 12, 12)
		hold(t, "held in a thin pool", w.look(t, id), member.CallOpen, 0, false)
		w.closes(t, 12, w.Pair, 32, 100_000)
		w.steady(t, 5, 12)
		w.block(t, 12, nil, market.Reserves{Pool: w.Pair, Reserve0: written.Whole(10, 18), Reserve1: written.Whole(320, 6)}) // the owner takes nearly all out
		w.steady(t, 12, 12)
		w.block(t, 12, nil, market.Reserves{Pool: w.Pair, Reserve0: written.Whole(100_000, 18), Reserve1: written.Whole(3_200_000, 6)})
		hold(t, "with its liquidity away for a while", w.look(t, id), member.CallOpen, 0, false)
		w.closes(t, 12, w.Pair, 32, 100_000)
		w.steady(t, 10, 12)
		hold(t, "held in a deep pool", w.look(t, id), member.CallWin, 32, false)
	})
}

// TestAnotherReferencePool: once another pool prices the token, prices are held in that one, and from then on.
func TestAnotherReferencePool(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		// falls is the close of the block after the other pool has become the reference pool; 0 is none.
		falls uint64
		depth int
		peak  float64
	}{
		"its price stands":                {0, 2, 16},
		"its price falls":                 {12, 2, 12},
		"it becomes that anew":            {0, 6, 16},
		"it becomes that anew, and falls": {12, 6, 12},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, storetest.Open(t, "sqlite"))
			w.closes(t, 1, w.Pair, 10, 100_000)
			id := w.must(t, "u1")
			w.steady(t, 12, 12)
			hold(t, "in the first pool", w.look(t, id), member.CallOpen, 10, false)
			w.block(t, 12, nil, written.PairOf(w.Factory, second, w.Token, w.USDC))
			for n := 0; ; n++ {
				w.closes(t, 60, second, 16, 1_000_000)
				w.closes(t, 60, w.Pair, 40, 10_000)
				w.look(t, id)
				now, err := w.Store.Tokens.Now(t.Context(), []market.Address{w.Token})
				if err != nil || n > 200 {
					t.Fatal("the second pool never prices the token", err)
				}
				if now[0].Pool == second {
					break
				}
			}
			w.steady(t, 3, 12)
			if w.look(t, id); c.falls > 0 {
				w.closes(t, 12, second, c.falls, 1_000_000)
			}
			w.closes(t, 12, w.Pair, 400, 10_000)
			w.steady(t, 2, 12)
			w.look(t, id)
			w.Rewind(t, c.depth)
			w.now = w.Last.Time
			w.look(t, id)
			if c.falls > 0 {
				w.closes(t, 12, second, c.falls, 1_000_000)
			}
			w.steady(t, 30, 12)
			w.look(t, id)
			w.steady(t, 8, 12)
			w.look(t, id) // all of that is final
			w.Rewind(t, 1)
			w.now = w.Last.Time
			w.steady(t, 2, 12)
			if got := w.look(t, id); math.Abs(got.PeakUSD-c.peak) > 0.001 {
				t.Errorf("the peak is %v USD, want %v", got.PeakUSD, c.peak)
			}
		})
	}
}

// TestErasedCallsAreDropped: a call of a member who is erased isn't judged any more.
func TestErasedCallsAreDropped(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t, "sqlite"))
	open := prometheus.NewGauge(prometheus.GaugeOpts{})
	w.judge = judge.New(judge.Options{Store: w.Store.Served(), Now: func() time.Time { return time.Unix(w.now, 0) }, Open: open})
	w.closes(t, 1, w.Pair, 10, 100_000)
	w.must(t, "u1")
	id := w.must(t, "u2")
	w.look(t, id)
	w.apply(t, member.Record{ID: "u1", Deleted: true, UpdatedAt: w.now * 1e6})
	if erased, err := w.Store.Social.Upkeep.Clean(t.Context(), w.now+3601); erased != 1 || err != nil {
		t.Fatal(erased, err)
	}
	w.judge.Prune()
	w.look(t, id)
	if n := testutil.ToFloat64(open); n != 1 {
		t.Errorf("%v calls are judged, want 1", n)
	}
}

// TestPriceAtTheCall: it is the highest of the time for which a price has to be held, so that nobody makes a call cheap by pushing the price down for a moment.
func TestPriceAtTheCall(t *testing.T) {
	t.Parallel()
	for _, seconds := range []int64{1, 12} {
		w := newWorld(t, storetest.Open(t, "sqlite"))
		w.closes(t, 1, w.Pair, 10, 100_000)
		w.steady(t, 30, seconds)
		w.closes(t, seconds, w.Pair, 5, 100_000)
		blocks := max(10, 20/int(seconds))
		w.steady(t, blocks, seconds)
		if got := w.price(t, "base", w.Token); got.USD != 10 {
			t.Errorf("%d blocks of %d s after it fell from 10 to 5, it is %v", blocks, seconds, got.USD)
		}
		id := w.must(t, "u1")
		w.steady(t, 1, seconds)
		if got := w.price(t, "base", w.Token); got.USD != 5 {
			t.Errorf("a block later it is %v", got.USD)
		}
		w.steady(t, 20, seconds)
		if c := w.look(t, id); c.Price.USD != 10 || c.PeakUSD != 5 {
			t.Errorf("a call at a price that fell from 10 to 5 has the price %v and the peak %v", c.Price.USD, c.PeakUSD)
		}
	}
}

// TestAnotherProcessJudged: a process that gets the lease back doesn't write over what another one found meanwhile.
func TestAnotherProcessJudged(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t, "sqlite"))
	w.closes(t, 1, w.Pair, 10, 100_000)
	id := w.must(t, "u1")
	hold(t, "at first", w.look(t, id), member.CallOpen, 0, false)
	first := w.judge
	w.restart()
	w.closes(t, 12, w.Pair, 20, 100_000)
	w.steady(t, 10, 12)
	hold(t, "by the other process", w.look(t, id), member.CallWin, 20, false)
	w.block(t, 12, nil, market.Reserves{Pool: w.Pair, Reserve0: written.Whole(1, 18), Reserve1: written.Whole(20, 6)}) // whoever looks only now can't know it
	w.steady(t, 60, 12)
	w.judge = first
	w.judge.Forget()
	hold(t, "by the first process again", w.look(t, id), member.CallWin, 20, false)
}

// TestACallThatIsWrittenTwiceInABatch is told once.
func TestACallThatIsWrittenTwiceInABatch(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		t.Helper()
		price := w.price(t, "base", w.Token)
		rec := func(at int64, text string) member.Record {
			return member.Record{ID: "u1", UpdatedAt: at, Call: &member.CallRecord{ID: "c1", Chain: "base", Mint: w.Token, Text: text, Price: price.CallPrice}}
		}
		for i, a := range w.apply(t, rec(1, "a"), rec(2, "b")) {
			if a.Err != nil || a.Outcome != member.Written {
				t.Errorf("record %d: %+v", i, a)
			}
		}
		if got := w.items(t); !slices.Equal(got, []string{"+1"}) {
			t.Errorf("the stream has %v", got)
		}
		if c := w.look(t, "c1"); c.Text != "b" {
			t.Errorf("the text is %q", c.Text)
		}
		w.closes(t, 12, w.Pair, 20, 100_000)
		w.steady(t, 10, 12)
		if c := w.look(t, "c1"); c.Outcome != member.CallWin || c.Text != "b" {
			t.Errorf("once it has won it is %+v", c)
		}
	})
}

// TestNumbersThatTheDatabaseLost: what a failover has lost of the stream's numbers isn't used again, and clients are told to begin anew.
func TestNumbersThatTheDatabaseLost(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		t.Helper()
		for _, of := range []member.ID{"u1", "u2"} {
			w.must(t, of)
		}
		if lost, err := w.Store.Social.Upkeep.KeepNumbers(t.Context(), w.lease, w.now); lost || err != nil {
			t.Fatalf("nothing is lost: %v, %v", lost, err)
		}
		db := w.Store.Inspect.Database().Write
		for _, q := range []string{"UPDATE sequences SET last = 1 WHERE stream = 'stream'", "DELETE FROM stream WHERE number > 1"} {
			if _, err := db.ExecContext(t.Context(), q); err != nil {
				t.Fatal(err)
			}
		}
		if lost, err := w.Store.Social.Upkeep.KeepNumbers(t.Context(), w.lease, w.now); !lost || err != nil {
			t.Fatalf("a number is lost: %v, %v", lost, err)
		}
		list, err := w.Store.Served().Stream.After(t.Context(), 1, 10)
		if err != nil || len(list) != 1 || list[0].Kind != market.StreamReset || list[0].Number != 3 {
			t.Errorf("the stream has %+v, %v; want a reset with the number 3", list, err)
		}
	})
}

// TestWhoMayCallWhat: a member calls a token once at a time, and five tokens a day; a call that is deleted is a loss and counts among them.
func TestWhoMayCallWhat(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		t.Helper()
		id := w.must(t, "u1")
		for n := range 5 {
			if _, err := w.call(t, "u1"); !errors.Is(err, member.ErrCallOpen) {
				t.Fatalf("call %d of the same token: %v", n+2, err)
			}
			w.steady(t, 1, 12)
			if got := w.apply(t, member.Record{Deleted: true, UpdatedAt: w.now * 1e6, Call: &member.CallRecord{ID: id}}); got[0].Err != nil {
				t.Fatal(got[0].Err)
			}
			hold(t, "deleted", w.look(t, id), member.CallLoss, 0, true)
			if n < 4 {
				id = w.must(t, "u1")
			}
		}
		if _, err := w.call(t, "u1"); !errors.Is(err, member.ErrManyCalls) {
			t.Errorf("a sixth call within a day: %v", err)
		}
		if got, want := w.items(t), []string{"-1", "-3", "-5", "-7", "-9"}; !slices.Equal(got, want) {
			t.Errorf("the stream has %v of five deleted calls, want %v", got, want)
		}
		w.block(t, 24*3600-5*12-1, nil)
		if _, err := w.call(t, "u1"); !errors.Is(err, member.ErrManyCalls) {
			t.Errorf("a sixth call a second before the first is a day old: %v", err)
		}
		w.block(t, 1, nil)
		w.must(t, "u1")
	})
}

// TestWhatCanNotBeCalled tells why.
func TestWhatCanNotBeCalled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t, "sqlite"))
	w.closes(t, 1, w.Pair, 10, 100_000)
	for _, c := range []struct {
		chain string
		mint  market.Address
		want  error
	}{{"bsc", w.Token, member.ErrNotIndexed}, {"base", written.Contract(77), member.ErrUnknownToken}, {"base", w.Unpriced, member.ErrUnpriced}, {"base", w.Token, nil}} {
		got := w.price(t, c.chain, c.mint)
		if !errors.Is(got.Err, c.want) || got.Err == nil && (got.USD != 10 || got.Block != w.Last.Number || got.Time != w.Last.Time) {
			t.Errorf("%s on %s: %+v; want %v", c.mint, c.chain, got, c.want)
		}
	}
	w.now += 3600 + 121 // its nodes are silent for two minutes
	if got := w.price(t, "base", w.Token); !errors.Is(got.Err, member.ErrChainBehind) {
		t.Errorf("on a chain of which nothing is heard: %+v", got)
	}
}

// TestAChainThatStops: a day after its time a call ends as it stands.
func TestAChainThatStops(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t, "sqlite"))
	w.closes(t, 1, w.Pair, 10, 100_000)
	id := w.must(t, "u1")
	w.steady(t, 12, 12)
	w.now = start + 2 + member.CallSpan + 24*3600
	hold(t, "a day after its time", w.look(t, id), member.CallOpen, 10, false)
	w.now++
	hold(t, "a second later", w.look(t, id), member.CallLoss, 10, true)
}
