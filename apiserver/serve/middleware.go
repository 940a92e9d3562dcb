package serve

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/caller"
	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/limit"
	"github.com/boardwalkhq/boardwalk/internal/telemetry/span"
)

// Values of headers that many answers share. Headers are set by their canonical keys, past Header.Set, which would make a
// slice for each.
var (
	anyone         = []string{"*"}
	nosniff        = []string{"nosniff"}
	exposed        = []string{"RateLimit, RateLimit-Policy, Retry-After, ETag, X-Data-As-Of, X-Request-Id, X-Api-Key-Status"}
	allowedMethods = []string{"GET, HEAD, OPTIONS"}
	allowedHeaders = []string{"X-Api-Key, If-None-Match, Last-Event-ID"}
	oneDay         = []string{"86400"}
	keyKnown       = []string{"known"}
	keyUnknown     = []string{"unknown"}
)

// withRequestID gives each request an id of its own, which its answer, its log line and a problem carry.
func withRequestID(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["X-Request-Id"] = []string{newRequestID()}
		next.ServeHTTP(w, r)
	})
}

func newRequestID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return "req-" + hex.EncodeToString(b[:])
}

func requestID(w http.ResponseWriter) string { return w.Header().Get("X-Request-Id") }

// anyOrigin lets pages of every origin read every answer.
func anyOrigin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h["Access-Control-Allow-Origin"] = anyone
		h["Access-Control-Expose-Headers"] = exposed
		h["X-Content-Type-Options"] = nosniff
		next.ServeHTTP(w, r)
	})
}

// preflight answers OPTIONS everywhere. It counts for no limit.
func preflight(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodOptions {
			next.ServeHTTP(w, r)
			return
		}
		h := w.Header()
		h["Access-Control-Allow-Methods"] = allowedMethods
		h["Access-Control-Allow-Headers"] = allowedHeaders
		h["Access-Control-Max-Age"] = oneDay
		w.WriteHeader(http.StatusNoContent)
	})
}

// unescaped reads letters, digits and -._~ in a path as they are, however they were written: escaped they are the same path (RFC 3986,
// section 6.2.2.2). A dot segment that comes about is a path that there isn't, and an escaped slash stays escaped.
func unescaped(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path := r.URL.EscapedPath(); strings.Contains(path, "%") {
			u := *r.URL
			u.RawPath = unreserved.ReplaceAllStringFunc(path, func(escape string) string {
				c, _ := strconv.ParseUint(escape[1:], 16, 8) // the pattern has two digits
				return string(rune(c))
			})
			r = r.WithContext(r.Context())
			r.URL = &u
		}
		next.ServeHTTP(w, r)
	})
}

// unreserved are the escapes of what needs none: - . 0 to 9 A to Z _ a to z ~.
var unreserved = regexp.MustCompile(`%(2[DdEe]|3[0-9]|4[1-9A-Fa-f]|5[0-9Aa]|5[Ff]|6[1-9A-Fa-f]|7[0-9Aa]|7[Ee])`)

// recovered turns a panic into a 500 that tells the request id and nothing of the inside.
func (s *Server) recovered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer s.answerPanic(w, r)
		next.ServeHTTP(w, r)
	})
}

// answerPanic must be deferred itself: recover works nowhere deeper.
func (s *Server) answerPanic(w http.ResponseWriter, r *http.Request) {
	if p := recover(); p != nil {
		s.logPanic(w, r, p)
		s.fail(w, r, errInternal)
	}
}

func (s *Server) logPanic(w http.ResponseWriter, r *http.Request, p any) {
	s.Log.ErrorContext(r.Context(), "handler panicked", "request_id", requestID(w), "panic", fmt.Sprint(p),
		"stack", string(debug.Stack()))
}

// Handler makes the answer to a request whose parameters have been read.
type Handler func(*Request) (*Answer, error)

// operation is a documented operation made ready to be served.
type operation struct {
	id       string
	route    string // the template of its path; empty for paths that there aren't
	rules    rules
	policy   limit.Policy
	quota    quota
	network  quota // of a /48 of IPv6
	cache    policies
	page     bool // it answers with pages
	json     bool // it answers with JSON
	handle   Handler
	requests observers
}

// quota is a limit's name and its RateLimit-Policy.
type quota struct {
	name   string
	header []string
}

func newQuota(l contract.Limit) quota {
	return quota{name: l.Name, header: []string{fmt.Sprintf("%q;q=%d;w=%d", l.Name, l.Requests, l.WindowS)}}
}

// exchange is one request on its way through the steps of serve.
type exchange struct {
	Request

	op     *operation
	w      http.ResponseWriter
	client limit.Client
	// readyAt is when the answer was ready to be sent: how long a client then takes to read it says nothing of the service.
	readyAt time.Time
}

// operation is the handler of one documented operation.
func (s *Server) operation(o contract.Operation, handle Handler) (http.Handler, error) {
	r, err := newRules(o.Parameters)
	if err != nil {
		return nil, fmt.Errorf("serve: %s: %w", o.ID, err)
	}
	op := newOperation(o.Limit, handle)
	op.route, op.rules, op.cache, op.requests = o.Path, r, newPolicies(o.Cache), s.Metrics.of(o.ID)
	op.page, op.json = o.Media == "text/html", o.Media == "application/json"
	return s.handling(op), nil
}

// unrouted answers paths that are no operation. They share one limit.
func (s *Server) unrouted() (*operation, error) {
	l, err := contract.UnroutedLimit()
	if err != nil {
		return nil, err
	}
	op := newOperation(l, func(*Request) (*Answer, error) { return nil, routeNotFound() })
	op.requests = s.Metrics.of(l.Name)
	return op, nil
}

// pageOf answers an address that people open. All such pages share one limit, which has room for the files that they load.
func (s *Server) pageOf(path string, handle Handler) (*operation, error) {
	l, err := contract.PagesLimit()
	if err != nil {
		return nil, err
	}
	op := newOperation(l, handle)
	op.route, op.requests, op.cache = path, s.Metrics.of(l.Name), newPolicies(contract.Cache{MaxAge: 5, StaleWhileRevalidate: 30})
	return op, nil
}

// limited lets a handler that is no operation answer reads within the limit of an operation.
func (s *Server) limited(op *operation, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := s.withinLimit(r.Context(), &exchange{op: op, w: w, Request: Request{Request: r}})
		if err == nil {
			err = readOnly(r)
		}
		if err != nil {
			s.fail(w, r, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func newOperation(l contract.Limit, handle Handler) *operation {
	return &operation{
		id: l.Name, handle: handle, policy: limit.Policy{Name: l.Name, Quota: l.Requests, Window: l.Window()},
		quota: newQuota(l), network: newQuota(l.Network(limit.PerNetwork)),
	}
}

// handling serves an operation, and counts and logs what came of it. Where traces are sent each request has a span.
func (s *Server) handling(op *operation) http.Handler {
	if !span.IsOn() {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.answer(op, w, r) })
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r, x := span.StartRequest(r, op.route)
		status := http.StatusInternalServerError // of what panics outside respond
		defer func() { span.EndRequest(x, status) }()
		status = s.answer(op, w, r)
	})
}

// answer answers a request to an operation, and gives the status.
func (s *Server) answer(op *operation, w http.ResponseWriter, r *http.Request) int {
	began := s.Now()
	x := &exchange{op: op, w: w, Request: Request{Request: r}}
	status := s.respond(r.Context(), x)
	took := x.readyAt.Sub(began)
	if status != http.StatusTooManyRequests && op.json { // what is refused is quick, and pictures are drawn elsewhere
		s.Latencies.add(x.readyAt, took)
	}
	op.requests.observe(status, took)
	if s.AccessLog {
		s.Log.InfoContext(r.Context(), "request", "operation", op.id, "method", r.Method, "status", status,
			"request_id", requestID(w), "took_ms", float64(took.Microseconds())/1000)
	}
	return status
}

// respond writes what the steps came to, and gives the status.
func (s *Server) respond(ctx context.Context, x *exchange) (status int) {
	wrote := false
	defer func() {
		if p := recover(); p != nil {
			s.logPanic(x.w, x.Request.Request, p)
			if status = http.StatusInternalServerError; !wrote {
				x.readyAt = s.Now()
				s.failAs(x.w, x.Request.Request, errInternal, x.op.page)
			}
		}
	}()
	ans, err := s.serve(ctx, x)
	wrote = true
	if err == nil && ans.subscription != nil {
		x.readyAt = s.Now()
		return s.serveStream(ctx, x, ans.subscription)
	}
	if err == nil {
		ans.compress(x.Request.Request) // before the clock is read: it is the service's own work
	}
	x.readyAt = s.Now()
	if err != nil {
		return s.failAs(x.w, x.Request.Request, err, x.op.page)
	}
	return ans.write(x.w, x.Request.Request, &x.op.cache)
}

// withinLimit counts the request for its client and says in the headers where the client stands.
func (s *Server) withinLimit(ctx context.Context, x *exchange) error {
	who := s.Callers.Identify(x.Request.Request)
	x.client = who.Client
	h := x.w.Header()
	switch who.Key {
	case caller.KeyKnown:
		h["X-Api-Key-Status"] = keyKnown
	case caller.KeyUnknown:
		h["X-Api-Key-Status"] = keyUnknown
	case caller.KeyNone:
	}
	d := s.Limiter.Take(ctx, who.Client, &x.op.policy)
	seconds := max(int64((d.Reset+time.Second-1)/time.Second), 1)
	var room [64]byte
	q := &x.op.quota
	if d.Network {
		q = &x.op.network
	}
	b := strconv.AppendQuote(room[:0], q.name)
	b = strconv.AppendInt(append(b, ";r="...), int64(d.Remaining), 10)
	b = strconv.AppendInt(append(b, ";t="...), seconds, 10)
	h["Ratelimit"] = []string{string(b)}
	h["Ratelimit-Policy"] = q.header
	if !d.Allowed {
		return tooManyRequests(x.op.id, d.Network, q.name, int(seconds))
	}
	return nil
}

func readOnly(r *http.Request) error {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return methodNotAllowed(r)
	}
	return nil
}
