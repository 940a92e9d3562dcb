package cards

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// sharedTime is how long Redis is waited for by default: less than a render takes.
	sharedTime = 250 * time.Millisecond
	// sharedFor is how long Redis keeps a picture, as the last resort while the renderer is away.
	sharedFor = 24 * time.Hour
	// places bounds what is kept in Redis, which counts the limits too and must not run full: each subject has one place,
	// which others have as well, and the last one takes it.
	places = 2048
	// maxShared is the largest picture that is shared: several times what a card has.
	maxShared = 512 << 10
	// form is how a shared picture begins; it changes with what follows.
	form = "card-1"
)

// shared keeps pictures in Redis, for the other API servers and for the time after a start. Whatever fails there is a picture
// that isn't there.
type shared struct {
	rdb redis.UniversalClient
	now func() time.Time
	log *slog.Logger
	// patience is how long Redis is waited for.
	patience time.Duration
	// pausedUntil is in Unix nanoseconds; 0 while Redis answers.
	pausedUntil atomic.Int64
}

// place is where a subject's picture is.
func place(subject string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(subject)) // never fails
	return "boardwalk:card:" + strconv.FormatUint(uint64(h.Sum32()%places), 10)
}

// get gives nil when there is none. A nil shared has none.
func (s *shared) get(ctx context.Context, subject string) *Picture {
	if s == nil || !s.mayAsk() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	raw, err := s.rdb.Get(ctx, place(subject)).Bytes()
	if s.noteError(ctx, err) {
		return nil
	}
	return unpack(raw, subject)
}

func (s *shared) put(ctx context.Context, subject string, p *Picture) {
	if s == nil || len(p.PNG) > maxShared || !s.mayAsk() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	s.noteError(ctx, s.rdb.Set(ctx, place(subject), pack(subject, p), sharedFor).Err())
}

func (s *shared) mayAsk() bool {
	left := time.Duration(s.pausedUntil.Load() - s.now().UnixNano())
	return left <= 0 || left > pause // the clock was set back
}

// noteError reports whether there is no picture. What failed isn't asked again for a second; the limiter, which asks the same
// Redis, tells more about it.
func (s *shared) noteError(ctx context.Context, err error) bool {
	if err == nil || errors.Is(err, redis.Nil) {
		return err != nil
	}
	s.pausedUntil.Store(s.now().Add(pause).UnixNano())
	s.log.DebugContext(ctx, "Redis keeps no cards for now", "pause_s", pause.Seconds())
	return true
}

// pack is a line for each of form, subject, key and time, and the picture.
func pack(subject string, p *Picture) []byte {
	return append(fmt.Appendf(nil, "%s\n%s\n%s\n%d\n", form, subject, p.key, p.AsOf), p.PNG...)
}

// unpack gives nil for what isn't the subject's picture.
func unpack(raw []byte, subject string) *Picture {
	parts := bytes.SplitN(raw, []byte("\n"), 5)
	if len(parts) != 5 || string(parts[0]) != form || string(parts[1]) != subject {
		return nil
	}
	asOf, err := strconv.ParseInt(string(parts[3]), 10, 64)
	if err != nil || checkPicture("image/png", parts[4]) != nil {
		return nil
	}
	return newPicture(string(parts[2]), parts[4], asOf)
}
