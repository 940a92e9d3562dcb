package market_test

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

func toBig(s market.SignedAmount) *big.Int {
	v := s.Abs.ToBig()
	if s.Neg {
		v.Neg(v)
	}
	return v
}

func TestSignedAmount(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawSigned(t, "a", 31), drawSigned(t, "b", 31)
		sum := a.Add(b)
		if want := new(big.Int).Add(toBig(a), toBig(b)); toBig(sum).Cmp(want) != 0 {
			t.Fatalf("%s + %s = %s", toBig(a), toBig(b), toBig(sum))
		}
		if sum.Neg && sum.Abs.IsZero() {
			t.Fatal("a negative nought")
		}
		if a.Add(a.Negate()) != (market.SignedAmount{}) {
			t.Fatalf("%+v and its opposite are not nought", a)
		}
		if b.Add(a) != sum || a.Negate().Negate() != a {
			t.Fatalf("%+v and %+v add up otherwise the other way round", a, b)
		}
	})
}

func TestSignedFromWord(t *testing.T) {
	t.Parallel()
	modulus := new(big.Int).Lsh(big.NewInt(1), 256)
	rapid.Check(t, func(t *rapid.T) {
		var w [32]byte
		copy(w[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "word"))
		want := new(big.Int).SetBytes(w[:])
		if want.Bit(255) == 1 {
			want.Sub(want, modulus)
		}
		if got := market.SignedFromWord(w); toBig(got).Cmp(want) != 0 {
			t.Fatalf("%x is %s, want %s", w, toBig(got), want)
		}
	})
	lowest := [32]byte{0x80}
	got := market.SignedFromWord(lowest)
	if want := new(big.Int).Neg(new(big.Int).Lsh(big.NewInt(1), 255)); toBig(got).Cmp(want) != 0 {
		t.Errorf("the lowest word is %s, want %s", toBig(got), want)
	}
}

func TestOHLC(t *testing.T) {
	t.Parallel()
	var o market.OHLC
	for _, p := range []float64{2, 3, 1, 2.5} {
		o.Add(p)
	}
	if want := (market.OHLC{Open: 2, High: 3, Low: 1, Close: 2.5}); o != want {
		t.Errorf("got %+v, want %+v", o, want)
	}
}
