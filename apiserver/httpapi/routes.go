package httpapi

import (
	"fmt"
	"net/http"

	"github.com/gorilla/mux"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
)

// route ties a documented operation to its handler. Path and cache policy stand in the document alone.
type route struct {
	operation string
	handle    func(*API, *http.Request) (*answer, error)
}

// routes is the whole route table. The first match wins: literal paths stand before those with parameters.
var routes = []route{
	{"getMarketLive", (*API).marketLive},
	{"getTokenInfo", (*API).tokenInfo},
	{"getTokenCandles", (*API).tokenCandles},
	{"getChart", (*API).chart},
	{"getHeartbeat", (*API).heartbeat},
	{"getVersion", (*API).version},
	{"getOpenAPI", (*API).openAPIDocument},
}

// Operations lists the operations that have a route.
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

// handler is the whole middleware chain, outermost first.
func (a *API) handler() (http.Handler, error) {
	operations, err := Operations()
	if err != nil {
		return nil, err
	}
	m := mux.NewRouter().SkipClean(true)
	for i, o := range operations {
		m.Handle(o.Path, a.operation(o, routes[i].handle)).Methods(http.MethodGet, http.MethodHead)
	}
	m.NotFoundHandler = a.failing(routeNotFound)
	m.MethodNotAllowedHandler = a.failing(methodNotAllowed)

	var h http.Handler = m
	h = preflight(h)
	h = a.recovered(h)
	h = withDeadline(h)
	h = anyOrigin(h)
	h = withRequestID(h)
	return h, nil
}
