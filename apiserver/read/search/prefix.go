package search

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sort"
)

// prefixes keeps the beginnings of tokens' tickers, names and words in the order of what follows them, so that all texts
// with one beginning are neighbours. They are cut into spans, and each span knows the best token in it: to find the best
// of a hundred thousand neighbours, a few spans are read.
type prefixes struct {
	recs  *records
	spans []span
	// offs is room for the offsets of the token that is being written.
	offs []uint8
}

// entry is a token and an offset in its text. It is packed because there are three or four for each token.
type entry struct {
	id  [4]byte
	off uint8
}

// span is a run of neighbours.
type span struct {
	// head is the beginning of the first entry's text, so that most comparisons need not read it.
	head uint64
	usd  float32 // of best
	best uint32
	// entries are 1 to spanLen.
	entries []entry
}

const (
	spanLen = 256
	// spanRoom is by how many entries a span grows.
	spanRoom = 16
)

func pack(id uint32, off uint8) entry {
	e := entry{off: off}
	binary.LittleEndian.PutUint32(e.id[:], id)
	return e
}

func (e entry) token() uint32 { return binary.LittleEndian.Uint32(e.id[:]) }

// place is where an entry stands in the order: by text, then tickers before others, then by id.
type place struct {
	text   []byte
	head   uint64
	others bool
	id     uint32
}

func placeOf(text []byte, others bool, id uint32) place {
	return place{text: text, head: headOf(text), others: others, id: id}
}

// headOf is the first eight bytes of a text as a number. Texts have no zero bytes, so that shorter ones come first.
func headOf(text []byte) uint64 {
	var b [8]byte
	copy(b[:], text)
	return binary.BigEndian.Uint64(b[:])
}

// precedes reports whether e stands before p.
func (x *prefixes) precedes(e entry, p place) bool {
	id := e.token()
	if c := bytes.Compare(x.recs.suffix(id, e.off), p.text); c != 0 {
		return c < 0
	}
	if others := x.other(id, e.off); others != p.others {
		return p.others
	}
	return id < p.id
}

// other reports whether the entry is not that of a ticker as a whole.
func (x *prefixes) other(id uint32, off uint8) bool {
	return off > 0 || x.recs.recs.at(id).tickerLen() == 0
}

// position is an entry's span and its index in it. One past the last entry is the start of the span behind the last.
type position struct{ span, at int }

// seek is the position of the first entry that doesn't stand before p.
func (x *prefixes) seek(p place) position {
	i := sort.Search(len(x.spans), func(i int) bool {
		s := &x.spans[i]
		return s.head > p.head || s.head == p.head && !x.precedes(s.entries[0], p)
	})
	if i == 0 {
		return position{}
	}
	entries := x.spans[i-1].entries
	// The first one is known to stand before p.
	at := 1 + sort.Search(len(entries)-1, func(j int) bool { return !x.precedes(entries[j+1], p) })
	if at == len(entries) {
		return position{i, 0}
	}
	return position{i - 1, at}
}

// each calls do for every offset at which id's text is entered: the beginnings of the ticker, the name, and their words.
// What a search for the beginnings of an earlier one finds anyway is left out.
func (x *prefixes) each(id uint32, do func(off uint8)) {
	text, n := x.recs.text(id)
	x.offs = appendStarts(x.offs[:0], text[:n], 0)
	x.offs = appendStarts(x.offs, text[n:], uint8(n))
	for i, off := range x.offs {
		suffix := x.recs.suffix(id, off)
		if !slices.ContainsFunc(x.offs[:i], func(earlier uint8) bool {
			return bytes.HasPrefix(x.recs.suffix(id, earlier), suffix)
		}) {
			do(off)
		}
	}
}

func (x *prefixes) add(id uint32)  { x.each(id, func(off uint8) { x.insert(id, off) }) }
func (x *prefixes) drop(id uint32) { x.each(id, func(off uint8) { x.remove(id, off) }) }

// revalue brings the spans up to date after id's liquidity changed.
func (x *prefixes) revalue(id uint32) {
	usd := *x.recs.usd.at(id)
	x.each(id, func(off uint8) {
		s := &x.spans[x.locate(id, off).span]
		switch {
		case s.best != id:
			if x.recs.before(id, s.best) {
				s.best, s.usd = id, usd
			}
		case usd >= s.usd:
			s.usd = usd
		default:
			x.rank(s)
		}
	})
}

func (x *prefixes) locate(id uint32, off uint8) position {
	return x.seek(placeOf(x.recs.suffix(id, off), x.other(id, off), id))
}

// rank finds a span's best token anew.
func (x *prefixes) rank(s *span) {
	s.best = s.entries[0].token()
	for _, e := range s.entries[1:] {
		if id := e.token(); id != s.best && x.recs.before(id, s.best) {
			s.best = id
		}
	}
	s.usd = *x.recs.usd.at(s.best)
}

func (x *prefixes) behead(s *span) {
	e := s.entries[0]
	s.head = headOf(x.recs.suffix(e.token(), e.off))
}

func (x *prefixes) insert(id uint32, off uint8) {
	if len(x.spans) == 0 {
		x.spans = append(x.spans, span{best: id, usd: *x.recs.usd.at(id), entries: []entry{pack(id, off)}})
		x.behead(&x.spans[0])
		return
	}
	p := x.locate(id, off)
	if p.at == 0 && p.span > 0 {
		// Behind the last of a span or before the first of the next: the former keeps the next one's head.
		p.span--
		p.at = len(x.spans[p.span].entries)
	}
	s := &x.spans[p.span]
	if len(s.entries) == cap(s.entries) {
		s.entries = append(make([]entry, 0, len(s.entries)+spanRoom), s.entries...)
	}
	s.entries = slices.Insert(s.entries, p.at, pack(id, off))
	if p.at == 0 {
		x.behead(s)
	}
	if x.recs.before(id, s.best) {
		s.best, s.usd = id, *x.recs.usd.at(id)
	}
	if len(s.entries) > spanLen {
		x.split(p.span)
	}
}

func (x *prefixes) split(i int) {
	const half = spanLen / 2
	whole := x.spans[i].entries
	left, right := span{entries: slices.Clone(whole[:half])}, span{entries: slices.Clone(whole[half:])}
	for _, s := range []*span{&left, &right} {
		x.behead(s)
		x.rank(s)
	}
	x.spans[i] = left
	x.spans = slices.Insert(x.spans, i+1, right)
}

func (x *prefixes) remove(id uint32, off uint8) {
	p := x.locate(id, off)
	s := &x.spans[p.span]
	s.entries = slices.Delete(s.entries, p.at, p.at+1)
	if len(s.entries) == 0 {
		x.spans = slices.Delete(x.spans, p.span, p.span+1)
		return
	}
	if p.at == 0 {
		x.behead(s)
	}
	if s.best == id {
		x.rank(s)
	}
	if len(s.entries) < spanLen/4 {
		x.merge(p.span)
	}
}

// merge joins a span that has become short with a neighbour if there's room, so that removals leave no crumbs.
func (x *prefixes) merge(i int) {
	for _, left := range []int{i - 1, i} {
		if left < 0 || left+1 >= len(x.spans) {
			continue
		}
		s, t := &x.spans[left], &x.spans[left+1]
		if len(s.entries)+len(t.entries) > spanLen*3/4 {
			continue
		}
		s.entries = slices.Concat(s.entries, t.entries)
		if x.recs.before(t.best, s.best) {
			s.best, s.usd = t.best, t.usd
		}
		x.spans = slices.Delete(x.spans, left+1, left+2)
		return
	}
}

// stretch is a run of entries: from the first on, before the second.
type stretch struct{ from, to position }

// tickers is the entries of the tokens whose ticker is text.
func (x *prefixes) tickers(text []byte) stretch {
	return stretch{x.seek(placeOf(text, false, 0)), x.seek(placeOf(text, true, 0))}
}

// beginnings is the entries that begin with text.
func (x *prefixes) beginnings(text []byte) stretch {
	// No text has a byte 0xff, so that this one stands behind all that begin so.
	end := append(slices.Clone(text), 0xff)
	return stretch{x.seek(placeOf(text, false, 0)), x.seek(placeOf(end, false, 0))}
}

// best offers t what it needs to know the best tokens of a stretch.
func (x *prefixes) best(t *top, of stretch) {
	from, to := of.from, of.to
	if from.span == to.span {
		x.offer(t, from.span, from.at, to.at)
		return
	}
	first := from.span
	if from.at > 0 {
		x.offer(t, first, from.at, len(x.spans[first].entries))
		first++
	}
	x.offer(t, to.span, 0, to.at)
	// The best of each span first: they leave few spans that could have a better one than the last of those kept.
	whole := x.spans[first:to.span]
	for i := range whole {
		t.offer(candidate{usd: whole[i].usd, id: whole[i].best})
	}
	for i := range whole {
		if t.admits(candidate{usd: whole[i].usd, id: whole[i].best}) {
			x.offer(t, first+i, 0, len(whole[i].entries))
		}
	}
}

// offer offers t the entries of a span from one index to another. Where there are none, the span need not exist.
func (x *prefixes) offer(t *top, span, from, to int) {
	if from == to {
		return
	}
	for _, e := range x.spans[span].entries[from:to] {
		id := e.token()
		t.offer(candidate{usd: *x.recs.usd.at(id), id: id})
	}
}
