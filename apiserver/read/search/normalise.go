package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

const (
	// marksKept is how many combining marks in a row are kept. Written languages stack three or four; names that flood
	// the lines above and below them stack hundreds.
	marksKept = 8
	// rounds bounds the search for a fixed point. Every character reaches its own within three.
	rounds = 8
)

// normalise makes texts that look or mean the same equal: Unicode NFKC and full case folding (so that ß equals ss, and
// İ equals i with a dot above, but not i); control characters, zero-width and other invisible characters, bidi controls,
// variation selectors and invalid UTF-8 dropped; whitespace collapsed to single spaces and trimmed; at most eight
// combining marks in a row. normalise(normalise(s)) is normalise(s). Confusable letters of different scripts stay
// different.
func normalise(s string) string {
	if out, ok := normaliseASCII(s); ok {
		return out
	}
	// One pass isn't enough: folding can undo a composition, and a dropped character can bring a letter and a mark
	// together that compose.
	for range rounds {
		next := squeeze(norm.NFKC.String(cases.Fold().String(norm.NFKC.String(squeeze(s)))))
		if next == s {
			break
		}
		s = next
	}
	return s
}

// normaliseASCII is normalise for what most names consist of, without its cost; false when s has other characters.
func normaliseASCII(s string) (string, bool) {
	clean, space := true, true
	for i := range len(s) {
		c := s[i]
		if c >= utf8.RuneSelf {
			return "", false
		}
		if c < ' ' || c == 0x7f || 'A' <= c && c <= 'Z' || c == ' ' && space {
			clean = false
		}
		space = c == ' '
	}
	if clean && (s == "" || !space) {
		return s, true
	}
	out := make([]byte, 0, len(s))
	for i := range len(s) {
		c := s[i]
		switch {
		case c == ' ' || '\t' <= c && c <= '\r':
			if len(out) > 0 && out[len(out)-1] != ' ' {
				out = append(out, ' ')
			}
		case 'A' <= c && c <= 'Z':
			out = append(out, c+'a'-'A')
		case c > ' ' && c != 0x7f:
			out = append(out, c)
		}
	}
	return strings.TrimSuffix(string(out), " "), true
}

// squeeze drops what can't be seen, collapses whitespace, thins floods of combining marks, and folds Cherokee.
func squeeze(s string) string {
	var out strings.Builder
	out.Grow(len(s))
	space, marks := false, 0
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			space = out.Len() > 0
			marks = 0
			continue
		case invisible(r):
			continue
		case unicode.IsMark(r):
			if marks++; marks > marksKept {
				continue
			}
		default:
			marks = 0
		}
		if space {
			out.WriteByte(' ')
			space = false
		}
		out.WriteRune(foldCherokee(r))
	}
	return out.String()
}

// foldCherokee folds small Cherokee letters to capitals, the only ones that fold so: package cases doesn't.
func foldCherokee(r rune) rune {
	if 0xab70 <= r && r <= 0xabbf || 0x13f8 <= r && r <= 0x13fd {
		return unicode.ToUpper(r)
	}
	return r
}

// invisible reports whether r is a control or format character, a variation selector, a filler that is drawn as
// nothing, or stands for invalid UTF-8.
func invisible(r rune) bool {
	if r < utf8.RuneSelf {
		return r < ' ' || r == 0x7f
	}
	return r == utf8.RuneError || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Variation_Selector,
		unicode.Other_Default_Ignorable_Code_Point)
}
