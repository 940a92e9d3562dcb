package indexer

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

const (
	// keyRequests is the most ranges of the past that are looked through for the creation of one V4 pool.
	keyRequests = 200
	// keysSought is the most V4 pools that are looked for; those that trade beyond it have to wait.
	keysSought = 4096
	// keyPause is the time between two looks for something to do.
	keyPause = time.Second
)

// unknownKey is why a V4 pool that trades is no pool to us.
const unknownKey = "unknown_key"

// poolKeys finds, beside the head, what the V4 pools are that are older than the index: their events name an id alone. The pool with the most trades
// comes first. As only pools that were made before the index began are unknown, no stranger can add to the work.
type poolKeys struct {
	source    source
	exchanges []chainconfig.Exchange
	setAside  func(kind, reason, subject string)
	log       *slog.Logger

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

func newPoolKeys(ix *Indexer) *poolKeys {
	return &poolKeys{
		source: ix.source, exchanges: ix.cfg.Exchanges, setAside: ix.setAside, log: ix.o.Log,
		sought: map[market.Address]*soughtKey{}, found: map[market.Address]market.PoolCreated{},
	}
}

// want tells of a trade in a pool whose key isn't known; it gives the key where it was found meanwhile.
func (k *poolKeys) want(pool market.Address, block uint64) (created market.PoolCreated, found bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if created, found = k.found[pool]; found {
		return created, true
	}
	s := k.sought[pool]
	if s == nil {
		if len(k.sought) >= keysSought {
			return created, false
		}
		s = &soughtKey{to: block - 1}
		k.sought[pool] = s
	}
	s.trades++
	return created, false
}

// taken forgets a pool that the index knows by now.
func (k *poolKeys) taken(pool market.Address) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.found, pool)
	delete(k.sought, pool)
}

// next gives a copy of the pool to look for.
func (k *poolKeys) next() (pool market.Address, s soughtKey, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for id, c := range k.sought {
		if !c.given && (!ok || c.trades > s.trades || c.trades == s.trades && id.Compare(pool) < 0) {
			pool, s, ok = id, *c, true
		}
	}
	return pool, s, ok
}

func (k *poolKeys) run(ctx context.Context, _ *store.Lease) {
	for ctx.Err() == nil {
		pool, s, ok := k.next()
		if ok {
			created, found, err := k.look(ctx, pool, &s)
			if err == nil {
				k.saw(pool, &s, created, found)
				continue
			}
			k.log.DebugContext(ctx, "a pool's creation could not be looked for", "pool", pool.String(), "err", err.Error())
		}
		if !wait.For(ctx, keyPause) {
			return
		}
	}
}

// look makes one step of the search.
func (k *poolKeys) look(ctx context.Context, pool market.Address, s *soughtKey) (created market.PoolCreated, found bool, err error) {
	if !s.asked {
		known, err := k.source.KeysOfV4Pools(ctx, k.exchanges, []market.Address{pool})
		if err != nil {
			return created, false, err
		}
		s.asked = true
		if len(known) > 0 {
			return known[0], true, nil
		}
		return created, false, nil
	}
	created, found, from, err := k.source.CreationOfV4Pool(ctx, k.exchanges, pool, s.to)
	if err != nil || found {
		return created, found, err
	}
	s.requests++
	if s.given = from == 0 || s.requests >= keyRequests; !s.given {
		s.to = from - 1
	}
	return created, false, nil
}

// saw takes in what a step found.
func (k *poolKeys) saw(pool market.Address, s *soughtKey, created market.PoolCreated, found bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.sought[pool]
	if now == nil {
		return
	}
	s.trades = now.trades
	*now = *s
	switch {
	case found:
		now.given = true
		k.found[pool] = created
	case s.given:
		k.setAside("pool", unknownKey, pool.String())
	}
}
