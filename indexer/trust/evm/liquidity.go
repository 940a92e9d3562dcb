package evm

import (
	"fmt"

	"github.com/boardwalkhq/boardwalk/indexer/evm"
	"github.com/boardwalkhq/boardwalk/indexer/evm/hash"
	check "github.com/boardwalkhq/boardwalk/indexer/trust"
	"github.com/boardwalkhq/boardwalk/indexer/trust/evm/probe"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/trust"
)

// liquidity is what is asked about who can take a pool's liquidity out: the whole, and the parts that nobody can.
type liquidity struct {
	whole *evm.Question
	parts []part
}

type part struct {
	of string
	q  *evm.Question
}

const (
	// maxTick is the largest tick of Uniswap V3 and V4 (TickMath.MAX_TICK).
	maxTick = 887272
	// poolsSlot is where a V4 PoolManager keeps its mapping of pools; liquidityOffset and positionsOffset are where a pool keeps
	// its liquidity and its mapping of positions (V4's StateLibrary).
	poolsSlot       = 6
	liquidityOffset = 3
	positionsOffset = 6
)

// askLiquidity asks a pair for the shares that lie with nobody, lockers and the launch's venue, and a V3 or V4 pool for the
// positions over the whole range that those hold directly. Positions that are NFTs belong to the position manager: whose they
// are, the pool doesn't know.
func (l *look) askLiquidity() []*evm.Question {
	if l.pool == nil || l.lockedByVenue() {
		return nil
	}
	var venueContracts []market.Address
	if l.known.Launch != nil {
		venueContracts = l.c.venues[l.known.Launch.Venue].contracts
	}
	s, p := &l.state.liquidity, l.pool
	add := func(of string, q *evm.Question) { s.parts = append(s.parts, part{of, q}) }
	hold := func(ask func(market.Address) *evm.Question) {
		for _, a := range l.c.lockers {
			add("locker "+a.String(), ask(a))
		}
		for _, a := range venueContracts {
			add("the venue's contract "+a.String(), ask(a))
		}
	}
	switch l.target.Kind {
	case probe.Pair, probe.Solidly:
		s.whole = view(p.ID, "totalSupply()")
		balance := func(a market.Address) *evm.Question { return view(p.ID, "balanceOf(address)", probe.Address(a)) }
		add("the zero address", balance(market.Native))
		add("the dead address", balance(dead))
		hold(balance)
	case probe.Pool:
		s.whole = view(p.ID, "liquidity()")
		hold(func(a market.Address) *evm.Question {
			key := positionKey(a, p.TickSpacing, nil)
			return view(p.ID, "positions(bytes32)", key[:])
		})
	case probe.Manager:
		pool := hash.Keccak256(p.ID.Bytes(), probe.Uint(poolsSlot))
		whole := plus(pool, liquidityOffset)
		s.whole = view(p.Factory, "extsload(bytes32)", whole[:])
		hold(func(a market.Address) *evm.Question {
			key, mapping := positionKey(a, p.TickSpacing, make([]byte, 32)), plus(pool, positionsOffset)
			slot := hash.Keccak256(key[:], mapping[:])
			return view(p.Factory, "extsload(bytes32)", slot[:])
		})
	case probe.None, probe.Boardwalk, probe.FourMeme, probe.Flap, probe.Pons:
	}
	out := questions(s.whole)
	for _, x := range s.parts {
		out = append(out, x.q)
	}
	return out
}

// positionKey names a position over the whole range: of V3 by its owner and ticks, of V4 also by a salt.
func positionKey(owner market.Address, spacing int32, salt []byte) [32]byte {
	if spacing <= 0 {
		spacing = 1
	}
	upper := int64(maxTick / spacing * spacing)
	return hash.Keccak256(owner.Bytes(), probe.Int(-upper)[29:], probe.Int(upper)[29:], salt)
}

func plus(slot [32]byte, n uint64) [32]byte {
	var v market.Amount
	v.SetBytes32(slot[:])
	v.AddUint64(&v, n)
	return v.Bytes32()
}

// lockedByVenue is whether the way in which a venue works keeps the liquidity where it is: on a curve nobody provides any, and a
// venue of live pools locks its positions itself.
func (l *look) lockedByVenue() bool {
	launch := l.known.Launch
	if launch == nil {
		return false
	}
	if launch.OnCurve() {
		return true
	}
	protocol := l.c.venues[launch.Venue].protocol
	live := protocol == chainconfig.ClankerV3 || protocol == chainconfig.ClankerV4
	return live && l.pool != nil && l.pool.ID == launch.Pool
}

func (l *look) lpBurned(rule trust.Rule) trust.Check {
	if l.lockedByVenue() {
		launch := l.known.Launch
		c := rule.Pass(nil)
		detail := "the venue's contract keeps the liquidity locked"
		if launch.OnCurve() {
			detail = "on the venue's curve, whose liquidity nobody can take out"
			c.Source = check.FromCurve
		}
		c.Evidence = append(c.Evidence, l.indexed(launch.Venue, detail))
		return c
	}
	if l.pool == nil {
		return rule.Unknown(trust.NoPool)
	}
	s := &l.state.liquidity
	if s.whole == nil {
		return rule.Unknown(trust.PositionOwnerUnknown)
	}
	whole, ok := s.whole.Uint()
	if !ok || whole.IsZero() {
		return rule.Unknown(trust.CallFailed)
	}
	var sum market.Amount
	var evidence []trust.Evidence
	for _, x := range s.parts {
		v, ok := x.q.Uint()
		if !ok {
			return rule.Unknown(trust.CallFailed)
		}
		if v.IsZero() {
			continue
		}
		sum.Add(&sum, &v)
		evidence = append(evidence, l.evidence("call", l.pool.ID.String(), fmt.Sprintf("%s has %.4g %% of it", x.of, check.Share(v, whole))))
	}
	if l.pool.Protocol.Concentrated() && sum.IsZero() {
		return rule.Unknown(trust.PositionOwnerUnknown)
	}
	c := rule.Measure(min(check.Share(sum, whole), 100))
	if c.Evidence = append(c.Evidence, evidence...); len(evidence) == 0 {
		c.Evidence = append(c.Evidence, l.evidence("call", l.pool.ID.String(), "nothing of it is burned or with a known locker"))
	}
	return c
}

func (l *look) depth(rule trust.Rule) trust.Check { return l.ofIndex().Depth(rule) }

func (l *look) pairAge(rule trust.Rule) trust.Check { return l.ofIndex().PairAge(rule) }
