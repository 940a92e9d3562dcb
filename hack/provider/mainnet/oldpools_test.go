package mainnet

import (
	"bytes"
	"io"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/boardwalkhq/boardwalk/hack/provider/profiles"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// later is the same stand-in with an index of its own that begins so many blocks after the first.
func (s *standIn) later(t *testing.T, blocks uint64) *standIn {
	t.Helper()
	cfg := *s.cfg
	cfg.Start.Block, cfg.ReorgBlocks = s.Chain.Genesis()+blocks, 8 // it begins below the reach of reorgs
	out := *s
	out.cfg, out.database, out.metrics = &cfg, filepath.Join(t.TempDir(), "later.db"), prometheus.NewRegistry()
	return &out
}

// countDeployless has the stand-in asked through a proxy that counts the eth_calls without a contract's address.
func (s *standIn) countDeployless(t *testing.T) *atomic.Int64 {
	t.Helper()
	target, err := url.Parse(s.cfg.Endpoints[0].URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy, count := httputil.NewSingleHostReverseProxy(target), new(atomic.Int64)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		calls := bytes.Count(body, []byte(`"eth_call"`)) // each with its parameters in an object, in which the address is the only "to"
		count.Add(int64(calls - bytes.Count(body, []byte(`"to":`))))
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	s.cfg.Endpoints = slices.Clone(s.cfg.Endpoints)
	s.cfg.Endpoints[0].URL = server.URL
	return count
}

func poolsOf(t *testing.T, s *standIn, st *store.Store) map[market.Address]market.Pool {
	t.Helper()
	list, err := st.Inspect.Pools(t.Context(), s.cfg.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := map[market.Address]market.Pool{}
	for _, p := range list {
		out[p.ID] = p
	}
	return out
}

// holdPools holds the pools of an index that began later against those of the one that saw them made, and counts them by protocol.
func holdPools(t *testing.T, early, late map[market.Address]market.Pool) (of map[market.Protocol]int) {
	t.Helper()
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }
	of = map[market.Protocol]int{}
	for id, p := range late {
		of[p.Protocol]++
		want := early[id]
		if p.Untrusted != want.Untrusted || !near(p.Price, want.Price) || !near(p.Depth, want.Depth) || !near(p.Locked, want.Locked) {
			t.Errorf("%s pool %s is %q, price %g, depth %g, locked %g; from the first block on %q, %g, %g, %g", p.Protocol, id, p.Untrusted, p.Price, p.Depth,
				p.Locked, want.Untrusted, want.Price, want.Depth, want.Locked)
		}
	}
	return of
}

// TestPoolsOlderThanTheIndex indexes a stand-in of Base from its first block on, and from a later one, when all its pools have been there for
// a while. What the later index has of a pool has to be what the other has, with Multicall3 on the chain or without.
func TestPoolsOlderThanTheIndex(t *testing.T) {
	t.Parallel()
	for name, without := range map[string]bool{"with Multicall3": false, "without Multicall3": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const began = 30
			s := start(t, Options{
				Chain: "base", Txs: 30, Logs: 120, VolumeV2: 12, VolumeV3: 6, Past: 40, RealTxs: 12, WithoutMulticall: without,
			}, profiles.Profile{Client: "Geth"})
			early := poolsOf(t, s, s.index(t))
			l := s.later(t, s.Chain.Head().Number-s.Chain.Genesis()-began)
			deployless := l.countDeployless(t)
			st := l.index(t)
			late := poolsOf(t, l, st)
			if n := deployless.Load(); n > 1 != without { // the first is a probe
				t.Errorf("the later index makes %d calls without an address", n)
			}
			of := holdPools(t, early, late)
			if of[market.UniswapV3] < 3 || of[market.UniswapV4] < 1 {
				t.Errorf("the later index has %v pools: the comparison shows little", of)
			}
			quotes, err := st.Pools.Quotes(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, q := range quotes[s.cfg.ID] {
				if q.USD <= 0 {
					t.Errorf("quote asset %s has no price", q.Asset)
				}
			}
			if got, want := len(quotes[s.cfg.ID]), len(s.cfg.Quotes); got != want {
				t.Errorf("%d of %d quote assets have a row", got, want)
			}
		})
	}
}

// TestV4PoolsOlderThanTheIndex has an index find out what the V4 pools are that trade: by what they move, and one with a hook from the position manager or from the
// log of its creation.
func TestV4PoolsOlderThanTheIndex(t *testing.T) {
	t.Parallel()
	for name, positionManager := range map[string]bool{"by the position manager": true, "by their creation": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, Options{Chain: "base", Txs: 4, Logs: 12, VolumeV2: 2, VolumeV3: 1, Past: 12, RealTxs: 25}, profiles.Profile{Client: "Geth"})
			v4 := func(pools map[market.Address]market.Pool) (older, hooked int) {
				for _, p := range pools {
					if p.Protocol != market.UniswapV4 || p.LastTradeAt == 0 || p.CreatedBlock > 0 {
						continue
					}
					if older++; !p.Hooks.IsNone() {
						hooked++
					}
				}
				return older, hooked
			}
			const began = 10
			l := s.later(t, s.Chain.Head().Number-s.Chain.Genesis()-began)
			if !positionManager {
				l.cfg.Exchanges = slices.Clone(l.cfg.Exchanges)
				for i := range l.cfg.Exchanges {
					l.cfg.Exchanges[i].PositionManager = markettest.Address("")
				}
			}
			st, stop := l.run(t)
			const enough = 3
			var late map[market.Address]market.Pool
			for range 60 {
				l.await(t, st)
				late = poolsOf(t, l, st)
				if older, hooked := v4(late); older >= enough && hooked > 0 {
					break
				}
				if err := s.advance(t.Context(), time.Now()); err != nil {
					t.Fatal(err)
				}
				if _, err := s.Chain.Extend(time.Now()); err != nil {
					t.Fatal(err)
				}
			}
			stop()
			late = poolsOf(t, l, st)
			if older, hooked := v4(late); older < enough || hooked == 0 {
				t.Errorf("%d V4 pools older than the index are known, %d of them with a hook; want %d and 1", older, hooked, enough)
			}
			maps.DeleteFunc(late, func(_ market.Address, p market.Pool) bool { return p.Untrusted == market.UntrustedHook }) // it is asked for no state
			holdPools(t, poolsOf(t, s, s.index(t)), late)
		})
	}
}
