package boards

import (
	"cmp"
	"slices"

	"github.com/boardwalkhq/boardwalk/apiserver/read/declared"
	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/traction"
)

// liveDepth is the most tokens of one chain that the live list can show.
const liveDepth = 50

// Ranked is a token with what its place in a list follows from.
type Ranked struct {
	figures.Token

	Figures figures.Figures
	Parts   traction.Parts
	Score   float64
	// KnowsMembers is as in Standing.
	KnowsMembers bool
}

// Live is the live list at one moment: the tokens of each chain, best first.
type Live struct {
	// Version changes with the list.
	Version int64
	Stale   bool
	Chains  []LiveChain
}

// LiveChain is one chain's part, in the order of the catalogue.
type LiveChain struct {
	ID string
	// Ranked is its newest indexed block as of the last ranking, where it is Indexed and shown.
	Ranked  figures.Stamp
	Indexed bool
	Tokens  []Ranked
}

// bestTokens are a chain's best tokens as of the last look.
type bestTokens struct {
	best []*entry // the best first, more than are listed
	list []Ranked // of the first of them
	asOf int64    // usdNo of the prices in it
}

// liveSpare is how many of the best are known beside those that are listed, to move up when others fall between two rankings.
const liveSpare = liveDepth

// live lists a chain's tokens, best first. A token is listed when a trusted pool of some liquidity prices it and it traded
// within the window of the score. All of them are looked at when everything was ranked; else those that were touched.
func (b *chainTokens) live(everything bool) []Ranked {
	last, listed := b.list, slices.Clone(b.best[:min(len(b.best), liveDepth)])
	switch {
	case everything:
		b.best = nil
		for e := range b.index.all() {
			b.addBest(e)
		}
	case len(b.touched) > 0:
		b.best = slices.DeleteFunc(b.best, func(e *entry) bool { return e.isTouched })
		for _, e := range b.touched {
			b.addBest(e)
		}
	case b.asOf == b.usdNo:
		return last
	}
	b.list = make([]Ranked, min(len(b.best), liveDepth))
	for i, e := range b.best[:len(b.list)] {
		was := slices.Index(listed, e)
		if was >= 0 && !e.isTouched && b.asOf == b.usdNo {
			b.list[i] = last[was]
			continue
		}
		r := Ranked{Token: b.token(e), Figures: e.facts.Figures(e.mint, b.usd, b.status.Last.Time), Score: e.score, KnowsMembers: b.in.IsKnown(b.chain)}
		if was >= 0 && !e.isTouched {
			r.Parts = last[was].Parts
		} else {
			r.Parts = b.measure(e).Parts
			r.Score = e.score
		}
		b.list[i] = r
	}
	b.asOf = b.usdNo
	return b.list
}

// addBest puts an entry among the best if it belongs there.
func (b *chainTokens) addBest(e *entry) {
	const most = liveDepth + liveSpare
	if e.tape == nil || !e.valued || e.pegged {
		return // money is no trend
	}
	if len(b.best) == most && compareLive(e, b.best[most-1]) > 0 {
		return
	}
	i, _ := slices.BinarySearchFunc(b.best, e, compareLive)
	b.best = slices.Insert(b.best[:min(len(b.best), most-1)], min(i, most-1), e)
}

func compareLive(a, b *entry) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.facts.FirstSeenAt, b.facts.FirstSeenAt), a.mint.Compare(b.mint))
}

// token is an entry as lists show it; of its pools there is what figures follow from.
func (b *chainTokens) token(e *entry) figures.Token {
	f := e.facts
	t := figures.Token{
		Chain: b.chain, Token: market.Token{Mint: e.mint, Name: f.Name, Symbol: f.Symbol, FirstSeenAt: f.FirstSeenAt, Holders: market.Holders{Status: f.Status, Count: f.Holders}}, USD: b.usd,
		Block: b.status.Last.Number, AsOf: b.status.Last.Time, FinalAt: b.status.Head.FinalTime, Stale: b.stale,
		Changed: f.ChangedWith(e.mint, b.usdChanged), Metadata: f.Metadata, AwaitsMetadata: f.AwaitsMetadata,
	}
	for i := range f.Pools {
		p := &f.Pools[i]
		t.Pools = append(t.Pools, market.Pool{ID: p.ID, Base: e.mint, Quote: p.Quote(), Price: p.Price, Locked: p.Locked})
		if i == int(f.Reference) {
			t.Token.Pool = p.ID
		}
	}
	return t
}

// Live makes the list of the ranked tokens of a catalogue's chains. away says that the database can't be read. A stale chain's scores don't decay, so that
// its tokens are left out while another chain is current. When all are stale they are listed, and the list is marked stale.
func (r *Ranking) Live(version int64, in *declared.Catalog, away bool) *Live {
	next := &Live{Version: version}
	var shown []rankedChain
	for _, id := range in.ChainIDs(nil) {
		if l, ok := r.chains[id]; ok {
			shown = append(shown, l)
		}
	}
	allStale := len(shown) > 0 && !slices.ContainsFunc(shown, func(l rankedChain) bool { return !l.stale })
	for _, id := range in.ChainIDs(nil) {
		l, ok := r.chains[id]
		if !ok || (l.stale && !allStale) {
			next.Chains = append(next.Chains, LiveChain{ID: id})
			continue
		}
		next.Chains = append(next.Chains, LiveChain{ID: id, Ranked: l.ranked, Indexed: true, Tokens: l.tokens})
	}
	next.Stale = allStale || away
	return next
}
