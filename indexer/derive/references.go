package derive

import (
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/price"
)

// references says which pools of a token are listed, and which of those prices it.
type references struct {
	*work
	pools  *pools
	trades *trades
}

// weight is a pool's depth in USD as far as it may price its base; 0 when it may not.
func (rs *references) weight(p *market.Pool) float64 {
	if p.Untrusted != market.Trusted || p.Price <= 0 {
		return 0
	}
	weight := p.Depth * rs.s.usd(p.Quote)
	if _, isQuote := rs.quoteRank[p.Base]; isQuote {
		// A quote asset is priced by pegged ones alone, which keeps everything within two hops; and what everything is
		// counted in takes more than pocket money to move.
		if rs.quotes[rs.quoteRank[p.Quote]].peg == 0 || weight < quoteDepthUSD {
			return 0
		}
	}
	return weight
}

// choose looks at which pool prices a token after its pools changed.
func (rs *references) choose(mint market.Address) {
	t := rs.s.tokens.get(mint)
	if t == nil {
		return
	}
	var best market.Address
	var bestWeight, referenceWeight float64
	for _, id := range rs.s.byBase[mint] {
		p := rs.s.pools.get(id)
		if p == nil {
			continue
		}
		w := rs.weight(p)
		if id == t.Pool {
			referenceWeight = w
		} else if w > bestWeight || (w == bestWeight && id.Compare(best) < 0) {
			best, bestWeight = id, w
		}
	}
	decided, least := rs.ofLaunch(t)
	if decided {
		return
	}
	if bestWeight < least {
		bestWeight = 0
	}
	switch {
	case t.Pool.IsNone() && least == 0:
		if bestWeight > 0 {
			rs.s.tokens.edit(mint).Pool = best
		}
	case bestWeight > 0 && bestWeight >= referenceRatio*referenceWeight:
		if t.Candidate != best {
			t = rs.s.tokens.edit(mint)
			t.Candidate, t.CandidateSince, t.CandidateAt = best, rs.b.Number, rs.b.Time
			rs.s.pending[mint] = dueOf(t)
		} else if rs.s.pending[mint].passed(rs.b.Number, rs.b.Time) {
			rs.adopt(rs.s, mint)
		}
	case !t.Candidate.IsNone():
		t = rs.s.tokens.edit(mint)
		noCandidate(t)
		delete(rs.s.pending, mint)
	}
}

// adopt makes a token's candidate its reference pool.
func (m *Machine) adopt(s *State, mint market.Address) {
	t := s.tokens.edit(mint)
	t.Pool = t.Candidate
	noCandidate(t)
	delete(s.pending, mint)
}

func noCandidate(t *market.Token) {
	t.Candidate, t.CandidateSince, t.CandidateAt = market.Address{}, 0, 0
}

// due is the first block, and the first time, at which a token's candidate becomes its reference pool.
type due struct {
	block uint64
	time  int64
}

func dueOf(t *market.Token) due {
	return due{t.CandidateSince + referenceBlocks, t.CandidateAt + referenceSeconds}
}

func (d due) passed(block uint64, time int64) bool { return block >= d.block && time >= d.time }

// ofLaunch prices a token by its curve while it has one, whatever pools others made, and from the block of its
// graduation on by the pool that it moved to, once that holds the funds. It reports whether the ordinary rule has nothing left
// to say, and, where it has, the least depth in USD that it takes: above 0 while the token is left without either.
func (rs *references) ofLaunch(t *market.Token) (decided bool, least float64) {
	l := rs.s.launches.get(t.Mint)
	if l == nil || l.Curve.IsNone() {
		return false, 0
	}
	curve := market.CurveID(t.Mint)
	next := t.Pool
	switch p := rs.s.pools.get(curve); {
	case l.OnCurve() && p != nil && p.Price > 0:
		next = curve
	case !t.Pool.IsNone() && t.Pool != curve:
		return false, 0 // it has another pool since before its launch, or has one by now
	case !l.OnCurve():
		if own := rs.s.pools.get(l.Pool); own == nil || own.Base != t.Mint || !rs.funded(l, own) {
			return false, launchDepthUSD
		}
		next = l.Pool
	}
	if next != t.Pool || !t.Candidate.IsNone() {
		t = rs.s.tokens.edit(t.Mint)
		t.Pool = next
		noCandidate(t)
		delete(rs.s.pending, t.Mint)
	}
	return true, 0
}

// funded reports whether a pool is about as deep as what a curve has raised makes it. What a graduation doesn't name may be a
// thin pool of somebody who made it in the same transaction, where the venue's own can't be seen.
func (rs *references) funded(l *market.Launch, p *market.Pool) bool {
	weight := rs.weight(p)
	if !rs.isQuote(l.Quote) {
		return weight >= launchDepthUSD
	}
	raised := 0.0
	if quote := rs.s.tokens.get(l.Quote); quote != nil && quote.HasDecimals {
		raised = price.Whole(&l.Reserves.RealQuote, quote.Decimals)
	}
	return weight > 0 && weight >= movedShare*price.DepthOfRaised(raised)*rs.s.usd(l.Quote)
}
