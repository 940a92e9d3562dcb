package search

import (
	"iter"
	"slices"
	"sort"
)

// postings says which tokens have a trigram. Tokens are taken in blocks by the upper half of their ids, so that the lower
// half, two bytes, is all that is kept of each, and so that a query counts one block at a time.
type postings struct{ blocks []block }

const (
	blockBits = 16
	blockLen  = 1 << blockBits
)

func (x *postings) add(t trigram, id uint32) {
	for int(id>>blockBits) >= len(x.blocks) {
		x.blocks = append(x.blocks, block{})
	}
	x.blocks[id>>blockBits].add(t, uint16(id&(blockLen-1)))
}

func (x *postings) drop(t trigram, id uint32) {
	x.blocks[id>>blockBits].drop(t, uint16(id&(blockLen-1)))
}

// count gives how many tokens have t.
func (x *postings) count(t trigram) int {
	n := 0
	for i := range x.blocks {
		for tokens := range x.blocks[i].tokens(t) {
			n += len(tokens)
		}
	}
	return n
}

// block has the pairs of a trigram and a token in order, so that those of one trigram are neighbours, cut into chunks.
// Rare trigrams, of which there are very many, share chunks.
type block struct{ chunks []chunk }

// chunk is a run of neighbours.
type chunk struct {
	// tri and token are the first pair.
	tri   trigram
	token uint16
	// runs are its trigrams, and where their tokens end in tokens.
	runs   []run
	tokens []uint16
}

type run struct {
	tri trigram
	end uint16
}

const (
	chunkLen = 1024
	// tokensRoom and runsRoom are by how many of them a chunk grows.
	tokensRoom, runsRoom = 16, 4
)

// find is the last chunk that begins with the pair or before it; the first one if none does.
func (b *block) find(t trigram, token uint16) int {
	i := sort.Search(len(b.chunks), func(i int) bool {
		c := &b.chunks[i]
		return c.tri > t || c.tri == t && c.token > token
	})
	return max(i-1, 0)
}

// run is the index of t's run, or where it belongs, and where its tokens begin and end.
func (c *chunk) run(t trigram) (i, from, to int) {
	i = sort.Search(len(c.runs), func(i int) bool { return c.runs[i].tri >= t })
	if i > 0 {
		from = int(c.runs[i-1].end)
	}
	to = from
	if i < len(c.runs) && c.runs[i].tri == t {
		to = int(c.runs[i].end)
	}
	return i, from, to
}

// tokens yields the tokens that have t, some at a time, in order.
func (b *block) tokens(t trigram) iter.Seq[[]uint16] {
	return func(yield func([]uint16) bool) {
		for i := b.find(t, 0); i < len(b.chunks) && b.chunks[i].tri <= t; i++ {
			c := &b.chunks[i]
			if _, from, to := c.run(t); from < to && !yield(c.tokens[from:to]) {
				return
			}
		}
	}
}

// add enters a pair that isn't there.
func (b *block) add(t trigram, token uint16) {
	if len(b.chunks) == 0 {
		b.chunks = append(b.chunks, chunk{})
	}
	i := b.find(t, token)
	c := &b.chunks[i]
	r, from, to := c.run(t)
	if from == to {
		c.runs = insert(c.runs, r, run{t, uint16(from)}, runsRoom)
	}
	at, _ := slices.BinarySearch(c.tokens[from:to], token)
	c.tokens = insert(c.tokens, from+at, token, tokensRoom)
	for k := range c.runs[r:] {
		c.runs[r+k].end++
	}
	c.tri, c.token = c.runs[0].tri, c.tokens[0]
	if len(c.tokens) > chunkLen {
		b.split(i)
	}
}

// insert is slices.Insert, but grows by room only: there are many chunks, and most are as long as they will get.
func insert[T any](s []T, at int, v T, room int) []T {
	if len(s) == cap(s) {
		s = append(make([]T, 0, len(s)+room), s...)
	}
	return slices.Insert(s, at, v)
}

func (b *block) split(i int) {
	const half = chunkLen / 2
	c := &b.chunks[i]
	cut := sort.Search(len(c.runs), func(i int) bool { return c.runs[i].end > half })
	right := chunk{
		tri: c.runs[cut].tri, token: c.tokens[half],
		runs: slices.Clone(c.runs[cut:]), tokens: slices.Clone(c.tokens[half:]),
	}
	for k := range right.runs {
		right.runs[k].end -= half
	}
	_, from, _ := c.run(right.tri)
	if from < half {
		c.runs[cut].end = half
		cut++
	}
	c.runs, c.tokens = slices.Clone(c.runs[:cut]), slices.Clone(c.tokens[:half])
	b.chunks = slices.Insert(b.chunks, i+1, right)
}

// drop takes out a pair that is there.
func (b *block) drop(t trigram, token uint16) {
	i := b.find(t, token)
	c := &b.chunks[i]
	r, from, to := c.run(t)
	at, _ := slices.BinarySearch(c.tokens[from:to], token)
	c.tokens = slices.Delete(c.tokens, from+at, from+at+1)
	for k := range c.runs[r:] {
		c.runs[r+k].end--
	}
	if to-from == 1 {
		c.runs = slices.Delete(c.runs, r, r+1)
	}
	if len(c.tokens) == 0 {
		b.chunks = slices.Delete(b.chunks, i, i+1)
		return
	}
	c.tri, c.token = c.runs[0].tri, c.tokens[0]
	if len(c.tokens) < chunkLen/4 {
		b.merge(i)
	}
}

// merge joins a chunk that has become short with a neighbour if there's room, so that removals leave no crumbs.
func (b *block) merge(i int) {
	for _, left := range []int{i - 1, i} {
		if left < 0 || left+1 >= len(b.chunks) {
			continue
		}
		c, d := &b.chunks[left], &b.chunks[left+1]
		if len(c.tokens)+len(d.tokens) > chunkLen*3/4 {
			continue
		}
		shift := uint16(len(c.tokens))
		c.tokens = slices.Concat(c.tokens, d.tokens)
		if last := len(c.runs) - 1; c.runs[last].tri == d.tri {
			c.runs = c.runs[:last]
		}
		c.runs = slices.Concat(c.runs, d.runs)
		for k := range d.runs {
			c.runs[len(c.runs)-1-k].end += shift
		}
		b.chunks = slices.Delete(b.chunks, left+1, left+2)
		return
	}
}
