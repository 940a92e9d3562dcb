package world_test

import (
	"math/big"
	"testing"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/simnettest"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
)

// TestVolumePoolsAnswerAsTheyAreSet writes other states into a pool of either kind and asks the contracts for them.
func TestVolumePoolsAnswerAsTheyAreSet(t *testing.T) {
	t.Parallel()
	w := simnettest.World(t, 8453, 1)
	pools, err := world.OpenVolume(t.Context(), w, 9, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(pools) != 12 || pools[0].Reserve0.Sign() == 0 || pools[11].Liquidity.Sign() == 0 || pools[11].Tick == 0 {
		t.Fatalf("the pools are %+v", pools)
	}
	pair, pool := pools[0], pools[11]
	more := big.NewInt(123_456_789)
	pair.Reserve0, pair.Reserve1 = new(big.Int).Add(pair.Reserve0, more), new(big.Int).Add(pair.Reserve1, more)
	pool.SqrtPrice, pool.Tick = new(big.Int).Add(pool.SqrtPrice, more), pool.Tick-1
	if err := world.SetPools(t.Context(), w, []world.VolumePool{pair, pool}, 1_760_000_000); err != nil {
		t.Fatal(err)
	}
	if err := w.Node.MineNext(t.Context()); err != nil {
		t.Fatal(err)
	}
	again, err := world.VolumeStates(t.Context(), w, []world.Pool{pair.Pool, pool.Pool})
	if err != nil {
		t.Fatal(err)
	}
	if again[0].Reserve0.Cmp(pair.Reserve0) != 0 || again[0].Reserve1.Cmp(pair.Reserve1) != 0 {
		t.Errorf("the pair's balances are %s and %s, wanted %s and %s", again[0].Reserve0, again[0].Reserve1, pair.Reserve0, pair.Reserve1)
	}
	if again[1].SqrtPrice.Cmp(pool.SqrtPrice) != 0 || again[1].Tick != pool.Tick {
		t.Errorf("the pool is at %s and tick %d, wanted %s and %d", again[1].SqrtPrice, again[1].Tick, pool.SqrtPrice, pool.Tick)
	}
	reserves := simnettest.Answer(t, w, pair.Address, "getReserves()")
	if anvil.WordAt(reserves, 0).Cmp(pair.Reserve0) != 0 || anvil.WordAt(reserves, 1).Cmp(pair.Reserve1) != 0 {
		t.Errorf("the pair's reserves are %x, wanted %s and %s", reserves, pair.Reserve0, pair.Reserve1)
	}
	slot0 := simnettest.Answer(t, w, pool.Address, "slot0()")
	if anvil.WordAt(slot0, 3).Cmp(big.NewInt(1)) != 0 || anvil.WordAt(slot0, 6).Cmp(big.NewInt(1)) != 0 {
		t.Errorf("the pool's slot0 is %x", slot0)
	}
}
