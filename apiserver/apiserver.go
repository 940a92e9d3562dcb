// Package apiserver is the program that answers the public, from the rows that the indexers derived.
package apiserver

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/boardwalkhq/boardwalk/apiserver/httpapi"
	"github.com/boardwalkhq/boardwalk/apiserver/view"
	"github.com/boardwalkhq/boardwalk/internal/catalog"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/telemetry"
)

// drain is how long requests in flight may take when the server ends.
const drain = 5 * time.Second

// Options are a server's surroundings.
type Options struct {
	Store   *store.Store
	Catalog *catalog.Catalog
	Build   httpapi.Build
	DocsURL string
	Now     func() time.Time
	Log     *slog.Logger
	Metrics *httpapi.Metrics
}

// Server is the API server.
type Server struct {
	o       Options
	view    *view.View
	handler http.Handler
}

// New makes a server; Run starts it.
func New(o Options) (*Server, error) {
	v := view.New(o.Store, o.Catalog, o.Now, o.Log)
	c := httpapi.Config{
		Tokens: v, Series: v, Market: v, Health: v, Build: o.Build, DocsURL: o.DocsURL, Now: o.Now, Log: o.Log, Metrics: o.Metrics,
	}
	for _, chain := range o.Catalog.Chains {
		c.Chains = append(c.Chains, httpapi.Chain{ID: chain.ID, EVM: chain.Family == chainconfig.EVM})
	}
	h, err := httpapi.New(c)
	if err != nil {
		return nil, err
	}
	return &Server{o: o, view: v, handler: h}, nil
}

// Handler is the public handler.
func (s *Server) Handler() http.Handler { return s.handler }

// errNotReady means that the first snapshot hasn't been made.
var errNotReady = errors.New("the first snapshot is being made")

// Ready says why the server can't answer yet, or nil.
func (s *Server) Ready(ctx context.Context) error {
	if s.view.Live() == nil {
		return errNotReady
	}
	return s.o.Store.Ping(ctx)
}

// Refresh keeps the snapshots fresh until ctx ends.
func (s *Server) Refresh(ctx context.Context) { s.view.Run(ctx) }

// Run keeps the snapshots fresh and answers on l until ctx ends.
func (s *Server) Run(ctx context.Context, l net.Listener) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		s.Refresh(ctx)
		return nil
	})
	g.Go(func() error { return telemetry.Serve(ctx, l, s.handler, drain, s.o.Log) })
	return g.Wait()
}
