package rpc

import (
	"strings"
	"testing"
)

// TestWord reads quantities of up to 256 bits, and refuses what is none or longer.
func TestWord(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`"0x0"`:                                "",
		`"0x5"`:                                "\x05",
		`"0xabc"`:                              "\x0a\xbc",
		`"0xABCD"`:                             "\xab\xcd",
		`"0x` + strings.Repeat("f", 64) + `"`:  strings.Repeat("\xff", 32),
		`"0x` + strings.Repeat("0", 63) + `7"`: "\x07",
	} {
		p := NewScanner([]byte(text))
		got := p.Word()
		if ok, _ := p.End(); !ok || string(got[:]) != strings.Repeat("\x00", 32-len(want))+want {
			t.Errorf("%s gave %x, %t", text, got, ok)
		}
	}
	for _, text := range []string{
		`"0x"`, `""`, `"5"`, `"0X5"`, `"0xg"`, `"-0x5"`, `"0x 5"`, `5`, `null`, `[]`, `"0x1` + strings.Repeat("0", 64) + `"`, `"0x` + strings.Repeat("0", 65) + `"`, `"0x5`,
	} {
		p := NewScanner([]byte(text))
		got := p.Word()
		if ok, _ := p.End(); ok || got != [32]byte{} {
			t.Errorf("%s gave %x, want that it is no quantity", text, got)
		}
	}
}
