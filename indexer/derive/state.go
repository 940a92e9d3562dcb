package derive

import (
	"maps"
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/funding"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// State is what the next blocks build on: a bounded cache of the derived rows, and the little that is always there.
// It belongs to one chain and one goroutine.
type State struct {
	last     market.Header // the newest block that was applied
	tokens   *table[market.Address, market.Token]
	pools    *table[market.Address, market.Pool]
	ticks    *table[market.Address, market.TickMap]
	candles  *table[market.CandleKey, market.Candle]
	balances *table[market.BalanceKey, market.Balance]
	quotes   *table[market.Address, market.QuotePrice]
	launches *table[market.Address, market.Launch]
	// curves are the contracts that hold one launched token's curve, with that token; none where several tokens claim the
	// contract, which then speaks for none of them. They follow from launches and are written with them alone.
	curves *table[market.Address, market.Address]
	// ownCurves reports whether any launch has such a contract. While none has, nothing is asked about contracts.
	ownCurves bool
	// announced are the tokens that the block launches and whose launches have no row yet.
	announced map[market.Address]bool
	// byBase has the listed pools of base tokens, all of which are cached; a base that isn't in it has to be loaded.
	byBase map[market.Address][]market.Address
	// pairs has the pools with an account of their own of those tokens that the batch launches, listed or not.
	pairs map[market.Address][]market.Address
	// pending are the tokens with a candidate for their reference pool, and when it becomes that.
	pending map[market.Address]due
	// minutes are the pools with a 1-minute candle that opens at the key: those loaded because they leave the window,
	// and those made since the last flush.
	minutes map[int64][]market.Address

	// recounts are the tokens that are counted anew: their transfers are queued although their count was given up.
	recounts map[market.Address]bool
	// jobs has the holder jobs that are being merged.
	jobs *table[market.Address, market.HolderJob]

	waiting *waiting
	trades  []market.Trade
	queued  []market.QueuedTransfer

	// watched are all members' wallets whose entries are kept.
	watched   *table[market.Address, market.WatchedWallet]
	positions *table[market.PositionKey, market.Position]
	hours     *table[market.HourKey, market.WalletHour]
	// past are the trades of the wallets that the batch begins to watch.
	past    map[market.Address][]market.Trade
	touches []Touch
	entries []market.Entry
	// booked are all entries, as the database has them, of the members whose wallets' past the batch takes in.
	booked *table[market.EntryKey, market.Entry]
	// hasBook are the wallets of those members.
	hasBook map[market.Address]bool
	fees    []market.Fee
	stream  []market.StreamItem
	// swaps is the memory of the last block's swaps. The next block overwrites it: nothing may point into it.
	swaps []market.Trade

	// funding is the payments of the newest blocks; payments are those of the blocks since the last flush.
	funding  *funding.Ledger
	payments []market.BlockPayments
}

// NewState starts from what is committed.
func NewState(b market.Beginning) *State {
	s := &State{
		tokens:    newTable[market.Address](same[market.Token]),
		pools:     newTable[market.Address](same[market.Pool]),
		ticks:     newTable[market.Address](func(a, b *market.TickMap) bool { return slices.Equal(*a, *b) }),
		candles:   newTable[market.CandleKey](same[market.Candle]),
		balances:  newTable[market.BalanceKey](same[market.Balance]),
		launches:  newTable[market.Address](same[market.Launch]),
		curves:    newTable[market.Address](same[market.Address]),
		announced: make(map[market.Address]bool),
		byBase:    make(map[market.Address][]market.Address),
		pairs:     make(map[market.Address][]market.Address),
		minutes:   make(map[int64][]market.Address),
		watched:   newTable[market.Address](same[market.WatchedWallet]),
		positions: newTable[market.PositionKey](same[market.Position]),
		hours:     newTable[market.HourKey](same[market.WalletHour]),
		past:      make(map[market.Address][]market.Trade),
		funding:   funding.NewLedger(funding.Default),
	}
	s.ForgetBooks()
	s.begin(b)
	return s
}

// begin takes what is always there.
func (s *State) begin(b market.Beginning) {
	s.last, s.ownCurves = b.Last, b.OwnCurves
	s.pending = make(map[market.Address]due, len(b.Pending))
	for i := range b.Pending {
		t := &b.Pending[i]
		s.pending[t.Mint] = dueOf(t)
		s.tokens.put(t.Mint, t)
	}
	s.quotes = newTable[market.Address](same[market.QuotePrice])
	for i := range b.Quotes {
		s.quotes.put(b.Quotes[i].Asset, &b.Quotes[i])
	}
	s.waiting = newWaiting(b.Waiting)
	s.recounts = make(map[market.Address]bool, len(b.Recounts))
	for _, token := range b.Recounts {
		s.recounts[token] = true
	}
	s.jobs = newTable[market.Address](same[market.HolderJob])
	for i := range b.Jobs {
		s.Merge(b.Jobs[i])
	}
	for i := range b.Watched {
		s.watched.put(b.Watched[i].Wallet, &b.Watched[i])
	}
}

// Merge takes up a job that is to be merged, as it is in the database.
func (s *State) Merge(j market.HolderJob) { s.jobs.put(j.Token, &j) }

// Job is a job that is being merged; nil where there is none.
func (s *State) Job(token market.Address) *market.HolderJob { return s.jobs.get(token) }

// Rewind goes back to an earlier block: the rows that were touched on the way are forgotten, with the lists that they are in, and b is what an
// index at that block begins with. Everything else stays. It must not be called between a change and its Flush.
func (s *State) Rewind(b market.Beginning, touched *market.Touched) {
	s.tokens.dropAll(touched.Tokens)
	s.pools.dropAll(touched.Pools)
	s.ticks.dropAll(touched.Pools) // a pool's tick map goes with it
	s.ticks.dropAll(touched.Ticks)
	s.candles.dropAll(touched.Candles)
	s.balances.dropAll(touched.Balances)
	s.launches.dropAll(touched.Launches)
	s.curves.dropAll(touched.Curves)
	s.watched.dropAll(touched.Watched)
	s.positions.dropAll(touched.Positions)
	s.hours.dropAll(touched.Hours)
	for _, base := range touched.Bases {
		delete(s.byBase, base)
	}
	s.ForgetBooks()
	s.funding.Rewind(b.Last)
	s.begin(b)
}

// ForgetBooks drops what was loaded to take pasts in. A batch that may have been prepared in vain begins with it.
func (s *State) ForgetBooks() {
	s.booked, s.hasBook = newTable[market.EntryKey](same[market.Entry]), map[market.Address]bool{}
}

// TouchedBy names the rows that changes touch, for a Rewind before changes that were flushed and are never committed.
func TouchedBy(c *market.Changes) *market.Touched {
	t := &market.Touched{
		Tokens: keysOf(c.Tokens), Pools: keysOf(c.Pools), Ticks: keysOf(c.Ticks), Candles: keysOf(c.Candles), Balances: keysOf(c.Balances),
		Launches: keysOf(c.Launches), Watched: keysOf(c.Watched), Positions: keysOf(c.Positions), Hours: keysOf(c.Hours),
	}
	for i := range c.Pools {
		if p := c.Pools[i].After; p != nil { // no pool goes
			t.Bases = append(t.Bases, p.Base)
		}
	}
	for i := range c.Launches {
		if l := c.Launches[i].After; l != nil && !l.Curve.IsNone() { // nor does a launch
			t.Curves = append(t.Curves, l.Curve)
		}
	}
	return t
}

func keysOf[K comparable, V any](changes []market.Change[K, V]) []K {
	keys := make([]K, len(changes))
	for i := range changes {
		keys[i] = changes[i].Key
	}
	return keys
}

// Recount queues a token's transfers from the next block on, until its job ends.
func (s *State) Recount(token market.Address) { s.recounts[token] = true }

// Recounts is how many tokens are counted anew.
func (s *State) Recounts() int { return len(s.recounts) }

// Last is the newest block that was applied.
func (s *State) Last() market.Header { return s.last }

// Token is a cached token, for the caller that decides what to ask about it; nil when it isn't cached or not there.
func (s *State) Token(mint market.Address) *market.Token { return s.tokens.get(mint) }

// Pool is a cached pool; nil when it isn't cached or not there.
func (s *State) Pool(id market.Address) *market.Pool { return s.pools.get(id) }

// Balance is a cached balance; zero when it isn't cached or not there.
func (s *State) Balance(k market.BalanceKey) market.Amount {
	if b := s.balances.get(k); b != nil {
		return b.Amount
	}
	return market.Amount{}
}

// Flush takes what changed since the last Flush and drops cached rows above limit (per table).
func (s *State) Flush(limit int) market.Changes {
	c := market.Changes{
		Tokens: s.tokens.flush(), Pools: s.pools.flush(), Ticks: s.ticks.flush(), Candles: s.candles.flush(),
		Balances: s.balances.flush(), Quotes: s.quotes.flush(), Launches: s.launches.flush(), Trades: s.trades, Queued: s.queued,
		Jobs: s.jobs.flush(), Watched: s.watched.flush(), Positions: s.positions.flush(), Hours: s.hours.flush(), Entries: s.entries,
		Reworked: s.booked.flush(), Fees: s.fees, Stream: s.stream, Payments: s.payments,
	}
	c.PaymentsFrom, c.HasPaymentsFrom = s.funding.Oldest()
	for i := range c.Jobs {
		if c.Jobs[i].After.Step == market.MergeEnded {
			s.jobs.drop(c.Jobs[i].Key) // the token may get another one
		}
	}
	c.Waiting, c.Dropped = s.waiting.flush()
	_ = s.curves.flush() // the rows of launches tell it
	s.queued, s.entries, s.fees, s.stream, s.payments = nil, nil, nil, nil, nil
	s.trades = make([]market.Trade, 0, len(s.trades)) // the next commit often has as many
	clear(s.past)
	s.ForgetBooks()
	clear(s.minutes)
	clear(s.pairs)
	s.tokens.trim(limit, nil)
	// A pool's tick map goes with it and not before.
	s.pools.trim(limit, func(id market.Address, p *market.Pool) {
		if !p.Unlisted {
			delete(s.byBase, p.Base)
		}
		s.ticks.drop(id)
	})
	if len(s.byBase) > limit {
		maps.DeleteFunc(s.byBase, func(_ market.Address, listed []market.Address) bool { return len(listed) == 0 })
	}
	s.candles.trim(limit, nil)
	s.balances.trim(limit, nil)
	s.launches.trim(limit, nil)
	s.curves.trim(limit, nil)
	s.positions.trim(limit, nil)
	s.hours.trim(limit, nil)
	return c
}

// Put takes loaded rows into the state: what was wanted and isn't among them doesn't exist.
func (s *State) Put(w market.Wanted, rows market.Rows) {
	for i := range rows.Pools {
		p := &rows.Pools[i]
		s.pools.put(p.ID, p)
	}
	for _, id := range w.Pools {
		s.pools.put(id, nil)
		if t, ok := rows.Ticks[id]; ok {
			s.ticks.put(id, &t)
		} else if s.pools.get(id) != nil {
			s.ticks.put(id, nil)
		}
	}
	for _, mint := range w.PoolsOf {
		s.byBase[mint] = nil
	}
	for _, mint := range w.PairsOf {
		s.pairs[mint] = nil
	}
	for _, p := range rows.Pairs {
		s.pairs[p.Base] = append(s.pairs[p.Base], p.ID)
	}
	for i := range rows.Pools {
		p := &rows.Pools[i]
		if list, ok := s.byBase[p.Base]; ok && !p.Unlisted && !slices.Contains(list, p.ID) {
			s.byBase[p.Base] = append(list, p.ID)
		}
	}
	for i := range rows.Tokens {
		s.tokens.put(rows.Tokens[i].Mint, &rows.Tokens[i])
	}
	for _, mint := range w.Tokens {
		s.tokens.put(mint, nil)
	}
	for i := range rows.Candles {
		c := &rows.Candles[i]
		s.candles.put(c.CandleKey, c)
		if c.Interval == 60 && c.Open >= w.ExpireFrom && c.Open <= w.ExpireTo {
			s.minutes[c.Open] = append(s.minutes[c.Open], c.Pool)
		}
	}
	for _, k := range w.Candles {
		s.candles.put(k, nil)
	}
	for i := range rows.Launches {
		s.launches.put(rows.Launches[i].Mint, &rows.Launches[i])
	}
	for _, mint := range w.Launches {
		s.launches.put(mint, nil)
	}
	for i := range rows.Curves {
		s.curves.put(rows.Curves[i].Contract, &rows.Curves[i].Mint)
	}
	for _, contract := range w.Curves {
		s.curves.put(contract, nil)
	}
	for k, b := range rows.Balances {
		s.balances.put(k, &b)
	}
	for _, k := range w.Balances {
		s.balances.put(k, nil)
	}
	s.putWallets(w, &rows)
}

// putWallets is Put for members' wallets.
func (s *State) putWallets(w market.Wanted, rows *market.Rows) {
	for i := range rows.Watched {
		s.watched.put(rows.Watched[i].Wallet, &rows.Watched[i])
	}
	for k, p := range rows.Positions {
		s.positions.put(k, &p)
	}
	for _, k := range w.Positions {
		s.positions.put(k, nil)
	}
	for i := range rows.Hours {
		s.hours.put(rows.Hours[i].HourKey, &rows.Hours[i])
	}
	for _, k := range w.Hours {
		s.hours.put(k, nil)
	}
	for _, wallet := range w.TradesOf {
		s.past[wallet] = rows.Past[wallet]
	}
	for _, wallets := range w.BooksOf {
		for _, wallet := range wallets {
			s.hasBook[wallet] = true
		}
	}
	for i := range rows.Entries {
		s.booked.put(rows.Entries[i].Key(), &rows.Entries[i])
	}
}
