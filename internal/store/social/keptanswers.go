package social

import (
	"context"
	"database/sql"
	"errors"

	"github.com/boardwalkhq/boardwalk/internal/store/database"
)

// KeptAnswer is an answer to a request with an Idempotency-Key, which the same request gets again.
type KeptAnswer struct {
	// Request is a digest of the request.
	Request []byte
	Status  int
	Media   string
	Body    []byte
}

// Kept gives the answer that was kept for a key; nil where there is none.
func (s *Store) Kept(ctx context.Context, key string) (*KeptAnswer, error) {
	var a KeptAnswer
	err := s.db.Read.NewRaw("SELECT request, status, media, body FROM kept_answers WHERE idempotency_key = ?", key).Scan(ctx, &a.Request, &a.Status, &a.Media, &a.Body)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil //nolint:nilnil // none is what is asked
	}
	return &a, wrap("read a kept answer", err)
}

// Keep keeps an answer. now is unix seconds.
func (s *Store) Keep(ctx context.Context, key string, a *KeptAnswer, now int64) error {
	_, err := s.db.Write.NewRaw("INSERT INTO kept_answers (idempotency_key, request, status, media, body, made_at) VALUES (?, ?, ?, ?, ?, ?) "+
		"ON CONFLICT (idempotency_key) DO NOTHING", key, a.Request, a.Status, a.Media, a.Body, now).Exec(ctx)
	return database.Interruption(ctx, wrap("keep an answer", err))
}
