package history

import (
	"context"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/simnettest"
	"github.com/boardwalkhq/boardwalk/hack/simnet/traffic"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
)

func TestSameSeedSameBlocks(t *testing.T) {
	t.Parallel()
	var heads []string
	for range 2 {
		w := simnettest.World(t, 56, 7)
		trader := traffic.NewTrader(w, 7)
		err := Mine(t.Context(), w, trader, Options{Blocks: 40, Span: time.Hour, End: time.Unix(1760003600, 0)})
		if err != nil {
			t.Fatal(err)
		}
		latest, err := w.Node.Latest(t.Context())
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
	w := simnettest.World(t, 56, 8)
	tokens, pools := len(w.Tokens), len(w.Pools)
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	launched := make(map[world.Protocol]bool)
	err := Live(ctx, w, traffic.NewTrader(w, 8), LiveOptions{
		BlockTime: time.Second, TxPerBlock: 5, Seed: 8, LaunchEvery: time.Second,
		OnLaunch: func(_ world.Token, pool world.Pool) {
			launched[pool.Protocol] = true
			if state := simnettest.PoolNow(t, w, pool); state.Empty() {
				t.Errorf("empty: %+v", pool)
			}
			if len(launched) == 2 {
				// Traders must get along with a token that was never there.
				if err := w.Node.Reorg(t.Context(), 1); err != nil {
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
	if len(launched) != 4 || len(w.Tokens) < tokens+4 || len(w.Pools) < pools+4 {
		t.Errorf("launched on %v, %d tokens, %d pools", launched, len(w.Tokens), len(w.Pools))
	}
}
