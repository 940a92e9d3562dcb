package history

import (
	"context"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet"
	"github.com/boardwalkhq/boardwalk/hack/simnet/simnettest"
	"github.com/boardwalkhq/boardwalk/hack/simnet/traffic"
)

func TestSameSeedSameBlocks(t *testing.T) {
	t.Parallel()
	var heads []string
	for range 2 {
		world := simnettest.World(t, 56, 7)
		trader := traffic.NewTrader(world, 7)
		err := Mine(t.Context(), world, trader, Options{Blocks: 40, Span: time.Hour, End: time.Unix(1760003600, 0)})
		if err != nil {
			t.Fatal(err)
		}
		latest, err := world.Node.Latest(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if age := time.Unix(1760003600, 0).Sub(latest.Timestamp); age != 0 {
			t.Errorf("history ends %s early", age)
		}
		heads = append(heads, latest.Hash)
	}
	if heads[0] != heads[1] {
		t.Errorf("head %s, then %s", heads[0], heads[1])
	}
}

func TestLaunchesWhileLive(t *testing.T) {
	t.Parallel()
	world := simnettest.World(t, 56, 8)
	tokens, pools := len(world.Tokens), len(world.Pools)
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	launched := make(map[simnet.Protocol]bool)
	err := Live(ctx, world, traffic.NewTrader(world, 8), LiveOptions{
		BlockTime: time.Second, TxPerBlock: 5, Seed: 8, LaunchEvery: time.Second,
		OnLaunch: func(_ simnet.Token, pool simnet.Pool) {
			launched[pool.Protocol] = true
			if state := simnettest.PoolNow(t, world, pool); state.Empty() {
				t.Errorf("empty: %+v", pool)
			}
			if len(launched) == 2 {
				// Traders must get along with a token that was never there.
				if err := world.Node.Reorg(t.Context(), 1); err != nil {
					t.Error(err)
				}
			}
			if len(launched) == 4 {
				stop()
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(launched) != 4 || len(world.Tokens) < tokens+4 || len(world.Pools) < pools+4 {
		t.Errorf("launched on %v, %d tokens, %d pools", launched, len(world.Tokens), len(world.Pools))
	}
}
