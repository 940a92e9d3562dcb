package view

import (
	"context"
	"sync/atomic"

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

type majorsList struct {
	declared []declaredMajor
	seen     map[string]majorSeen
	snapshot atomic.Pointer[Majors]
	version  int64
	wasLost  bool // the snapshot is stale because the database went away
}

// majorSeen is what a chain's majors in the snapshot follow from.
type majorSeen struct {
	commit int64
	stale  bool
}

// Majors is the current list; nil before the first.
func (v *View) Majors() *Majors { return v.majors.snapshot.Load() }

// refreshMajors makes the next snapshot when a chain with majors has changed.
func (v *View) refreshMajors(ctx context.Context, w *world) error {
	last := v.majors.snapshot.Load()
	seen := make(map[string]majorSeen)
	changed := last == nil || v.majors.wasLost
	var mints []market.Address
	for _, d := range v.majors.declared {
		status, indexed := w.statuses[d.chain]
		if !indexed {
			continue
		}
		mints = append(mints, d.mint)
		seen[d.chain] = majorSeen{status.CommitNo, v.stale(status.State, status.Last.Time)}
		changed = changed || v.majors.seen[d.chain] != seen[d.chain]
	}
	if !changed && len(seen) == len(v.majors.seen) {
		return nil
	}
	found, err := v.readMajors(ctx, mints)
	if err != nil {
		return err
	}
	v.majors.version++
	next := &Majors{Version: v.majors.version, Stale: len(seen) > 0, List: make([]Major, 0, len(v.majors.declared))}
	for _, s := range seen {
		next.Stale = next.Stale && s.stale
	}
	for _, d := range v.majors.declared {
		m := Major{Asset: d.asset, Token: Token{Chain: d.chain, Token: market.Token{Mint: d.mint}}}
		for _, t := range found[d.mint] {
			if t.Chain == d.chain {
				m.Token, m.Figures, m.Known = t, t.Figures(), true
			}
		}
		next.List = append(next.List, m)
	}
	v.majors.seen, v.majors.wasLost = seen, false
	v.majors.snapshot.Store(next)
	return nil
}

func (v *View) readMajors(ctx context.Context, mints []market.Address) (map[market.Address][]Token, error) {
	ctx, cancel := context.WithTimeout(ctx, refreshTime)
	defer cancel()
	return v.readTokens(ctx, v.looks, mints)
}

// lost makes the list a stale one.
func (m *majorsList) lost() {
	last := m.snapshot.Load()
	if last == nil || m.wasLost {
		return
	}
	m.version++
	m.wasLost = true
	next := *last
	next.Stale, next.Version = true, m.version
	m.snapshot.Store(&next)
}
