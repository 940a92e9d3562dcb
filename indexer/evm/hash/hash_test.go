package hash

import (
	"bytes"
	"testing"
)

// The yellow paper's appendix B: one byte below 128 is itself, up to 55 bytes have their length in the first byte, and more have the
// length's length there.
func TestRLP(t *testing.T) {
	t.Parallel()
	bytesOf := func(n int) []byte { return bytes.Repeat([]byte{0xaa}, n) }
	for name, c := range map[string]struct{ got, want []byte }{
		"nothing":          {RLPBytes(nil), []byte{0x80}},
		"127":              {rlpUint(127), []byte{0x7f}},
		"128":              {rlpUint(128), []byte{0x81, 0x80}},
		"1024":             {rlpUint(1024), []byte{0x82, 0x04, 0x00}},
		"55 bytes":         {RLPBytes(bytesOf(55)), append([]byte{0xb7}, bytesOf(55)...)},
		"56 bytes":         {RLPBytes(bytesOf(56)), append([]byte{0xb8, 56}, bytesOf(56)...)},
		"256 bytes":        {RLPBytes(bytesOf(256)), append([]byte{0xb9, 1, 0}, bytesOf(256)...)},
		"an empty list":    {RLPList(), []byte{0xc0}},
		"a list of 55":     {RLPList(bytesOf(50), bytesOf(5)), append([]byte{0xf7}, bytesOf(55)...)},
		"a list of 56":     {RLPList(bytesOf(50), bytesOf(6)), append([]byte{0xf8, 56}, bytesOf(56)...)},
		"a list of a list": {RLPList(RLPList()), []byte{0xc1, 0xc0}},
	} {
		if !bytes.Equal(c.got, c.want) {
			t.Errorf("%s is %x, want %x", name, c.got, c.want)
		}
	}
}

// The yellow paper's appendix D: a node of less than 32 bytes stands in its parent, a longer one's hash does.
func TestTrieReference(t *testing.T) {
	t.Parallel()
	for n, hashed := range map[int]bool{1: false, 31: false, 32: true, 33: true} {
		node := bytes.Repeat([]byte{0xaa}, n)
		want := node
		if hashed {
			sum := Keccak256(node)
			want = append([]byte{0xa0}, sum[:]...)
		}
		if got := trieReference(node); !bytes.Equal(got, want) {
			t.Errorf("a node of %d bytes stands as %x, want %x", n, got, want)
		}
	}
}
