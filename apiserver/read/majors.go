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

// foundMajors are the tokens at the majors' addresses as of one look, with how their chains stood. It is never changed.
type foundMajors struct {
	declared []declared.Major
	chains   map[string]majorsChain
	tokens   map[market.Address][]figures.Token
}

// majorsChain has the inputs of the figures of a chain's majors.
type majorsChain struct {
	commit int64
	stale  bool
}

// refreshMajors reads the majors when a chain that has some has changed, or others are declared.
func (v *View) refreshMajors(ctx context.Context, s *Snapshot) (*foundMajors, error) {
	next := &foundMajors{declared: s.Catalog.Majors, chains: make(map[string]majorsChain)}
	var mints []market.Address
	for _, d := range next.declared {
		if status, indexed := s.status(d.Chain); indexed {
			mints = append(mints, d.Mint)
			next.chains[d.Chain] = majorsChain{status.CommitNo, store.IsStale(status.State, status.Last.Time, status.Head, v.now())}
		}
	}
	if last := v.majors; last != nil && slices.Equal(next.declared, last.declared) && maps.Equal(next.chains, last.chains) {
		return last, nil
	}
	ctx, cancel := context.WithTimeout(ctx, figures.LookTime)
	defer cancel()
	var err error
	if next.tokens, err = figures.Read(ctx, v.looks, v.now(), mints); err != nil {
		return nil, err
	}
	v.majors = next
	return next, nil
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
		for _, t := range s.found.tokens[d.Mint] {
			if t.Chain == d.Chain {
				m.Token, m.Figures, m.Known = t, t.Figures(), true
			}
		}
		next.List = append(next.List, m)
		if c, ok := s.found.chains[d.Chain]; ok {
			indexed, allStale = true, allStale && c.stale
		}
	}
	next.Stale = (indexed && allStale) || s.failing()
	return next
}
