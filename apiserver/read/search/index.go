// Package search finds tokens by address, ticker and name, in memory: the index behind GET /api/dexscreener/search.
// Where the tokens come from, and what is told of those found, is not decided here.
package search

import (
	"slices"
	"sync"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// MaxHits is the most that a search returns.
const MaxHits = 1000

// Token is what the index knows of a token.
type Token struct {
	// Chain and Mint say which token it is. One without a mint is not indexed.
	Chain string
	Mint  market.Address
	// Name and Symbol may be anything; the first 64 characters (190 bytes) of the normalised name and the first 32
	// (64 bytes) of the normalised ticker are indexed.
	Name, Symbol string
	// LiquidityUSD is kept with 24 bits of precision; NaN and negative amounts count as 0.
	LiquidityUSD float64
}

// Match says what made a token a hit.
type Match uint8

// The matches, best first.
const (
	// Address is the token at the address asked for.
	Address Match = iota + 1
	// Ticker is one whose ticker is the query.
	Ticker
	// Prefix is one whose ticker, or name, or a word of these, begins with the query.
	Prefix
	// Fuzzy is one that has words similar to the query.
	Fuzzy
)

// String is the match's name in lower case.
func (m Match) String() string {
	switch m {
	case Address:
		return "address"
	case Ticker:
		return "ticker"
	case Prefix:
		return "prefix"
	case Fuzzy:
		return "fuzzy"
	}
	return "none"
}

// Hit is a token found.
type Hit struct {
	Chain string
	Mint  market.Address
	Match Match
}

// Index finds tokens. All its methods can be called at the same time. None is kept waiting for longer than the searches
// under way take, and the writing of a few tokens: what runs beside a large Put, or a RemoveChain, finds a part of the
// change.
//
// What is found depends on the tokens alone, not on the order in which they were put.
type Index struct {
	mu      sync.RWMutex
	recs    *records
	mints   mints
	words   prefixes
	posts   postings
	scratch sync.Pool
	// reads is postingsRead.
	reads int
	// trigrams is room for those of the token that is being written.
	trigrams []trigram
}

// lockedTokens is how many tokens are written before searches get a turn: a fraction of a millisecond's work.
const lockedTokens = 16

// New is an empty index.
func New() *Index {
	recs := &records{freed: noID}
	return &Index{recs: recs, mints: newMints(recs), words: prefixes{recs: recs}, reads: postingsRead}
}

// Len is the number of tokens.
func (x *Index) Len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.recs.live
}

// Put adds tokens, or replaces those known by chain and mint; of one token given twice, the last holds. Where nothing
// but the liquidity is new, it costs a fraction of adding a token; where nothing is, next to nothing.
func (x *Index) Put(tokens []Token) {
	type texts struct{ ticker, name string }
	keys := make([]texts, 0, lockedTokens)
	for some := range slices.Chunk(tokens, lockedTokens) {
		keys = keys[:0]
		for _, t := range some {
			keys = append(keys, texts{tickerKey(t.Symbol), nameKey(t.Name)})
		}
		x.mu.Lock()
		for i, t := range some {
			x.put(t, keys[i].ticker, keys[i].name)
		}
		x.mu.Unlock()
	}
}

func (x *Index) put(t Token, ticker, name string) {
	if k := t.Mint.Kind(); k != market.EVMAccount && k != market.SolanaKey {
		return // no token: a record has room for these two alone
	}
	chain, ok := x.recs.holdChain(t.Chain)
	if !ok {
		return
	}
	usd := liquidity(t.LiquidityUSD)
	var buf [market.SolanaLen]byte
	mint := t.Mint.AppendTo(buf[:0])
	if id, known := x.mints.find(chain, mint); known {
		text, n := x.recs.text(id)
		if string(text[:n]) == ticker && string(text[n:]) == name {
			if kept := x.recs.usd.at(id); *kept != usd {
				*kept = usd
				x.words.revalue(id)
			}
			return
		}
		x.remove(id)
	}
	id := x.recs.add(chain, mint, ticker, name, usd)
	x.mints.add(id)
	x.words.add(id)
	for _, t := range x.trigramsOf(id) {
		x.posts.add(t, id)
	}
}

func (x *Index) trigramsOf(id uint32) []trigram {
	text, n := x.recs.text(id)
	x.trigrams = appendTrigrams(appendTrigrams(x.trigrams[:0], text[:n]), text[n:])
	x.trigrams = distinct(x.trigrams)
	return x.trigrams
}

func (x *Index) remove(id uint32) {
	for _, t := range x.trigramsOf(id) {
		x.posts.drop(t, id)
	}
	x.words.drop(id)
	x.mints.drop(id)
	x.recs.drop(id)
}

// Remove forgets a token, if it is known.
func (x *Index) Remove(chain string, mint market.Address) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if c, ok := x.recs.chainNumber(chain); ok {
		if id, known := x.mints.find(c, mint.AppendTo(nil)); known {
			x.remove(id)
		}
	}
}

// RemoveChain forgets all tokens that a chain has when it is called; of those put meanwhile, any number. It takes about as
// long as putting them did.
func (x *Index) RemoveChain(chain string) {
	for id, more := uint32(0), true; more; {
		id, more = x.removeSome(chain, id)
	}
}

// removeSome forgets a few of a chain's tokens, from an id on, and says where to go on.
func (x *Index) removeSome(chain string, from uint32) (next uint32, more bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	number, ok := x.recs.chainNumber(chain)
	if !ok {
		return from, false
	}
	end, removed := min(x.recs.next, from+pageLen), 0
	for next = from; next < end && removed < lockedTokens; next++ {
		if x.recs.recs.at(next).chain == number {
			x.remove(next)
			removed++
		}
	}
	return next, next < x.recs.next
}
