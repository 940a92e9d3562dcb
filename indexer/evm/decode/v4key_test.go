package decode

import (
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// TestPoolID holds ids against those of pools on Base whose keys and ids were published: CLAWD's, which has a hook and a dynamic fee, and
// WCHAN's, which is of the native coin.
func TestPoolID(t *testing.T) {
	t.Parallel()
	address := func(text string) market.Address {
		a, err := market.ParseEVMAddress(text)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	clawd := market.PoolCreated{
		Protocol: market.UniswapV4, Token0: address("0x4200000000000000000000000000000000000006"),
		Token1: address("0x9f86db9fc6f7c9408e8fda3ff8ce4e78ac7a6b07"), TickSpacing: 200, Hooks: address("0xb429d62f8f3bffb98cdb9569533ea23bf0ba28cc"),
	}
	wchan := market.PoolCreated{
		Protocol: market.UniswapV4, Token0: market.Native, Token1: address("0xba5ed0000e1ca9136a695f0a848012a16008b032"), TickSpacing: 200,
	}
	for _, test := range []struct {
		pool market.PoolCreated
		fee  uint32
		want string
	}{
		{clawd, DynamicFee, "0x9fd58e73d8047cb14ac540acd141d3fc1a41fb6252d674b730faf62fe24aa8ce"},
		{wchan, 10_000, "0x81c7a2a2c33ea285f062c5ac0c4e3d4ffb2f6fd2588bbd354d0d3af8a58b6337"},
	} {
		if got := V4PoolID(test.pool, test.fee).String(); got != test.want {
			t.Errorf("the pool has the id %s, want %s", got, test.want)
		}
	}
}
