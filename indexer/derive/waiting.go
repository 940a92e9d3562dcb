package derive

import (
	"cmp"
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// A concentrated pool that is older than the index, or whose price left the window of its ticks, is asked for its ticks, which may take some blocks. Until
// they are known, nobody can say whether its liquidity is as much as a tracked pool has to have. Its trades wait meanwhile. Each was valued at the close of its own block, as any other;
// once the liquidity is known all of them are kept, or none is.

const (
	// waitingSeconds is for how long a trade waits.
	waitingSeconds = 60 * 60
	// waitingOfPool is the most trades of a pool that wait: the newest. waitingOfChain is the most of all pools.
	waitingOfPool, waitingOfChain = 1_000, 100_000
)

// waiting are the trades that wait, all of which are in memory.
type waiting struct {
	trades *table[market.TradeKey, market.Trade]
	// of are the keys of each pool's trades, oldest first. A pool without any isn't in it.
	of    map[market.Address][]market.TradeKey
	count int
	// order are the keys of all trades, oldest first. Those that don't wait any more are skipped.
	order []waitingAt
	// dropped are the trades that ceased to wait without an answer, since the last flush.
	dropped market.DroppedTrades
}

type waitingAt struct {
	market.TradeKey
	pool market.Address
	time int64
}

func newWaiting(list []market.Trade) *waiting {
	w := &waiting{trades: newTable[market.TradeKey](same[market.Trade]), of: make(map[market.Address][]market.TradeKey)}
	list = slices.SortedFunc(slices.Values(list), func(a, b market.Trade) int {
		return cmp.Or(cmp.Compare(a.Block, b.Block), cmp.Compare(a.LogIndex, b.LogIndex))
	})
	for i := range list {
		w.trades.put(list[i].Key(), &list[i])
		w.enqueue(&list[i])
	}
	return w
}

func (w *waiting) enqueue(t *market.Trade) {
	k := t.Key()
	w.of[t.Pool] = append(w.of[t.Pool], k)
	w.order = append(w.order, waitingAt{k, t.Pool, t.Time})
	w.count++
	if len(w.order) > 2*w.count+waitingOfPool { // a pool that trades all the time leaves many behind
		w.order = slices.DeleteFunc(w.order, func(k waitingAt) bool { return w.trades.get(k.TradeKey) == nil })
	}
}

// add has a trade wait, if there is room for it.
func (w *waiting) add(t *market.Trade) {
	switch {
	case len(w.of[t.Pool]) >= waitingOfPool:
		w.removeOldest(t.Pool)
		w.dropped.OfPool++
	case w.count >= waitingOfChain:
		w.dropped.OfChain++
		return
	}
	*w.trades.edit(t.Key()) = *t
	w.enqueue(t)
}

func (w *waiting) removeOldest(pool market.Address) {
	of := w.of[pool]
	w.trades.remove(of[0])
	w.count--
	if w.of[pool] = of[1:]; len(of) == 1 {
		delete(w.of, pool)
	}
}

// take ends the waiting of a pool's trades, and gives them, oldest first.
func (w *waiting) take(pool market.Address) []market.Trade {
	list := make([]market.Trade, 0, len(w.of[pool]))
	for _, k := range w.of[pool] {
		list = append(list, *w.trades.get(k))
		w.trades.remove(k)
	}
	w.count -= len(list)
	delete(w.of, pool)
	return list
}

// expire drops the trades that have waited too long by now.
func (w *waiting) expire(now int64) {
	for len(w.order) > 0 && w.order[0].time < now-waitingSeconds {
		oldest := w.order[0]
		w.order = w.order[1:]
		if w.trades.get(oldest.TradeKey) != nil {
			w.removeOldest(oldest.pool)
			w.dropped.Aged++
		}
	}
}

// flush takes what changed since the last flush.
func (w *waiting) flush() ([]market.Change[market.TradeKey, market.Trade], market.DroppedTrades) {
	dropped := w.dropped
	w.dropped = market.DroppedTrades{}
	changes := w.trades.flush()
	clear(w.trades.absent) // whatever is absent doesn't wait: all rows are in memory
	return changes, dropped
}

// Waiting is how many trades wait.
func (s *State) Waiting() int { return s.waiting.count }

// isUndecided reports whether nobody can say yet if a pool's liquidity suffices. Where trades of it wait already, a price of its quote has to be
// known, too.
func (tr *trades) isUndecided(p *market.Pool, quoteUSD float64) bool {
	return p.Protocol.Concentrated() && (p.Untrusted == market.UntrustedTicks || quoteUSD == 0 && len(tr.s.waiting.of[p.ID]) > 0)
}

// decideWaiting decides about the trades that wait for the block's pools, once the liquidity of their pool is known: it keeps them if it suffices, and drops
// them if not. Of a pool whose trades wait no younger trade is kept meanwhile, so that candles and windows take them in order.
func (tr *trades) decideWaiting() {
	if len(tr.s.waiting.of) == 0 {
		return // as nearly always
	}
	for _, id := range tr.pools.touched {
		if len(tr.s.waiting.of[id]) == 0 {
			continue
		}
		p := tr.s.pools.get(id)
		quoteUSD := tr.s.usd(p.Quote)
		if tr.isUndecided(p, quoteUSD) {
			continue
		}
		list := tr.s.waiting.take(id)
		if !tr.hasEnough(p, quoteUSD) {
			continue
		}
		for i := range list {
			tr.s.trades = append(tr.s.trades, list[i])
			tr.book(&list[i])
		}
	}
}

// waiting wants the candles that a pool's waiting trades add to when they are kept.
func (k *keys) waiting(p *market.Pool) {
	for _, t := range k.s.waiting.of[p.ID] {
		k.candlesOf(p, k.s.waiting.trades.get(t).Time)
	}
}
