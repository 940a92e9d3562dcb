package card

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ what, in, want string }{
		{"plain text", "dogwifhat", "dogwifhat"},
		{"markup, which is the template's to escape", "<b>&", "<b>&"},
		{"directional overrides and isolates", "\u202eCDSU\u202c \u2066a\u2069\u200e\u200f\u061c", "CDSU a"},
		{"controls", "a\x00b\x1b[31mc\u0085d\x7f", "ab[31mc d"},
		{"line ends and odd spaces", " a\r\n\tb\u00a0\u2003\u2028c ", "a b c"},
		{"zero width", "US\u200bD\u2060\ufeffC\u00ad\u180e", "USDC"},
		{"joiners between Latin letters", "US\u200dD\u200cC", "USDC"},
		{"letters that are blank", "a\u3164\u115f\u1160\uffa0\u2800b", "ab"},
		{"tags", "a\U000e0041\U000e007fb", "ab"},
		{"unassigned and private characters", "a\ue000\U0010fffd\ufffe\u0378b", "ab"},
		{"a flood of accents", "Z\u0351\u0316\u0489\u0310\u031a\u0342o", "Z\u0316\u0351o"},
		{"accents without a letter", "\u0301\u0301 \u0301a", "a"},
		{"accents that compose", "e\u0301", "\u00e9"},
		{"Vietnamese", "Vie\u0323\u0302t", "Việt"},
		{"Hebrew points", "שָּׁלוֹם", "שָּׁלוֹם"},
		{"a Persian joiner", "می\u200cخواهم", "می\u200cخواهم"},
		{"a Hindi joiner", "क्\u200dष", "क्\u200dष"},
		{"Thai", "สกุลเงิน", "สกุลเงิน"},
		{"emoji put together", "👨\u200d👩\u200d👧 ❤\ufe0f 👍🏽", "👨\u200d👩\u200d👧 ❤\ufe0f 👍🏽"},
		{"emoji style on a letter", "a\ufe0fb", "ab"},
		{"a joiner at the end", "👨\u200d", "👨"},
		{"nothing that shows", "\u200b\u202e \u3164", ""},
	} {
		if got := clean(c.in); got != c.want {
			t.Errorf("%s: %q becomes %q, %q is wanted", c.what, c.in, got, c.want)
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, seed := range []string{hostileName, "נורה", "می\u200cخواهم", "👨\u200d👩\u200d👧", "a\u0301\u0301\u0301\u0301", "東京"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got := clean(in)
		if !utf8.ValidString(got) || utf8.RuneCountInString(got) > mostRunes || got != strings.TrimSpace(got) {
			t.Fatalf("%q becomes %q", in, got)
		}
		accents := 0
		for _, r := range got {
			if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && r != zeroWidthJoiner && r != zeroWidthNonJoiner ||
				unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp, unicode.Co, unicode.Me) {
				t.Fatalf("%q becomes %q, with %U", in, got, r)
			}
			if !unicode.Is(unicode.Mn, r) || r == emojiStyle {
				accents = 0
			} else if accents++; accents > mostMarks {
				t.Fatalf("%q becomes %q, with %d marks on a letter", in, got, accents)
			}
		}
	})
}

func TestLanguage(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"dogwifhat": "", "東京猫": "zh", "東京のネコ": "ja", "고양이": "ko", "猫 고양이": "ko", "جمل": "ar", "שקל": "he", "क्रिप्टो": "hi", "สกุล": "th",
	} {
		if got := language(in); got != want {
			t.Errorf("%q is taken for %q, %q is wanted", in, got, want)
		}
	}
}

func TestShortAddress(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		base: "0x4ed4…efed", wif: "EKpQ…zcjm", "": "", "0x1234abcd": "0x1234abcd", "0x1234567abcd": "0x1234…abcd", "short": "short",
		"\u202e" + wif: "EKpQ…zcjm",
	} {
		if got := shortAddress(in); got != want {
			t.Errorf("%q becomes %q, %q is wanted", in, got, want)
		}
	}
}
