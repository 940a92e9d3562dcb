package derive

import (
	"math"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

const (
	// quoteMove and tokenMove are the shares by which a block may move the price of a quote asset, or of a token in a pool with
	// decisiveUSD of liquidity and more, without being decisive.
	quoteMove, tokenMove = 0.01, 0.2
	decisiveUSD          = 10_000
)

// Decisive gives the reason why a block's changes need a second endpoint: they move the price of a quote asset or of
// a token with liquidity, or graduate a launch. It is empty if one endpoint is enough. The state is that after the
// block.
func (m *Machine) Decisive(s *State, c *market.Changes) string {
	for i := range c.Quotes {
		q := &c.Quotes[i]
		if q.Before != nil && q.After != nil && (moves(q.Before.USD, q.After.USD, quoteMove) || q.Before.Pegged != q.After.Pegged) {
			return "move a quote asset's price"
		}
	}
	for i := range c.Launches {
		l := &c.Launches[i]
		if l.After != nil && l.After.State == market.LaunchGraduated && (l.Before == nil || l.Before.State != l.After.State) {
			return "graduate a launch"
		}
	}
	for i := range c.Pools {
		p := &c.Pools[i]
		if p.Before == nil || p.After == nil || p.Before.Untrusted != market.Trusted && p.After.Untrusted != market.Trusted || !moves(p.Before.Price, p.After.Price, tokenMove) {
			continue
		}
		if q := s.quotes.get(p.After.Quote); q != nil && max(p.Before.Locked, p.After.Locked)*q.USD > decisiveUSD {
			return "move a token's price"
		}
	}
	return ""
}

// moves reports whether a price, once it was known, changed by more than a share.
func moves(before, after, share float64) bool {
	return before > 0 && math.Abs(after-before) > share*before
}
