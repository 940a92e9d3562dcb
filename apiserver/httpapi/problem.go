package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
)

// problem is an error with the answer that it is to a client (RFC 9457). cause stays inside.
type problem struct {
	contract.Problem

	slug       string
	allow      string
	retryAfter int // seconds
	cause      error
}

func (p *problem) Error() string {
	if p.cause != nil {
		return p.slug + ": " + p.cause.Error()
	}
	return p.slug
}

func (p *problem) Unwrap() error { return p.cause }

func newProblem(status int, slug, title, detail string) *problem {
	return &problem{Problem: contract.Problem{Status: status, Title: title, Detail: detail}, slug: slug}
}

var errInternal = errors.New("internal error")

// fail writes an error as a problem. An error that is no problem says "internal error" outside and everything inside.
func (a *API) fail(w http.ResponseWriter, r *http.Request, err error) int {
	var p *problem
	if !errors.As(err, &p) {
		a.Log.ErrorContext(r.Context(), "request failed", "request_id", requestID(r), "err", err.Error())
		p = newProblem(http.StatusInternalServerError, "internal", "Internal error", "The fault is ours; tell us the request id.")
	} else if p.cause != nil {
		a.Log.WarnContext(r.Context(), "request not answered", "request_id", requestID(r), "err", err.Error())
	}
	out := p.Problem
	out.Type = a.DocsURL + "/problems/" + p.slug
	if out.Status >= http.StatusInternalServerError {
		out.RequestID = requestID(r)
	}
	h := w.Header()
	h.Del("ETag")
	if p.allow != "" {
		h.Set("Allow", p.allow)
	}
	if p.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(p.retryAfter))
	}
	body, err := json.Marshal(out)
	if err != nil {
		body = []byte(`{"type":"about:blank","title":"Internal error","status":500}`)
	}
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Type", "application/problem+json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(out.Status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the client may be gone
	}
	return out.Status
}

func routeNotFound(*http.Request) error {
	return newProblem(http.StatusNotFound, "route-not-found", "No such route", "The routes are listed in /openapi.json.")
}

func methodNotAllowed(r *http.Request) error {
	p := newProblem(http.StatusMethodNotAllowed, "method-not-allowed", "Method not allowed",
		"This is a read-only API: use GET, HEAD or OPTIONS, not "+strconv.Quote(r.Method)+".")
	p.allow = "GET, HEAD, OPTIONS"
	return p
}

// unavailable says that what the answer needs can't be read for now.
func unavailable(cause error) error {
	if errors.Is(cause, context.Canceled) {
		return cause
	}
	p := newProblem(http.StatusServiceUnavailable, "unavailable", "Temporarily unavailable",
		"The data can't be read at the moment. Try again after the time in Retry-After.")
	p.retryAfter, p.cause = 2, cause
	return p
}

// badParameters says what is wrong with parameters and what is allowed.
func badParameters(errs ...contract.ParameterError) error {
	p := newProblem(http.StatusBadRequest, "invalid-parameter", "Invalid parameter", errs[0].Name+" "+errs[0].Reason)
	p.Errors = errs
	return p
}

func (a *API) unsupportedChain(id string) error {
	p := newProblem(http.StatusBadRequest, "unsupported-chain", "Unknown chain",
		"chain "+strconv.Quote(clip(id))+" is not served.")
	p.Chains = a.chainIDs(nil)
	p.Errors = []contract.ParameterError{{
		In: contract.ParameterErrorInQuery, Name: "chain", Reason: "is not a served chain",
		Allowed: p.Chains,
	}}
	return p
}

func (a *API) unsupportedAddress(param, detail string, fits func(Chain) bool) error {
	p := newProblem(http.StatusBadRequest, "unsupported-address", "Address does not fit the chain", detail)
	p.Chains = a.chainIDs(fits)
	p.Errors = []contract.ParameterError{{In: contract.ParameterErrorInPath, Name: param, Reason: "does not fit the chain"}}
	return p
}

func tokenNotFound(mint, chain string) error {
	p := newProblem(http.StatusNotFound, "token-not-found", "No such token", "No indexed chain that was looked at has this token.")
	p.Mint, p.Chain = mint, chain
	return p
}

func pairNotFound(mint, chain string) error {
	p := newProblem(http.StatusNotFound, "pair-not-found", "No such pair", "The token has no such pair.")
	p.Mint, p.Chain = mint, chain
	return p
}

// clip shortens a caller's text for a message.
func clip(s string) string {
	const most = 64
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}
