package search

import (
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// scratch is the room that one search needs, most of it lanes: 128 KiB for each of those that run at the same time.
type scratch struct {
	top      top
	trigrams []trigram
	open     []trigram
	wanted   []wanted
	lanes    lanes
}

// Search finds the tokens that q names, best first, at most limit or MaxHits of them; none if q is blank. The order is:
//
//  1. The address q. A q that is an address finds nothing else, because anyone can give a token the name of an address.
//  2. Tickers that q is.
//  3. Tickers, names and words of either that begin with q. A name that q is has no precedence: names cost nothing to
//     copy, and liquidity does.
//  4. Tickers and names similar to q, most similar first, if q has a word of three characters or more.
//
// Within these, more liquid tokens stand first, then it goes by chain and mint. Dollar signs before q, a ticker or
// a name are left out unless there is nothing else. A token is found once, for the best reason. The work is bounded, whatever q is.
func (x *Index) Search(q string, limit int) []Hit {
	return x.search(queryOf(q), limit)
}

// Tickers finds the tokens whose ticker q is, the most liquid first, at most limit or MaxHits of them.
func (x *Index) Tickers(q string, limit int) []Hit {
	want := queryOf(q)
	want.classes = []Match{Ticker}
	return x.search(want, limit)
}

// At finds the tokens at an address, the most liquid first, at most limit or MaxHits of them.
func (x *Index) At(mint market.Address, limit int) []Hit {
	return x.search(query{classes: []Match{Address}, mint: mint, text: []byte{0}}, limit)
}

func (x *Index) search(want query, limit int) []Hit {
	limit = min(limit, MaxHits)
	if limit <= 0 || len(want.text) == 0 {
		return nil
	}
	s, _ := x.scratch.Get().(*scratch)
	if s == nil {
		s = new(scratch)
	}
	defer x.scratch.Put(s)
	s.top.taken = s.top.taken[:0]

	x.mu.RLock()
	defer x.mu.RUnlock()
	var hits []Hit
	for _, m := range want.classes {
		s.top.reset(x.recs, limit-len(hits))
		x.offer(s, m, want)
		if hits = s.top.take(hits, m); len(hits) == limit {
			break
		}
	}
	return hits
}

// query is what is looked for.
type query struct {
	classes []Match
	mint    market.Address
	// ticker and text are q as a ticker and as a name would be indexed.
	ticker, text []byte
}

func queryOf(q string) query {
	out := query{
		classes: []Match{Ticker, Prefix, Fuzzy},
		ticker:  []byte(tickerKey(q)),
		text:    []byte(nameKey(q)),
	}
	if mint, ok := parseAddress(q); ok {
		out.classes, out.mint = []Match{Address}, mint
	}
	return out
}

// offer offers s.top the matches of a class.
func (x *Index) offer(s *scratch, m Match, q query) {
	switch m {
	case Address:
		for id := range x.mints.all(q.mint.AppendTo(nil)) {
			s.top.offer(candidate{usd: *x.recs.usd.at(id), id: id})
		}
	case Ticker:
		x.words.best(&s.top, x.words.tickers(q.ticker))
	case Prefix:
		x.words.best(&s.top, x.words.beginnings(q.text))
	case Fuzzy:
		x.fuzzy(s, q.text)
	}
}
