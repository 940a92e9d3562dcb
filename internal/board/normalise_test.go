package board

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

func TestNormaliseMakesEqual(t *testing.T) {
	t.Parallel()
	for want, list := range map[string][]string{
		"pepe": {
			"PEPE", " pepe ", "$PEPE", "＄ＰＥＰＥ", "$$pepe", "$ pepe", "P E P E", "pe\u200bpe", "pe\ufeffpe", "\u202epepe\u202c", "pe\u00adpe",
			"pepe\ufe0f", "pépé", "pe\u0301pe\u0301", "p\u0335e\u0336p\u0337e\u0338", "𝓟𝓮𝓹𝓮", "ⓟⓔⓟⓔ", "pe\U000e0041pe", "pe\xffpe", "pe\u2800pe",
			"pe\u3164pe", "pe\u0e31pe", "pepe" + strings.Repeat("\u0300", 500), "\u0300pepe", "p\tepe\v", "\u2066pepe\u2069", "pe\u034fpe",
		},
		"strasse":                    {"Straße", "STRASSE", "straẞe"},
		"fi":                         {"ﬁ", "FI"},
		"":                           {"", "$", " $$ ", "\u200b\u200d", "\u0301", "\xff\xfe", "\u2800", "$\u200b$", "\u3164"},
		"1+1":                        {"1 + 1", "１＋１", "1\u20e3+1"},
		"us$":                        {"US$", "ＵＳ＄"}, // a dollar at the end belongs to the name
		"и":                          {"Й", "и\u0306"},
		"か\u3099":                    {"が", "か\u3099"},                // kana spell with voicing marks
		"\u0915\u093f":               {"कि", "क\u200c\u093f"},         // and Devanagari with vowel signs
		"ก\u0e48\u0e48\u0e48\u0e48":  {"ก" + strings.Repeat("่", 90)}, // but nobody with ninety
		"\u1112\u1161\u11ab":         {"한"},
		"\U0001f468\U0001f469":       {"👨\u200d👩", "👨👩"},
		"\U0001f438\U0001f44d\u2764": {"🐸👍\u2764\ufe0f"},
		"\u0430pepe":                 {"аPEPE"}, // a Cyrillic a stays one
		"\u03c9":                     {"\u2126", "Ω", "ώ"},
		"\u13a0":                     {"\u13a0"},
		"pepe2":                      {"Pepe²", "PEPE2"},
		"pepe.":                      {"Pepe."},
		"\u0631\u0645\u0632\u064f":   {"رمزُ"},
		"\u05e9\u05c1":               {"שׁ"},
		"a\u2044b":                   {"a⁄b"},
		"ก\u0e4d\u0e32":              {"กำ"},
	} {
		for _, s := range list {
			if got := normalise(s); got != want {
				t.Errorf("%+q is normalised to %+q, want %+q", s, got, want)
			}
		}
	}
}

func TestNormaliseKeepsApart(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, s := range []string{"pepe", "pepe2", "pepes", "pepe!", "pеpe" /* a Cyrillic e */, "pep", "か", "が", "क", "कि", "🐸", "🐶"} {
		n := normalise(s)
		if other, taken := seen[n]; taken {
			t.Errorf("%+q and %+q are the same", s, other)
		}
		seen[n] = s
	}
}

// Each character, after a letter of a script that spells with marks and of one that doesn't, comes to rest. The large scripts
// of East Asia have no case and no marks, and beyond plane 1 there is little else.
func TestNormaliseEveryCharacter(t *testing.T) {
	t.Parallel()
	assigned := []*unicode.RangeTable{unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.C}
	for r := range rune(0x20000) {
		if !unicode.In(r, assigned...) || unicode.In(r, unicode.Co, unicode.Cs, unicode.Han, unicode.Hangul, unicode.Tangut) {
			continue
		}
		for _, s := range []string{"e" + string(r), "क" + string(r)} {
			n := normalise(s)
			if again := normalise(n); again != n {
				t.Errorf("%+q becomes %+q, and that %+q", s, n, again)
			}
		}
	}
}

func TestNormaliseProperties(t *testing.T) {
	t.Parallel()
	text := rapid.StringOfN(rapid.OneOf(
		rapid.Rune(), rapid.SampledFrom([]rune("$ aAeéßÅİıǅΣςк\u0301\u0323\u200b\u202e\ufe0f\u3164क\u093fか\u3099한\u1100\u1161ⓐＡ")),
	), 0, 30, -1)
	rapid.Check(t, func(t *rapid.T) {
		s := text.Draw(t, "name")
		n := normalise(s)
		if again := normalise(n); again != n {
			t.Fatalf("%+q becomes %+q, and that %+q", s, n, again)
		}
		if !utf8.ValidString(n) || strings.ContainsFunc(n, func(r rune) bool { return invisible(r) || unicode.IsSpace(r) }) || strings.HasPrefix(n, "$") {
			t.Fatalf("%+q becomes %+q", s, n)
		}
		for how, like := range map[string]string{
			"NFKC": norm.NFKC.String(s), "NFD": norm.NFD.String(s), "a dollar ahead": "$" + s, "spaces around": "\t" + s + "\u3000",
			"a bidi override": "\u202e" + s + "\u202c",
		} {
			if got := normalise(like); got != n {
				t.Fatalf("%s: %+q becomes %+q, want %+q as of %+q", how, like, got, n, s)
			}
		}
	})
}
