package search

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestNormalise(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ why, s, want string }{
		{"nothing", "", ""},
		{"normal", "pepe 2.0", "pepe 2.0"},
		{"case", "PePe", "pepe"},
		{"whitespace", "\t a \r\n b\u00a0\u3000c\u2029", "a b c"},
		{"only whitespace", " \t ", ""},
		{"controls", "a\x00b\x7fc\u0080d", "abcd"},
		{"zero width", "p\u200be\u200dp\ufeffe\u2060", "pepe"},
		{"bidi", "\u202epepe\u2066", "pepe"},
		{"variation selectors", "❤\ufe0f\U000e0100", "❤"},
		{"fillers", "a\u3164\u115f\uffa0b\u034f", "ab"},
		{"tags", "🏴\U000e0067\U000e0062\U000e007f", "🏴"},
		{"invalid UTF-8", "a\xff\xc3b\xed\xa0\x80\ufffd", "ab"},
		{"compatibility", "ＦＵＬＬ ﬁ ² ℌ", "full fi 2 h"},
		{"composition", "e\u0301", "é"},
		{"composition after dropping", "e\u200d\u0301", "é"},
		{"sharp s", "ẞß", "ssss"},
		{"Greek sigma", "ΣΑΣς", "σασσ"},
		{"Turkish dotted capital", "İ", "i\u0307"},
		{"Turkish dotless small", "ı", "ı"},
		{"Cherokee folds upwards", "ꭰ", "Ꭰ"},
		{"a mark alone", " \u0301", "\u0301"},
		{"marks on marks", "z" + strings.Repeat("\u0335", 500), "z" + strings.Repeat("\u0335", marksKept)},
	} {
		if got := normalise(c.s); got != c.want {
			t.Errorf("%s: normalise(%q) is %q and should be %q", c.why, c.s, got, c.want)
		}
	}
}

// TestNormaliseEveryCharacter covers all but the Han characters and Hangul syllables, which have no case.
func TestNormaliseEveryCharacter(t *testing.T) {
	t.Parallel()
	for r := rune(0); r <= unicode.MaxRune; r++ {
		switch r {
		case 0x3400:
			r = 0xa000
		case 0xac00:
			r = 0xe000
		case 0x20000:
			r = 0x2f800
		case 0x30000:
			r = 0xe0000
		case 0xe1000:
			r = unicode.MaxRune
		}
		if other := unicode.SimpleFold(r); normalise(string(other)) != normalise(string(r)) {
			t.Errorf("%U and %U differ in case alone, but become %q and %q", r, other, normalise(string(r)), normalise(string(other)))
		}
		for _, s := range []string{string(r), "A" + string(r) + "\u0301"} {
			if once := normalise(s); normalise(once) != once {
				t.Errorf("%U: %q becomes %q, and that %q", r, s, once, normalise(once))
			}
		}
	}
}

func TestNormaliseIsIdempotent(t *testing.T) {
	t.Parallel()
	difficult := []rune(" \u0301\u0327\u0345\u0307\u0335\u200d\ufe0f\u034f\u00a8\u1e9eßİIıΐΰᾳᾼςΣǅﬃ²Ⅷ가\u1100\u1161\u11a8\u0e33\ufdfaŉẚ\u0f71\u0f73\u3099か\U0001d15e")
	text := rapid.OneOf(rapid.StringOf(rapid.SampledFrom(difficult)), rapid.String(), rapid.SampledFrom(odd),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
	rapid.Check(t, func(t *rapid.T) {
		once := normalise(text.Draw(t, "s"))
		checkNormal(t, once)
	})
}

func checkNormal(t interface {
	Helper()
	Errorf(format string, args ...any)
}, s string,
) {
	t.Helper()
	if again := normalise(s); again != s {
		t.Errorf("%q becomes %q", s, again)
	}
	if !utf8.ValidString(s) || strings.TrimSpace(s) != s || strings.Contains(s, "  ") || strings.ContainsFunc(s, invisible) {
		t.Errorf("%q is not normal", s)
	}
}

func TestKeysAreCut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ s, ticker, name string }{
		{strings.Repeat("A", 2000), strings.Repeat("a", 32), strings.Repeat("a", 64)},
		{strings.Repeat("柴", 2000), strings.Repeat("柴", 21), strings.Repeat("柴", 63)},
		{strings.Repeat("🐸", 2000), strings.Repeat("🐸", 16), strings.Repeat("🐸", 47)},
		{strings.Repeat("a", 31) + " b", strings.Repeat("a", 31), strings.Repeat("a", 31) + " b"},
		{"$PEPE", "pepe", "pepe"},
		{"$$ $", "$$ $", "$$ $"},
		{"$ $x", "x", "x"},
		{"", "", ""},
	} {
		if ticker, name := tickerKey(c.s), nameKey(c.s); ticker != c.ticker || name != c.name {
			t.Errorf("of %.40q, %q and %q are kept; it should be %q and %q", c.s, ticker, name, c.ticker, c.name)
		}
	}
}

func TestStarts(t *testing.T) {
	t.Parallel()
	for s, want := range map[string][]string{
		"":                       nil,
		"pepe":                   {"pepe"},
		"the frog-coin 2.0":      {"the frog-coin 2.0", "frog-coin 2.0", "coin 2.0", "2.0", "0"},
		"$pepe":                  {"$pepe", "pepe"},
		"柴犬inu":                  {"柴犬inu", "犬inu", "inu"},
		"🐸🚀":                     {"🐸🚀", "🚀"},
		"e\u0335a b\u0335c":      {"e\u0335a b\u0335c", "b\u0335c"},
		"...":                    {"..."},
		strings.Repeat("a ", 30): nil,
	} {
		var got []string
		for _, off := range appendStarts(nil, []byte(s), 0) {
			got = append(got, s[off:])
		}
		if want == nil && s != "" {
			if len(got) != wordsKept {
				t.Errorf("%d beginnings of %q are kept", len(got), s)
			}
			continue
		}
		if !slices.Equal(got, want) {
			t.Errorf("the beginnings of %q are %q and should be %q", s, got, want)
		}
	}
}
