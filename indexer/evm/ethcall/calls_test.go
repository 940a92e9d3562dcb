package ethcall

import (
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"
)

func TestCallTake(t *testing.T) {
	t.Parallel()
	long := `"0x` + strings.Repeat("00", LongestAnswer) + `"`
	tooLong := `"0x` + strings.Repeat("00", LongestAnswer+1) + `"`
	tests := []struct {
		name, raw string
		n         int
		ok, err   bool
	}{
		{"a word", `"0x` + strings.Repeat("01", 32) + `"`, 32, true, false},
		{"an empty answer", `"0x"`, 0, true, false},
		{"64 KiB", long, LongestAnswer, true, false},
		{"beyond 64 KiB", tooLong, 0, false, false},
		{"null", `null`, 0, false, false},
		{"nothing", ``, 0, false, false},
		{"a quote", `"`, 0, false, false},
		{"no hexadecimal", `"0xzz"`, 0, false, true},
		{"an odd number of digits", `"0x000"`, 0, false, true},
		{"a number", `12345`, 0, false, false},
		{"an object", `{"a":1}`, 0, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var c Call
			err := c.take(json.RawMessage(tt.raw))
			if (err != nil) != tt.err || c.OK != tt.ok || len(c.Answer) != tt.n {
				t.Errorf("%d bytes, ok %v, error %v; want %d, %v, %v", len(c.Answer), c.OK, err, tt.n, tt.ok, tt.err)
			}
		})
	}
}

func TestARefusedCallHasNoText(t *testing.T) {
	t.Parallel()
	answer := []byte("MKR" + strings.Repeat("\x00", 29))
	if got := (&Call{Answer: answer, OK: true}).Text(); got != "MKR" {
		t.Errorf("an answered call has the text %q", got)
	}
	if got := (&Call{Answer: answer}).Text(); got != "" {
		t.Errorf("a refused call has the text %q", got)
	}
}

func FuzzCallAnswer(f *testing.F) {
	f.Add([]byte(`"0x` + hex.EncodeToString([]byte("abc")) + `"`))
	f.Add([]byte(`null`))
	f.Add([]byte(`"0x"`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var c Call
		if err := c.take(raw); err != nil && c.OK {
			t.Fatalf("%s is an error and an answer", raw)
		}
		_ = c.Text()
		if _, ok := c.Uint(); ok && len(c.Answer) < 32 {
			t.Fatalf("a number out of %d bytes", len(c.Answer))
		}
		if _, ok := c.Address(); ok && len(c.Answer) < 32 {
			t.Fatalf("an address out of %d bytes", len(c.Answer))
		}
	})
}
