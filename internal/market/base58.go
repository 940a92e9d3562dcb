package market

import "strings"

// base58Digits are those of base58, the text form of Solana's keys and signatures: the digits of a number to the base of 58, after a 1 for each leading
// zero byte.
const base58Digits = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

// maxBase58 bounds what is read and written, in bytes: a transaction's signature has 64. The time that either takes grows with the square of the length.
const maxBase58 = 64

// base58Values has the value of each digit, and -1 for all other bytes.
var base58Values = func() (v [256]int8) {
	for i := range v {
		v[i] = -1
	}
	for i, c := range []byte(base58Digits) {
		v[c] = int8(i)
	}
	return v
}()

// encodeBase58 writes at most 64 bytes as text. It panics for more.
func encodeBase58(b []byte) string {
	if len(b) > maxBase58 {
		panic("market: more than 64 bytes of base58")
	}
	zeros := 0
	for zeros < len(b) && b[zeros] == 0 {
		zeros++
	}
	// Digits, the least significant first: 64 bytes have 88 at most.
	var out [2 * maxBase58]byte
	n := 0
	for _, c := range b[zeros:] {
		carry := int(c)
		for i := range n {
			carry += int(out[i]) << 8
			out[i] = byte(carry % 58)
			carry /= 58
		}
		for ; carry > 0; carry /= 58 {
			out[n] = byte(carry % 58)
			n++
		}
	}
	var text strings.Builder
	text.Grow(zeros + n)
	for range zeros {
		text.WriteByte(base58Digits[0])
	}
	for i := n - 1; i >= 0; i-- {
		text.WriteByte(base58Digits[out[i]])
	}
	return text.String()
}

// decodeBase58 fills dst, of at most 64 bytes, from text. It reports whether the text stands for exactly so many bytes, and is the one that encodeBase58 writes for
// them.
func decodeBase58(dst []byte, text string) bool {
	if len(dst) > maxBase58 {
		panic("market: more than 64 bytes of base58")
	}
	// A value has as many digits as bytes when all of them are 0, and 1.37 times as many at most.
	if len(text) < len(dst) || len(text) > (len(dst)*138+99)/100 {
		return false
	}
	clear(dst)
	for i := range len(text) {
		carry := int(base58Values[text[i]])
		if carry < 0 {
			return false
		}
		for j := len(dst) - 1; j >= 0; j-- {
			carry += 58 * int(dst[j])
			dst[j] = byte(carry)
			carry >>= 8
		}
		if carry > 0 {
			return false
		}
	}
	ones, zeros := 0, 0
	for ones < len(text) && text[ones] == base58Digits[0] {
		ones++
	}
	for zeros < len(dst) && dst[zeros] == 0 {
		zeros++
	}
	return ones == zeros
}
