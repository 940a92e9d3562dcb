package indexer_test

import (
	"bytes"
	"context"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/boardwalkhq/boardwalk/hack/simnet/desk"
	"github.com/boardwalkhq/boardwalk/hack/simnet/launch"
	"github.com/boardwalkhq/boardwalk/hack/simnet/venues"
	"github.com/boardwalkhq/boardwalk/indexer"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// keeper is an indexer that is kept running, whose clock can be set forward.
type keeper struct {
	*indexer.Indexer
	metrics *prometheus.Registry
	later   atomic.Int64
	stop    func()
}

func keep(t *testing.T, cfg *chainconfig.Chain, st *store.Store) *keeper {
	t.Helper()
	k := &keeper{metrics: prometheus.NewRegistry()}
	now := func() time.Time { return time.Now().Add(time.Duration(k.later.Load())) }
	var err error
	if k.Indexer, err = indexer.New(cfg, st, indexer.Options{
		Log: logger(t), Now: now, Holder: t.Name(), Metrics: indexer.NewMetrics(k.metrics),
	}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		k.Keep(ctx)
	}()
	k.stop = func() { cancel(); <-done }
	t.Cleanup(k.stop)
	return k
}

// eventually waits until something is so.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(90 * time.Second); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it did not come about that " + what)
		}
	}
}

// servedGeneration is the generation that answers are made of.
func servedGeneration(t *testing.T, st *store.Store) int64 {
	t.Helper()
	list, err := st.Served().Chains(t.Context())
	if err != nil || len(list) != 1 {
		t.Fatalf("the chains are %+v, %v", list, err)
	}
	return list[0].Generation
}

func sameRows(t *testing.T, what string, want, got map[string][]string) {
	t.Helper()
	for table := range want {
		if !slices.Equal(want[table], got[table]) {
			t.Errorf("%s: %s has %d rows, want the %d of a fresh index", what, table, len(got[table]), len(want[table]))
		}
	}
}

func rowsOf(t *testing.T, st *store.Store, index string) map[string][]string {
	t.Helper()
	rows, err := st.Inspect.Derived(t.Context(), index)
	if err != nil || len(rows["trades"]) == 0 {
		t.Fatalf("%d trades, %v", len(rows["trades"]), err)
	}
	return rows
}

// TestNextGeneration indexes a chain anew while it goes on: what is served is there at every moment and never goes back, then it is of the new
// index, which has the rows of a fresh one, and the former one's rows go.
func TestNextGeneration(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			w := newWorld(t, 60, venues.FourMemeV2)
			w.desk = desk.New(w.World, desk.Options{Seed: 1})
			w.trade(t, 3)
			st := storetest.Open(t, kind)
			k := keep(t, w.config(), st)
			w.await(t, st)
			tokens := tokensOf(t, st)

			if _, ok, err := st.Indexes.Want(ctx, "base", false); err != nil || !ok {
				t.Fatal(ok, err)
			}
			served, asked := st.Served(), make(chan struct{})
			var lowest uint64
			go func() {
				defer close(asked)
				for generation := int64(1); generation < 2; time.Sleep(time.Millisecond) {
					list, err := served.Chains(ctx)
					if err != nil || len(list) != 1 || list[0].ID != "base" || list[0].Last.Number < lowest {
						t.Errorf("the chains are %+v after block %d, %v", list, lowest, err)
						return
					}
					lowest, generation = list[0].Last.Number, list[0].Generation
					now, err := served.Tokens.Now(ctx, tokens)
					if err != nil || len(now) != len(tokens) || now[0].Chain != "base" {
						t.Errorf("%d of %d tokens are served, %v", len(now), len(tokens), err)
						return
					}
				}
			}()
			for range 6 {
				w.trade(t, 1)
				time.Sleep(300 * time.Millisecond)
			}
			<-asked
			if t.Failed() {
				return
			}
			eventually(t, "the indexer says that it serves the second generation", func() bool {
				s := k.State()
				return s.Generation == 2 && s.Reindexing == nil && s.Phase == chainconfig.PhaseFollowing
			})
			if found := reportedOf(t, k.metrics); !slices.Equal(found, []string{"base"}) {
				t.Errorf("metrics are reported of %v", found)
			}
			w.trade(t, 2)
			latest, err := w.node.Latest(ctx)
			if err != nil {
				t.Fatal(err)
			}
			eventually(t, "the new index goes on", func() bool {
				s, _, err := st.Chain(ctx, "base~2")
				return err == nil && s.Last.Number == latest.Number
			})
			fresh := storetest.Open(t, "sqlite")
			stop := run(t, w.config(), fresh, 0)
			w.await(t, fresh)
			stop()
			sameRows(t, "the second generation", derivedRows(t, fresh), rowsOf(t, st, "base~2"))

			k.later.Store(int64(2 * time.Minute))
			eventually(t, "the former index is deleted", func() bool {
				list, err := st.Indexes.Of(ctx, "base")
				return err == nil && len(list) == 1 && list[0].Generation == 2 && list[0].Served
			})
			if rows, err := st.Inspect.Derived(ctx, "base"); err != nil || len(rows["trades"])+len(rows["tokens"])+len(rows["balances"]) != 0 {
				t.Errorf("the former index has %d trades and %d tokens, %v", len(rows["trades"]), len(rows["tokens"]), err)
			}
			k.stop()
			// A new process goes on with what is served.
			w.trade(t, 1)
			k = keep(t, w.config(), st)
			eventually(t, "another process follows", func() bool {
				s := k.State()
				return s.Generation == 2 && s.Indexed != nil && s.Indexed.Number == latest.Number+1
			})
		})
	}
}

// reportedOf are the chains that metrics are of.
func reportedOf(t *testing.T, r *prometheus.Registry) (chains []string) {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetName() == "chain" {
					chains = append(chains, l.GetValue())
				}
			}
		}
	}
	slices.Sort(chains)
	return slices.Compact(chains)
}

// tokensOf are the tokens of a chain.
func tokensOf(t *testing.T, st *store.Store) (list []market.Address) {
	t.Helper()
	tokens, err := st.Inspect.Tokens(t.Context(), "base", 0)
	if err != nil || len(tokens) < 5 {
		t.Fatalf("%d tokens, %v", len(tokens), err)
	}
	for i := range tokens {
		list = append(list, tokens[i].Mint)
	}
	return list
}

// TestNextGenerationNeedsNoOldState indexes a chain anew, from where it was begun, by a node that has lost all state: what it told before is used
// again. Where it is to be asked anew, it has to have the state.
func TestNextGenerationNeedsNoOldState(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := newWorld(t, 60, venues.FourMemeV2)
	l := w.launch(t, w.Venues[0])
	if _, err := launch.Buy(ctx, w.World, l, w.Wallets[10], big.NewInt(1e18)); err != nil {
		t.Fatal(err)
	}
	var forgets atomic.Bool
	node := httptest.NewServer(before(w.node.URL(), withoutState(&forgets)))
	defer node.Close()
	cfg := w.config()
	cfg.Endpoints = []chainconfig.Endpoint{{URL: node.URL, Weight: 1}}
	cfg.Start, cfg.ReorgBlocks = chainconfig.Start{Now: true}, 40
	st := storetest.Open(t, "sqlite")
	k := keep(t, cfg, st)
	w.await(t, st)
	want := rowsOf(t, st, "base")
	forgets.Store(true)
	for generation := int64(2); generation <= 3; generation++ {
		anew := generation == 3
		if _, ok, err := st.Indexes.Want(ctx, "base", anew); err != nil || !ok {
			t.Fatal(ok, err)
		}
		if anew {
			eventually(t, "the node is asked what it told before", func() bool {
				s := k.State().Reindexing
				return s != nil && s.Phase == chainconfig.PhaseFailing && strings.Contains(s.Message, "missing trie node")
			})
			forgets.Store(false)
		}
		eventually(t, "the next generation is served", func() bool { return servedGeneration(t, st) == generation })
		if !anew { // a node that has lost its state for a while tells less
			sameRows(t, "the second generation", want, rowsOf(t, st, "base~2"))
		}
	}
	k.stop()
}

// TestAWayBackFromAHalt has a chain that halted for a reorg that is too deep indexed anew. What is left of it is shorter than what was indexed.
func TestAWayBackFromAHalt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 60)
	cfg := w.config()
	cfg.ReorgBlocks = 4
	st := storetest.Open(t, "sqlite")
	k := keep(t, cfg, st)
	w.await(t, st)
	if err := w.node.Reorg(t.Context(), 12); err != nil {
		t.Fatal(err)
	}
	w.trade(t, 2)
	eventually(t, "the chain halts", func() bool { return k.State().Phase == chainconfig.PhaseHalted })
	if _, ok, err := st.Indexes.Want(t.Context(), "base", false); err != nil || !ok {
		t.Fatal(ok, err)
	}
	eventually(t, "the chain is followed again", func() bool {
		s := k.State()
		return s.Generation == 2 && s.Phase == chainconfig.PhaseFollowing
	})
	k.stop()
	fresh := storetest.Open(t, "sqlite")
	stop := run(t, w.config(), fresh, 0)
	w.await(t, fresh)
	stop()
	sameRows(t, "the second generation", derivedRows(t, fresh), rowsOf(t, st, "base~2"))
}

// TestUnwantedGeneration stops while a chain is indexed anew, goes on after a start, and gives it up when it is no longer wanted: its rows go, and
// what is served stays.
func TestUnwantedGeneration(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := newWorld(t, 60)
	var stands atomic.Bool
	var past atomic.Int64
	node := httptest.NewServer(before(w.node.URL(), func(rw http.ResponseWriter, body []byte) bool {
		if !stands.Load() || !bytes.Contains(body, []byte(`"eth_getLogs"`)) || !bytes.Contains(body, []byte(`"toBlock"`)) { // the past is asked for by ranges
			return false
		}
		past.Add(1)
		rw.WriteHeader(http.StatusServiceUnavailable)
		return true
	}))
	defer node.Close()
	cfg := w.config()
	cfg.Endpoints = []chainconfig.Endpoint{{URL: node.URL, Weight: 1}}
	st := storetest.Open(t, "sqlite")
	k := keep(t, cfg, st)
	w.await(t, st)
	want := rowsOf(t, st, "base")
	k.stop()

	stands.Store(true)
	wanted := *cfg
	wanted.Generation = 2
	for range 2 {
		k = keep(t, &wanted, st)
		asked := past.Load()
		eventually(t, "the second generation is begun", func() bool {
			s := k.State()
			return s.Reindexing != nil && s.Reindexing.Generation == 2 && past.Load() > asked
		})
		if s := k.State(); s.Generation != 1 || s.Phase == chainconfig.PhaseHalted {
			t.Errorf("meanwhile the indexer says %+v", s)
		}
		k.stop()
	}
	k = keep(t, cfg, st)
	eventually(t, "the first generation is served", func() bool { return k.State().Phase == chainconfig.PhaseFollowing })
	time.Sleep(3 * time.Second) // it is seen to be of no use
	k.later.Store(int64(2 * time.Minute))
	eventually(t, "the second generation is gone", func() bool {
		list, err := st.Indexes.Of(ctx, "base")
		return err == nil && len(list) == 1 && list[0].Served
	})
	sameRows(t, "the first generation", want, rowsOf(t, st, "base"))
	if s := k.State(); s.Reindexing != nil || !strings.HasPrefix(string(s.Phase), "F") {
		t.Errorf("in the end the indexer says %+v", s)
	}
}
