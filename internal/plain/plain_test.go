package plain

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/internal/sharecard"
)

const (
	wif  = "EKpQGSJtjMFqKZ9KQanSqYXRcF8fBopzLHYxdM65zcjm"
	base = "0x4ed4E862860beD51a9570b96d89aF5E1B0Efefed"
)

func TestText(t *testing.T) {
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
		{"bytes that are no text", "bad\xffbytes", "badbytes"},
		{"an accent behind what is taken out", "e\u200b\u0301", "\u00e9"},
		{"a joiner beside what is taken out", "م\u200c\u3164م ", "مم"},
		{"more accents than Vietnamese has", "z\u0300\u0301\u0302\u0303\u0304a", "z\u0300\u0301a"},
		{"Thai vowels", "ผู้ใช้", "ผู้ใช้"},
		{"Hindi", "हिन्दी", "हिन्दी"},
		{"Arabic", "مرحبا", "مرحبا"},
		{"Chinese", "東京猫", "東京猫"},
		{"joiners of either kind between letters", "a\u200cb\u200db", "abb"},
		{"nothing that shows", "\u200b\u202e \u3164", ""},
	} {
		if got := Text(c.in); got != c.want {
			t.Errorf("%s: %q becomes %q, %q is wanted", c.what, c.in, got, c.want)
		}
	}
}

func TestAtMost(t *testing.T) {
	t.Parallel()
	flood := strings.Repeat("😀", 500)
	for most, got := range map[int]string{64: Text(flood), 32: AtMost(flood, 32), 1: AtMost(flood, 1)} {
		if utf8.RuneCountInString(got) != most || !strings.HasSuffix(got, "…") || len(got) > sharecard.MaxText {
			t.Errorf("a flood of at most %d is %q", most, got)
		}
	}
	if got := AtMost("Moon Otter", 10); got != "Moon Otter" {
		t.Errorf("what fits is cut: %q", got)
	}
	if got := AtMost("👨\u200d👩\u200d👧", 3); got != "👨…" {
		t.Errorf("a family cut at its joiner is %q", got)
	}
}

// hard are characters that change what stands beside them, or that are taken out.
var hard = []rune("ae zم\u0915\u094dक😀👨👩🏽❤\u0301\u0302\u0323\u05b8\u05bc\u0651\u200b\u200c\u200d\ufe0f\u202e\u2069\u3164\u00a0\n\x00\u0489\u0344\u0958\u1100\u1161")

// TestPlainTextStaysAsItIs: both who makes a card and who draws it clean its texts.
func TestPlainTextStaysAsItIs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.StringOfN(rapid.SampledFrom(hard), 10, 80, -1), rapid.String(),
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "text")
		most := rapid.IntRange(1, mostRunes).Draw(t, "most")
		got := AtMost(text, most)
		if !utf8.ValidString(got) || utf8.RuneCountInString(got) > most || len(got) > sharecard.MaxText || strings.TrimSpace(got) != got ||
			strings.ContainsAny(got, "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\n\x00") || !norm.NFC.IsNormalString(got) {
			t.Fatalf("%q is %q", text, got)
		}
		if again := AtMost(got, most); again != got {
			t.Fatalf("%q is %q, and that %q", text, got, again)
		}
		if again := Text(got); again != got {
			t.Fatalf("of at most %d characters %q is %q, and that %q", most, text, got, again)
		}
	})
}

func FuzzText(f *testing.F) {
	for _, seed := range []string{"\u202e<script>alert(1)</script>\u200b\x00\x1b[31m" + strings.Repeat("Z\u0351\u0316\u0489", 40), "נורה", "می\u200cخواهم", "👨\u200d👩\u200d👧", "a\u0301\u0301\u0301\u0301", "東京"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got := Text(in)
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
		if got := Language(in); got != want {
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
		if got := ShortAddress(in); got != want {
			t.Errorf("%q becomes %q, %q is wanted", in, got, want)
		}
	}
}
