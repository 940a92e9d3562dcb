package span

import (
	"net/http"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// methods has the methods that a span names; a stranger may send any other word.
var methods = map[string]bool{
	http.MethodGet: true, http.MethodHead: true, http.MethodPost: true, http.MethodPut: true, http.MethodPatch: true, http.MethodDelete: true,
	http.MethodConnect: true, http.MethodOptions: true, http.MethodTrace: true,
}

// StartRequest begins a server's span of a request, by the semantic conventions of HTTP. Route is the template of its path; empty where it has none. Path,
// query, headers and addresses aren't in it. It ends by EndRequest.
func StartRequest(r *http.Request, route string) (*http.Request, trace.Span) {
	method, name := r.Method, r.Method
	if !methods[method] {
		method, name = "_OTHER", "HTTP"
	}
	if route != "" {
		name += " " + route
	}
	ctx, s := Start(Extract(r.Context(), r.Header), name, trace.SpanKindServer)
	if !s.IsRecording() {
		return r.WithContext(ctx), s
	}
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	s.SetAttributes(attribute.String("http.request.method", method), attribute.String("url.scheme", scheme))
	if route != "" {
		s.SetAttributes(attribute.String("http.route", route))
	}
	return r.WithContext(ctx), s
}

// EndRequest ends it with the status of the answer.
func EndRequest(s trace.Span, status int) {
	if s.IsRecording() {
		s.SetAttributes(attribute.Int("http.response.status_code", status))
		if status >= http.StatusInternalServerError {
			s.SetAttributes(attribute.String("error.type", strconv.Itoa(status)))
			s.SetStatus(codes.Error, "")
		}
	}
	s.End()
}

// Handler makes a span of each request to a handler. Where no traces are sent it is the handler itself.
func Handler(route string, h http.Handler) http.Handler {
	if !IsOn() {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r, s := StartRequest(r, route)
		seen := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		defer func() { EndRequest(s, seen.status) }()
		h.ServeHTTP(seen, r)
	})
}

// statusWriter remembers the status of an answer.
type statusWriter struct {
	http.ResponseWriter

	status int
}

// WriteHeader implements http.ResponseWriter.
func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
