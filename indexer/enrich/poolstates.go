package enrich

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

const (
	// statesAtOnce is the most pools whose state is known anew before a block: no more are asked.
	statesAtOnce = 8
	// stateGonePause is the pause, in blocks, after which a pool is asked for its state again where no node kept it.
	stateGonePause = 64
	// A pool that is asked for another window is left alone for a while, the longer the more often it comes back: a stranger may have made a pool whose price he
	// moves far at no cost. longestReaskPause is the longest pause in blocks, and comesBack is after how many more blocks a pool has the shortest one again.
	longestReaskPause, comesBack = 1_024, 64
)

// poolStates asks pools that are older than the index, and traded in a block, for what they held before it. From there on their events
// are enough, and, where the state has a window of the ticks alone, until the price comes near one of its ends: then the pool is asked anew before the next
// block that trades in it, and, where the price left the window, before the next block with any event. A pool whose state can't be had prices nothing, and is asked again when it
// trades after a while.
func (e *enrichment) poolStates(ctx context.Context) error {
	w := stateless{enrichment: e, settled: map[market.Address]bool{}, known: map[market.Address]market.PoolCreated{}}
	if err := e.loadLeft(ctx); err != nil {
		return err
	}
	for i := range e.blocks {
		e.Beat()
		b := &e.blocks[i]
		if err := e.takeStates(ctx, b); err != nil {
			return err
		}
		w.learn(b)
		if err := e.statesOf(ctx, b, w.of(b)); err != nil {
			return err
		}
		w.learn(b)
		w.follow(b)
	}
	return nil
}

// loadLeft loads the pools that left their windows, of which no state was committed since.
func (e *enrichment) loadLeft(ctx context.Context) error {
	if len(e.left) == 0 {
		return nil
	}
	if err := e.Load(ctx, market.Wanted{Pools: slices.Collect(maps.Keys(e.left)), ExpireFrom: 1}); err != nil {
		return err
	}
	maps.DeleteFunc(e.left, func(pool market.Address, _ bool) bool {
		p := e.state.Pool(pool)
		return p == nil || !e.lacksState(p)
	})
	return nil
}

// statesOf asks for the states of pools before a block, the first of them. With the states that the block has already there are at most statesAtOnce.
func (e *enrichment) statesOf(ctx context.Context, b *market.Block, wanted []market.PoolCreated) error {
	has := map[market.Address]bool{}
	for _, f := range b.Facts {
		if s, ok := f.(market.PoolStateFact); ok {
			has[s.Pool] = true
		}
	}
	wanted = slices.DeleteFunc(wanted, func(p market.PoolCreated) bool { return has[p.Pool] || e.waitsForState(b, p.Pool) })
	pools := wanted[:min(max(statesAtOnce-len(has), 0), len(wanted))]
	if len(pools) == 0 {
		return nil
	}
	if len(e.stateless) >= notPoolsKept {
		clear(e.stateless)
	}
	ctx, asks := e.asksStates(ctx)
	if !asks {
		return e.askNewestStates(ctx, b, pools, false)
	}
	states, gone, err := e.Nodes.PoolStates(ctx, before(b), pools)
	if err != nil {
		return err
	}
	if gone {
		return e.askNewestStates(ctx, b, pools, false)
	}
	for i, p := range pools {
		if states[i].Known {
			delete(e.stateless, p.Pool)
			delete(e.falseStates, p.Pool)
			e.addTold(b, states[i].PoolStateFact, states[i].Unsure)
			continue
		}
		delete(e.left, p.Pool)
		e.stateless[p.Pool] = notPool{asked: b.Number, pause: min(max(2*e.stateless[p.Pool].pause, firstPoolPause), longestPoolPause)}
	}
	return nil
}

// again is what is remembered of a pool whose window is known anew before a block.
func (n notPool) again(block uint64) notPool {
	switch {
	case n.asked >= block: // the block is taken up once more
		return n
	case n.asked == 0 || block >= n.asked+2*n.pause+comesBack:
		return notPool{asked: block}
	default:
		return notPool{asked: block, pause: min(max(2*n.pause, 1), longestReaskPause)}
	}
}

// waitsForState reports whether a pool's state was asked for in vain a short while ago, or its windows too often lately.
func (e *enrichment) waitsForState(b *market.Block, pool market.Address) bool {
	n, inVain := e.stateless[pool]
	last := e.reasked[pool]
	return inVain && b.Number < n.asked+n.pause || b.Number > last.asked && b.Number <= last.asked+last.pause
}

// stateless finds the pools of a batch's blocks whose state isn't known.
type stateless struct {
	*enrichment
	// settled are pools whose state is in a block of the batch, known those that the batch met first.
	settled map[market.Address]bool
	known   map[market.Address]market.PoolCreated
}

// windowed is a pool of which a window of the ticks is known, as the batch's blocks so far leave it.
type windowed struct {
	window market.TickWindow
	tick   int32
	// moved says that the block in hand moved the price, left that a block closed with it so near an end that derivation forgets the ticks.
	moved, left bool
}

func (w *windowed) isWithoutState() bool { return w.left || !w.window.HasRoom(w.tick) }

func (w *stateless) learn(b *market.Block) {
	for _, f := range b.Facts {
		switch f := f.(type) {
		case market.PoolFact:
			if f.Info.Protocol.Concentrated() && w.countsPool(f) {
				w.known[f.Pool] = f.Info
			}
		case market.PoolStateFact:
			w.settled[f.Pool] = true
			w.tookState(b, f)
		}
	}
}

// tookState notes the window of a state before a block, which is nil where the state has all ticks.
func (e *enrichment) tookState(b *market.Block, f market.PoolStateFact) {
	if e.windows == nil {
		e.windows = map[market.Address]*windowed{}
	}
	if p := e.state.Pool(f.Pool); p != nil && p.CreatedBlock > 0 && p.Untrusted != market.UntrustedTicks && p.Window.IsWhole() {
		return // all of it is known from its creation on
	}
	e.windows[f.Pool] = nil
	if !f.Window.IsWhole() {
		if len(e.reasked) >= notPoolsKept {
			clear(e.reasked)
		}
		e.reasked[f.Pool] = e.reasked[f.Pool].again(b.Number)
		e.windows[f.Pool] = &windowed{window: f.Window, tick: f.Tick}
	}
}

// follow moves the prices of the pools of which a window is known on as a block does. A pool that leaves its window is asked before the next block with
// any event, even if it was asked in vain a moment ago.
func (w *stateless) follow(b *market.Block) {
	var moved []market.Address
	for _, tx := range b.Txs {
		for _, l := range tx.Logs {
			var pool market.Address
			var tick int32
			switch e := l.Event.(type) {
			case market.Swap:
				if e.SqrtPriceX96.IsZero() {
					continue
				}
				pool, tick = e.Pool, e.Tick
			case market.PoolPriced:
				pool, tick = e.Pool, e.Tick
			default:
				continue
			}
			if of := w.windowOf(pool); of != nil && !of.left {
				if of.tick = tick; !of.moved {
					of.moved = true
					moved = append(moved, pool)
				}
			}
		}
	}
	for _, pool := range moved {
		of := w.windows[pool]
		if of.moved = false; !of.window.HasDepth(of.tick) {
			of.left = true
			w.left[pool] = true
			delete(w.stateless, pool)
		}
	}
}

// of gives the pools whose state isn't known and that a block trades in, or that left their windows. Those of which nothing was known come first; among each kind,
// those with the most trades.
func (w *stateless) of(b *market.Block) (pools []market.PoolCreated) {
	if len(b.Txs) == 0 { // of the past it doesn't come, and what is kept of it is lost
		return nil
	}
	trades := map[market.Address]int{}
	again := map[market.Address]bool{}
	for pool := range w.left {
		if p := w.state.Pool(pool); p != nil && w.lacks(pool, p) {
			trades[pool], again[pool] = 0, true
			pools = append(pools, chain.CreatedOf(p))
		}
	}
	for _, tx := range b.Txs {
		for _, l := range tx.Logs {
			swap, ok := l.Event.(market.Swap)
			if !ok {
				continue
			}
			info, isNew := w.known[swap.Pool]
			p := w.state.Pool(swap.Pool)
			if !isNew && p == nil || !w.lacks(swap.Pool, p) { // a kept fact may be of a pool that this index doesn't know
				continue
			}
			if !isNew {
				info = chain.CreatedOf(p)
			}
			if _, is := trades[swap.Pool]; !is {
				pools = append(pools, info)
				again[swap.Pool] = w.windowOf(swap.Pool) != nil
			}
			trades[swap.Pool]++
		}
	}
	slices.SortFunc(pools, func(x, y market.PoolCreated) int {
		switch {
		case again[x.Pool] == again[y.Pool]:
			return cmp.Or(cmp.Compare(trades[y.Pool], trades[x.Pool]), x.Pool.Compare(y.Pool))
		case again[x.Pool]:
			return 1
		}
		return -1
	})
	return pools
}

// lacks reports whether a pool's state isn't known, as the batch's blocks so far leave it; p is nil for a pool that they met first.
func (w *stateless) lacks(pool market.Address, p *market.Pool) bool {
	switch {
	case w.settled[pool]:
		of := w.windowOf(pool)
		return of != nil && of.isWithoutState()
	case p == nil:
		return true
	}
	return w.lacksState(p)
}

// windowOf is a pool of which a window of the ticks is known, as the blocks so far leave it; nil where all of them are known, or none.
func (e *enrichment) windowOf(pool market.Address) *windowed {
	if of, ok := e.windows[pool]; ok {
		return of
	}
	p := e.state.Pool(pool)
	if p == nil || p.Untrusted != market.Trusted || p.Window.IsWhole() {
		return nil
	}
	if e.windows == nil {
		e.windows = map[market.Address]*windowed{}
	}
	of := &windowed{window: p.Window, tick: p.Tick}
	e.windows[pool] = of
	return of
}

// lacksState reports whether a pool that the index knows has to be asked for its state, as the batch's blocks so far leave it: its creation wasn't seen, its price left its
// window of the ticks, or comes near an end, or its state turned out to be false.
func (e *enrichment) lacksState(p *market.Pool) bool {
	if of := e.windowOf(p.ID); of != nil {
		return of.isWithoutState() || e.hasFalseState(p)
	}
	return p.Protocol.Concentrated() && p.Untrusted == market.UntrustedTicks || e.hasFalseState(p)
}

func (e *Enricher) hasFalseState(p *market.Pool) bool {
	return p.Protocol.Concentrated() && e.falseStates[p.ID]
}
