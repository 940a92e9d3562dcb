package search

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Anyone can deploy a token of any name, so that what is looked at and kept of one is bounded. The bounds in bytes let
// ticker and name together be addressed with a byte; they bite only where most characters are outside the alphabets.
const (
	// rawBytes is how much of a name, ticker or query is looked at.
	rawBytes = 1024
	// tickerRunes and tickerBytes are how much of a normalised ticker is indexed.
	tickerRunes, tickerBytes = 32, 64
	// nameRunes and nameBytes are how much of a normalised name is indexed.
	nameRunes, nameBytes = 64, 190
	// wordsKept is how many words of a ticker, and how many of a name, can be found by their beginnings.
	wordsKept = 16
)

// tickerKey gives the form in which a ticker is indexed.
func tickerKey(s string) string { return cut(bare(s), tickerRunes, tickerBytes) }

// nameKey gives the form in which a name is indexed, and in which a query is looked for.
func nameKey(s string) string { return cut(bare(s), nameRunes, nameBytes) }

// bare is s, as far as it is looked at, normalised and without the dollar signs before it, unless there is nothing else.
func bare(s string) string {
	s = normalise(head(s))
	if rest := strings.TrimLeft(s, "$ "); rest != "" {
		return rest
	}
	return s
}

func head(s string) string { return s[:min(len(s), rawBytes)] }

// cut is the longest beginning of s within both bounds, in whole characters and trimmed.
func cut(s string, runes, bytes int) string {
	if len(s) <= runes && len(s) <= bytes {
		return s
	}
	n := 0
	for i, r := range s {
		if n++; n > runes || i+utf8.RuneLen(r) > bytes {
			return strings.TrimRight(s[:i], " ")
		}
	}
	return s
}

// class is the part that a character plays in the division of a text into words.
type class uint8

const (
	// separator is whitespace, punctuation and the symbols of ASCII.
	separator class = iota
	// letter is everything that makes up words.
	letter
	// alone is a character of a script that doesn't put spaces between words, or an emoji. A word can begin at any of
	// them.
	alone
	// mark continues what it stands behind.
	mark
)

// unspaced are the scripts in which a word can begin at any character. Korean has spaces, but compounds of two syllables
// are common, and too short to be found otherwise.
var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.S,
}

func classOf(r rune) class {
	if r < utf8.RuneSelf {
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' {
			return letter
		}
		return separator
	}
	switch {
	case unicode.IsMark(r):
		return mark
	case unicode.IsSpace(r), unicode.IsPunct(r):
		return separator
	case unicode.In(r, unspaced...):
		return alone
	}
	return letter
}

// appendStarts appends the offsets in s at which a prefix may be found, counted from base: its beginning, the beginnings
// of its words, and every character of a script without spaces; the first wordsKept of them.
func appendStarts(dst []uint8, s []byte, base uint8) []uint8 {
	kept, before := 0, separator
	for i := 0; i < len(s) && kept < wordsKept; {
		r, width := utf8.DecodeRune(s[i:])
		c := classOf(r)
		if i == 0 || c == alone || c == letter && before != letter {
			dst = append(dst, base+uint8(i))
			kept++
		}
		if c != mark {
			before = c
		}
		i += width
	}
	return dst
}
