package mainnet

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/boardwalkhq/boardwalk/hack/differ"
	"github.com/boardwalkhq/boardwalk/hack/provider/node"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// reach is how deep reorgs are that an index here can take back.
const reach = 8

// behind is the same stand-in with an index of its own that begins near the head, behind nodes of profiles. Of these the limits of state and of
// logs count here: not how much is asked in a minute, or how long an answer takes.
func (s *standIn) behind(t *testing.T, profiles ...string) *standIn {
	t.Helper()
	cfg := *s.cfg
	cfg.Start, cfg.ReorgBlocks, cfg.Endpoints = chainconfig.Start{Now: true}, reach, nil
	for _, name := range profiles {
		p, err := node.ProfileOf(name)
		if err != nil {
			t.Fatal(err)
		}
		p.Rate, p.Latency = node.Rate{}, node.Latency{}
		n, err := node.Start(t.Context(), s.Chain, node.Options{Profile: p})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { n.Close() })
		cfg.Endpoints = append(cfg.Endpoints, chainconfig.Endpoint{URL: n.URL(), Weight: 1})
	}
	out := *s
	out.cfg, out.database, out.metrics = &cfg, filepath.Join(t.TempDir(), "behind.db"), prometheus.NewRegistry()
	return &out
}

// unpriced counts the declared quotes without a price.
func (s *standIn) unpriced(t *testing.T, st *store.Store) int {
	t.Helper()
	quotes, err := st.ChainQuotes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	left := len(s.cfg.Quotes)
	for _, q := range quotes[s.cfg.ID] {
		if q.USD > 0 {
			left--
		}
	}
	return left
}

// TestQuotesBehindNodesOfTheNewestState begins an index at the head of a chain in which nobody trades any more, behind nodes that have the
// newest state alone: those that say so, those that answer a question about an older block with it, and both. All liquidity is older than the
// index.
func TestQuotesBehindNodesOfTheNewestState(t *testing.T) {
	t.Parallel()
	const within = 20
	s := start(t, Options{Chain: "hyperevm", Past: 20, RealTxs: 12}, node.Profile{Client: "Geth"})
	early := poolsOf(t, s, s.index(t))
	for range 2 * reach {
		if _, err := s.Chain.Extend(time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	for name, profiles := range map[string][]string{
		"says so":           {"hyperevm"},
		"doesn't say so":    {"hyperevm-public"},
		"two that say so":   {"hyperevm", "hyperevm"},
		"one of each":       {"hyperevm", "hyperevm-public"},
		"one of each, plus": {"hyperevm-public", "hyperevm", "hyperevm-public"},
	} {
		t.Run(name, func(t *testing.T) {
			l := s.behind(t, profiles...)
			st, stop := l.run(t)
			l.await(t, st)
			blocks := 0
			for ; blocks < within && l.unpriced(t, st) > 0; blocks++ {
				if _, err := s.Chain.Extend(time.Now()); err != nil {
					t.Fatal(err)
				}
				l.await(t, st)
			}
			stop()
			t.Logf("all quotes have a price after %d blocks", blocks)
			if left := l.unpriced(t, st); left > 0 {
				t.Errorf("%d of %d quotes have no price after %d blocks", left, len(l.cfg.Quotes), within)
			}
			if of := holdPools(t, early, poolsOf(t, l, st)); of[market.UniswapV3] == 0 {
				t.Errorf("the pools are %v: the comparison shows little", of)
			}
		})
	}
}

// TestPoolsBehindNodesOfTheNewestState does the same with a chain whose traders go on, and that has reorgs. Every pool that has a price in the end has the one that
// an index has that saw the pool made; and an index of the same blocks that is given the facts has the same rows.
func TestPoolsBehindNodesOfTheNewestState(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{"hyperevm", "hyperevm-public"} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			s := start(t, Options{Chain: "hyperevm", Txs: 30, Logs: 120, VolumeV2: 12, VolumeV3: 6, Past: 40, RealTxs: 12}, node.Profile{Client: "Geth"})
			l, first := s.behind(t, profile), s.Chain.Head().Number-reach+1
			st, stop := l.run(t)
			for i := range 40 {
				l.await(t, st)
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
			l.await(t, st)
			stop()
			late := poolsOf(t, l, st)
			trusted := map[market.Protocol]int{}
			for id, p := range late {
				if p.Untrusted == market.UntrustedTicks {
					delete(late, id) // its state isn't known yet, so that it has no price
					continue
				}
				trusted[p.Protocol]++
			}
			if holdPools(t, poolsOf(t, s, s.index(t)), late); trusted[market.UniswapV3] < 3 {
				t.Errorf("the comparison shows little: trusted are %v", trusted)
			}
			l.compareReplay(t, st, profile, first)
		})
	}
}

// compareReplay holds the rows against those of an index of the same blocks that begins with the facts, behind a node of the same kind: it has none
// of the states any more. An index behind an archive node would know a pool's state from its first trade on, a block earlier or more.
func (s *standIn) compareReplay(t *testing.T, st *store.Store, profile string, first uint64) {
	t.Helper()
	facts, err := st.Facts(t.Context(), s.cfg.ID, 0, s.Chain.Head().Number)
	if err != nil {
		t.Fatal(err)
	}
	again := s.behind(t, profile)
	again.cfg.Start = chainconfig.Start{Block: first}
	fresh, err := store.Open(t.Context(), "sqlite:"+again.database)
	if err != nil {
		t.Fatal(err)
	}
	lease, err := fresh.Acquire(t.Context(), s.cfg.ID, "facts", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(fresh.KeepFacts(t.Context(), lease, facts), fresh.Release(t.Context(), lease), fresh.Close()); err != nil {
		t.Fatal(err)
	}
	want, err := st.Derived(t.Context(), s.cfg.ID)
	if err != nil {
		t.Fatal(err)
	}
	have, err := again.index(t).Derived(t.Context(), s.cfg.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range differ.Tables(have, want) {
		t.Errorf("the index that began with the facts differs: %s", d)
	}
}
