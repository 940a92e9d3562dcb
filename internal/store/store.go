// Package store keeps what is derived, in PostgreSQL or SQLite, through one set of models. It returns and takes
// values of internal/market; nothing here decides anything.
package store

import (
	"context"
	"log/slog"
	"time"
)

// Store is what is kept of chains.
type Store struct {
	*DB

	// served says which index of each chain is read; nil for who names the index.
	served *served
}

func newStore(d *DB, served *served) *Store { return &Store{DB: d, served: served} }

// Open opens and migrates the database that dsn names: "postgres://…" or "sqlite:PATH". Nothing is written before the
// database is known to be readable by this binary. The error of a PostgreSQL that isn't there is ErrUnreachable.
func Open(ctx context.Context, dsn string) (*Store, error) {
	return of(SchemaOpen(ctx, dsn, func() {}))
}

// OpenPatiently is Open, and waits for up to a minute for a database that nobody answers for. It calls beat with each try and before each
// statement of a migration, so that the caller learns that the opening goes on.
func OpenPatiently(ctx context.Context, dsn string, now func() time.Time, beat func(), log *slog.Logger) (*Store, error) {
	return of(SchemaOpenPatiently(ctx, dsn, now, beat, log))
}

// OpenReader opens a database for a program that only reads. On PostgreSQL it makes no schema, its role needs no right but SELECT, and every
// transaction is read-only; it may be a hot standby, which then is told as old as it is. Without a schema, or without rights on it, the error
// is ErrNoSchema. An SQLite file has one process, which opens it as Open does.
func OpenReader(ctx context.Context, dsn string) (*Store, error) {
	return of(SchemaOpenReader(ctx, dsn))
}

// OpenReaderPatiently is OpenReader, and waits for a database that nobody answers for and for a schema that isn't there yet. Every ten
// seconds it says what it waits for.
func OpenReaderPatiently(ctx context.Context, dsn string, w Waiting) (*Store, error) {
	return of(SchemaOpenReaderPatiently(ctx, dsn, w))
}

func of(d *DB, err error) (*Store, error) {
	if err != nil {
		return nil, err
	}
	return newStore(d, nil), nil
}

// Maintain looks after a PostgreSQL database while others read and write it, until ctx ends: it builds the indexes that are missing, has tables
// vacuumed as they are used, and splits by time what has grown. Of several programs one does it.
func (s *Store) Maintain(ctx context.Context, log *slog.Logger) { Maintain(ctx, s.DB, log) }

// Reserved is the same store read through connections of its own, for whoever must go on reading however many requests
// there are. It is closed with the store.
func (s *Store) Reserved() *Store { return newStore(s.DB.Reserved(), s.served) }
