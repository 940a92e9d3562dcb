package derive

import (
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// LaunchKeys names what tells which events are about launched tokens: the first of three loads.
func (m *Machine) LaunchKeys(s *State, blocks []market.Block) market.Wanted {
	launches, contracts := newSet(s.launches.cached), newSet(s.curves.cached)
	token := func(mint market.Address) {
		if !m.FollowsUnlaunched(mint) {
			launches.add(mint)
		}
	}
	for i := range blocks {
		for _, tx := range blocks[i].Txs {
			for _, l := range tx.Logs {
				switch e := l.Event.(type) {
				case market.Transfer:
					token(e.Token)
				case market.BalanceChange:
					token(e.Token)
				case market.Wrap:
					token(e.Token)
				case market.Withheld:
					token(e.Token)
				default:
					_, curve, mint := curveOf(e)
					if !mint.IsNone() {
						launches.add(mint)
					}
					if s.ownCurves && m.mayBeOwn(curve) {
						contracts.add(curve)
					}
				}
			}
		}
	}
	return market.Wanted{Launches: launches.list, Curves: contracts.list, ExpireFrom: 1, ExpireTo: 0}
}

// Keys names what the events of blocks touch by themselves: the second load. until is the newest header of the batch,
// which may have no events.
func (m *Machine) Keys(s *State, blocks []market.Block, until market.Header) market.Wanted {
	w := market.Wanted{ExpireFrom: 1, ExpireTo: 0}
	if s.last.Time > 0 {
		w.ExpireFrom, w.ExpireTo = minute(s.last.Time)-windowSeconds+60, minute(until.Time)-windowSeconds
	}
	pools := newSet(s.wholePool)
	fresh := newcomers(blocks)
	for i := range blocks {
		for _, f := range blocks[i].Facts {
			if f, ok := f.(market.PoolStateFact); ok {
				pools.add(f.Pool)
			}
		}
		for _, tx := range blocks[i].Txs {
			for _, l := range tx.Logs {
				if id, ok := poolOf(l.Event); ok {
					pools.add(id)
				} else if mint, ok := fresh.launchOf(s, l.Event); ok {
					pools.add(market.CurveID(mint))
				} else if t, ok := m.transferOf(&tx, l.Event); ok && m.followAll {
					pools.add(t.Token) // it may be a pair's own liquidity token
				}
			}
		}
	}
	w.Pools = pools.list
	return w
}

// MoreKeys names what follows from the rows of the loads before: the third. The state then has the Touches of the blocks.
func (m *Machine) MoreKeys(s *State, blocks []market.Block, until market.Header) market.Wanted {
	k := newKeys(m, s, blocks)
	k.held()
	for i := range blocks {
		b := &blocks[i]
		for _, f := range b.Facts {
			k.fact(f)
		}
		for j := range b.Txs {
			tx := &b.Txs[j]
			for _, l := range tx.Logs {
				k.event(l.Event, b.Time)
			}
			k.traders(tx)
			k.entries(i, tx, b.Time)
		}
	}
	s.touches = k.wallets.touches
	return k.wanted()
}

// keys collects what the state lacks of the rows that blocks touch.
type keys struct {
	m        *Machine
	s        *State
	tokens   *set[market.Address]
	bases    *set[market.Address]
	pairs    *set[market.Address]
	pools    *set[market.Address]
	candles  *set[market.CandleKey]
	balances *set[market.BalanceKey]
	launches *set[market.Address]
	curves   *set[market.Address]
	fresh    newcomer
	wallets  wallets
}

func newKeys(m *Machine, s *State, blocks []market.Block) *keys {
	return &keys{
		m: m, s: s, fresh: newcomers(blocks),
		launches: newSet(s.launches.cached),
		curves:   newSet(s.curves.cached),
		tokens:   newSet(s.tokens.cached),
		bases:    newSet(func(a market.Address) bool { _, ok := s.byBase[a]; return ok }),
		pairs:    newSet(func(a market.Address) bool { _, ok := s.pairs[a]; return ok || s.Launched(a) }),
		pools:    newSet(s.wholePool),
		candles:  newSet(s.candles.cached),
		balances: newSet(s.balances.cached),
		wallets:  newWallets(m, s, blocks),
	}
}

func (k *keys) wanted() market.Wanted {
	return market.Wanted{
		ExpireFrom: 1, ExpireTo: 0,
		Tokens: k.tokens.list, PoolsOf: k.bases.list, PairsOf: k.pairs.list, Pools: k.pools.list, Candles: k.candles.list, Balances: k.balances.list,
		Launches: k.launches.list, Curves: k.curves.list,
		Positions: k.wallets.positions.list, Hours: k.wallets.hours.list, TradesOf: k.wallets.past, BooksOf: k.wallets.books,
	}
}

// held wants what every batch needs, whatever its events: pending tokens, the quotes, pools with minutes that expire.
func (k *keys) held() {
	for mint := range k.s.pending {
		k.tokens.add(mint)
	}
	for _, q := range k.m.quotes {
		k.base(q.asset)
	}
	for _, ids := range k.s.minutes {
		for _, id := range ids {
			k.pools.add(id)
		}
	}
}

func (k *keys) fact(f market.Fact) {
	switch f := f.(type) {
	case market.PoolFact:
		if f.Known {
			k.pools.add(f.Pool)
			k.created(f.Info)
		}
	case market.PoolStateFact:
		k.pools.add(f.Pool)
		if p := k.s.pools.get(f.Pool); p != nil {
			k.changed(p)
		}
	case market.TokenFact:
		k.tokens.add(f.Token)
	case market.SupplyFact:
		k.tokens.add(f.Token)
	case market.BalanceFact:
		k.balance(f.Token, f.Account)
	}
}

// event wants the rows that an event of a block at that time changes.
func (k *keys) event(e market.Event, at int64) {
	switch e := e.(type) {
	case market.Transfer:
		k.transfer(e)
	case market.BalanceChange:
		k.transfer(e.AsTransfer())
	case market.Wrap:
		if e.Token == k.m.wrapped {
			k.tokens.add(e.Token)
			if k.follows(e.Token) {
				k.holder(e.Token, e.Account)
				k.account(e.Account)
			}
		}
	case market.Withheld:
		k.tokens.add(e.Token)
	case market.PoolCreated:
		if k.m.believes(e) {
			k.created(e)
		}
	default:
		if mint, ok := k.fresh.launchOf(k.s, e); ok {
			k.launchEvent(mint, e, at)
			return
		}
		k.poolEvent(e, at)
	}
}

// transfer wants the balances that a transfer changes, and the token whose supply a mint or burn changes.
func (k *keys) transfer(e market.Transfer) {
	if k.follows(e.Token) {
		k.holder(e.Token, e.From)
		k.holder(e.Token, e.To)
		k.account(e.To)
	}
	if e.From.IsNone() || e.To.IsNone() {
		k.tokens.add(e.Token)
	}
}

// launchEvent wants the rows of a launched token, of its curve's pool and of the pool that it begins in or moves to.
func (k *keys) launchEvent(mint market.Address, e market.Event, at int64) {
	k.base(mint)
	k.launches.add(mint)
	if p := k.s.pools.get(market.CurveID(mint)); p != nil {
		k.tokens.add(p.Quote)
	}
	switch e := e.(type) {
	case market.Launched:
		k.pairs.add(mint)
		k.pool(e.Pool)
		if !e.Quote.IsNone() {
			k.tokens.add(k.m.Canonical(e.Quote))
		}
		k.balance(mint, e.Curve)
	case market.CurveSet:
		if !e.Quote.IsNone() {
			k.tokens.add(k.m.Canonical(e.Quote))
		}
	case market.Graduated:
		k.pool(e.Pool)
	case market.CurveTrade:
		k.candlesOf(k.s.pools.get(market.CurveID(mint)), at)
	}
}

func (k *keys) poolEvent(e market.Event, at int64) {
	id, ok := poolOf(e)
	if !ok {
		return
	}
	p := k.s.pools.get(id)
	if p == nil {
		return
	}
	k.changed(p)
	if _, swapped := e.(market.Swap); !swapped {
		return
	}
	k.candlesOf(p, at)
}

// changed wants the rows that the close of a block looks at which changes a pool.
func (k *keys) changed(p *market.Pool) {
	k.base(p.Base)
	k.tokens.add(p.Quote)
	k.waiting(p)
}

func (k *keys) pool(id market.Address) {
	if !id.IsNone() {
		k.pools.add(id)
	}
}

// candlesOf wants the candles that a trade of a pool, which may be none, adds to; a younger one than its last trade can't
// be there.
func (k *keys) candlesOf(p *market.Pool, at int64) {
	if p == nil {
		return
	}
	for _, interval := range market.StoredIntervals {
		if c := candleKey(p.ID, interval, at); c.Open <= p.LastTradeAt {
			k.candles.add(c)
		}
	}
}

func (k *keys) created(c market.PoolCreated) {
	for _, mint := range []market.Address{k.m.Canonical(c.Token0), k.m.Canonical(c.Token1)} {
		k.base(mint)
		k.balance(mint, c.Pool)
	}
}

func (k *keys) base(mint market.Address) {
	k.tokens.add(mint)
	k.bases.add(mint)
	k.launches.add(mint)
}

func (k *keys) balance(token, account market.Address) {
	if k.follows(token) {
		k.holder(token, account)
	}
}

// holder wants the balance of an account in a followed token.
func (k *keys) holder(token, account market.Address) {
	if !account.IsNone() {
		k.tokens.add(token)
		k.balances.add(market.BalanceKey{Token: token, Account: account})
	}
}

// follows reports whether the token's balances are followed, as far as it is known: whether a pool's tokens are launches may be
// asked for by the very load that wants their balances.
func (k *keys) follows(token market.Address) bool {
	return k.m.Follows(k.s, token) || k.fresh.mints[token] || !k.s.launches.cached(token)
}

// traders wants to know of each account whose tokens a transaction with a trade moves whether it can be the trader.
func (k *keys) traders(tx *market.Tx) {
	if !k.s.ownCurves || !slices.ContainsFunc(tx.Logs, isTrade) {
		return
	}
	for i := range tx.Logs {
		switch e := tx.Logs[i].Event.(type) {
		case market.Transfer:
			k.account(e.From)
			k.account(e.To)
		case market.BalanceChange:
			k.account(e.Owner)
		case market.Wrap:
			k.account(e.Account)
		}
	}
}

func isTrade(l market.Log) bool {
	switch l.Event.(type) {
	case market.Swap, market.CurveTrade:
		return true
	default:
		return false
	}
}

// account wants to know whether an account holds a launched token's curve.
func (k *keys) account(a market.Address) {
	if k.s.ownCurves && k.m.mayBeOwn(a) && !a.IsNone() && k.m.factories[a] == nil {
		k.curves.add(a)
	}
}

// wholePool reports whether a pool, or its absence, is cached with its ticks. Those that came with their base have none: only what changes a
// pool needs them, and they may be long.
func (s *State) wholePool(id market.Address) bool {
	if !s.pools.cached(id) {
		return false
	}
	p := s.pools.get(id)
	return p == nil || !p.Protocol.Concentrated() || s.ticks.cached(id)
}

// poolOf is the pool whose state an event changes.
func poolOf(e market.Event) (market.Address, bool) {
	switch e := e.(type) {
	case market.Swap:
		return e.Pool, true
	case market.Reserves:
		return e.Pool, true
	case market.ReservesMoved:
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

// set collects keys once, without those that skip reports.
type set[K comparable] struct {
	seen map[K]struct{}
	list []K
	skip func(K) bool
	// last is the key of the last call of add. The logs of a transaction often name one key again at once.
	last K
}

func newSet[K comparable](skip func(K) bool) *set[K] {
	return &set[K]{seen: make(map[K]struct{}), skip: skip}
}

func (s *set[K]) add(k K) {
	if k == s.last && len(s.seen) > 0 {
		return
	}
	s.last = k
	if _, ok := s.seen[k]; ok {
		return
	}
	s.seen[k] = struct{}{}
	if !s.skip(k) {
		s.list = append(s.list, k)
	}
}
