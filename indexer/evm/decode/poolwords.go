package decode

import (
	"encoding/binary"
	"math/bits"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// SetBits are the places of a word's bits that are set, in rising order.
func SetBits(word []byte) (places []int) {
	for i := 3; i >= 0; i-- {
		for w := binary.BigEndian.Uint64(word[8*i:]); w != 0; w &= w - 1 {
			places = append(places, 64*(3-i)+bits.TrailingZeros64(w))
		}
	}
	return places
}

// Int128 reads an int128 of its 16 bytes.
func Int128(b []byte) (v market.SignedAmount) {
	var word [32]byte
	if b[0]&0x80 != 0 {
		for i := range word[:16] {
			word[i] = 0xff
		}
	}
	copy(word[16:], b)
	return market.SignedFromWord(word)
}

// NumberWord is a number as a word.
func NumberWord(n uint64) []byte { return binary.BigEndian.AppendUint64(make([]byte, 24), n) }

// SignedWord is a signed number as a word.
func SignedWord(n int) []byte {
	word := NumberWord(uint64(n))
	if n < 0 {
		for i := range word[:24] {
			word[i] = 0xff
		}
	}
	return word
}
