package search

import (
	"unicode/utf8"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// scratch is the room that one search needs.
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
//  4. Tickers and names similar to q, most similar first, if q has three characters or more.
//
// Within these, more liquid tokens stand first, then it goes by chain and mint. Dollar signs before q are left out unless
// there is nothing else. A token is found once, for the best reason. The work is bounded, whatever q is.
func (x *Index) Search(q string, limit int) []Hit {
	limit = min(limit, MaxHits)
	if limit <= 0 {
		return nil
	}
	mint, isAddress := parseAddress(q)
	key := []byte(cut(withoutDollar(Normalise(head(q))), nameRunes, nameBytes))
	ticker := []byte(tickerKey(q))
	if len(key) == 0 {
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
	if isAddress {
		return x.atAddress(s, mint, limit)
	}
	hits := make([]Hit, 0, limit)
	for _, class := range []struct {
		match Match
		offer func()
	}{
		{Ticker, func() { x.among(&s.top, x.words.tickers, ticker) }},
		{Prefix, func() { x.among(&s.top, x.words.beginnings, key) }},
		{Fuzzy, func() {
			if utf8.RuneCount(key) >= fuzzyRunes {
				x.fuzzy(s, key)
			}
		}},
	} {
		s.top.reset(x.recs, limit-len(hits))
		class.offer()
		if hits = s.top.take(hits, class.match); len(hits) == limit {
			break
		}
	}
	return hits
}

func (x *Index) among(t *top, within func([]byte) (from, to position), text []byte) {
	from, to := within(text)
	x.words.best(t, from, to)
}

func (x *Index) atAddress(s *scratch, mint market.Address, limit int) []Hit {
	s.top.reset(x.recs, limit)
	for id := range x.mints.all(mint.AppendTo(nil)) {
		s.top.offer(candidate{usd: *x.recs.usd.at(id), id: id})
	}
	return s.top.take(nil, Address)
}
