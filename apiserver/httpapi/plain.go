package httpapi

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

const (
	// mostDrawn is how many characters of a name there is room for anywhere; in UTF-8 they fit a card's texts.
	mostDrawn = 64
	// mostMarks is how many marks one letter keeps: written languages need no more.
	mostMarks = 3

	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
	emojiStyle         = '\ufe0f'
)

// plain is a stranger's text as it may stand beside our own: one line in normal form C, of at most so many characters, without
// controls, directional overrides, invisible characters and piles of marks. A joiner stays where an emoji or a script that
// joins its letters needs it.
func plain(text string, most int) string {
	runes := []rune(norm.NFC.String(strings.ToValidUTF8(text, "")))
	out := make([]rune, 0, len(runes))
	marks := 0
	for i, r := range runes {
		var last, next rune
		if len(out) > 0 {
			last = out[len(out)-1]
		}
		if i+1 < len(runes) {
			next = runes[i+1]
		}
		begins := last == 0 || last == ' '
		switch {
		case unicode.IsSpace(r):
			if marks = 0; !begins {
				out = append(out, ' ')
			}
			continue
		case unicode.IsMark(r) && r != emojiStyle:
			if marks++; marks > mostMarks || begins {
				continue
			}
		case shows(r):
			marks = 0
		}
		if shows(r) || shapes(r, last, next) {
			out = append(out, r)
		}
	}
	if len(out) > most {
		out = append(out[:most-1], '…')
	}
	return strings.TrimSpace(string(out))
}

// shapes says whether a character without ink shapes its neighbours.
func shapes(r, last, next rune) bool {
	switch r {
	case zeroWidthJoiner, zeroWidthNonJoiner:
		return joins(r, last, next)
	case emojiStyle:
		return unicode.Is(unicode.So, last)
	default:
		return false
	}
}

// joins says whether a joiner has something to join.
func joins(r, last, next rune) bool {
	if unicode.Is(unicode.So, next) || unicode.Is(unicode.Sk, next) {
		return r == zeroWidthJoiner && (unicode.Is(unicode.So, last) || unicode.Is(unicode.Sk, last) || last == emojiStyle)
	}
	return unicode.In(last, joining...) && unicode.In(next, joining...)
}

// joining are scripts whose letters change their shapes at a joiner.
var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Nko, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati,
	unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar,
}

// shows says whether a character leaves ink. Blank Braille, the place of an object and the sign of a character that could not
// be read don't.
func shows(r rune) bool {
	return unicode.IsGraphic(r) && !unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.Me) &&
		r != '\u2800' && r != '\ufffc' && r != unicode.ReplacementChar
}

// shortAddress keeps the ends of an address, which are what people compare.
func shortAddress(address string) string {
	const head, tail = 6, 4
	if len(address) <= head+tail+1 {
		return address
	}
	return address[:head] + "…" + address[len(address)-tail:]
}
