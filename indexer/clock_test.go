package indexer_test

import (
	"context"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// TestAWrongClockMakesNoChainSilent: an indexer tells for how long its chain's nodes may be silent from now on. That its machine has another time than
// the database's, by ten minutes, says nothing of the nodes.
func TestAWrongClockMakesNoChainSilent(t *testing.T) {
	t.Parallel()
	for name, wrong := range map[string]time.Duration{"ahead": 10 * time.Minute, "behind": -10 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 20)
			st := storetest.Open(t, "sqlite")
			ix, err := indexer.New(w.config(), st, indexer.Options{
				Log: logger(t), Holder: t.Name(), Now: func() time.Time { return time.Now().Add(wrong) },
			})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
			done := make(chan struct{})
			began := time.Now()
			go func() {
				defer close(done)
				_ = ix.Run(ctx) // it ends with ctx's error
			}()
			t.Cleanup(func() { cancel(); <-done })
			awaitState(t, ix, "following at the head", func(s *chainconfig.State) bool {
				return s.Phase == chainconfig.PhaseFollowing && s.Head != nil && s.Indexed != nil && *s.Head == *s.Indexed
			})
			list, err := st.Chains(t.Context())
			if err != nil || len(list) != 1 {
				t.Fatalf("%+v, %v", list, err)
			}
			first, last := began.Unix(), time.Now().Add(time.Minute).Unix()
			if from := list[0].Head.SilentFrom; from < first || from > last {
				t.Errorf("the chain is silent from %d on; want from %d to %d", from, first, last)
			}
		})
	}
}
