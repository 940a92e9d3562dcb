package rpc

import (
	"errors"
	"testing"
)

// TestParseBytes reads bytes, and those of numbers, and refuses what is neither.
func TestParseBytes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text   string
		number bool
		want   string
	}{
		{`"0x"`, false, ""},
		{`"0x"`, true, ""},
		{`"0x00"`, false, "\x00"},
		{`"0x0"`, true, ""},
		{`"0x00"`, true, ""},
		{`"0x0abc"`, false, "\x0a\xbc"},
		{`"0xabc"`, true, "\x0a\xbc"},
		{`"0x000ABC"`, true, "\x0a\xbc"},
		{`"0x0100"`, true, "\x01\x00"},
	} {
		if got, err := ParseBytes([]byte(tt.text), tt.number); err != nil || string(got) != tt.want {
			t.Errorf("%s, as a number %t, gave %x, %v; want %x", tt.text, tt.number, got, err, tt.want)
		}
	}
	for _, text := range []string{``, `"`, `"0x`, `""`, `"0"`, `"12"`, `"0X12"`, `12`, `null`, `"0xg0"`, `"0x1_"`, `"0x 1"`} {
		for _, number := range []bool{false, true} {
			if got, err := ParseBytes([]byte(text), number); !errors.Is(err, ErrGarbage) {
				t.Errorf("%s, as a number %t, gave %x, %v; want %v", text, number, got, err, ErrGarbage)
			}
		}
	}
	if got, err := ParseBytes([]byte(`"0xabc"`), false); !errors.Is(err, ErrGarbage) {
		t.Errorf("an odd count of digits gave %x, %v; want %v", got, err, ErrGarbage)
	}
}
