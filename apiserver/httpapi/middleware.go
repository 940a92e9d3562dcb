package httpapi

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
)

// answerTime bounds the work on one request.
const answerTime = 10 * time.Second

type requestIDKey struct{}

// withRequestID gives each request an id of its own, which its answer, its log line and a problem carry.
func withRequestID(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var b [8]byte
		_, _ = rand.Read(b[:]) // never fails
		id := "req-" + hex.EncodeToString(b[:])
		w.Header().Set("X-Request-Id", id)
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), requestIDKey{}, id)))
	})
}

func requestID(r *http.Request) string {
	id, _ := r.Context().Value(requestIDKey{}).(string)
	return id
}

// anyOrigin lets pages of every origin read every answer.
func anyOrigin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", "*")
		h.Set("Access-Control-Expose-Headers", "Retry-After, ETag, X-Request-Id")
		h.Set("X-Content-Type-Options", "nosniff")
		next.ServeHTTP(w, r)
	})
}

// preflight answers OPTIONS everywhere.
func preflight(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodOptions {
			next.ServeHTTP(w, r)
			return
		}
		h := w.Header()
		h.Set("Access-Control-Allow-Methods", "GET, HEAD, OPTIONS")
		h.Set("Access-Control-Allow-Headers", "X-Api-Key, If-None-Match, Last-Event-ID")
		h.Set("Access-Control-Max-Age", "86400")
		w.WriteHeader(http.StatusNoContent)
	})
}

func withDeadline(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), answerTime)
		defer cancel()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// recovered turns a panic into a 500 that tells the request id and nothing of the inside.
func (a *API) recovered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer a.answerPanic(w, r)
		next.ServeHTTP(w, r)
	})
}

// answerPanic must be deferred itself: recover works nowhere deeper.
func (a *API) answerPanic(w http.ResponseWriter, r *http.Request) {
	if p := recover(); p != nil {
		a.Log.ErrorContext(r.Context(), "handler panicked", "request_id", requestID(r), "panic", fmt.Sprint(p),
			"stack", string(debug.Stack()))
		a.fail(w, r, errInternal)
	}
}

// operation serves one documented operation.
func (a *API) operation(o contract.Operation, handle func(*API, *http.Request) (*answer, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := a.Now()
		status := a.serve(w, r, o, handle)
		took := a.Now().Sub(began)
		a.latencies.add(took)
		a.Metrics.request(o.ID, strconv.Itoa(status), took)
		a.Log.DebugContext(r.Context(), "request", "operation", o.ID, "status", status, "request_id", requestID(r),
			"took_ms", float64(took.Microseconds())/1000)
	})
}

func (a *API) serve(w http.ResponseWriter, r *http.Request, o contract.Operation,
	handle func(*API, *http.Request) (*answer, error),
) int {
	ans, err := handle(a, r)
	if err != nil {
		return a.fail(w, r, err)
	}
	return ans.write(w, r, o.Cache)
}

// failing answers every request with the problem that f makes of it.
func (a *API) failing(f func(*http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { a.fail(w, r, f(r)) })
}
