package derive

import (
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// graduate moves a token to its pool.
func (ls *launches) graduate(tx *market.Tx, i int, l *market.Launch, e market.Graduated) {
	ls.complete(l)
	ls.placed = append(ls.placed, l.Mint)
	l.State, l.GraduatedAt, l.GraduatedTx, l.Pool = market.LaunchGraduated, ls.b.Time, tx.ID, e.Pool
	named := !l.Pool.IsNone()
	if !named {
		l.Pool = ls.poolMade(tx, i, l.Mint)
	}
	ls.named[l.Mint] = named
	if named || ls.makes(tx.Logs[:i], l.Pool) {
		ls.vouched = append(ls.vouched, vouched{l.Mint, l.Pool})
	}
}

// namePool takes the pool from a second log of the graduation that names it, by the contract that holds the curve. What the
// first one named stays, but for an address that a pool's id follows: that is the contract which holds the pool.
func (ls *launches) namePool(tx *market.Tx, mint market.Address, e market.Graduated) {
	l := ls.s.launches.get(mint)
	if l == nil || l.Venue != e.Venue || l.State != market.LaunchGraduated || l.GraduatedTx != tx.ID || e.Pool.IsNone() {
		return
	}
	if !e.Curve.IsNone() && e.Curve != l.Curve {
		return
	}
	if ls.named[mint] && (isID(l.Pool) || !isID(e.Pool)) {
		return
	}
	ls.s.launches.edit(mint).Pool = e.Pool
	ls.named[mint] = true
	ls.placed = append(ls.placed, mint)
	ls.vouched = append(ls.vouched, vouched{mint, e.Pool})
	ls.pools.touch(market.CurveID(mint))
}

// isID reports whether a pool has an id in a contract of many instead of an address of its own.
func isID(pool market.Address) bool { return len(pool.Bytes()) == market.PoolIDLen }

// findLivePool finds the pool of a token without a curve whose launch, the i-th log, doesn't name it.
func (ls *launches) findLivePool(tx *market.Tx, i int, mint market.Address) {
	l := ls.s.launches.get(mint)
	if l == nil || l.State != market.LaunchLive || !l.Pool.IsNone() || l.Block != ls.b.Number || l.LogIndex != tx.Logs[i].Index {
		return
	}
	if pool := ls.poolMade(tx, i, mint); !pool.IsNone() {
		ls.s.launches.edit(mint).Pool = pool
	}
}

// makes reports whether one of the logs announces the making of a pool.
func (ls *launches) makes(logs []market.Log, pool market.Address) bool {
	return slices.ContainsFunc(logs, func(l market.Log) bool {
		c, ok := l.Event.(market.PoolCreated)
		return ok && c.Pool == pool && ls.believes(c)
	})
}

// poolMade is the pool of a token that a transaction made or filled last before its i-th log, a venue's, or else first after
// it; none when it did neither. Whoever has the venue do it can deal with pools of his own in the same transaction, but not
// between what the venue does and what it logs of it.
func (ls *launches) poolMade(tx *market.Tx, i int, mint market.Address) market.Address {
	for k := i - 1; k >= 0; k-- {
		if id, ok := ls.poolAt(tx.Logs[k].Event, mint); ok {
			return id
		}
	}
	for k := i + 1; k < len(tx.Logs); k++ {
		if id, ok := ls.poolAt(tx.Logs[k].Event, mint); ok {
			return id
		}
	}
	return market.Address{}
}

// poolAt is the pool of a token that an event is about.
func (ls *launches) poolAt(e market.Event, mint market.Address) (id market.Address, ok bool) {
	if c, isNew := e.(market.PoolCreated); isNew {
		return c.Pool, ls.believes(c) && (c.Token0 == mint || c.Token1 == mint)
	}
	id, ok = poolOf(e)
	p := ls.s.pools.get(id)
	return id, ok && p != nil && p.Base == mint && p.Protocol != market.BondingCurve
}
