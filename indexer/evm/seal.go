package evm

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/block"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// A header's hash follows from its other fields: with a false time, parent or bloom it would be another. So an endpoint that changes one of
// them is found out without asking anybody else. Some chains hash their headers by rules of their own; there nothing is concluded. Which
// kind a chain is of is found out by one header whose hash the endpoints agree on.

// sealing says whether the headers of a chain are hashed by the known rules.
type sealing int

const (
	sealingUnknown sealing = iota
	sealingHolds
	sealingFails
)

// seals keeps what is known of a chain's headers.
type seals struct {
	mu    sync.Mutex
	known sealing
	again time.Time // when to try again, while it is unknown
}

const (
	// sealDepth is how many blocks below a header the one is by which the rules are tried: no endpoint should have another there.
	sealDepth = 32
	// sealTime is how long the endpoints may take to give it, sealPause the time until they are asked again.
	sealTime, sealPause = 5 * time.Second, 10 * time.Second
)

// sealed refuses a header whose hash isn't the one that its fields have.
func (s *Source) sealed(ctx context.Context, h *chain.Header) error {
	p, wasRead := h.Known.(*block.Proof)
	if !wasRead || s.sealing(ctx, h.Number) != sealingHolds {
		return nil
	}
	hash, err := p.Hash()
	if err == nil && hash != h.Hash {
		err = fmt.Errorf("%w: block %d hasn't the hash that its fields have", rpc.ErrGarbage, h.Number)
	}
	return err
}

// sealing tries the rules when that is due.
func (s *Source) sealing(ctx context.Context, number uint64) sealing {
	s.seals.mu.Lock()
	defer s.seals.mu.Unlock()
	if now := s.pool.Now(); s.seals.known == sealingUnknown && !now.Before(s.seals.again) {
		s.seals.again = now.Add(sealPause)
		if seen := s.seen.Load(); seen > 0 {
			number = min(number, seen) // no other endpoint has the blocks below a false head
		}
		if s.seals.known = s.trySeal(ctx, number-min(number, sealDepth)); s.seals.known == sealingFails {
			s.tellBlock(number, chain.UnknownHeaderHash)
		}
	}
	return s.seals.known
}

// trySeal asks all endpoints for one block. A hash counts that two of them have, or the only one: then one header that has it is enough to
// show that the rules hold, since nobody can make up another with that hash.
func (s *Source) trySeal(ctx context.Context, number uint64) sealing {
	ctx, cancel := context.WithTimeout(ctx, sealTime)
	defer cancel()
	headers := make([]chain.Header, len(s.pool.List))
	var g errgroup.Group
	for i, e := range s.pool.List {
		g.Go(func() error {
			h := &headers[i]
			if err := e.Do(ctx, node.HeaderRequest(number, h)); err != nil || h.Number != number {
				*h = chain.Header{}
			}
			return nil
		})
	}
	_ = g.Wait() // who doesn't answer says nothing
	said, right := map[market.Hash]int{}, map[market.Hash]bool{}
	for i := range headers {
		if p, wasRead := headers[i].Known.(*block.Proof); wasRead {
			hash := headers[i].Hash
			said[hash]++
			if sum, err := p.Hash(); err == nil && sum == hash {
				right[hash] = true
			}
		}
	}
	for hash, n := range said {
		switch {
		case n < min(2, len(s.pool.List)):
		case right[hash]:
			return sealingHolds
		default:
			return sealingFails
		}
	}
	return sealingUnknown
}
