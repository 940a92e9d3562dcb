// Package tokens answers what is asked of tokens: their figures and prices, lists of them, their candles, pairs, trust reports and cards.
package httpapi

import (
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/checker"
	"github.com/boardwalkhq/boardwalk/apiserver/read"
)

// TokenOptions are what the handlers work with.
type TokenOptions struct {
	Readers read.Readers
	Links   Links
	Cards   *Cards
	// Checker makes trust checks; nil is one that can't be reached.
	Checker checker.Checker
	Now     func() time.Time
}

// TokenHandlers answer the operations of tokens.
type TokenHandlers struct {
	TokenOptions

	live   bodies[int64]
	majors bodies[majorsKey]
	checks checks
}

// NewTokenHandlers makes the handlers.
func NewTokenHandlers(o TokenOptions) *TokenHandlers {
	return &TokenHandlers{TokenOptions: o, checks: newChecks(o.Checker)}
}

// Routes are the operations of tokens.
func (h *TokenHandlers) Routes() []Route {
	return []Route{
		{Operation: "getMarketLive", Handle: h.marketLive},
		{Operation: "getTokenPrices", Handle: h.prices},
		{Operation: "getMajors", Handle: h.majorsOrCandles},
		{Operation: "searchPairs", Handle: h.searchPairs},
		{Operation: "getTokenInfo", Handle: h.info},
		{Operation: "getTokenCandles", Handle: h.candles},
		{Operation: "getChart", Handle: h.chart},
		{Operation: "getTokenTrust", Handle: h.trust},
		{Operation: "getTokenCard", Handle: h.card},
	}
}
