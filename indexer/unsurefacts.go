package indexer

import (
	"context"
	"slices"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/budget"
	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/enrich"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

const (
	// unsureFactsKept is the most unsure facts that are asked for again; beyond it the oldest are let go until the next start.
	unsureFactsKept = 1024
	// factTries is how often an unsure fact is asked for again, after pauses that double from firstDoubt on: for some eleven hours. A
	// contract may answer each node differently for ever.
	factTries = 12
	// factsAtOnce is the most facts that are asked for again between two blocks of the head.
	factsAtOnce = 4
)

// tooOld is the reason for which a fact that turned out false is set aside.
const tooOld = "false, and too old to take back"

// unsureFact is a kept fact that no two endpoints gave.
type unsureFact struct {
	store.StoredFact
	pause doubtPause
	tries int
}

func newUnsureFact(f store.StoredFact, now time.Time) unsureFact {
	u := unsureFact{StoredFact: f}
	u.pause.begin(now)
	return u
}

// unsureFacts are the facts that no two endpoints gave, in the order of their blocks.
type unsureFacts struct {
	list []unsureFact
	// sure are facts that two endpoints give by now, until the database knows.
	sure        []store.StoredFact
	corrections []enrich.Correction
	// undone are the facts for which blocks were taken back once: a second time they would come as they came before.
	undone map[store.StoredFact]bool
}

// recallFacts takes up the unsure facts of before this start.
func (ix *Indexer) recallFacts(ctx context.Context) error {
	if len(ix.cfg.Endpoints) == 1 {
		return nil
	}
	facts, err := ix.store.Facts.Unsure(ctx, ix.rows.id(), unsureFactsKept)
	if err != nil {
		return err
	}
	list := make([]unsureFact, 0, len(facts))
	for _, f := range facts {
		if at := slices.IndexFunc(ix.facts.list, func(u unsureFact) bool { return u.StoredFact == f }); at >= 0 {
			list = append(list, ix.facts.list[at])
		} else {
			list = append(list, newUnsureFact(f, ix.o.Now()))
		}
	}
	ix.facts.list = list
	return nil
}

// sureFacts are those that a commit may call sure: a fact that is corrected is, with the commit that has the correction.
func (u *unsureFacts) sureFacts(committed []store.StoredFact) []store.StoredFact {
	out := slices.Clone(u.sure)
	for _, c := range u.corrections {
		if slices.ContainsFunc(committed, c.IsMadeBy) {
			out = append(out, c.Was)
		}
	}
	return out
}

// written takes in what was committed at a time.
func (u *unsureFacts) written(c *store.Commit, at time.Time) {
	u.sure = nil
	u.corrections = slices.DeleteFunc(u.corrections, func(x enrich.Correction) bool { return slices.ContainsFunc(c.Facts, x.IsMadeBy) })
	if c.Undo { // what was there of this block and those after it was taken back
		u.list = slices.DeleteFunc(u.list, func(f unsureFact) bool { return f.Block >= c.Last.Number })
	}
	for _, f := range c.Facts {
		if f.Unsure {
			u.list = append(u.list, newUnsureFact(f, at))
		}
	}
	if n := len(u.list); n > unsureFactsKept {
		u.list = slices.Delete(u.list, 0, n-unsureFactsKept)
	}
}

// doubtFacts asks for unsure facts again. Where two endpoints give another than the one that was kept, it goes back before the fact's block, or,
// where that is too old, has the decimals corrected at a block to come.
func (ix *Indexer) doubtFacts(ctx context.Context, h chain.Header) (back bool, err error) {
	asked := 0
	for i := 0; i < len(ix.facts.list) && asked < factsAtOnce; i++ {
		u := &ix.facts.list[i]
		_, isState := u.Fact.(market.PoolStateFact)
		if u.Block > h.Number || !u.pause.isOver(ix.o.Now()) || isState && ix.plan.GivesUp(budget.PoolStates) {
			continue
		}
		asked++
		ix.pulse.beat()
		is, known, err := ix.factAgain(ctx, u.StoredFact)
		switch {
		case ctx.Err() != nil:
			return false, ctx.Err()
		case err != nil || !known: // nodes that fail say nothing
			if u.pause.begin(ix.o.Now()); u.tries+1 < factTries {
				u.tries++
				continue
			}
		case sameFact(u.Fact, is):
			ix.facts.sure = append(ix.facts.sure, u.StoredFact)
		default:
			if back, err := ix.undoFact(ctx, u.StoredFact, is); back || err != nil {
				return back, err
			}
		}
		ix.facts.list = slices.Delete(ix.facts.list, i, i+1)
		i--
	}
	return false, nil
}

// factAgain asks for a fact anew; known reports whether two endpoints give it.
func (ix *Indexer) factAgain(ctx context.Context, f store.StoredFact) (is market.Fact, known bool, err error) {
	at := chain.Ref{Number: f.Block, Hash: f.Hash}
	switch f := f.Fact.(type) {
	case market.TokenFact:
		facts, unsure, err := ix.nodes.TokenFacts(ctx, at, []market.Address{f.Token})
		if err != nil {
			return nil, false, err
		}
		return facts[0], !unsure[0], nil
	case market.PoolFact:
		always := func(market.PoolFact) bool { return true }
		facts, unsure, err := ix.nodes.PoolFacts(ctx, at, ix.cfg.Exchanges, []market.Address{f.Pool}, always)
		if err != nil {
			return nil, false, err
		}
		return facts[0], !unsure[0], nil
	case market.PoolStateFact:
		return ix.poolStateAgain(ctx, at.Number, f)
	case market.CurveFact:
		facts, unsure, err := ix.nodes.CurveFacts(ctx, at, []market.CurveKey{f.CurveKey})
		if err != nil {
			return nil, false, err
		}
		return facts[0], !unsure[0], nil
	default:
		return f, true, nil
	}
}

// sameFact reports whether two facts say the same of what decides prices. A supply that isn't known any more contradicts none.
func sameFact(a, b market.Fact) bool {
	x, isToken := a.(market.TokenFact)
	y, both := b.(market.TokenFact)
	if !isToken || !both {
		return a == b
	}
	if x.Token.Kind() == market.SolanaKey { // what its supply was at a block no node tells later
		return sameDecimals(x, y)
	}
	return sameDecimals(x, y) && (!x.HasSupply || !y.HasSupply || x.Supply == y.Supply)
}

func sameDecimals(a, b market.TokenFact) bool {
	return a.HasDecimals == b.HasDecimals && a.Decimals == b.Decimals
}

// undoFact goes back before the block of a false fact, once for each, while it can.
func (ix *Indexer) undoFact(ctx context.Context, was store.StoredFact, is market.Fact) (back bool, err error) {
	known, err := ix.store.RecentBlocks(ctx, ix.rows.id())
	if err != nil {
		return false, err
	}
	at := slices.IndexFunc(known, func(b market.Header) bool { return b.Hash == was.Hash })
	if at >= 0 && at+1 < len(known) && known[at+1].Hash == known[at].Parent && !ix.facts.undone[was] {
		if len(ix.facts.undone) >= unsureFactsKept || ix.facts.undone == nil {
			ix.facts.undone = map[store.StoredFact]bool{}
		}
		ix.facts.undone[was] = true
		ix.enricher.Forget(was.Fact, true)
		return true, ix.goBefore(ctx, chain.Header{Header: known[at]})
	}
	kind, subject := "curve", ""
	switch f := was.Fact.(type) {
	case market.TokenFact:
		token, _ := is.(market.TokenFact)
		if kind, subject = "token", f.Token.String(); !sameDecimals(f, token) {
			// Transfers since then aren't counted in this supply: the enricher samples it again.
			token.HasSupply, token.Supply, token.FromCreation = false, market.Amount{}, false
			ix.facts.corrections = append(ix.facts.corrections, enrich.Correction{Was: was, Is: token})
			ix.setAside(kind, tooOld, subject)
			return false, nil
		}
	case market.PoolFact:
		kind, subject = "pool", f.Pool.String()
	case market.PoolStateFact:
		ix.enricher.Forget(f, false)
		kind, subject = "pool", f.Pool.String()
	case market.CurveFact:
		subject = f.Token.String()
	}
	ix.setAside(kind, tooOld, subject)
	ix.facts.sure = append(ix.facts.sure, was) // nothing is left to do about it
	return false, nil
}

// poolStateAgain asks for a pool's state before a block anew; known reports whether two endpoints give it.
func (ix *Indexer) poolStateAgain(ctx context.Context, block uint64, f market.PoolStateFact) (is market.Fact, known bool, err error) {
	if err := ix.load(ctx, market.Wanted{Pools: []market.Address{f.Pool}, ExpireFrom: 1}); err != nil {
		return nil, false, err
	}
	p := ix.state.Pool(f.Pool)
	if p == nil {
		return f, true, nil
	}
	states, gone, err := ix.nodes.PoolStates(rpc.ForPart(ctx, budget.PoolStates), chain.Ref{Number: block - 1}, []market.PoolCreated{chain.CreatedOf(p)})
	if err != nil || gone {
		return nil, false, err
	}
	return states[0].PoolStateFact, states[0].Known && !states[0].Unsure, nil
}
