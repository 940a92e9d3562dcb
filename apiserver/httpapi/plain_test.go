package httpapi

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/internal/card"
)

func TestPlain(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Moon Otter":                        "Moon Otter",
		"  a \t\n b  ":                      "a b",
		"safe\u202egpj.exe":                 "safegpj.exe",
		"a\u2066b\u2069\u200e\u200f\u061c":  "ab",
		"ze\u200bro\u2060wi\ufeffdth\u00ad": "zerowidth",
		"\u3164\u115f\uffa0":                "",
		"\u2800\u2800":                      "",
		"a\x00b\x1bc":                       "abc",
		"bad\xffbytes":                      "badbytes",
		"z\u0300\u0301\u0302\u0303\u0304a":  "z\u0300\u0301\u0302a",
		"\u0301\u0301":                      "",
		"e\u0301":                           "é",
		"ผู้ใช้":                            "ผู้ใช้",
		"हिन्दी":                            "हिन्दी",
		"مرحبا":                             "مرحبا",
		"می\u200cخواهم":                     "می\u200cخواهم",
		"a\u200cb\u200db":                   "abb",
		"👨\u200d👩\u200d👧":                   "👨\u200d👩\u200d👧",
		"❤\ufe0f":                           "❤\ufe0f",
		"a\ufe0f":                           "a",
		"東京猫":                               "東京猫",
		"\U000e0041tag":                     "tag",
	} {
		if got := plain(text, mostDrawn); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
	if flood := plain(strings.Repeat("😀", 500), mostDrawn); utf8.RuneCountInString(flood) != mostDrawn || !strings.HasSuffix(flood, "…") || len(flood) > card.MaxText {
		t.Errorf("a flood is %q", flood)
	}
}

// TestPlainIsPlain draws any bytes: what comes of them is text that a card takes, and is plain already.
func TestPlainIsPlain(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "text")
		got := plain(text, mostDrawn)
		if !utf8.ValidString(got) || len(got) > card.MaxText || strings.TrimSpace(got) != got || strings.ContainsAny(got, "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\n\x00") {
			t.Fatalf("%q is %q", text, got)
		}
		if again := plain(got, mostDrawn); again != got {
			t.Fatalf("%q is %q, and that %q", text, got, again)
		}
	})
}
