package rich_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/boardwalkhq/boardwalk/internal/rich"
)

// names are what was found, each as its kind and its text.
func names(f rich.Found) (out []string) {
	for _, m := range f.Mentions {
		out = append(out, "mention "+m.Handle)
	}
	for _, t := range f.Tags {
		mixed := ""
		if t.IsMixed {
			mixed = " mixed"
		}
		out = append(out, "tag "+t.Symbol+mixed)
	}
	for _, a := range f.Addresses {
		out = append(out, "address "+a.Address.String())
	}
	for _, l := range f.Links {
		out = append(out, "link "+l.URL)
	}
	return out
}

const evm, sol = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "So11111111111111111111111111111111111111112"

func TestFind(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":                             nil,
		"gm @ada, @Bob_2!":             {"mention ada", "mention Bob_2"},
		"mail me at a@b.example":       nil,
		"@" + strings.Repeat("a", 32):  {"mention " + strings.Repeat("a", 32)},
		"@" + strings.Repeat("a", 33):  nil,
		"@ @@ada @-":                   nil,
		"@ad\u200ba":                   nil, // a zero width space
		"@ad\u0430":                    nil, // a Cyrillic letter that looks like an a
		"\u202e@ada":                   nil, // what follows is written from right to left
		"@ada\u0301":                   nil, // an accent
		"$PEPE and $pepe.":             {"tag PEPE", "tag pepe"},
		"$100, $1.5k, $20M and $5":     nil,
		"$1INCH $2Z":                   {"tag 1INCH", "tag 2Z"},
		"US$5 or A$AP":                 nil,
		"$K $M":                        {"tag K", "tag M"},
		"$US\u0405":                    {"tag US\u0405 mixed"}, // a Cyrillic letter that looks like an S
		"$\u72ac":                      {"tag \u72ac"},
		"$USDC\u200b":                  nil,
		"$DOT... $A-B- $-":             {"tag DOT", "tag A-B"},
		"$" + strings.Repeat("A", 33):  nil,
		"buy " + evm + "!":             {"address " + strings.ToLower(evm)},
		evm + "0":                      nil,
		"x" + evm:                      nil,
		"0x" + strings.Repeat("0", 40): nil,
		"(" + sol + ")":                {"address " + sol},
		"see https://a.example/x?y=1#z, or http://b.example.": {"link https://a.example/x?y=1#z", "link http://b.example"},
		"(https://a.example/w_(x))":                           {"link https://a.example/w_(x)"},
		"HTTPS://A.EXAMPLE":                                   {"link https://A.EXAMPLE"},
		"https://user:secret@a.example/":                      nil,
		"https:// https://? javascript://x":                   nil,
		"https://\u0430pple.example/":                         nil, // begins with a Cyrillic letter
		"https://a.example/\u202egpj.exe":                     nil,
		"https://%D0%B0pple.example/":                         nil, // the same letter, escaped
		"https://a.example/" + evm:                            {"link https://a.example/" + evm},
		"https://a.example/@ada$PEPE":                         {"link https://a.example/@ada$PEPE"},
		"<https://a.example/\"onclick=\"x>":                   {"link https://a.example/"},
		"\xff@ada":                                            {"mention ada"}, // no text has it, but then it ends a word
	} {
		if got := names(rich.Find(text)); !slices.Equal(got, want) {
			t.Errorf("in %q is found %q, want %q", text, got, want)
		}
	}
}

// TestSpans: they count code points, whatever stands before.
func TestSpans(t *testing.T) {
	t.Parallel()
	f := rich.Find("😀é @ada")
	if got := f.Mentions[0].Span; got != (rich.Span{Start: 3, End: 7}) {
		t.Errorf("the mention stands at %+v", got)
	}
}

// TestMost: of each kind a text has at most so many.
func TestMost(t *testing.T) {
	t.Parallel()
	f := rich.Find(strings.Repeat("@ada $PEPE "+evm+" https://a.example ", rich.Most+1))
	if len(f.Mentions) != rich.Most || len(f.Tags) != rich.Most || len(f.Addresses) != rich.Most || len(f.Links) != rich.Most {
		t.Errorf("%d mentions, %d tags, %d addresses and %d links", len(f.Mentions), len(f.Tags), len(f.Addresses), len(f.Links))
	}
}

// FuzzFind: what is found stands where it says, in order and apart from one another.
func FuzzFind(f *testing.F) {
	for _, seed := range []string{"gm @ada $PEPE " + evm + " " + sol + " https://a.example/(x)", "\u202e$\u200b@", "$$@@https://https://"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return // none is written
		}
		runes := []rune(text)
		taken := make([]bool, len(runes))
		hold := func(kind, of string, s rich.Span) {
			if s.Start < 0 || s.Start >= s.End || s.End > len(runes) || string(runes[s.Start:s.End]) != of {
				t.Fatalf("in %q the %s %q stands at %+v", text, kind, of, s)
			}
			for i := s.Start; i < s.End; i++ {
				if taken[i] {
					t.Fatalf("in %q the %s %q is found twice", text, kind, of)
				}
				taken[i] = true
			}
		}
		found := rich.Find(text)
		for i, m := range found.Mentions {
			hold(fmt.Sprint("mention ", i), m.Text, m.Span)
		}
		for i, m := range found.Tags {
			hold(fmt.Sprint("tag ", i), m.Text, m.Span)
		}
		for i, m := range found.Addresses {
			hold(fmt.Sprint("address ", i), m.Text, m.Span)
		}
		for i, m := range found.Links {
			hold(fmt.Sprint("link ", i), m.Text, m.Span)
		}
	})
}

// BenchmarkFind looks through the longest text that is written, of what takes longest.
func BenchmarkFind(b *testing.B) {
	for name, part := range map[string]string{"words": "abc ", "names": "@ada $PEPE ", "a word": "a", "brackets": ")", "links": "https://a.example/)) "} {
		text := strings.Repeat(part, 16<<10/len(part))
		if name == "brackets" {
			text = "https://a.example/" + text
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				rich.Find(text)
			}
		})
	}
}
