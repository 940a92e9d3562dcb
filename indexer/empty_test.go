package indexer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// forgetful stands before a node and says of each range of blocks twice that it has no logs, before it gives them.
type forgetful struct {
	node string
	mu   sync.Mutex
	said map[string]int
	lies int
}

func (w *testWorld) forgetful(t *testing.T) (f *forgetful, url string) {
	t.Helper()
	f = &forgetful{node: w.node.URL(), said: map[string]int{}}
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	return f, s.URL
}

func (f *forgetful) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || len(body) == 0 { // no subscriptions here
		panic(http.ErrAbortHandler)
	}
	answer, err := post(r.Context(), f.node, body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if f.lie(body, answer) {
		answer = []byte(`{"jsonrpc":"2.0","id":0,"result":[]}`)
	}
	_, _ = w.Write(answer)
}

// lie decides whether an answer with logs is kept back.
func (f *forgetful) lie(body, answer []byte) bool {
	var req struct {
		Method string
		Params []struct{ BlockHash, FromBlock, ToBlock string }
	}
	var res struct {
		Result []struct{ BlockNumber string }
	}
	if json.Unmarshal(body, &req) != nil || req.Method != "eth_getLogs" || json.Unmarshal(answer, &res) != nil || len(res.Result) == 0 {
		return false
	}
	blocks := req.Params[0].FromBlock + "-" + req.Params[0].ToBlock
	if req.Params[0].BlockHash != "" {
		blocks = res.Result[0].BlockNumber + "-" + res.Result[0].BlockNumber
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.said[blocks] == 2 {
		return false
	}
	f.said[blocks]++
	f.lies++
	return true
}

// withoutLogs stands before a node and fails all that is asked of logs.
func (w *testWorld) withoutLogs(t *testing.T) (url string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var req struct{ Method string }
		if err != nil || json.Unmarshal(body, &req) == nil && req.Method == "eth_getLogs" {
			rw.WriteHeader(http.StatusBadGateway)
			return
		}
		answer, err := post(r.Context(), w.node.URL(), body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		_, _ = rw.Write(answer)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// patientVouch is how long an endpoint may take to vouch for another's answer where a test wants all of them to: a busy machine may take longer
// than the default.
const patientVouch = time.Minute

// runImpatient runs an indexer that asks again after short pauses.
func runImpatient(t *testing.T, cfg *chainconfig.Chain, st *store.Store) (stop func()) {
	t.Helper()
	_, stop = startImpatient(t, cfg, st)
	return stop
}

func startImpatient(t *testing.T, cfg *chainconfig.Chain, st *store.Store) (ix *indexer.Indexer, stop func()) {
	t.Helper()
	ix, err := indexer.New(cfg, st, indexer.Options{
		Log: logger(t), Now: time.Now, Holder: t.Name(), RereadPause: 2 * time.Millisecond, VouchTime: patientVouch,
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

// TestEmptyAnswersAreNotBelievedAtOnce indexes the past and the head through a node that first says of all blocks that they hold no logs,
// alone and beside a node that fails: no trade may be missing.
func TestEmptyAnswersAreNotBelievedAtOnce(t *testing.T) {
	t.Parallel()
	for _, beside := range []bool{false, true} {
		t.Run(fmt.Sprintf("beside another %v", beside), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 80)
			f, url := w.forgetful(t)
			cfg := w.config()
			cfg.Endpoints = []chainconfig.Endpoint{{URL: url, Weight: 1}}
			if beside {
				cfg.Endpoints = append(cfg.Endpoints, chainconfig.Endpoint{URL: w.withoutLogs(t), Weight: 1})
			}
			st := storetest.Open(t, "sqlite")
			stop := runImpatient(t, cfg, st)
			w.await(t, st)
			w.trade(t, 6)
			w.await(t, st)
			stop()
			if f.lies < 40 {
				t.Errorf("only %d answers were kept back: the test shows little", f.lies)
			}
			w.compare(t, st, w.config())
		})
	}
}
