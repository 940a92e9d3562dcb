package derive_test

import (
	"testing"

	"github.com/boardwalkhq/boardwalk/indexer/derive"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// TestDecisiveChanges wants those changes named that one node's word isn't enough for.
func TestDecisiveChanges(t *testing.T) {
	t.Parallel()
	m := newIndexer(t, config(), 100_000).machine
	s := derive.NewState(market.Beginning{Last: genesis, Quotes: []market.QuotePrice{{Asset: weth, USD: 2000}}})
	quote := func(before, after market.QuotePrice) market.Changes {
		return market.Changes{Quotes: []market.Change[market.Address, market.QuotePrice]{{Before: &before, After: &after}}}
	}
	launch := func(before *market.Launch, after market.LaunchState) market.Changes {
		return market.Changes{Launches: []market.Change[market.Address, market.Launch]{{Before: before, After: &market.Launch{State: after}}}}
	}
	pool := func(before, after, lockedBefore, lockedAfter float64, why market.UntrustedReason) market.Changes {
		return market.Changes{Pools: []market.Change[market.Address, market.Pool]{{
			Before: &market.Pool{Quote: weth, Price: before, Locked: lockedBefore, Untrusted: why},
			After:  &market.Pool{Quote: weth, Price: after, Locked: lockedAfter, Untrusted: why},
		}}}
	}
	distrusted := func(before, after market.UntrustedReason) market.Changes {
		c := pool(1, 9, 6, 6, before)
		c.Pools[0].After.Untrusted = after
		return c
	}
	for name, tt := range map[string]struct {
		c    market.Changes
		want bool
	}{
		"nothing":                       {market.Changes{}, false},
		"a quote moves little":          {quote(market.QuotePrice{USD: 2000}, market.QuotePrice{USD: 2015}), false},
		"a quote moves":                 {quote(market.QuotePrice{USD: 2000}, market.QuotePrice{USD: 2025}), true},
		"a quote falls":                 {quote(market.QuotePrice{USD: 2000}, market.QuotePrice{USD: 1975}), true},
		"a quote's first price":         {quote(market.QuotePrice{}, market.QuotePrice{USD: 1975}), false},
		"a quote moves by just 1 %":     {quote(market.QuotePrice{USD: 100}, market.QuotePrice{USD: 101}), false},
		"a quote is worth nothing":      {quote(market.QuotePrice{USD: 100}, market.QuotePrice{}), true},
		"a token moves by just 20 %":    {pool(10, 12, 6, 6, market.Trusted), false},
		"a token of just 10,000 USD":    {pool(1, 9, 5, 5, market.Trusted), false},
		"a peg breaks":                  {quote(market.QuotePrice{USD: 1, Pegged: true}, market.QuotePrice{USD: 1}), true},
		"a launch completes":            {launch(&market.Launch{State: market.LaunchOnCurve}, market.LaunchCompleted), false},
		"a launch graduates":            {launch(&market.Launch{State: market.LaunchCompleted}, market.LaunchGraduated), true},
		"it is launched and graduates":  {launch(nil, market.LaunchGraduated), true},
		"it graduated before":           {launch(&market.Launch{State: market.LaunchGraduated}, market.LaunchGraduated), false},
		"a token moves":                 {pool(1, 1.3, 6, 6, market.Trusted), true},
		"a token falls":                 {pool(1, 0.7, 6, 6, market.Trusted), true},
		"a token moves little":          {pool(1, 1.15, 6, 6, market.Trusted), false},
		"a shallow token moves":         {pool(1, 9, 4, 4, market.Trusted), false},
		"a token's liquidity is gone":   {pool(1, 0, 6, 0, market.Trusted), true},
		"a pool that prices nothing":    {pool(1, 9, 6, 6, market.UntrustedFactory), false},
		"a price leaves its window":     {distrusted(market.Trusted, market.UntrustedTicks), true},
		"a pool prices from now on":     {distrusted(market.UntrustedTicks, market.Trusted), true},
		"a pool's first price":          {pool(0, 9, 0, 60, market.Trusted), false},
		"a token moves into deep water": {pool(1, 9, 1, 60, market.Trusted), true},
	} {
		if why := m.Decisive(s, &tt.c); (why != "") != tt.want {
			t.Errorf("%s: %q, want it decisive: %v", name, why, tt.want)
		}
	}
}
