package enrich

import (
	"cmp"
	"context"
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

const (
	// statesAtOnce is the most pools of a block whose state is asked for, those with the most trades.
	statesAtOnce = 8
	// stateGonePause is the pause, in blocks, after which a pool is asked for its state again where no node kept it.
	stateGonePause = 64
)

// poolStates asks pools that are older than the index, and traded in a block, for what they held before it. From there on their events
// are enough. A pool whose state can't be had prices nothing, and is asked again when it trades after a while.
func (e *enrichment) poolStates(ctx context.Context) error {
	w := stateless{enrichment: e, settled: map[market.Address]bool{}, known: map[market.Address]market.PoolCreated{}}
	for i := range e.blocks {
		e.Beat()
		b := &e.blocks[i]
		if err := e.takeStates(ctx, b); err != nil {
			return err
		}
		w.learn(b)
		wanted := w.of(b)
		if len(wanted) == 0 {
			continue
		}
		ids := make([]market.Address, len(wanted))
		for k := range wanted {
			ids[k] = wanted[k].Pool
		}
		left, err := e.recall(ctx, b, ids, func(f market.Fact) (market.Address, bool) {
			p, ok := f.(market.PoolStateFact)
			return p.Pool, ok
		})
		if err != nil {
			return err
		}
		wanted = slices.DeleteFunc(wanted, func(p market.PoolCreated) bool { return !slices.Contains(left, p.Pool) || e.waitsForState(b, p.Pool) })
		if err := e.askStates(ctx, b, wanted[:min(statesAtOnce, len(wanted))]); err != nil {
			return err
		}
		w.learn(b)
	}
	return nil
}

func (e *enrichment) askStates(ctx context.Context, b *market.Block, pools []market.PoolCreated) error {
	if len(pools) == 0 {
		return nil
	}
	states, gone, err := e.Nodes.PoolStates(ctx, before(b), pools)
	if err != nil {
		return err
	}
	if len(e.stateless) >= notPoolsKept {
		clear(e.stateless)
	}
	if gone {
		return e.askNewestStates(ctx, b, pools, false)
	}
	for i, p := range pools {
		switch last := e.stateless[p.Pool]; {
		case states[i].Known:
			delete(e.stateless, p.Pool)
			delete(e.falseStates, p.Pool)
			e.addTold(b, states[i].PoolStateFact, states[i].Unsure)
		default:
			e.stateless[p.Pool] = notPool{asked: b.Number, pause: min(max(2*last.pause, firstPoolPause), longestPoolPause)}
		}
	}
	return nil
}

// waitsForState reports whether a pool's state was asked for in vain a short while ago.
func (e *enrichment) waitsForState(b *market.Block, pool market.Address) bool {
	n, asked := e.stateless[pool]
	return asked && b.Number < n.asked+n.pause
}

// stateless finds the pools of a batch's blocks whose state isn't known.
type stateless struct {
	*enrichment
	// settled are pools whose state is in a block of the batch, known those that the batch met first.
	settled map[market.Address]bool
	known   map[market.Address]market.PoolCreated
}

func (w *stateless) learn(b *market.Block) {
	for _, f := range b.Facts {
		switch f := f.(type) {
		case market.PoolFact:
			if f.Info.Protocol.Concentrated() && w.countsPool(f) {
				w.known[f.Pool] = f.Info
			}
		case market.PoolStateFact:
			w.settled[f.Pool] = true
		}
	}
}

// of gives the pools that a block trades in and whose state isn't known, those with the most trades first.
func (w *stateless) of(b *market.Block) (pools []market.PoolCreated) {
	trades := map[market.Address]int{}
	for _, tx := range b.Txs {
		for _, l := range tx.Logs {
			swap, ok := l.Event.(market.Swap)
			if !ok || w.settled[swap.Pool] {
				continue
			}
			info, ok := w.known[swap.Pool]
			if p := w.state.Pool(swap.Pool); !ok && p != nil && w.isWithoutState(p) {
				info, ok = CreatedOf(p), true
			}
			if !ok {
				continue
			}
			if trades[swap.Pool]++; trades[swap.Pool] == 1 {
				pools = append(pools, info)
			}
		}
	}
	slices.SortStableFunc(pools, func(x, y market.PoolCreated) int {
		return cmp.Or(cmp.Compare(trades[y.Pool], trades[x.Pool]), x.Pool.Compare(y.Pool))
	})
	return pools
}

// isWithoutState reports whether a pool, whose creation wasn't seen, has to be asked for its state.
func (e *Enricher) isWithoutState(p *market.Pool) bool {
	return p.CreatedBlock == 0 && p.Protocol.Concentrated() && (p.Untrusted == market.UntrustedTicks || e.falseStates[p.ID])
}

// CreatedOf is what a pool is asked by for its state.
func CreatedOf(p *market.Pool) market.PoolCreated {
	return market.PoolCreated{Pool: p.ID, Protocol: p.Protocol, Factory: p.Factory, TickSpacing: p.TickSpacing}
}
