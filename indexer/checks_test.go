package indexer_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
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
	report "github.com/boardwalkhq/boardwalk/internal/trust"
)

// runChecks starts an indexer as run does and gives what answers for its checks.
func runChecks(t *testing.T, cfg *chainconfig.Chain, st *store.Store) http.Handler {
	t.Helper()
	ix, err := indexer.New(cfg, st, indexer.Options{Log: logger(t), Now: time.Now, Holder: t.Name(), SweepPause: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- ix.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return ix.ChecksHandler()
}

// check asks for a token's trust report over HTTP.
func check(t *testing.T, h http.Handler, token string) *report.Report {
	t.Helper()
	rw := httptest.NewRecorder()
	h.ServeHTTP(rw, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/trust/"+token, nil))
	if rw.Code != http.StatusOK {
		t.Fatalf("the check of %s: %d %s", token, rw.Code, rw.Body)
	}
	var r report.Report
	if err := json.Unmarshal(rw.Body.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	return &r
}

// slots notes of which block a node is asked for a contract's storage: nothing but a check does so.
type slots struct {
	next http.Handler
	mu   sync.Mutex
	at   map[string][]string // the block parameters by contract
}

func (s *slots) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	type call struct {
		Method string            `json:"method"`
		Params []json.RawMessage `json:"params"`
	}
	calls := make([]call, 1)
	if json.Unmarshal(body, &calls[0]) == nil || json.Unmarshal(body, &calls) == nil {
		s.mu.Lock()
		for _, c := range calls {
			if c.Method == "eth_getStorageAt" && len(c.Params) == 3 {
				contract := strings.Trim(string(c.Params[0]), `"`)
				s.at[contract] = append(s.at[contract], string(c.Params[2]))
			}
		}
		s.mu.Unlock()
	}
	s.next.ServeHTTP(w, r)
}

func (s *slots) of(contract string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.at[strings.ToLower(contract)])
}

// TestChecksNameTheirBlock: a report says after which block its answers are, by the hash that the chain has for it, and the node was
// asked by that hash, so that no answer can be of another branch.
func TestChecksNameTheirBlock(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 30, venues.BoardwalkCurve)
	m, _ := w.behind(t, 0)
	s := &slots{next: m, at: map[string][]string{}}
	front := httptest.NewServer(s)
	t.Cleanup(front.Close)
	cfg := w.config()
	cfg.Tracking.Holders = chainconfig.HoldersDeclared
	cfg.Endpoints = []chainconfig.Endpoint{{URL: front.URL, Weight: 1}}
	st := storetest.Open(t, "sqlite")
	h := runChecks(t, cfg, st)
	l := w.launch(t, w.Venues[0])
	if _, err := launch.Buy(t.Context(), w.World, l, w.Wallets[10], big.NewInt(1e17)); err != nil {
		t.Fatal(err)
	}
	w.await(t, st)
	head, err := w.node.Latest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r := check(t, h, l.Token)
	if r.Block.Number != head.Number || r.Block.Hash != head.Hash {
		t.Errorf("the report is of block %d %s, the chain has %d %s", r.Block.Number, r.Block.Hash, head.Number, head.Hash)
	}
	asked := s.of(l.Token)
	if len(asked) == 0 {
		t.Fatal("the node was not asked for the token's storage: the test shows little")
	}
	for _, at := range asked {
		var by struct {
			BlockHash string `json:"blockHash"`
		}
		if err := json.Unmarshal([]byte(at), &by); err != nil || by.BlockHash != head.Hash {
			t.Errorf("the token's storage was asked for at %s, want it by the hash %s", at, head.Hash)
			break
		}
	}
}

// TestCreatorHistoryIsOfCurvesBefore: a token's creator is judged by what was launched on a curve before the token, whatever comes
// after it and whatever begins as a pool.
func TestCreatorHistoryIsOfCurvesBefore(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 30, venues.All...)
	cfg := w.config()
	cfg.Tracking.Holders = chainconfig.HoldersDeclared
	st := storetest.Open(t, "sqlite")
	h := runChecks(t, cfg, st)
	curve := w.Venues[slices.IndexFunc(w.Venues, func(v venues.Venue) bool { return v.Protocol == venues.BoardwalkCurve })]
	live := w.Venues[slices.IndexFunc(w.Venues, func(v venues.Venue) bool { return !v.HasCurve() })]
	first := w.launch(t, curve)
	if _, err := launch.Complete(t.Context(), w.World, first, w.Wallets[20]); err != nil {
		t.Fatal(err)
	}
	if curve.Waits() {
		if _, err := launch.Graduate(t.Context(), w.World, first, w.Wallets[21]); err != nil {
			t.Fatal(err)
		}
	}
	w.launch(t, live)
	second := w.launch(t, curve)
	w.launch(t, live)
	var last *launch.Launch
	for range 24 {
		last = w.launch(t, curve)
	}
	w.await(t, st)
	for name, test := range map[string]struct {
		launch *launch.Launch
		before float64
		result report.Result
	}{
		"the first":  {first, 0, report.Pass},
		"the second": {second, 1, report.Pass},
		"the last":   {last, 25, report.Fail},
	} {
		got := check(t, h, test.launch.Token).Find(report.CreatorHistory)
		// A creator of many launches fails where less than 5 % of them graduated; here it is 1 of 25.
		if got.Value != test.before || got.Result != test.result {
			t.Errorf("%s is judged %s by %v launches before it, want %s by %v", name, got.Result, got.Value, test.result, test.before)
		}
		if want := fmt.Sprint(test.before) + " "; len(got.Evidence) != 1 || !strings.HasPrefix(got.Evidence[0].Detail, want) {
			t.Errorf("%s has the evidence %+v, want %s launches in it", name, got.Evidence, want)
		}
	}
}
