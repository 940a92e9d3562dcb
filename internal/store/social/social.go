// Package social keeps what the platform's app writes of its members, what the game and the judging of calls make of it, and who is present. No reorg
// undoes it. Of chains' rows it reads which chains there are, and their pools and launches: nobody may have their contracts as a wallet.
package social

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/store/database"
	"github.com/boardwalkhq/boardwalk/internal/store/streamlog"
)

// rows reads and writes members' rows.
type rows struct {
	db *database.DB

	// streamed is the highest number of the stream that this process took; 0 for none.
	streamed atomic.Int64
}

// Store is what is kept of members, by what it is about. It is a part of store.Store.
type Store struct {
	Leases   Leases
	Registry Registry
	Calls    Calls
	Posts    Posts
	Running  Running
	Game     Game
	Profit   Profit
	Presence Presence
	Answers  Answers
	Upkeep   Upkeep
}

// Leases take, renew and release the right to be the one members program that writes.
type Leases struct{ *rows }

// Registry is what is kept of members, their handles and their wallets.
type Registry struct{ *rows }

// Calls is what is kept of calls.
type Calls struct{ *rows }

// Posts is what is kept of posts and notes.
type Posts struct{ *rows }

// Running adds launches that pass the quality bar to the stream.
type Running struct{ *rows }

// Game is what is kept of the game: what members did on each day, what they have come to, and the places of closed seasons.
type Game struct{ *rows }

// Profit is what all members realised in stretches of time that are over.
type Profit struct{ *rows }

// Presence is what is kept of who is present.
type Presence struct{ *rows }

// Answers is what is kept of answers to requests with an Idempotency-Key.
type Answers struct{ *rows }

// Upkeep deletes what need not be kept any more, and mends the stream's numbers after a failover.
type Upkeep struct{ *rows }

// New is the part of an open database.
func New(db *database.DB) *Store {
	r := &rows{db: db}
	return &Store{
		Leases: Leases{r}, Registry: Registry{r}, Calls: Calls{r}, Posts: Posts{r}, Running: Running{r}, Game: Game{r}, Profit: Profit{r},
		Presence: Presence{r}, Answers: Answers{r}, Upkeep: Upkeep{r},
	}
}

// registryStream is the counter of the registry's changes.
const registryStream = "registry"

// lastOf is the last number that a counter gave.
func lastOf(ctx context.Context, db bun.IDB, counter string) (last int64, err error) {
	err = db.NewRaw("SELECT COALESCE(max(last), 0) FROM sequences WHERE stream = ?", counter).Scan(ctx, &last)
	return last, wrap("read the last number of "+counter, err)
}

// number keeps the last number that a counter gave.
func number(ctx context.Context, tx *database.Transaction, counter string, last int64) error {
	_, err := tx.NewRaw("INSERT INTO sequences (stream, last) VALUES (?, ?) ON CONFLICT (stream) DO UPDATE SET last = excluded.last", counter, last).Exec(ctx)
	return wrap("number the changes of "+counter, err)
}

// write runs f in a transaction in which nobody else writes to the registry. f gets the number of the last change, and gives that of its own last
// one, and the rows that the stream gets for it. Readers see the changes in the order of their numbers.
func (s *rows) write(ctx context.Context, f func(tx *database.Transaction, last int64) (int64, []streamlog.Row, error)) error {
	var streamed int64
	err := s.db.InTransaction(ctx, func(tx *database.Transaction) error {
		var last int64
		err := tx.NewRaw("INSERT INTO sequences (stream, last) VALUES (?, 0) ON CONFLICT (stream) DO UPDATE SET last = sequences.last RETURNING last",
			registryStream).Scan(ctx, &last)
		if err != nil {
			return fmt.Errorf("database: lock the registry: %w", err)
		}
		next, rows, err := f(tx, last)
		if err != nil {
			return err
		}
		if next != last {
			if _, err := tx.NewRaw("UPDATE sequences SET last = ? WHERE stream = ?", next, registryStream).Exec(ctx); err != nil {
				return fmt.Errorf("database: number the registry's changes: %w", err)
			}
		}
		streamed, err = streamlog.Write(ctx, tx, rows)
		return err
	})
	if err == nil {
		s.took(streamed)
	}
	return err
}

// secretOf is the key by which a database hides handles that were given up. It is made on first use.
func secretOf(ctx context.Context, tx *database.Transaction) ([]byte, error) {
	var secret []byte
	err := tx.NewRaw("SELECT secret FROM registry_secret").Scan(ctx, &secret)
	if err == nil || !errors.Is(err, sql.ErrNoRows) {
		return secret, wrap("read the registry's secret", err)
	}
	secret = make([]byte, sha256.Size)
	_, _ = rand.Read(secret) // it never fails
	_, err = tx.NewRaw("INSERT INTO registry_secret (secret) VALUES (?)", secret).Exec(ctx)
	return secret, wrap("keep the registry's secret", err)
}

// hidden is a handle as it is kept once nobody has it.
func hidden(secret []byte, handleKey string) []byte {
	h := hmac.New(sha256.New, secret)
	h.Write([]byte(handleKey))
	return h.Sum(nil)
}

// wrap says what failed; nil stays nil.
func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("database: %s: %w", what, err)
}
