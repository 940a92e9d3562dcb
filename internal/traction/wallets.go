package traction

import "slices"

// walletSums is what a wallet did. It has 40 bytes, and there are millions of them.
type walletSums struct {
	key               uint64
	buy, sell         float64 // USD, as at the tape's epoch
	lastBuy, lastSell uint32  // unix seconds, up to the year 2106; 0 for never
	// cluster is the place of its cluster in the tape's list plus 1; 0 for a wallet that counts by itself.
	cluster uint32
	// fundedAt is when its coins came (unix seconds), as its newest trade tells it; see the constants.
	fundedAt uint32
}

// silent reports whether the wallet's last trade is out of the window.
func (w *walletSums) silent(now int64) bool { return now-int64(max(w.lastBuy, w.lastSell)) >= Window }

// wallets is a table of sums by key. A Go map would take twice the memory, and its order, which sums of floats hang on,
// differs from run to run; the list is in order of the wallets' first trades.
type wallets struct {
	list []walletSums
	// slots has positions in the list plus 1, 0 for none, at the place that the key names or the next free one after it. Its
	// length is a power of two. Below scanned wallets there is none.
	slots []uint32
}

// scanned is how many wallets are looked through faster than hashed: most tokens have fewer.
const scanned = 16

// find gives the sums of the wallet with the key, or nil if there is no such wallet. The pointer is valid until the next get or keep.
func (s *wallets) find(key uint64) *walletSums {
	if n, ok := s.position(key); ok {
		return &s.list[n]
	}
	return nil
}

// position finds the wallet with the key in the list.
func (s *wallets) position(key uint64) (n int, ok bool) {
	if s.slots == nil {
		for n := range s.list {
			if s.list[n].key == key {
				return n, true
			}
		}
		return 0, false
	}
	at := s.slots[s.slot(key)]
	return int(at) - 1, at > 0
}

// slot finds the slot of the key, or the free slot that it would take.
func (s *wallets) slot(key uint64) int {
	mask := len(s.slots) - 1
	for i := int(key) & mask; ; i = (i + 1) & mask {
		if at := s.slots[i]; at == 0 || s.list[at-1].key == key {
			return i
		}
	}
}

// get gives the sums of the wallet with the key, and adds the wallet if there is none.
func (s *wallets) get(key uint64) *walletSums {
	if w := s.find(key); w != nil {
		return w
	}
	if n := len(s.list); n == cap(s.list) {
		// By a quarter: what append would leave free of millions of wallets is more than the copying is worth.
		s.list = append(make([]walletSums, 0, n+n/4+2), s.list...)
	}
	s.list = append(s.list, walletSums{key: key})
	if n := len(s.list); n > scanned && 4*n > 3*len(s.slots) {
		s.index()
	} else if s.slots != nil {
		s.slots[s.slot(key)] = uint32(n)
	}
	return &s.list[len(s.list)-1]
}

// index makes the slots anew, at most three quarters full.
func (s *wallets) index() {
	s.slots = nil
	if len(s.list) <= scanned {
		return
	}
	size := 2 * scanned
	for 4*len(s.list) > 3*size {
		size *= 2
	}
	s.slots = make([]uint32, size)
	for i := range s.list {
		s.slots[s.slot(s.list[i].key)] = uint32(i + 1)
	}
}

// keep drops the others, and the memory that this frees. It reports whether it dropped any.
func (s *wallets) keep(wanted func(*walletSums) bool) (dropped bool) {
	before, kept := len(s.list), 0
	for i := range s.list { // slices.DeleteFunc would copy each to the heap
		if wanted(&s.list[i]) {
			s.list[kept] = s.list[i]
			kept++
		}
	}
	if s.list = s.list[:kept]; kept == before {
		return false
	}
	if cap(s.list)-len(s.list) > len(s.list)/4+2 {
		s.list = slices.Clone(s.list)
	}
	s.index()
	return true
}
