package indexer_test

import (
	"context"
	"encoding/json"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/launch"
	"github.com/boardwalkhq/boardwalk/hack/simnet/venues"
	"github.com/boardwalkhq/boardwalk/indexer"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// questions notes what two nodes are asked for: how many balances, and of which blocks the logs.
type questions struct {
	mu       sync.Mutex
	balances int
	logs     [2]map[string]bool // by the block's hash
}

func (q *questions) forget() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.balances, q.logs = 0, [2]map[string]bool{{}, {}}
}

// seen is how many balances were asked for, and of how many blocks both nodes were asked for the logs.
func (q *questions) seen() (balances, twice int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for hash := range q.logs[0] {
		if q.logs[1][hash] {
			twice++
		}
	}
	return q.balances, twice
}

func (q *questions) of(node int) spoil {
	return func(method string, params []json.RawMessage, result json.RawMessage) json.RawMessage {
		q.mu.Lock()
		defer q.mu.Unlock()
		var where struct{ BlockHash string }
		switch {
		case callOf(method, params, selector("balanceOf(address)")):
			q.balances++
		case method == "eth_getLogs" && json.Unmarshal(params[0], &where) == nil && where.BlockHash != "":
			q.logs[node][where.BlockHash] = true
		}
		return result
	}
}

// TestWhatADayThatRunsOutGivesUp follows a chain at nodes whose day runs out, and at nodes whose day lasts: the former are asked for blocks alone.
func TestWhatADayThatRunsOutGivesUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 30, venues.BoardwalkCurve)
	q := &questions{}
	q.forget()
	cfg := w.config()
	cfg.Endpoints = []chainconfig.Endpoint{{URL: w.relay(t, q.of(0)), Weight: 1}, {URL: w.relay(t, q.of(1)), Weight: 1}}
	st := storetest.Open(t, "sqlite")
	l := w.launch(t, w.Venues[0])
	if _, err := launch.Buy(t.Context(), w.World, l, w.Wallets[10], big.NewInt(1e17)); err != nil {
		t.Fatal(err)
	}
	all := []string{"trust", "pasts", "pool_keys", "holders", "members", "samples", "agreement", "pool_states"}

	ix, stop := runPlanned(t, cfg, st, 20_000)
	awaitState(t, ix, "giving all up", func(s *chainconfig.State) bool { return slices.Equal(s.Plan.GivenUp, all) })
	w.await(t, st)
	if twice, balances := w.askedFor(t, st, q); balances != 0 || twice != 0 {
		t.Errorf("with all but blocks given up %d balances were asked for, and the logs of %d empty blocks twice", balances, twice)
	}
	if s := ix.State(); !slices.Equal(s.Plan.GivenUp, all) || s.Plan.PerDay != 40_000 || s.Plan.Left <= 0 || s.Plan.Left >= 40_000 || s.Plan.Unit != chainconfig.PlanCalls {
		t.Errorf("its plan is %+v", s.Plan)
	}
	rw := httptest.NewRecorder()
	ix.ChecksHandler().ServeHTTP(rw, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/trust/"+l.Token, nil))
	if body := rw.Body.String(); rw.Code != http.StatusServiceUnavailable || !strings.Contains(body, `"unavailable"`) {
		t.Errorf("a trust check that is given up is answered %d %s", rw.Code, body)
	}
	stop()

	ix, stop = runPlanned(t, cfg, st, 1_000_000_000)
	defer stop()
	if twice, balances := w.askedFor(t, st, q); balances == 0 || twice == 0 {
		t.Errorf("with nothing given up %d balances were asked for, and the logs of %d empty blocks twice", balances, twice)
	}
	if s := ix.State(); s.Plan.GivenUp != nil || s.Plan.Behind != "" {
		t.Errorf("its plan is %+v", s.Plan)
	}
	check(t, ix.ChecksHandler(), l.Token)
}

// runPlanned runs an indexer whose endpoints allow so many calls a day each, of which some eighteen hours are left.
func runPlanned(t *testing.T, cfg *chainconfig.Chain, st *store.Store, perDay int64) (ix *indexer.Indexer, stop func()) {
	t.Helper()
	for i := range cfg.Endpoints {
		cfg.Endpoints[i].RequestsPerDay = perDay
	}
	began := time.Now()
	midnight := began.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
	later := midnight.Add(6 * time.Hour).Sub(began) // the chain's newest block isn't ahead of this clock
	ix, err := indexer.New(cfg, st, indexer.Options{
		Log: logger(t), Now: func() time.Time { return time.Now().Add(later) }, Holder: t.Name(), SweepPause: time.Hour,
		PlanWindow: 20 * time.Second, PlanPause: 20 * time.Millisecond, // in less time a busy machine may ask too little
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- ix.Run(ctx) }()
	return ix, func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// askedFor makes empty blocks and then blocks of trades, and gives of how many of the former both nodes were asked for the logs, and how many
// balances were asked for.
func (w *testWorld) askedFor(t *testing.T, st *store.Store, q *questions) (twice, balances int) {
	t.Helper()
	q.forget()
	for range 10 {
		if err := w.node.Mine(t.Context(), 10, 2*time.Second); err != nil {
			t.Fatal(err)
		}
		w.await(t, st)
	}
	_, twice = q.seen()
	w.trade(t, 40)
	w.await(t, st)
	balances, _ = q.seen()
	return twice, balances
}
