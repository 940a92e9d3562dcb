package search

import (
	"slices"
	"sort"
)

// top keeps the best few of the tokens that it is offered.
type top struct {
	recs *records
	// room is how many to keep.
	room int
	// taken are tokens that already have a place in a better class.
	taken []uint32
	// best are the kept ones, best first.
	best []candidate
}

type candidate struct {
	// score is the goodness of the match, where matches of a class differ in it.
	score uint32
	usd   float32
	id    uint32
}

func (t *top) reset(recs *records, room int) {
	t.recs, t.room, t.best = recs, room, t.best[:0]
}

func (t *top) before(a, b candidate) bool {
	if a.score != b.score {
		return a.score > b.score
	}
	if a.usd != b.usd {
		return a.usd > b.usd
	}
	return a.id != b.id && t.recs.beforeInName(a.id, b.id)
}

// floor is the score below which nothing has a chance.
func (t *top) floor() uint32 {
	if len(t.best) < t.room {
		return 0
	}
	return t.best[len(t.best)-1].score
}

// admits reports whether c could have a place; so it does for the last of those who have one.
func (t *top) admits(c candidate) bool {
	return len(t.best) < t.room || !t.before(t.best[len(t.best)-1], c)
}

// offer keeps c if it is good enough, and not kept or taken already.
func (t *top) offer(c candidate) {
	if !t.admits(c) || slices.Contains(t.taken, c.id) {
		return
	}
	at := sort.Search(len(t.best), func(i int) bool { return !t.before(t.best[i], c) })
	if at < len(t.best) && t.best[at].id == c.id {
		return
	}
	if len(t.best) == t.room {
		t.best = t.best[:t.room-1]
	}
	t.best = slices.Insert(t.best, at, c)
}

// take appends the kept tokens to hits and counts them as taken.
func (t *top) take(hits []Hit, m Match) []Hit {
	hits = slices.Grow(hits, len(t.best))
	for _, c := range t.best {
		hits = append(hits, t.recs.hit(c.id, m))
		t.taken = append(t.taken, c.id)
	}
	return hits
}
