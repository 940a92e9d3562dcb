package evm

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"slices"
	"time"
)

// distrustTime is how long an endpoint that was outvoted isn't trusted. One that is asked last may never come to agree with others as often as
// it takes, and whoever runs it may have mended it since.
const distrustTime = 7 * 24 * time.Hour

// Record is what is kept of an endpoint that isn't trusted, so that a restart doesn't make a liar one of those that are asked first.
type Record struct {
	// Endpoint is a hash of its URL, which may hold a key. An endpoint with another URL is another one.
	Endpoint [16]byte
	// Outvoted is how often others, or a header, contradicted it, OutvotedAt when they did last (unix seconds).
	Outvoted   int
	OutvotedAt int64
}

// Records are those of the endpoints that aren't trusted, in the order of their hashes.
func (s *Source) Records() []Record {
	out := []Record{}
	for _, e := range s.pool.list {
		if !e.isDistrusted() {
			continue
		}
		if id, ok := e.hash(); ok {
			e.mu.Lock()
			out = append(out, Record{id, e.outvoted, e.outvotedAt.Unix()})
			e.mu.Unlock()
		}
	}
	slices.SortFunc(out, func(a, b Record) int {
		return cmp.Or(bytes.Compare(a.Endpoint[:], b.Endpoint[:]), cmp.Compare(b.OutvotedAt, a.OutvotedAt), cmp.Compare(b.Outvoted, a.Outvoted))
	})
	// A chain may be declared with one URL twice.
	return slices.CompactFunc(out, func(a, b Record) bool { return a.Endpoint == b.Endpoint })
}

// RecallRecords takes up the records of before this start, or of another process. What this process knows itself counts more.
func (s *Source) RecallRecords(records []Record) {
	for _, e := range s.pool.list {
		id, ok := e.hash()
		i := slices.IndexFunc(records, func(r Record) bool { return r.Endpoint == id })
		if !ok || i < 0 {
			continue
		}
		e.mu.Lock()
		if e.outvotedAt.IsZero() || e.outvotedAt.Unix() < records[i].OutvotedAt {
			e.outvoted, e.distrust, e.outvotedAt = max(e.outvoted, records[i].Outvoted), distrusted, time.Unix(records[i].OutvotedAt, 0)
		}
		e.mu.Unlock()
	}
}

// hash is what an endpoint is called in a database. ok is false where its URL can't be read.
func (e *endpoint) hash() (id [16]byte, ok bool) {
	url, err := e.URL()
	sum := sha256.Sum256([]byte("boardwalk endpoint " + url))
	return [16]byte(sum[:16]), err == nil
}

// forgive trusts an endpoint again that was outvoted long ago. The caller holds the lock.
func (e *endpoint) forgive() {
	if !e.outvotedAt.IsZero() && e.now().Sub(e.outvotedAt) >= distrustTime {
		e.outvoted, e.distrust, e.outvotedAt = 0, 0, time.Time{}
	}
}
