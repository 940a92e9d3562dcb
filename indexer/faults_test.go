package indexer_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// mischief stands between the indexer and a real node, and spoils some of the answers.
type mischief struct {
	node  string
	mu    sync.Mutex
	rng   *rand.Rand
	share float64 // of requests that are spoiled
	down  atomic.Bool
	done  atomic.Int64
}

func (m *mischief) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || m.down.Load() {
		panic(http.ErrAbortHandler)
	}
	req, err := http.NewRequestWithContext(r.Context(), http.MethodPost, m.node, bytes.NewReader(body))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	m.mu.Lock()
	spoil, how := m.rng.Float64() < m.share, m.rng.IntN(9)
	m.mu.Unlock()
	if !spoil {
		_, _ = w.Write(answer)
		return
	}
	m.done.Add(1)
	isLogs := bytes.Contains(body, []byte(`"eth_getLogs"`))
	switch how {
	case 0:
		panic(http.ErrAbortHandler) // the connection drops
	case 1:
		w.WriteHeader(http.StatusBadGateway)
	case 2:
		_, _ = w.Write(answer[:len(answer)/2])
	case 3:
		_, _ = io.WriteString(w, `<html>rate limited</html>`)
	case 4:
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":0,"error":{"code":-32005,"message":"rate limit exceeded"}}`)
	case 5:
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":7,"result":"0x"}`)
	case 6:
		if isLogs { // another block's logs
			answer = bytes.ReplaceAll(answer, []byte(`"blockHash":"0x`), []byte(`"blockHash":"0xdead`))
			var v any
			if json.Unmarshal(answer, &v) != nil {
				answer = []byte(`{}`)
			}
		}
		_, _ = w.Write(answer)
	case 7:
		if isLogs {
			answer = []byte(`{"jsonrpc":"2.0","id":0,"result":[]}`)
		}
		_, _ = w.Write(answer)
	default:
		_, _ = io.WriteString(w, `null`)
	}
}

func (w *testWorld) behind(t *testing.T, share float64) (*mischief, string) {
	t.Helper()
	m := &mischief{node: w.node.URL(), rng: rand.New(rand.NewPCG(seed(t), 1)), share: share}
	s := httptest.NewServer(m)
	t.Cleanup(s.Close)
	return m, s.URL
}

// fewestSpoiled is how many answers must be spoiled before a test shows something. Chance spoils them, so that a test makes more blocks
// until there are as many.
const fewestSpoiled = 5

// TestLyingAndLimpingEndpoints indexes through an honest endpoint and one that fails, lies and drops connections, with
// reorgs on the way, and wants the rows of an index made through the honest one alone.
func TestLyingAndLimpingEndpoints(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 80)
	honest := w.config()
	m, url := w.behind(t, 0.3)
	cfg := w.config()
	cfg.Endpoints = []chainconfig.Endpoint{{URL: url, Weight: 3}, {URL: w.node.URL(), Weight: 1}}
	st := storetest.Open(t, "sqlite")
	stop := run(t, cfg, st, 0)
	for n := 0; n < 6 || m.done.Load() < fewestSpoiled && n < 60; n++ {
		w.trade(t, 3)
		w.await(t, st)
		if err := w.node.Reorg(t.Context(), 3); err != nil {
			t.Fatal(err)
		}
		w.trade(t, 4)
		w.await(t, st)
	}
	stop()
	if m.done.Load() < fewestSpoiled {
		t.Errorf("only %d answers were spoiled: the test shows little", m.done.Load())
	}
	w.compare(t, st, honest)
}

// TestHiccupsKeepTheLease indexes through one endpoint that fails now and then, and wants the lease that it took first: whoever gives it up
// reads all that is cached anew.
func TestHiccupsKeepTheLease(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 60)
	honest := w.config()
	m, url := w.behind(t, 0.1)
	cfg := w.config()
	cfg.Endpoints = []chainconfig.Endpoint{{URL: url, Weight: 1}}
	dsn := storetest.DSN(t, "sqlite")
	st := storetest.OpenAt(t, dsn)
	stop := run(t, cfg, st, 0)
	for n := 0; n < 12 || m.done.Load() < fewestSpoiled && n < 120; n++ {
		w.trade(t, 3)
		w.await(t, st)
	}
	stop()
	if m.done.Load() < fewestSpoiled {
		t.Errorf("only %d answers were spoiled: the test shows little", m.done.Load())
	}
	db, err := sql.Open("sqlite", strings.TrimPrefix(dsn, "sqlite:"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var taken int
	if err := db.QueryRowContext(t.Context(), "SELECT lease_epoch FROM chains").Scan(&taken); err != nil {
		t.Fatal(err)
	}
	if taken != 1 {
		t.Errorf("the lease was taken %d times, want 1", taken)
	}
	w.compare(t, st, honest)
}

// TestDeadNodeDegradesAndRecovers takes the only node away and brings it back.
func TestDeadNodeDegradesAndRecovers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 30)
	m, url := w.behind(t, 0)
	cfg := w.config()
	cfg.Endpoints = []chainconfig.Endpoint{{URL: url + "/secret-key", Weight: 1}}
	st := storetest.Open(t, "sqlite")
	defer run(t, cfg, st, 0)()
	w.await(t, st)
	m.down.Store(true)
	awaitState := func(want store.ChainState) store.ChainStatus {
		for deadline := time.Now().Add(40 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			s, _, err := st.Chain(t.Context(), "base")
			if err != nil {
				t.Fatal(err)
			}
			if s.State == want {
				return s
			}
			if time.Now().After(deadline) {
				t.Fatalf("the chain is %+v, want %s", s, want)
			}
		}
	}
	if s := awaitState(store.ChainDegraded); s.Reason == "" || strings.Contains(s.Reason, "secret-key") {
		t.Errorf("the reason is %q", s.Reason)
	}
	w.trade(t, 2)
	m.down.Store(false)
	awaitState(store.ChainRunning)
	w.await(t, st)
}

// TestWrongChainIsRefused points an indexer at a node of another chain.
func TestWrongChainIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10)
	cfg := w.config()
	cfg.EVMChainID = 4242
	err := indexer.Check(t.Context(), cfg, indexer.Options{Log: logger(t), Now: time.Now})
	if !errors.Is(err, rpc.ErrWrongChain) || !strings.Contains(err.Error(), "4242") || !strings.Contains(err.Error(), "correct the URL") {
		t.Errorf("the check says %v", err)
	}
	st := storetest.Open(t, "sqlite")
	ix, err := indexer.New(cfg, st, indexer.Options{Log: logger(t), Now: time.Now, Holder: "test"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := ix.Run(ctx); !errors.Is(err, rpc.ErrWrongChain) {
		t.Errorf("it ran and said %v", err)
	}
	if chains, err := st.Chains(t.Context()); err != nil || len(chains) != 0 {
		t.Errorf("it wrote %+v, %v", chains, err)
	}
}

// TestNodesThatAreFarBehindHaltNothing takes away more blocks than could be undone and puts no others in their place: the
// nodes lack blocks, and nothing says that ours are wrong.
func TestNodesThatAreFarBehindHaltNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 60)
	cfg := w.config()
	cfg.ReorgBlocks = 4
	st := storetest.Open(t, "sqlite")
	defer run(t, cfg, st, 0)() // fails the test if the indexer ends by itself
	w.await(t, st)
	before, _, err := st.Chain(t.Context(), "base")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.node.Rollback(t.Context(), 30); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(40 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		s, _, err := st.Chain(t.Context(), "base")
		if err != nil {
			t.Fatal(err)
		}
		if s.State == store.ChainDegraded && strings.Contains(s.Reason, "behind") {
			if s.Last != before.Last {
				t.Errorf("it went from block %d to %d", before.Last.Number, s.Last.Number)
			}
			return
		}
		if s.State == store.ChainHalted || time.Now().After(deadline) {
			t.Fatalf("the chain is %+v", s)
		}
	}
}

// TestStartNowSurvivesAReorgOfItsFirstHead begins at the head, which is then replaced.
func TestStartNowSurvivesAReorgOfItsFirstHead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 60)
	cfg := w.config()
	cfg.Start = chainconfig.Start{Now: true}
	st := storetest.Open(t, "sqlite")
	defer run(t, cfg, st, 0)()
	w.await(t, st)
	if err := w.node.Reorg(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	w.trade(t, 2)
	w.await(t, st)
	if s, _, err := st.Chain(t.Context(), "base"); err != nil || s.Rewinds != 1 {
		t.Errorf("the chain is %+v, %v; want one rewind", s, err)
	}
}

// TestNoURLInTheLog indexes through an endpoint whose path is a key and that knows no WebSocket.
func TestNoURLInTheLog(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10)
	m, url := w.behind(t, 0)
	cfg := w.config()
	cfg.Endpoints = []chainconfig.Endpoint{{URL: url + "/secret-key", Weight: 1}}
	var log lockedBuffer
	st := storetest.Open(t, "sqlite")
	ix, err := indexer.New(cfg, st, indexer.Options{
		Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})), Now: time.Now, Holder: "test",
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- ix.Run(ctx) }()
	w.await(t, st)
	m.down.Store(true)
	for deadline := time.Now().Add(20 * time.Second); !strings.Contains(log.String(), "interrupted"); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the dead node was not noticed")
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if text := log.String(); !strings.Contains(text, "no subscription") || strings.Contains(text, "secret-key") {
		t.Errorf("the log has the key, or nothing of the WebSocket:\n%s", text)
	}
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
