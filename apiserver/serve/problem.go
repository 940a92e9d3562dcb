package serve

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/read"
	"github.com/boardwalkhq/boardwalk/apiserver/read/declared"
)

// ProblemError is an error with the answer that it is to a client (RFC 9457). Cause stays inside.
type ProblemError struct {
	contract.Problem

	slug       string
	allow      []string
	RetryAfter int // seconds
	Cause      error
}

func (p *ProblemError) Error() string {
	if p.Cause != nil {
		return p.slug + ": " + p.Cause.Error()
	}
	return p.slug
}

func (p *ProblemError) Unwrap() error { return p.Cause }

// NewProblem makes a problem of a documented type; status and title are the document's.
func NewProblem(slug, detail string) *ProblemError {
	t := contract.ProblemType{Status: http.StatusInternalServerError, Title: "Internal error"} // of a type that isn't documented
	types, err := contract.ProblemTypes()
	if i := slices.IndexFunc(types, func(t contract.ProblemType) bool { return t.Slug == slug }); err == nil && i >= 0 {
		t = types[i]
	}
	return &ProblemError{slug: slug, Problem: contract.Problem{Type: t.Type, Status: t.Status, Title: t.Title, Detail: detail}}
}

// ErrorPage makes the page that shows a problem to people, and its Content-Security-Policy; ok is false where there can be none. id is the
// request's, asJSON the problem as it is answered elsewhere.
type ErrorPage func(p *contract.Problem, id string, asJSON []byte) (page []byte, policy []string, ok bool)

// htmlType is the Content-Type of pages.
var htmlType = []string{"text/html; charset=utf-8"}

var problemType = []string{"application/problem+json"}

// statusClientGone is the status by which other servers count a request whose client went away; it is sent to nobody.
const statusClientGone = 499

// ErrNoSnapshot is the cause of a 503 before the first look at the database.
var ErrNoSnapshot = errors.New("nothing has been read yet")

var errInternal = errors.New("internal error")

// fail writes an error as a problem. An error that is no problem says "internal error" outside and everything inside.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) { s.failAs(w, r, err, false) }

// failAs is fail, as a page where the operation answers with pages, and gives the status.
func (s *Server) failAs(w http.ResponseWriter, r *http.Request, err error, asPage bool) int {
	var p *ProblemError
	if errors.Is(err, read.ErrBusy) {
		err = TooBusy()
	}
	if r.Context().Err() != nil { // nobody is there any more
		s.Log.DebugContext(r.Context(), "the client went away", "request_id", requestID(w), "err", err.Error())
		return statusClientGone
	}
	if !errors.As(err, &p) {
		s.Log.ErrorContext(r.Context(), "request failed", "request_id", requestID(w), "err", err.Error())
		p = NewProblem("internal", "The fault is ours; tell us the request id.")
	} else if p.Cause != nil {
		s.Log.WarnContext(r.Context(), "request not answered", "request_id", requestID(w), "err", err.Error())
	}
	h := w.Header()
	h.Del("ETag")
	if p.allow != nil {
		h["Allow"] = p.allow
	}
	if p.RetryAfter > 0 {
		h["Retry-After"] = []string{strconv.Itoa(p.RetryAfter)}
	}
	body := p.encode(s.DocsURL, instance(r), requestID(w))
	h["Cache-Control"] = []string{"no-store"}
	h["Content-Type"] = problemType
	if asPage {
		if page, policy, ok := s.ErrorPage(&p.Problem, requestID(w), body); ok {
			body = page
			h["Content-Type"], h["Content-Security-Policy"] = htmlType, policy
		}
	}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(p.Status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) //nolint:gosec // JSON with nosniff, or of html/template, its text escaped; the client may be gone
	}
	return p.Status
}

// instance is the path of the request, cut to what a body should repeat, and never within an escape.
func instance(r *http.Request) string {
	const most = 256
	path := r.URL.EscapedPath()
	if len(path) <= most {
		return path
	}
	path = path[:most]
	if i := strings.LastIndexByte(path, '%'); i > most-3 {
		path = path[:i]
	}
	return path
}

// encode is the body of the problem.
func (p *ProblemError) encode(docsURL, instance, id string) []byte {
	out := p.Problem
	out.Instance = instance
	if out.Type == "" {
		out.Type = docsURL + "/problems/" + p.slug
	}
	if out.Status >= http.StatusInternalServerError {
		out.RequestID = id
	}
	body, err := Marshal(out)
	if err != nil {
		return []byte(`{"type":"about:blank","title":"Internal error","status":500}`)
	}
	return body
}

func routeNotFound() error {
	return NewProblem("route-not-found", "The routes are listed in /openapi.json.")
}

func methodNotAllowed(r *http.Request) error {
	p := NewProblem("method-not-allowed", "This is a read-only API: use GET, HEAD or OPTIONS, not "+strconv.Quote(clip(r.Method))+".")
	p.allow = allowedMethods
	return p
}

// tooManyRequests says which limit is used up: that of an operation for the client, or for all of its network.
func tooManyRequests(operation string, network bool, policy string, seconds int) error {
	whose := ""
	if network {
		whose = " for your IPv6 /48"
	}
	p := NewProblem("quota-exceeded", "The limit of "+operation+whose+" is used up for the next "+strconv.Itoa(seconds)+" s.")
	p.ViolatedPolicies, p.RetryAfterS, p.RetryAfter = []string{policy}, seconds, seconds
	return p
}

// TooBusy says that more is asked for than can be worked on at once.
func TooBusy() error {
	p := NewProblem("temporary-reduced-capacity", "Try again after the time in Retry-After.")
	p.RetryAfter = 1
	return p
}

// Unavailable says that what the answer needs can't be read for now.
func Unavailable(cause error) error {
	if errors.Is(cause, read.ErrBusy) {
		return TooBusy()
	}
	p := NewProblem("unavailable", "The data can't be read at the moment. Try again after the time in Retry-After.")
	p.RetryAfter, p.Cause = 2, cause
	return p
}

// BadParameters says what is wrong with parameters and what is allowed.
func BadParameters(errs ...contract.ParameterError) error { return Faults("invalid-parameter", errs) }

// Faults is a problem of one of the types that list faults of parameters.
func Faults(slug string, errs []contract.ParameterError) *ProblemError {
	p := NewProblem(slug, errs[0].Name+" "+errs[0].Reason)
	p.Errors = errs
	return p
}

// allowing adds what the catalogue allows to faults that the document alone has found.
func (r *Request) allowing(err error) error {
	var p *ProblemError
	if !errors.As(err, &p) {
		return err
	}
	for i := range p.Errors {
		switch e := &p.Errors[i]; {
		case e.In != contract.ParameterErrorInQuery:
		case e.Name == "chain":
			e.Allowed = r.Seen.Catalog.ChainIDs(nil)
		case e.Name == "launchpad":
			e.Allowed = r.Seen.Catalog.Launchpads()
		}
	}
	return err
}

// UnsupportedChain says which chains there are, and which other values the parameter takes.
func (r *Request) UnsupportedChain(param, id string, others ...string) error {
	chains := r.Seen.Catalog.ChainIDs(nil)
	p := Faults("unsupported-chain", []contract.ParameterError{{
		In: contract.ParameterErrorInQuery, Name: param, Reason: "names the chain " + strconv.Quote(clip(id)) + ", which is not served",
		Allowed: slices.Concat(others, chains),
	}})
	p.Chains = chains
	return p
}

// UnsupportedAddress says on which chains the parameter's address can be.
func (r *Request) UnsupportedAddress(in contract.ParameterErrorIn, param, reason string, fits func(*declared.Chain) bool) error {
	p := Faults("unsupported-address", []contract.ParameterError{{In: in, Name: param, Reason: reason}})
	p.Chains = r.Seen.Catalog.ChainIDs(fits)
	return p
}

// clip shortens a caller's text for a message.
func clip(s string) string {
	const most = 64
	if len(s) > most {
		return s[:most] + "..."
	}
	return s
}
