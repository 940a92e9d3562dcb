// Package base58 writes and reads the text form of Solana's keys and signatures.
package base58

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
)

// alphabet has the digits. A text is a number to the base of 58, after a 1 for each leading zero byte.
const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

// values has the value of each digit, and -1 for all other bytes.
var values = func() (v [256]int8) {
	for i := range v {
		v[i] = -1
	}
	for i, c := range []byte(alphabet) {
		v[c] = int8(i)
	}
	return v
}()

// digitsAtOnce digits fit into 32 bits. Encode writes so many at a time, and leading reads twice as many. digitsBase is 58 to the power of digitsAtOnce.
const (
	digitsAtOnce = 5
	digitsBase   = 58 * 58 * 58 * 58 * 58
)

// Encode writes bytes as text. Its time grows with the square of their number.
func Encode(b []byte) string {
	significant := bytes.TrimLeft(b, "\x00")
	// The number in limbs of five digits, the least significant first.
	var buf [18]uint32 // most are keys and signatures
	limbs := buf[:0]
	for rest := significant; len(rest) > 0; {
		n := (len(rest)-1)%4 + 1 // whole words after the first
		carry := uint64(0)
		for _, c := range rest[:n] {
			carry = carry<<8 | uint64(c)
		}
		rest = rest[n:]
		for i, limb := range limbs {
			carry += uint64(limb) << (8 * n)
			limbs[i] = uint32(carry % digitsBase)
			carry /= digitsBase
		}
		for ; carry > 0; carry /= digitsBase {
			limbs = append(limbs, uint32(carry%digitsBase))
		}
	}
	var text [96]byte
	out := text[:0]
	for range len(b) - len(significant) {
		out = append(out, alphabet[0])
	}
	for i, limb := range slices.Backward(limbs) {
		var digits [digitsAtOnce]byte
		for d := range slices.Backward(digits[:]) {
			digits[d] = alphabet[limb%58]
			limb /= 58
		}
		some := digits[:]
		if i == len(limbs)-1 {
			some = bytes.TrimLeft(some, alphabet[:1])
		}
		out = append(out, some...)
	}
	return string(out)
}

// Append keeps a number as words of 64 bits (limbs). mostLimbs of them are on the stack: enough for keys, signatures and most events. digitsOfLimb is the most
// digits that fit into one: twice digitsAtOnce.
const mostLimbs, digitsOfLimb = 64, 2 * digitsAtOnce

// leading is the number that the first digits of a text are, at most digitsOfLimb of them, with 58 to the power of how many those are, and the text behind them. ok is
// false where one of them is no digit.
func leading(text []byte) (n, power uint64, rest []byte, ok bool) {
	if len(text) >= digitsOfLimb { // two halves, of which neither waits for the other
		low, bad := uint64(0), int8(0)
		for i := range digitsAtOnce {
			a, b := values[text[i]], values[text[digitsAtOnce+i]]
			n, low, bad = n*58+uint64(a), low*58+uint64(b), bad|a|b
		}
		return n*digitsBase + low, digitsBase * digitsBase, text[digitsOfLimb:], bad >= 0
	}
	power = 1
	for _, c := range text {
		v := values[c]
		if n, power = n*58+uint64(v), power*58; v < 0 {
			return 0, 0, nil, false
		}
	}
	return n, power, nil, true
}

// Append appends the bytes that text is base58 of. isText is false where it is none. Its time grows with the square of the text's length, which whoever
// calls it has to bound.
func Append(dst, text []byte) (out []byte, isText bool) {
	// The number in limbs of 64 bits, the least significant first.
	var buf [mostLimbs]uint64
	limbs := buf[:0]
	rest := bytes.TrimLeft(text, alphabet[:1])
	zeros := len(text) - len(rest)
	for len(rest) > 0 {
		// Each pass multiplies twice. The first product of the next limb doesn't wait for the second product of this one.
		carry, power, behind, ok := leading(rest)
		second, secondPower, behind, secondOK := leading(behind)
		if rest = behind; !ok || !secondOK {
			return dst, false
		}
		for i, limb := range limbs {
			high, low := bits.Mul64(limb, power)
			low, over := bits.Add64(low, carry, 0)
			carry = high + over
			high, low = bits.Mul64(low, secondPower)
			limbs[i], over = bits.Add64(low, second, 0)
			second = high + over
		}
		high, low := bits.Mul64(carry, secondPower)
		low, over := bits.Add64(low, second, 0)
		if high += over; low > 0 || high > 0 {
			limbs = append(limbs, low)
		}
		if high > 0 {
			limbs = append(limbs, high)
		}
	}
	for range zeros {
		dst = append(dst, 0)
	}
	for i, limb := range slices.Backward(limbs) {
		at := len(dst)
		if dst = binary.BigEndian.AppendUint64(dst, limb); i == len(limbs)-1 {
			dst = append(dst[:at], bytes.TrimLeft(dst[at:], "\x00")...)
		}
	}
	return dst, true
}

// Decode fills dst from text. It reports whether the text is the one that Encode writes for as many bytes. A text that is too long costs nothing.
func Decode[T string | []byte](dst []byte, text T) bool {
	// As many bytes have that number of digits when all of them are 0, and 1.37 times as many at most.
	if len(text) < len(dst) || len(text) > (len(dst)*138+99)/100 {
		return false
	}
	clear(dst)
	// Most are keys and signatures: their texts and bytes fit here.
	var digits [96]byte
	var buf [72]byte
	got, ok := Append(buf[:0], append(digits[:0], text...))
	if !ok || len(got) != len(dst) {
		return false
	}
	copy(dst, got)
	return true
}
