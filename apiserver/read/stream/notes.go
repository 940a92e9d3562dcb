package stream

import (
	"context"
	"hash/maphash"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/recent"
	"github.com/boardwalkhq/boardwalk/internal/store/social"
)

const (
	// noteTTL is how long a note that was read is used again.
	noteTTL = time.Second
	// keptNotes is how many notes are remembered. A note has up to 16 KiB.
	keptNotes = 2_048
)

// notes keeps the notes that were read, and which trades have a note: most trades have none, and no query is made for them.
type notes struct {
	read *recent.Cache[social.NoteKey, recent.Dated[*member.Post]]
	seed maphash.Seed

	mu sync.RWMutex
	// noted has a hash of each trade that has, or had, a note. Two trades may share one. isKnown is false before the first look.
	noted   map[uint64]bool
	isKnown bool
	last    int64 // change of a post
	servers int64 // ServerChanges of the registry
}

func newNotes() notes {
	return notes{read: recent.New[social.NoteKey, recent.Dated[*member.Post]](keptNotes), seed: maphash.MakeSeed(), noted: map[uint64]bool{}}
}

// mayHave reports whether a trade may have a note.
func (n *notes) mayHave(k social.NoteKey) bool {
	h := maphash.Comparable(n.seed, k)
	n.mu.RLock()
	defer n.mu.RUnlock()
	return !n.isKnown || n.noted[h]
}

// FollowNotes takes in which trades got a note since the last time, by a registry that is read beside the requests. One goroutine calls it.
func (r *Reader) FollowNotes(ctx context.Context, from social.Posts) error {
	n := &r.notes
	servers := from.ServerChanges() // before the change: it may be another server's already, and then differs the next time
	after := n.last
	if servers != n.servers {
		after = 0 // it may lack the newest changes of the last one
	}
	trades, last, err := from.NotedSince(ctx, after)
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.isKnown = last >= after; !n.isKnown { // an older state of the database: all is read the next time
		last = 0
	}
	n.last, n.servers = last, servers
	for _, k := range trades {
		n.noted[maphash.Comparable(n.seed, k)] = true
	}
	return nil
}

// Notes reads which posts are notes on some trades. It leaves out trades without a note. While the database can't be read, it gives the notes as they were
// read last.
func (r *Reader) Notes(ctx context.Context, trades []*Trade) (map[*Trade]*member.Post, error) {
	out := make(map[*Trade]*member.Post)
	unread := map[social.NoteKey][]*Trade{}
	hasAll := true
	for _, t := range trades {
		key := social.NoteKey{Member: t.Member, TradeRef: member.TradeRef{Chain: t.Chain, Tx: t.Tx, Mint: t.Token}}
		if !r.notes.mayHave(key) {
			continue
		}
		hit, ok := r.notes.read.Get(key)
		if hit.Value != nil {
			out[t] = hit.Value
		}
		if !ok || r.now().Sub(hit.At) >= noteTTL {
			unread[key], hasAll = append(unread[key], t), hasAll && ok
		}
	}
	if len(unread) == 0 {
		return out, nil
	}
	at := r.now()
	ctx, cancel := context.WithTimeout(ctx, figures.ReadTime)
	defer cancel()
	found, err := r.social.Posts.Notes(ctx, slices.Collect(maps.Keys(unread)))
	if err != nil {
		if hasAll {
			return out, nil
		}
		return nil, err
	}
	for key, of := range unread {
		note := found[key]
		r.notes.read.Put(key, recent.Dated[*member.Post]{Value: note, At: at})
		for _, t := range of {
			if delete(out, t); note != nil {
				out[t] = note
			}
		}
	}
	return out, nil
}
