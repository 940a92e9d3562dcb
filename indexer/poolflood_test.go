package indexer_test

import (
	"testing"

	"github.com/boardwalkhq/boardwalk/hack/simnet/attack"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// TestAFloodOfPools has a stranger make hundreds of pools of a token, empty or with cents in them, through a reorg and restarts: the token
// keeps its price, 64 of its pools are listed, and the rows are those of a fresh index.
func TestAFloodOfPools(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 40)
			cfg := w.config()
			st := storetest.Open(t, kind)
			stop := run(t, cfg, st, 1000)
			w.await(t, st)
			token := w.TokensLike(world.Plain)[3].Address
			mint, err := market.ParseEVMAddress(token)
			if err != nil {
				t.Fatal(err)
			}
			before := tokens(t, st)[mint].Pool
			for round := range 5 {
				f, err := attack.PoolFlood(t.Context(), w.World, token, 60*round, 60)
				if err != nil || len(f.TxHashes) != 90 {
					t.Fatal(len(f.TxHashes), err)
				}
				if err := w.node.Mine(t.Context(), 1, 2_000_000_000); err != nil {
					t.Fatal(err)
				}
				w.trade(t, 3)
				switch round {
				case 2:
					w.await(t, st)
					if err := w.node.Reorg(t.Context(), 4); err != nil {
						t.Fatal(err)
					}
					w.trade(t, 2)
				case 3:
					stop()
					stop = run(t, cfg, st, 1000)
				}
				w.await(t, st)
			}
			stop()
			made, listed := 0, 0
			for _, p := range pools(t, st) {
				if p.Base != mint {
					continue
				}
				made++
				if !p.Unlisted {
					listed++
				}
			}
			if made < 200 || listed != market.ListedPools {
				t.Errorf("%d of %d pools are listed, want %d of at least 200", listed, made, market.ListedPools)
			}
			if after := tokens(t, st)[mint].Pool; after != before {
				t.Errorf("the token is priced by %s, was by %s", after, before)
			}
			now, err := st.Pools.Now(t.Context(), []market.Address{mint})
			if err != nil || len(now) != market.ListedPools {
				t.Errorf("%d pools are told, %v", len(now), err)
			}
			w.compare(t, st, cfg)
		})
	}
}
