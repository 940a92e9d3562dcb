package market

import (
	"bytes"
	"slices"
)

// base58Digits are those of base58, the text form of Solana's keys and signatures: the digits of a number to the base of 58, after a 1 for each leading
// zero byte.
const base58Digits = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

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

// EncodeBase58 writes bytes as text. Its time grows with the square of their number.
func EncodeBase58(b []byte) string {
	significant := bytes.TrimLeft(b, "\x00")
	text := bytes.Repeat([]byte{base58Digits[0]}, len(b)-len(significant))
	// Digits, the least significant first: there are 1.37 times as many as bytes.
	digits := make([]byte, 0, 2*len(significant))
	for _, c := range significant {
		carry := int(c)
		for i := range digits {
			carry += int(digits[i]) << 8
			digits[i] = byte(carry % 58)
			carry /= 58
		}
		for ; carry > 0; carry /= 58 {
			digits = append(digits, byte(carry%58))
		}
	}
	for _, d := range slices.Backward(digits) {
		text = append(text, base58Digits[d])
	}
	return string(text)
}

// DecodeBase58 fills dst from text. It reports whether the text is the one that EncodeBase58 writes for as many bytes. A text that is too long costs nothing.
func DecodeBase58(dst []byte, text string) bool {
	// As many bytes have that number of digits when all of them are 0, and 1.37 times as many at most.
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
	ones := 0
	for ones < len(text) && text[ones] == base58Digits[0] {
		ones++
	}
	return ones == len(dst)-len(bytes.TrimLeft(dst, "\x00"))
}
