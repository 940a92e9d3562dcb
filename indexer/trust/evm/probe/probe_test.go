package probe

import (
	"bytes"
	"encoding/hex"
	"os"
	"testing"

	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/hack/simnet/toolchain"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// TestCodeIsCompiled compiles the contract anew: what is committed is what the pinned compiler makes of the source beside it.
func TestCodeIsCompiled(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("Probe.sol")
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := toolchain.Compile(t.Context(), "paris", map[string]string{"Probe.sol": string(source)})
	if err != nil {
		t.Fatal(err)
	}
	code, err := Code()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(code, compiled["Probe"].Runtime) {
		t.Error("probe.gen.go isn't made of Probe.sol: run go generate ./indexer/trust/evm/probe")
	}
	const largest = 24_576 // EIP-170; a node may hold overrides to it
	if len(code) > largest {
		t.Errorf("%d bytes of code", len(code))
	}
}

func TestAnswersOfAnyKind(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SliceOfN(rapid.Byte(), 0, 1000).Draw(t, "answer")
		if rapid.Bool().Draw(t, "mostly zero") {
			for i := range b {
				if i%32 != 31 {
					b[i] = 0
				}
			}
		}
		if m, err := ReadTrade(b); err == nil && (m.Stage > Sell || len(m.Reason) > len(b)) {
			t.Fatalf("%+v", m)
		}
		if p, err := ReadPower(b); err == nil && p.Stage > Sell {
			t.Fatalf("%+v", p)
		}
	})
}

func TestReadTrade(t *testing.T) {
	t.Parallel()
	var b []byte
	for n := range uint64(14) {
		switch n {
		case 0:
			b = append(b, Uint(uint64(Sell))...)
		case 3:
			b = append(b, Uint(1)...)
		default:
			b = append(b, Uint(100+n)...)
		}
	}
	b = append(append(append(b, Uint(15*32)...), Uint(3)...), append([]byte("why"), make([]byte, 29)...)...)
	m, err := ReadTrade(b)
	if err != nil || m.Stage != Sell || !m.Transferred || m.BuyGiven.Uint64() != 101 || m.BuyGot.Uint64() != 102 ||
		m.OutSent.Uint64() != 104 || m.SellGot.Uint64() != 111 || m.HandedGot.Uint64() != 113 || string(m.Reason) != "why" {
		t.Errorf("%+v, %v", m, err)
	}
	for n := range len(b) - 32 {
		if _, err := ReadTrade(b[:n]); err == nil {
			t.Fatalf("%d bytes of it passed", n)
		}
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		-1: "ff", -887220: "fffffffffffffffffffffffffffffffffffffffffffffffffffffffffff2764c", 60: "3c", 0: "00",
	} {
		if got := hex.EncodeToString(Int(n)); len(got) != 64 || got[64-len(want):] != want {
			t.Errorf("%d is %s", n, got)
		}
	}
	if got := hex.EncodeToString(Delegate(market.Native)); got != "363d3d373d3d3d363d73"+"0000000000000000000000000000000000000000"+"5af43d82803e903d91602b57fd5bf3" {
		t.Errorf("the clone of nobody is %s", got)
	}
}
