package chain

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxText bounds a token's name and symbol, in bytes.
const MaxText = 256

// CleanText makes a token's text fit to be stored: valid UTF-8, without control characters, of bounded length. A line end or a tab becomes a
// space, since it parts words. Markup and bidirectional overrides stay: they are part of the name, and are escaped where it is shown.
func CleanText(s string) string {
	s = strings.Map(parted, s)
	if len(s) > MaxText {
		s = strings.ToValidUTF8(s[:MaxText], "")
	}
	return strings.TrimSpace(s)
}

// MaxReference bounds where a token's description is, in bytes: a URI, or the description itself as JSON.
const MaxReference = 8192

// CleanReference makes a URI, a hash or JSON fit to be stored: without control characters. One that is too long is none, since half of it would lead nowhere.
func CleanReference(b []byte) string {
	if len(b) > MaxReference {
		return ""
	}
	return strings.TrimSpace(strings.Map(printable, string(b)))
}

// parted is printable with a space for a control character that parts words.
func parted(c rune) rune {
	if unicode.IsControl(c) && unicode.IsSpace(c) {
		return ' '
	}
	return printable(c)
}

// printable drops control characters and what is no UTF-8.
func printable(c rune) rune {
	if unicode.IsControl(c) || c == utf8.RuneError {
		return -1
	}
	return c
}
