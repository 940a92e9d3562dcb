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
	// isRunning is false before the first look, and where the next look has to begin again at a final block.
	isRunning bool
	// rewinds and generation are the chain's at the last look.
	rewinds, generation int64
	// seen is the token as it was read last; nil where it wasn't there. hasNews says that there may be closings that weren't taken in yet.
	seen    *tokenNow
	hasNews bool
	// pool is the reference pool at the last look; none where no pool priced the token. wasLooked says that there was a last look. entered is the block in which
	// the pool became the reference pool, with its price then; nil where it was so at the first look.
	pool      market.Address
	wasLooked bool
	// mustEnter says that the pool of the next look becomes the reference pool by that look.
	mustEnter bool
	entered   *mark
	held      held
	// at and since are the block, and its time, up to which closings were taken in.
	at    uint64
	since int64
	// marks are in the order of their blocks, the newest final one first.
	marks []mark
}

// mark says that by a block the hold time was over of every closing before from.
type mark struct {
	block
	from closing
}

// addCall has a call judged, too. If the call's block was read already, the blocks since then are read again.
func (t *token) addCall(c *call) {
	t.calls = append(t.calls, c)
	c.begin()
	t.isRunning = t.isRunning && c.Price.Block >= t.at
}

// begin begins the hold time of the price at the call.
func (c *call) begin() { c.start = &closing{c.Price.Block, c.Price.Time, c.Price.CloseUSD} }

// block names a block of the token's chain.
type block struct {
	number uint64
	hash   market.Hash
}

// chainHas looks up whether the chain still has a block, each block once.
func (t *token) chainHas(ctx context.Context, st *store.Store) func(block) (bool, error) {
	known := map[block]bool{}
	return func(b block) (bool, error) {
		has, ok := known[b]
		if ok {
			return has, nil
		}
		has, err := st.HasBlock(ctx, t.Chain, b.number, b.hash)
		known[b] = has
		return has, err
	}
}

// restart has the next look begin at a final block. It takes back peaks that were known by blocks which are gone.
func (t *token) restart(ctx context.Context, st *store.Store) error {
	has := t.chainHas(ctx, st)
	for n := len(t.marks); n > 0; n-- {
		there, err := has(t.marks[n-1].block)
		if err != nil {
			return err
		}
		if there {
			break
		}
		t.marks = t.marks[:n-1]
	}
	t.held, t.at, t.since = held{}, math.MaxUint64, math.MaxInt64
	for _, c := range t.calls {
		c.rises, c.overAt, c.start = nil, 0, nil
		if c.PeakUSD > c.SureUSD {
			there, err := has(block{c.PeakBlock, c.PeakHash})
			if err != nil {
				return err
			}
			if there {
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
	t.isRunning, t.hasNews = true, true
	return t.reenter(has)
}

// reenter leaves out the prices from before the pool became the reference pool. If a reorg took the block in which that happened, the pool becomes the reference
// pool at the next look.
func (t *token) reenter(has func(block) (bool, error)) error {
	if t.entered == nil {
		return nil
	}
	there, err := has(t.entered.block)
	switch {
	case err != nil:
		return err
	case !there:
		t.wasLooked, t.mustEnter = false, true
	case t.entered.number > t.at:
		t.at, t.held.starts = t.entered.number, []closing{t.entered.from}
		for _, c := range t.calls {
			if c.Price.Block < t.entered.number {
				c.start = nil
			}
		}
	}
	return nil
}

// mustRestart reports whether the next look has to begin at a final block.
func (t *token) mustRestart(chain *store.ChainStatus) bool {
	return !t.isRunning || t.rewinds != chain.Rewinds || t.generation != chain.Generation
}

// lookAt takes in what happened to a token up to the chain's newest block.
func (j *Judge) lookAt(ctx context.Context, t *token, chain *store.ChainStatus) error {
	if t.mustRestart(chain) {
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
	switch {
	case t.mustEnter, t.wasLooked && pool != t.pool:
		t.switchPool(pool, &head)
	default:
		t.pool = pool
	}
	t.wasLooked, t.mustEnter = true, false
	onHeld := func(from closing, of *call) {
		if countsSince > 0 && from.time >= countsSince {
			t.raise(from, of, &head)
		}
	}
	upTo := head.Number
	if t.hasNews && !pool.IsNone() && t.at < head.Number {
		closes, last, err := j.Store.Trades.BlockCloses(ctx, t.Chain, pool, t.at+1, t.since, head.Number, j.tradesAtOnce())
		if err != nil {
			return err
		}
		upTo = last
		for _, c := range closes {
			t.addClosing(closing{c.Block, c.Time, c.USD}, onHeld)
		}
	}
	t.at, t.hasNews = max(t.at, upTo), upTo < head.Number
	final := min(chain.Head.Final, head.Number)
	if !t.hasNews {
		t.advance(head.Number, head.Time, onHeld)
		t.mark(&head, final)
	}
	for _, c := range t.calls {
		c.update(t, &head, final)
	}
	return nil
}

// switchPool has prices looked for in another pool, from its price of now on. Prices that were still being held in the former one are dropped.
func (t *token) switchPool(pool market.Address, head *market.Header) {
	t.pool, t.held, t.marks, t.at, t.since = pool, held{}, nil, head.Number, head.Time
	for _, c := range t.calls {
		c.start = nil
	}
	t.entered = &mark{block{head.Number, head.Hash}, closing{block: head.Number, time: head.Time}}
	if t.seen != nil && t.seen.usd() > 0 {
		t.entered.from.usd = t.seen.usd()
		t.held.starts = []closing{t.entered.from}
	}
}

// addClosing takes in the next closing. It calls onHeld with each closing, and each call's start, whose hold time is over by then; of is the call of a start.
func (t *token) addClosing(c closing, onHeld func(from closing, of *call)) {
	t.advance(c.block, c.time, onHeld)
	for _, of := range t.calls {
		if of.start != nil && c.block >= of.start.block {
			of.start.usd = min(of.start.usd, c.usd)
		}
	}
	t.held.add(c, nil) // what ends has ended
	t.since = c.time
}

// advance takes in that no other closing comes before a block.
func (t *token) advance(block uint64, time int64, onHeld func(from closing, of *call)) {
	for _, of := range t.calls {
		if of.start != nil && of.start.isOver(block, time) {
			onHeld(*of.start, of)
			of.start = nil
		}
	}
	t.held.advance(block, time, func(from closing) { onHeld(from, nil) })
}

// raise takes in that a price was held, which is known by the block head. It counts for the call of, or for all calls where of is nil.
func (t *token) raise(from closing, of *call, head *market.Header) {
	for _, c := range t.calls {
		if (of == nil || of == c) && from.usd > c.PeakUSD && from.block >= c.Price.Block && from.time <= c.Deadline() {
			c.PeakUSD, c.PeakBlock, c.PeakHash = from.usd, head.Number, head.Hash
			c.rises = append(c.rises, rise{from.usd, head.Number})
		}
	}
}

// mark notes the first closing whose hold time isn't over by the block head, and drops marks that the final block makes useless.
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
	if n := len(t.marks); n == 0 || t.marks[n-1].number < head.Number {
		t.marks = append(t.marks, mark{block{head.Number, head.Hash}, from})
	}
	for len(t.marks) > 1 && t.marks[1].number <= final {
		t.marks = t.marks[1:]
	}
}

// update works out how the call stands by the block head. final is the newest indexed block that the chain's nodes call final.
func (c *call) update(t *token, head *market.Header, final uint64) {
	for len(c.rises) > 0 && c.rises[0].block <= final {
		c.SureUSD = c.rises[0].usd
		c.rises = c.rises[1:]
	}
	if len(t.marks) > 0 && t.marks[0].number <= final && t.marks[0].from.block > c.SureBlock {
		c.SureBlock, c.SureTime = t.marks[0].from.block, t.marks[0].from.time
	}
	isWin := c.PeakUSD >= member.WinMultiple*c.Price.USD
	if t.hasNews && !isWin {
		return // what isn't read yet may change it back
	}
	isOver := !t.hasNews && head.Time > c.Deadline() && c.start == nil && (len(t.held.starts) == 0 || t.held.starts[0].time > c.Deadline())
	if isOver && c.overAt == 0 {
		c.overAt = head.Number
	}
	outcome, decided := member.CallOpen, int64(0)
	switch {
	case isWin:
		outcome, decided = member.CallWin, head.Time
	case isOver:
		outcome, decided = member.CallLoss, c.Deadline()
	}
	if outcome != c.Outcome {
		c.Outcome, c.DecidedAt = outcome, decided
	}
	c.Settled = isOver && c.overAt <= final && len(c.rises) == 0
}
