package serve

import (
	"encoding/json"
	"unicode"
	"unicode/utf8"
)

// Marshal is json.Marshal, whose text is inert in a page, with what is active elsewhere escaped too: characters that turn the direction of
// a text, and the controls that JSON itself lets pass, which terminals obey. All of them are in strings alone.
func Marshal(v any) ([]byte, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return inert(body), nil
}

// inert gives the body itself where nothing has to be escaped, as nearly always.
func inert(body []byte) []byte {
	var out []byte
	from := 0
	for i := 0; i < len(body); {
		if c := body[i]; c < 0x7f {
			i++
			continue
		}
		r, n := utf8.DecodeRune(body[i:])
		if active(r) {
			const digits = "0123456789abcdef"
			out = append(append(out, body[from:i]...), '\\', 'u', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15])
			from = i + n
		}
		i += n
	}
	if from == 0 {
		return body
	}
	return append(out, body[from:]...)
}

// active reports whether a character beyond ASCII's own is a control or changes the direction of a text. All of them are in the basic plane.
func active(r rune) bool {
	return r >= 0x7f && r <= 0x9f || r >= 0x61c && r <= 0x2069 && unicode.Is(unicode.Bidi_Control, r)
}
