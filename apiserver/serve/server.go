// Package serve answers requests: it routes them to the handlers of subjects, and does what all answers have in common. It counts requests
// against limits, reads parameters by the rules of the public document, writes answers with their ETags, encodes and compresses them, and makes
// problems of errors. It knows no subject.
package serve

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/caller"
	"github.com/boardwalkhq/boardwalk/apiserver/limit"
	"github.com/boardwalkhq/boardwalk/apiserver/read"
)

// Config is what a server answers with.
type Config struct {
	// Routes are the operations that are answered. The first match wins: literal paths stand before those with parameters.
	Routes []Route
	// Pages are addresses that people open beside the documentation. They stand in no document.
	Pages map[string]Handler
	// ErrorPage shows a problem to people.
	ErrorPage ErrorPage
	// DocsURL is the address of the documentation, without a slash at its end.
	DocsURL string
	// Docs answers below /docs.
	Docs http.Handler

	Snapshots read.Snapshots
	// Callers tells who asks, Limiter how often they may.
	Callers *caller.Resolver
	Limiter limit.Limiter
	// BehindCache leaves RateLimit off what a shared cache may keep.
	BehindCache bool
	// EventStreams serves the answers that go on.
	EventStreams *EventStreams
	// AccessLog writes a line for each answer.
	AccessLog bool

	// Latencies are told how long answers take.
	Latencies *Latencies
	Now       func() time.Time
	Log       *slog.Logger
	Metrics   *Metrics
}

// Server answers the public.
type Server struct {
	Config

	started time.Time
}

// New makes the handler.
func New(c Config) (http.Handler, error) {
	s := &Server{Config: c, started: c.Now()}
	return s.handler()
}
