// Package httpapi is the public HTTP API: the route table, what every answer has in common, and one file per resource.
// It reads through the interfaces of this file and knows no database.
package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/view"
	"github.com/boardwalkhq/boardwalk/internal/candle"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// TokenReader finds tokens.
type TokenReader interface {
	// Tokens lists the tokens at an address on all chains, the one with the deepest liquidity first.
	Tokens(ctx context.Context, mint market.Address) ([]view.Token, error)
}

// SeriesReader makes series of a pool's prices.
type SeriesReader interface {
	Bars(ctx context.Context, chain string, pool market.Address, w candle.Width, from, to int64, in candle.Currency) (
		bars []candle.Bar, before float64, err error)
	FirstCandle(ctx context.Context, chain string, pool market.Address) (open int64, ok bool, err error)
}

// LiveReader has the live list; nil before the first.
type LiveReader interface{ Live() *view.Live }

// HealthReader tells how chains are doing.
type HealthReader interface {
	Health(ctx context.Context) ([]view.ChainHealth, error)
}

// Chain is a declared chain as far as parameters go.
type Chain struct {
	ID  string
	EVM bool
}

// Build is what is running.
type Build struct {
	// Commit is 40 hexadecimal digits; zeros when the build doesn't know.
	Commit string
	Built  time.Time // zero when the build doesn't know
}

// Config is an API's surroundings.
type Config struct {
	Tokens TokenReader
	Series SeriesReader
	Market LiveReader
	Health HealthReader
	Chains []Chain // in the order in which they are declared
	Build  Build
	// DocsURL is the address of the documentation site, without a slash at its end.
	DocsURL string
	Now     func() time.Time
	Log     *slog.Logger
	Metrics *Metrics
}

// API answers the public.
type API struct {
	Config
	openAPI   document
	live      liveBodies
	latencies latencies
}

// New makes the handler.
func New(c Config) (http.Handler, error) {
	a := &API{Config: c}
	if err := a.openAPI.load(c.Build.short()); err != nil {
		return nil, err
	}
	return a.handler()
}

// short is the commit's first ten digits.
func (b Build) short() string { return b.Commit[:min(10, len(b.Commit))] }
