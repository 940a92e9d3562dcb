package derive

import "github.com/boardwalkhq/boardwalk/internal/market"

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

// ownPrice is a quote asset's price in USD by its own reference pool; 0 if it has none.
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
