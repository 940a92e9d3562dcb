package indexer

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// TestSolanaHeldAtEverySlot: at every slot at which an index stands, balances, holders and supplies of launched tokens are what the chain's own accounts say after that
// slot's block. The chain is made by Solana's own runtime and token programs, of a seed that is drawn, with forks, slots without a block and restarts. Blocks that
// come while no index runs aren't compared, nor those of a new branch before it is the longer one. In the end the chain goes on until most of the others are final.
func TestSolanaHeldAtEverySlot(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			drawn := drawnSeed(t)
			rng := rand.New(rand.NewPCG(drawn, 0))
			l := newLocalSolana(t, drawn)
			l.grow(t, 30)
			st := storetest.Open(t, kind)
			end := startSolana(t, st, l.config(t))
			compared := map[uint64]string{} // the blocks at which the index stood, by their slots
			for i := range 85 {
				step := rng.IntN(8)
				if i >= 40 { // no fork takes the last ones, of which the first become final
					step = 7
				}
				switch step {
				case 0:
					depth := 1 + rng.IntN(7)
					if err := l.Fork(t.Context(), depth); err != nil {
						t.Fatal(err)
					}
					l.grow(t, depth) // the next block makes the new branch the longer one
				case 1:
					end()
					if err := l.Fork(t.Context(), 2); err != nil {
						t.Fatal(err)
					}
					l.grow(t, 2+rng.IntN(4))
					end = startSolana(t, st, l.config(t))
				}
				for range rng.IntN(5) {
					if err := l.Act(t.Context(), l.names); err != nil {
						t.Fatal(err)
					}
				}
				if err := l.Mine(t.Context(), l.Slot()+1+uint64(rng.IntN(3)), l.Time().Add(time.Second)); err != nil {
					t.Fatal(err)
				}
				l.await(t, st)
				l.wantHeld(t, st)
				compared[l.Slot()] = l.hashAt(t, l.Slot(), "confirmed")
			}
			end()
			final := 0
			for slot, hash := range compared {
				if hash == l.hashAt(t, slot, "finalized") {
					final++
				}
			}
			if final < 10 {
				t.Errorf("of the %d blocks that were compared %d are final", len(compared), final)
			}
		})
	}
}

// drawnSeed is the time, or BOARDWALK_TEST_SEED, by which a run can be repeated.
func drawnSeed(t *testing.T) uint64 {
	t.Helper()
	s := uint64(time.Now().UnixNano())
	if env := os.Getenv("BOARDWALK_TEST_SEED"); env != "" {
		var err error
		if s, err = strconv.ParseUint(env, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("seed: BOARDWALK_TEST_SEED=%d", s)
	return s
}

// hashAt is the hash of a slot's block, as it is by now; "" where the node has none.
func (l *localSolana) hashAt(t *testing.T, slot uint64, commitment string) string {
	t.Helper()
	var block struct{ Blockhash string }
	if err := l.Chain.Call(t.Context(), &block, "getBlock", slot, map[string]any{"commitment": commitment, "transactionDetails": "none"}); err != nil {
		return ""
	}
	return block.Blockhash
}
