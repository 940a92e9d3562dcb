package search

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// reference is the documented rules, applied to one token after the other. It shares with the index how texts are
// normalised, cut and told apart by class; all else is written down a second time.
type reference struct {
	tokens map[identity]Token
	// reads is the bound on the postings of a query.
	reads int
}

func newReference() reference {
	return reference{tokens: make(map[identity]Token), reads: postingsRead}
}

type identity struct {
	chain string
	mint  market.Address
}

func (r reference) put(tokens ...Token) {
	for _, t := range tokens {
		if !t.Mint.IsNone() {
			r.tokens[identity{t.Chain, t.Mint}] = t
		}
	}
}

func (r reference) removeChain(chain string) {
	for id := range r.tokens {
		if id.chain == chain {
			delete(r.tokens, id)
		}
	}
}

type found struct {
	Hit
	score int
	usd   float32
}

func (r reference) search(q string, limit int) []Hit {
	text := nameKey(q)
	if text == "" {
		return nil
	}
	mint, isAddress := parseAddress(q)
	wanted, open := r.choose(text)
	var all []found
	for id, t := range r.tokens {
		f := found{Hit: Hit{Chain: id.chain, Mint: id.mint}, usd: float32(t.LiquidityUSD)}
		if !(f.usd > 0) {
			f.usd = 0
		}
		if isAddress {
			if id.mint == mint {
				f.Match = Address
			}
		} else {
			f.Match, f.score = judge(text, tickerKey(q), wanted, open, tickerKey(t.Symbol), nameKey(t.Name))
		}
		if f.Match != 0 {
			all = append(all, f)
		}
	}
	slices.SortFunc(all, func(a, b found) int {
		return cmp.Or(cmp.Compare(a.Match, b.Match), -cmp.Compare(a.score, b.score), -cmp.Compare(a.usd, b.usd),
			strings.Compare(a.Chain, b.Chain), a.Mint.Compare(b.Mint))
	})
	var hits []Hit
	for _, f := range all[:min(limit, len(all))] {
		hits = append(hits, f.Hit)
	}
	return hits
}

// choose is the query's trigrams, and those among them that it would have inside of a longer text: as many as may be
// read, the rarest first.
func (r reference) choose(q string) (wanted, open map[string]bool) {
	wanted, open = set(pieces(q, true)), set(pieces(q, false))
	inside := false
	for tri := range wanted {
		inside = inside || !strings.HasPrefix(tri, " ") && !strings.HasSuffix(tri, " ")
	}
	if !inside {
		return nil, nil
	}
	counts := make(map[string]int)
	for _, t := range r.tokens {
		for tri := range trigramsOf(tickerKey(t.Symbol), nameKey(t.Name)) {
			counts[tri]++
		}
	}
	order := slices.SortedFunc(maps.Keys(wanted), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[a], counts[b]), strings.Compare(a, b))
	})
	sum := 0
	for i, tri := range order {
		if sum += counts[tri]; sum > r.reads && i > 0 {
			delete(wanted, tri)
			delete(open, tri)
		}
	}
	return wanted, open
}

func trigramsOf(ticker, name string) map[string]bool {
	return set(append(pieces(ticker, true), pieces(name, true)...))
}

func judge(q, asTicker string, wanted, open map[string]bool, ticker, name string) (Match, int) {
	if ticker != "" && ticker == asTicker {
		return Ticker, 0
	}
	for _, text := range []string{ticker, name} {
		for _, at := range beginnings(text) {
			if strings.HasPrefix(text[at:], q) {
				return Prefix, 0
			}
		}
	}
	has := trigramsOf(ticker, name)
	hasAll, hasOpen := 0, 0
	for tri := range wanted {
		if has[tri] {
			hasAll++
		}
		if has[tri] && open[tri] {
			hasOpen++
		}
	}
	// The shares, as multiples of 1/(len(wanted)*len(open)).
	score, whole := hasAll*max(1, len(open)), len(wanted)*max(1, len(open))
	score = max(score, hasOpen*len(wanted))
	if whole == 0 || score*5 < whole*2 {
		return 0, 0
	}
	return Fuzzy, score
}

// beginnings is where in a text a prefix is looked for.
func beginnings(text string) []int {
	var out []int
	before := separator
	for i, r := range text {
		c := classOf(r)
		if i == 0 || c == alone || c == letter && before != letter {
			out = append(out, i)
		}
		if c != mark {
			before = c
		}
	}
	return out[:min(len(out), 16)]
}

// pieces is the words of a text with what stands for their beginnings and ends; if not closed, without that of the
// beginning and of the end of the text.
func pieces(text string, closed bool) []string {
	isSeparator := func(r rune) bool { return classOf(r) == separator }
	words := strings.FieldsFunc(text, isSeparator)
	for i := range words {
		if closed || i > 0 || !strings.HasPrefix(text, words[i]) {
			words[i] = "  " + words[i]
		}
		if closed || i+1 < len(words) || strings.LastIndexFunc(text, isSeparator) == len(text)-1 {
			words[i] += " "
		}
	}
	return words
}

func set(pieces []string) map[string]bool {
	out := make(map[string]bool)
	for _, p := range pieces {
		runes := []rune(p)
		for i := 0; i+3 <= len(runes); i++ {
			out[string(runes[i:i+3])] = true
		}
	}
	return out
}

// odd are texts that someone could give to a token, or search for, out of spite.
var odd = []string{
	"", " ", "$", "$$$", "$ $", "???", "\xff\xfe\xfd", "pe\xffpe", "\x00\x01", "0x", "0x" + strings.Repeat("0", 40),
	strings.Repeat("1", 32), strings.Repeat("a", 90), strings.Repeat("🐸", 70), strings.Repeat("柴犬", 40),
	"Z" + strings.Repeat("\u0301", 50), "\u200b\u200bpepe", "\u202epepe\u202c", strings.Repeat("ab ", 40), strings.Repeat("$", 80),
	"\ufdfa\ufdfa\ufdfa\ufdfa\ufdfa", strings.Repeat("ß", 40), "İI ıi", strings.Repeat("a b ", 20), strings.Repeat("\u0e01\u0e33", 40),
	string(unicode.MaxRune), "\u0301", "a \u0301 b",
}

var oddAmounts = []float64{0, math.NaN(), -1, math.Inf(1), math.Inf(-1), math.MaxFloat64, 5e-324, math.Copysign(0, -1)}
