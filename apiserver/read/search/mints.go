package search

import (
	"bytes"
	"hash/maphash"
	"iter"
)

// mints finds tokens by mint: open addressing with linear probing, split into shards so that growing moves few tokens at
// a time. The hash is seeded, because mints are chosen by those who deploy them.
type mints struct {
	recs   *records
	seed   maphash.Seed
	shards [mintShards]mintShard
}

const mintShards = 256

type mintShard struct {
	// slots has ids; its length is a power of two, and at least an eighth of it is free.
	slots []uint32
	used  int
}

func newMints(recs *records) mints { return mints{recs: recs, seed: maphash.MakeSeed()} }

func (m *mints) home(mint []byte) (*mintShard, int) {
	h := maphash.Bytes(m.seed, mint)
	return &m.shards[h%mintShards], int(h >> 32)
}

// find is the id of a chain's token.
func (m *mints) find(chain uint16, mint []byte) (uint32, bool) {
	for id := range m.all(mint) {
		if m.recs.recs.at(id).chain == chain {
			return id, true
		}
	}
	return noID, false
}

// all yields the ids of the tokens with this mint, one per chain, in no order.
func (m *mints) all(mint []byte) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		s, h := m.home(mint)
		if s.used == 0 {
			return
		}
		mask := len(s.slots) - 1
		for i := h & mask; s.slots[i] != noID; i = (i + 1) & mask {
			if bytes.Equal(m.recs.mint(s.slots[i]), mint) && !yield(s.slots[i]) {
				return
			}
		}
	}
}

func (m *mints) add(id uint32) {
	s, h := m.home(m.recs.mint(id))
	if s.used+s.used/7 >= len(s.slots) {
		m.grow(s)
	}
	s.put(h, id)
	s.used++
}

func (s *mintShard) put(h int, id uint32) {
	mask := len(s.slots) - 1
	i := h & mask
	for s.slots[i] != noID {
		i = (i + 1) & mask
	}
	s.slots[i] = id
}

func (m *mints) grow(s *mintShard) {
	old := s.slots
	s.slots = make([]uint32, max(8, 2*len(old)))
	for i := range s.slots {
		s.slots[i] = noID
	}
	for _, id := range old {
		if id != noID {
			_, h := m.home(m.recs.mint(id))
			s.put(h, id)
		}
	}
}

// drop takes id out and moves what lies behind it closer to where it belongs, so that no tombstones pile up.
func (m *mints) drop(id uint32) {
	s, h := m.home(m.recs.mint(id))
	mask := len(s.slots) - 1
	i := h & mask
	for s.slots[i] != id {
		i = (i + 1) & mask
	}
	for j := (i + 1) & mask; s.slots[j] != noID; j = (j + 1) & mask {
		_, h := m.home(m.recs.mint(s.slots[j]))
		if (j-h)&mask >= (j-i)&mask {
			s.slots[i] = s.slots[j]
			i = j
		}
	}
	s.slots[i] = noID
	s.used--
}
