package decode

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// MaxText bounds a token's name and symbol, in bytes.
const MaxText = 256

// Text reads an ABI string or, as older tokens have it, a bytes32 padded with zeros.
func Text(answer []byte) string {
	b := answer
	if len(b) < 32 {
		return ""
	}
	if len(b) == 32 {
		return clean(strings.TrimRight(string(b), "\x00"))
	}
	var offset, length market.Amount
	offset.SetBytes32(b[:32])
	if !offset.IsUint64() || offset.Uint64() > uint64(len(b)-32) {
		return ""
	}
	b = b[offset.Uint64():]
	length.SetBytes32(b[:32])
	b = b[32:]
	if !length.IsUint64() || length.Uint64() > uint64(len(b)) {
		return ""
	}
	return clean(string(b[:length.Uint64()]))
}

// clean makes a token's text fit to be stored: valid UTF-8, without control characters, of bounded length. A line end or a tab becomes a
// space, since it parts words. Markup and bidirectional overrides stay: they are part of the name, and are escaped where it is shown.
func clean(s string) string {
	s = strings.Map(parted, s)
	if len(s) > MaxText {
		s = strings.ToValidUTF8(s[:MaxText], "")
	}
	return strings.TrimSpace(s)
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
