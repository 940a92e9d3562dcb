// Package plain makes strangers' texts fit to stand beside our own, and shortens what only machines read in full.
package plain

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// The bounds of a stranger's text.
const (
	mostRunes          = 64 // more than any box shows; in UTF-8 they fit a card's texts
	mostMarks          = 3  // on one letter: Hebrew points and Devanagari signs need no more
	mostInheritedMarks = 2  // accents, of which floods are made: Vietnamese needs two
)

const (
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
	emojiStyle         = '\ufe0f'
)

// Text is a stranger's text as it may be shown: in normal form C, one line, without controls, directional overrides,
// invisible characters and floods of accents, of at most 64 characters. A joiner stays where a script or an emoji needs it.
// A plain text is its own Text.
func Text(s string) string { return AtMost(s, mostRunes) }

// AtMost is Text of at most so many characters, at least one.
func AtMost(s string, runes int) string {
	for {
		cleaned := clean(s, runes)
		if cleaned == s {
			return s
		}
		s = cleaned // what was taken out may have parted what now composes or joins
	}
}

func clean(s string, most int) string {
	runes := []rune(norm.NFC.String(s))
	var kept []rune
	marks := 0
	for i, r := range runes {
		var last, next rune
		if len(kept) > 0 {
			last = kept[len(kept)-1]
		}
		if i+1 < len(runes) {
			next = runes[i+1]
		}
		switch {
		case unicode.IsSpace(r) || unicode.In(r, unicode.Zs, unicode.Zl, unicode.Zp):
			if last != 0 && last != ' ' {
				kept = append(kept, ' ')
			}
			marks = 0
			continue
		case !visible(r, last, next):
			continue
		case unicode.Is(unicode.M, r) && r != emojiStyle:
			marks++
			if last == 0 || last == ' ' || marks > mostMarks || marks > mostInheritedMarks && unicode.Is(unicode.Inherited, r) {
				continue
			}
		default:
			marks = 0
		}
		kept = append(kept, r)
	}
	if len(kept) > most {
		kept = append(kept[:most-1], '…')
	}
	return strings.TrimSpace(string(kept))
}

// visible says whether a character other than a space shows by itself or shapes its neighbours in an honest way.
func visible(r, last, next rune) bool {
	switch {
	case r == zeroWidthJoiner || r == zeroWidthNonJoiner:
		script := unicode.In(last, joining...) && unicode.In(next, joining...)
		return script || r == zeroWidthJoiner && pictograph(last) && pictograph(next)
	case r == emojiStyle:
		return pictograph(last)
	case unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.Me):
		return false
	case r == '\u2800' || r == '\ufffc' || r == unicode.ReplacementChar: // blank Braille; what stands for nothing
		return false
	default:
		return unicode.IsGraphic(r)
	}
}

// joining are the scripts whose letters take other shapes at a joiner.
var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Nko, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi,
	unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala,
	unicode.Khmer, unicode.Myanmar,
}

func pictograph(r rune) bool {
	return r == emojiStyle || unicode.Is(unicode.So, r) || r >= 0x1f3fb && r <= 0x1f3ff // skin tones
}

// Language is a BCP 47 tag guessed by script, so that a text gets the shapes that its readers expect; empty where it doesn't matter.
func Language(s string) string {
	guess := ""
	for _, r := range s {
		switch {
		case unicode.In(r, unicode.Hiragana, unicode.Katakana):
			return "ja"
		case unicode.Is(unicode.Hangul, r):
			return "ko"
		case unicode.Is(unicode.Han, r):
			guess = "zh" // unless kana follow
		case guess == "":
			guess = alphabets(r)
		}
	}
	return guess
}

func alphabets(r rune) string {
	switch {
	case unicode.Is(unicode.Arabic, r):
		return "ar"
	case unicode.Is(unicode.Hebrew, r):
		return "he"
	case unicode.Is(unicode.Devanagari, r):
		return "hi"
	case unicode.Is(unicode.Thai, r):
		return "th"
	default:
		return ""
	}
}

// ShortAddress keeps what people compare of an address: 0x1234…abcd, EKpQ…zcjm.
func ShortAddress(address string) string {
	runes := []rune(Text(address))
	lead := 4
	if strings.HasPrefix(string(runes), "0x") {
		lead = 6
	}
	const tail = 4
	if len(runes) <= lead+tail+1 {
		return string(runes)
	}
	return string(runes[:lead]) + "…" + string(runes[len(runes)-tail:])
}
