package solana

import (
	"context"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/differ"
	"github.com/boardwalkhq/boardwalk/hack/provider/node"
	"github.com/boardwalkhq/boardwalk/hack/provider/profiles"
	"github.com/boardwalkhq/boardwalk/indexer"
	"github.com/boardwalkhq/boardwalk/internal/catalog/files"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

func profile(t *testing.T, name string) profiles.Profile {
	t.Helper()
	p, err := profiles.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// trial is a chain behind nodes, each of a profile.
type trial struct {
	*Chain

	nodes []*node.Node
	cfg   *chainconfig.Chain
}

func begin(t *testing.T, o Options, behind ...profiles.Profile) *trial {
	t.Helper()
	c, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	var nodes []*node.Node
	var endpoints []chainconfig.Endpoint
	for _, p := range behind {
		n, err := c.Serve(t.Context(), node.Options{Profile: p})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = n.Close() })
		nodes, endpoints = append(nodes, n), append(endpoints, n.Endpoints()...)
	}
	raw, err := c.Manifests(t.Context(), endpoints...)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "chain.yaml"), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := files.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	declared, err := m.Resolve()
	if err != nil || len(declared.Running) != 1 {
		t.Fatal(len(declared.Running), err)
	}
	return &trial{Chain: c, nodes: nodes, cfg: declared.Running[0]}
}

// index runs an index, which ends with stop.
func (s *trial) index(t *testing.T, st *store.Store, cfg *chainconfig.Chain) (stop func()) {
	t.Helper()
	_, stop = run(t, st, cfg, time.Now)
	return stop
}

// run runs an index by a clock until it is stopped.
func run(t *testing.T, st *store.Store, cfg *chainconfig.Chain, now func() time.Time) (ix *indexer.Indexer, stop func()) {
	t.Helper()
	ix, err := indexer.New(cfg, st, indexer.Options{Log: slog.New(slog.DiscardHandler), Now: now, Holder: t.Name()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- ix.Run(ctx) }()
	return ix, func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// behind is how many slots an index is below the head.
func (s *trial) behind(t *testing.T, st *store.Store, head uint64) uint64 {
	t.Helper()
	status, _, err := st.Chain(t.Context(), s.cfg.ID)
	if err != nil {
		t.Fatal(err)
	}
	return head - min(head, status.Last.Number)
}

// await waits until an index is at the head of a chain that stands still.
func (s *trial) await(t *testing.T, st *store.Store) {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if s.behind(t, st, s.World.Slot()) == 0 {
			return
		}
	}
	t.Fatalf("the index is %d slots below the head", s.behind(t, st, s.World.Slot()))
}

// TestAnIndexOfSolanaWithinAPlan indexes a chain that goes on at the mainnet's pace behind what providers' plans allow. It keeps up where the plan has as many calls as
// blocks need, and comes to the head of a chain that stands still in any case; its rows are those of an index without limits, which reads JSON-RPC alone.
func TestAnIndexOfSolanaWithinAPlan(t *testing.T) {
	t.Parallel()
	for name, most := range map[string]uint64{ // how many slots the index may be behind
		"agave": 8, "helius-free": 8, "yellowstone": 8,
		"yellowstone-moody": 24,             // blocks that a stream leaves out are asked for after some seconds
		"solana-public":     math.MaxUint64, // 40 calls of getBlock in 10 s, and 25 blocks need two each: nothing is wanted of it
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := begin(t, Options{Seed: 4, Past: 60}, profile(t, name))
			st := storetest.Open(t, "sqlite")
			stop := s.index(t, st, s.cfg)
			s.liveFor(t, 45*time.Second)
			for n := 0; n < 14 && len(s.withoutFault(t, name)) > 0; n++ { // the pauses between streams differ
				s.liveFor(t, 10*time.Second)
			}
			late := s.behind(t, st, s.World.Slot())
			s.await(t, st)
			stop()
			counts := s.nodes[0].Counts()
			t.Logf("%d slots behind; %d calls (%v), %d blocks streamed, refused %v", late, counts.AllCalls, counts.Calls, counts.Streamed, counts.Refused)
			if late > most {
				t.Errorf("the index is %d slots behind", late)
			}
			s.compare(t, st)
			s.streamed(t, name)
		})
	}
}

func (s *trial) liveFor(t *testing.T, during time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), during)
	defer cancel()
	if err := s.Live(ctx); err != nil {
		t.Fatal(err)
	}
}

// withoutFault are the faults of a profile's streams that didn't come yet.
func (s *trial) withoutFault(t *testing.T, name string) []string {
	t.Helper()
	p := profile(t, name)
	return p.Stream.MissingFaults(s.nodes[0].Counts().Refused)
}

// streamed wants the index to have read the stream of a profile: one without a fault tells the head, which is asked for seldom then.
func (s *trial) streamed(t *testing.T, name string) {
	t.Helper()
	if missing := s.withoutFault(t, name); len(missing) > 0 {
		t.Errorf("faults that never came: %v", missing)
	}
	counts := s.nodes[0].Counts()
	if asked := counts.Calls["getSlot"]; name == "yellowstone" && (counts.Streamed < 60 || counts.Calls["Subscribe"] != 1 || asked > counts.Streamed*2/3) {
		t.Errorf("%d blocks came over %d streams, and the head was asked for %d times", counts.Streamed, counts.Calls["Subscribe"], asked)
	}
}

// compare holds the rows against those of an index without limits that has the same facts, and wants quotes with prices and launched tokens.
func (s *trial) compare(t *testing.T, st *store.Store) {
	t.Helper()
	facts, err := st.Facts.Between(t.Context(), s.cfg.ID, 0, math.MaxInt32)
	if err != nil {
		t.Fatal(err)
	}
	fresh := storetest.Open(t, "sqlite")
	lease, err := fresh.Leases.Acquire(t.Context(), s.cfg.ID, t.Name(), time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if err := fresh.Inspect.KeepFacts(t.Context(), lease, facts); err != nil {
		t.Fatal(err)
	}
	cfg := *s.cfg
	cfg.Endpoints = []chainconfig.Endpoint{{URL: s.URL(), Weight: 1}}
	stop := s.index(t, fresh, &cfg)
	s.await(t, fresh)
	stop()
	want, err := fresh.Inspect.Derived(t.Context(), s.cfg.ID)
	if err != nil {
		t.Fatal(err)
	}
	have, err := st.Inspect.Derived(t.Context(), s.cfg.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range differ.Tables(have, want) {
		t.Errorf("the index behind the limits differs: %s", d)
	}
	b, err := st.Beginning(t.Context(), s.cfg.ID, nil)
	if err != nil {
		t.Fatal(err)
	}
	sol := false
	for _, q := range b.Quotes {
		sol = sol || q.Asset == s.cfg.Native.Wrapped && q.USD > 0
	}
	if !sol {
		t.Errorf("SOL has no price: %+v", b.Quotes)
	}
	for _, c := range s.World.Curves() {
		rows, err := st.Tokens.Now(t.Context(), []market.Address{market.SolanaAddress(c.Token)})
		if err != nil || len(rows) != 1 || !rows[0].HasDecimals {
			t.Errorf("token %s: %+v, %v", c.Token, rows, err)
		}
	}
}
