package solana

import (
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
	"github.com/boardwalkhq/boardwalk/hack/simnet/tokentext"
)

func newWorld(t *testing.T, o Options) *World {
	t.Helper()
	chain, err := svm.Start(t.Context(), svm.Options{Slot: 100, Time: time.Unix(1_790_000_000, 0)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = chain.Close() })
	w, err := Deploy(t.Context(), chain, o)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestWorld lets people do whatever they can. What the chain's accounts have in the end is what the world says.
func TestWorld(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{Seed: 1, People: 8})
	names := tokentext.New(1)
	for n := range 120 {
		for range 3 {
			if err := w.Act(t.Context(), names); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Mine(t.Context(), w.slot+1+uint64(n%3), w.time.Add(time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	migrated := map[svm.Key]int{}
	for _, c := range w.curves {
		if c.Pool != nil {
			migrated[c.Program]++
		}
		for _, p := range w.People {
			var told struct {
				Value *struct{ Amount string }
			}
			err := w.Chain.Call(t.Context(), &told, "getTokenAccountBalance", c.coin.Account(p.Key), map[string]string{"commitment": "confirmed"})
			if want := w.Has(c.Token, p.Key); err != nil && want > 0 || err == nil && told.Value.Amount != text(want) {
				t.Errorf("%s of %s: the chain has %+v, the world %d: %v", c.Token, p.Key, told.Value, want, err)
			}
		}
	}
	if len(migrated) < len(Programs) {
		t.Errorf("%d curves, migrated: %v", len(w.curves), migrated)
	}
}
