package serve

import (
	"context"
	"fmt"
	"net/http"

	"github.com/gorilla/mux"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
)

// Route ties a documented operation to its handler. Path, parameters, limit and cache policy stand in the document alone.
type Route struct {
	Operation string
	Handle    Handler
}

// Operations lists the operations of routes, in their order.
func Operations(routes []Route) ([]contract.Operation, error) {
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
		o, ok := documented[r.Operation]
		if !ok {
			return nil, fmt.Errorf("serve: route %s is not documented", r.Operation)
		}
		out = append(out, o)
	}
	return out, nil
}

// handler is the way of every request: these, outermost last, then the steps of serve.
func (s *Server) handler() (http.Handler, error) {
	documented, err := Operations(s.Routes)
	if err != nil {
		return nil, err
	}
	m := mux.NewRouter().SkipClean(true).UseEncodedPath()
	for i, o := range documented {
		op, err := s.operation(o, s.Routes[i].Handle)
		if err != nil {
			return nil, err
		}
		m.Handle(o.Path, op)
		if o.Alias != "" {
			m.Handle(o.Alias, op)
		}
	}
	rest, err := s.unrouted()
	if err != nil {
		return nil, err
	}
	m.NotFoundHandler = s.handling(rest)
	for path, handle := range s.Pages {
		op, err := s.pageOf(path, handle)
		if err != nil {
			return nil, err
		}
		m.Handle(path, s.handling(op))
	}
	if s.Docs != nil {
		op, err := s.pageOf("/docs/", nil)
		if err != nil {
			return nil, err
		}
		m.Handle("/docs", s.limited(op, s.Docs))
		m.PathPrefix("/docs/").Handler(s.limited(op, s.Docs))
	}

	var h http.Handler = m
	h = unescaped(h)
	h = s.forCaches(h)
	h = s.recovered(h)
	h = preflight(h)
	h = anyOrigin(h)
	h = withRequestID(h)
	return h, nil
}

// serve answers a request to an operation, step by step. Where a handler reads the database it passes through admission.
func (s *Server) serve(ctx context.Context, x *exchange) (*Answer, error) {
	if err := s.withinLimit(ctx, x); err != nil {
		return nil, err
	}
	if err := readOnly(x.Request.Request); err != nil {
		return nil, err
	}
	x.Seen, x.Started = s.Snapshots.Snapshot(), s.started
	if err := x.readParameters(); err != nil {
		return nil, x.allowing(err)
	}
	return x.op.handle(&x.Request)
}
