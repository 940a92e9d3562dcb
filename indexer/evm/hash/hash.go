// Package hash has the hash function and the encoding by which Ethereum's blocks, receipts and tries are hashed: Keccak-256, and RLP of
// byte strings and lists. Contracts' functions are named by the same hash.
package hash

import (
	"bytes"
	"encoding/hex"
	"math/bits"
	"slices"

	"golang.org/x/crypto/sha3"
)

// RLPBytes encodes a byte string (yellow paper, appendix B).
func RLPBytes(b []byte) []byte {
	if len(b) == 1 && b[0] < 0x80 {
		return b
	}
	return append(rlpLength(0x80, len(b)), b...)
}

// RLPList encodes a list of parts that are encoded already.
func RLPList(parts ...[]byte) []byte {
	body := slices.Concat(parts...)
	return append(rlpLength(0xc0, len(body)), body...)
}

func rlpLength(offset byte, n int) []byte {
	if n < 56 {
		return []byte{offset + byte(n)}
	}
	length := bigEndian(uint64(n))
	return append([]byte{offset + 55 + byte(len(length))}, length...)
}

func rlpUint(n uint64) []byte { return RLPBytes(bigEndian(n)) }

// bigEndian is a number without leading zeros.
func bigEndian(n uint64) []byte {
	out := make([]byte, (bits.Len64(n)+7)/8)
	for i := len(out) - 1; i >= 0; i-- {
		out[i] = byte(n)
		n >>= 8
	}
	return out
}

// Keccak256 is the hash of the parts, one after the other.
func Keccak256(parts ...[]byte) (sum [32]byte) {
	k := sha3.NewLegacyKeccak256()
	for _, p := range parts {
		_, _ = k.Write(p)
	}
	k.Sum(sum[:0])
	return sum
}

// Selector is the first four bytes of the hash of a function's signature, by which a call names the function. The caller may append to it.
func Selector(signature string) []byte {
	sum := Keccak256([]byte(signature))
	return sum[:4:4]
}

// SelectorHex is the Selector in hexadecimal with 0x, as the data of an eth_call begin.
func SelectorHex(signature string) string { return "0x" + hex.EncodeToString(Selector(signature)) }

// trieEntry is a value under the nibbles of its key.
type trieEntry struct{ key, value []byte }

// ListRoot is the root of the trie that has values under their places in a list (yellow paper, appendix D and section 4.3).
func ListRoot(values [][]byte) [32]byte {
	if len(values) == 0 {
		return Keccak256(RLPBytes(nil))
	}
	entries := make([]trieEntry, len(values))
	for i, v := range values {
		for _, b := range rlpUint(uint64(i)) {
			entries[i].key = append(entries[i].key, b>>4, b&15)
		}
		entries[i].value = v
	}
	slices.SortFunc(entries, func(a, b trieEntry) int { return bytes.Compare(a.key, b.key) })
	return Keccak256(trieNode(entries, 0))
}

// trieNode encodes the node of entries, in order, whose keys are the same up to depth. No key is another's beginning.
func trieNode(entries []trieEntry, depth int) []byte {
	first, last := entries[0].key, entries[len(entries)-1].key
	if len(entries) == 1 {
		return RLPList(RLPBytes(hexPrefix(first[depth:], 2)), RLPBytes(entries[0].value))
	}
	same := depth
	for first[same] == last[same] {
		same++
	}
	if same > depth {
		return RLPList(RLPBytes(hexPrefix(first[depth:same], 0)), trieReference(trieNode(entries, same)))
	}
	parts := make([][]byte, 17)
	for i := range parts {
		parts[i] = RLPBytes(nil)
	}
	for from := 0; from < len(entries); {
		nibble, to := entries[from].key[depth], from+1
		for to < len(entries) && entries[to].key[depth] == nibble {
			to++
		}
		parts[nibble] = trieReference(trieNode(entries[from:to], depth+1))
		from = to
	}
	return RLPList(parts...)
}

func trieReference(node []byte) []byte {
	if len(node) < 32 {
		return node
	}
	sum := Keccak256(node)
	return RLPBytes(sum[:])
}

// hexPrefix packs nibbles; flag is 2 for a leaf and 0 for an extension.
func hexPrefix(nibbles []byte, flag byte) []byte {
	out := []byte{flag << 4}
	if len(nibbles)%2 == 1 {
		out[0] |= 1<<4 | nibbles[0]
		nibbles = nibbles[1:]
	}
	for i := 0; i < len(nibbles); i += 2 {
		out = append(out, nibbles[i]<<4|nibbles[i+1])
	}
	return out
}
