package derive

import (
	"math"
	"math/big"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/price"
)

// pools are the block's pools: their states, and what these say of price, depth and liquidity.
type pools struct {
	*work
	tokens *tokens
	// touched are the pools whose state changed, in the order of their first change.
	touched   []market.Address
	isTouched map[market.Address]bool
	// opened are the states of pools with their first liquidity, of those that got it in the block.
	opened map[market.Address]market.Pool
	// ownTicks are the pools whose tick maps the block has copied.
	ownTicks map[market.Address]bool
}

// known starts to track a pool. complete says that its whole history lies in what is read, from creation on.
func (ps *pools) known(c market.PoolCreated, complete bool) {
	token0, token1 := ps.Canonical(c.Token0), ps.Canonical(c.Token1)
	if c.Protocol.HasAccount() {
		ps.tokens.mark(token0, c.Pool)
		ps.tokens.mark(token1, c.Pool)
	}
	if ps.s.pools.get(c.Pool) != nil || !ps.Tracked(token0, token1) {
		return
	}
	p := ps.s.pools.edit(c.Pool)
	*p = market.Pool{
		ID: c.Pool, Protocol: c.Protocol, Factory: c.Factory, Token0: c.Token0, Token1: c.Token1,
		FeePips: c.FeePips, TickSpacing: c.TickSpacing, Hooks: c.Hooks, Stable: c.Stable,
		SqrtPriceX96: c.SqrtPriceX96, Tick: c.Tick, Liquidity: c.Liquidity, Unlisted: true,
	}
	f := ps.factories[c.Factory]
	if p.FeePips == 0 {
		p.FeePips = f.feePips
	}
	if complete {
		p.CreatedBlock, p.CreatedAt = ps.b.Number, ps.b.Time
	}
	p.Base, p.Quote, p.BaseIs0 = token1, token0, false
	rank0, ok0 := ps.quoteRank[token0]
	rank1, ok1 := ps.quoteRank[token1]
	if !ok0 || (ok1 && rank1 < rank0) {
		p.Base, p.Quote, p.BaseIs0 = token0, token1, true
	}
	switch {
	case !ps.isHookDeclared(c.Factory, c.Hooks):
		p.Untrusted = market.UntrustedHook
	case c.Protocol.Concentrated() && !complete:
		p.Untrusted = market.UntrustedTicks
	}
	ps.tokens.token(p.Base)
	ps.tokens.token(p.Quote)
	if pairs, ok := ps.s.pairs[p.Base]; ok && p.Protocol.HasAccount() {
		ps.s.pairs[p.Base] = append(pairs, p.ID)
	}
	ps.touch(p.ID)
}

// asked takes in what a pool held before the block whose ticks aren't all known: from here on its events are enough, within the window of a state that
// has one. A later state of the pool takes the place of an earlier one, which may have been false, or have had another window.
func (ps *pools) asked(f market.PoolStateFact) {
	p := ps.touch(f.Pool)
	if p == nil || p.Protocol == market.BondingCurve || p.CreatedBlock > 0 && p.Untrusted != market.UntrustedTicks && p.Window.IsWhole() {
		return
	}
	if !p.Protocol.Concentrated() {
		p.Reserve0, p.Reserve1 = f.Reserve0, f.Reserve1
		return
	}
	ticks, err := market.UnmarshalTickMap([]byte(f.Ticks))
	if err != nil || len(ticks) > market.MaxTicks || !f.Window.Fits(ticks, f.Tick) {
		return
	}
	if l := ps.s.launches.get(p.Base); !ps.isHookDeclared(p.Factory, p.Hooks) && (l == nil || l.Pool != p.ID) {
		p.Untrusted = market.UntrustedHook // neither the declaration nor a venue vouches for it, and no state makes it a price
	}
	if p.Untrusted != market.UntrustedTicks && p.Untrusted != market.Trusted {
		return
	}
	p.SqrtPriceX96, p.Tick, p.Liquidity, p.Window, p.Untrusted = f.SqrtPriceX96, f.Tick, f.Liquidity, f.Window, market.Trusted
	*ps.s.ticks.edit(p.ID) = ticks
	ps.ownTicks[p.ID] = true
	ps.reprice(p) // trades count by what the pool holds before the block
}

// isHookDeclared reports whether a pool of a factory has no hook, or one that the chain document declares.
func (m *Machine) isHookDeclared(factory, hook market.Address) bool {
	f := m.factories[factory]
	return hook.IsNone() || f != nil && f.hooks[hook]
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

func (ps *pools) reserves(e market.Reserves) {
	p := ps.touch(e.Pool)
	if p == nil {
		return
	}
	first := p.Reserve0.IsZero() && p.Reserve1.IsZero()
	p.Reserve0, p.Reserve1 = e.Reserve0, e.Reserve1
	if e.TellsVirtual {
		p.Virtual1 = e.Virtual1
	}
	if first {
		ps.opened[e.Pool] = *p
	}
}

// reservesMoved changes reserves that are known: a pool that has both. Where less than nothing would be left, what was known was wrong.
func (ps *pools) reservesMoved(e market.ReservesMoved) {
	p := ps.s.pools.get(e.Pool)
	if p == nil || p.Reserve0.IsZero() || p.Reserve1.IsZero() {
		return
	}
	p = ps.touch(e.Pool)
	reserve0, reserve1 := market.SignedAmount{Abs: p.Reserve0}.Add(e.Change0), market.SignedAmount{Abs: p.Reserve1}.Add(e.Change1)
	if reserve0.Neg || reserve1.Neg {
		reserve0, reserve1 = market.SignedAmount{}, market.SignedAmount{}
	}
	p.Reserve0, p.Reserve1 = reserve0.Abs, reserve1.Abs
}

func (ps *pools) priced(e market.PoolPriced) {
	if p := ps.touch(e.Pool); p != nil {
		p.SqrtPriceX96, p.Tick = e.SqrtPriceX96, e.Tick
	}
}

func (ps *pools) rangeLiquidity(e market.RangeLiquidity) {
	p := ps.touch(e.Pool)
	if p == nil {
		return
	}
	ofTicks := p.Protocol.Concentrated()
	if ofTicks && p.Untrusted != market.UntrustedTicks {
		ps.changeTicks(p, e)
	}
	if ofTicks && e.TickLower <= p.Tick && p.Tick < e.TickUpper || !ofTicks && !p.Liquidity.IsZero() {
		sum := market.SignedAmount{Abs: p.Liquidity}.Add(e.Delta)
		if sum.Neg {
			// Less than nothing can only follow from history we never saw.
			if sum = (market.SignedAmount{}); ofTicks {
				ps.forgetTicks(p)
			}
		}
		p.Liquidity = sum.Abs
	}
}

// changeTicks books a change of liquidity in a pool's ticks, as far as it lies within their window. A pool that gets too many ticks keeps those near
// its price: a stranger who pays for ticks ends no pool's price.
func (ps *pools) changeTicks(p *market.Pool, e market.RangeLiquidity) {
	lower, upper := p.Window.Clip(e.TickLower, e.TickUpper)
	if lower >= upper {
		return
	}
	t := ps.s.ticks.edit(p.ID)
	if len(*t) == 0 {
		ps.opened[p.ID] = *p
	}
	if !ps.ownTicks[p.ID] { // others still have the map as it was before the block
		ps.ownTicks[p.ID] = true
		*t = t.Copy()
	}
	t.ChangeRange(lower, upper, e.Delta)
	if len(*t) > market.MaxTicks {
		*t, p.Window = t.Narrow(p.Window, p.Tick, market.MaxTicks/2)
	}
}

// leave forgets the ticks of a pool whose price has come so near to an end of their window at the block's close that 2 % aren't within it any more: the pool is
// asked anew before the next block with any event. One that came back within the block hasn't left, for the changes of liquidity within the window
// were booked all the while.
func (ps *pools) leave(p *market.Pool) {
	if p.Untrusted == market.Trusted && !p.Window.HasDepth(p.Tick) {
		ps.forgetTicks(p)
	}
}

// forgetTicks ends what is known of a pool's ticks: it prices nothing until it is asked for them. A pool of a hook that isn't declared stays one.
func (ps *pools) forgetTicks(p *market.Pool) {
	if p.Untrusted == market.Trusted {
		p.Untrusted = market.UntrustedTicks
	}
	p.Window = market.TickWindow{}
	ps.s.ticks.remove(p.ID)
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
func (ps *pools) reprice(p *market.Pool) {
	base, quote := ps.s.tokens.get(p.Base), ps.s.tokens.get(p.Quote)
	if base == nil || quote == nil || !base.HasDecimals || !quote.HasDecimals {
		p.Price, p.Depth, p.Locked = 0, 0, 0
		return
	}
	if state := ps.stateOf(p, base.Decimals, quote.Decimals); state != nil {
		q := state.Quote()
		p.Price, p.Depth, p.Locked = q.Price, q.Depth, q.Locked
	}
}

// count notes since when a pool has held the liquidity that counts for members.
func (ps *pools) count(p *market.Pool) {
	switch liquidity := p.Locked * ps.s.usd(p.Quote); {
	case p.Untrusted != market.Trusted || liquidity == 0 || liquidity < ps.countedUSD:
		p.CountsSince = 0
	case p.CountsSince == 0:
		p.CountsSince = ps.b.Time
	}
}

// stateOf is a pool's state by its kind; nil for a curve without a launch. It gives a pool of ranges and a curve their reserves, which no event
// tells.
func (ps *pools) stateOf(p *market.Pool, baseDecimals, quoteDecimals uint8) price.State {
	switch {
	case p.Protocol.Concentrated():
		c := price.Concentrated{
			SqrtPriceX96: &p.SqrtPriceX96, Liquidity: &p.Liquidity, Tick: p.Tick, BaseIs0: p.BaseIs0,
			BaseDecimals: baseDecimals, QuoteDecimals: quoteDecimals,
		}
		if t := ps.s.ticks.get(p.ID); t != nil {
			c.Ticks = *t
		}
		token0, token1 := c.Sides()
		p.Reserve0, p.Reserve1 = rawAmount(token0), rawAmount(token1)
		return c
	case p.Protocol == market.BondingCurve:
		l := ps.s.launches.get(p.Base)
		if l == nil {
			return nil
		}
		p.Reserve0, p.Reserve1 = l.Reserves.RealBase, l.Reserves.RealQuote
		return price.BondingCurveOf(l, &l.Reserves, baseDecimals, quoteDecimals)
	case p.Protocol == market.MeteoraDAMMv2:
		return price.OneRange{
			Reserves: price.ReservesOf(p, baseDecimals, quoteDecimals), SqrtPriceX96: &p.SqrtPriceX96, Liquidity: &p.Liquidity, BaseIs0: p.BaseIs0,
			BaseDecimals: baseDecimals, QuoteDecimals: quoteDecimals,
		}
	case p.Stable:
		return price.StableCurve{Reserves: price.ReservesOf(p, baseDecimals, quoteDecimals)}
	default:
		return price.ConstantProduct{Reserves: price.ReservesOf(p, baseDecimals, quoteDecimals)}
	}
}

// touch is the tracked pool for changing; nil for one that isn't tracked.
func (ps *pools) touch(id market.Address) *market.Pool {
	if ps.s.pools.get(id) == nil {
		return nil
	}
	if !ps.isTouched[id] {
		ps.isTouched[id] = true
		ps.touched = append(ps.touched, id)
	}
	return ps.s.pools.edit(id)
}

// hasLiquidity reports whether somebody could trade with the pool, at its price or at another one.
func (ps *pools) hasLiquidity(p *market.Pool) bool {
	if !p.Protocol.Concentrated() {
		return !p.Reserve0.IsZero() && !p.Reserve1.IsZero()
	}
	t := ps.s.ticks.get(p.ID)
	return !p.Liquidity.IsZero() || (t != nil && len(*t) > 0)
}
