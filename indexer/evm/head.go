package evm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
)

// The head decides which blocks are past: those far enough below it are taken with less agreement, and can't be undone. So no endpoint may
// decide it alone, where there are others. One endpoint is asked for the head at a time, as calls cost. What it tells is taken where it is
// near the head of before; else the others are asked, until two of them are near each other.

const (
	// behind is how many blocks an endpoint's head may be below the head of before, ahead how many above what two endpoints have reached,
	// until another is asked. Endpoints that are honest differ by some seconds, which are some dozens of blocks on the fastest chains.
	behind, ahead = 8, 32
	// standstillBlocks is for how many block times, and standstill for how long at least, the head may stay the same until another endpoint
	// is asked: the first one may have stopped.
	standstillBlocks, standstill = 4, 5 * time.Second
	// fasterBy is how many times faster than declared a chain makes blocks at most, as far as one endpoint alone is believed.
	fasterBy = 4
	// linkedBlocks is how many blocks below its head an endpoint has to have that is believed alone, each the parent of the one above.
	linkedBlocks = 2
	// forgottenAfter is for how long no endpoint may have told a head near the one of before until a lower one is believed.
	forgottenAfter = time.Minute
	// firstHeadPause and longestHeadPause bound the time for which an endpoint that told a false head is asked for the head last.
	firstHeadPause, longestHeadPause = time.Second, time.Minute
)

// finalityEvery is the pace at which the safe and the final block are asked for: they move slowly, and calls cost.
const finalityEvery = 6 * time.Second

// toldHead is a block that an endpoint told as its newest.
type toldHead struct {
	number uint64
	time   int64 // unix seconds
}

// heads keeps what is known of the head.
type heads struct {
	mu sync.Mutex
	// reached is the newest block that enough endpoints have reached; its number is 0 before the first.
	reached toldHead
	// rose is when the head last rose, confirmed when an endpoint last told one near it, compared when a second endpoint was last asked
	// because the head didn't rise.
	rose, confirmed, compared time.Time
	// by is the endpoint that told the head.
	by *endpoint
	// finalAt is when the safe and the final block were told.
	finalAt     time.Time
	safe, final chain.Header
	// newest is the head as it was told last, and gap the time between its last two rises. Rises is how many questions in a row brought a new one, late how many were
	// asked since the next block is late.
	newest      chain.Header
	gap         time.Duration
	rises, late int
}

// claim is the head of the chain as one endpoint tells it.
type claim struct {
	by                  *endpoint
	latest, safe, final chain.Header
	// nothingNew says that the endpoint has no block after the newest known one, which latest is.
	nothingNew bool
	// question is what the endpoint answered.
	question headQuestion
}

func (c *claim) told() toldHead { return toldHead{c.latest.Number, c.latest.Time} }

var (
	// errBehind means that a node's head is far below what another announced.
	errBehind = errors.New("the node is behind")
	// errAlone means that a node's head is far above what any other announced, and that it doesn't show it.
	errAlone = errors.New("no other node has reached the node's head")
)

// Head asks for the newest block, and now and then for the safe and the final one. Where a node knows no final tag, the
// final block is as many back as the chain document says.
func (s *Source) Head(ctx context.Context) (chain.Head, error) {
	h := &s.heads
	h.mu.Lock()
	defer h.mu.Unlock()
	due := s.pool.Now().Sub(h.finalAt) >= finalityEvery
	list := s.headCandidates()
	var claims []claim
	var errs []error
	for _, e := range list {
		if len(claims) > 0 && e.IsSlow() {
			continue
		}
		q := askHeader
		if len(claims) == 0 {
			q = s.headQuestion(e, len(list))
		}
		c, err := s.claimOf(ctx, e, q, due, len(claims) > 0)
		if ctx.Err() != nil {
			return chain.Head{}, ctx.Err()
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", e.Name, err))
			continue
		}
		if s.isNothing(&c, len(list)) {
			return s.stays(&c), nil
		}
		claims = append(claims, c)
		if len(claims) == 1 && s.isNear(&c, len(list)) {
			return s.settle(claims, &claims[0], s.reachedWith(&c, len(list))), nil
		}
		if best, reached, ok := nearEachOther(claims); ok {
			return s.settle(claims, best, reached), nil
		}
	}
	order := byNumber(claims)
	for i, c := range order {
		lower := h.reached
		if i+1 < len(order) && order[i+1].latest.Number > lower.number {
			lower = order[i+1].told()
		}
		if err := s.believe(ctx, c, lower, len(list)); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", c.by.Name, err))
			continue
		}
		return s.settle(claims, c, c.told()), nil
	}
	if ctx.Err() != nil {
		return chain.Head{}, ctx.Err()
	}
	if len(errs) == 0 {
		return chain.Head{}, fmt.Errorf("chain %s: no endpoint is left to ask", s.pool.Chain)
	}
	return chain.Head{}, fmt.Errorf("chain %s: %w: %w", s.pool.Chain, rpc.ErrUnanswered, errors.Join(errs...))
}

// headCandidates are the endpoints to ask for the head, best first: those that told a false one lately are last, and before them those that aren't likely
// to give blocks with their transactions, where these are read.
func (s *Source) headCandidates() []*endpoint {
	list, now := s.preferGiving(s.pool.Candidates()), s.pool.Now()
	misled := map[*endpoint]int{}
	for _, e := range list {
		e.mu.Lock()
		if now.Before(e.headUntil) {
			misled[e] = 1
		}
		e.mu.Unlock()
	}
	slices.SortStableFunc(list, func(a, b *endpoint) int { return cmp.Compare(misled[a], misled[b]) })
	return list
}

// claimOf asks an endpoint for the newest block and, where they are due, for the safe and the final one. One that is asked besides
// another has less time.
func (s *Source) claimOf(ctx context.Context, e *endpoint, q headQuestion, due, besides bool) (claim, error) {
	c, before := claim{by: e, question: q}, s.seen.Load()
	within := ctx
	if besides {
		var cancel context.CancelFunc
		within, cancel = context.WithTimeout(ctx, s.vouchTime)
		defer cancel()
	}
	err := s.pool.On(within, e, func(ctx context.Context, e *endpoint) error { return s.announced(ctx, &c, due) })
	if within.Err() != nil && ctx.Err() == nil {
		e.TookTooLong(s.vouchTime)
	}
	if err == nil {
		s.heardBlocks(ctx, &c, before)
	} else {
		s.failedBlocks(ctx, e, c.question != askHeader, err)
	}
	if err == nil && !c.nothingNew {
		e.mu.Lock()
		e.told = c.told()
		e.mu.Unlock()
	}
	return c, err
}

func (s *Source) announced(ctx context.Context, c *claim, due bool) error {
	reqs := []*rpc.Request{s.headRequest(c.question, &c.latest)}
	if due {
		reqs = append(reqs, optional(node.TagRequest("safe", &c.safe)), optional(node.TagRequest("finalized", &c.final)))
	}
	err := c.by.Do(ctx, reqs...)
	if err == nil && c.question == askNext {
		err = s.tookNext(ctx, c, reqs[0])
	}
	if err == nil && due && c.final.Number == 0 && c.latest.Number > s.finalityDepth {
		err = c.by.Do(ctx, node.HeaderRequest(c.latest.Number-s.finalityDepth, &c.final))
	}
	for _, h := range []*chain.Header{&c.latest, &c.safe, &c.final} {
		if err == nil {
			err = errors.Join(c.by.isPast(h), s.sealed(ctx, h))
		}
	}
	return err
}

// isNear reports whether a head is so near the one of before that its endpoint is believed alone. The only endpoint may tell a lower one, and
// one that told a false one lately may not.
func (s *Source) isNear(c *claim, endpoints int) bool {
	h, number, seen := &s.heads, c.latest.Number, s.seen.Load()
	if h.reached.number == 0 || number > h.reached.number+ahead {
		return false
	}
	if endpoints == 1 {
		return true
	}
	if number <= seen && s.isCompared(endpoints) {
		h.compared = s.pool.Now()
		return false
	}
	return number >= seen || number+behind >= seen && !c.by.hasMisled()
}

// nearEachOther finds two claims that are near each other, the highest ones. Best is the higher of both, reached the lower.
func nearEachOther(claims []claim) (best *claim, reached toldHead, ok bool) {
	order := byNumber(claims)
	for i := range order[:len(order)-1] {
		if order[i].latest.Number <= order[i+1].latest.Number+ahead {
			return order[i], order[i+1].told(), true
		}
	}
	return nil, reached, false
}

// byNumber has the highest claim first.
func byNumber(claims []claim) []*claim {
	order := make([]*claim, len(claims))
	for i := range claims {
		order[i] = &claims[i]
	}
	slices.SortStableFunc(order, func(a, b *claim) int { return cmp.Compare(b.latest.Number, a.latest.Number) })
	return order
}

func (s *Source) standstill() time.Duration { return max(standstillBlocks*s.blockTime, standstill) }

// reachedWith is the newest block that two endpoints have reached by what each told last, where one of them has just told a head near the one
// of before.
func (s *Source) reachedWith(c *claim, endpoints int) toldHead {
	if endpoints == 1 {
		return c.told()
	}
	var highest, second toldHead
	for _, e := range s.pool.List {
		e.mu.Lock()
		told := e.told
		e.mu.Unlock()
		if told.number > highest.number {
			highest, told = told, highest
		}
		if told.number > second.number {
			second = told
		}
	}
	if second.number > s.heads.reached.number {
		return second
	}
	return s.heads.reached
}

// believe says why an endpoint is not believed that tells a head which no other one told. Lower is the highest head below it that is known
// of, with the number 0 where none is.
func (s *Source) believe(ctx context.Context, c *claim, lower toldHead, endpoints int) error {
	h, now, number := &s.heads, s.pool.Now(), c.latest.Number
	switch {
	case endpoints > 1 && number+behind < s.seen.Load() && now.Sub(h.confirmed) < forgottenAfter:
		return fmt.Errorf("%w: its head is %d, others had %d", errBehind, number, s.seen.Load())
	case h.reached.number > 0 && number <= h.reached.number+ahead:
		return nil
	case endpoints > 1 && !s.couldFollow(c.told(), lower):
		return fmt.Errorf("%w: it is %d, and the highest other %d", errAlone, number, lower.number)
	default:
		return s.linked(ctx, c)
	}
}

// couldFollow reports whether the chain can have made the blocks between two heads in the time since the lower one.
func (s *Source) couldFollow(c, lower toldHead) bool {
	if lower.number == 0 || s.blockTime == 0 {
		return true
	}
	since := max(s.pool.Now().Unix()-lower.time, 0)
	made := uint64(fasterBy * time.Duration(since) * time.Second / s.blockTime)
	return c.time >= lower.time && c.number <= lower.number+ahead+made
}

// linked asks an endpoint for the blocks below its head: one that tells a number at random doesn't have them.
func (s *Source) linked(ctx context.Context, c *claim) error {
	below := make([]chain.Header, min(c.latest.Number, linkedBlocks))
	reqs := make([]*rpc.Request, len(below))
	for i := range below {
		reqs[i] = node.HeaderRequest(c.latest.Number-1-uint64(i), &below[i])
	}
	return s.pool.On(ctx, c.by, func(ctx context.Context, e *endpoint) error {
		if err := e.Do(ctx, reqs...); err != nil {
			return err
		}
		above := &c.latest
		for i := range below {
			b := &below[i]
			if err := errors.Join(isNumber(b, above.Number-1), e.isPast(b), s.sealed(ctx, b)); err != nil {
				return err
			}
			switch {
			case b.Hash != above.Parent:
				return fmt.Errorf("%w: block %d is not the parent of block %d", rpc.ErrGarbage, b.Number, above.Number)
			case b.Time > above.Time:
				return early(above.Number, b.Time-above.Time)
			}
			above = b
		}
		return nil
	})
}

// settle takes a claim as the head, and leaves aside for a while whose claims are far from it.
func (s *Source) settle(claims []claim, best *claim, reached toldHead) chain.Head {
	h, now, before := &s.heads, s.pool.Now(), s.seen.Load()
	stood := now.Sub(h.rose) >= s.standstill()
	number := best.latest.Number
	if len(claims) == 1 && number+behind >= before {
		number = max(number, before) // one that is a little behind takes no blocks away
	}
	if number != before {
		h.gap, h.rose, h.late = now.Sub(h.rose), now, 0
	}
	if h.rises++; number <= before {
		h.rises = 0
	}
	s.seen.Store(number)
	h.reached, h.confirmed, h.by = reached, now, best.by
	for i := range claims {
		c := &claims[i]
		switch told := c.latest.Number; {
		case told > reached.number+ahead || told+behind < number:
			c.by.Failed(now)
			s.misled(c.by, told)
		case (stood || c.by.hasMisled()) && told <= before && told < number: // it has stopped
			s.misled(c.by, told)
		default:
			c.by.mu.Lock()
			c.by.headPause = 0
			c.by.mu.Unlock()
		}
	}
	if len(claims) > 1 {
		s.forgetAbove(reached.number + ahead)
	}
	return s.headOf(best)
}

// misled has an endpoint that told a false head asked for it last, for longer each time.
func (s *Source) misled(e *endpoint, told uint64) {
	e.mu.Lock()
	first := e.headPause == 0
	e.headPause = min(max(2*e.headPause, firstHeadPause), longestHeadPause)
	e.headUntil = s.pool.Now().Add(e.headPause)
	e.mu.Unlock()
	if first {
		s.pool.Log.Warn("an endpoint's head is far from the others'", "endpoint", e.Name, "its_head", told, "head", s.seen.Load())
	}
}

// hasMisled reports whether the last head that the endpoint told was a false one.
func (e *endpoint) hasMisled() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.headPause > 0
}

// forgetAbove forgets heads that were told above a number: two endpoints have told lower ones since.
func (s *Source) forgetAbove(number uint64) {
	for _, e := range s.pool.List {
		e.mu.Lock()
		if e.told.number > number {
			e.told = toldHead{}
		}
		e.mu.Unlock()
	}
}

// headOf is a claim as the head. What counts as final is no higher than what enough endpoints have reached.
func (s *Source) headOf(c *claim) chain.Head {
	h := &s.heads
	if now := s.pool.Now(); now.Sub(h.finalAt) >= finalityEvery {
		h.finalAt = now
		if c.final.Number <= c.latest.Number && c.safe.Number <= c.latest.Number {
			h.safe, h.final = c.safe, c.final
		}
	}
	h.newest = c.latest
	out := chain.Head{Header: c.latest, Reached: min(h.reached.number, c.latest.Number), Final: h.final.Number, FinalTime: h.final.Time}
	out.IsBare = s.readsBlocks && c.latest.Body == nil
	if out.Final > out.Reached {
		out.Final, out.FinalTime = out.Reached, min(h.final.Time, h.reached.time)
	}
	out.Safe = max(min(h.safe.Number, out.Reached), out.Final)
	return out
}

// lacks notes that no endpoint has a block, although one told a head above it.
func (s *Source) lacks(number uint64) {
	h := &s.heads
	h.mu.Lock()
	defer h.mu.Unlock()
	if number > h.reached.number && number <= s.seen.Load() && h.by != nil {
		h.by.mu.Lock()
		h.by.told = toldHead{}
		h.by.mu.Unlock()
		s.misled(h.by, s.seen.Load())
		s.seen.Store(number - 1)
	}
}
