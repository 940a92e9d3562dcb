package derive

import (
	"math"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/price"
)

// launchIndex knows every launched token of the chain, because any transfer or any contract may turn out to be one's.
type launchIndex struct {
	mints map[market.Address]bool
	// curves are the contracts that hold one token's curve alone, with that token; none where two claim the same, which then
	// speaks for neither.
	curves map[market.Address]market.Address
}

// KnowLaunch tells a new state of a launched token and of the contract that holds its curve (none for a live pool). All of
// them must be told before the first batch.
func (m *Machine) KnowLaunch(s *State, mint, curve market.Address) {
	s.launched.mints[mint] = true
	if curve.IsNone() || m.venueContracts[curve] {
		return
	}
	if other, claimed := s.launched.curves[curve]; claimed && other != mint {
		mint = market.Address{}
	}
	s.launched.curves[curve] = mint
}

// Launched reports whether a venue has launched the token.
func (s *State) Launched(mint market.Address) bool { return s.launched.mints[mint] }

// launchOf is the launched token that an event is about.
func (s *State) launchOf(e market.Event) (mint market.Address, ok bool) {
	venue, curve, mint := curveOf(e)
	if venue == "" {
		mint = s.launched.curves[curve]
		return mint, !mint.IsNone()
	}
	return mint, s.launched.mints[mint]
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
			r.KnowLaunch(r.s, e.Token, e.Curve)
			if t := r.token(e.Token); t.Holders.Status == market.HoldersNone {
				t.Holders.Status = market.HoldersIndexing
				// Anybody can make a pool of a token before it is launched, when nobody kept its balances.
				for _, id := range r.s.byBase[e.Token] {
					r.excludeHolder(e.Token, id)
				}
			}
			if !e.Curve.IsNone() {
				r.excludeHolder(e.Token, e.Curve)
			}
		}
	}
}

func (r *run) isQuote(mint market.Address) bool {
	_, ok := r.quoteRank[mint]
	return ok
}

// launchEvent books what a venue logged.
func (r *run) launchEvent(tx *market.Tx, i int) {
	switch e := tx.Logs[i].Event.(type) {
	case market.Launched:
		r.launch(tx, i, e)
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
		Block: r.b.Number, LogIndex: tx.Logs[i].Index, CreatedAt: r.b.Time, Tx: tx.Hash,
		Curve: e.Curve, Rules: e.Rules, SaleBase: e.SaleBase, TargetQuote: e.TargetQuote, FeeBps: e.FeeBps,
		State: market.LaunchLive, Pool: e.Pool,
	}
	r.announced = append(r.announced, announced{e.Token, e.Hooks})
	if e.Curve.IsNone() {
		if l.Pool.IsNone() {
			l.Pool = r.poolMade(tx, i, e.Token)
		}
		return
	}
	l.State = market.LaunchOnCurve
	if !e.Quote.IsNone() {
		l.Quote = r.Canonical(e.Quote)
	}
	l.Begin(&e)
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
	if l.Quote.IsNone() {
		l.Quote = r.paidIn(tx, l.Mint, &e)
	}
	l.Book(&e)
	if t := r.told[l.Mint]; t.tx == tx {
		l.Tell(t.state, t.tells&^e.Tells) // what a trade's own log tells is newer than what was told before the first trade
	}
	if l.Rules.FillsUp && l.HasProgress && l.Progress >= 100 {
		r.complete(l)
	}
	p := r.curvePool(l)
	if p == nil || e.QuoteAmount.IsZero() {
		return
	}
	r.swaps = append(r.swaps, market.Trade{
		Block: r.b.Number, LogIndex: tx.Logs[i].Index, Time: r.b.Time, Tx: tx.Hash, Pool: p.ID, Base: l.Mint,
		Trader: r.curveTrader(tx, &e, l.Mint), Sell: e.Sell, BaseAmount: e.BaseAmount, QuoteAmount: e.QuoteAmount,
	})
}

// paidIn is what a curve takes, as its first trade shows: the token other than its own that moved between the curve and
// somebody, and failing that the native coin, which leaves no transfer.
func (r *run) paidIn(tx *market.Tx, mint market.Address, e *market.CurveTrade) market.Address {
	found := r.wrapped
	for i := range tx.Logs {
		t, ok := tx.Logs[i].Event.(market.Transfer)
		if !ok || t.Token == mint || (t.To != e.Curve && t.From != e.Curve) {
			continue
		}
		if t.Amount == e.QuoteAmount || t.Amount == e.Raised {
			return r.Canonical(t.Token)
		}
		found = r.Canonical(t.Token)
	}
	return found
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
	l.State, l.GraduatedAt, l.GraduatedTx, l.Pool = market.LaunchGraduated, r.b.Time, tx.Hash, e.Pool
	if l.Pool.IsNone() {
		l.Pool = r.poolMade(tx, i, l.Mint)
	}
}

// namePool takes the pool from a second log of the graduation that names it.
func (r *run) namePool(tx *market.Tx, mint market.Address, e market.Graduated) {
	l := r.s.launches.get(mint)
	if l == nil || l.Venue != e.Venue || l.State != market.LaunchGraduated || l.GraduatedTx != tx.Hash || e.Pool.IsNone() {
		return
	}
	r.s.launches.edit(mint).Pool = e.Pool
	r.touch(market.CurveID(mint))
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

// settleLaunches ends a block's launches: curves get their place among the pools, and the hook of a live pool is as good
// as the venue that chose it.
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

// repriceCurve sets the figures of a curve's pool from the curve's state. Its depth is never above what it has raised, and
// its liquidity is twice that.
func (r *run) repriceCurve(p *market.Pool, baseDecimals, quoteDecimals uint8) {
	l := r.s.launches.get(p.Base)
	if l == nil {
		return
	}
	p.Reserve0, p.Reserve1 = l.Reserves.RealBase, l.Reserves.RealQuote
	raised := price.Whole(&l.Reserves.RealQuote, quoteDecimals)
	if l.Rules.Pricing == market.PriceReserves {
		p.Price, p.Depth, _ = price.ConstantProduct(price.Reserves{
			Base: price.Whole(&l.Reserves.VirtualBase, baseDecimals), Quote: price.Whole(&l.Reserves.VirtualQuote, quoteDecimals),
		})
		p.Depth = min(p.Depth, raised)
	} else {
		p.Price = l.Reserves.Price.Float64() / math.Pow10(int(l.Rules.Pricing.Decimals())+int(quoteDecimals)-int(baseDecimals))
		// Without the curve's own reserves nothing is known but that it holds what it raised.
		_, p.Depth, _ = price.ConstantProduct(price.Reserves{Base: 1, Quote: raised})
	}
	p.Locked = 2 * raised
	if !l.OnCurve() {
		p.Depth, p.Locked = 0, 0
	}
}

// launchReference prices a token by its curve while it has one, whatever pools others made, and by a pool from the block
// of its graduation on. It reports whether the ordinary rule has nothing left to say.
func (r *run) launchReference(t *market.Token, best market.Address) bool {
	l := r.s.launches.get(t.Mint)
	if l == nil || l.Curve.IsNone() {
		return false
	}
	curve := market.CurveID(t.Mint)
	next := t.Pool
	switch p := r.s.pools.get(curve); {
	case l.OnCurve() && p != nil && p.Price > 0:
		next = curve
	case l.OnCurve() || t.Pool != curve:
		return false
	default:
		if own := r.s.pools.get(l.Pool); own != nil && own.Base == t.Mint && r.weight(own) > 0 {
			next = l.Pool
		} else if !best.IsNone() {
			next = best
		}
	}
	if next != t.Pool || !t.Candidate.IsNone() {
		t = r.s.tokens.edit(t.Mint)
		t.Pool, t.Candidate, t.CandidateSince = next, market.Address{}, 0
		delete(r.s.pending, t.Mint)
	}
	return true
}
