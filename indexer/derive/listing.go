package derive

import (
	"cmp"
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// ranked is a pool with what decides whether it is listed.
type ranked struct {
	id market.Address
	// own is true of the pool that prices the token, of the one that waits to, and of those that the token was launched with or moved to.
	own     bool
	trusted bool
	// weight is how much the pool counts as a reference, depth and locked are its depth and liquidity; all in USD.
	weight, depth, locked float64
	unlisted              bool
}

// newcomers are the unlisted pools that may be listed at the block's close, by their base: those that the block changed and that have
// liquidity or trade, or that are a launch's own. Nothing else brings a pool in, so that no other one has to be loaded.
func (rs *references) newcomers() map[market.Address][]market.Address {
	var out map[market.Address][]market.Address
	var traded map[market.Address]bool
	for _, id := range rs.pools.touched {
		p := rs.s.pools.get(id)
		if !p.Unlisted {
			continue // as nearly always
		}
		if out == nil {
			out, traded = make(map[market.Address][]market.Address), rs.trades.traded()
		}
		if traded[id] || rs.pools.hasLiquidity(p) || rs.isOwn(p) {
			out[p.Base] = append(out[p.Base], id)
		}
	}
	return out
}

// isOwn reports whether a token's row or its launch names the pool.
func (rs *references) isOwn(p *market.Pool) bool {
	if t := rs.s.tokens.get(p.Base); t != nil && (p.ID == t.Pool || p.ID == t.Candidate) {
		return true
	}
	l := rs.s.launches.get(p.Base)
	return l != nil && (p.ID == l.Pool || p.ID == market.CurveID(l.Mint))
}

// list decides which pools of a token are listed: its own ones, then those that may price it, the deepest first, then other trusted ones
// and only then the untrusted, market.ListedPools together. Among equals a listed one stays. A pool that falls out comes back like a new
// one, when it changes and is deeper than the last.
func (rs *references) list(base market.Address, newcomers []market.Address) {
	all := rs.s.byBase[base]
	if len(newcomers) == 0 && len(all) <= market.ListedPools {
		return
	}
	if len(all)+len(newcomers) <= market.ListedPools {
		for _, id := range newcomers {
			rs.s.pools.edit(id).Unlisted = false
			all = append(all, id)
		}
		rs.s.byBase[base] = all
		return
	}
	ranks := make([]ranked, 0, len(all)+len(newcomers))
	for _, ids := range [][]market.Address{all, newcomers} {
		for _, id := range ids {
			ranks = append(ranks, rs.rank(id))
		}
	}
	slices.SortFunc(ranks, func(a, b ranked) int {
		return cmp.Or(
			first(a.own, b.own), cmp.Compare(b.weight, a.weight), first(a.trusted, b.trusted), cmp.Compare(b.depth, a.depth),
			cmp.Compare(b.locked, a.locked), first(!a.unlisted, !b.unlisted), a.id.Compare(b.id),
		)
	})
	all = make([]market.Address, 0, market.ListedPools)
	for i, p := range ranks {
		unlisted := i >= market.ListedPools
		if p.unlisted != unlisted {
			rs.s.pools.edit(p.id).Unlisted = unlisted
		}
		if !unlisted {
			all = append(all, p.id)
		}
	}
	rs.s.byBase[base] = all
}

func (rs *references) rank(id market.Address) ranked {
	p := rs.s.pools.get(id)
	usd := rs.s.usd(p.Quote)
	return ranked{
		id: id, own: rs.isOwn(p), trusted: p.Untrusted == market.Trusted, weight: rs.weight(p), depth: p.Depth * usd, locked: p.Locked * usd,
		unlisted: p.Unlisted,
	}
}

// first orders what has a property before what hasn't.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	default:
		return 1
	}
}
