// Package tokens has the operations about tokens: a token's figures, prices of several, the live list, majors, the search for pairs, candles,
// trust reports and cards.
package tokens

import (
	"log/slog"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/checker"
	"github.com/boardwalkhq/boardwalk/apiserver/read"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/apiserver/share"
	"github.com/boardwalkhq/boardwalk/apiserver/wire"
)

// Options are what the handlers work with.
type Options struct {
	Readers read.Readers
	Links   wire.Links
	Cards   *share.Cards
	// Checker makes trust checks; nil is one that can't be reached.
	Checker checker.Checker
	Now     func() time.Time
	Log     *slog.Logger
}

// Handlers answer the operations of tokens.
type Handlers struct {
	Options

	live   serve.Bodies[int64]
	majors serve.Bodies[majorsKey]
	checks checks
}

// New makes the handlers.
func New(o Options) *Handlers {
	return &Handlers{Options: o, checks: newChecks(o.Checker)}
}

// Routes are the operations of tokens.
func (h *Handlers) Routes() []serve.Route {
	return []serve.Route{
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
