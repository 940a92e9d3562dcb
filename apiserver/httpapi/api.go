// Package httpapi is the public HTTP API: the route table, what every answer has in common, and one file per resource.
// It reads through the interfaces of this file and knows no database.
package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/caller"
	"github.com/boardwalkhq/boardwalk/apiserver/cards"
	"github.com/boardwalkhq/boardwalk/apiserver/checker"
	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/limit"
	"github.com/boardwalkhq/boardwalk/apiserver/site"
	"github.com/boardwalkhq/boardwalk/apiserver/view"
	"github.com/boardwalkhq/boardwalk/internal/candle"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/trust"
)

// TokenReader finds tokens.
type TokenReader interface {
	// Tokens lists the tokens at an address on all chains, declared or not, those with a launch record first, then by
	// liquidity, deepest first.
	Tokens(ctx context.Context, mint market.Address) ([]view.Token, error)
	// TokensAt is Tokens for several addresses.
	TokensAt(ctx context.Context, mints []market.Address) (map[market.Address][]view.Token, error)
	// Search finds pairs by a name, a ticker or an address on the chains of a catalogue.
	Search(ctx context.Context, in *view.Catalog, query string) (*view.Found, error)
}

// LaunchReader reads what is known of launches.
type LaunchReader interface {
	// LaunchesAt lists the launches of the tokens at an address on all chains, declared or not.
	LaunchesAt(ctx context.Context, mint market.Address) ([]view.LaunchNow, error)
	BesideLaunch(ctx context.Context, l *view.LaunchNow) (*view.Beside, error)
	// CardNow is the card of a launch; ok is false when its venue isn't declared.
	CardNow(kept *view.Board, in *view.Catalog, l *view.LaunchNow, t *view.Token, beside *view.Beside) (card view.Shown, ok bool)
	// LastReport is a token's stored trust report; ok is false when there is none.
	LastReport(ctx context.Context, chain string, mint market.Address) (r *trust.Report, ok bool, err error)
}

// SeriesReader makes series of a pool's prices.
type SeriesReader interface {
	// Bars are those in [from, to), and the newest one before; its close is 0 when there is none.
	Bars(ctx context.Context, chain string, pool market.Address, w candle.Width, from, to int64, in candle.Currency) (
		bars []candle.Bar, before candle.Bar, err error)
	FirstCandle(ctx context.Context, chain string, pool market.Address) (open int64, ok bool, err error)
}

// SnapshotReader has what is in memory: the catalogue and what is hot.
type SnapshotReader interface {
	Snapshot() *view.Snapshot
}

// ProfileReader reads what cards show beside the figures of other answers.
type ProfileReader interface {
	// Picture is a token's picture, a PNG; nil when there is none.
	Picture(ctx context.Context, chain string, mint market.Address) ([]byte, error)
	// WalletAt is what a wallet realised on some chains up to a moment (Unix seconds); nil without a trade on them.
	WalletAt(ctx context.Context, wallet market.Address, chains []string, now int64) (*view.Wallet, error)
}

// Build is what is running.
type Build struct {
	// Commit is 40 hexadecimal digits; zeros when the build doesn't know.
	Commit string
	Built  time.Time // zero when the build doesn't know
}

// Config is an API's surroundings.
type Config struct {
	Tokens    TokenReader
	Launches  LaunchReader
	Series    SeriesReader
	Snapshots SnapshotReader
	Profiles  ProfileReader
	// Cards has cards drawn; nil is a service that draws none.
	Cards *cards.Service
	// Checker makes trust checks; nil is one that can't be reached.
	Checker checker.Checker
	Site    *site.Site
	Build   Build
	// BaseURL and DocsURL are the addresses of the service and of its documentation, without a slash at their ends.
	BaseURL, DocsURL string
	// Docs answers below /docs.
	Docs http.Handler

	// Callers tells who asks, Limiter how often they may.
	Callers *caller.Resolver
	Limiter limit.Limiter
	// MaxInFlight bounds the reads of Tokens and Series that are under way at once; what comes on top is answered 503 without
	// waiting.
	MaxInFlight int
	// BehindCache leaves RateLimit off what a shared cache may keep.
	BehindCache bool
	// AccessLog writes a line for each answer.
	AccessLog bool

	Now     func() time.Time
	Log     *slog.Logger
	Metrics *Metrics
}

// API answers the public.
type API struct {
	Config

	started   time.Time
	openAPI   *answer
	declared  atomic.Pointer[declared]
	live      bodies[int64]
	majors    bodies[majorsKey]
	boards    bodies[boardKey]
	gate      contract.Gate
	checks    checks
	latencies latencies
	// pagePolicy is the Content-Security-Policy of share pages, peoplePolicy that of the front page and the status page.
	pagePolicy, peoplePolicy []string
}

// New makes the handler.
func New(c Config) (http.Handler, error) {
	admitted := &admission{
		tokens: c.Tokens, LaunchReader: c.Launches, series: c.Series, profiles: c.Profiles, places: make(chan struct{}, c.MaxInFlight),
		wallets: make(chan struct{}, walletPlaces(runtime.GOMAXPROCS(0))),
	}
	c.Tokens, c.Launches, c.Series, c.Profiles = admitted, admitted, admitted, admitted
	gate := c.Site.LaunchGate()
	a := &API{
		Config: c, started: c.Now(), gate: gateBody(&gate), pagePolicy: newPagePolicy(c.BaseURL, shareStyle),
		peoplePolicy: newPagePolicy(c.BaseURL, peopleStyle),
		checks:       checks{Checker: c.Checker, places: map[string]chan struct{}{}},
	}
	var err error
	if a.openAPI, err = document(c.Build.short()); err != nil {
		return nil, err
	}
	return a.handler()
}

// short is the commit's first ten digits.
func (b Build) short() string { return b.Commit[:min(10, len(b.Commit))] }
