package apiserver

import (
	"cmp"
	"context"
	"net/http"
	"runtime"
	"slices"
	"sync"

	"github.com/boardwalkhq/boardwalk/apiserver/caller"
	"github.com/boardwalkhq/boardwalk/apiserver/game"
	"github.com/boardwalkhq/boardwalk/apiserver/launches"
	"github.com/boardwalkhq/boardwalk/apiserver/pages"
	"github.com/boardwalkhq/boardwalk/apiserver/platform"
	"github.com/boardwalkhq/boardwalk/apiserver/read"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/apiserver/share"
	"github.com/boardwalkhq/boardwalk/apiserver/social"
	"github.com/boardwalkhq/boardwalk/apiserver/tokens"
	"github.com/boardwalkhq/boardwalk/apiserver/traders"
	"github.com/boardwalkhq/boardwalk/apiserver/wire"
)

// subjects are what the API answers with, each from the package that it is about.
type subjects struct {
	routes []serve.Route
	pages  *pages.Pages
	social *social.Handlers
}

// bigTradeUSD is the default of Site.BigTradeUSD.
const bigTradeUSD = 1_000

// newSubjects makes the handlers. They read through readers for a request, and through own for the stream's events, which are for no single request.
func newSubjects(o *Options, readers, own read.Readers, latencies *serve.Latencies) (*subjects, error) {
	links := wire.Links{Base: o.BaseURL, Docs: o.DocsURL}
	cards := &share.Cards{Service: o.Cards, Series: readers.Series, Pictures: readers.Profiles}
	service, err := platform.New(platform.Options{Links: links, Build: o.Build, Site: o.Site, Latencies: latencies, Now: o.Now})
	if err != nil {
		return nil, err
	}
	people := pages.New(pages.Options{
		Tokens: readers.Tokens, Heartbeat: service.Heartbeat, DrawsCards: o.Cards != nil, Links: links, Build: o.Build, Site: o.Site,
	})
	members := social.New(social.Options{
		Readers: readers, OwnReaders: own, Links: links, ProvedWalletsAlone: o.Site.ProvedWalletsAlone, BigTradeUSD: cmp.Or(o.Site.BigTradeUSD, bigTradeUSD), Now: o.Now, Log: o.Log,
	})
	return &subjects{pages: people, social: members, routes: slices.Concat(
		tokens.New(tokens.Options{Readers: readers, Links: links, Cards: cards, Checker: o.Checker, Now: o.Now, Log: o.Log}).Routes(),
		launches.New(launches.Options{Readers: readers, Links: links, Cards: cards, Gate: o.Site.LaunchGate()}).Routes(),
		traders.New(traders.Options{Readers: readers, Cards: cards}).Routes(),
		members.Routes(),
		(&game.Handlers{Now: o.Now}).Routes(),
		people.Routes(),
		service.Routes(),
	)}, nil
}

// newHandler makes the public handler. docs answers below /docs. runStreams makes events and writes them to open streams, until its context ends.
func newHandler(o *Options, readers read.Readers, docs http.Handler) (h http.Handler, runStreams func(context.Context), err error) {
	latencies := &serve.Latencies{}
	s, err := newSubjects(o, read.NewAdmission(o.MaxInFlight, runtime.GOMAXPROCS(0)).Readers(readers), readers, latencies)
	if err != nil {
		return nil, nil, err
	}
	streams := serve.NewEventStreams(serve.EventStreamsOptions{Max: o.MaxEventStreams, Now: o.Now, Log: o.Log, Metrics: o.Metrics})
	h, err = serve.New(serve.Config{
		Routes: s.routes, Pages: s.pages.Undocumented(), ErrorPage: s.pages.Problem, DocsURL: o.DocsURL, Docs: docs,
		Snapshots: readers.Snapshots, Callers: caller.NewResolver(o.TrustedProxies, o.Keys), Limiter: o.Limiter, BehindCache: o.BehindCache,
		EventStreams: streams, AccessLog: o.AccessLog, Latencies: latencies, Now: o.Now, Log: o.Log, Metrics: o.Metrics,
	})
	return h, func(ctx context.Context) {
		var g sync.WaitGroup
		g.Go(func() { s.social.Run(ctx) })
		streams.Run(ctx)
		g.Wait()
	}, err
}
