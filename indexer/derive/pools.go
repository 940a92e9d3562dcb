package derive

import (
	"math"
	"math/big"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/price"
)

// poolKnown starts to track a pool. complete says that its whole history lies in what is read, from creation on.
func (r *run) poolKnown(c market.PoolCreated, complete bool) {
	token0, token1 := r.Canonical(c.Token0), r.Canonical(c.Token1)
	if c.Protocol.HasAccount() {
		r.excludeHolder(token0, c.Pool)
		r.excludeHolder(token1, c.Pool)
	}
	if r.s.pools.get(c.Pool) != nil || !r.Tracked(token0, token1) {
		return
	}
	p := r.s.pools.edit(c.Pool)
	*p = market.Pool{
		ID: c.Pool, Protocol: c.Protocol, Factory: c.Factory, Token0: c.Token0, Token1: c.Token1,
		FeePips: c.FeePips, TickSpacing: c.TickSpacing, Hooks: c.Hooks, Stable: c.Stable,
		SqrtPriceX96: c.SqrtPriceX96, Tick: c.Tick, Unlisted: true,
	}
	f := r.factories[c.Factory]
	if p.FeePips == 0 {
		p.FeePips = f.feePips
	}
	if complete {
		p.CreatedBlock, p.CreatedAt = r.b.Number, r.b.Time
	}
	p.Base, p.Quote, p.BaseIs0 = token1, token0, false
	rank0, ok0 := r.quoteRank[token0]
	rank1, ok1 := r.quoteRank[token1]
	if !ok0 || (ok1 && rank1 < rank0) {
		p.Base, p.Quote, p.BaseIs0 = token0, token1, true
	}
	switch {
	case !c.Hooks.IsNone() && !f.hooks[c.Hooks]:
		p.Untrusted = market.UntrustedHook
	case c.Protocol.Concentrated() && !complete:
		p.Untrusted = market.UntrustedTicks
	}
	r.token(p.Base)
	r.token(p.Quote)
	if pairs, ok := r.s.pairs[p.Base]; ok && p.Protocol.HasAccount() {
		r.s.pairs[p.Base] = append(pairs, p.ID)
	}
	r.touch(p.ID)
}

// poolState takes in what a pool held before the block that is older than the index: from here on its events are enough. A later state of the
// pool takes the place of an earlier one, which may have been false.
func (r *run) poolState(f market.PoolStateFact) {
	p := r.touch(f.Pool)
	if p == nil || p.CreatedBlock > 0 || p.Protocol == market.BondingCurve {
		return
	}
	if !p.Protocol.Concentrated() {
		p.Reserve0, p.Reserve1 = f.Reserve0, f.Reserve1
		return
	}
	ticks, err := market.UnmarshalTickMap([]byte(f.Ticks))
	if err != nil || len(ticks) > market.MaxTicks || p.Untrusted != market.UntrustedTicks && p.Untrusted != market.Trusted {
		return
	}
	p.SqrtPriceX96, p.Tick, p.Liquidity, p.Untrusted = f.SqrtPriceX96, f.Tick, f.Liquidity, market.Trusted
	*r.s.ticks.edit(p.ID) = ticks
	r.ownTicks[p.ID] = true
}

// pricedBefore is a pool's creation with the price that the pool logged before it in the same transaction: Slipstream's factory initializes a
// pool and only then announces it.
func pricedBefore(logs []market.Log, c market.PoolCreated) market.PoolCreated {
	if c.Protocol != market.Slipstream {
		return c
	}
	for _, l := range logs {
		if p, ok := l.Event.(market.PoolPriced); ok && p.Pool == c.Pool {
			c.SqrtPriceX96, c.Tick = p.SqrtPriceX96, p.Tick
		}
	}
	return c
}

func (r *run) rangeLiquidity(e market.RangeLiquidity) {
	p := r.touch(e.Pool)
	if p == nil {
		return
	}
	if p.Untrusted != market.UntrustedTicks {
		r.changeTicks(p, e)
	}
	if e.TickLower <= p.Tick && p.Tick < e.TickUpper {
		sum := market.SignedAmount{Abs: p.Liquidity}.Add(e.Delta)
		if sum.Neg {
			// Less than nothing can only follow from history we never saw.
			r.forgetTicks(p)
			sum = market.SignedAmount{}
		}
		p.Liquidity = sum.Abs
	}
}

// changeTicks books a change of liquidity in a pool's ticks.
func (r *run) changeTicks(p *market.Pool, e market.RangeLiquidity) {
	t := r.s.ticks.edit(p.ID)
	if len(*t) == 0 {
		r.opened[p.ID] = *p
	}
	if !r.ownTicks[p.ID] { // others still have the map as it was before the block
		r.ownTicks[p.ID] = true
		*t = t.Copy()
	}
	t.ChangeRange(e.TickLower, e.TickUpper, e.Delta)
	if len(*t) > market.MaxTicks {
		r.forgetTicks(p)
	}
}

// forgetTicks ends a pool's ticks for good: it prices nothing any more.
func (r *run) forgetTicks(p *market.Pool) {
	p.Untrusted = market.UntrustedTicks
	r.s.ticks.remove(p.ID)
}

// rawAmount is a computed amount in the smallest unit; 0 for what is no amount.
func rawAmount(v float64) (a market.Amount) {
	if v > 0 && !math.IsInf(v, 1) {
		n, _ := big.NewFloat(v).Int(nil)
		a.SetFromBig(n)
	}
	return a
}

// reprice recomputes a pool's price and depth from its state.
func (r *run) reprice(p *market.Pool) {
	base, quote := r.s.tokens.get(p.Base), r.s.tokens.get(p.Quote)
	if base == nil || quote == nil || !base.HasDecimals || !quote.HasDecimals {
		p.Price, p.Depth, p.Locked = 0, 0, 0
		return
	}
	if state := r.stateOf(p, base.Decimals, quote.Decimals); state != nil {
		q := state.Quote()
		p.Price, p.Depth, p.Locked = q.Price, q.Depth, q.Locked
	}
}

// stateOf is a pool's state by its kind; nil for a curve without a launch. It gives a pool of ranges and a curve their reserves, which no event
// tells.
func (r *run) stateOf(p *market.Pool, baseDecimals, quoteDecimals uint8) price.State {
	switch {
	case p.Protocol.Concentrated():
		c := price.Concentrated{
			SqrtPriceX96: &p.SqrtPriceX96, Liquidity: &p.Liquidity, Tick: p.Tick, BaseIs0: p.BaseIs0,
			BaseDecimals: baseDecimals, QuoteDecimals: quoteDecimals,
		}
		if t := r.s.ticks.get(p.ID); t != nil {
			c.Ticks = *t
		}
		token0, token1 := c.Sides()
		p.Reserve0, p.Reserve1 = rawAmount(token0), rawAmount(token1)
		return c
	case p.Protocol == market.BondingCurve:
		l := r.s.launches.get(p.Base)
		if l == nil {
			return nil
		}
		p.Reserve0, p.Reserve1 = l.Reserves.RealBase, l.Reserves.RealQuote
		return price.BondingCurveOf(l, &l.Reserves, baseDecimals, quoteDecimals)
	case p.Stable:
		return price.StableCurve{Reserves: price.ReservesOf(p, baseDecimals, quoteDecimals)}
	default:
		return price.ConstantProduct{Reserves: price.ReservesOf(p, baseDecimals, quoteDecimals)}
	}
}

// close ends the block: pools are priced at its close, then quote assets, then the listed pools and the references are looked at, and
// only then is each trade valued.
func (r *run) close() {
	r.settleLaunches()
	bases := newSet(func(market.Address) bool { return false })
	for _, id := range r.touched {
		p := r.s.pools.edit(id)
		r.reprice(p)
		bases.add(p.Base)
	}
	newcomers := r.newcomers()
	// Quote assets come first, by rank: what they are worth weighs the depth of everybody else's pools.
	for _, q := range r.quotes {
		if _, ok := bases.seen[q.asset]; ok {
			r.list(q.asset, newcomers[q.asset])
			r.chooseReference(q.asset)
		} else if due, ok := r.s.pending[q.asset]; ok && due.passed(r.b.Number, r.b.Time) {
			r.adopt(r.s, q.asset)
		}
		r.priceQuote(r.s, q)
	}
	for _, mint := range bases.list {
		if _, isQuote := r.quoteRank[mint]; !isQuote {
			r.list(mint, newcomers[mint])
			r.chooseReference(mint)
		}
	}
	r.openWindows()
	r.decideWaiting()
	r.valueSwaps()
}

// priceQuote sets a quote asset's USD price: its peg while that stands, else its reference pool's price in a pegged
// asset, so that a token is at most two hops from the dollar.
func (m *Machine) priceQuote(s *State, q quote) {
	next := market.QuotePrice{Asset: q.asset, USD: q.peg, Pegged: q.peg > 0}
	if own := s.ownPrice(q.asset); own > 0 {
		off := q.peg == 0
		if !off && q.bound > 0 {
			off = own < q.peg*(1-q.bound) || own > q.peg*(1+q.bound)
		}
		if off {
			next.USD, next.Pegged = own, false
		}
	}
	if now := s.quotes.get(q.asset); now != nil {
		if next.DayUSD = now.DayUSD; *now == next {
			return
		}
	}
	*s.quotes.edit(q.asset) = next
}

// priceQuotesOfThen sets what the quote assets were worth before the window: their pegs, or what their reference pools say.
func (m *Machine) priceQuotesOfThen(s *State) {
	for _, q := range m.quotes {
		now, t := s.quotes.get(q.asset), s.tokens.get(q.asset)
		if now == nil || t == nil {
			continue
		}
		var then float64
		if p := s.pools.get(t.Pool); now.Pegged {
			then = now.USD
		} else if p != nil {
			then = p.Day.ReferenceUSD
		}
		if then != now.DayUSD {
			s.quotes.edit(q.asset).DayUSD = then
		}
	}
}

// UnpricedQuotes are the declared quote assets without a peg that no pool prices, and the pegged ones, in whose pools they are priced.
func (m *Machine) UnpricedQuotes(s *State) (unpriced, pegged []market.Address) {
	for _, q := range m.quotes {
		t := s.tokens.get(q.asset)
		switch {
		case q.peg > 0:
			pegged = append(pegged, q.asset)
		case t == nil || t.Pool.IsNone():
			unpriced = append(unpriced, q.asset)
		}
	}
	return unpriced, pegged
}

// ownPrice is what a quote asset's reference pool says in USD; 0 when there is none.
func (s *State) ownPrice(asset market.Address) float64 {
	t := s.tokens.get(asset)
	if t == nil || t.Pool.IsNone() {
		return 0
	}
	p := s.pools.get(t.Pool)
	if p == nil {
		return 0
	}
	return p.Price * s.usd(p.Quote)
}

// usd is a quote asset's USD price; 0 while unknown.
func (s *State) usd(asset market.Address) float64 {
	if q := s.quotes.get(asset); q != nil {
		return q.USD
	}
	return 0
}

// weight is a pool's depth in USD as far as it may price its base; 0 when it may not.
func (r *run) weight(p *market.Pool) float64 {
	if p.Untrusted != market.Trusted || p.Price <= 0 {
		return 0
	}
	weight := p.Depth * r.s.usd(p.Quote)
	if _, isQuote := r.quoteRank[p.Base]; isQuote {
		// A quote asset is priced by pegged ones alone, which keeps everything within two hops; and what everything is
		// counted in takes more than pocket money to move.
		if r.quotes[r.quoteRank[p.Quote]].peg == 0 || weight < quoteDepthUSD {
			return 0
		}
	}
	return weight
}

// chooseReference looks at which pool prices a token after its pools changed.
func (r *run) chooseReference(mint market.Address) {
	t := r.s.tokens.get(mint)
	if t == nil {
		return
	}
	var best market.Address
	var bestWeight, referenceWeight float64
	for _, id := range r.s.byBase[mint] {
		p := r.s.pools.get(id)
		if p == nil {
			continue
		}
		w := r.weight(p)
		if id == t.Pool {
			referenceWeight = w
		} else if w > bestWeight || (w == bestWeight && id.Compare(best) < 0) {
			best, bestWeight = id, w
		}
	}
	decided, least := r.launchReference(t)
	if decided {
		return
	}
	if bestWeight < least {
		bestWeight = 0
	}
	switch {
	case t.Pool.IsNone() && least == 0:
		if bestWeight > 0 {
			r.s.tokens.edit(mint).Pool = best
		}
	case bestWeight > 0 && bestWeight >= referenceRatio*referenceWeight:
		if t.Candidate != best {
			t = r.s.tokens.edit(mint)
			t.Candidate, t.CandidateSince, t.CandidateAt = best, r.b.Number, r.b.Time
			r.s.pending[mint] = dueOf(t)
		} else if r.s.pending[mint].passed(r.b.Number, r.b.Time) {
			r.adopt(r.s, mint)
		}
	case !t.Candidate.IsNone():
		t = r.s.tokens.edit(mint)
		noCandidate(t)
		delete(r.s.pending, mint)
	}
}

// adopt makes a token's candidate its reference pool.
func (m *Machine) adopt(s *State, mint market.Address) {
	t := s.tokens.edit(mint)
	t.Pool = t.Candidate
	noCandidate(t)
	delete(s.pending, mint)
}

func noCandidate(t *market.Token) {
	t.Candidate, t.CandidateSince, t.CandidateAt = market.Address{}, 0, 0
}

// due is the first block, and the first time, at which a token's candidate becomes its reference pool.
type due struct {
	block uint64
	time  int64
}

func dueOf(t *market.Token) due {
	return due{t.CandidateSince + referenceBlocks, t.CandidateAt + referenceSeconds}
}

func (d due) passed(block uint64, time int64) bool { return block >= d.block && time >= d.time }
