package mainnet

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/boardwalkhq/boardwalk/hack/differ"
	"github.com/boardwalkhq/boardwalk/hack/provider/node"
	"github.com/boardwalkhq/boardwalk/hack/provider/profiles"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
)

// TestAnIndexWithinAPlan indexes stand-ins behind what providers' small plans allow: so many calls or units a second, those of a batch added up,
// so many blocks a range. The index has to get to the head.
func TestAnIndexWithinAPlan(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"quicknode", "public", "alchemy-free", "infura"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			profile, err := profiles.Named(name)
			if err != nil {
				t.Fatal(err)
			}
			profile.Latency = profiles.Latency{}
			s := start(t, Options{Chain: "base", Txs: 20, Logs: 80, VolumeV2: 24, VolumeV3: 8, Past: 25}, profile)
			st := s.index(t)
			counts := s.node.Counts()
			t.Logf("%d calls, refused %v", counts.AllCalls, counts.Refused)
			s.compare(t, st)
		})
	}
}

// TestAnIndexWithinATopicLimit follows a chain behind HyperEVM's limits of logs, four topics a filter and 50 blocks a range, through its past and at its
// head, where blocks are asked for by their hash, and through reorgs. Its rows are those of an index behind a node without limits.
func TestAnIndexWithinATopicLimit(t *testing.T) {
	t.Parallel()
	hyper, err := profiles.Named("hyperevm")
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, Options{Chain: "hyperevm", Txs: 20, Logs: 80, VolumeV2: 12, VolumeV3: 6, Past: 60, RealTxs: 12}, profiles.Profile{Client: "Geth", Logs: hyper.Logs})
	s.cfg.ReorgBlocks = reach
	st, stop := s.run(t)
	for i := range 24 {
		s.await(t, st)
		if i%4 == 3 {
			if err := s.Chain.Reorg(1 + i%3); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.advance(t.Context(), time.Now()); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Chain.Extend(time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	s.await(t, st)
	stop()
	counts := s.node.Counts()
	t.Logf("%d calls, refused %v", counts.AllCalls, counts.Refused)
	if refused := counts.Refused["topics"]; refused == 0 || refused > 2 { // two workers find the limit out at the same time
		t.Errorf("%d filters were refused for their topics", refused)
	}
	unlimited, err := node.Start(t.Context(), s.Chain, node.Options{Profile: profiles.Profile{Client: "Geth"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unlimited.Close() })
	cfg, fresh := *s.cfg, *s
	cfg.Endpoints = []chainconfig.Endpoint{{URL: unlimited.URL(), Weight: 1}}
	fresh.cfg, fresh.database, fresh.metrics = &cfg, strings.TrimSuffix(s.database, ".db")+"-fresh.db", prometheus.NewRegistry()
	want, err := fresh.index(t).Inspect.Derived(t.Context(), s.cfg.ID)
	if err != nil {
		t.Fatal(err)
	}
	have, err := st.Inspect.Derived(t.Context(), s.cfg.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range differ.Tables(have, want) {
		t.Errorf("the index behind the limit differs: %s", d)
	}
}
