package derive

import (
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Keys names what the events of blocks touch by themselves: the first of two loads. until is the newest header of the
// batch, which may have no events.
func (m *Machine) Keys(s *State, blocks []market.Block, until market.Header) market.Wanted {
	w := market.Wanted{ExpireFrom: 1, ExpireTo: 0}
	if s.last.Time > 0 {
		w.ExpireFrom, w.ExpireTo = minute(s.last.Time)-windowSeconds+60, minute(until.Time)-windowSeconds
	}
	pools := newSet(func(a market.Address) bool { return s.pools.cached(a) })
	for i := range blocks {
		for _, tx := range blocks[i].Txs {
			for _, l := range tx.Logs {
				if id, ok := poolOf(l.Event); ok {
					pools.add(id)
				} else if t, ok := l.Event.(market.Transfer); ok && m.followAll {
					pools.add(t.Token) // it may be a pair's own liquidity token
				}
			}
		}
	}
	w.Pools = pools.list
	return w
}

// MoreKeys names what follows from the rows of the first load: the second.
func (m *Machine) MoreKeys(s *State, blocks []market.Block, until market.Header) market.Wanted {
	w := market.Wanted{ExpireFrom: 1, ExpireTo: 0}
	tokens := newSet(func(a market.Address) bool { return s.tokens.cached(a) })
	bases := newSet(func(a market.Address) bool { _, ok := s.byBase[a]; return ok })
	pools := newSet(func(a market.Address) bool { return s.pools.cached(a) })
	candles := newSet(func(k market.CandleKey) bool { return s.candles.cached(k) })
	balances := newSet(func(k market.BalanceKey) bool { return s.balances.cached(k) })
	for mint := range s.pending {
		tokens.add(mint)
	}
	for _, q := range m.quotes {
		tokens.add(q.asset)
		bases.add(q.asset)
	}
	for _, ids := range s.minutes {
		for _, id := range ids {
			pools.add(id)
		}
	}
	base := func(mint market.Address) {
		tokens.add(mint)
		bases.add(mint)
	}
	balance := func(token, account market.Address) {
		if m.Follows(token) && !account.IsZeroEVM() {
			tokens.add(token)
			balances.add(market.BalanceKey{Token: token, Account: account})
		}
	}
	created := func(c market.PoolCreated) {
		c.Token0, c.Token1 = m.Canonical(c.Token0), m.Canonical(c.Token1)
		base(c.Token0)
		base(c.Token1)
		balance(c.Token0, c.Pool)
		balance(c.Token1, c.Pool)
	}
	for i := range blocks {
		b := &blocks[i]
		for _, f := range b.Facts {
			switch f := f.(type) {
			case market.PoolFact:
				if f.Known {
					created(f.Info)
				}
			case market.TokenFact:
				tokens.add(f.Token)
			case market.SupplyFact:
				tokens.add(f.Token)
			case market.BalanceFact:
				balance(f.Token, f.Account)
			}
		}
		for _, tx := range b.Txs {
			for _, l := range tx.Logs {
				switch e := l.Event.(type) {
				case market.Transfer:
					balance(e.Token, e.From)
					balance(e.Token, e.To)
					if e.From.IsZeroEVM() || e.To.IsZeroEVM() {
						tokens.add(e.Token)
					}
				case market.Wrap:
					if e.Token == m.wrapped {
						balance(e.Token, e.Account)
						tokens.add(e.Token)
					}
				case market.PoolCreated:
					if m.believes(e) {
						created(e)
					}
				default:
					id, ok := poolOf(e)
					if !ok {
						continue
					}
					p := s.pools.get(id)
					if p == nil {
						continue
					}
					base(p.Base)
					tokens.add(p.Quote)
					if _, swapped := e.(market.Swap); swapped {
						for _, interval := range market.StoredIntervals {
							k := candleKey(id, interval, b.Time)
							if k.Open <= p.LastTradeAt {
								candles.add(k)
							}
						}
					}
				}
			}
		}
	}
	w.Tokens, w.PoolsOf, w.Pools, w.Candles, w.Balances = tokens.list, bases.list, pools.list, candles.list, balances.list
	return w
}

// Put takes loaded rows into the state: what was wanted and isn't among them doesn't exist.
func (s *State) Put(w market.Wanted, rows market.Rows) {
	for i := range rows.Pools {
		p := &rows.Pools[i]
		s.pools.put(p.ID, p)
		if t, ok := rows.Ticks[p.ID]; ok {
			s.ticks.put(p.ID, &t)
		} else {
			s.ticks.put(p.ID, nil)
		}
	}
	for _, id := range w.Pools {
		s.pools.put(id, nil)
	}
	for _, mint := range w.PoolsOf {
		s.byBase[mint] = nil
	}
	for i := range rows.Pools {
		p := &rows.Pools[i]
		if list, ok := s.byBase[p.Base]; ok && !contains(list, p.ID) {
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
	for k, b := range rows.Balances {
		s.balances.put(k, &b)
	}
	for _, k := range w.Balances {
		s.balances.put(k, nil)
	}
}

// poolOf is the pool whose state an event changes.
func poolOf(e market.Event) (market.Address, bool) {
	switch e := e.(type) {
	case market.Swap:
		return e.Pool, true
	case market.Reserves:
		return e.Pool, true
	case market.RangeLiquidity:
		return e.Pool, true
	case market.PoolPriced:
		return e.Pool, true
	case market.PoolCreated:
		return e.Pool, true
	default:
		return market.Address{}, false
	}
}

func candleKey(pool market.Address, interval int32, t int64) market.CandleKey {
	return market.CandleKey{Pool: pool, Interval: interval, Open: t - t%int64(interval)}
}

func minute(t int64) int64 { return t - t%60 }

func contains(list []market.Address, a market.Address) bool {
	for _, x := range list {
		if x == a {
			return true
		}
	}
	return false
}

// set collects keys once, without those that skip reports.
type set[K comparable] struct {
	seen map[K]struct{}
	list []K
	skip func(K) bool
}

func newSet[K comparable](skip func(K) bool) *set[K] {
	return &set[K]{seen: make(map[K]struct{}), skip: skip}
}

func (s *set[K]) add(k K) {
	if _, ok := s.seen[k]; ok {
		return
	}
	s.seen[k] = struct{}{}
	if !s.skip(k) {
		s.list = append(s.list, k)
	}
}
