// Package days has people launch and trade on a local Solana by the clock, as on an ordinary day, and makes the past that such a chain begins with.
package days

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/solana"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
	"github.com/boardwalkhq/boardwalk/hack/simnet/tokentext"
	"github.com/boardwalkhq/boardwalk/hack/simnet/traffic"
)

// lamports is how many make a SOL, and microUSD how many make a dollar.
const lamports, microUSD = 1_000_000_000, 1_000_000

// Days are what happens in a world by the clock: tokens are launched, some run and move to a pool, some fade, and people trade on.
type Days struct {
	w     *solana.World
	names *tokentext.Inventor
	rng   *rand.Rand
	every time.Duration
	// next is when the next launch begins, and count how many there were.
	next  time.Time
	count int
	runs  []*run
	// OnLaunch, if set, hears of each launch.
	OnLaunch func(c *solana.Curve, l solana.Launch)
}

// run is a launch that goes on.
type run struct {
	program svm.Key
	start   time.Time
	// life is how long it takes to its goal, the part of its curve that is to be bought; more than the whole moves to a pool.
	life time.Duration
	goal float64
	// trades is how many there are on the way, and churn how many a minute after it; nobody trades after the end (the zero time is never).
	trades, churn float64
	end           time.Time
	// rest is how long a full curve waits until it is moved.
	rest time.Duration

	curve *solana.Curve
	last  time.Time
	full  time.Time
}

// New begins days by seed. Every is about how long it takes from one launch to the next.
func New(w *solana.World, seed uint64, every time.Duration) *Days {
	return &Days{w: w, names: tokentext.New(seed), rng: rand.New(rand.NewPCG(seed, 41)), every: every}
}

// A launch takes usualLife to its goal, or longer, and has usualTrades until then; people go on with it for a while afterwards.
const (
	usualLife   = 6 * time.Minute
	usualTrades = 125
	afterwards  = 15 * time.Minute
)

// fates are how far launches get, in turn: the part of the curve that is bought.
var fates = []float64{1.05, 0.88, 1.05, 0.03, 1.05, 0.5}

// plan is a launch of one fate.
func (d *Days) plan(program svm.Key, goal float64, start time.Time, life time.Duration) *run {
	r := &run{program: program, start: start, last: start, life: life, goal: goal, trades: usualTrades, churn: 2, rest: time.Duration(20+d.rng.IntN(40)) * time.Second}
	if goal < 0.1 {
		r.trades, r.churn = 8, 0
	}
	return r
}

// PlanHistory plans launches of the last day before an end, of every fate, and that ordinary ones begin a few minutes before it.
func (d *Days) PlanHistory(start, end time.Time) {
	for _, program := range solana.Programs {
		add := func(from, to time.Duration, goal float64, life time.Duration, churn float64) {
			at := end.Add(-from - time.Duration(d.rng.Int64N(int64(to-from))))
			if at.Before(start) {
				at = start
			}
			r := d.plan(program, goal, at, life)
			r.churn = churn
			d.runs = append(d.runs, r)
		}
		add(8*time.Hour, 20*time.Hour, 1.05, 50*time.Minute, 0.05)
		add(100*time.Minute, 5*time.Hour, 1.05, 40*time.Minute, 0.4)
		add(35*time.Minute, 80*time.Minute, 0.9, 25*time.Minute, 1)
		add(25*time.Minute, 50*time.Minute, 0.5, 15*time.Minute, 1)
		add(30*time.Minute, 20*time.Hour, 0.03, 10*time.Minute, 0)
	}
	d.next = end.Add(-usualLife - time.Minute)
}

// Step has people do what the block at this time is to have.
func (d *Days) Step(ctx context.Context, at time.Time) error {
	if d.next.IsZero() {
		d.next = at
	}
	for !d.next.After(at) {
		program := solana.Programs[d.count%len(solana.Programs)]
		turn, round := d.count%len(solana.Programs), d.count/len(solana.Programs)
		// Programs are at different points of the same list of fates.
		r := d.plan(program, fates[(round+2*turn)%len(fates)], d.next, usualLife+time.Duration(d.rng.IntN(120))*time.Second)
		r.end = r.start.Add(r.life + afterwards)
		d.runs = append(d.runs, r)
		d.count++
		d.next = d.next.Add(time.Duration(float64(d.every) * (0.7 + 0.6*d.rng.Float64())))
	}
	for _, r := range d.runs {
		if r.start.After(at) {
			continue
		}
		if err := d.advance(ctx, r, at); err != nil {
			return err
		}
	}
	d.runs = slices.DeleteFunc(d.runs, func(r *run) bool {
		return r.over(at)
	})
	if d.rng.IntN(4) == 0 {
		return d.w.TradeSOL(ctx, d.person(), d.rng.IntN(2) == 0, 100*microUSD+uint64(d.rng.IntN(20*lamports)))
	}
	return nil
}

func (d *Days) person() svm.Signer { return d.w.People[d.rng.IntN(len(d.w.People))] }

// over reports whether nobody trades any more. A curve that is to move to a pool does so first.
func (r *run) over(at time.Time) bool {
	if r.curve == nil || r.goal > 1 && r.curve.Pool == nil {
		return false
	}
	return r.churn == 0 && at.Sub(r.start) > r.life || !r.end.IsZero() && at.After(r.end)
}

// advance does what is due of a launch.
func (d *Days) advance(ctx context.Context, r *run, at time.Time) error {
	if r.curve == nil {
		n := d.names.Next(false)
		l := solana.Launch{Name: n.Name, Symbol: n.Symbol, URI: n.Metadata}
		c, err := d.w.Launch(ctx, r.program, d.person(), l, 200_000_000+uint64(d.rng.IntN(lamports)))
		if err != nil {
			return err
		}
		if r.curve = c; d.OnLaunch != nil {
			d.OnLaunch(c, l)
		}
		return nil
	}
	c := r.curve
	if c.Complete && c.Pool == nil {
		if r.full.IsZero() {
			r.full = at
		}
		if at.Sub(r.full) >= r.rest {
			return d.w.Migrate(ctx, c)
		}
		return nil
	}
	rate := r.churn / 60
	if c.Pool == nil && (at.Sub(r.start) < r.life || r.goal > 1) {
		rate = r.trades / r.life.Seconds()
	}
	// More at once would make a block that nobody sees on a real chain.
	const most = 30
	due := min(most, traffic.Poisson(d.rng, min(most, rate*at.Sub(r.last).Seconds())))
	r.last = at
	for range due {
		if err := d.trade(ctx, r, at); err != nil {
			return err
		}
	}
	return nil
}

// trade has somebody trade a launch's token: on the way to the goal more buy than sell.
func (d *Days) trade(ctx context.Context, r *run, at time.Time) error {
	c, who := r.curve, d.person()
	switch {
	case c.Complete && c.Pool == nil:
		return nil
	case c.Pool != nil || at.Sub(r.start) > r.life && r.goal <= 1:
		if d.w.Has(c.Token, who.Key) > 0 && d.rng.IntN(2) == 0 {
			return d.w.Sell(ctx, c, who, 0.1+0.5*d.rng.Float64())
		}
		return d.w.Buy(ctx, c, who, 50_000_000+uint64(d.rng.IntN(lamports)))
	}
	target := c.Target()
	wanted := uint64(r.goal * min(1, float64(at.Sub(r.start))/float64(r.life)) * float64(target))
	if c.SOL >= wanted || d.rng.IntN(5) == 0 {
		return d.w.Sell(ctx, c, who, 0.2+0.5*d.rng.Float64())
	}
	return d.w.Buy(ctx, c, who, 20_000_000+uint64(d.rng.Float64()*1.6*float64(target)/usualTrades)+min(wanted-c.SOL, target/10)/4)
}

var errEnded = errors.New("local Solana: the node has ended")

// slotTime is how long a slot takes.
const slotTime = 400 * time.Millisecond

// slotAt is the slot of a time, in a chain whose slots began at another.
func slotAt(began, at time.Time) uint64 { return 1 + uint64(at.Sub(began)/slotTime) }

// HistoryOptions say how much past to make.
type HistoryOptions struct {
	// Began is when the chain's slots began, and Span how far back from now blocks reach.
	Began time.Time
	Span  time.Duration
	// Blocks is about how many to make. They are seconds apart in the last ten minutes.
	Blocks int
	// OnBlock, if set, hears how much is done, in [0, 1].
	OnBlock func(done float64)
}

// dense is how far back blocks are as close together as they are made live.
const dense = 10 * time.Minute

// Mine makes the past at once.
func (d *Days) Mine(ctx context.Context, o HistoryOptions) error {
	end := time.Now()
	start := end.Add(-o.Span)
	d.PlanHistory(start, end)
	far := max(o.Blocks-int(dense/time.Second), o.Blocks/2)
	var times []time.Time
	for i := range far {
		times = append(times, start.Add(time.Duration(float64(o.Span-dense)*(float64(i)+0.8*d.rng.Float64())/float64(far))))
	}
	step := max(dense/time.Duration(max(o.Blocks-far, 1)), slotTime)
	for at := end.Add(-dense); at.Before(end); at = at.Add(step) {
		times = append(times, at)
	}
	for i, at := range times {
		if err := d.block(ctx, o.Began, at); err != nil {
			return err
		}
		if o.OnBlock != nil {
			o.OnBlock(float64(i+1) / float64(len(times)))
		}
	}
	return nil
}

// block makes the block of a time, unless its slot has one.
func (d *Days) block(ctx context.Context, began, at time.Time) error {
	slot := slotAt(began, at)
	if slot <= d.w.Slot() {
		return nil
	}
	if err := d.Step(ctx, at); err != nil {
		return err
	}
	return d.w.Mine(ctx, slot, at)
}

// Live makes a block in every slot but for a few, until ctx ends.
func (d *Days) Live(ctx context.Context, began time.Time) error {
	for {
		next := began.Add(time.Duration(slotAt(began, time.Now())) * slotTime)
		select {
		case <-ctx.Done():
			return nil
		case <-d.w.Chain.Ended():
			return errEnded
		case <-time.After(time.Until(next)):
		}
		const leftOut = 20 // one slot in so many has no block
		if d.rng.IntN(leftOut) == 0 {
			continue
		}
		if err := d.block(ctx, began, next); err != nil && ctx.Err() == nil {
			return err
		}
	}
}
