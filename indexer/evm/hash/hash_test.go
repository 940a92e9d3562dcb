package hash

import (
	"bytes"
	"encoding/hex"
	"strings"
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

func TestSelector(t *testing.T) {
	t.Parallel()
	if got := SelectorHex("transfer(address,uint256)"); got != "0xa9059cbb" {
		t.Errorf("the selector of transfer is %s", got)
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

// TestListRoots holds the root of an empty list, and that of the first block with a transaction (Ethereum's 46147), against the published ones.
func TestListRoots(t *testing.T) {
	t.Parallel()
	first, err := hex.DecodeString("f86780862d79883d2000825208945df9b87991262f6ba471f09758cde1c0fc1de734827a69801ca088ff6cf0fefd94db46111149ae4bfc17" +
		"9e9b94721fffd821d38d16464b3f71d0a045e0aff800961cfce805daef7016b9b675c137a6a41a548f7b60a3484c06a33a")
	if err != nil {
		t.Fatal(err)
	}
	if sum := Keccak256(first); hex.EncodeToString(sum[:]) != "5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060" {
		t.Errorf("the transaction's hash is %x", sum)
	}
	for want, list := range map[string][][]byte{
		"56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421": nil,
		"4513310fcb9f6f616972a3b948dc5d547f280849a87ebb5af0191f98b87be598": {first},
	} {
		if got := ListRoot(list); hex.EncodeToString(got[:]) != want {
			t.Errorf("the root of %d values is %x, want %s", len(list), got, want)
		}
	}
}

// reference is a trie that values are put into one after the other, as the yellow paper has it: a value's key is written in hexadecimal, one
// character for each nibble.
type reference map[string][]byte

// node encodes the trie of the values whose keys begin alike.
func (r reference) node(prefix string) []byte {
	var keys []string
	for key := range r {
		if strings.HasPrefix(key, prefix) {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	if len(keys) == 1 {
		return RLPList(RLPBytes(packed(keys[0][len(prefix):], '2', '3')), RLPBytes(r[keys[0]]))
	}
	shared := keys[0]
	for _, key := range keys {
		for !strings.HasPrefix(key, shared) {
			shared = shared[:len(shared)-1]
		}
	}
	if shared != prefix {
		return RLPList(RLPBytes(packed(shared[len(prefix):], '0', '1')), child(r.node(shared)))
	}
	var branches [][]byte
	for _, nibble := range "0123456789abcdef" {
		branches = append(branches, child(r.node(prefix+string(nibble))))
	}
	return RLPList(append(branches, RLPBytes(nil))...)
}

func child(node []byte) []byte {
	switch {
	case node == nil:
		return RLPBytes(nil)
	case len(node) < 32:
		return node
	}
	sum := Keccak256(node)
	return RLPBytes(sum[:])
}

// packed is a part of a key behind a nibble that says whether its length is even.
func packed(part string, even, odd byte) []byte {
	if len(part)%2 == 0 {
		part = string(even) + "0" + part
	} else {
		part = string(odd) + part
	}
	out, err := hex.DecodeString(part)
	if err != nil {
		panic(err)
	}
	return out
}

// TestListRootsOfManyValues has values that are shorter and longer than a hash; lists of more than 128 have keys of two bytes.
func TestListRootsOfManyValues(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 3, 16, 17, 127, 128, 129, 256, 300} {
		values, want := make([][]byte, n), reference{}
		for i := range values {
			values[i] = bytes.Repeat([]byte{byte(i)}, 1+i%40)
			want[hex.EncodeToString(RLPBytes(bytes.TrimLeft([]byte{byte(i >> 8), byte(i)}, "\x00")))] = values[i]
		}
		if got := ListRoot(values); got != Keccak256(want.node("")) {
			t.Errorf("the root of %d values is %x", n, got)
		}
	}
}
