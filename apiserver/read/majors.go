package read

import (
	"context"
	"maps"
	"slices"

	"github.com/boardwalkhq/boardwalk/apiserver/read/declared"
	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// Majors is the list of majors at one moment, in the order in which they are declared.
type Majors struct {
	// Version changes with the list.
	Version int64
	Stale   bool
	List    []Major
}

// Major is a declared major. Known is false while the index has not met it; then only its chain, mint and asset are there.
type Major struct {
	figures.Token

	Asset   string
	Figures figures.Figures
	Known   bool
}

// foundMajors are the tokens that are majors as of one look, with how their chains stood. It is never changed.
type foundMajors struct {
	declared []declared.Major
	chains   map[string]majorsChain
	tokens   map[majorKey]figures.Token
}

type majorKey struct {
	chain string
	mint  market.Address
}

// majorsChain has the inputs of the figures of a chain's majors.
type majorsChain struct {
	commit, rewinds, generation int64
	stale                       bool
}

// refreshMajors reads the majors of the chains on which one of them, or a quote's price, has changed, and all of them when others are declared.
func (v *View) refreshMajors(ctx context.Context, s *Snapshot) (*foundMajors, error) {
	last := v.majors
	next := &foundMajors{declared: s.Catalog.Majors, chains: make(map[string]majorsChain), tokens: make(map[majorKey]figures.Token)}
	if last == nil || !slices.Equal(next.declared, last.declared) {
		last = &foundMajors{}
	}
	var mints []market.Address
	for id, status := range s.statuses() {
		of := next.mintsOn(id)
		if len(of) == 0 {
			continue
		}
		now := v.now()
		next.chains[id] = majorsChain{status.CommitNo, status.Rewinds, status.Generation, store.IsStale(status.State, status.Last.Time, status.Head, now)}
		was, known := last.chains[id]
		if !known || v.isMajorChanged(id, was, next.chains[id], of) {
			mints = append(mints, of...)
			continue
		}
		for _, mint := range of {
			if t, ok := last.tokens[majorKey{id, mint}]; ok {
				next.tokens[majorKey{id, mint}] = t.As(&status, now)
			}
		}
	}
	if last == v.majors && maps.Equal(next.chains, last.chains) {
		return last, nil
	}
	ctx, cancel := context.WithTimeout(ctx, figures.LookTime)
	defer cancel()
	found, err := figures.Read(ctx, v.looks, v.now(), mints)
	if err != nil {
		return nil, err
	}
	for mint, tokens := range found {
		for i := range tokens {
			next.tokens[majorKey{tokens[i].Chain, mint}] = tokens[i]
		}
	}
	v.majors = next
	return next, nil
}

// mintsOn are the declared majors of a chain.
func (f *foundMajors) mintsOn(chain string) (mints []market.Address) {
	for _, d := range f.declared {
		if d.Chain == chain {
			mints = append(mints, d.Mint)
		}
	}
	return mints
}

// isMajorChanged reports whether a chain's majors may have changed since it was as it was.
func (v *View) isMajorChanged(chain string, was, is majorsChain, mints []market.Address) bool {
	if was.rewinds != is.rewinds || was.generation != is.generation || is.commit < was.commit {
		return true
	}
	if is.commit == was.commit {
		return false
	}
	changed := v.ranks.ChangedSince(chain, was.commit)
	return changed == nil || changed.Quotes || changed.Metadata || slices.ContainsFunc(mints, func(mint market.Address) bool {
		return slices.Contains(changed.Tokens, mint) || slices.Contains(changed.Launches, mint)
	})
}

// listMajors makes the list of the catalogue's majors. One that is declared since the last look isn't known yet.
func (s *Snapshot) listMajors(version int64) *Majors {
	next := &Majors{Version: version, List: make([]Major, 0, len(s.Catalog.Majors))}
	indexed, allStale := false, true
	for _, d := range s.Catalog.Majors {
		// Until the index has met it, it is called what it was declared as; the contract that wraps the native coin as nearly all are.
		m := Major{Asset: d.Asset, Token: figures.Token{Chain: d.Chain, Token: market.Token{Mint: d.Mint, Name: d.Asset, Symbol: d.Asset}}}
		if c := s.Catalog.Chain(d.Chain); c != nil && c.Wrapped == d.Mint && c.NativeSymbol != "" {
			m.Token.Token.Symbol = "W" + c.NativeSymbol
		}
		if t, ok := s.found.tokens[majorKey{d.Chain, d.Mint}]; ok {
			m.Token, m.Figures, m.Known = t, t.Figures(), true
		}
		next.List = append(next.List, m)
		if c, ok := s.found.chains[d.Chain]; ok {
			indexed, allStale = true, allStale && c.stale
		}
	}
	next.Stale = (indexed && allStale) || s.failing()
	return next
}
