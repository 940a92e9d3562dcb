package search

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// A token's similarity to a query is the larger of two shares: how many of the query's trigrams the token has, and how
// many of those that the query would have inside of a longer text. The first one forgives typos. The second finds what
// begins or ends within a word, where the trigrams of beginning and end can't agree. A token has the trigrams of the
// words of its ticker and of its name. What else it has doesn't count against it: liquidity says more than a name's
// length. A query all of whose words are shorter than three characters has nothing to be similar by.
const (
	// similarNum / similarDen is the least similarity of a match. Two fifths is what two neighbours swapped at the end
	// of a word of four letters leave ("elno" has 2 of the 5 trigrams of "elon").
	similarNum, similarDen = 2, 5
	// postingsRead bounds the work for a query. Its trigrams are read from the rarest on; those with which the sum goes
	// beyond the bound count neither for nor against a token. Only long queries made of frequent trigrams reach it.
	postingsRead = 1_000_000
)

// wanted is a trigram of a query.
type wanted struct {
	tri   trigram
	count int
	open  bool
}

// worth turns numbers of trigrams into scores: whole numbers that compare as the similarities do, namely the shares
// multiplied with both denominators.
type worth struct{ open, all, perfect uint32 }

func worthOf(open, all int) worth {
	if open == 0 {
		return worth{all: 1, perfect: uint32(all)}
	}
	return worth{open: uint32(all), all: uint32(open), perfect: uint32(open * all)}
}

func (w worth) score(lane uint16) uint32 {
	return max(uint32(lane>>laneOpen)*w.open, uint32(lane&laneAll)*w.all)
}

// least is the lowest score of a match.
func (w worth) least() uint32 { return (w.perfect*similarNum + similarDen - 1) / similarDen }

// fuzzy offers s.top the tokens similar to the query, whose normalised text is key.
func (x *Index) fuzzy(s *scratch, key []byte) {
	w := x.choose(s, key)
	if len(s.wanted) == 0 {
		return
	}
	for i := range x.posts.blocks {
		for _, t := range s.wanted {
			for tokens := range x.posts.blocks[i].tokens(t.tri) {
				s.lanes.add(tokens, t.weight())
			}
		}
		x.pick(s, w, uint32(i)<<blockBits)
	}
}

// choose picks the trigrams to read, and says what each is worth.
func (x *Index) choose(s *scratch, key []byte) worth {
	s.wanted = s.wanted[:0]
	s.trigrams = appendTrigrams(s.trigrams[:0], key)
	if !slices.ContainsFunc(s.trigrams, trigram.inside) {
		return worth{}
	}
	s.open = distinct(append(s.open[:0], open(s.trigrams, key)...))
	for _, t := range distinct(s.trigrams) {
		_, isOpen := slices.BinarySearch(s.open, t)
		s.wanted = append(s.wanted, wanted{t, x.posts.count(t), isOpen})
	}
	slices.SortFunc(s.wanted, func(a, b wanted) int {
		return cmp.Or(cmp.Compare(a.count, b.count), cmp.Compare(a.tri, b.tri))
	})
	sum, all, opens := 0, 0, 0
	for i, w := range s.wanted {
		if sum += w.count; sum > x.reads && i > 0 {
			break
		}
		if all++; w.open {
			opens++
		}
	}
	s.wanted = slices.DeleteFunc(s.wanted[:all], func(w wanted) bool { return w.count == 0 })
	return worthOf(opens, all)
}

// lanes count the trigrams of the tokens of a block: per token 16 bits, the number of all trigrams in the lower half and
// that of open ones in the upper. Both stay below 128, because a query of 64 characters has at most 65 trigrams. They
// are bytes so that four lanes can be read in one go.
type lanes [laneBytes * blockLen]byte

const (
	laneBytes = 2
	laneOpen  = 8
	laneAll   = 1<<laneOpen - 1
)

// weight gives how much the trigram adds to a lane.
func (w wanted) weight() uint16 {
	if w.open {
		return 1<<laneOpen | 1
	}
	return 1
}

func (l *lanes) add(tokens []uint16, weight uint16) {
	for _, t := range tokens {
		lane := l[laneBytes*int(t) : laneBytes*int(t)+laneBytes]
		binary.LittleEndian.PutUint16(lane, binary.LittleEndian.Uint16(lane)+weight)
	}
}

// pick offers s.top the tokens of the block that begins with the id base, and clears the lanes.
func (x *Index) pick(s *scratch, w worth, base uint32) {
	floor := max(w.least(), s.top.floor())
	f := w.sieve(floor)
	for at := 0; at < len(s.lanes); at += 4 * laneBytes {
		four := binary.LittleEndian.Uint64(s.lanes[at : at+4*laneBytes])
		if !f.passes(four) {
			continue
		}
		for id := base + uint32(at/laneBytes); four != 0; id++ {
			if score := w.score(uint16(four)); score >= floor {
				s.top.offer(candidate{score: score, usd: *x.recs.usd.at(id), id: id})
			}
			four >>= 8 * laneBytes
		}
		if higher := s.top.floor(); higher > floor {
			floor = higher
			f = w.sieve(floor)
		}
	}
	clear(s.lanes[:])
}

// sieve tells, of four lanes at once, whether one has a score high enough: to each number of trigrams 128 is added, less
// what is needed, and the eighth bit looked at.
type sieve struct{ all, open uint64 }

const (
	eachAll = 0x0001000100010001
	eighth  = eachAll << 7
)

func (w worth) sieve(score uint32) sieve {
	lift := func(worth uint32) uint64 {
		if worth == 0 {
			return 0
		}
		return uint64(0x80-(score+worth-1)/worth) * eachAll
	}
	return sieve{all: lift(w.all), open: lift(w.open)}
}

func (s sieve) passes(four uint64) bool {
	all, open := four&(eachAll*laneAll), four>>laneOpen&(eachAll*laneAll)
	return ((all+s.all)|(open+s.open))&eighth != 0
}
