package market_test

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/internal/base58"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

func TestTxID(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{0, 32, 64}).Draw(t, "length")
		b := rapid.SliceOfN(rapid.OneOf(rapid.Byte(), rapid.Just(byte(0))), n, n).Draw(t, "bytes")
		id, err := market.TxIDFromBytes(b)
		if err != nil || !bytes.Equal(id.AppendTo(nil), b) || id.IsNone() != (n == 0) {
			t.Fatalf("%x became %x, %v", b, id.AppendTo(nil), err)
		}
		want := ""
		switch n {
		case 32:
			want = market.Hash(b).String()
			if id != market.EVMTx([32]byte(b)) {
				t.Fatal("the same hash gives another transaction")
			}
		case 64:
			want = base58.Encode(b)
			if id != market.SolanaTx([64]byte(b)) {
				t.Fatal("the same signature gives another transaction")
			}
		}
		if id.String() != want {
			t.Fatalf("%x is written as %s, want %s", b, id, want)
		}
		if read, err := market.ParseTx(id.String()); n > 0 && (err != nil || read != id) {
			t.Fatalf("%s is read as %s, %v", id, read, err)
		}
	})
	upper := "0X" + strings.Repeat("AB", 32)
	if id, err := market.ParseTx(upper); err != nil || id.String() != strings.ToLower(upper) {
		t.Errorf("%s is read as %s, %v", upper, id, err)
	}
	for _, text := range []string{"", "0x", "0x" + strings.Repeat("a", 63), "0x" + strings.Repeat("a", 65), "0x" + strings.Repeat("g", 64), strings.Repeat("1", 63), strings.Repeat("0", 88)} {
		if id, err := market.ParseTx(text); err == nil {
			t.Errorf("%q passed for the transaction %s", text, id)
		}
	}
	for _, n := range []int{1, 31, 33, 63, 65} {
		if _, err := market.TxIDFromBytes(make([]byte, n)); err == nil {
			t.Errorf("%d bytes passed for a transaction", n)
		}
	}
}

func TestSolanaAddressText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.SliceOfN(rapid.OneOf(rapid.Byte(), rapid.Just(byte(0)), rapid.Just(byte(0xff))), 32, 32).Draw(t, "key")
		text := base58.Encode(key)
		a, err := market.ParseSolanaAddress(text)
		if err != nil || a.String() != text || a != market.SolanaAddress([32]byte(key)) {
			t.Fatalf("%s became %s, %v", text, a, err)
		}
		other := []byte(text)
		other[rapid.IntRange(0, len(other)-1).Draw(t, "at")] = rapid.SampledFrom([]byte("0OIl+/ \x00\xff")).Draw(t, "no digit")
		for _, bad := range []string{string(other), "1" + text, text + text} {
			if got, err := market.ParseSolanaAddress(bad); err == nil {
				t.Fatalf("%q passed as %s", bad, got)
			}
		}
	})
	for _, bad := range []string{"", strings.Repeat("1", 31), strings.Repeat("1", 33), strings.Repeat("z", 44), strings.Repeat("z", 1<<20)} {
		if _, err := market.ParseSolanaAddress(bad); err == nil || len(err.Error()) > 300 {
			t.Errorf("%.50q: %v", bad, err)
		}
	}
}
