package enrich

import (
	"context"
	"slices"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

const (
	// newestStatesKept is the most pools whose state is kept for a block to come.
	newestStatesKept = 512
	// newestAhead is how far above the block in hand the block may be after which a node told a state: an index that catches up comes to it soon.
	newestAhead = 256
)

// newestStates are the states that nodes told which keep none but the newest. Such a state holds after the block that was the newest then, which
// the index may not have yet: it waits for that block's child. Where the chain has another block in its place, nobody takes it.
type newestStates struct {
	list []newestState
}

// newestState is a pool's state after a block.
type newestState struct {
	after chain.Ref
	pool  market.PoolCreated
	state chain.PoolState
	// isNew says that the index didn't know the pool: then a fact says what it is.
	isNew bool
}

// askNewestStates asks pools for their newest state where no node keeps that before a block. While states are given up it has pools that aren't new asked later, as if no node told any.
func (e *enrichment) askNewestStates(ctx context.Context, b *market.Block, pools []market.PoolCreated, areNew bool) error {
	var told []chain.StatesAfter
	if ctx, asks := e.asksStates(ctx); (asks || areNew) && e.following { // far below the head it is no use
		var err error
		if told, err = e.Nodes.NewestPoolStates(ctx, pools); err != nil {
			return err
		}
	}
	for i, p := range pools {
		n := notPool{asked: b.Number, pause: max(stateGonePause, e.stateless[p.Pool].pause)}
		for _, t := range told {
			if s := t.States[i]; s.Known && t.After.Number+1 >= b.Number && t.After.Number < b.Number+newestAhead {
				e.newestStates.keep(newestState{t.After, p, s, areNew})
				n.pause = max(1, min(n.pause, t.After.Number+2-b.Number))
			}
		}
		if !areNew {
			e.stateless[p.Pool] = n
			delete(e.left, p.Pool)
		}
	}
	return e.takeStates(ctx, b)
}

func (n *newestStates) keep(s newestState) {
	if len(n.list) >= newestStatesKept {
		n.list = slices.Delete(n.list, 0, 1)
	}
	n.list = append(n.list, s)
}

// takeAllStates takes in what is known of the states before a batch's blocks.
func (e *enrichment) takeAllStates(ctx context.Context) error {
	for i := range e.blocks {
		if err := e.takeStates(ctx, &e.blocks[i]); err != nil {
			return err
		}
	}
	return nil
}

// takeStates takes in the states before a block that an earlier index kept, or that were told when the block's parent was the newest. A block may be taken up more than once: its
// states stay until the one after it. A block without events changes no pool, and is no block of the past to a fresh index: known pools' states wait for the first one with some.
func (e *enrichment) takeStates(ctx context.Context, b *market.Block) error {
	if err := e.takeKeptStates(ctx, b); err != nil {
		return err
	}
	n := &e.newestStates
	n.list = slices.DeleteFunc(n.list, func(s newestState) bool { return s.after.Number+1 < b.Number })
	for i, s := range n.list {
		if s.after.Hash != b.Parent || slices.ContainsFunc(b.Facts, isStateOf(s.pool.Pool)) {
			continue
		}
		if len(b.Txs) == 0 && !s.isNew {
			n.list[i].after = ref(b)
			continue
		}
		if err := e.Load(ctx, market.Wanted{Pools: []market.Address{s.pool.Pool}, ExpireFrom: 1}); err != nil {
			return err
		}
		switch p := e.state.Pool(s.pool.Pool); {
		case p == nil && s.isNew:
			e.add(b, market.PoolFact{Pool: s.pool.Pool, Known: true, Info: s.pool})
		case p == nil || !e.lacksState(p):
			continue // it was made in a block that the index took in meanwhile, or taken back
		}
		e.addTold(b, s.state.PoolStateFact, s.state.Unsure)
		delete(e.stateless, s.pool.Pool)
		delete(e.falseStates, s.pool.Pool)
	}
	return nil
}

// takeKeptStates takes in the states that an earlier index kept, with what the pools are, whether or not this one would ask for them: which pool is asked before
// which block follows from the answers before, too. They may be those of pools that don't trade in the block.
func (e *enrichment) takeKeptStates(ctx context.Context, b *market.Block) error {
	facts, err := e.recorded(ctx, b)
	if err != nil {
		return err
	}
	var states []market.PoolStateFact
	var pools []market.Address
	for _, f := range facts {
		if s, ok := f.(market.PoolStateFact); ok && !slices.Contains(b.Facts, f) {
			states, pools = append(states, s), append(pools, s.Pool)
		}
	}
	if len(states) == 0 {
		return nil
	}
	if err := e.Load(ctx, market.Wanted{Pools: pools, ExpireFrom: 1}); err != nil {
		return err
	}
	for _, s := range states {
		for _, of := range facts {
			if p, ok := of.(market.PoolFact); ok && p.Pool == s.Pool && !slices.Contains(b.Facts, of) {
				e.add(b, of)
			}
		}
		e.add(b, s)
	}
	return nil
}

func isStateOf(pool market.Address) func(market.Fact) bool {
	return func(f market.Fact) bool {
		s, ok := f.(market.PoolStateFact)
		return ok && s.Pool == pool
	}
}
