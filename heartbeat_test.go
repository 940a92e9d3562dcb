package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
)

// gate stands before a node and holds requests back while it is told to.
type gate struct {
	node string
	// all holds back every request, logs those for logs alone; held counts them.
	all, logs atomic.Bool
	held      atomic.Int64
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if g.all.Load() || (g.logs.Load() && bytes.Contains(body, []byte(`"eth_getLogs"`))) {
		g.held.Add(1)
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	}
	req, err := http.NewRequestWithContext(r.Context(), http.MethodPost, g.node, bytes.NewReader(body))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer func() { _ = res.Body.Close() }()
	_, _ = io.Copy(w, res.Body)
}

// quietChain starts a node, a gate before it, and everything that serves the chain. The chain's newest block is an hour old, as on a chain
// that makes blocks only for transactions.
func quietChain(t *testing.T) (*anvil.Node, *gate, *running) {
	t.Helper()
	node, err := anvil.StartNode(t.Context(), anvil.NodeOptions{ChainID: 8453, Timestamp: time.Now().Add(-2 * time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = node.Close() })
	w, err := world.Deploy(t.Context(), node, world.DeployOptions{Seed: 8453})
	if err != nil {
		t.Fatal(err)
	}
	if err := node.MineAt(t.Context(), time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	g := &gate{node: node.URL()}
	front := httptest.NewServer(g)
	t.Cleanup(front.Close)
	dir := t.TempDir()
	o := world.ManifestOptions{ID: "base", Label: "base", BlockTime: time.Second, Endpoint: front.URL}
	if _, err := w.WriteManifest(dir, o); err != nil {
		t.Fatal(err)
	}
	return node, g, startUp(t, "sqlite:"+filepath.Join(t.TempDir(), "up.db"), dir)
}

// awaitBeat waits until the heartbeat says of the only chain what is wanted.
func (r *running) awaitBeat(t *testing.T, what string, is func(lag float64, reason contract.UnknownReason, status contract.HeartbeatStatus) bool) {
	t.Helper()
	var last string
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(time.Second) { // within the limit of a client
		var beat contract.Heartbeat
		r.get(t, "/api/status/heartbeat", &beat)
		if len(beat.Chains) == 1 && beat.Chains[0].HeadLagS != nil {
			c := beat.Chains[0]
			if is(*c.HeadLagS, c.UnknownReasons["head_lag_s"], c.Status) {
				return
			}
			last = fmt.Sprintf("head_lag_s %v with the reason %q, %s", *c.HeadLagS, c.UnknownReasons["head_lag_s"], c.Status)
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: the heartbeat says %s", what, last)
		}
	}
}

// TestHeartbeatOfAQuietChain: a chain whose node answers and makes no block isn't late. Once the node hangs, nobody knows of newer
// blocks: the lag is the clock less the newest indexed block, and says so; and all is well when the node answers again.
func TestHeartbeatOfAQuietChain(t *testing.T) {
	t.Parallel()
	_, g, r := quietChain(t)
	quiet := func(lag float64, reason contract.UnknownReason, status contract.HeartbeatStatus) bool {
		return lag == 0 && reason == "" && status == contract.HeartbeatStatusOk
	}
	r.awaitBeat(t, "a quiet chain is late", quiet)
	g.all.Store(true)
	r.awaitBeat(t, "a chain whose node hangs is not late", func(lag float64, reason contract.UnknownReason, status contract.HeartbeatStatus) bool {
		return lag >= 3600 && reason == contract.UnknownReasonStale && status == contract.HeartbeatStatusDown
	})
	g.all.Store(false)
	r.awaitBeat(t, "a chain whose node is back is late", quiet)
}

// TestHeartbeatWhileABlockIsNotRead: the node announces blocks and doesn't give their logs. What it announces is read all the same,
// so that the lag grows with it, and nothing about it is stale.
func TestHeartbeatWhileABlockIsNotRead(t *testing.T) {
	t.Parallel()
	node, g, r := quietChain(t)
	r.awaitBeat(t, "the chain isn't indexed", func(lag float64, _ contract.UnknownReason, _ contract.HeartbeatStatus) bool { return lag == 0 })
	g.logs.Store(true)
	if err := node.Mine(t.Context(), 1, time.Second); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the block's logs are not asked for", func() bool { return g.held.Load() > 0 })
	if err := node.Mine(t.Context(), 6, 10*time.Second); err != nil {
		t.Fatal(err)
	}
	r.awaitBeat(t, "what is announced is not read", func(lag float64, reason contract.UnknownReason, status contract.HeartbeatStatus) bool {
		return lag >= 60 && lag <= 120 && reason == "" && status == contract.HeartbeatStatusSlow
	})
}
