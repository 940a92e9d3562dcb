package store

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/boardwalkhq/boardwalk/internal/wait"
)

// patience is how long a program waits for a database that isn't there yet: as long as one that is started at the same time takes.
const patience = time.Minute

// OpenPatiently is Open, and waits for up to a minute for a database that nobody answers for. It calls beat with each try and before each
// statement of a migration, so that the caller learns that the opening goes on.
func OpenPatiently(ctx context.Context, dsn string, now func() time.Time, beat func(), log *slog.Logger) (*Store, error) {
	for until := now().Add(patience); ; {
		beat()
		st, err := open(ctx, dsn, beat)
		if !errors.Is(err, ErrUnreachable) || now().After(until) {
			return st, err
		}
		log.WarnContext(ctx, "waiting for the database", "err", err.Error())
		if !wait.For(ctx, 2*time.Second) {
			return nil, err
		}
	}
}

// NewHolder names this process in the chains' leases. An SQLite file has one process, which its lock sees to: the next one need not wait
// for the lease of one that was killed.
func NewHolder(dsn string) string {
	if strings.HasPrefix(dsn, "sqlite:") {
		return "embedded"
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	return host + " " + uuid.NewString()
}
