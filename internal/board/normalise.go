package board

import (
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

const (
	// marksKept is how many combining marks in a row are kept. Written languages stack three or four.
	marksKept = 4
	// rounds bounds the search for a fixed point: dropping a character can bring together two that compose or fold.
	rounds = 8
	// brailleBlank is drawn as a space, though it is none to Unicode.
	brailleBlank = '\u2800'
)

// normalise makes equal what a buyer takes for the same name or ticker: Unicode compatibility forms (what NFKC makes equal) and
// full case folding; without spaces, control, format and other invisible characters, bidi controls, and a leading $; without
// accents and other marks on Latin, Greek and Cyrillic letters, digits and signs, since a stroke more makes no other name.
// Scripts that spell with marks keep four in a row. It is empty where nothing is left. Look-alikes of different scripts, such
// as a Latin and a Cyrillic a, stay different. normalise(normalise(s)) is normalise(s).
//
// It is for comparing, not for showing: letters stay taken apart from the marks that they keep. Search (package
// apiserver/read/search) keeps accents and spaces, which one types to find.
func normalise(s string) string {
	fold := cases.Fold()
	for range rounds {
		next := bare(norm.NFKD.String(fold.String(norm.NFKD.String(s))))
		if next == s {
			break
		}
		s = next
	}
	return s
}

// bare drops what can't be seen and what makes no difference.
func bare(s string) string {
	var out strings.Builder
	out.Grow(len(s))
	spells, marks := false, 0
	for _, r := range s {
		switch {
		case unicode.IsSpace(r) || invisible(r) || r == '$' && out.Len() == 0:
			continue
		case unicode.IsMark(r):
			if marks++; !spells || marks > marksKept {
				continue
			}
		default:
			spells, marks = !unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Common), 0
		}
		out.WriteRune(r)
	}
	return out.String()
}

// showsNothing reports whether a text has characters, none of which can be seen: only spaces, marks without a letter, and what is
// invisible.
func showsNothing(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsSpace(r) && !unicode.IsMark(r) && !invisible(r) })
}

// invisible reports whether r is a control or format character, a variation selector, a filler that is drawn as nothing, or
// stands for invalid UTF-8.
func invisible(r rune) bool {
	return r == unicode.ReplacementChar || r == brailleBlank ||
		unicode.In(r, unicode.Cc, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}
