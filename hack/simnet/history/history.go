package history

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/desk"
	"github.com/boardwalkhq/boardwalk/hack/simnet/traffic"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
)

// Options say how much past to make. Zero values take the defaults named here.
type Options struct {
	// Span reaches back from now, at most to the chain's newest block. Default 26 h, so that every
	// 24 h figure has a whole day behind it.
	Span time.Duration
	// Blocks is about how many to mine. Default 1500.
	Blocks int
	// BlockTime spaces the blocks of the last ten minutes. Default 2 s.
	BlockTime time.Duration
	// TxPerBlock is the mean. Default 5.
	TxPerBlock float64
	// Seed of the spacing of the older blocks.
	Seed uint64
	// Desk, if set, makes launches besides, as its PlanHistory says.
	Desk *desk.Desk
	// End is when history ends; the zero time is now, as of the last block.
	End time.Time
	// OnBlock, if set, hears of each step's truths before its block is mined, with done in [0, 1].
	OnBlock func(done float64, truths []traffic.Truth)
}

// denseSpan is how far back blocks are as close together as on a live chain.
const denseSpan = 10 * time.Minute

// GenesisFor is the timestamp that a node should start with, so that Mine has room for its span.
func GenesisFor(span time.Duration) time.Time { return time.Now().Add(-span - time.Minute) }

// Mine mines the past at once, with explicit timestamps: thinly over the span and in block time in
// the last ten minutes.
func Mine(ctx context.Context, w *world.World, trader *traffic.Trader, o Options) error {
	if o.Span == 0 {
		o.Span = 26 * time.Hour
	}
	if o.Blocks == 0 {
		o.Blocks = 1500
	}
	if o.BlockTime == 0 {
		o.BlockTime = 2 * time.Second
	}
	if o.TxPerBlock == 0 {
		o.TxPerBlock = 5
	}
	end := o.End
	if end.IsZero() {
		end = time.Now()
	}
	latest, err := w.Node.Latest(ctx)
	if err != nil {
		return err
	}
	times := historyTimes(latest.Timestamp, end, o)
	if o.Desk != nil {
		o.Desk.PlanHistory(times[0], end)
	}
	rng := rand.New(rand.NewPCG(o.Seed, 11))
	step := func(at time.Time, done float64) error {
		truths, err := stepAll(ctx, trader, o.Desk, at, traffic.Poisson(rng, o.TxPerBlock))
		if err != nil {
			return fmt.Errorf("history: %w", err)
		}
		if o.OnBlock != nil {
			o.OnBlock(done, truths)
		}
		return w.Node.MineAt(ctx, at)
	}
	for i, at := range times {
		if err := step(at, float64(i+1)/float64(len(times))); err != nil {
			return err
		}
	}
	if !o.End.IsZero() {
		return nil
	}
	// The clock went on while the past was mined.
	for at := times[len(times)-1].Add(o.BlockTime); !at.After(time.Now()); at = at.Add(o.BlockTime) {
		if err := step(at, 1); err != nil {
			return err
		}
	}
	return nil
}

// stepAll submits what the block at this time is to have of the desk's, if there is one, and of the trader's.
func stepAll(ctx context.Context, trader *traffic.Trader, d *desk.Desk, at time.Time, n int) ([]traffic.Truth, error) {
	var launches []traffic.Truth
	if d != nil {
		var err error
		if launches, err = d.Step(ctx, at); err != nil {
			return nil, err
		}
	}
	truths, err := trader.Step(ctx, n)
	return append(launches, truths...), err
}

// historyTimes are strictly increasing whole seconds between the newest block and the end.
func historyTimes(newest, end time.Time, o Options) []time.Time {
	start := end.Add(-o.Span)
	if start.Before(newest) {
		start = newest
	}
	dense := min(denseSpan, end.Sub(start)/2)
	denseBlocks := min(int(dense/o.BlockTime), o.Blocks/2)
	denseStart := end.Add(-time.Duration(denseBlocks) * o.BlockTime)
	sparseBlocks := o.Blocks - denseBlocks

	rng := rand.New(rand.NewPCG(o.Seed, 13))
	var times []time.Time
	last := newest.Unix()
	add := func(at time.Time) {
		if second := at.Unix(); second > last {
			times, last = append(times, at.Truncate(time.Second)), second
		}
	}
	gap := float64(denseStart.Sub(start)) / float64(max(1, sparseBlocks))
	for i := range sparseBlocks {
		add(start.Add(time.Duration(gap * (float64(i) + 0.8*rng.Float64()))))
	}
	for i := range denseBlocks {
		add(denseStart.Add(time.Duration(i+1) * o.BlockTime))
	}
	if len(times) == 0 {
		add(end)
	}
	return times
}

// LiveOptions say how a chain goes on.
type LiveOptions struct {
	// BlockTime is in whole seconds.
	BlockTime  time.Duration
	TxPerBlock float64
	Seed       uint64
	// OnBlock, if set, hears of each block's truths before it is mined.
	OnBlock func(truths []traffic.Truth)
	// LaunchEvery is about how often a new token with a pool appears, on each exchange in turn; 0 is
	// never. The world's Tokens and Pools then change while it lives: nobody else may use them.
	LaunchEvery time.Duration
	// OnLaunch, if set, hears of each new token after it is mined.
	OnLaunch func(world.Token, world.Pool)
	// Desk, if set, goes on with launches on the world's venues. It is apart from LaunchEvery.
	Desk *desk.Desk
}

// Live mines a block every block time, at the wall clock's time, with the trader's transactions in
// it. It returns nil when the context ends and an error when the node fails.
func Live(ctx context.Context, w *world.World, trader *traffic.Trader, o LiveOptions) error {
	if o.BlockTime < time.Second || o.BlockTime%time.Second != 0 {
		return fmt.Errorf("simnet: block time %s is not a number of whole seconds", o.BlockTime)
	}
	rng := rand.New(rand.NewPCG(o.Seed, 17))
	launcher := newLauncher(w, o)
	for ctx.Err() == nil {
		next := time.Now().Truncate(o.BlockTime).Add(o.BlockTime)
		select {
		case <-ctx.Done():
			return nil
		case <-w.Node.Ended():
			return fmt.Errorf("simnet: chain %d: the node has ended", w.ChainID)
		case <-time.After(time.Until(next)):
		}
		err := launcher.send(ctx, next)
		if err == nil {
			err = liveBlock(ctx, w, trader, next, traffic.Poisson(rng, o.TxPerBlock), o)
		}
		if err == nil {
			err = launcher.adopt(ctx)
		}
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("simnet: chain %d: %w", w.ChainID, err)
		}
	}
	return nil
}

func liveBlock(ctx context.Context, w *world.World, trader *traffic.Trader, at time.Time, n int, o LiveOptions) error {
	truths, err := stepAll(ctx, trader, o.Desk, at, n)
	if err != nil {
		return err
	}
	if o.OnBlock != nil {
		o.OnBlock(truths)
	}
	latest, err := w.Node.Latest(ctx)
	if err != nil {
		return err
	}
	if !at.After(latest.Timestamp) { // somebody else mined or reorganised
		at = latest.Timestamp.Add(time.Second)
	}
	return w.Node.MineAt(ctx, at)
}
