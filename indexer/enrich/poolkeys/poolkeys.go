// Package poolkeys finds out which tokens and fees the V4 pools have that are older than the index: their events have an id alone.
package poolkeys

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

const (
	// keyRequests is the most ranges of the past that are looked through for the creation of one V4 pool.
	keyRequests = 200
	// keysSought is the most V4 pools that are looked for; those that trade beyond it have to wait.
	keysSought = 4096
	// keysAtOnce is the most that one block has looked for at once.
	keysAtOnce = 64
	// keyPause is the time between two looks for something to do.
	keyPause = time.Second
)

// unknownKey is why a V4 pool that trades is no pool to us.
const unknownKey = "unknown_key"

// Options are what a finder works with.
type Options struct {
	Nodes     chain.PoolKeySource
	Exchanges []chainconfig.Exchange
	// SetAside reports a pool (subject) that the indexer goes on without.
	SetAside func(kind, reason, subject string)
	Log      *slog.Logger
}

// Finder finds the keys of pools. Most are found in the block of their first trade, the others by a search beside the loop, the pool with the most trades first.
// Only pools that were made before the index began are unknown, so that no stranger can add to the work.
type Finder struct {
	Options

	mu     sync.Mutex
	sought map[market.Address]*soughtKey
	found  map[market.Address]market.PoolCreated
}

// soughtKey is a pool whose key is looked for.
type soughtKey struct {
	trades int
	// asked says that the position managers don't know it; to is the last block of the past that wasn't looked at.
	asked    bool
	to       uint64
	requests int
	given    bool // given up
}

// New makes a finder that has heard of no pool.
func New(o Options) *Finder {
	return &Finder{Options: o, sought: map[market.Address]*soughtKey{}, found: map[market.Address]market.PoolCreated{}}
}

// Known gives those of the pools that trade in a block whose keys are known. It asks at once for pools that it hears of for the first time, by two requests for
// all of them, so that two indexes of a chain know most pools from the same block on. The search beside the loop goes on for the rest.
func (f *Finder) Known(ctx context.Context, pools []market.Address, block uint64) (known []market.PoolCreated, err error) {
	known, fresh := f.heard(pools, block)
	if len(fresh) == 0 {
		return known, nil
	}
	found, err := f.Nodes.KeysOfPools(ctx, f.Exchanges, fresh)
	if fresh = without(fresh, found); err == nil && len(fresh) > 0 {
		var created []market.PoolCreated
		var from uint64
		if created, from, err = f.Nodes.CreationsOfPools(ctx, f.Exchanges, fresh, block-1); err == nil {
			f.looked(without(fresh, created), from)
			found = append(found, created...)
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil { // no block waits for it: it is looked for beside the head
		f.Log.DebugContext(ctx, "pools' creations could not be looked for", "pools", len(fresh), "err", err.Error())
	}
	return append(known, found...), nil
}

// without are the pools that weren't found.
func without(pools []market.Address, found []market.PoolCreated) []market.Address {
	return slices.DeleteFunc(slices.Clone(pools), func(a market.Address) bool {
		return slices.ContainsFunc(found, func(p market.PoolCreated) bool { return p.Pool == a })
	})
}

// heard counts trades in pools, and parts those that are known by now from those that it hears of for the first time.
func (f *Finder) heard(pools []market.Address, block uint64) (known []market.PoolCreated, fresh []market.Address) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, pool := range pools {
		created, found := f.found[pool]
		s := f.sought[pool]
		switch {
		case found:
			known = append(known, created)
		case s != nil:
			s.trades++
		case len(f.sought) < keysSought && len(fresh) < keysAtOnce:
			f.sought[pool] = &soughtKey{trades: 1, to: block - 1}
			fresh = append(fresh, pool)
		}
	}
	return known, fresh
}

// looked takes in that pools aren't known to the position managers, and weren't made from a block on.
func (f *Finder) looked(pools []market.Address, from uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, pool := range pools {
		if s := f.sought[pool]; s != nil {
			s.asked = true
			f.went(pool, s, from)
		}
	}
}

// went takes in that a pool wasn't made from a block on.
func (f *Finder) went(pool market.Address, s *soughtKey, from uint64) {
	s.requests++
	if s.given = from == 0 || s.requests >= keyRequests; s.given {
		f.SetAside("pool", unknownKey, pool.String())
	} else {
		s.to = from - 1
	}
}

// Taken forgets a pool that the index knows by now.
func (f *Finder) Taken(pool market.Address) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.found, pool)
	delete(f.sought, pool)
}

// next gives a copy of the pool to look for.
func (f *Finder) next() (pool market.Address, s soughtKey, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, c := range f.sought {
		if !c.given && (!ok || c.trades > s.trades || c.trades == s.trades && id.Compare(pool) < 0) {
			pool, s, ok = id, *c, true
		}
	}
	return pool, s, ok
}

// Run searches until ctx ends.
func (f *Finder) Run(ctx context.Context) {
	for ctx.Err() == nil {
		pool, s, ok := f.next()
		if ok {
			created, found, err := f.look(ctx, pool, &s)
			if err == nil {
				f.saw(pool, &s, created, found)
				continue
			}
			f.Log.DebugContext(ctx, "a pool's creation could not be looked for", "pool", pool.String(), "err", err.Error())
		}
		if !wait.For(ctx, keyPause) {
			return
		}
	}
}

// look makes one step of the search.
func (f *Finder) look(ctx context.Context, pool market.Address, s *soughtKey) (created market.PoolCreated, found bool, err error) {
	if !s.asked {
		known, err := f.Nodes.KeysOfPools(ctx, f.Exchanges, []market.Address{pool})
		if err != nil {
			return created, false, err
		}
		s.asked = true
		if len(known) > 0 {
			return known[0], true, nil
		}
		return created, false, nil
	}
	list, from, err := f.Nodes.CreationsOfPools(ctx, f.Exchanges, []market.Address{pool}, s.to)
	if err != nil {
		return created, false, err
	}
	if len(list) > 0 {
		return list[0], true, nil
	}
	f.went(pool, s, from)
	return created, false, nil
}

// saw takes in what a step found.
func (f *Finder) saw(pool market.Address, s *soughtKey, created market.PoolCreated, found bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.sought[pool]
	if now == nil {
		return
	}
	s.trades = now.trades
	*now = *s
	if found {
		now.given = true
		f.found[pool] = created
	}
}
