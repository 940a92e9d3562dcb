package database

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"golang.org/x/time/rate"

	"github.com/boardwalkhq/boardwalk/internal/wait"
)

const (
	hintChannel = "boardwalk_commits"
	// hintsPerSecond bounds the notifications of one chain.
	hintsPerSecond = 4
	// relisten is the pause before a lost listener connects again.
	relisten = time.Second
	// standbyPause is the same where the server is a standby, which has no notifications: it may become a primary.
	standbyPause = time.Minute
)

// hints tell readers that something was committed, so that they need not wait for their next look. They may get lost:
// whoever waits for one looks by the clock as well.
type hints struct {
	mu        sync.Mutex
	limiters  map[string]*rate.Limiter
	listeners map[chan struct{}]struct{}
}

func newHints() *hints {
	return &hints{limiters: map[string]*rate.Limiter{}, listeners: map[chan struct{}]struct{}{}}
}

// allow reports whether a chain may hint again.
func (h *hints) allow(chain string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.limiters[chain]
	if l == nil {
		l = rate.NewLimiter(hintsPerSecond, 1)
		h.limiters[chain] = l
	}
	return l.Allow()
}

func (h *hints) tell() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for l := range h.listeners {
		select {
		case l <- struct{}{}:
		default:
		}
	}
}

// Hint tells readers of a commit: those of this process, and through PostgreSQL those of others. It stands outside the
// transaction, whose lock it would prolong.
func (s *DB) Hint(ctx context.Context, chain string) {
	if !s.hints.allow(chain) {
		return
	}
	s.hints.tell()
	if s.IsPostgres() {
		// A lost hint costs the readers a moment; the commit stands.
		_, _ = s.Write.ExecContext(ctx, "SELECT pg_notify(?, ?)", hintChannel, chain)
	}
}

// Hints tells of commits until ctx ends. It is never closed.
func (s *DB) Hints(ctx context.Context) <-chan struct{} {
	out := make(chan struct{}, 1)
	s.hints.mu.Lock()
	s.hints.listeners[out] = struct{}{}
	s.hints.mu.Unlock()
	context.AfterFunc(ctx, func() {
		s.hints.mu.Lock()
		defer s.hints.mu.Unlock()
		delete(s.hints.listeners, out)
	})
	if s.IsPostgres() {
		go s.listen(ctx, out)
	}
	return out
}

// listen passes PostgreSQL's notifications on, over a connection of its own.
func (s *DB) listen(ctx context.Context, out chan<- struct{}) {
	for ctx.Err() == nil {
		pause := relisten
		if conn, err := s.ConnectAlone(ctx); err == nil {
			_, err = conn.Exec(ctx, "LISTEN "+hintChannel)
			const inRecovery = "25006" // read_only_sql_transaction
			var pg *pgconn.PgError
			if errors.As(err, &pg) && pg.Code == inRecovery {
				pause = standbyPause
			}
			for err == nil {
				if _, err = conn.WaitForNotification(ctx); err == nil {
					select {
					case out <- struct{}{}:
					default:
					}
				}
			}
			_ = conn.Close(context.WithoutCancel(ctx)) // it is broken, or nobody listens any more
		}
		wait.For(ctx, pause)
	}
}
