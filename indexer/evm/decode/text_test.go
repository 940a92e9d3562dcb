package decode

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
)

// abiWord is a 32-byte word that ends in n.
func abiWord(n uint64) string {
	var w [32]byte
	for i := range 8 {
		w[31-i] = byte(n >> (8 * i))
	}
	return string(w[:])
}

// abiString is an answer of the type string as Solidity encodes it.
func abiString(s string) string {
	pad := (32 - len(s)%32) % 32
	return abiWord(32) + abiWord(uint64(len(s))) + s + strings.Repeat("\x00", pad)
}

func bytes32(s string) string { return s + strings.Repeat("\x00", 32-len(s)) }

func TestTokenText(t *testing.T) {
	t.Parallel()
	huge := strings.Repeat("\xff", 32)
	tests := []struct {
		name, answer, want string
	}{
		{"an ABI string", abiString("Wrapped Ether"), "Wrapped Ether"},
		{"an empty ABI string", abiString(""), ""},
		{"an ABI string of a whole word", abiString(strings.Repeat("x", 32)), strings.Repeat("x", 32)},
		{"an ABI string without padding", abiWord(32) + abiWord(3) + "abc", "abc"},
		{"an ABI string with more behind it", abiString("abc") + abiString("def"), "abc"},
		{"bytes32, as Maker's MKR has it", bytes32("MKR"), "MKR"},
		{"a full bytes32", strings.Repeat("y", 32), strings.Repeat("y", 32)},
		{"an empty bytes32", bytes32(""), ""},
		{"bytes32 with a NUL inside", bytes32("A\x00B"), "AB"},
		{"bytes32 that is not UTF-8", bytes32("A\xff\xfeB"), "AB"},
		{"no answer", "", ""},
		{"less than a word", "abc", ""},
		{"a word and a bit", abiWord(32) + "abc", ""},
		{"an offset of its own", abiWord(64) + abiWord(0) + abiWord(2) + "hi" + strings.Repeat("\x00", 30), "hi"},
		{"an offset beyond the end", abiWord(1000) + abiWord(2) + "hi", ""},
		{"an offset to the very end", abiWord(64) + abiWord(2), ""},
		{"an offset that leaves 31 bytes", abiWord(33) + abiWord(2), ""},
		{"an offset beyond 64 bits", huge + abiWord(2) + "hi", ""},
		{"an offset of 2^63", "\x00" + strings.Repeat("\x00", 23) + "\x80" + strings.Repeat("\x00", 7) + abiWord(2) + "hi", ""},
		{"an offset of 2^64-1", strings.Repeat("\x00", 24) + strings.Repeat("\xff", 8) + abiWord(2) + "hi", ""},
		{"an offset into the middle of a word", abiWord(1) + abiWord(2) + abiWord(0), ""},
		{"an offset to itself", abiWord(0) + abiWord(0), ""},
		{"a length beyond the end", abiWord(32) + abiWord(1000) + "hi", ""},
		{"a length one too many", abiWord(32) + abiWord(3) + "hi", ""},
		{"a length beyond 64 bits", abiWord(32) + huge + "hi", ""},
		{"a length of 2^64-1", abiWord(32) + strings.Repeat("\x00", 24) + strings.Repeat("\xff", 8) + "hi", ""},
		{"control characters", abiString("a\x00b\x1bc\x7fd\u009be"), "abcde"},
		{"line ends and tabs, which part words", abiString("Moon\tOtter\nInu\rand\vall\fthe\u0085rest"), "Moon Otter Inu and all the rest"},
		{"a line end at either end", abiString("\nMoon Otter\r\n"), "Moon Otter"},
		{"a line end in a bytes32", bytes32("Moon\nOtter"), "Moon Otter"},
		{"invalid UTF-8", abiString("a\xc3(b\xe2\x82c\xf0\x28\x8c\xbcd"), "a(bc(d"},
		{"a surrogate", abiString("a\xed\xa0\x80b"), "ab"},
		{"spaces around", abiString(" \u00a0 abc \u3000"), "abc"},
		{"spaces alone", abiString("   "), ""},
		{"markup stays", abiString("<b>&amp;"), "<b>&amp;"},
		{"other scripts stay", abiString("柴犬🐕"), "柴犬🐕"},
		{"256 bytes", abiString(strings.Repeat("z", 256)), strings.Repeat("z", 256)},
		{"257 bytes", abiString(strings.Repeat("z", 257)), strings.Repeat("z", 256)},
		{"a cut inside a character", abiString(strings.Repeat("z", 255) + "é"), strings.Repeat("z", 255)},
		{"a cut inside a dog", abiString("z" + strings.Repeat("🐕", 100)), "z" + strings.Repeat("🐕", 63)},
		{"a cut that ends in a space", abiString(strings.Repeat("z", 255) + " y"), strings.Repeat("z", 255)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := Text([]byte(tt.answer)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// FuzzTokenText: whatever a contract answers, its text can be stored and shown.
func FuzzTokenText(f *testing.F) {
	f.Add([]byte(abiString("Wrapped Ether")))
	f.Add([]byte(bytes32("MKR")))
	f.Add([]byte(abiString(strings.Repeat("\xff\x00é", 200))))
	f.Fuzz(func(t *testing.T, answer []byte) {
		got := Text(answer)
		switch {
		case !utf8.ValidString(got):
			t.Fatalf("%q is not UTF-8", got)
		case len(got) > chain.MaxText:
			t.Fatalf("%d bytes", len(got))
		case strings.ContainsFunc(got, unicode.IsControl):
			t.Fatalf("%q has control characters", got)
		case got != strings.TrimSpace(got):
			t.Fatalf("%q has spaces around it", got)
		case got != chain.CleanText(got):
			t.Fatalf("%q becomes %q when it is cleaned again", got, chain.CleanText(got))
		}
	})
}
