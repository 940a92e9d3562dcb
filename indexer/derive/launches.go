package derive

import (
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/price"
)

// Launched reports whether a venue has launched the token. The token's launch, or its absence, must be cached.
func (s *State) Launched(mint market.Address) bool {
	return s.launches.get(mint) != nil || s.announced[mint]
}

// creatorOf gives the account that launched a token, or none while the account isn't known.
func (s *State) creatorOf(mint market.Address) market.Address {
	if l := s.launches.get(mint); l != nil {
		return l.Creator
	}
	return market.Address{}
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

// curveOf finds the subject of a launch event: a token of a venue or, without a venue, a curve. All are zero for
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

// launches are the block's launches: their curves, and the pools that they begin in or move to.
type launches struct {
	*work
	tokens    *tokens
	pools     *pools
	trades    *trades
	announced []announced
	vouched   []vouched
	named     map[market.Address]bool // tokens with a graduation whose log names the pool
	placed    []market.Address        // tokens whose launch may have got a pool in the block
	told      map[market.Address]told
	// opening are the states of curves before their first trade, of those that were launched or first traded in the block.
	opening map[market.Address]market.CurveReserves
	// taken is what curves take, as their contracts answered.
	taken map[market.CurveKey]market.Address
}

// announce prepares for the tokens that the block launches, before any of its transfers: their balances are followed from
// the first one on.
func (ls *launches) announce() {
	for i := range ls.b.Txs {
		for _, l := range ls.b.Txs[i].Logs {
			e, ok := l.Event.(market.Launched)
			if !ok || ls.s.Launched(e.Token) || ls.isQuote(e.Token) {
				continue
			}
			ls.s.announced[e.Token] = true
			ls.claim(ls.s, e.Token, e.Curve)
			if t := ls.tokens.token(e.Token); t.Holders.Status == market.HoldersNone {
				ls.tokens.follow(t)
				// Anybody can make a pool of a token before it is launched, when nobody kept its balances.
				for _, id := range ls.s.pairs[e.Token] {
					ls.tokens.mark(e.Token, id)
				}
			}
			if !e.Curve.IsNone() {
				ls.tokens.mark(e.Token, e.Curve)
			}
		}
	}
}

// take takes the tokens in that a transaction launches, before anything else of it: a curve may log its first trade ahead
// of its venue.
func (ls *launches) take(tx *market.Tx) {
	for i := range tx.Logs {
		if e, ok := tx.Logs[i].Event.(market.Launched); ok {
			ls.launch(tx, i, e)
		}
	}
}

// event books what a venue logged.
func (ls *launches) event(tx *market.Tx, i int) {
	switch e := tx.Logs[i].Event.(type) {
	case market.Launched:
		ls.findLivePool(tx, i, e.Token)
	case market.CurveTrade:
		ls.curveTrade(tx, i, e)
	case market.CurveSet:
		if l := ls.onCurve(e, e.Venue, e.Curve); l != nil {
			ls.setCurve(l, e)
			if e.Tells != 0 {
				ls.told[l.Mint] = told{tx, e.State, e.Tells}
			}
		}
	case market.CurveCompleted:
		if l := ls.onCurve(e, e.Venue, e.Curve); l != nil {
			ls.complete(l)
		}
	case market.Graduated:
		if l := ls.onCurve(e, e.Venue, e.Curve); l != nil {
			ls.graduate(tx, i, l, e)
		} else if mint, ok := ls.s.launchOf(e); ok {
			ls.namePool(tx, mint, e)
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
func (ls *launches) onCurve(e market.Event, venue string, curve market.Address) *market.Launch {
	mint, ok := ls.s.launchOf(e)
	if !ok {
		return nil
	}
	l := ls.s.launches.get(mint)
	if l == nil || !l.OnCurve() || (venue == "" && l.Curve != curve) || (venue != "" && l.Venue != venue) {
		return nil
	}
	ls.pools.touch(market.CurveID(mint))
	return ls.s.launches.edit(mint)
}

// launch takes a token in. A venue announces each once.
func (ls *launches) launch(tx *market.Tx, i int, e market.Launched) {
	if ls.s.launches.get(e.Token) != nil || !ls.s.Launched(e.Token) {
		return
	}
	l := ls.s.launches.edit(e.Token)
	*l = market.Launch{
		Mint: e.Token, Venue: e.Venue, Creator: e.Creator, Name: e.Name, Symbol: e.Symbol, Metadata: e.Metadata, Image: e.Image,
		Block: ls.b.Number, LogIndex: tx.Logs[i].Index, CreatedAt: ls.b.Time, Tx: tx.ID,
		Curve: e.Curve, Rules: e.Rules, SaleBase: e.SaleBase, TargetQuote: e.TargetQuote, FeeBps: e.FeeBps,
		State: market.LaunchLive, Pool: e.Pool, Unvalued: true,
	}
	ls.announced = append(ls.announced, announced{e.Token, e.Hooks})
	ls.placed = append(ls.placed, e.Token)
	if e.Curve.IsNone() {
		return
	}
	l.State = market.LaunchOnCurve
	quote := e.Quote
	if quote.IsNone() {
		quote = ls.taken[market.CurveKey{Curve: e.Curve, Token: e.Token}]
	}
	if !quote.IsNone() {
		l.Quote = ls.Canonical(quote)
	}
	l.Begin(&e)
	ls.opening[e.Token] = l.Reserves
}

// setCurve takes parameters that the announcement left open. What a curve takes can't change once it was traded.
func (ls *launches) setCurve(l *market.Launch, e market.CurveSet) {
	if !e.Quote.IsNone() && !l.Traded {
		l.Quote = ls.Canonical(e.Quote)
		if p := ls.pools.touch(market.CurveID(l.Mint)); p != nil { // since an earlier block
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
func (ls *launches) curveTrade(tx *market.Tx, i int, e market.CurveTrade) {
	l := ls.onCurve(e, e.Venue, e.Curve)
	if l == nil || e.BaseAmount.IsZero() {
		return
	}
	if !l.Traded && ls.told[l.Mint].tx != tx { // what was told in the trade's own transaction has the trade in it
		ls.opening[l.Mint] = l.Reserves
	}
	l.Book(&e)
	if t := ls.told[l.Mint]; t.tx == tx {
		l.Tell(t.state, t.tells&^e.Tells) // what a trade's own log tells is newer than what was told before the first trade
	}
	if l.Rules.FillsUp && l.HasProgress && l.Progress >= 100 {
		ls.complete(l)
	}
	p := ls.curvePool(l)
	if p == nil || e.QuoteAmount.IsZero() || e.Buyback {
		return
	}
	ls.trades.swaps = append(ls.trades.swaps, market.Trade{
		Block: ls.b.Number, LogIndex: tx.Logs[i].Index, Time: ls.b.Time, Tx: tx.ID, Pool: p.ID, Base: l.Mint,
		Trader: ls.curveTrader(tx, &e, l.Mint), Sell: e.Sell, BaseAmount: e.BaseAmount, QuoteAmount: e.QuoteAmount,
	})
}

// curveTrader is the account behind a trade with a curve: the one that the log names if its balance changed by it, else
// the one whose balance changed most, since routers are named too.
func (ls *launches) curveTrader(tx *market.Tx, e *market.CurveTrade, mint market.Address) market.Address {
	net := ls.trades.netChanges(tx, mint)
	if net.Shows(e.Trader, e.Sell, &e.BaseAmount) {
		return e.Trader
	}
	if a, ok := net.Largest(e.Sell); ok {
		return a
	}
	return e.Trader
}

func (ls *launches) complete(l *market.Launch) {
	if l.State == market.LaunchOnCurve {
		l.State, l.CompletedAt = market.LaunchCompleted, ls.b.Time
	}
}

// announced is a token that this block launched, with the hook that its venue vouches for.
type announced struct{ mint, hooks market.Address }

// vouched is a pool that a graduation's log names, or that its transaction made before that log: whoever has the venue do it
// has no say in between.
type vouched struct{ mint, pool market.Address }

// settle ends a block's launches and graduations: curves get their place among the pools, and the hook of a pool is as
// good as the venue that chose it.
func (ls *launches) settle() {
	for _, a := range ls.announced {
		l := ls.s.launches.get(a.mint)
		if !l.Curve.IsNone() {
			ls.curvePool(ls.s.launches.edit(a.mint))
			continue
		}
		if p := ls.s.pools.get(l.Pool); p != nil && p.Untrusted == market.UntrustedHook && p.Hooks == a.hooks && p.Base == a.mint {
			ls.pools.touch(p.ID).Untrusted = market.Trusted
		}
	}
	for _, v := range ls.vouched {
		p := ls.s.pools.get(v.pool)
		if p != nil && p.Untrusted == market.UntrustedHook && p.Base == v.mint && ls.s.launches.get(v.mint).Pool == v.pool {
			ls.pools.touch(p.ID).Untrusted = market.Trusted
		}
	}
	for _, mint := range ls.placed { // a launch's own pool is listed as soon as the launch names it
		if p := ls.s.pools.get(ls.s.launches.get(mint).Pool); p != nil && p.Base == mint {
			ls.pools.touch(p.ID)
		}
	}
}

// curvePool is the curve's place among the pools, for changing; nil while what it takes is unknown or not declared.
func (ls *launches) curvePool(l *market.Launch) *market.Pool {
	id := market.CurveID(l.Mint)
	if ls.s.pools.get(id) == nil {
		if !ls.isQuote(l.Quote) {
			return nil
		}
		*ls.s.pools.edit(id) = market.Pool{
			ID: id, Protocol: market.BondingCurve, Factory: l.Curve, Token0: l.Mint, Token1: l.Quote, FeePips: l.FeeBps * 100,
			CreatedBlock: l.Block, CreatedAt: l.CreatedAt, Base: l.Mint, Quote: l.Quote, BaseIs0: true,
		}
		ls.tokens.token(l.Quote)
		ls.s.byBase[l.Mint] = append(ls.s.byBase[l.Mint], id)
	}
	return ls.pools.touch(id)
}

// openWindows gives the windows of curves and pools that open in the block the price that they open with, before any trade: what the first
// buys moved it to is no price from before them.
func (ls *launches) openWindows() {
	for _, id := range ls.pools.touched {
		p := ls.s.pools.get(id)
		if p.Day.ReferenceUSD > 0 {
			continue
		}
		at := ls.openingPrice(p)
		if usd := at * ls.s.usd(p.Quote); usd > 0 {
			day := &ls.s.pools.edit(id).Day
			day.ReferenceUSD, day.ReferenceQuote = usd, at
		}
	}
}

// openingPrice is the price in whole quotes at which a curve was launched, or a pool got its first liquidity, in this block; 0 else. Of a pool
// that was met later nobody knows whether the liquidity was the first.
func (ls *launches) openingPrice(p *market.Pool) float64 {
	base, quote := ls.s.tokens.get(p.Base), ls.s.tokens.get(p.Quote)
	if base == nil || quote == nil || !base.HasDecimals || !quote.HasDecimals {
		return 0
	}
	if p.Protocol == market.BondingCurve {
		c, ok := ls.opening[p.Base]
		if !ok {
			return 0
		}
		return price.BondingCurveOf(ls.s.launches.get(p.Base), &c, base.Decimals, quote.Decimals).Quote().Price
	}
	opened, ok := ls.pools.opened[p.ID]
	if !ok || p.CreatedBlock == 0 {
		return 0
	}
	ls.pools.reprice(&opened)
	return opened.Price
}
