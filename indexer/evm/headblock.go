package evm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/block"
	"github.com/boardwalkhq/boardwalk/indexer/evm/decode"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// On a chain on which launches trade, blocks at the head are read with their transactions: they tell who paid whom, and the sender of each transaction with logs. The
// head is looked for more often than there are blocks, and a block is long. So while the loop has taken in the newest block that is known, an
// endpoint is asked for the block after it: a node that has none says so in a few bytes, and a block is the new head, with all that is read of
// it. That a chain got shorter, or stands still, or is several blocks ahead, only the newest block tells. It is asked for as on other chains
// where the next one is late or was there twice at once, where an endpoint hasn't told a block near the newest known one, and at a start.

const (
	// lateAfter is for how many block times, and lateAtLeast for how long at least, the next block may not be there until the newest one is asked
	// for. From then on each lateEvery-th question is for the newest. A chain may make blocks more rarely than declared: the time that the last one
	// took counts, up to longestGap.
	lateAfter, lateAtLeast, lateEvery, longestGap = 2, time.Second, 4, 10 * time.Second
	// inARow is how many questions in a row bring a new block until the newest one is asked for: the loop is behind then.
	inARow = 2
	// firstBlocksPause and longestBlocksPause bound the time for which an endpoint isn't asked for transactions that fails to give them, and for which
	// one isn't asked for the next block that had it and said otherwise, or refused to answer.
	firstBlocksPause, longestBlocksPause = time.Second, 10 * time.Minute
	// toldBlocksPause is the pause at which it is logged that an endpoint gives no transactions.
	toldBlocksPause = 4 * firstBlocksPause
)

// headQuestion is the question by which an endpoint tells the head.
type headQuestion int

const (
	// askHeader asks for the newest block's header, askBlock for the newest block with its transactions.
	askHeader headQuestion = iota
	askBlock
	// askLate is askBlock where the next block is late.
	askLate
	// askNext asks for the block after the newest known one, with its transactions.
	askNext
)

// headQuestion chooses what the endpoint is asked for that is asked first.
func (s *Source) headQuestion(e *endpoint, endpoints int) headQuestion {
	h, taken, seen, now := &s.heads, s.taken.Load(), s.seen.Load(), s.pool.Now()
	if taken == nil || seen > taken.Number+1 || !s.givesBlocks(e) {
		return askHeader // Headers reads what is missing, with its transactions
	}
	e.mu.Lock()
	told, hides, misled := e.told.number, now.Before(e.nextUntil), e.headPause > 0
	e.mu.Unlock()
	switch {
	case hides:
		return askHeader
	case h.newest.Hash != taken.Hash, h.newest.Number != seen, h.rises >= inARow:
		return askBlock
	case told != seen && (misled || told+behind < seen || s.isCompared(endpoints)):
		return askBlock // it may be behind, and then says the same as one that isn't
	case now.Sub(h.rose) < max(lateAfter*max(s.blockTime, min(h.gap, longestGap)), lateAtLeast):
		return askNext
	}
	if h.late++; h.late%lateEvery == 1 {
		return askLate
	}
	return askNext
}

// isCompared reports whether a second endpoint is asked for the head, as it didn't rise.
func (s *Source) isCompared(endpoints int) bool {
	h, now, pause := &s.heads, s.pool.Now(), s.standstill()
	return endpoints > 1 && now.Sub(h.rose) >= pause && now.Sub(h.compared) >= pause
}

// isNothing reports whether a claim ends the look for the head: nothing is new. Where others are asked since the head doesn't rise, it is a claim of the
// newest known block, which the endpoint has told itself.
func (s *Source) isNothing(c *claim, endpoints int) bool {
	return c.nothingNew && (c.by.toldNumber() != c.latest.Number || !s.isCompared(endpoints))
}

// stays is the head where a claim says that nothing is new. An endpoint that told the newest block itself confirms it.
func (s *Source) stays(c *claim) chain.Head {
	s.heads.rises = 0
	if c.by.toldNumber() == c.latest.Number {
		s.heads.confirmed = s.pool.Now()
	}
	return s.headOf(c)
}

func (e *endpoint) toldNumber() uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.told.number
}

// headRequest is the question as a request.
func (s *Source) headRequest(q headQuestion, h *chain.Header) *rpc.Request {
	switch q {
	case askNext:
		return optional(blockRequest(rpc.HexQuantity(s.heads.newest.Number+1), h))
	case askBlock, askLate:
		return blockRequest(node.Newest, h)
	case askHeader:
	}
	return node.TagRequest(node.Newest, h)
}

// tookNext takes in what an endpoint said to askNext. Some nodes refuse to speak of a block that isn't there, in words that may be known or not. Where
// they aren't, the endpoint is asked for the newest block's header instead, now and for a while.
func (s *Source) tookNext(ctx context.Context, c *claim, r *rpc.Request) error {
	if refusal, ok := errors.AsType[*rpc.NodeError](r.Err); ok && node.FaultOf(refusal) != node.FaultState {
		if isOfNodeOrSize(refusal) {
			return r.Err
		}
		c.by.pauseNext(s.pool.Now())
		c.question = askHeader
		return c.by.Do(ctx, s.headRequest(askHeader, &c.latest))
	}
	if c.latest.Hash.IsZero() {
		c.latest, c.nothingNew = s.heads.newest, true
		return nil
	}
	return isNumber(&c.latest, s.heads.newest.Number+1)
}

// isOfNodeOrSize reports whether a refusal of the next block would be the same for another block: the node is asked too often, doesn't know the method, or
// has too much to tell. Some nodes say of a number above the newest block's that the request or its parameters are invalid.
func isOfNodeOrSize(refusal *rpc.NodeError) bool {
	switch node.FaultOf(refusal) {
	case node.FaultSize:
		return true
	case node.FaultNode:
		return node.RateRefused(refusal) || refusal.Code != node.InvalidRequest && refusal.Code != node.InvalidParams
	case node.FaultUnknown, node.FaultContract, node.FaultState:
	}
	return false
}

// heardBlocks notes what an answer to a question for the head shows of the endpoint. Before is the newest block that was known.
func (s *Source) heardBlocks(ctx context.Context, c *claim, before uint64) {
	c.by.answered()
	if c.nothingNew {
		return
	}
	if c.question == askNext {
		c.by.gaveNext()
	}
	if c.question == askLate && c.latest.Number > before+1 {
		// It may have had the next block for long, and said that it had none. If several came at once, asking for the newest costs no more: Headers reads
		// them.
		c.by.pauseNext(s.pool.Now())
	}
	if !s.readsBlocks {
		return
	}
	if c.question != askHeader {
		s.heardBody(ctx, c.by, &c.latest)
	}
	switch body := transactionsOf(&c.latest); {
	case body != nil && body.Omitted && s.anyGivesBlocks():
		c.latest.Body = nil // Headers asks an endpoint that gives them
	case body == nil && !s.givesBlocks(c.by) && !s.anyGivesBlocks():
		c.latest.Body = &transactions{} // Headers wouldn't get them either
	}
	c.by.tells(&c.latest)
}

// heardBody notes whether an endpoint that was asked for a block with its transactions told them.
func (s *Source) heardBody(ctx context.Context, e *endpoint, h *chain.Header) {
	switch body := transactionsOf(h); {
	case body == nil:
	case body.Told:
		e.gaveBlocks()
	case body.Omitted:
		s.pauseBlocks(ctx, e, true, fmt.Errorf("%w: none are told of block %d, or their hashes alone", block.ErrTransactions, h.Number))
	}
}

// anyGivesBlocks reports whether an endpoint is likely to give blocks with their transactions.
func (s *Source) anyGivesBlocks() bool {
	return slices.ContainsFunc(s.pool.Candidates(), s.isLikelyToGive)
}

// isLikelyToGive is givesBlocks for an endpoint that answered when it was asked last: one that is down isn't preferred to others.
func (s *Source) isLikelyToGive(e *endpoint) bool {
	if !s.givesBlocks(e) {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return !e.failedLast
}

// preferGiving puts the endpoints first that are likely to give blocks with their transactions, and leaves the order else as it is.
func (s *Source) preferGiving(list []*endpoint) []*endpoint {
	if !s.readsBlocks {
		return list
	}
	last := make(map[*endpoint]int, len(list))
	for _, e := range list {
		if !s.isLikelyToGive(e) {
			last[e] = 1
		}
	}
	slices.SortStableFunc(list, func(a, b *endpoint) int { return cmp.Compare(last[a], last[b]) })
	return list
}

// givesBlocks reports whether an endpoint is asked for blocks with their transactions.
func (s *Source) givesBlocks(e *endpoint) bool {
	if !s.readsBlocks {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return !s.pool.Now().Before(e.blocksUntil)
}

// failedBlocks notes that an endpoint didn't answer a question for blocks: with their transactions where whole, else for headers alone. One that
// fails at the former is asked for the latter for a while, so that no chain stops where nodes can't tell transactions, or tell some that can't be
// read. One that fails at both is down, and its transactions are wanted as soon as it is there again.
func (s *Source) failedBlocks(ctx context.Context, e *endpoint, whole bool, err error) {
	if !s.readsBlocks || ctx.Err() != nil || isAnswer(err) {
		return
	}
	e.failedQuestion()
	if !node.RateRefused(err) {
		s.pauseBlocks(ctx, e, whole, err)
	}
}

// pauseBlocks has an endpoint not asked for transactions for a while, where it fails at whole blocks alone.
func (s *Source) pauseBlocks(ctx context.Context, e *endpoint, whole bool, err error) {
	if pause := e.pauseBlocks(s.pool.Now(), whole); pause == toldBlocksPause {
		s.pool.Log.WarnContext(ctx, "an endpoint gives no block with its transactions; blocks are read without for a while", "endpoint", e.Name, "err", err.Error())
	}
}

// pauseBlocks has an endpoint not asked for transactions for a while, longer each time, where it fails at whole blocks alone.
func (e *endpoint) pauseBlocks(now time.Time, whole bool) (pause time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !whole {
		e.blocksPause, e.blocksUntil = 0, time.Time{}
		return 0
	}
	e.blocksPause = longerPause(e.blocksPause)
	e.blocksUntil = now.Add(e.blocksPause)
	return e.blocksPause
}

func longerPause(d time.Duration) time.Duration {
	return min(max(2*d, firstBlocksPause), longestBlocksPause)
}

// gaveBlocks notes that an endpoint gave a block with its transactions.
func (e *endpoint) gaveBlocks() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.blocksPause = 0
}

// gaveNext notes that an endpoint gave the block after the newest known one.
func (e *endpoint) gaveNext() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.nextPause = 0
}

// pauseNext has an endpoint not asked for the block after the newest known one for a while, longer each time.
func (e *endpoint) pauseNext(now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.nextPause = longerPause(e.nextPause)
	e.nextUntil = now.Add(e.nextPause)
}

// failedQuestion notes that an endpoint failed at a question for the head or for headers.
func (e *endpoint) failedQuestion() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.failedLast = true
}

// answered notes that an endpoint answered a question for the head or for headers.
func (e *endpoint) answered() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.failedLast = false
}

// transactions are what a header was read with: chain.Header's Body.
type transactions struct {
	block.Transactions

	// by is the endpoint that told them.
	by *endpoint
}

// transactionsOf gives the transactions that a header was read with, or nil if it was read alone.
func transactionsOf(h *chain.Header) *transactions {
	t, _ := h.Body.(*transactions)
	return t
}

// tells notes in a header's transactions who told them.
func (e *endpoint) tells(h *chain.Header) {
	if body := transactionsOf(h); body != nil {
		body.by = e
	}
}

// took notes that the loop takes a block in. Another index of the chain, which is behind, doesn't count.
func (s *Source) took(h market.Header) {
	for {
		before := s.taken.Load()
		if before != nil && h.Number < before.Number && before.Number <= s.seen.Load() {
			return
		}
		if s.taken.CompareAndSwap(before, &h) {
			return
		}
	}
}

// addTransactions puts into a block what its header was read with: its payments, and who sent the transactions that have logs of ours. A list
// that lacks a log's transaction isn't of this block: the block is then left as one that was read without.
func (s *Source) addTransactions(h *chain.Header, logs []decode.Log, b *market.Block) {
	body := transactionsOf(h)
	if body == nil || !body.Told {
		return
	}
	for i := range logs {
		if !body.Has(logs[i].TxHash) {
			s.tellForeign(body.by, fmt.Errorf("block %d: a log is of the transaction %s, which isn't in the list", h.Number, logs[i].TxHash))
			return
		}
	}
	body.AddTo(b)
}

// tellForeign logs, once for each endpoint, that it told a list of transactions which lacks the transaction of a log. The log may come from another
// endpoint, so either of both may be wrong.
func (s *Source) tellForeign(by *endpoint, err error) {
	if by == nil {
		return
	}
	by.mu.Lock()
	first := !by.toldForeign
	by.toldForeign = true
	by.mu.Unlock()
	if first {
		s.pool.Log.Warn("a block's transactions aren't those of its logs; the block is read without them", "endpoint", by.Name, "err", err.Error())
	}
}
