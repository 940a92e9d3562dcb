package derive

import (
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/price"
)

// Launched reports whether a venue has launched the token. The token's launch, or its absence, must be cached.
func (s *State) Launched(mint market.Address) bool {
	return s.launches.get(mint) != nil || s.announced[mint]
}

// claim takes in that a launch of the token names the contract as its curve's. Two claims of one contract cancel each other.
func (m *Machine) claim(s *State, mint, curve market.Address) {
	if !m.mayBeOwn(curve) {
		return
	}
	s.ownCurves = true
	held := s.curves.get(curve)
	switch {
	case held == nil:
		*s.curves.edit(curve) = mint
	case *held != mint:
		*s.curves.edit(curve) = market.Address{}
	}
}

// mayBeOwn reports whether a contract can hold a single token's curve: the contracts that venues declare hold many.
func (m *Machine) mayBeOwn(contract market.Address) bool {
	return !contract.IsNone() && !m.venueContracts[contract]
}

// launchOf is the launched token that an event is about.
func (s *State) launchOf(e market.Event) (mint market.Address, ok bool) {
	venue, curve, mint := curveOf(e)
	if venue != "" {
		return mint, s.Launched(mint)
	}
	if held := s.curves.get(curve); held != nil {
		mint = *held
	}
	return mint, !mint.IsNone()
}

// curveOf is what a launch event says that it is about: a token of a venue or, without a venue, a curve. All are zero for
// other events.
func curveOf(e market.Event) (venue string, curve, mint market.Address) {
	switch e := e.(type) {
	case market.Launched:
		return e.Venue, e.Curve, e.Token
	case market.CurveTrade:
		return e.Venue, e.Curve, e.Token
	case market.CurveSet:
		return e.Venue, e.Curve, e.Token
	case market.CurveCompleted:
		return e.Venue, e.Curve, e.Token
	case market.Graduated:
		return e.Venue, e.Curve, e.Token
	default:
		return "", curve, mint
	}
}

// announce prepares for the tokens that the block launches, before any of its transfers: their balances are followed from
// the first one on.
func (r *run) announce() {
	for i := range r.b.Txs {
		for _, l := range r.b.Txs[i].Logs {
			e, ok := l.Event.(market.Launched)
			if !ok || r.s.Launched(e.Token) || r.isQuote(e.Token) {
				continue
			}
			r.s.announced[e.Token] = true
			r.claim(r.s, e.Token, e.Curve)
			if t := r.token(e.Token); t.Holders.Status == market.HoldersNone {
				r.follow(t)
				// Anybody can make a pool of a token before it is launched, when nobody kept its balances.
				for _, id := range r.s.pairs[e.Token] {
					r.excludeHolder(e.Token, id)
				}
			}
			if !e.Curve.IsNone() {
				r.excludeHolder(e.Token, e.Curve)
			}
		}
	}
}

// launches takes the tokens in that a transaction launches, before anything else of it: a curve may log its first trade ahead
// of its venue.
func (r *run) launches(tx *market.Tx) {
	for i := range tx.Logs {
		if e, ok := tx.Logs[i].Event.(market.Launched); ok {
			r.launch(tx, i, e)
		}
	}
}

// launchEvent books what a venue logged.
func (r *run) launchEvent(tx *market.Tx, i int) {
	switch e := tx.Logs[i].Event.(type) {
	case market.Launched:
		r.findLivePool(tx, i, e.Token)
	case market.CurveTrade:
		r.curveTrade(tx, i, e)
	case market.CurveSet:
		if l := r.onCurve(e, e.Venue, e.Curve); l != nil {
			r.setCurve(l, e)
			if e.Tells != 0 {
				r.told[l.Mint] = told{tx, e.State, e.Tells}
			}
		}
	case market.CurveCompleted:
		if l := r.onCurve(e, e.Venue, e.Curve); l != nil {
			r.complete(l)
		}
	case market.Graduated:
		if l := r.onCurve(e, e.Venue, e.Curve); l != nil {
			r.graduate(tx, i, l, e)
		} else if mint, ok := r.s.launchOf(e); ok {
			r.namePool(tx, mint, e)
		}
	}
}

// told is what a curve's own log told of its state, with the transaction: a trade of the same one is in it already, though
// its log may come later.
type told struct {
	tx    *market.Tx
	state market.CurveReserves
	tells market.CurveField
}

// onCurve is the launch that a curve's event is about, for changing; nil when the contract has no say in it, or no longer.
func (r *run) onCurve(e market.Event, venue string, curve market.Address) *market.Launch {
	mint, ok := r.s.launchOf(e)
	if !ok {
		return nil
	}
	l := r.s.launches.get(mint)
	if l == nil || !l.OnCurve() || (venue == "" && l.Curve != curve) || (venue != "" && l.Venue != venue) {
		return nil
	}
	r.touch(market.CurveID(mint))
	return r.s.launches.edit(mint)
}

// launch takes a token in. A venue announces each once.
func (r *run) launch(tx *market.Tx, i int, e market.Launched) {
	if r.s.launches.get(e.Token) != nil || !r.s.Launched(e.Token) {
		return
	}
	l := r.s.launches.edit(e.Token)
	*l = market.Launch{
		Mint: e.Token, Venue: e.Venue, Creator: e.Creator, Name: e.Name, Symbol: e.Symbol, Metadata: e.Metadata, Image: e.Image,
		Block: r.b.Number, LogIndex: tx.Logs[i].Index, CreatedAt: r.b.Time, Tx: tx.ID,
		Curve: e.Curve, Rules: e.Rules, SaleBase: e.SaleBase, TargetQuote: e.TargetQuote, FeeBps: e.FeeBps,
		State: market.LaunchLive, Pool: e.Pool,
	}
	r.announced = append(r.announced, announced{e.Token, e.Hooks})
	r.placed = append(r.placed, e.Token)
	if e.Curve.IsNone() {
		return
	}
	l.State = market.LaunchOnCurve
	quote := e.Quote
	if quote.IsNone() {
		quote = r.taken[market.CurveKey{Curve: e.Curve, Token: e.Token}]
	}
	if !quote.IsNone() {
		l.Quote = r.Canonical(quote)
	}
	l.Begin(&e)
	r.opening[e.Token] = l.Reserves
}

// findLivePool finds the pool of a token without a curve whose launch, the i-th log, doesn't name it.
func (r *run) findLivePool(tx *market.Tx, i int, mint market.Address) {
	l := r.s.launches.get(mint)
	if l == nil || l.State != market.LaunchLive || !l.Pool.IsNone() || l.Block != r.b.Number || l.LogIndex != tx.Logs[i].Index {
		return
	}
	if pool := r.poolMade(tx, i, mint); !pool.IsNone() {
		r.s.launches.edit(mint).Pool = pool
	}
}

// setCurve takes parameters that the announcement left open. What a curve takes can't change once it was traded.
func (r *run) setCurve(l *market.Launch, e market.CurveSet) {
	if !e.Quote.IsNone() && !l.Traded {
		l.Quote = r.Canonical(e.Quote)
		if p := r.touch(market.CurveID(l.Mint)); p != nil { // since an earlier block
			p.Token1, p.Quote = l.Quote, l.Quote
		}
	}
	if !e.SaleBase.IsZero() {
		var sold market.Amount
		if _, under := sold.SubOverflow(&l.SaleBase, &l.Reserves.RealBase); under {
			sold.Clear()
		}
		l.SaleBase = e.SaleBase
		if _, under := l.Reserves.RealBase.SubOverflow(&l.SaleBase, &sold); under {
			l.Reserves.RealBase.Clear()
		}
	}
	if !e.TargetQuote.IsZero() {
		l.TargetQuote = e.TargetQuote
	}
	if e.FeeBps != 0 {
		l.FeeBps = e.FeeBps
	}
	l.Tell(e.State, e.Tells)
}

// curveTrade books a trade: the curve's state after it, and the trade itself.
func (r *run) curveTrade(tx *market.Tx, i int, e market.CurveTrade) {
	l := r.onCurve(e, e.Venue, e.Curve)
	if l == nil || e.BaseAmount.IsZero() {
		return
	}
	if !l.Traded && r.told[l.Mint].tx != tx { // what was told in the trade's own transaction has the trade in it
		r.opening[l.Mint] = l.Reserves
	}
	l.Book(&e)
	if t := r.told[l.Mint]; t.tx == tx {
		l.Tell(t.state, t.tells&^e.Tells) // what a trade's own log tells is newer than what was told before the first trade
	}
	if l.Rules.FillsUp && l.HasProgress && l.Progress >= 100 {
		r.complete(l)
	}
	p := r.curvePool(l)
	if p == nil || e.QuoteAmount.IsZero() || e.Buyback {
		return
	}
	r.swaps = append(r.swaps, market.Trade{
		Block: r.b.Number, LogIndex: tx.Logs[i].Index, Time: r.b.Time, Tx: tx.ID, Pool: p.ID, Base: l.Mint,
		Trader: r.curveTrader(tx, &e, l.Mint), Sell: e.Sell, BaseAmount: e.BaseAmount, QuoteAmount: e.QuoteAmount,
	})
}

// curveTrader is the account behind a trade with a curve: the one that the log names if its balance changed by it, else
// the one whose balance changed most, since routers are named too.
func (r *run) curveTrader(tx *market.Tx, e *market.CurveTrade, mint market.Address) market.Address {
	net := r.netChanges(tx, mint)
	if reallyChanged(net, e.Trader, e.Sell, &e.BaseAmount) {
		return e.Trader
	}
	if a, ok := r.largest(net, e.Sell); ok {
		return a
	}
	return e.Trader
}

func (r *run) complete(l *market.Launch) {
	if l.State == market.LaunchOnCurve {
		l.State, l.CompletedAt = market.LaunchCompleted, r.b.Time
	}
}

// graduate moves a token to its pool.
func (r *run) graduate(tx *market.Tx, i int, l *market.Launch, e market.Graduated) {
	r.complete(l)
	r.placed = append(r.placed, l.Mint)
	l.State, l.GraduatedAt, l.GraduatedTx, l.Pool = market.LaunchGraduated, r.b.Time, tx.ID, e.Pool
	named := !l.Pool.IsNone()
	if !named {
		l.Pool = r.poolMade(tx, i, l.Mint)
	}
	r.named[l.Mint] = named
	if named || r.makes(tx.Logs[:i], l.Pool) {
		r.vouched = append(r.vouched, vouched{l.Mint, l.Pool})
	}
}

// namePool takes the pool from a second log of the graduation that names it, by the contract that holds the curve. What the
// first one named stays, but for an address that a pool's id follows: that is the contract which holds the pool.
func (r *run) namePool(tx *market.Tx, mint market.Address, e market.Graduated) {
	l := r.s.launches.get(mint)
	if l == nil || l.Venue != e.Venue || l.State != market.LaunchGraduated || l.GraduatedTx != tx.ID || e.Pool.IsNone() {
		return
	}
	if !e.Curve.IsNone() && e.Curve != l.Curve {
		return
	}
	if r.named[mint] && (isID(l.Pool) || !isID(e.Pool)) {
		return
	}
	r.s.launches.edit(mint).Pool = e.Pool
	r.named[mint] = true
	r.placed = append(r.placed, mint)
	r.vouched = append(r.vouched, vouched{mint, e.Pool})
	r.touch(market.CurveID(mint))
}

// isID reports whether a pool has an id in a contract of many instead of an address of its own.
func isID(pool market.Address) bool { return len(pool.Bytes()) == market.PoolIDLen }

// makes reports whether one of the logs announces the making of a pool.
func (r *run) makes(logs []market.Log, pool market.Address) bool {
	return slices.ContainsFunc(logs, func(l market.Log) bool {
		c, ok := l.Event.(market.PoolCreated)
		return ok && c.Pool == pool && r.believes(c)
	})
}

// poolMade is the pool of a token that a transaction made or filled last before its i-th log, a venue's, or else first after
// it; none when it did neither. Whoever has the venue do it can deal with pools of his own in the same transaction, but not
// between what the venue does and what it logs of it.
func (r *run) poolMade(tx *market.Tx, i int, mint market.Address) market.Address {
	for k := i - 1; k >= 0; k-- {
		if id, ok := r.poolAt(tx.Logs[k].Event, mint); ok {
			return id
		}
	}
	for k := i + 1; k < len(tx.Logs); k++ {
		if id, ok := r.poolAt(tx.Logs[k].Event, mint); ok {
			return id
		}
	}
	return market.Address{}
}

// poolAt is the pool of a token that an event is about.
func (r *run) poolAt(e market.Event, mint market.Address) (id market.Address, ok bool) {
	if c, isNew := e.(market.PoolCreated); isNew {
		return c.Pool, r.believes(c) && (c.Token0 == mint || c.Token1 == mint)
	}
	id, ok = poolOf(e)
	p := r.s.pools.get(id)
	return id, ok && p != nil && p.Base == mint && p.Protocol != market.BondingCurve
}

// announced is a token that this block launched, with the hook that its venue vouches for.
type announced struct{ mint, hooks market.Address }

// vouched is a pool that a graduation's log names, or that its transaction made before that log: whoever has the venue do it
// has no say in between.
type vouched struct{ mint, pool market.Address }

// settleLaunches ends a block's launches and graduations: curves get their place among the pools, and the hook of a pool is as
// good as the venue that chose it.
func (r *run) settleLaunches() {
	for _, a := range r.announced {
		l := r.s.launches.get(a.mint)
		if !l.Curve.IsNone() {
			r.curvePool(r.s.launches.edit(a.mint))
			continue
		}
		if p := r.s.pools.get(l.Pool); p != nil && p.Untrusted == market.UntrustedHook && p.Hooks == a.hooks && p.Base == a.mint {
			r.touch(p.ID).Untrusted = market.Trusted
		}
	}
	for _, v := range r.vouched {
		p := r.s.pools.get(v.pool)
		if p != nil && p.Untrusted == market.UntrustedHook && p.Base == v.mint && r.s.launches.get(v.mint).Pool == v.pool {
			r.touch(p.ID).Untrusted = market.Trusted
		}
	}
	for _, mint := range r.placed { // a launch's own pool is listed as soon as the launch names it
		if p := r.s.pools.get(r.s.launches.get(mint).Pool); p != nil && p.Base == mint {
			r.touch(p.ID)
		}
	}
}

// curvePool is the curve's place among the pools, for changing; nil while what it takes is unknown or not declared.
func (r *run) curvePool(l *market.Launch) *market.Pool {
	id := market.CurveID(l.Mint)
	if r.s.pools.get(id) == nil {
		if !r.isQuote(l.Quote) {
			return nil
		}
		*r.s.pools.edit(id) = market.Pool{
			ID: id, Protocol: market.BondingCurve, Factory: l.Curve, Token0: l.Mint, Token1: l.Quote, FeePips: l.FeeBps * 100,
			CreatedBlock: l.Block, CreatedAt: l.CreatedAt, Base: l.Mint, Quote: l.Quote, BaseIs0: true,
		}
		r.token(l.Quote)
		r.s.byBase[l.Mint] = append(r.s.byBase[l.Mint], id)
	}
	return r.touch(id)
}

// openWindows gives the windows of curves and pools that open in the block the price that they open with, before any trade: what the first
// buys moved it to is no price from before them.
func (r *run) openWindows() {
	for _, id := range r.touched {
		p := r.s.pools.get(id)
		if p.Day.ReferenceUSD > 0 {
			continue
		}
		at := r.openingPrice(p)
		if usd := at * r.s.usd(p.Quote); usd > 0 {
			day := &r.s.pools.edit(id).Day
			day.ReferenceUSD, day.ReferenceQuote = usd, at
		}
	}
}

// openingPrice is the price in whole quotes at which a curve was launched, or a pool got its first liquidity, in this block; 0 else. Of a pool
// that was met later nobody knows whether the liquidity was the first.
func (r *run) openingPrice(p *market.Pool) float64 {
	base, quote := r.s.tokens.get(p.Base), r.s.tokens.get(p.Quote)
	if base == nil || quote == nil || !base.HasDecimals || !quote.HasDecimals {
		return 0
	}
	if p.Protocol == market.BondingCurve {
		c, ok := r.opening[p.Base]
		if !ok {
			return 0
		}
		return price.BondingCurveOf(r.s.launches.get(p.Base), &c, base.Decimals, quote.Decimals).Quote().Price
	}
	opened, ok := r.opened[p.ID]
	if !ok || p.CreatedBlock == 0 {
		return 0
	}
	r.reprice(&opened)
	return opened.Price
}

// launchReference prices a token by its curve while it has one, whatever pools others made, and from the block of its
// graduation on by the pool that it moved to, once that holds the funds. It reports whether the ordinary rule has nothing left
// to say, and, where it has, the least depth in USD that it takes: above 0 while the token is left without either.
func (r *run) launchReference(t *market.Token) (decided bool, least float64) {
	l := r.s.launches.get(t.Mint)
	if l == nil || l.Curve.IsNone() {
		return false, 0
	}
	curve := market.CurveID(t.Mint)
	next := t.Pool
	switch p := r.s.pools.get(curve); {
	case l.OnCurve() && p != nil && p.Price > 0:
		next = curve
	case !t.Pool.IsNone() && t.Pool != curve:
		return false, 0 // it has another pool since before its launch, or has one by now
	case !l.OnCurve():
		if own := r.s.pools.get(l.Pool); own == nil || own.Base != t.Mint || !r.funded(l, own) {
			return false, launchDepthUSD
		}
		next = l.Pool
	}
	if next != t.Pool || !t.Candidate.IsNone() {
		t = r.s.tokens.edit(t.Mint)
		t.Pool = next
		noCandidate(t)
		delete(r.s.pending, t.Mint)
	}
	return true, 0
}

// funded reports whether a pool is about as deep as what a curve has raised makes it. What a graduation doesn't name may be a
// thin pool of somebody who made it in the same transaction, where the venue's own can't be seen.
func (r *run) funded(l *market.Launch, p *market.Pool) bool {
	weight := r.weight(p)
	if !r.isQuote(l.Quote) {
		return weight >= launchDepthUSD
	}
	raised := 0.0
	if quote := r.s.tokens.get(l.Quote); quote != nil && quote.HasDecimals {
		raised = price.Whole(&l.Reserves.RealQuote, quote.Decimals)
	}
	return weight > 0 && weight >= movedShare*price.DepthOfRaised(raised)*r.s.usd(l.Quote)
}
