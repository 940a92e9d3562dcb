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

// Kept gives the answer that is kept for a key at a time, in unix seconds; nil where there is none.
func (s Answers) Kept(ctx context.Context, key string, now int64) (*KeptAnswer, error) {
	var a KeptAnswer
	err := s.db.Read.NewRaw("SELECT request, status, media, body FROM kept_answers WHERE idempotency_key = ? AND kept_until > ?", key, now).Scan(ctx, &a.Request, &a.Status, &a.Media, &a.Body)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil //nolint:nilnil // none is what is asked
	}
	return &a, wrap("read a kept answer", err)
}

// Keep keeps an answer until a time, in unix seconds.
func (s Answers) Keep(ctx context.Context, key string, a *KeptAnswer, until int64) error {
	_, err := s.db.Write.NewRaw("INSERT INTO kept_answers (idempotency_key, request, status, media, body, kept_until) VALUES (?, ?, ?, ?, ?, ?) "+
		"ON CONFLICT (idempotency_key) DO UPDATE SET request = excluded.request, status = excluded.status, media = excluded.media, body = excluded.body, "+
		"kept_until = excluded.kept_until", key, a.Request, a.Status, a.Media, a.Body, until).Exec(ctx)
	return database.Interruption(ctx, wrap("keep an answer", err))
}
