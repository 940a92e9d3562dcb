// Package rich finds what a member's text names: other members, tokens by their tickers, addresses and links. It knows neither members nor tokens: the callers
// look those up. A word is no name if it goes on in letters of another script, in invisible characters, or in controls of direction.
package rich

import (
	"net/url"
	"strings"
	"unicode"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Most bounds how many names of each kind are found in a text.
const Most = 20

// Span says where in its text something stands, in Unicode code points; End is behind the last one.
type Span struct{ Start, End int }

// Mention names a member: @handle.
type Mention struct {
	Text, Handle string
	Span
}

// Tag names a token by its ticker: $TICKER.
type Tag struct {
	Text, Symbol string
	// IsMixed says that the ticker has letters of more than one script, and may look like another one.
	IsMixed bool
	Span
}

// Address is the address of a contract, a mint or an account.
type Address struct {
	Text    string
	Address market.Address
	Span
}

// Link is an address of the web, over http or https, with a host of ASCII.
type Link struct {
	Text, URL string
	Span
}

// Found is what a text names, each list in the text's order.
type Found struct {
	Mentions  []Mention
	Tags      []Tag
	Addresses []Address
	Links     []Link
}

// Find looks through a text.
func Find(text string) Found {
	f := finder{text: []rune(text)}
	for f.at < len(f.text) {
		if end := f.next(); end > f.at {
			f.at = end
		} else {
			f.at++
		}
	}
	return f.found
}

type finder struct {
	text  []rune
	at    int
	found Found
}

// next finds a name that begins at the finder's place, and gives the place behind it; 0 where none begins.
func (f *finder) next() int {
	if f.at > 0 && isWord(f.text[f.at-1]) {
		return 0 // in the midst of a word
	}
	switch c := f.text[f.at]; {
	case c == '@':
		return f.mention()
	case c == '$':
		return f.tag()
	case c == 'h' || c == 'H':
		if end := f.link(); end > 0 {
			return end
		}
		return f.address()
	case isASCIIWord(c):
		return f.address()
	default:
		return 0
	}
}

// isWord reports whether a character belongs to a word. Invisible characters do: they could hide how a word goes on.
func isWord(r rune) bool {
	return r == '_' || r == '@' || r == '$' || unicode.In(r, unicode.L, unicode.N, unicode.M, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point)
}

func isASCIIWord(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

// run gives the place behind a run of characters of one kind.
func (f *finder) run(from int, of func(rune) bool) (end int) {
	for end = from; end < len(f.text) && of(f.text[end]); {
		end++
	}
	return end
}

// endsAt reports whether a word may end at a place.
func (f *finder) endsAt(end int) bool { return end == len(f.text) || !isWord(f.text[end]) }

func (f *finder) span(end int) (string, Span) { return string(f.text[f.at:end]), Span{f.at, end} }

const longestHandle, longestSymbol = 32, 32

func (f *finder) mention() int {
	end := f.run(f.at+1, func(r rune) bool { return isASCIIWord(r) || r == '_' })
	n := end - f.at - 1
	if n < 1 || n > longestHandle || !f.endsAt(end) || len(f.found.Mentions) == Most {
		return end
	}
	text, span := f.span(end)
	f.found.Mentions = append(f.found.Mentions, Mention{text, text[1:], span})
	return end
}

func (f *finder) tag() int {
	end := f.run(f.at+1, func(r rune) bool { return r == '.' || r == '_' || r == '-' || unicode.In(r, unicode.L, unicode.N) })
	whole := end
	for end > f.at+1 && strings.ContainsRune("._-", f.text[end-1]) { // the end of a sentence
		end--
	}
	n := end - f.at - 1
	if n < 1 || n > longestSymbol || !f.endsAt(whole) || len(f.found.Tags) == Most || !unicode.IsLetter(f.text[f.at+1]) && !f.hasLetter(end) {
		return whole
	}
	text, span := f.span(end)
	f.found.Tags = append(f.found.Tags, Tag{text, text[1:], isMixed(text), span})
	return end
}

// hasLetter tells a ticker from an amount of dollars.
func (f *finder) hasLetter(end int) bool {
	for _, r := range f.text[f.at:end] {
		if unicode.IsLetter(r) && !strings.ContainsRune("kKmMbBtT", r) {
			return true
		}
	}
	return false
}

// scripts have letters that look like letters of one another.
var scripts = []*unicode.RangeTable{unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Armenian, unicode.Cherokee, unicode.Lisu}

func isMixed(text string) bool {
	in := 0
	for _, script := range scripts {
		if strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(script, r) }) {
			in++
		}
	}
	return in > 1
}

// The bounds of an address in characters: Solana has the shortest and the longest ones.
const shortestAddress, longestAddress = 32, 44

func (f *finder) address() int {
	end := f.run(f.at, isASCIIWord)
	if n := end - f.at; n < shortestAddress || n > longestAddress || !f.endsAt(end) || len(f.found.Addresses) == Most {
		return end
	}
	text, span := f.span(end)
	if address, err := market.ParseMint(text); err == nil {
		f.found.Addresses = append(f.found.Addresses, Address{text, address, span})
	}
	return end
}

// link finds a link, and gives the place behind it; 0 where none begins.
func (f *finder) link() int {
	var scheme int
	for _, s := range []string{"https://", "http://"} {
		if n := len(s); f.at+n <= len(f.text) && strings.EqualFold(string(f.text[f.at:f.at+n]), s) {
			scheme = n
		}
	}
	if scheme == 0 {
		return 0
	}
	end := f.run(f.at+scheme, func(r rune) bool { return r > ' ' && r < 0x7f && !strings.ContainsRune("<>\"\\^`{|}", r) })
	if end < len(f.text) && (f.text[end] >= 0x7f && isWord(f.text[end])) {
		return end // it goes on in other letters: where it leads isn't where it seems to
	}
	end = f.beforeClosing(f.at+scheme, end)
	text, span := f.span(end)
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || !isASCII(u.Hostname()) || u.User != nil || len(f.found.Links) == Most {
		return end
	}
	f.found.Links = append(f.found.Links, Link{text, u.String(), span})
	return end
}

func isASCII(s string) bool { return !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x7f }) }

// beforeClosing finds the end of a link: before punctuation that closes the sentence, and before closing brackets that the link doesn't open.
func (f *finder) beforeClosing(from, end int) int {
	surplus := map[rune]int{} // of closing brackets
	for _, r := range f.text[from:end] {
		switch r {
		case '(', '[':
			surplus[closing[r]]--
		case ')', ']':
			surplus[r]++
		}
	}
	for ; end > from; end-- {
		switch last := f.text[end-1]; last {
		case '.', ',', ';', ':', '!', '?', '\'', '*':
		case ')', ']':
			if surplus[last] <= 0 {
				return end
			}
			surplus[last]--
		default:
			return end
		}
	}
	return end
}

// closing are the brackets that close others.
var closing = map[rune]rune{'(': ')', '[': ']'}
