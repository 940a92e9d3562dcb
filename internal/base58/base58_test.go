package base58_test

import (
	"bytes"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/internal/base58"
)

// naive writes bytes by arithmetic on one large number.
func naive(b []byte) string {
	const digits = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
	text := ""
	for n, r := new(big.Int).SetBytes(b), new(big.Int); n.Sign() > 0; {
		n.DivMod(n, big.NewInt(58), r)
		text = string(digits[r.Int64()]) + text
	}
	for i := 0; i < len(b) && b[i] == 0; i++ {
		text = "1" + text
	}
	return text
}

// TestBothWays: bytes of any length are written as one large number's digits, and read back.
func TestBothWays(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SliceOfN(rapid.OneOf(rapid.Byte(), rapid.SampledFrom([]byte{0, 0xff})), 0, 700).Draw(t, "bytes")
		text := base58.Encode(b)
		if text != naive(b) {
			t.Fatalf("%x is written as %s, want %s", b, text, naive(b))
		}
		if back, ok := base58.Append([]byte("before"), []byte(text)); !ok || !bytes.Equal(back, append([]byte("before"), b...)) {
			t.Fatalf("%s is read as %x, want %x", text, back, b)
		}
	})
}

// TestOtherBytes: a text with any byte that is no digit is none, wherever that stands.
func TestOtherBytes(t *testing.T) {
	t.Parallel()
	for length := range 45 {
		for at := range length {
			for _, other := range []byte("0OIl +/\x00\x7f\x80\xff") {
				text := bytes.Repeat([]byte("z"), length)
				text[at] = other
				if got, ok := base58.Append(nil, text); ok || len(got) > 0 {
					t.Errorf("%q is read as %x", text, got)
				}
			}
		}
	}
}

// BenchmarkDecode reads the text of a key.
func BenchmarkDecode(b *testing.B) {
	text := []byte("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA")
	var key [32]byte
	for b.Loop() {
		if !base58.Decode(key[:], text) {
			b.Fatal("it is a key's text")
		}
	}
}

// BenchmarkEncode writes a key.
func BenchmarkEncode(b *testing.B) {
	key := [32]byte{6, 221, 246, 225, 215, 101, 161, 147, 217, 203, 225, 70, 206, 235, 121, 172, 28, 180, 133, 237, 95, 91, 55, 145, 58, 140, 245, 133, 126, 255, 0, 169}
	for b.Loop() {
		base58.Encode(key[:])
	}
}
