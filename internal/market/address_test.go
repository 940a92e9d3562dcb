package market_test

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

func drawAddress(t *rapid.T, label string) market.Address {
	n := rapid.SampledFrom([]int{0, market.EVMAddressLen, market.PoolIDLen, market.SolanaLen}).Draw(t, label+" length")
	if n == 0 {
		return market.Address{}
	}
	stored := rapid.SliceOfN(rapid.Byte(), n, n).Draw(t, label)
	if n == market.SolanaLen {
		stored[0] = rapid.ByteRange(1, 2).Draw(t, label+" kind")
	}
	a, err := market.AddressFromBytes(stored)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAddressText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := drawAddress(t, "a")
		text, err := a.MarshalText()
		if err != nil || string(text) != a.String() {
			t.Fatalf("%q, error %v; want %q", text, err, a.String())
		}
		back := market.Native
		if err := back.UnmarshalText(text); err != nil || back != a {
			t.Fatalf("%s came back as %s, error %v", a, back, err)
		}
		if rapid.Bool().Draw(t, "upper case") && strings.HasPrefix(string(text), "0x") {
			upper := "0x" + strings.ToUpper(string(text[2:]))
			if err := back.UnmarshalText([]byte(upper)); err != nil || back != a {
				t.Fatalf("%s came back as %s, error %v", upper, back, err)
			}
		}
		if !bytes.Equal(a.AppendTo(nil), a.Bytes()) {
			t.Fatal("AppendTo and Bytes differ")
		}
		if got := a.Bytes(); len(got) > 0 {
			got[0] ^= 0xff
			if bytes.Equal(got, a.Bytes()) {
				t.Fatal("Bytes is no copy")
			}
		}
	})
}

func TestAddressOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawAddress(t, "a"), drawAddress(t, "b")
		want := len(a.Bytes()) - len(b.Bytes())
		if want == 0 {
			want = bytes.Compare(a.Bytes(), b.Bytes())
		}
		got := a.Compare(b)
		if (got < 0) != (want < 0) || (got > 0) != (want > 0) || (got == 0) != (a == b) {
			t.Fatalf("%s against %s gives %d", a, b, got)
		}
	})
}

func TestAddressRefuses(t *testing.T) {
	t.Parallel()
	hex40 := strings.Repeat("a", 40)
	for _, s := range []string{
		"", "0x", hex40, "0x" + hex40[1:], "0x" + hex40 + "a", "0y" + hex40, "0x" + strings.Repeat("g", 40),
		"0x" + strings.Repeat("a", 63), "0x" + strings.Repeat("a", 65), " 0x" + hex40, strings.Repeat("x", 1<<16),
	} {
		if a, err := market.ParseAddress(s); err == nil {
			t.Errorf("%.80q passed as %s", s, a)
		} else if len(err.Error()) > 300 {
			t.Errorf("an error of %d bytes", len(err.Error()))
		}
	}
	for _, s := range []string{"0x" + strings.Repeat("a", 64), "1x" + hex40, "So11111111111111111111111111111111111111112"} {
		if _, err := market.ParseEVMAddress(s); err == nil {
			t.Errorf("%s passed for an address of an EVM chain", s)
		}
	}
	for _, n := range []int{0, 1, 19, 21, 31, 33, 34} { // 33 bytes of which the first is 0 are of no kind
		if _, err := market.AddressFromBytes(make([]byte, n)); err == nil {
			t.Errorf("%d bytes passed for an address", n)
		}
	}
	if _, err := market.ParseHash("0x" + hex40); err == nil {
		t.Error("an address passed for a hash")
	}
}

// TestStoredForms holds the bytes that databases have.
func TestStoredForms(t *testing.T) {
	t.Parallel()
	const key = "069b8857feab8184fb687f634618c035dac439dc1aeb3b5598a0f00000000001"
	for _, c := range []struct {
		stored string
		kind   market.AddressKind
		text   string
	}{
		{strings.Repeat("00", 20), market.NativeCoin, "0x" + strings.Repeat("00", 20)},
		{strings.Repeat("00", 19) + "01", market.EVMAccount, "0x" + strings.Repeat("00", 19) + "01"},
		{strings.Repeat("00", 32), market.V4Pool, "0x" + strings.Repeat("00", 32)},
		{key, market.V4Pool, "0x" + key},
		{hex.EncodeToString([]byte("bondingcurve")) + strings.Repeat("ab", 20), market.EVMCurve, "0x626f6e64696e676375727665" + strings.Repeat("ab", 20)},
		{"01" + key, market.SolanaKey, "So11111111111111111111111111111111111111112"},
		{"02" + key, market.SolanaCurve, "curve:So11111111111111111111111111111111111111112"},
	} {
		stored, err := hex.DecodeString(c.stored)
		if err != nil {
			t.Fatal(err)
		}
		a, err := market.AddressFromBytes(stored)
		if err != nil || a.Kind() != c.kind || a.String() != c.text || !bytes.Equal(a.Bytes(), stored) {
			t.Errorf("%s is %q of kind %d, stored as %x, %v; want %q of kind %d", c.stored, a, a.Kind(), a.Bytes(), err, c.text, c.kind)
		}
		if back, err := market.ParseAddress(c.text); err != nil || back != a {
			t.Errorf("%q came back as %q, %v", c.text, back, err)
		}
		mint, isCurve := market.CurveMint(a)
		if want := c.kind == market.EVMCurve || c.kind == market.SolanaCurve; isCurve != want || isCurve && market.CurveID(mint) != a {
			t.Errorf("%s passes for the curve of %q: %t", c.text, mint, isCurve)
		}
	}
	for _, none := range []market.Address{{}, market.PoolID([32]byte{1})} {
		if id := market.CurveID(none); !id.IsNone() {
			t.Errorf("%q has the curve %s", none, id)
		}
	}
}

// TestZeroAddress: the zero address of an EVM chain is the native coin among assets, and nobody among parties.
func TestZeroAddress(t *testing.T) {
	t.Parallel()
	if a, b := market.EVMAddress([32]byte{}), market.EVMParty([32]byte{0: 1}); a != market.Native || !b.IsNone() {
		t.Errorf("the zero address is the asset %q and the party %q", a, b)
	}
	one := [32]byte{31: 1}
	if a, b := market.EVMAddress(one), market.EVMParty(one); a != b || a.Kind() != market.EVMAccount {
		t.Errorf("the same address is the asset %q and the party %q", a, b)
	}
}

func TestNoneIsNotNative(t *testing.T) {
	t.Parallel()
	var none market.Address
	if !none.IsNone() || none.IsNative() || none.String() != "" || none.Bytes() != nil {
		t.Errorf("none is %q", none)
	}
	if market.Native.IsNone() || !market.Native.IsNative() || market.Native.String() != "0x"+strings.Repeat("0", 40) {
		t.Errorf("the EVM zero address is %q", market.Native)
	}
}
