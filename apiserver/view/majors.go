package view

import (
	"context"
	"maps"
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/market"
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
	Token
	Asset   string
	Figures Figures
	Known   bool
}

type declaredMajor struct {
	chain, asset string
	mint         market.Address
}

// foundMajors are the tokens at the majors' addresses as of one look, with how their chains stood. It is never changed.
type foundMajors struct {
	declared []declaredMajor
	chains   map[string]majorsChain
	tokens   map[market.Address][]Token
}

// majorsChain is what the figures of a chain's majors follow from.
type majorsChain struct {
	commit int64
	stale  bool
}

// refreshMajors reads the majors when a chain that has some has changed, or others are declared.
func (v *View) refreshMajors(ctx context.Context, s *Snapshot) (*foundMajors, error) {
	next := &foundMajors{declared: s.Catalog.majors, chains: make(map[string]majorsChain)}
	var mints []market.Address
	for _, d := range next.declared {
		if status, indexed := s.status(d.chain); indexed {
			mints = append(mints, d.mint)
			next.chains[d.chain] = majorsChain{status.CommitNo, isStale(status.State, status.Last.Time, status.Head, v.now())}
		}
	}
	if last := v.majors; last != nil && slices.Equal(next.declared, last.declared) && maps.Equal(next.chains, last.chains) {
		return last, nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	var err error
	if next.tokens, err = ReadTokens(ctx, v.looks, v.now(), mints); err != nil {
		return nil, err
	}
	v.majors = next
	return next, nil
}

// listMajors makes the list of the catalogue's majors. One that is declared since the last look isn't known yet.
func (s *Snapshot) listMajors(version int64) *Majors {
	next := &Majors{Version: version, List: make([]Major, 0, len(s.Catalog.majors))}
	indexed, allStale := false, true
	for _, d := range s.Catalog.majors {
		// Until the index has met it, it is called what it was declared as; the contract that wraps the native coin as nearly all are.
		m := Major{Asset: d.asset, Token: Token{Chain: d.chain, Token: market.Token{Mint: d.mint, Name: d.asset, Symbol: d.asset}}}
		if c := s.Catalog.Chain(d.chain); c != nil && c.Wrapped == d.mint && c.NativeSymbol != "" {
			m.Token.Token.Symbol = "W" + c.NativeSymbol
		}
		for _, t := range s.found.tokens[d.mint] {
			if t.Chain == d.chain {
				m.Token, m.Figures, m.Known = t, t.Figures(), true
			}
		}
		next.List = append(next.List, m)
		if c, ok := s.found.chains[d.chain]; ok {
			indexed, allStale = true, allStale && c.stale
		}
	}
	next.Stale = (indexed && allStale) || s.failing()
	return next
}
