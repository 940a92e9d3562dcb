package board

import "hash/maphash"

// CloneWindow is the time in seconds after a launch within which another of the same name or ticker is its clone.
const CloneWindow = 24 * 60 * 60

// Folder folds launches of the same name or ticker into the first of them, the head. Its memory is that of the last 24
// hours' heads, however long their names are. L is what tells launches apart: tokens of two chains may have one address.
type Folder[L comparable] struct {
	heads []head[L] // by time, in room
	room  []head[L]
	gone  int // the heads before the first of heads
	// names and tickers say which head has the key, counted from the first ever.
	names, tickers map[uint64]int
	// seed keeps names from being made to collide. By chance two of a million different ones do once in 40 million times.
	seed maphash.Seed
}

type head[L comparable] struct {
	at     int64
	launch L
	keys   Keys
}

// Keys are the hashes by which launches' names and tickers are compared once they are normalised. They are good for one Folder.
type Keys struct{ name, ticker uint64 } // 0 for one that never folds

// NewFolder has no launches yet.
func NewFolder[L comparable]() *Folder[L] {
	return &Folder[L]{names: make(map[uint64]int), tickers: make(map[uint64]int), seed: maphash.MakeSeed()}
}

// Keys takes time that grows with the texts, so it pays to keep what it gives.
func (f *Folder[L]) Keys(name, symbol string) Keys { return Keys{f.key(name), f.key(symbol)} }

// Reset forgets all launches. Keys stay good.
func (f *Folder[L]) Reset() {
	clear(f.names)
	clear(f.tickers)
	clear(f.room)
	f.heads, f.gone = f.room[:0], 0
}

// Add takes in a launch at a time in unix seconds; one from before the launch added last counts as of that one's time. folded says that it is a clone:
// head, launched less than 24 hours before, has its name or its ticker, normalised; it is the older one if the name is one
// head's and the ticker another's. Otherwise the launch is a head itself. Clones are compared with heads alone, so that a
// chain of likenesses drags in nobody who is unlike the head.
func (f *Folder[L]) Add(at int64, launch L, name, symbol string) (of L, folded bool) {
	return f.AddKeys(at, launch, f.Keys(name, symbol))
}

// AddKeys is Add of a launch whose keys are known.
func (f *Folder[L]) AddKeys(at int64, launch L, keys Keys) (of L, folded bool) {
	f.expire(at)
	byName, named := f.names[keys.name]
	byTicker, tickered := f.tickers[keys.ticker]
	if first := byName; named || tickered {
		if !named || tickered && byTicker < byName {
			first = byTicker
		}
		of = f.heads[first-f.gone].launch
		return of, of != launch
	}
	number := f.gone + len(f.heads)
	f.push(head[L]{at, launch, keys})
	if keys.name != 0 {
		f.names[keys.name] = number
	}
	if keys.ticker != 0 {
		f.tickers[keys.ticker] = number
	}
	return launch, false
}

// push adds a head. It moves the heads to the front when their room is used up, and takes more only when they fill half of it.
func (f *Folder[L]) push(h head[L]) {
	if len(f.heads) == cap(f.heads) {
		if 2*len(f.heads) >= len(f.room) {
			f.room = make([]head[L], 4*len(f.heads)+64)
		}
		f.heads = f.room[:copy(f.room, f.heads)]
	}
	f.heads = append(f.heads, h)
}

// expire drops the heads that have had their time.
func (f *Folder[L]) expire(now int64) {
	for len(f.heads) > 0 && now-f.heads[0].at >= CloneWindow {
		delete(f.names, f.heads[0].keys.name)
		delete(f.tickers, f.heads[0].keys.ticker)
		f.heads[0] = head[L]{} // which may hold a launch in memory
		f.heads = f.heads[1:]
		f.gone++
	}
}

// key is the hash of a normalised text, 0 for an empty one. Texts that show nothing are one text, since nobody can tell them apart.
func (f *Folder[L]) key(s string) uint64 {
	n := normalise(s)
	switch {
	case n == "" && showsNothing(s):
		n = unseen
	case n == "":
		return 0
	}
	return max(1, maphash.String(f.seed, n))
}

// unseen stands for all texts that show nothing; no normalised text has control characters.
const unseen = "\x00"
