package apiserver

import (
	"net/http"
	"runtime"
	"slices"

	"github.com/boardwalkhq/boardwalk/apiserver/caller"
	"github.com/boardwalkhq/boardwalk/apiserver/httpapi"
	"github.com/boardwalkhq/boardwalk/apiserver/read"
)

// subjects are the handlers of the API, by what they are about.
type subjects struct {
	routes []httpapi.Route
	pages  *httpapi.Pages
}

// newSubjects makes the handlers, which read through readers.
func newSubjects(o *Options, readers read.Readers, latencies *httpapi.Latencies) (*subjects, error) {
	links := httpapi.Links{Base: o.BaseURL, Docs: o.DocsURL}
	cards := &httpapi.Cards{Service: o.Cards, Series: readers.Series, Pictures: readers.Profiles}
	platform, err := httpapi.NewPlatformHandlers(httpapi.PlatformOptions{Links: links, Build: o.Build, Site: o.Site, Latencies: latencies, Now: o.Now})
	if err != nil {
		return nil, err
	}
	tokens := httpapi.NewTokenHandlers(httpapi.TokenOptions{Readers: readers, Links: links, Cards: cards, Checker: o.Checker, Now: o.Now})
	launches := httpapi.NewLaunchHandlers(httpapi.LaunchOptions{Readers: readers, Links: links, Cards: cards, Gate: o.Site.LaunchGate()})
	traders := httpapi.NewTraderHandlers(httpapi.TraderOptions{Readers: readers, Cards: cards})
	pages := httpapi.NewPages(httpapi.PageOptions{
		Tokens: readers.Tokens, Heartbeat: platform.Heartbeat, DrawsCards: o.Cards != nil, Links: links, Build: o.Build, Site: o.Site,
	})
	return &subjects{slices.Concat(tokens.Routes(), launches.Routes(), traders.Routes(), pages.Routes(), platform.Routes()), pages}, nil
}

// newHandler makes the public handler. docs answers below /docs.
func newHandler(o *Options, readers read.Readers, docs http.Handler) (http.Handler, error) {
	latencies := &httpapi.Latencies{}
	s, err := newSubjects(o, read.NewAdmission(o.MaxInFlight, runtime.GOMAXPROCS(0)).Readers(readers), latencies)
	if err != nil {
		return nil, err
	}
	return httpapi.New(httpapi.Config{
		Routes: s.routes, Pages: s.pages.Undocumented(), ErrorPage: s.pages.Problem, DocsURL: o.DocsURL, Docs: docs,
		Snapshots: readers.Snapshots, Callers: caller.NewResolver(o.TrustedProxies, o.Keys), Limiter: o.Limiter, BehindCache: o.BehindCache,
		AccessLog: o.AccessLog, Latencies: latencies, Now: o.Now, Log: o.Log, Metrics: o.Metrics,
	})
}
