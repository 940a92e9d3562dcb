package enrich

import (
	"context"
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// pools asks about contracts that swap like a pool and whose creation was not seen.
func (e *enrichment) pools(ctx context.Context) error {
	settled := map[market.Address]bool{} // created or asked about
	for i := range e.blocks {
		e.Beat()
		b := &e.blocks[i]
		u := e.unknownPools(b, settled)
		all := slices.Concat(u.contracts, u.waiting, u.ids)
		if len(all) == 0 {
			continue
		}
		left, err := e.recall(ctx, b, all, func(f market.Fact) (market.Address, bool) {
			p, ok := f.(market.PoolFact)
			return p.Pool, ok
		})
		if err != nil {
			return err
		}
		if err := e.addByKey(ctx, b, left, u.ids); err != nil {
			return err
		}
		left = slices.DeleteFunc(left, func(a market.Address) bool { return slices.Contains(u.waiting, a) || slices.Contains(u.ids, a) })
		if len(left) > 0 {
			facts, unsure, err := e.Nodes.PoolFacts(ctx, ref(b), e.Config.Exchanges, left, e.countsPool)
			if err != nil {
				return err
			}
			for i, f := range facts {
				e.addTold(b, f, unsure[i])
			}
		}
		e.rememberNotPools(b, settled)
	}
	return nil
}

// addByKey adds the V4 pools whose keys are known in the block.
func (e *enrichment) addByKey(ctx context.Context, b *market.Block, left, ids []market.Address) error {
	ids = slices.DeleteFunc(slices.Clone(ids), func(a market.Address) bool { return !slices.Contains(left, a) })
	known, err := e.poolKeys.Known(ctx, ids, b)
	for _, created := range known {
		e.add(b, market.PoolFact{Pool: created.Pool, Known: true, Info: created})
	}
	return err
}

// countsPool reports whether a fact is of a pool that can decide a price.
func (e *Enricher) countsPool(f market.PoolFact) bool {
	return f.Known && e.Machine.Tracked(f.Info.Token0, f.Info.Token1)
}

// notPool remembers a contract that turned out to be no pool of ours: the block at which it was asked,
// and the pause after which its next swap has it asked again, which is 0 where that is never.
type notPool struct{ asked, pause uint64 }

const (
	// firstPoolPause and longestPoolPause are the pauses, in blocks, after which a contract that gave no answer is
	// asked again. A pause is twice the one before.
	firstPoolPause, longestPoolPause = 64, 1 << 20
	// notPoolsKept bounds the memory of contracts that are no pools, and untrackedKept that of V4 pools that aren't tracked.
	notPoolsKept, untrackedKept = 100_000, 100_000
)

// noteMade spares asking what a V4 pool is whose creation tells that it isn't tracked: anybody can make such pools and trade in them.
func (e *Enricher) noteMade(c market.PoolCreated) {
	if c.Pool.Kind() == market.V4Pool && e.Machine.Believes(c) && !e.Machine.Tracked(c.Token0, c.Token1) {
		e.noteUntracked(c.Pool)
	}
}

func (e *Enricher) noteUntracked(pool market.Address) {
	if len(e.untracked) >= untrackedKept {
		clear(e.untracked)
	}
	e.untracked[pool] = true
}

func (e *Enricher) noteNotPool(pool market.Address, n notPool) {
	if len(e.notPools) >= notPoolsKept {
		clear(e.notPools)
	}
	e.notPools[pool] = n
}

// rememberNotPools spares asking again about contracts that are no pools to us.
func (e *enrichment) rememberNotPools(b *market.Block, settled map[market.Address]bool) {
	for _, f := range b.Facts {
		p, ok := f.(market.PoolFact)
		if !ok {
			continue
		}
		mute := !p.Known && p.Reason == market.PoolMute
		settled[p.Pool] = !mute // a later block of the batch may ask a mute one again
		e.poolKeys.Taken(p.Pool)
		before := e.notPools[p.Pool]
		if p.Known && e.Machine.Tracked(p.Info.Token0, p.Info.Token1) {
			delete(e.notPools, p.Pool)
			delete(e.untracked, p.Pool)
			continue
		}
		if p.Known && p.Pool.Kind() == market.V4Pool {
			e.noteUntracked(p.Pool)
			continue
		}
		n := notPool{asked: b.Number}
		switch {
		case mute && before.pause > 0 && before.asked >= b.Number:
			n = before // the block is taken up once more
		case mute:
			n.pause = min(max(2*before.pause, firstPoolPause), longestPoolPause)
		}
		e.noteNotPool(p.Pool, n)
	}
}

// unknownPools are the pools that swap in a block and are neither settled nor known.
type unknownPools struct {
	// contracts are to be asked; waiting are those that gave no answer lately: only what an earlier index was told of them counts. ids are
	// those without an account.
	contracts, waiting, ids []market.Address
}

// unknownPools finds a block's unknown pools, and settles those that are to be asked.
func (e *enrichment) unknownPools(b *market.Block, settled map[market.Address]bool) (u unknownPools) {
	for _, f := range b.Facts {
		if p, ok := f.(market.PoolFact); ok {
			settled[p.Pool] = true
		}
	}
	for _, tx := range b.Txs {
		for _, l := range tx.Logs {
			switch ev := l.Event.(type) {
			case market.PoolCreated:
				settled[ev.Pool] = true
				e.noteMade(ev)
			case market.Swap:
				if !settled[ev.Pool] && e.state.Pool(ev.Pool) == nil {
					e.swapped(b, ev.Pool, &u, settled)
				}
			}
		}
	}
	return u
}

// swapped takes in a swap of a pool that isn't known.
func (e *enrichment) swapped(b *market.Block, pool market.Address, u *unknownPools, settled map[market.Address]bool) {
	n, not := e.notPools[pool]
	var list *[]market.Address
	switch {
	case len(pool.Bytes()) != market.EVMAddressLen:
		if not || e.untracked[pool] {
			return
		}
		list = &u.ids
	case not && n.pause > 0 && b.Number < n.asked+n.pause:
		list = &u.waiting
	case not && n.pause == 0:
		return
	default:
		settled[pool] = true
		list = &u.contracts
	}
	if !slices.Contains(*list, pool) {
		*list = append(*list, pool)
	}
}
