package decode

import (
	"slices"
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

// TestTiersOfAFee names the tick spacings with which a pool of a fee is looked for. Usual tiers are left out, as they are looked for in any case.
func TestTiersOfAFee(t *testing.T) {
	t.Parallel()
	for fee, want := range map[uint32][]int32{
		0: {1, 10, 60, 200}, 1: {1, 10, 60, 200}, 74: {1, 10, 60, 200}, 75: {2, 1, 10, 60, 200}, 2500: {50, 25, 1, 10, 60, 200},
		100: {2, 10, 60, 200}, 3000: {30, 1, 10, 200}, 10_000: {100, 1, 10, 60}, 1_000_000: {20_000, 10_000, 1, 10, 60, 200},
	} {
		var got []int32
		for _, tier := range V4TiersOf(fee) {
			if got = append(got, tier.Spacing); tier.Fee != fee {
				t.Errorf("a tier of the fee %d has the fee %d", fee, tier.Fee)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("the fee %d has the spacings %v, want %v", fee, got, want)
		}
	}
}

// TestPoolsOfTiers has the tokens of pools in the order of their keys, whichever comes first.
func TestPoolsOfTiers(t *testing.T) {
	t.Parallel()
	a, b, manager := market.EVMAddress([32]byte{31: 1}), market.EVMAddress([32]byte{31: 2}), market.EVMAddress([32]byte{31: 9})
	key := market.PoolCreated{Protocol: market.UniswapV4, Factory: manager, Token0: a, Token1: b, FeePips: 2500, TickSpacing: 50}
	key.Pool = V4PoolID(key, 2500)
	for _, tokens := range [][2]market.Address{{a, b}, {b, a}} {
		if got := V4Pools(manager, tokens, []V4Tier{{2500, 50}}); !slices.Equal(got, []market.PoolCreated{key}) {
			t.Errorf("the pools of %v are %+v, want %+v", tokens, got, key)
		}
	}
}
