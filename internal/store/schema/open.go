package schema

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/store/database"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

// patience is how long a program waits for a database that isn't there yet: as long as one that is started at the same time takes.
const patience = time.Minute

// Open opens the database that dsn names, and brings its schema up to date. It calls beat before each statement of a migration. The error of a
// PostgreSQL that isn't there is ErrUnreachable.
func Open(ctx context.Context, dsn string, beat func()) (*database.DB, error) {
	d, err := database.Connect(ctx, dsn)
	if err != nil {
		return nil, err
	}
	if err := Update(ctx, d, beat); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// OpenPatiently is Open, and waits for up to a minute for a database that nobody answers for. It calls step before each statement of a migration,
// and after each try that failed, with its error, so that the caller learns how the opening goes on.
func OpenPatiently(ctx context.Context, dsn string, now func() time.Time, step func(failed error), log *slog.Logger) (*database.DB, error) {
	for until := now().Add(patience); ; {
		d, err := Open(ctx, dsn, func() { step(nil) })
		if !errors.Is(err, database.ErrUnreachable) || now().After(until) {
			return d, err
		}
		step(err)
		log.WarnContext(ctx, "waiting for the database", "err", err.Error())
		if !wait.For(ctx, 2*time.Second) {
			return nil, err
		}
	}
}
