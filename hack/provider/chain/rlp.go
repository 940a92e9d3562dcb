package chain

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"

	"golang.org/x/crypto/sha3"
)

func keccak(parts ...[]byte) (sum Hash) {
	k := sha3.NewLegacyKeccak256()
	for _, p := range parts {
		_, _ = k.Write(p)
	}
	k.Sum(sum[:0])
	return sum
}

// appendString and appendList encode in RLP (yellow paper, appendix B); the body of a list is encoded already.
func appendString(dst, b []byte) []byte {
	if len(b) == 1 && b[0] < 0x80 {
		return append(dst, b[0])
	}
	return append(appendLength(dst, 0x80, len(b)), b...)
}

func appendList(dst, body []byte) []byte { return append(appendLength(dst, 0xc0, len(body)), body...) }

func appendLength(dst []byte, offset byte, n int) []byte {
	if n < 56 {
		return append(dst, offset+byte(n))
	}
	var whole [8]byte
	binary.BigEndian.PutUint64(whole[:], uint64(n))
	length := whole[bits.LeadingZeros64(uint64(n))/8:]
	return append(append(dst, offset+55+byte(len(length))), length...)
}

func appendUint(dst []byte, n uint64) []byte {
	var whole [8]byte
	binary.BigEndian.PutUint64(whole[:], n)
	return appendString(dst, whole[bits.LeadingZeros64(n)/8:])
}

// leaf is a value of a trie under the nibbles of its key.
type leaf struct{ key, value []byte }

// listRoot is the root of the trie with the values of a list under their places (yellow paper, appendix D).
func listRoot(values [][]byte) Hash {
	if len(values) == 0 {
		return keccak([]byte{0x80})
	}
	leaves := make([]leaf, len(values))
	for i, v := range values {
		for _, b := range appendUint(nil, uint64(i)) {
			leaves[i].key = append(leaves[i].key, b>>4, b&15)
		}
		leaves[i].value = v
	}
	slices.SortFunc(leaves, func(a, b leaf) int { return bytes.Compare(a.key, b.key) })
	return keccak(node(leaves, 0))
}

// node encodes the trie of leaves in order, of which the first nibbles are the same. No key of a list begins with another.
func node(leaves []leaf, from int) []byte {
	first, last := leaves[0].key, leaves[len(leaves)-1].key
	if len(leaves) == 1 {
		return appendList(nil, appendString(appendString(nil, compact(first[from:], true)), leaves[0].value))
	}
	same := from
	for first[same] == last[same] {
		same++
	}
	if same > from {
		return appendList(nil, appendReference(appendString(nil, compact(first[from:same], false)), node(leaves, same)))
	}
	var branch []byte
	for nibble := range byte(16) {
		end := 0
		for end < len(leaves) && leaves[end].key[from] == nibble {
			end++
		}
		if end == 0 {
			branch = append(branch, 0x80)
			continue
		}
		branch = appendReference(branch, node(leaves[:end], from+1))
		leaves = leaves[end:]
	}
	return appendList(nil, append(branch, 0x80))
}

// appendReference appends a short node as it is, and a long one by its hash.
func appendReference(dst, child []byte) []byte {
	if len(child) < 32 {
		return append(dst, child...)
	}
	sum := keccak(child)
	return appendString(dst, sum[:])
}

// compact packs nibbles by two (yellow paper, appendix C).
func compact(nibbles []byte, isLeaf bool) []byte {
	flag := byte(0)
	if isLeaf {
		flag = 2
	}
	var out []byte
	if len(nibbles)%2 == 1 {
		out, nibbles = append(out, (flag|1)<<4|nibbles[0]), nibbles[1:]
	} else {
		out = append(out, flag<<4)
	}
	for i := 0; i < len(nibbles); i += 2 {
		out = append(out, nibbles[i]<<4|nibbles[i+1])
	}
	return out
}
