package indexer_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
	"github.com/boardwalkhq/boardwalk/indexer"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// refuser stands before a node and refuses calls of some contracts, in words that tell nothing.
type refuser struct {
	node    string
	mu      sync.Mutex
	refused map[string]bool // by address, in lower case
	all     bool            // every call is refused, for want of the state
}

func (w *testWorld) refuser(t *testing.T, contracts ...string) (r *refuser, url string) {
	t.Helper()
	r = &refuser{node: w.node.URL()}
	r.refuse(contracts...)
	s := httptest.NewServer(r)
	t.Cleanup(s.Close)
	return r, s.URL
}

// refuse says which contracts' calls are refused from now on.
func (r *refuser) refuse(contracts ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refused = map[string]bool{}
	for _, c := range contracts {
		r.refused[strings.ToLower(c)] = true
	}
}

func (r *refuser) refusal(method string, params []json.RawMessage) string {
	var call struct{ To string }
	if method != "eth_call" || json.Unmarshal(params[0], &call) != nil {
		return ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.all:
		return `{"code":-32000,"message":"missing trie node"}`
	case r.refused[strings.ToLower(call.To)]:
		return `{"code":-32603,"message":"Internal error"}`
	default:
		return ""
	}
}

func (r *refuser) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil || len(body) == 0 { // no subscriptions here
		panic(http.ErrAbortHandler)
	}
	type request struct {
		Version string            `json:"jsonrpc"`
		ID      int               `json:"id"`
		Method  string            `json:"method"`
		Params  []json.RawMessage `json:"params"`
	}
	var reqs []request
	single := body[0] == '{'
	if single {
		body = []byte("[" + string(body) + "]")
	}
	if json.Unmarshal(body, &reqs) != nil {
		panic(http.ErrAbortHandler)
	}
	answers := make([]json.RawMessage, len(reqs))
	for i, q := range reqs {
		if refusal := r.refusal(q.Method, q.Params); refusal != "" {
			answers[i] = json.RawMessage(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"error":%s}`, q.ID, refusal))
			continue
		}
		one, err := json.Marshal(q)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		if answers[i], err = post(req.Context(), r.node, one); err != nil {
			panic(http.ErrAbortHandler)
		}
	}
	if single {
		_, _ = w.Write(answers[0])
		return
	}
	_ = json.NewEncoder(w).Encode(answers)
}

func post(ctx context.Context, url string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	return io.ReadAll(res.Body)
}

// follow trades n blocks, and lets the index follow each few of them.
func (w *testWorld) follow(t *testing.T, st *store.Store, n int) {
	t.Helper()
	for range (n + 3) / 4 {
		w.trade(t, 4)
		w.await(t, st)
	}
}

// awaitAsFollowed waits until no more tokens' pasts are being read in an index than in another: they are read beside the blocks.
func (w *testWorld) awaitAsFollowed(t *testing.T, first, second *store.Store) {
	t.Helper()
	indexing := func(st *store.Store) (n int) {
		list, err := st.Inspect.Tokens(t.Context(), "base", 0)
		if err != nil {
			t.Fatal(err)
		}
		for i := range list {
			if list[i].Holders.Status == market.HoldersIndexing {
				n++
			}
		}
		return n
	}
	deadline := time.Now().Add(60 * time.Second)
	for indexing(second) > indexing(first) && time.Now().Before(deadline) { // then the rows differ, and the comparison says which
		time.Sleep(50 * time.Millisecond)
	}
}

// replay indexes anew from the facts that an index kept, by a node without old state, and wants the same rows.
func (w *testWorld) replay(t *testing.T, cfg *chainconfig.Chain, from *store.Store) {
	t.Helper()
	facts, err := from.Facts.Between(t.Context(), "base", 0, 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	second := storetest.Open(t, "sqlite")
	l, err := second.Leases.Acquire(t.Context(), "base", t.Name(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Inspect.KeepFacts(t.Context(), l, facts); err != nil {
		t.Fatal(err)
	}
	stateless, url := w.refuser(t)
	stateless.all = true
	again := *cfg
	again.Endpoints = []chainconfig.Endpoint{{URL: url, Weight: 1}}
	stop := run(t, &again, second, 0)
	w.await(t, second)
	w.awaitAsFollowed(t, from, second)
	stop()
	want, got := derivedRows(t, from), derivedRows(t, second)
	for table := range want {
		for i := range max(len(want[table]), len(got[table])) {
			if a, b := at(got[table], i), at(want[table], i); a != b {
				t.Errorf("%s row %d is\n  %s\nthe first index has\n  %s", table, i, a, b)
				break
			}
		}
	}
}

// TestAMuteTokenIsAskedAgain: a token halts when it is asked for its decimals, and answers later. It has them from a
// later block on, in an index by the same facts as well.
func TestAMuteTokenIsAskedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 20)
	st := storetest.Open(t, "sqlite")
	registry := prometheus.NewRegistry()
	ix, err := indexer.New(w.config(), st, indexer.Options{
		Log: logger(t), Now: time.Now, Holder: t.Name(), Metrics: indexer.NewMetrics(registry),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- ix.Run(ctx) }()
	w.await(t, st)
	const contract = "0x0000000000000000000000000000000000badbad"
	w.hostile(t, contract, "fe")
	w.transact(t, w.Deployer, w.UniswapV2Factory, selector("createPair(address,address)")+
		fmt.Sprintf("%064s%064s", contract[2:], w.Wrapped[2:]))
	w.provoke(t, []string{contract})
	w.await(t, st)
	mint := mustAddress(t, contract)
	if tok, ok := tokens(t, st)[mint]; !ok || tok.HasDecimals {
		t.Fatalf("the token is %+v, known: %v", tok, ok)
	}
	w.follow(t, st, 72) // it is asked again, in vain
	if tok := tokens(t, st)[mint]; tok.HasDecimals {
		t.Fatal("a token that halts tells decimals")
	}
	w.hostile(t, contract, "60125f5260205ff3")
	for range 20 { // beyond the second time that it is asked
		w.follow(t, st, 16)
		if tokens(t, st)[mint].HasDecimals {
			break
		}
	}
	if tok := tokens(t, st)[mint]; !tok.HasDecimals || tok.Decimals != 18 {
		t.Errorf("the token answers, and has %+v", tok)
	}
	wantSetAside(t, ix, registry, "token", "it tells no decimals", contract)
	wantSetAside(t, ix, registry, "pool", "it answers no factory or tokens", contract)
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	w.replay(t, w.config(), st)
}

// wantSetAside holds that /state and the metrics tell of one subject that was set aside.
func wantSetAside(t *testing.T, ix *indexer.Indexer, registry *prometheus.Registry, kind, reason, subject string) {
	t.Helper()
	s := state(t, ix)
	if !slices.ContainsFunc(s.SetAside, func(a chainconfig.SetAside) bool {
		return a.Kind == kind && a.Reason == reason && a.Count == 1 && a.Last == subject && !a.LastAt.IsZero()
	}) {
		t.Errorf("/state has %+v set aside; want one %s %s: %s", s.SetAside, kind, subject, reason)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != "boardwalk_set_aside_total" {
			continue
		}
		for _, m := range f.GetMetric() {
			labels := map[string]string{}
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			if labels["chain"] == "base" && labels["kind"] == kind && labels["reason"] == reason && m.GetCounter().GetValue() == 1 {
				return
			}
		}
	}
	t.Errorf("no metric counts one %s with the reason %q", kind, reason)
}

// poolFacts are what an index was told of a pool, in the blocks' order.
func poolFacts(t *testing.T, st *store.Store, pool string) (out []market.PoolFact) {
	t.Helper()
	facts, err := st.Facts.Between(t.Context(), "base", 0, 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range facts {
		if p, ok := f.Fact.(market.PoolFact); ok && p.Pool.String() == strings.ToLower(pool) {
			out = append(out, p)
		}
	}
	return out
}

// TestAMutePoolIsAskedAgain: nodes give no answer of a pool that is older than the index, for reasons of their own.
// Its trades count once they do, in an index by the same facts as well.
func TestAMutePoolIsAskedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 70) // the start is beyond the reach of reorgs, and the same for both indexes
	var pool string
	for _, p := range w.Pools {
		if p.Protocol == world.UniswapV2 && p.Trap == "" {
			pool = p.Address
			break
		}
	}
	node, url := w.refuser(t, pool)
	cfg := w.config()
	cfg.Start.Block = 20
	cfg.Endpoints = []chainconfig.Endpoint{{URL: url, Weight: 1}}
	st := storetest.Open(t, "sqlite")
	stop := run(t, cfg, st, 0)
	w.await(t, st)
	for range 40 {
		if len(poolFacts(t, st, pool)) > 0 {
			break
		}
		w.follow(t, st, 4)
	}
	if facts := poolFacts(t, st, pool); len(facts) != 1 || facts[0].Known || facts[0].Reason != market.PoolMute {
		t.Fatalf("of a pool that nodes don't answer for it is kept that %+v", facts)
	}
	node.refuse()
	for range 40 {
		if len(poolFacts(t, st, pool)) > 1 {
			break
		}
		w.follow(t, st, 8)
	}
	if facts := poolFacts(t, st, pool); len(facts) != 2 || !facts[1].Known {
		t.Fatalf("of a pool that nodes answer for again it is kept that %+v", facts)
	}
	w.follow(t, st, 8)
	stop()
	w.replay(t, cfg, st)
}
