// Package apiserver is the program that answers the public, from the rows that the indexers derived.
package apiserver

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/boardwalkhq/boardwalk/apiserver/cards"
	"github.com/boardwalkhq/boardwalk/apiserver/checker"
	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/docs"
	"github.com/boardwalkhq/boardwalk/apiserver/limit"
	"github.com/boardwalkhq/boardwalk/apiserver/read"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/apiserver/site"
	"github.com/boardwalkhq/boardwalk/internal/board"
	"github.com/boardwalkhq/boardwalk/internal/catalog"
	"github.com/boardwalkhq/boardwalk/internal/keyfile"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/telemetry"
)

const (
	// drain is how long requests in flight may take when the server ends.
	drain = 5 * time.Second
	// inFlightPerCore bounds the requests that read the database at once. Each takes a few milliseconds of a core, here or in the
	// database, so that those admitted are answered within a few tens of them.
	inFlightPerCore = 16
	// maxConnections is the default of Options.MaxConnections.
	maxConnections = 8192
)

// Options are what a server reads, and the settings by which it answers.
type Options struct {
	Store *store.Store
	// Catalog is what is declared. Answers follow it at once.
	Catalog *catalog.Live
	Site    *site.Site
	Build   serve.Build
	// BaseURL is where the public reaches the service, DocsURL where it finds the documentation: by default /docs, which
	// the server answers itself.
	BaseURL, DocsURL string
	// TrustedProxies are the peers whose X-Forwarded-For counts.
	TrustedProxies []netip.Prefix
	// Keys are the builder keys that are known; nil is none.
	Keys    *keyfile.File
	Limiter limit.Limiter
	// Cards has cards drawn; nil is a service that draws none.
	Cards *cards.Service
	// Checker makes trust checks; without one the last stored reports are answered.
	Checker checker.Checker
	// MaxInFlight bounds the requests that read the database at once; 0 is a default by the number of cores.
	MaxInFlight int
	// MaxConnections bounds the open connections; 0 is 8,192, which take some 160 MB when all are idle.
	MaxConnections int
	// MaxEventStreams bounds the open streams of events; 0 is 5,000.
	MaxEventStreams int
	// BehindCache is for a service behind a cache that clients share: RateLimit, one client's, is left off what that may keep.
	BehindCache bool
	AccessLog   bool
	Now         func() time.Time
	Log         *slog.Logger
	Metrics     *serve.Metrics
}

// Server is the API server.
type Server struct {
	o       Options
	view    *read.View
	handler http.Handler
	// runStreams makes events and writes them to open streams, until its context ends.
	runStreams func(context.Context)
	ready      atomic.Bool
}

// New makes a server; Run starts it.
func New(o Options) (*Server, error) {
	v := read.New(o.Store, o.Catalog, o.Site.LaunchGate(), o.Now, o.Log)
	if o.DocsURL == "" {
		o.DocsURL = "/docs"
	}
	if strings.HasPrefix(o.DocsURL, "/") { // the types of problems are addresses, as apps need them
		o.DocsURL = o.BaseURL + o.DocsURL
	}
	if o.MaxInFlight == 0 {
		o.MaxInFlight = inFlightPerCore * runtime.GOMAXPROCS(0)
	}
	o.MaxConnections = cmp.Or(o.MaxConnections, maxConnections)
	pages, err := documentation(o)
	if err != nil {
		return nil, err
	}
	h, runStreams, err := newHandler(&o, v.Readers(), pages)
	if err != nil {
		return nil, err
	}
	return &Server{o: o, view: v, handler: h, runStreams: runStreams}, nil
}

// documentation makes the pages below /docs.
func documentation(o Options) (http.Handler, error) {
	types, err := contract.ProblemTypes()
	if err != nil {
		return nil, err
	}
	gate := o.Site.LaunchGate()
	c := docs.Config{BaseURL: o.BaseURL, DocsURL: o.DocsURL, Changelog: o.Site.Changelog, Gate: gateBounds(&gate)}
	for _, t := range types {
		p := docs.Problem{Slug: t.Slug, Status: t.Status, Title: t.Title, When: t.When, Do: t.Do, Type: t.Type, Example: t.Example}
		for _, m := range t.Members {
			p.Members = append(p.Members, docs.Member{Name: m.Name, Meaning: m.Meaning})
		}
		c.Problems = append(c.Problems, p)
	}
	return docs.New(c)
}

// gateBounds are the bounds of the quality bar, by the names that answers have for them.
func gateBounds(g *board.Gate) []docs.Bound {
	number := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	whole := func(v int64) string { return strconv.FormatInt(v, 10) }
	out := []docs.Bound{{Field: "liquidity_usd_min", Value: number(g.LiquidityUSDMin), Meaning: "of tokens in a pool"}}
	for _, chain := range slices.Sorted(maps.Keys(g.LiquidityUSDMinByChain)) {
		out = append(out, docs.Bound{
			Field: "liquidity_usd_min_by_chain." + chain, Value: number(g.LiquidityUSDMinByChain[chain]), Meaning: "the same on `" + chain + "`",
		})
	}
	return append(
		out,
		docs.Bound{Field: "volume_24h_usd_min", Value: number(g.Volume24hUSDMin), Meaning: "of all tokens"},
		docs.Bound{Field: "age_s_min", Value: whole(g.AgeSMin), Meaning: "of all tokens, in seconds"},
		docs.Bound{Field: "age_s_max", Value: whole(g.AgeSMax), Meaning: "of all tokens, in seconds"},
		docs.Bound{Field: "holders_min", Value: whole(g.HoldersMin), Meaning: "of all tokens"},
		docs.Bound{Field: "curve.progress_pct_min", Value: number(g.ProgressPctMin), Meaning: "of tokens on a curve"},
		docs.Bound{Field: "curve.buyers_1h_min", Value: whole(g.Buyers1hMin), Meaning: "of tokens on a curve: distinct wallets of the last hour"},
	)
}

// Handler is the public handler.
func (s *Server) Handler() http.Handler { return s.handler }

// Ready says why the server can't answer yet, or nil. Once it could it stays ready, whatever becomes of the database: what is
// hot and what was asked before is still answered, which nobody would get if every server withdrew at once.
func (s *Server) Ready(ctx context.Context) error {
	if s.ready.Load() {
		return nil
	}
	if err := s.view.Ready(); err != nil {
		return err
	}
	if err := s.o.Store.Ping(ctx); err != nil {
		return err
	}
	s.ready.Store(true)
	return nil
}

// Lists reports whether the live list and the launch board have what a chain's blocks up to a number made.
func (s *Server) Lists(chain string, block uint64) bool {
	listed, ok := s.view.Snapshot().ListedBlock(chain)
	return ok && listed >= block
}

// Refresh keeps snapshots and keys fresh, and writes to open streams, until ctx ends.
func (s *Server) Refresh(ctx context.Context) {
	var g errgroup.Group
	if s.o.Keys != nil {
		g.Go(func() error {
			s.o.Keys.Run(ctx)
			return nil
		})
	}
	g.Go(func() error {
		s.runStreams(ctx)
		return nil
	})
	s.view.Run(ctx)
	_ = g.Wait()
}

// Run keeps the snapshots fresh and answers on l until ctx ends.
func (s *Server) Run(ctx context.Context, l net.Listener) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		s.Refresh(ctx)
		return nil
	})
	g.Go(func() error {
		return telemetry.Serve(ctx, serve.Listener(l, serve.ListenerOptions{
			DocsURL: s.o.DocsURL, MaxConnections: s.o.MaxConnections, Now: s.o.Now,
		}), s.handler, drain, s.o.Log)
	})
	return g.Wait()
}
