package market_test

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

func drawAddress(t *rapid.T, label string) market.Address {
	n := rapid.SampledFrom([]int{0, market.EVMAddressLen, market.PoolIDLen}).Draw(t, label+" length")
	if n == 0 {
		return market.Address{}
	}
	a, err := market.AddressFromBytes(rapid.SliceOfN(rapid.Byte(), n, n).Draw(t, label))
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
		back := market.ZeroEVM
		if err := back.UnmarshalText(text); err != nil || back != a {
			t.Fatalf("%s came back as %s, error %v", a, back, err)
		}
		if rapid.Bool().Draw(t, "upper case") && len(text) > 0 {
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
		"", "0x", hex40, "0x" + hex40[1:], "0x" + hex40 + "a", "0y" + hex40, "1x" + hex40, "0x" + strings.Repeat("g", 40),
		"0x" + strings.Repeat("a", 63), "0x" + strings.Repeat("a", 65), " 0x" + hex40, strings.Repeat("x", 1<<16),
	} {
		if a, err := market.ParsePool(s); err == nil {
			t.Errorf("%.80q passed as %s", s, a)
		} else if len(err.Error()) > 300 {
			t.Errorf("an error of %d bytes", len(err.Error()))
		}
	}
	if _, err := market.ParseEVMAddress("0x" + strings.Repeat("a", 64)); err == nil {
		t.Error("a pool id passed for an address")
	}
	for _, n := range []int{0, 1, 19, 21, 31, 33} {
		if _, err := market.AddressFromBytes(make([]byte, n)); err == nil {
			t.Errorf("%d bytes passed for an address", n)
		}
	}
	if _, err := market.ParseHash("0x" + hex40); err == nil {
		t.Error("an address passed for a hash")
	}
}

func TestNoneIsNotZero(t *testing.T) {
	t.Parallel()
	var none market.Address
	if !none.IsNone() || none.IsZeroEVM() || none.String() != "" || none.Bytes() != nil {
		t.Errorf("none is %q", none)
	}
	if market.ZeroEVM.IsNone() || !market.ZeroEVM.IsZeroEVM() || market.ZeroEVM.String() != "0x"+strings.Repeat("0", 40) {
		t.Errorf("the EVM zero address is %q", market.ZeroEVM)
	}
}
