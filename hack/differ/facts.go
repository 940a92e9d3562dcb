package differ

import (
	"fmt"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// Later is a supply that was asked for before a block at which a fresh index didn't ask.
type Later struct {
	market.SupplyFact

	Block uint64
}

// subject is what a fact is about, at its block.
type subject struct {
	block           uint64
	kind            string
	of, at, account market.Address
}

// poolKind is the kind of the subjects of facts about pools.
var poolKind = fmt.Sprintf("%T", market.PoolFact{})

func subjectOf(f *store.StoredFact) subject {
	s := subject{block: f.Block, kind: fmt.Sprintf("%T", f.Fact)}
	switch f := f.Fact.(type) {
	case market.TokenFact:
		s.of = f.Token
	case market.SupplyFact:
		s.of = f.Token
	case market.BalanceFact:
		s.of, s.account = f.Token, f.Account
	case market.PoolFact:
		s.of = f.Pool
	case market.PoolStateFact:
		s.of = f.Pool
	case market.CurveFact:
		s.of, s.at = f.Token, f.Curve
	}
	return s
}

// Facts says in a line each how an index's facts differ from those of a fresh index whose node keeps every state, in the order of their blocks. Of an EVM chain, an index whose nodes don't
// have the state after some block lacks the supplies of the tokens that come up in that block, and the samples of the block after it. From there on such a token may be asked for its supply
// at other blocks: later lists the supplies that the fresh index wasn't told. isGone reports whether a state was refused to the index. After a restart an index asks
// anew what a contract is that swaps and is no pool that it follows: that it is none may stand at any block, and that it is a pool at later blocks than the first one, too.
func Facts(have, want []store.StoredFact, isGone func(block uint64) bool) (differences []string, later []Later) {
	given := make(map[subject]market.Fact, len(have))
	for i := range have {
		given[subjectOf(&have[i])] = have[i].Fact
	}
	lost, pools := map[market.Address]bool{}, map[market.Fact]uint64{} // the first blocks of pools
	for i := range want {
		w := &want[i]
		s := subjectOf(w)
		if _, again := pools[w.Fact]; !again && s.kind == poolKind {
			pools[w.Fact] = w.Block
		}
		h, ok := given[s]
		delete(given, s)
		switch {
		case ok && h == w.Fact, isNoPool(w.Fact) && (!ok || isNoPool(h)):
		case ok && isButSupply(h, w.Fact) && isGone(w.Block), !ok && isSample(w.Fact) && isGone(w.Block-1):
			lost[s.of] = true
		case !ok && isSupply(w.Fact) && lost[s.of]:
		case !ok:
			differences = append(differences, fmt.Sprintf("block %d: there is no fact %T%+v", w.Block, w.Fact, w.Fact))
		default:
			differences = append(differences, fmt.Sprintf("block %d: the fact %T%+v is %+v in a fresh index", w.Block, h, h, w.Fact))
		}
	}
	for i := range have {
		h := &have[i]
		_, more := given[subjectOf(h)]
		first, again := pools[h.Fact]
		supply, ok := h.Fact.(market.SupplyFact)
		switch {
		case !more || isNoPool(h.Fact) || again && first < h.Block:
		case ok && lost[supply.Token]:
			later = append(later, Later{supply, h.Block})
		default:
			differences = append(differences, fmt.Sprintf("block %d: a fresh index hasn't the fact %T%+v", h.Block, h.Fact, h.Fact))
		}
	}
	return differences, later
}

// isButSupply reports whether one of two facts of a token is the other one without its supply.
func isButSupply(without, with market.Fact) bool {
	a, isToken := without.(market.TokenFact)
	b, isTokenToo := with.(market.TokenFact)
	if !isToken || !isTokenToo || a.HasSupply {
		return false
	}
	b.HasSupply, b.Supply = false, market.Amount{}
	return a == b
}

func isSupply(f market.Fact) bool {
	_, ok := f.(market.SupplyFact)
	return ok
}

func isSample(f market.Fact) bool {
	_, ok := f.(market.BalanceFact)
	return ok || isSupply(f)
}

func isNoPool(f market.Fact) bool {
	p, ok := f.(market.PoolFact)
	return ok && !p.Known
}
