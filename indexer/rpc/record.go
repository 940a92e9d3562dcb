package rpc

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"slices"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
)

// distrustTime is how long an endpoint that was outvoted isn't trusted. An endpoint that is asked last may never come to agree with others as often as
// it takes, and whoever runs it may have mended it since.
const distrustTime = 7 * 24 * time.Hour

// distrusted is how many times an outvoted endpoint has to agree with others until it is trusted again; until then it is asked last.
const distrusted = 100

// record counts how often others, or a header, contradicted an endpoint. The caller has the endpoint locked.
type record struct {
	// outvoted is that count, distrust is how many agreements the endpoint is away from being trusted, outvotedAt is when it was contradicted last.
	outvoted, distrust int
	outvotedAt         time.Time
}

// Records lists the records of the endpoints that aren't trusted, in the order of their hashes.
func (p *Pool[E]) Records() []chain.Record {
	out := []chain.Record{}
	for _, member := range p.List {
		e := member.Base()
		if !e.IsDistrusted() {
			continue
		}
		if id, ok := e.id(); ok {
			e.mu.Lock()
			out = append(out, chain.Record{Endpoint: id, Outvoted: e.outvoted, OutvotedAt: e.outvotedAt.Unix()})
			e.mu.Unlock()
		}
	}
	slices.SortFunc(out, func(a, b chain.Record) int {
		return cmp.Or(bytes.Compare(a.Endpoint[:], b.Endpoint[:]), cmp.Compare(b.OutvotedAt, a.OutvotedAt), cmp.Compare(b.Outvoted, a.Outvoted))
	})
	// A chain may be declared with one URL twice.
	return slices.CompactFunc(out, func(a, b chain.Record) bool { return a.Endpoint == b.Endpoint })
}

// RecallRecords takes up the records of before this start, or of another process. What this process knows itself counts more.
func (p *Pool[E]) RecallRecords(records []chain.Record) {
	for _, member := range p.List {
		e := member.Base()
		id, ok := e.id()
		i := slices.IndexFunc(records, func(r chain.Record) bool { return r.Endpoint == id })
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

// id is what an endpoint is called in a database. ok is false where its URL can't be read.
func (e *Endpoint) id() (id [16]byte, ok bool) {
	url, err := e.URL()
	sum := sha256.Sum256([]byte("boardwalk endpoint " + url))
	return [16]byte(sum[:16]), err == nil
}

// forgive trusts an endpoint again that was outvoted long ago.
func (r *record) forgive(now time.Time) {
	if !r.outvotedAt.IsZero() && now.Sub(r.outvotedAt) >= distrustTime {
		*r = record{}
	}
}

// Outvote notes that the endpoint said what two others, or a header, contradict, and leaves it aside.
func (e *Endpoint) Outvote() {
	now := e.Now()
	e.Failed(now)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.forgive(now)
	e.outvoted++
	e.distrust, e.outvotedAt = distrusted, now
}

// Agree notes that the endpoint said what another said, too.
func (e *Endpoint) Agree() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.distrust = max(e.distrust-1, 0)
}

// IsDistrusted reports whether it was outvoted and hasn't agreed often enough since.
func (e *Endpoint) IsDistrusted() bool {
	now := e.Now()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.forgive(now)
	return e.distrust > 0
}

// Outvotes is how often it was outvoted.
func (e *Endpoint) Outvotes() int {
	now := e.Now()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.forgive(now)
	return e.outvoted
}
