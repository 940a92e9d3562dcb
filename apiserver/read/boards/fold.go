package boards

import (
	"cmp"
	"hash/maphash"
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/board"
)

// foldState says what the sort by age makes of a launch.
type foldState uint8

const (
	unfolded foldState = iota // not yet looked at
	aHead
	aClone
)

// cloneFolder folds the launches of all chains that are called the same into the first of them.
type cloneFolder struct {
	folder *board.Folder[*entry]
	seed   maphash.Seed // of foldedNames
}

func newCloneFolder() cloneFolder {
	return cloneFolder{board.NewFolder[*entry](), maphash.MakeSeed()}
}

// folding is a launch on its way through the folder, with what it was before.
type folding struct {
	createdAt int64
	tokens    *chainTokens
	*entry

	was       foldState
	hadClones int32
}

// compare orders launches of all chains, the oldest first. Of two of the same second on two chains nobody knows which came first: the order
// of the chains' ids is one that stays.
func (f *folding) compare(o *folding) int {
	switch {
	case f.createdAt != o.createdAt:
		return cmp.Compare(f.createdAt, o.createdAt)
	case f.tokens != o.tokens:
		return cmp.Compare(f.tokens.chain, o.tokens.chain)
	default:
		return f.launch.compare(o.launch)
	}
}

// fold folds the launches that came since the last time, or all of them: what came in another order than it was made in, and what
// lost its head, is folded as it should be only then.
func (r *Ranker) fold(all bool) {
	for _, b := range r.chains {
		for _, e := range b.touched {
			if e.listed && e.isReread {
				r.clones.rename(e)
			}
		}
	}
	if all {
		r.foldAll()
	} else {
		r.foldNew()
	}
}

// foldAll folds all launches anew, and touches those that are something else than before.
func (r *Ranker) foldAll() {
	n := 0
	for _, b := range r.chains {
		n += b.index.entries.Len()
	}
	list := make([]folding, 0, n)
	for _, b := range r.chains {
		b.newest = nil
		for e := range b.index.all() {
			if e.listed {
				list = append(list, folding{e.launch.CreatedAt, b, e, e.fold, e.clones})
				e.fold, e.head, e.clones = unfolded, nil, 0
			}
		}
	}
	r.clones.folder.Reset()
	r.clones.add(list)
	for i := range list {
		if f := &list[i]; f.fold != f.was || f.clones != f.hadClones {
			f.tokens.touch(f.entry)
		}
	}
}

// foldNew folds the launches that came.
func (r *Ranker) foldNew() {
	var list []folding
	for _, b := range r.chains {
		for _, e := range b.touched {
			if e.listed && e.fold == unfolded {
				list = append(list, folding{e.launch.CreatedAt, b, e, e.fold, e.clones})
			}
		}
	}
	r.clones.add(list)
	for i := range list {
		if h := list[i].head; h != nil && h.board != nil { // one without a place came just now and is touched
			h.board.tokens.touch(h)
		}
	}
}

// add folds launches into the launches before them. A launch that is older than a folded launch of its own chain waits until all are
// folded anew. A launch that is older than a folded launch of another chain doesn't wait, since chains are read one after the other: until
// all are folded anew, the folder counts it as new.
func (c *cloneFolder) add(list []folding) {
	slices.SortFunc(list, func(a, b folding) int { return a.compare(&b) })
	for i := range list {
		f := &list[i]
		if newest := f.tokens.newest; newest != nil && f.launch.compare(newest) < 0 {
			continue
		}
		f.tokens.newest = f.launch
		f.fold = aHead
		head, isClone := c.folder.AddKeys(f.createdAt, f.entry, f.foldedBy)
		if isClone && head.fold == aHead { // else the head has left the board since
			f.fold, f.head = aClone, head
			head.clones++
		}
	}
}

// rename takes a launch out of what it is folded with if it isn't called what it was: a token may tell its name later.
func (c *cloneFolder) rename(e *entry) {
	e.isReread = false
	name, symbol := namesOf(e.launch, e.facts)
	if by := maphash.Comparable(c.seed, [2]string{name, symbol}); by != e.foldedNames {
		e.unfold()
		e.foldedNames, e.foldedBy = by, c.folder.Keys(name, symbol)
	}
}

// unfold takes a card out of what it is folded with. The clones of a head have none until all are folded anew.
func (e *entry) unfold() {
	if e.fold == aClone && e.head.fold == aHead {
		e.head.clones--
		e.head.board.tokens.touch(e.head)
	}
	e.fold, e.head, e.clones = unfolded, nil, 0
}
