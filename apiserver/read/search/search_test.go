package search

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// mint is the EVM address that ends with n.
func mint(n byte) market.Address {
	b := make([]byte, market.EVMAddressLen)
	b[0], b[len(b)-1] = 0xab, n
	a, err := market.AddressFromBytes(b)
	if err != nil {
		panic(err)
	}
	return a
}

func told(hits []Hit) []string {
	out := make([]string, len(hits))
	for i, h := range hits {
		b := h.Mint.Bytes()
		out[i] = fmt.Sprintf("%s %d %s", h.Chain, b[len(b)-1], h.Match)
	}
	return out
}

const (
	wrappedSOL = "So11111111111111111111111111111111111111112"
	lowerSOL   = "so11111111111111111111111111111111111111112"
)

func TestSearch(t *testing.T) {
	t.Parallel()
	sol, ok := parseAddress(wrappedSOL)
	if !ok {
		t.Fatal("the wrapped SOL's mint is no address")
	}
	x := New()
	x.Put([]Token{
		{"base", mint(1), "Pepe", "PEPE", 500},
		{"bsc", mint(1), "Pepe", "PEPE", 9000},
		{"base", mint(2), "Pepe the Clone", "$PEPE", 500},
		{"base", mint(3), "Pepe Coin", "PEPECOIN", 70_000},
		{"base", mint(4), "Baby Pepe", "BPEPE", 80_000},
		{"base", mint(5), "Sad Frog", "FROG", 10},
		{"base", mint(6), "dogwifhat", "$WIF", 1e6},
		{"base", mint(7), "柴犬币", "柴犬", 40},
		{"base", mint(8), "超级柴犬", "超柴", 50},
		{"base", mint(9), "Moon 🐸🚀", "🐸", 60},
		{"base", mint(10), "Elon", "ELON", 5},
		{"base", mint(11), "Straße", "ẞ", 5},
		{"base", mint(12), "???", "$", 5},
		{"base", mint(13), "", "", 5},
		{"solana", sol, "Wrapped SOL", "SOL", 7},
		{"base", mint(14), mint(1).String(), "FAKE", 1e9},
		{"base", mint(15), "Fartcoin", "FARTCOIN", 1e5},
		{"base", mint(16), "İstanbul", "İST", 3},
	})
	for _, c := range []struct {
		why, q string
		want   []string
	}{
		{"an address, on each of its chains, the more liquid first", mint(1).String(), []string{"bsc 1 address", "base 1 address"}},
		{"in any case", "0XAB" + strings.ToUpper(mint(1).String()[4:]), []string{"bsc 1 address", "base 1 address"}},
		{"with what was pasted around it", " \u200b" + mint(13).String() + "\n", []string{"base 13 address"}},
		{"an unknown address is no name", mint(99).String(), []string{}},
		{"base58", wrappedSOL, []string{"solana 1 address"}},
		{"base58 in another case is another address", lowerSOL, []string{}},
		{
			"tickers by liquidity, then chain and mint; then beginnings of tickers and words by liquidity", "pepe",
			[]string{"bsc 1 ticker", "base 1 ticker", "base 2 ticker", "base 4 prefix", "base 3 prefix"},
		},
		{"a dollar sign before it", "$Pepe", []string{
			"bsc 1 ticker", "base 1 ticker", "base 2 ticker", "base 4 prefix", "base 3 prefix",
		}},
		{"a dollar sign in the token's ticker", "WIF", []string{"base 6 ticker"}},
		{"nothing but a dollar sign", " $ ", []string{"base 12 ticker"}},
		{"nothing but punctuation", "??", []string{"base 12 prefix"}},
		{"one letter", "s", []string{"base 5 prefix", "solana 1 prefix", "base 11 prefix"}},
		{"a beginning that goes on in the next word", "pepe the c", []string{
			"base 2 prefix", "base 3 fuzzy", "base 4 fuzzy", "bsc 1 fuzzy", "base 1 fuzzy",
		}},
		{"a middle", "wifha", []string{"base 6 fuzzy"}},
		{"neighbours swapped", "elno", []string{"base 10 fuzzy"}},
		{"neighbours swapped in a long name", "fartcion", []string{"base 15 fuzzy"}},
		{"words in another order", "frog sad", []string{"base 5 fuzzy"}},
		{"the space forgotten", "sadfrog", []string{"base 5 fuzzy"}},
		{"ticker and name together", "frog sad frog", []string{"base 5 fuzzy"}},
		{"a script without spaces", "柴犬", []string{"base 7 ticker", "base 8 prefix"}},
		{"one of its characters, within", "犬", []string{"base 8 prefix", "base 7 prefix"}},
		{"an emoji", "🐸\ufe0f", []string{"base 9 ticker"}},
		{"an emoji within", "🚀", []string{"base 9 prefix"}},
		{"a sharp s is two", "SS", []string{"base 11 ticker"}},
		{"a sharp s is two, in a name", "STRASSE", []string{"base 11 prefix"}},
		{"a Turkish capital keeps its dot", "istanbul", []string{"base 16 fuzzy"}},
		{"full width", "ＰＥＰＥＣＯＩＮ", []string{
			"base 3 ticker", "base 4 fuzzy", "bsc 1 fuzzy", "base 1 fuzzy", "base 2 fuzzy",
		}},
		{"nothing similar", "xyzzy", []string{}},
		{"too short to be similar", "xy", []string{}},
		{"nothing", " \u200b\t", []string{}},
	} {
		if got := told(x.Search(c.q, 30)); !slices.Equal(got, c.want) {
			t.Errorf("%s: Search(%q) is\n%q and should be\n%q", c.why, c.q, got, c.want)
		}
	}
	if got := told(x.Search("pepe", 2)); len(got) != 2 || got[1] != "base 1 ticker" {
		t.Errorf("two for pepe are %q", got)
	}
	if got := x.Search("pepe", 0); len(got) != 0 {
		t.Errorf("none for pepe are %v", got)
	}
}

func TestPutReplacesAndRemoveForgets(t *testing.T) {
	t.Parallel()
	x := New()
	expect := func(q string, want ...string) {
		t.Helper()
		if got := told(x.Search(q, 30)); !slices.Equal(got, want) {
			t.Fatalf("Search(%q) is %q and should be %q", q, got, want)
		}
	}
	x.Put([]Token{{"a", mint(1), "One", "X", 1}, {"b", mint(2), "Two", "X", 2}, {"b", market.Address{}, "None", "X", 3}})
	expect("x", "b 2 ticker", "a 1 ticker")
	x.Put([]Token{{"a", mint(1), "One", "X", 3}})
	expect("x", "a 1 ticker", "b 2 ticker")
	x.Put([]Token{{"b", mint(2), "Two", "Y", 2}, {"b", mint(2), "Three", "Z", 2}})
	expect("x", "a 1 ticker")
	expect("two")
	expect("z", "b 2 ticker")
	x.Remove("a", mint(2))
	x.Remove("c", mint(1))
	expect("z", "b 2 ticker")
	x.Remove("b", mint(2))
	expect("z")
	x.Put([]Token{{"c", mint(3), "One", "X", 9}})
	x.RemoveChain("a")
	x.RemoveChain("nowhere")
	expect("one", "c 3 prefix")
	expect(mint(1).String())
	if x.Len() != 1 {
		t.Errorf("%d tokens are left", x.Len())
	}
}

// TestRoomIsUsedAgain replaces tokens over and over: the index must not grow with what it has forgotten.
func TestRoomIsUsedAgain(t *testing.T) {
	t.Parallel()
	x := New()
	size := func() [4]int {
		chunks := 0
		for _, b := range x.posts.blocks {
			chunks += len(b.chunks)
		}
		return [4]int{int(x.recs.next), len(x.recs.arena.slabs), len(x.words.spans), chunks}
	}
	var first [4]int
	for round := range 12 {
		tokens := make([]Token, 0, 1000)
		for i := range cap(tokens) {
			m := market.SolanaAddress([32]byte{byte(round), byte(i >> 8), byte(i)})
			tokens = append(tokens, Token{"a", m, fmt.Sprintf("Token %c%d", 'a'+round%26, i), fmt.Sprint("T", i), float64(i)})
		}
		x.Put(tokens)
		if round == 0 {
			first = size()
		}
		if round%2 == 0 {
			x.RemoveChain("a")
			continue
		}
		for _, token := range tokens {
			x.Remove(token.Chain, token.Mint)
		}
	}
	if got := size(); got[0] != first[0] || got[1] > first[1]+1 || got[2] > 0 || got[3] > 0 {
		t.Errorf("ids, slabs, spans and chunks were %v after one round and are %v after twelve, all removed", first, got)
	}
}

func TestSearchesRunBesideWrites(t *testing.T) {
	t.Parallel()
	x := New()
	batch := func(round int) []Token {
		var out []Token
		for i := range 100 {
			out = append(out, Token{
				[]string{"a", "b"}[i%2], mint(byte(i)), fmt.Sprintf("Pepe Coin %d", i*round%50), fmt.Sprint("P", i%7), float64(i * round % 13),
			})
		}
		return out
	}
	x.Put(batch(1))
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-done:
					return
				default:
				}
				q := []string{"p", "p3", "pepe coin 1", "epe", "cion pepe", mint(3).String()}[i%6]
				hits := x.Search(q, 30)
				seen := make(map[identity]bool)
				for j, h := range hits {
					if id := (identity{h.Chain, h.Mint}); seen[id] || h.Match == 0 || j > 0 && h.Match < hits[j-1].Match {
						t.Errorf("Search(%q) is %v", q, told(hits))
						return
					} else {
						seen[id] = true
					}
				}
				x.Len()
			}
		})
	}
	for round := range 40 {
		x.Put(batch(round))
		x.Remove("a", mint(byte(round)))
		if round%20 == 19 {
			x.RemoveChain("b")
		}
	}
	close(done)
	readers.Wait()
	if err := x.check(); err != nil {
		t.Error(err)
	}
}

func TestOddTexts(t *testing.T) {
	t.Parallel()
	x := New()
	floods := []string{
		strings.Repeat("A", 64<<10), strings.Repeat("🐸", 20_000), "Z" + strings.Repeat("\u0301", 30_000),
		strings.Repeat("\u200b", 20_000) + "pepe", strings.Repeat("ab ", 20_000), strings.Repeat("柴犬", 10_000),
		strings.Repeat("\xff", 64<<10), strings.Repeat("\ufdfa", 20_000), strings.Repeat("$", 64<<10), strings.Repeat("a.", 30_000),
	}
	texts := slices.Concat(floods, odd)
	for i, name := range texts {
		for j, symbol := range texts {
			x.Put([]Token{{strconv.Itoa(j), mint(byte(i)), name, symbol, oddAmounts[(i+j)%len(oddAmounts)]}})
		}
	}
	for i, q := range texts {
		hits := x.Search(q, 30)
		if tickerKey(q) == "" {
			continue
		}
		if _, isAddress := parseAddress(q); !isAddress && (len(hits) == 0 || hits[0].Match != Ticker) {
			t.Errorf("the ticker of text %d, %.40q, is not found: %v", i, q, told(hits))
		}
	}
	if err := x.check(); err != nil {
		t.Error(err)
	}
}

func TestParseAddress(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		q, want string
	}{
		{"0x" + strings.Repeat("aB", 20), "0x" + strings.Repeat("ab", 20)},
		{"0X" + strings.Repeat("aB", 32), "0x" + strings.Repeat("ab", 32)},
		{"0x" + strings.Repeat("ab", 19), ""},
		{"0x" + strings.Repeat("xy", 20), ""},
		{strings.Repeat("ab", 20), ""},
		{wrappedSOL, wrappedSOL},
		{strings.Repeat("1", 32), strings.Repeat("1", 32)},
		{strings.Repeat("1", 33), ""},
		{strings.Repeat("z", 44), ""},
		{wrappedSOL + "1", ""},
		{wrappedSOL[1:], ""},
		{strings.Replace(wrappedSOL, "S", "0", 1), ""},
		{"pepe", ""},
		{"", ""},
	} {
		got, ok := parseAddress(c.q)
		if got.String() != c.want || ok != (c.want != "") {
			t.Errorf("parseAddress(%q) is %q, %v; it should be %q", c.q, got, ok, c.want)
		}
	}
}
