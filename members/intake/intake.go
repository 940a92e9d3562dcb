// Package intake is the private door through which the platform's app writes its members: HTTP with bearer tokens, described by the document of
// package contract.
package intake

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/gorilla/mux"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/boardwalkhq/boardwalk/internal/game"
	"github.com/boardwalkhq/boardwalk/internal/keyfile"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/social"
	"github.com/boardwalkhq/boardwalk/internal/telemetry/span"
	"github.com/boardwalkhq/boardwalk/members/contract"
	"github.com/boardwalkhq/boardwalk/members/intake/posttext"
	"github.com/boardwalkhq/boardwalk/members/judge"
)

// Registry keeps members, with their calls and posts, and the answers to requests with a key. Parts of social.Store do it together.
type Registry interface {
	Apply(ctx context.Context, records []member.Record, atomic bool, now int64) (applied []social.Applied, written bool, err error)
	Member(ctx context.Context, id member.ID) (*member.Member, []member.Wallet, error)
	Changes(ctx context.Context, after int64, limit int) ([]social.Change, error)
	LastChange(ctx context.Context) (int64, error)
	Call(ctx context.Context, id member.CallID) (*member.Call, error)
	CallChanges(ctx context.Context, after int64, limit int) ([]member.Call, error)
	LastCallChange(ctx context.Context) (int64, error)
	Post(ctx context.Context, id member.PostID) (*member.Post, error)
	PostChanges(ctx context.Context, after int64, limit int) ([]member.Post, error)
	LastPostChange(ctx context.Context) (int64, error)
	PostsAbove(ctx context.Context, above int64, limit int) ([]member.Post, error)
	IDsOf(ctx context.Context, numbers []member.Number) (map[member.Number]member.ID, error)
	ExistingHandles(ctx context.Context, keys []string) (map[string]bool, error)
	Challenge(ctx context.Context, text string, until int64) error
	Kept(ctx context.Context, key string, now int64) (*social.KeptAnswer, error)
	Keep(ctx context.Context, key string, a *social.KeptAnswer, until int64) error
}

// Standings tells of members' progress in the game.
type Standings interface {
	GameChanges(ctx context.Context, after int64, limit int) ([]social.GameStanding, error)
	LastGameChange(ctx context.Context) (int64, error)
}

// Presence counts who is present.
type Presence interface {
	// Seen notes that members are present, and gives those that aren't members.
	Seen(ctx context.Context, ids []member.ID) (unknown []member.ID, err error)
}

// Prices says what tokens cost when they are called.
type Prices interface {
	Prices(ctx context.Context, tokens []store.TokenAt) (map[store.TokenAt]judge.Priced, error)
}

// Options are what the intake works with.
type Options struct {
	Registry Registry
	// Standings and Rules are the game's.
	Standings Standings
	Rules     *game.Rules
	Presence  Presence
	Prices    Prices
	// Market says which tokens posts name. It goes by chains' ids (store.Served).
	Market *store.Store
	// Tokens are the tokens that a caller may present.
	Tokens *keyfile.File
	// Deployment is the address that challenges name, as in https://app.example.com.
	Deployment string
	// Active reports whether this process is the one that takes requests.
	Active  func() bool
	Now     func() time.Time
	Log     *slog.Logger
	Metrics prometheus.Registerer
}

type handler struct {
	Options

	reader   Reader
	texts    posttext.Finder
	document []byte
	requests *prometheus.CounterVec

	// keys are the Idempotency-Keys of requests that are under way, each locked by the one that is done.
	keys sync.Map
}

// longestBody is the most bytes of a body, longestKey those of an Idempotency-Key.
const longestBody, longestKey = 1 << 20, 255

// New makes the intake.
func New(o Options) (http.Handler, error) {
	document, err := contract.JSON()
	if err != nil {
		return nil, err
	}
	h := &handler{
		Options: o, reader: Reader{Deployment: o.Deployment, Now: o.Now}, texts: posttext.Finder{Market: o.Market, Members: o.Registry}, document: document,
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "boardwalk_intake_requests_total", Help: "Requests to the intake, by the status of their answer.",
		}, []string{"status"}),
	}
	if err := o.Metrics.Register(h.requests); err != nil {
		return nil, err
	}
	m := mux.NewRouter().UseEncodedPath().StrictSlash(false)
	for _, route := range []struct {
		method, path string
		do           func(*request) (*reply, error)
	}{
		{http.MethodGet, "/v1/members/{id}", h.getMember},
		{http.MethodPut, "/v1/members/{id}", h.putMember},
		{http.MethodDelete, "/v1/members/{id}", h.deleteMember},
		{http.MethodPut, "/v1/members/{id}/wallets/{wallet}", h.putWallet},
		{http.MethodDelete, "/v1/members/{id}/wallets/{wallet}", h.deleteWallet},
		{http.MethodPost, "/v1/wallet-challenges", h.postChallenge},
		{http.MethodPost, "/v1/batch", h.postBatch},
		{http.MethodPost, "/v1/presence", h.postPresence},
		{http.MethodGet, "/v1/calls/{id}", h.getCall},
		{http.MethodPut, "/v1/calls/{id}", h.putCall},
		{http.MethodDelete, "/v1/calls/{id}", h.deleteCall},
		{http.MethodGet, "/v1/calls", h.getCalls},
		{http.MethodGet, "/v1/posts/{id}", h.getPost},
		{http.MethodPut, "/v1/posts/{id}", h.putPost},
		{http.MethodDelete, "/v1/posts/{id}", h.deletePost},
		{http.MethodGet, "/v1/posts", h.getPosts},
		{http.MethodGet, "/v1/standings", h.getStandings},
		{http.MethodGet, "/v1/changes", h.getChanges},
		{http.MethodGet, "/v1/export", h.getExport},
		{http.MethodGet, "/openapi.json", h.getDocument},
	} {
		m.Handle(route.path, span.Handler(route.path, h.serve(route.do))).Methods(route.method)
	}
	m.NotFoundHandler = h.serve(func(*request) (*reply, error) {
		return nil, problem(http.StatusNotFound, "route-not-found", "No such route", "The routes are listed in /openapi.json.")
	})
	m.MethodNotAllowedHandler = h.serve(func(*request) (*reply, error) {
		return nil, problem(http.StatusMethodNotAllowed, "method-not-allowed", "The route has no such method", "The methods are listed in /openapi.json.")
	})
	return m, nil
}

// request is a request whose body was read.
type request struct {
	*http.Request

	vars map[string]string
	body []byte
}

// reply is an answer that is kept for a request that comes again.
type reply struct {
	status int
	media  string
	body   []byte
	// lasts is for how long the answer means something; 0 is as long as answers are kept.
	lasts time.Duration
	// isForNow says that the same request may get another answer in a moment. Such an answer isn't kept.
	isForNow bool
	// stream, if set, writes the body in place of body. It isn't kept.
	stream func(w http.ResponseWriter) error
}

const (
	jsonMedia   = "application/json"
	ndjsonMedia = "application/x-ndjson"
)

// serve is the way of every request: who asks, what was asked before, what is to be done.
func (h *handler) serve(do func(*request) (*reply, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := uuid.NewString()
		w.Header().Set("X-Request-Id", id)
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		answer, err := h.answer(w, r, do)
		if err != nil {
			h.fail(w, r, id, err)
			return
		}
		h.requests.WithLabelValues(strconv.Itoa(answer.status)).Inc()
		w.Header().Set("Content-Type", answer.media)
		w.WriteHeader(answer.status)
		if answer.stream == nil {
			_, _ = w.Write(answer.body) // the client may be gone
			return
		}
		if err := answer.stream(w); err != nil && r.Context().Err() == nil {
			h.Log.ErrorContext(r.Context(), "an answer broke off", "request_id", id, "err", err.Error())
			panic(http.ErrAbortHandler) //nolint:forbidigo // how a server of net/http breaks an answer off, so that the client learns it
		}
	})
}

func (h *handler) answer(w http.ResponseWriter, r *http.Request, do func(*request) (*reply, error)) (*reply, error) {
	if !h.authorized(r) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		return nil, problem(http.StatusUnauthorized, "unauthorized", "No valid token", "Send Authorization: Bearer and a token whose SHA-256 is in the file of tokens.")
	}
	if !h.Active() {
		w.Header().Set("Retry-After", "1")
		return nil, problem(http.StatusServiceUnavailable, "not-active", "Another process takes the requests", "Try again after the time in Retry-After.")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, longestBody))
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		return nil, tooLarge("Allowed is a body of 1 MiB.")
	case err != nil:
		return nil, problem(http.StatusBadRequest, "invalid-body", "The body broke off", "")
	}
	req := &request{Request: r, vars: mux.Vars(r), body: body}
	key := r.Header.Get("Idempotency-Key")
	if key == "" || r.Method == http.MethodGet {
		return do(req)
	}
	return h.once(r.Context(), req, key, do)
}

func (h *handler) authorized(r *http.Request) bool {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok || len(r.Header.Values("Authorization")) != 1 {
		return false
	}
	_, known := h.Tokens.Find(token)
	return known
}

// answersKept is for how long the answer to a request with an Idempotency-Key is kept.
const answersKept = 7 * 24 * time.Hour

// once does a request with a key, unless it was done: then the answer is that of before. Of requests with one key that come at a time one waits for the
// other.
func (h *handler) once(ctx context.Context, r *request, key string, do func(*request) (*reply, error)) (*reply, error) {
	printable := func(c rune) bool { return c > ' ' && c <= '~' }
	if len(key) > longestKey || strings.TrimFunc(key, printable) != "" || len(r.Header.Values("Idempotency-Key")) != 1 {
		return nil, invalidParameter("Idempotency-Key", "allowed is one of 1 to 255 characters of ASCII without spaces")
	}
	lock, _ := h.keys.LoadOrStore(key, make(chan struct{}, 1))
	turn, _ := lock.(chan struct{}) // nothing else is in it
	select {
	case turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() {
		h.keys.Delete(key)
		<-turn
	}()
	return h.doOnce(ctx, r, key, do)
}

// doOnce does a request whose key is locked.
func (h *handler) doOnce(ctx context.Context, r *request, key string, do func(*request) (*reply, error)) (*reply, error) {
	sum := sha256.Sum256(bytes.Join([][]byte{[]byte(r.Method), []byte(r.URL.RequestURI()), r.body}, []byte{0}))
	kept, err := h.Registry.Kept(ctx, key, h.Now().Unix())
	switch {
	case err != nil:
		return nil, err
	case kept != nil && !bytes.Equal(kept.Request, sum[:]):
		return nil, problem(http.StatusConflict, "idempotency-conflict", "The Idempotency-Key was used for another request", "Use a key of its own for each request.")
	case kept != nil:
		return &reply{status: kept.Status, media: kept.Media, body: kept.Body}, nil
	}
	answer, err := do(r)
	if p := asProblem(err); err != nil && p != nil && !p.isForNow() {
		answer = &reply{status: p.Status, media: "application/problem+json", body: p.encoded()}
	} else if err != nil {
		return nil, err
	}
	if answer.isForNow {
		return answer, nil
	}
	until := h.Now().Add(cmp.Or(answer.lasts, answersKept))
	err = h.Registry.Keep(ctx, key, &social.KeptAnswer{Request: sum[:], Status: answer.status, Media: answer.media, Body: answer.body}, until.Unix())
	if err != nil { // it is done all the same, and done again it changes nothing
		h.Log.WarnContext(ctx, "an answer wasn't kept for its Idempotency-Key", "err", err.Error())
	}
	return answer, nil
}

func (h *handler) getDocument(*request) (*reply, error) {
	return &reply{status: http.StatusOK, media: jsonMedia, body: h.document}, nil
}
