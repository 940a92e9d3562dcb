package search

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

var (
	chainIDs = []string{"base", "bsc", "solana", ""}
	// words are close to each other, so that all classes have hits and ties.
	words = strings.Fields(`pepe Pepe PEPE peep pepo epe pepecoin coin coins doge dogge inu i n u shiba-inu $wif wif
		dogwifhat 柴犬 柴犬币 犬 🐸 🐸🐸 도지코인 É ß ss STRASSE a b aa ab ba a.b 1 10 100x`)
	amounts = append([]float64{1, 1, 2, 3, 1e6, 1e6 + 0.001}, oddAmounts...)
)

func genText() *rapid.Generator[string] {
	phrase := rapid.Custom(func(t *rapid.T) string {
		of := rapid.SliceOfN(rapid.SampledFrom(words), 1, 4).Draw(t, "words")
		return strings.Join(of, rapid.SampledFrom([]string{" ", "  ", "", "-", "\t"}).Draw(t, "glue"))
	})
	return rapid.OneOf(phrase, phrase, phrase, rapid.StringOfN(rapid.RuneFrom([]rune("ab $-P柴🐸é\u0301\u200b")), 0, 12, -1),
		rapid.SampledFrom(odd))
}

func genMint() *rapid.Generator[market.Address] {
	return rapid.Custom(func(t *rapid.T) market.Address {
		b := [32]byte{12: rapid.ByteRange(1, 2).Draw(t, "first"), 31: rapid.ByteRange(0, 5).Draw(t, "last")}
		if rapid.Bool().Draw(t, "solana") {
			return market.SolanaAddress(b)
		}
		return market.EVMAddress(b)
	})
}

func genToken() *rapid.Generator[Token] {
	return rapid.Custom(func(t *rapid.T) Token {
		return Token{
			Chain: rapid.SampledFrom(chainIDs).Draw(t, "chain"), Mint: genMint().Draw(t, "mint"),
			Name: genText().Draw(t, "name"), Symbol: genText().Draw(t, "symbol"),
			LiquidityUSD: rapid.SampledFrom(amounts).Draw(t, "usd"),
		}
	})
}

// TestFindsWhatTheRulesSay plays random changes and compares every answer with the reference.
func TestFindsWhatTheRulesSay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		x, ref := New(), newReference()
		if rapid.Bool().Draw(t, "bounded") {
			x.reads, ref.reads = 10, 10
		}
		ask := func(q string) {
			limit := rapid.SampledFrom([]int{1, 2, 3, 5, 30}).Draw(t, "limit")
			if got, want := x.Search(q, limit), ref.search(q, limit); !slices.Equal(got, want) {
				t.Fatalf("Search(%.60q, %d) is\n%v\nand should be\n%v", q, limit, got, want)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				batch := rapid.SliceOfN(genToken(), 1, 20).Draw(t, "batch")
				x.Put(batch)
				ref.put(batch...)
			},
			"revalue": func(t *rapid.T) {
				id := identity{rapid.SampledFrom(chainIDs).Draw(t, "chain"), genMint().Draw(t, "mint")}
				if token, ok := ref.tokens[id]; ok {
					token.LiquidityUSD = rapid.SampledFrom(amounts).Draw(t, "usd")
					x.Put([]Token{token})
					ref.put(token)
				}
			},
			"remove": func(t *rapid.T) {
				id := identity{rapid.SampledFrom(chainIDs).Draw(t, "chain"), genMint().Draw(t, "mint")}
				x.Remove(id.chain, id.mint)
				delete(ref.tokens, id)
			},
			"removeChain": func(t *rapid.T) {
				chain := rapid.SampledFrom(chainIDs).Draw(t, "chain")
				x.RemoveChain(chain)
				ref.removeChain(chain)
			},
			"search": func(t *rapid.T) { ask(genText().Draw(t, "q")) },
			"address": func(t *rapid.T) {
				ask(genMint().Draw(t, "mint").String())
			},
			"": func(t *rapid.T) {
				if x.Len() != len(ref.tokens) {
					t.Fatalf("Len is %d and should be %d", x.Len(), len(ref.tokens))
				}
				if err := x.check(); err != nil {
					t.Fatal(err)
				}
			},
		})
	})
}

// TestLargerWorld is the same with so many tokens that spans and chunks are split and merged, and ids fall into two
// blocks.
func TestLargerWorld(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(11, 5))
	x, ref := New(), newReference()
	// The second block begins after a few tokens.
	for range blockLen - 700 {
		x.recs.next++
		x.recs.recs.hold(x.recs.next)
		x.recs.usd.hold(x.recs.next)
		x.recs.recs.at(x.recs.next - 1).chain = noChain
	}
	queries := []string{
		"p", "pe", "pepe", "$PEPE", "pepe c", "coin", "oin", "epe", "peoe", "inu", "shiba", "dgoe", "elno", "柴", "柴犬", "🐸", "s",
		"pepe inu shiba", "qx pepe coin", "e", "a", "doge2", "bab dog", "ab", "moon to the",
	}
	stems := strings.Fields("pepe coin inu doge baby shiba elon moon the to cat dog 柴犬 🐸 ab abc b 2 x")
	random := func() Token {
		n := 1 + rng.IntN(4)
		name := make([]string, n)
		for i := range name {
			if name[i] = stems[min(rng.IntN(len(stems)), rng.IntN(len(stems)))]; rng.IntN(3) == 0 {
				name[i] = fmt.Sprintf("%s%c", name[i], 'a'+rng.IntN(26))
			}
		}
		return Token{
			Chain: chainIDs[rng.IntN(3)], Mint: market.SolanaAddress(drawn(rng)),
			Name: strings.Join(name, " "), Symbol: name[rng.IntN(n)], LiquidityUSD: float64(rng.IntN(300)),
		}
	}
	compare := func(when string) {
		t.Helper()
		if err := x.check(); err != nil {
			t.Fatal(when, err)
		}
		for _, q := range queries {
			want := ref.search(q, 200)
			for _, limit := range []int{1, 30, 200} {
				if got := x.Search(q, limit); !slices.Equal(got, want[:min(limit, len(want))]) {
					t.Fatalf("%s: Search(%q, %d) is\n%v\nand should be\n%v", when, q, limit, got, want)
				}
			}
		}
	}
	var tokens []Token
	for range 2500 {
		tokens = append(tokens, random())
	}
	x.Put(tokens)
	ref.put(tokens...)
	compare("after putting")
	for i := range tokens {
		if i%3 == 0 {
			tokens[i].LiquidityUSD = float64(rng.IntN(300))
		}
		if i%7 == 0 {
			tokens[i].Name = random().Name
		}
	}
	x.Put(tokens)
	ref.put(tokens...)
	compare("after replacing")
	rng.Shuffle(len(tokens), func(i, j int) { tokens[i], tokens[j] = tokens[j], tokens[i] })
	for _, token := range tokens[:1900] {
		x.Remove(token.Chain, token.Mint)
		delete(ref.tokens, identity{token.Chain, token.Mint})
	}
	compare("after removing")
	x.RemoveChain(chainIDs[0])
	ref.removeChain(chainIDs[0])
	compare("after removing a chain")
	for _, chain := range chainIDs {
		x.RemoveChain(chain)
		ref.removeChain(chain)
	}
	compare("after removing all")
	if len(x.words.spans) > 0 || x.Len() > 0 {
		t.Errorf("%d tokens and %d spans are left", x.Len(), len(x.words.spans))
	}
}

func TestOrderOfPutsDoesNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tokens := rapid.SliceOfNDistinct(genToken(), 0, 60, func(t Token) identity { return identity{t.Chain, t.Mint} }).Draw(t, "tokens")
		shuffled := rapid.Permutation(tokens).Draw(t, "shuffled")
		x, y := New(), New()
		x.Put(tokens)
		for _, token := range shuffled {
			other := token
			other.Name += "x"
			y.Put([]Token{other, token})
		}
		for range 10 {
			q := genText().Draw(t, "q")
			if a, b := x.Search(q, 30), y.Search(q, 30); !slices.Equal(a, b) {
				t.Fatalf("Search(%.60q) is %v in one order and %v in another", q, a, b)
			}
		}
	})
}

// check finds what must never be: things out of order, a span that doesn't know its best, tokens counted twice.
func (x *Index) check() error {
	entries := 0
	for i := range x.words.spans {
		s := x.words.spans[i]
		entries += len(s.entries)
		kept := s
		x.words.behead(&s)
		x.words.rank(&s)
		if s.head != kept.head || s.best != kept.best || s.usd != kept.usd || len(s.entries) > spanLen {
			return fmt.Errorf("span %d: %v and %v", i, kept, s)
		}
		for j, e := range s.entries {
			if at := x.words.locate(e.token(), e.off); at != (position{i, j}) {
				return fmt.Errorf("entry %d of span %d is found at %v", j, i, at)
			}
		}
	}
	pairs := 0
	for _, b := range x.posts.blocks {
		for i, c := range b.chunks {
			pairs += len(c.tokens)
			from := 0
			for k, r := range c.runs {
				if int(r.end) <= from || k > 0 && c.runs[k-1].tri >= r.tri || !slices.IsSorted(c.tokens[from:r.end]) {
					return fmt.Errorf("run %d of chunk %d: %v", k, i, c.runs)
				}
				from = int(r.end)
			}
			if from != len(c.tokens) || c.tri != c.runs[0].tri || c.token != c.tokens[0] || from > chunkLen {
				return fmt.Errorf("chunk %d: %v", i, c)
			}
		}
	}
	wantEntries, wantPairs, live := 0, 0, 0
	for id := range x.recs.next {
		if x.recs.recs.at(id).chain == noChain {
			continue
		}
		live++
		x.words.each(id, func(uint8) { wantEntries++ })
		wantPairs += len(x.trigramsOf(id))
	}
	if entries != wantEntries || pairs != wantPairs || live != x.recs.live {
		return fmt.Errorf("%d entries, %d pairs, %d tokens; there should be %d, %d, %d",
			entries, pairs, x.recs.live, wantEntries, wantPairs, live)
	}
	return nil
}
