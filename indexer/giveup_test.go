package indexer_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/desk"
	"github.com/boardwalkhq/boardwalk/hack/simnet/venues"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// beginOnFork begins a generation of a chain with a block that the chain doesn't have: its indexer halts, and no later try mends that.
func beginOnFork(t *testing.T, st *store.Store, generation int64) {
	t.Helper()
	ctx := t.Context()
	if err := st.Indexes.Begin(ctx, "base", generation); err != nil {
		t.Fatal(err)
	}
	l, err := st.Leases.Acquire(ctx, chainconfig.IndexID("base", generation), "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	last := market.Header{Number: 20, Hash: market.Hash{0xbb}, Parent: market.Hash{0xaa}, Time: 1_700_000_000}
	if err := st.Commit(ctx, l, &store.Commit{First: 20, Last: last, Blocks: []market.Header{last}, Undo: true}); err != nil {
		t.Fatal(err)
	}
	if err := st.Leases.Release(ctx, l); err != nil {
		t.Fatal(err)
	}
}

// TestGiveUpAHaltedGeneration gives a generation up that halted for good: what is served stays, the rows of the other one go although a process is
// killed while it deletes them, and the next one gets another number and takes over.
func TestGiveUpAHaltedGeneration(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			w := newWorld(t, 60)
			st := storetest.Open(t, kind)
			k := keep(t, w.config(), st)
			w.await(t, st)
			k.stop()
			want := rowsOf(t, st, "base")
			if _, ok, err := st.Indexes.Want(ctx, "base", false); err != nil || !ok {
				t.Fatal(ok, err)
			}
			beginOnFork(t, st, 2)
			k = keep(t, w.config(), st)
			eventually(t, "the second generation halts", func() bool {
				s := k.State().Reindexing
				return s != nil && s.Generation == 2 && s.Phase == chainconfig.PhaseHalted
			})
			said := k.State().Reindexing
			for _, part := range []string{"raise reorgBlocks", "by boardwalk reindex base.", "or run boardwalk reindex --cancel base"} {
				if !strings.Contains(said.Message, part) {
					t.Errorf("it halted with %q, want %q in it", said.Message, part)
				}
			}
			if e := said.Effort; e == nil || e.Family != chainconfig.EVM || e.Blocks < 60 || e.Calls != 2 || e.Bytes < 1000 {
				t.Errorf("of what it takes it says %+v", e)
			}

			if g, err := st.Indexes.GiveUp(ctx, "base"); g != 2 || err != nil {
				t.Fatal(g, err)
			}
			eventually(t, "the second generation is given up", func() bool { return k.State().Reindexing == nil })
			k.stop()
			// Another process begins to delete its rows, and is killed: nobody releases the lease.
			l, err := st.Leases.Acquire(ctx, "base~2", "killed", time.Millisecond)
			if err != nil {
				t.Fatal(err)
			}
			if done, err := st.Indexes.Purge(ctx, l); err != nil || done {
				t.Fatalf("the first piece: %t, %v", done, err)
			}
			k = keep(t, w.config(), st)
			eventually(t, "the first generation is followed", func() bool { return k.State().Phase == chainconfig.PhaseFollowing })
			time.Sleep(3 * time.Second) // it is seen to be of no use
			k.later.Store(int64(2 * time.Minute))
			eventually(t, "the second generation is gone", func() bool {
				list, err := st.Indexes.Of(ctx, "base")
				return err == nil && len(list) == 1 && list[0].Served && list[0].Generation == 1
			})
			sameRows(t, "the first generation", want, rowsOf(t, st, "base"))
			if s := k.State(); s.Generation != 1 || s.Phase == chainconfig.PhaseHalted {
				t.Errorf("in the end the indexer says %+v", s)
			}

			if g, _, err := st.Indexes.Want(ctx, "base", false); g != 3 || err != nil {
				t.Errorf("the next generation is %d, %v", g, err)
			}
			eventually(t, "the third generation is served", func() bool { return servedGeneration(t, st) == 3 })
			k.stop()
			sameRows(t, "the third generation", want, rowsOf(t, st, "base~3"))
		})
	}
}

// TestWantedOnceMoreAmidItsPurge has a generation wanted whose purge was cut off: not all of its rows are there any more. They are all deleted, and
// the generation is made from the start.
func TestWantedOnceMoreAmidItsPurge(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			w := newWorld(t, 60, venues.FourMemeV2)
			w.desk = desk.New(w.World, desk.Options{Seed: 1})
			w.trade(t, 12)
			var withheld atomic.Bool // the logs of blocks near the head, which are asked for one by one
			node := httptest.NewServer(before(w.node.URL(), func(rw http.ResponseWriter, body []byte) bool {
				if !withheld.Load() || !bytes.Contains(body, []byte(`"eth_getLogs"`)) || !bytes.Contains(body, []byte(`"blockHash"`)) {
					return false
				}
				rw.WriteHeader(http.StatusServiceUnavailable)
				return true
			}))
			defer node.Close()
			cfg := w.config()
			cfg.Endpoints, cfg.ReorgBlocks, cfg.FinalityDepth = []chainconfig.Endpoint{{URL: node.URL, Weight: 1}}, 4, 4
			st := storetest.Open(t, kind)
			k := keep(t, cfg, st)
			w.await(t, st)
			k.stop()
			want := rowsOf(t, st, "base")

			withheld.Store(true)
			wanted := *cfg
			wanted.Generation = 2
			k = keep(t, &wanted, st)
			eventually(t, "the second generation has the past", func() bool {
				s, ok, err := st.Chain(ctx, "base~2")
				return err == nil && ok && !s.Last.Hash.IsZero()
			})
			k.stop()
			rowsOf(t, st, "base~2")
			l, err := st.Leases.Acquire(ctx, "base~2", "test", time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			for range 6 {
				if done, err := st.Indexes.Purge(ctx, l); err != nil || done {
					t.Fatal(done, err)
				}
			}
			if err := st.Leases.Release(ctx, l); err != nil {
				t.Fatal(err)
			}

			withheld.Store(false)
			k = keep(t, &wanted, st)
			eventually(t, "the second generation is served", func() bool { return servedGeneration(t, st) == 2 })
			k.stop()
			sameRows(t, "the second generation", want, rowsOf(t, st, "base~2"))
		})
	}
}
