package board

import (
	"hash/maphash"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// CloneWindow is the time in seconds after a launch within which another of the same name or ticker is its clone.
const CloneWindow = 24 * 60 * 60

// Folder folds launches of the same name or ticker into the first of them, the head. Its memory is that of the last 24
// hours' heads, however long their names are.
type Folder struct {
	heads []head // by time
	gone  int    // the heads before the first of heads
	// names and tickers say which head has the key, counted from the first ever.
	names, tickers map[uint64]int
	// seed keeps names from being made to collide. By chance two of a million different ones do once in 40 million times.
	seed maphash.Seed
}

type head struct {
	at   int64
	mint market.Address
	keys Keys
}

// Keys are what a launch's name and ticker are compared by: hashes of them normalised, good for one Folder.
type Keys struct{ name, ticker uint64 } // 0 for one that never folds

// NewFolder has no launches yet.
func NewFolder() *Folder {
	return &Folder{names: make(map[uint64]int), tickers: make(map[uint64]int), seed: maphash.MakeSeed()}
}

// Keys takes time that grows with the texts, so it pays to keep what it gives.
func (f *Folder) Keys(name, symbol string) Keys { return Keys{f.key(name), f.key(symbol)} }

// Reset forgets all launches. Keys stay good.
func (f *Folder) Reset() {
	clear(f.names)
	clear(f.tickers)
	f.heads, f.gone = nil, 0
}

// Add takes in a launch at a time in unix seconds; one from before the launch added last counts as of that one's time. folded says that it is a clone:
// head, launched less than 24 hours before, has its name or its ticker, normalised; it is the older one if the name is one
// head's and the ticker another's. Otherwise the launch is a head itself. Clones are compared with heads alone, so that a
// chain of likenesses drags in nobody who is unlike the head.
func (f *Folder) Add(at int64, mint market.Address, name, symbol string) (of market.Address, folded bool) {
	return f.AddKeys(at, mint, f.Keys(name, symbol))
}

// AddKeys is Add of a launch whose keys are known.
func (f *Folder) AddKeys(at int64, mint market.Address, keys Keys) (of market.Address, folded bool) {
	f.expire(at)
	byName, named := f.names[keys.name]
	byTicker, tickered := f.tickers[keys.ticker]
	if first := byName; named || tickered {
		if !named || tickered && byTicker < byName {
			first = byTicker
		}
		of = f.heads[first-f.gone].mint
		return of, of != mint
	}
	number := f.gone + len(f.heads)
	f.heads = append(f.heads, head{at, mint, keys})
	if keys.name != 0 {
		f.names[keys.name] = number
	}
	if keys.ticker != 0 {
		f.tickers[keys.ticker] = number
	}
	return mint, false
}

// expire drops the heads that have had their time.
func (f *Folder) expire(now int64) {
	for len(f.heads) > 0 && now-f.heads[0].at >= CloneWindow {
		delete(f.names, f.heads[0].keys.name)
		delete(f.tickers, f.heads[0].keys.ticker)
		f.heads = f.heads[1:]
		f.gone++
	}
}

// key is the hash of a normalised text, 0 for an empty one. Texts that show nothing are one text, since nobody can tell them apart.
func (f *Folder) key(s string) uint64 {
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
