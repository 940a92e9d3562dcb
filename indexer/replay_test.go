package indexer_test

import (
	"bytes"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/boardwalkhq/boardwalk/hack/simnet/launch"
	"github.com/boardwalkhq/boardwalk/hack/simnet/venues"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// TestReplayNeedsNoOldState indexes a chain, hands the facts to a new database, and indexes again by a node that has lost
// all state: the rows are the same.
func TestReplayNeedsNoOldState(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 60, venues.FourMemeV2)
	launched := w.launch(t, w.Venues[0])
	if _, err := launch.Buy(t.Context(), w.World, launched, w.Wallets[10], big.NewInt(1e18)); err != nil {
		t.Fatal(err)
	}
	first := storetest.Open(t, "sqlite")
	stop := run(t, w.config(), first, 0)
	w.await(t, first)
	stop()
	facts, err := first.Facts.Between(t.Context(), "base", 0, 1<<40)
	if err != nil || len(facts) < 15 {
		t.Fatalf("%d facts were kept, %v", len(facts), err)
	}
	if !slices.ContainsFunc(facts, func(f store.StoredFact) bool {
		c, ok := f.Fact.(market.CurveFact)
		return ok && c.Known && c.Token.String() == strings.ToLower(launched.Token) && c.Quote.IsNative()
	}) {
		t.Error("what the launch's curve takes was not kept")
	}

	var always atomic.Bool
	always.Store(true)
	node := httptest.NewServer(before(w.node.URL(), withoutState(&always)))
	defer node.Close()
	cfg := w.config()
	cfg.Endpoints = []chainconfig.Endpoint{{URL: node.URL, Weight: 1}}
	second := storetest.Open(t, "sqlite")
	l, err := second.Leases.Acquire(t.Context(), "base", t.Name(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Inspect.KeepFacts(t.Context(), l, facts); err != nil {
		t.Fatal(err)
	}
	stop = run(t, cfg, second, 0)
	w.await(t, second)
	stop()
	want, got := derivedRows(t, first), derivedRows(t, second)
	for table := range want {
		if strings.Join(want[table], "\n") != strings.Join(got[table], "\n") {
			t.Errorf("%s differs", table)
		}
	}
}

// before stands before a node, and answers what answer takes on.
func before(url string, answer func(rw http.ResponseWriter, body []byte) bool) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		if answer(rw, body) {
			return
		}
		req, err := http.NewRequestWithContext(r.Context(), http.MethodPost, url, bytes.NewReader(body))
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		req.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		defer func() { _ = res.Body.Close() }()
		_, _ = io.Copy(rw, res.Body)
	}
}

// withoutState answers calls as a node does that has no state, while that is set.
func withoutState(set *atomic.Bool) func(rw http.ResponseWriter, body []byte) bool {
	return func(rw http.ResponseWriter, body []byte) bool {
		if !set.Load() || !bytes.Contains(body, []byte(`"eth_call"`)) {
			return false
		}
		_, _ = io.WriteString(rw, `{"jsonrpc":"2.0","id":0,"error":{"code":-32000,"message":"missing trie node"}}`)
		return true
	}
}
