package judge

import (
	"context"
	"math"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// token is a token with calls that aren't settled.
type token struct {
	store.TokenAt

	calls []*call
	// isRunning is false until the token is looked at, and where it has to be looked at again from the blocks on that were final.
	isRunning bool
	// rewinds and generation are the chain's at the last look.
	rewinds, generation int64
	// seen is the token as it was read last; nil where it wasn't there. hasNews says that closings may be there that weren't taken in yet.
	seen    *tokenNow
	hasNews bool
	// pool is the one that priced the token at the last look; none where none did.
	pool market.Address
	held held
	// at and since are the block, and its time, up to which closings were taken in.
	at    uint64
	since int64
	// marks say, of blocks that weren't final, from where on prices have to be looked for again that aren't held by them.
	marks []mark
}

// mark says that by a block every price is found that is held from a closing before from on.
type mark struct {
	block uint64
	from  closing
}

// add has a call judged, too. One of a block that the token is past has the blocks since looked at again.
func (t *token) add(c *call) {
	t.calls = append(t.calls, c)
	c.begin()
	t.isRunning = t.isRunning && c.Price.Block == t.at
}

// begin has the price looked for that is held from the call on.
func (c *call) begin() { c.start = &closing{c.Price.Block, c.Price.Time, c.Price.USD} }

// restart has the token looked at again from the blocks on that were final. Peaks of blocks that are gone are taken back.
func (t *token) restart(ctx context.Context, st *store.Store) error {
	type block struct {
		number uint64
		hash   market.Hash
	}
	there := map[block]bool{}
	t.held, t.marks, t.pool = held{}, nil, market.Address{}
	t.at, t.since = math.MaxUint64, math.MaxInt64
	for _, c := range t.calls {
		c.rises, c.overAt, c.start = nil, 0, nil
		if c.PeakUSD > c.SureUSD {
			b := block{c.PeakBlock, c.PeakHash}
			has, known := there[b]
			if !known {
				var err error
				if has, err = st.HasBlock(ctx, t.Chain, b.number, b.hash); err != nil {
					return err
				}
				there[b] = has
			}
			if has {
				c.rises = []rise{{c.PeakUSD, c.PeakBlock}}
			} else {
				c.PeakUSD, c.PeakBlock, c.PeakHash = c.SureUSD, 0, market.Hash{}
			}
		}
		t.at, t.since = min(t.at, c.SureBlock), min(t.since, c.SureTime)
	}
	for _, c := range t.calls {
		if c.Price.Block >= t.at {
			c.begin()
		}
	}
	if t.at > 0 {
		t.at-- // the closing of the block itself is looked at, too
	}
	t.isRunning = true
	return nil
}

// mustRestart reports whether the token has to be looked at from the blocks on that were final.
func (t *token) mustRestart(chain *store.ChainStatus) bool {
	return !t.isRunning || t.rewinds != chain.Rewinds || t.generation != chain.Generation
}

// lookAt takes in what happened to a token up to the chain's newest block.
func (j *Judge) lookAt(ctx context.Context, t *token, chain *store.ChainStatus) error {
	isNew := t.mustRestart(chain)
	if isNew {
		if err := t.restart(ctx, j.Store); err != nil {
			return err
		}
		t.rewinds, t.generation = chain.Rewinds, chain.Generation
	}
	head := chain.Last
	var pool market.Address
	var countsSince int64
	if t.seen != nil && t.seen.usd() > 0 {
		pool, countsSince = t.seen.pool.ID, t.seen.pool.CountsSince
	}
	if !isNew && pool != t.pool {
		t.change(&head)
	}
	t.pool = pool
	found := func(from closing, of *call) {
		if countsSince > 0 && from.time >= countsSince {
			t.raise(from, of, &head)
		}
	}
	upTo := head.Number
	if t.hasNews && !pool.IsNone() && t.at < head.Number {
		closes, last, err := j.Store.Trades.BlockCloses(ctx, t.Chain, pool, t.at+1, t.since, head.Number, tradesAtOnce)
		if err != nil {
			return err
		}
		upTo = last
		for _, c := range closes {
			t.close(closing{c.Block, c.Time, c.USD}, found)
		}
	}
	t.at, t.hasNews = upTo, upTo < head.Number
	final := min(chain.Head.Final, head.Number)
	if upTo == head.Number {
		t.end(head.Number, head.Time, found)
		t.mark(&head, final)
	}
	for _, c := range t.calls {
		c.settle(t, &head, final)
	}
	return nil
}

// change has prices looked for in another pool, from its price of now on. What was held in the former one is known.
func (t *token) change(head *market.Header) {
	t.held, t.at, t.since = held{}, head.Number, head.Time
	for _, c := range t.calls {
		c.start = nil
	}
	if t.seen != nil && t.seen.usd() > 0 {
		t.held.starts = []closing{{head.Number, head.Time, t.seen.usd()}}
	}
}

// close takes in the next closing. found is called with what was held by then, from a closing on, or from a call on for that call alone.
func (t *token) close(c closing, found func(from closing, of *call)) {
	t.end(c.block, c.time, found)
	for _, of := range t.calls {
		if of.start != nil && c.block >= of.start.block {
			of.start.usd = min(of.start.usd, c.usd)
		}
	}
	t.held.close(c, nil) // what ends has ended
	t.since = c.time
}

// end takes in that nothing else was closed before a block.
func (t *token) end(block uint64, time int64, found func(from closing, of *call)) {
	for _, of := range t.calls {
		if of.start != nil && of.start.isOver(block, time) {
			found(*of.start, of)
			of.start = nil
		}
	}
	t.held.end(block, time, func(from closing) { found(from, nil) })
}

// raise takes in that a price was held, which is known by the block head: for one call, or for all where of is nil.
func (t *token) raise(from closing, of *call, head *market.Header) {
	for _, c := range t.calls {
		if (of == nil || of == c) && from.usd > c.PeakUSD && from.block >= c.Price.Block && from.time <= c.Deadline() {
			c.PeakUSD, c.PeakBlock, c.PeakHash = from.usd, head.Number, head.Hash
			c.rises = append(c.rises, rise{from.usd, head.Number})
		}
	}
}

// mark notes from where on prices have to be looked for again once the block head is final, and forgets what the final block makes old.
func (t *token) mark(head *market.Header, final uint64) {
	from := closing{block: head.Number, time: head.Time}
	if len(t.held.starts) > 0 {
		from = t.held.starts[0]
	}
	for _, c := range t.calls {
		if c.start != nil && c.start.block < from.block {
			from = closing{block: c.start.block, time: min(from.time, c.SureTime)} // its own time is that of a block which may be gone
		}
	}
	if n := len(t.marks); n == 0 || t.marks[n-1].block < head.Number {
		t.marks = append(t.marks, mark{head.Number, from})
	}
	for len(t.marks) > 1 && t.marks[1].block <= final {
		t.marks = t.marks[1:]
	}
}

// settle says how the call stands by the block head. final is the newest block that no reorg reaches.
func (c *call) settle(t *token, head *market.Header, final uint64) {
	for len(c.rises) > 0 && c.rises[0].block <= final {
		c.SureUSD = c.rises[0].usd
		c.rises = c.rises[1:]
	}
	if len(t.marks) > 0 && t.marks[0].block <= final && t.marks[0].from.block > c.SureBlock {
		c.SureBlock, c.SureTime = t.marks[0].from.block, t.marks[0].from.time
	}
	isOver := t.at == head.Number && head.Time > c.Deadline() && c.start == nil && (len(t.held.starts) == 0 || t.held.starts[0].time > c.Deadline())
	if isOver && c.overAt == 0 {
		c.overAt = head.Number
	}
	outcome, decided := member.CallOpen, int64(0)
	switch {
	case c.PeakUSD >= member.WinMultiple*c.Price.USD:
		outcome, decided = member.CallWin, head.Time
	case isOver:
		outcome, decided = member.CallLoss, c.Deadline()
	}
	if outcome != c.Outcome {
		c.Outcome, c.DecidedAt = outcome, decided
	}
	c.Closed = isOver && c.overAt <= final && len(c.rises) == 0
}
