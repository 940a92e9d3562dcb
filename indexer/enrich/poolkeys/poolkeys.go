// Package poolkeys finds out which tokens and fees the V4 pools have that are older than the index: their events have an id alone.
package poolkeys

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/budget"
	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

const (
	// keyRequests is the most ranges of the past that are looked through for the creation of one V4 pool.
	keyRequests = 200
	// keysSought is the most V4 pools whose creation is looked for, and the most that are kept of those that were found. A pool beyond it isn't looked for until there
	// is room; the position manager is asked about it each time it trades.
	keysSought = 4096
	// keyFailures is how often in a row nodes fail to look through a range for a pool until it counts as looked for in vain: they may refuse logs that old for good.
	keyFailures = 8
	// failPause is the pause after a pool's first failure. Each further one is twice as long: an outage of less than 21 minutes has no pool given up.
	failPause = 10 * time.Second
	// keysAtOnce is the most pools that nodes are asked about at once.
	keysAtOnce = 64
	// widestReach is as many blocks as one range is taken to have before the first was looked through.
	widestReach = 10_000
	// untoldKept bounds the memory of pools that were looked for in vain. Beyond it all of them are forgotten, and looked for again if they trade.
	untoldKept = 100_000
	// keyPause is the time between two looks for something to do, and lookPause that between two ranges, so that the search leaves most of what an endpoint takes a second to blocks.
	keyPause, lookPause = time.Second, 100 * time.Millisecond
)

// unknownKey is why a V4 pool that trades is no pool to us, and why its trades are dropped.
const unknownKey = "unknown_key"

// Nodes tell what pools are.
type Nodes interface {
	chain.PoolKeySource
	// UsualPools is that of chain.PoolSource.
	UsualPools(exchanges []chainconfig.Exchange, pairs [][2]market.Address, fees ...uint32) []market.PoolCreated
}

// Options are what a finder works with.
type Options struct {
	Nodes     Nodes
	Exchanges []chainconfig.Exchange
	// Quotes are the declared quote assets: only pools with one of them are tracked.
	Quotes []market.Address
	// SetAside reports a pool, or a trade of a pool (subject), that the indexer goes on without.
	SetAside func(kind, reason, subject string)
	// GivesUp reports whether nodes aren't asked for something, so that the day's calls last for what is worth more.
	GivesUp func(budget.Purpose) bool
	Now     func() time.Time
	Log     *slog.Logger
}

// Finder finds the keys of pools. Most are found in the block of their first trade, the others by a search beside the loop, the pool with the most trades first.
// A pool that was made since the index began isn't asked about: the log of its creation tells what it is. Of pools that aren't tracked the enricher remembers a bounded number.
type Finder struct {
	Options

	mu     sync.Mutex
	sought map[market.Address]*soughtKey
	found  map[market.Address]market.PoolCreated
	// untold are the pools that were looked for in vain.
	untold map[market.Address]bool
	// reach is how many blocks the last range had that was looked through. alone says that the next one is for one pool, since nodes failed to look through one for many: they may
	// refuse so many.
	reach uint64
	alone bool
	// dropped has the pool of each trade that the blocks which aren't committed yet go on without.
	dropped []market.Address
}

// soughtKey is a pool whose key is looked for. No position manager knew it when it was first asked.
type soughtKey struct {
	trades int
	// to is the last block of the past that wasn't looked at.
	to       uint64
	requests int
	// failures are those in a row, and until rests is no range looked through for the pool.
	failures int
	rests    time.Time
}

// New makes a finder that has heard of no pool.
func New(o Options) *Finder {
	return &Finder{
		Options: o, reach: widestReach, sought: map[market.Address]*soughtKey{}, found: map[market.Address]market.PoolCreated{}, untold: map[market.Address]bool{},
	}
}

// Known gives those of the pools that trade in a block whose keys are known. The block itself tells most of them. Nodes are asked at once about up to keysAtOnce others
// that aren't looked for yet: the position managers about all of them, and one range of the past about those for which the search has room. Two indexes of a chain may know
// these from different blocks on. The search beside the loop goes on for the rest, whose trades in the block are dropped.
func (f *Finder) Known(ctx context.Context, pools []market.Address, b *market.Block) (known []market.PoolCreated, err error) {
	if len(pools) == 0 {
		return nil, nil
	}
	known = f.provenBy(b, pools)
	heard, fresh := f.heard(without(pools, known))
	known = append(known, heard...)
	if len(fresh) > 0 {
		asked, err := f.ask(ctx, fresh, b.Number)
		if err != nil {
			return nil, err
		}
		known = append(known, asked...)
	}
	f.drop(without(pools, known), b)
	return known, nil
}

// ask asks the position managers, and looks through one range of the past. Where the former don't answer the block is taken up again; where the latter fails the block
// goes on without, since nodes may keep no old logs.
func (f *Finder) ask(ctx context.Context, fresh []market.Address, block uint64) (known []market.PoolCreated, err error) {
	if known, err = f.Nodes.KeysOfPools(ctx, f.Exchanges, fresh); err != nil {
		return nil, err
	}
	f.learn(known)
	if fresh = f.seek(without(fresh, known), block); len(fresh) == 0 {
		return known, nil
	}
	created, from, err := f.Nodes.CreationsOfPools(ctx, f.Exchanges, fresh, block-1)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err == nil:
		f.learn(created)
		f.looked(without(fresh, created), from)
	default:
		f.Log.DebugContext(ctx, "pools' creations could not be looked for", "pools", len(fresh), "err", err.Error())
	}
	return append(known, created...), nil
}

// learn keeps what pools are, also once the index has them: a block may be taken up more than once, since a later step failed or it was taken back.
func (f *Finder) learn(pools []market.PoolCreated) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range pools {
		f.keep(p)
	}
}

func (f *Finder) keep(p market.PoolCreated) {
	delete(f.sought, p.Pool)
	if _, has := f.found[p.Pool]; !has && len(f.found) >= keysSought {
		for one := range f.found { // if it trades again, nodes are asked about it again
			delete(f.found, one)
			break
		}
	}
	f.found[p.Pool] = p
}

// without are the pools that weren't found.
func without(pools []market.Address, found []market.PoolCreated) []market.Address {
	return slices.DeleteFunc(slices.Clone(pools), func(a market.Address) bool {
		return slices.ContainsFunc(found, func(p market.PoolCreated) bool { return p.Pool == a })
	})
}

// heard counts trades in pools, and parts those that are known by now from those that nodes are to be asked about.
func (f *Finder) heard(pools []market.Address) (known []market.PoolCreated, fresh []market.Address) {
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
		case f.untold[pool]:
		case len(fresh) < keysAtOnce:
			fresh = append(fresh, pool)
		}
	}
	return known, fresh
}

// seek has pools of which the position manager doesn't tell looked for, as far as there is room, and gives these.
func (f *Finder) seek(pools []market.Address, block uint64) []market.Address {
	f.mu.Lock()
	defer f.mu.Unlock()
	pools = pools[:min(len(pools), keysSought-len(f.sought))]
	for _, pool := range pools {
		f.sought[pool] = &soughtKey{trades: 1, to: block - 1}
	}
	return pools
}

// drop gathers the trades that a block has of pools whose keys aren't known.
func (f *Finder) drop(pools []market.Address, b *market.Block) {
	if len(pools) == 0 {
		return
	}
	for swap := range swapsOf(b, pools) {
		if !swap.Amount0.IsZero() && !swap.Amount1.IsZero() && swap.Amount0.Neg != swap.Amount1.Neg { // as derivation has it
			f.dropped = append(f.dropped, swap.Pool)
		}
	}
}

// Begin forgets the dropped trades of blocks that weren't committed: they are taken up again.
func (f *Finder) Begin() { f.dropped = nil }

// Committed counts the dropped trades of the blocks since Begin.
func (f *Finder) Committed() {
	for _, pool := range f.dropped {
		f.SetAside("trade", unknownKey, pool.String())
	}
	f.dropped = nil
}

// looked takes in that pools weren't made from a block on.
func (f *Finder) looked(pools []market.Address, from uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, pool := range pools {
		f.passed(pool, from)
	}
}

// passed takes in that a pool wasn't made from a block on. A pool that isn't looked for any more is known by now.
func (f *Finder) passed(pool market.Address, from uint64) {
	s := f.sought[pool]
	if s == nil {
		return
	}
	s.requests++
	s.failures = 0
	if from > 0 && s.requests < keyRequests {
		s.to = from - 1
		return
	}
	f.giveUp(pool)
}

// failed takes in that nodes failed to look through a range. It counts against a pool that was looked for alone.
func (f *Finder) failed(pools []market.Address) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.alone = len(pools) > 1; f.alone {
		return
	}
	s := f.sought[pools[0]]
	if s == nil {
		return
	}
	if s.failures++; s.failures == keyFailures {
		f.giveUp(pools[0])
		return
	}
	s.rests = f.Now().Add(failPause << (s.failures - 1))
}

// giveUp ends the search for a pool in vain.
func (f *Finder) giveUp(pool market.Address) {
	delete(f.sought, pool)
	if len(f.untold) >= untoldKept {
		clear(f.untold)
	}
	f.untold[pool] = true
	f.SetAside("pool", unknownKey, pool.String())
}

// Taken ends the search for a pool that was told in a block.
func (f *Finder) Taken(pool market.Address) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.sought, pool)
}

// next gives the pools to look for in one range, and the range's last block. They are the pool with the most trades, and those whose blocks to look through end within the range,
// the nearest first. A pool is older than the block of its first trade, so that a range which begins above that block has nothing of it.
func (f *Finder) next() (pools []market.Address, to uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.Now()
	var first *soughtKey
	for id, s := range f.sought {
		if now.Before(s.rests) {
			continue
		}
		if pools = append(pools, id); first == nil || s.trades > first.trades || s.trades == first.trades && s.to > first.to {
			first = s
		}
	}
	if first == nil {
		return nil, 0
	}
	pools = slices.DeleteFunc(pools, func(id market.Address) bool { s := f.sought[id]; return s.to > first.to || s.to+f.reach <= first.to })
	slices.SortFunc(pools, func(a, b market.Address) int {
		return cmp.Or(cmp.Compare(f.sought[b].to, f.sought[a].to), cmp.Compare(f.sought[b].trades, f.sought[a].trades), a.Compare(b))
	})
	most := keysAtOnce
	if f.alone {
		most = 1
	}
	return pools[:min(len(pools), most)], first.to
}

// Run searches until ctx ends. In an index that is made anew the search counts as Reindexing.
func (f *Finder) Run(ctx context.Context) {
	ctx = rpc.ForPart(ctx, budget.PoolKeys)
	purpose := rpc.PurposeOf(ctx)
	for {
		pause := lookPause
		if f.GivesUp(purpose) || !f.look(ctx) {
			pause = keyPause
		}
		if !wait.For(ctx, pause) {
			return
		}
	}
}

// look makes one step of the search, and reports whether there was anything to do that could be done.
func (f *Finder) look(ctx context.Context) bool {
	pools, to := f.next()
	if len(pools) == 0 {
		return false
	}
	created, from, err := f.Nodes.CreationsOfPools(ctx, f.Exchanges, pools, to)
	if err != nil {
		if ctx.Err() == nil {
			f.failed(pools)
		}
		f.Log.DebugContext(ctx, "pools' creations could not be looked for", "pools", len(pools), "to", to, "err", err.Error())
		return false
	}
	f.saw(pools, created, from, to)
	return true
}

// saw takes in what a step found. Pools that are looked for in blocks below the range alone weren't looked for in it.
func (f *Finder) saw(pools []market.Address, created []market.PoolCreated, from, to uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reach, f.alone = to-from+1, false
	for _, p := range created {
		if f.sought[p.Pool] != nil {
			f.keep(p)
		}
	}
	for _, pool := range pools {
		if s := f.sought[pool]; s != nil && s.to >= from {
			f.passed(pool, from)
		}
	}
}
