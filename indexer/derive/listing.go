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
func (r *run) newcomers() map[market.Address][]market.Address {
	var out map[market.Address][]market.Address
	var traded map[market.Address]bool
	for _, id := range r.touched {
		p := r.s.pools.get(id)
		if !p.Unlisted {
			continue // as nearly always
		}
		if out == nil {
			out, traded = make(map[market.Address][]market.Address), r.traded()
		}
		if traded[id] || r.hasLiquidity(p) || r.isOwn(p) {
			out[p.Base] = append(out[p.Base], id)
		}
	}
	return out
}

// traded are the pools in which the block trades.
func (r *run) traded() map[market.Address]bool {
	out := make(map[market.Address]bool, len(r.swaps))
	for i := range r.swaps {
		out[r.swaps[i].Pool] = true
	}
	return out
}

// hasLiquidity reports whether somebody could trade with the pool, at its price or at another one.
func (r *run) hasLiquidity(p *market.Pool) bool {
	if !p.Protocol.Concentrated() {
		return !p.Reserve0.IsZero() && !p.Reserve1.IsZero()
	}
	t := r.s.ticks.get(p.ID)
	return !p.Liquidity.IsZero() || (t != nil && len(*t) > 0)
}

// isOwn reports whether a token's row or its launch names the pool.
func (r *run) isOwn(p *market.Pool) bool {
	if t := r.s.tokens.get(p.Base); t != nil && (p.ID == t.Pool || p.ID == t.Candidate) {
		return true
	}
	l := r.s.launches.get(p.Base)
	return l != nil && (p.ID == l.Pool || p.ID == market.CurveID(l.Mint))
}

// list decides which pools of a token are listed: its own ones, then those that may price it, the deepest first, then other trusted ones
// and only then the untrusted, market.ListedPools together. Among equals a listed one stays. A pool that falls out comes back like a new
// one, when it changes and is deeper than the last.
func (r *run) list(base market.Address, newcomers []market.Address) {
	all := r.s.byBase[base]
	if len(newcomers) == 0 && len(all) <= market.ListedPools {
		return
	}
	if len(all)+len(newcomers) <= market.ListedPools {
		for _, id := range newcomers {
			r.s.pools.edit(id).Unlisted = false
			all = append(all, id)
		}
		r.s.byBase[base] = all
		return
	}
	ranks := make([]ranked, 0, len(all)+len(newcomers))
	for _, ids := range [][]market.Address{all, newcomers} {
		for _, id := range ids {
			ranks = append(ranks, r.rank(id))
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
			r.s.pools.edit(p.id).Unlisted = unlisted
		}
		if !unlisted {
			all = append(all, p.id)
		}
	}
	r.s.byBase[base] = all
}

func (r *run) rank(id market.Address) ranked {
	p := r.s.pools.get(id)
	usd := r.s.usd(p.Quote)
	return ranked{
		id: id, own: r.isOwn(p), trusted: p.Untrusted == market.Trusted, weight: r.weight(p), depth: p.Depth * usd, locked: p.Locked * usd,
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
