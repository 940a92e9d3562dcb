package httpapi

import (
	"context"
	"fmt"
	"net/http"

	"github.com/gorilla/mux"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
)

// route ties a documented operation to its handler. Path, parameters, limit and cache policy stand in the document alone.
type route struct {
	operation string
	handle    handler
}

// routes is the whole route table. The first match wins: literal paths stand before those with parameters.
var routes = []route{
	{"getMarketLive", (*API).marketLive},
	{"getTokenPrices", (*API).tokenPrices},
	{"getMajors", (*API).majorsOrCandles},
	{"searchPairs", (*API).searchPairs},
	{"getTokenInfo", (*API).tokenInfo},
	{"getTokenCandles", (*API).tokenCandles},
	{"getChart", (*API).chart},
	{"getTokenTrust", (*API).tokenTrust},
	{"getLaunchBoard", (*API).launchBoard},
	{"getLaunchStatus", (*API).launchStatus},
	{"getLaunchedToken", (*API).launchedToken},
	{"getTokenCard", (*API).tokenCard},
	{"getLaunchCard", (*API).launchCard},
	{"getTraderCard", (*API).traderCard},
	{"getSharePage", (*API).sharePage},
	{"getHeartbeat", (*API).heartbeat},
	{"getMobileHealth", (*API).mobileHealth},
	{"getSignInProviders", (*API).signInProviders},
	{"getVersion", (*API).version},
	{"getOpenAPI", (*API).openAPIDocument},
}

// pages are the addresses that people open beside the documentation. They stand in no document.
var pages = map[string]handler{"/": (*API).frontPage, "/status": (*API).statusPage}

// Operations lists the operations that have a route, in the order of the table.
func Operations() ([]contract.Operation, error) {
	all, err := contract.Operations()
	if err != nil {
		return nil, err
	}
	documented := make(map[string]contract.Operation, len(all))
	for _, o := range all {
		documented[o.ID] = o
	}
	out := make([]contract.Operation, 0, len(routes))
	for _, r := range routes {
		o, ok := documented[r.operation]
		if !ok {
			return nil, fmt.Errorf("httpapi: route %s is not documented", r.operation)
		}
		out = append(out, o)
	}
	return out, nil
}

// handler is the way of every request: these, outermost last, then the steps of serve.
func (a *API) handler() (http.Handler, error) {
	documented, err := Operations()
	if err != nil {
		return nil, err
	}
	m := mux.NewRouter().SkipClean(true).UseEncodedPath()
	for i, o := range documented {
		op, err := a.operation(o, routes[i].handle)
		if err != nil {
			return nil, err
		}
		m.Handle(o.Path, op)
		if o.Alias != "" {
			m.Handle(o.Alias, op)
		}
	}
	rest, err := a.unrouted()
	if err != nil {
		return nil, err
	}
	m.NotFoundHandler = a.handling(rest)
	for path, handle := range pages {
		op, err := a.pageOf(handle)
		if err != nil {
			return nil, err
		}
		m.Handle(path, a.handling(op))
	}
	if a.Docs != nil {
		op, err := a.pageOf(nil)
		if err != nil {
			return nil, err
		}
		m.Handle("/docs", a.limited(op, a.Docs))
		m.PathPrefix("/docs/").Handler(a.limited(op, a.Docs))
	}

	var h http.Handler = m
	h = unescaped(h)
	h = a.forCaches(h)
	h = a.recovered(h)
	h = preflight(h)
	h = anyOrigin(h)
	h = withRequestID(h)
	return h, nil
}

// serve answers a request to an operation, step by step. Where a handler reads the database it passes through admission.
func (a *API) serve(ctx context.Context, x *exchange) (*answer, error) {
	if err := a.withinLimit(ctx, x); err != nil {
		return nil, err
	}
	if err := readOnly(x.Request); err != nil {
		return nil, err
	}
	x.seen = a.Snapshots.Snapshot()
	if err := x.readParameters(); err != nil {
		return nil, x.allowing(err)
	}
	return x.op.handle(a, &x.request)
}
