package intake

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/boardwalkhq/boardwalk/internal/member"
)

// FieldError says what is wrong with a field of a body, or a parameter, and what is allowed.
type FieldError struct {
	// Field is empty where the body as a whole is meant.
	Field  string `json:"field"`
	Reason string `json:"reason"`
}

// ProblemError is an answer that says why a request isn't done (RFC 9457).
type ProblemError struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
	// Errors are of a problem with fields.
	Errors []FieldError `json:"errors,omitempty"`
	// RequestID is of a fault of ours.
	RequestID string `json:"request_id,omitempty"`
}

func (p *ProblemError) Error() string {
	parts := []string{p.Title}
	if p.Detail != "" {
		parts = append(parts, p.Detail)
	}
	for _, e := range p.Errors {
		parts = append(parts, strings.TrimSpace(e.Field+" "+e.Reason))
	}
	return strings.Join(parts, ": ")
}

// problem makes a problem of a type.
func problem(status int, slug, title, detail string) *ProblemError {
	return &ProblemError{Type: "/problems/" + slug, Title: title, Status: status, Detail: detail}
}

func invalid(errs ...FieldError) *ProblemError {
	p := problem(http.StatusBadRequest, "invalid-body", "The request isn't as it must be", "")
	p.Errors = errs
	return p
}

func invalidParameter(name, reason string) *ProblemError {
	p := problem(http.StatusBadRequest, "invalid-parameter", "A parameter isn't as it must be", "")
	p.Errors = []FieldError{{name, reason}}
	return p
}

func tooLarge(detail string) *ProblemError {
	return problem(http.StatusRequestEntityTooLarge, "too-large", "The request is too large; nothing was written", detail)
}

// ofRegistry are the problems of records that are right by themselves.
var ofRegistry = []struct {
	err         error
	status      int
	slug, title string
}{
	{member.ErrNoMember, http.StatusNotFound, "member-not-found", "No such member"},
	{member.ErrNoWallet, http.StatusNotFound, "wallet-not-found", "No such wallet"},
	{member.ErrHandleTaken, http.StatusConflict, "handle-taken", "The handle is taken"},
	{member.ErrWalletTaken, http.StatusConflict, "wallet-taken", "The wallet is taken"},
	{member.ErrOtherRecord, http.StatusConflict, "record-conflict", "Another record has this updated_at"},
	{member.ErrKeptByOthers, http.StatusConflict, "not-a-wallet", "The address is nobody's wallet"},
	{member.ErrNoChallenge, http.StatusConflict, "challenge-unknown", "No such challenge"},
	{member.ErrNotSigned, http.StatusConflict, "signature-wrong", "The signature is another's"},
	{member.ErrNoCall, http.StatusNotFound, "call-not-found", "No such call"},
	{member.ErrCallTaken, http.StatusConflict, "call-taken", "The call is another member's"},
	{member.ErrCallFixed, http.StatusConflict, "call-fixed", "A call's token can't be changed"},
	{member.ErrCallDeleted, http.StatusConflict, "call-deleted", "The call was deleted"},
	{member.ErrCallLate, http.StatusConflict, "call-late", "The call comes too late"},
	{member.ErrManyCalls, http.StatusConflict, "too-many-calls", "The member has made too many calls"},
	{member.ErrCallOpen, http.StatusConflict, "call-open", "The member has an open call of this token"},
	{member.ErrNoPost, http.StatusNotFound, "post-not-found", "No such post"},
	{member.ErrPostTaken, http.StatusConflict, "post-taken", "The post is another member's"},
	{member.ErrPostFixed, http.StatusConflict, "post-fixed", "Where a post stands can't be changed"},
	{member.ErrNotIndexed, http.StatusConflict, "token-not-callable", "The token can't be called"},
	{member.ErrUnknownToken, http.StatusConflict, "token-not-callable", "The token can't be called"},
	{member.ErrUnpriced, http.StatusConflict, "token-not-callable", "The token can't be called"},
	{member.ErrThinPool, http.StatusConflict, "token-not-callable", "The token can't be called"},
	{member.ErrChainBehind, http.StatusServiceUnavailable, "chain-behind", "The chain is behind"},
}

// asProblem is the answer to an error; nil for a fault of ours.
func asProblem(err error) *ProblemError {
	if p, ok := errors.AsType[*ProblemError](err); ok {
		return p
	}
	for _, o := range ofRegistry {
		if errors.Is(err, o.err) {
			return problem(o.status, o.slug, o.title, o.err.Error())
		}
	}
	return nil
}

// isForNow reports whether the same request may be done in a moment.
func (p *ProblemError) isForNow() bool { return p.Status == http.StatusServiceUnavailable }

// encoded is the body of a problem.
func (p *ProblemError) encoded() []byte {
	body, err := json.Marshal(p)
	if err != nil { // which plain values never give
		return []byte(`{"type":"about:blank","title":"Internal error","status":500}`)
	}
	return append(body, '\n')
}

// fail answers with an error. One that is no problem says nothing outside, and everything in the log.
func (h *handler) fail(w http.ResponseWriter, r *http.Request, id string, err error) {
	p := asProblem(err)
	if p == nil {
		h.Log.ErrorContext(r.Context(), "request failed", "request_id", id, "err", err.Error())
		p = problem(http.StatusServiceUnavailable, "unavailable", "The request can't be done at the moment", "Try again after the time in Retry-After.")
		p.RequestID = id
	}
	if p.isForNow() && w.Header().Get("Retry-After") == "" {
		w.Header().Set("Retry-After", "2")
	}
	h.requests.WithLabelValues(strconv.Itoa(p.Status)).Inc()
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	_, _ = w.Write(p.encoded()) //nolint:gosec // JSON with nosniff; the client may be gone
}

// notAllowed is a value's reason in a field's error.
func notAllowed(value string, allowed error) string {
	return fmt.Sprintf("is %q; %s", clip(value, 64), allowed)
}

// clip cuts a caller's text for an answer.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
}
