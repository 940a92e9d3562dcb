package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver"
	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/cmd"
	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/history"
	"github.com/boardwalkhq/boardwalk/hack/simnet/traffic"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
	"github.com/boardwalkhq/boardwalk/indexer/metadata"
	"github.com/boardwalkhq/boardwalk/internal/porttest"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/telemetry"
	"github.com/boardwalkhq/boardwalk/up"
)

// output collects what a program prints.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// running is `boardwalk up` inside the test.
type running struct {
	url  string
	stop func(t *testing.T)
}

func startUp(t *testing.T, dsn string, dirs ...string) *running {
	t.Helper()
	return startUpWith(t, func(*up.Program) {}, dsn, dirs...)
}

// startUpWith is startUp with other options.
func startUpWith(t *testing.T, set func(*up.Program), dsn string, dirs ...string) *running {
	t.Helper()
	var out output
	fetcher, err := metadata.New(metadata.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	p := program(dsn, "127.0.0.1:0", dirs...)
	p.Fetcher, p.Out = fetcher, &out
	set(p)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx) }()
	var once sync.Once
	r := &running{stop: func(t *testing.T) {
		t.Helper()
		once.Do(func() {
			cancel()
			select {
			case err := <-done:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(30 * time.Second):
				t.Error("30 s after it was told to end, it runs on")
			}
		})
	}}
	t.Cleanup(func() { r.stop(t) })
	for deadline := time.Now().Add(3 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if _, url, ok := strings.Cut(out.String(), "ready: "); ok && strings.HasSuffix(url, "\n") {
			r.url = strings.TrimSpace(url)
			return r
		}
		select {
		case err := <-done:
			t.Fatalf("it ended before it was ready: %v", err)
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("it is not ready after a minute; it printed %q", out.String())
		}
	}
}

// program is everything in one process, with the defaults of the flags.
func program(dsn, listen string, dirs ...string) *up.Program {
	return &up.Program{
		Settings: apiserver.Settings{Listen: listen, DocsURL: "/docs"}, Manifests: dirs, Database: dsn,
		Operations: telemetry.OperationsOptions{Address: "127.0.0.1:0"}, Out: io.Discard, Metrics: telemetry.NewRegistry(),
		Now: time.Now, Log: slog.New(slog.DiscardHandler),
	}
}

func (r *running) get(t *testing.T, path string, into any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", path, res.Status)
	}
	if err := json.NewDecoder(res.Body).Decode(into); err != nil {
		t.Fatal(err)
	}
}

// localChain is a chain with history; trade mines more of it.
type localChain struct {
	*world.World
	trader *traffic.Trader
}

func newLocalChain(t *testing.T, id string, evmID uint64, dir string) *localChain {
	t.Helper()
	const span = 25 * time.Hour
	node, err := anvil.StartNode(t.Context(), anvil.NodeOptions{ChainID: evmID, Timestamp: history.GenesisFor(span)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = node.Close() })
	w, err := world.Deploy(t.Context(), node, world.DeployOptions{Seed: evmID})
	if err != nil {
		t.Fatal(err)
	}
	c := &localChain{w, traffic.NewTrader(w, evmID)}
	if err := history.Mine(t.Context(), w, c.trader, history.Options{Span: span, Blocks: 120, BlockTime: time.Second, TxPerBlock: 4, Seed: evmID}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.WriteManifest(dir, world.ManifestOptions{ID: id, Label: id, BlockTime: time.Second}); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *localChain) trade(t *testing.T) {
	t.Helper()
	for range 5 {
		if _, err := c.trader.Step(t.Context(), 6); err != nil {
			t.Fatal(err)
		}
		if err := c.Node.MineAt(t.Context(), time.Now()); err != nil {
			// Two blocks can't have one second.
			if err := c.Node.Mine(t.Context(), 1, time.Second); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestUpServesLiveChains is the main job from end to end: two real chains, the nine declared, prices that move, and a
// restart that goes on where it was.
func TestUpServesLiveChains(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	base, bsc := newLocalChain(t, "base", 8453, dir), newLocalChain(t, "bsc", 56, dir)
	dsn := "sqlite:" + filepath.Join(t.TempDir(), "up.db")
	r := startUp(t, dsn, "config/samples", dir)

	var live contract.MarketLive
	r.get(t, "/api/market/live?per_chain=50", &live)
	priced := map[string]map[string]float64{}
	for _, tok := range live.Tokens {
		if priced[tok.Chain] == nil {
			priced[tok.Chain] = map[string]float64{}
		}
		priced[tok.Chain][tok.Mint] = *tok.Price
		if *tok.Price <= 0 || *tok.Liquidity <= 0 {
			t.Errorf("%s on %s is listed at %v with liquidity %v", tok.Symbol, tok.Chain, *tok.Price, *tok.Liquidity)
		}
	}
	if len(priced["base"]) < 5 || len(priced["bsc"]) < 5 || len(live.EmptyChains) != 7 {
		t.Fatalf("priced tokens: %v; empty chains: %v", priced, live.EmptyChains)
	}

	base.trade(t)
	bsc.trade(t)
	moved := func(r *running) map[string]int {
		out := map[string]int{}
		var now contract.MarketLive
		r.get(t, "/api/market/live?per_chain=50", &now)
		for _, tok := range now.Tokens {
			if before, ok := priced[tok.Chain][tok.Mint]; ok && before != *tok.Price {
				out[tok.Chain]++
			}
		}
		return out
	}
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if m := moved(r); m["base"] > 0 && m["bsc"] > 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("prices stand still: %v", moved(r))
		}
	}
	r.stop(t)

	before := status(t, dsn)
	base.trade(t)
	again := startUp(t, dsn, "config/samples", dir)
	again.stop(t)
	after := status(t, dsn)
	if after["base"].Last.Number <= before["base"].Last.Number || after["base"].Rewinds != before["base"].Rewinds {
		t.Errorf("after a restart base went from %+v to %+v", before["base"], after["base"])
	}
}

func status(t *testing.T, dsn string) map[string]store.ChainStatus {
	t.Helper()
	st, err := store.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = st.Close() }()
	list, err := st.Chains(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]store.ChainStatus{}
	for _, s := range list {
		out[s.ID] = s
	}
	return out
}

// TestOneDeadChainDegradesAlone has a chain whose node never answers beside one that does.
func TestOneDeadChainDegradesAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	newLocalChain(t, "base", 8453, dir)
	raw, err := os.ReadFile(filepath.Join(dir, "base.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("id: base", "id: bsc", "name: base", "name: bsc", "chainID: 8453", "chainID: 56").Replace(string(raw))
	i := strings.Index(text, "http://127.0.0.1:")
	j := i + strings.IndexAny(text[i:], "\"'}\n ")
	if err := os.WriteFile(filepath.Join(dir, "bsc.yaml"), []byte(text[:i]+"http://"+porttest.Address(t)+text[j:]), 0o600); err != nil {
		t.Fatal(err)
	}
	r := startUp(t, "sqlite:"+filepath.Join(t.TempDir(), "up.db"), dir)
	var live contract.MarketLive
	r.get(t, "/api/market/live", &live)
	if len(live.Tokens) < 5 || len(live.EmptyChains) != 1 || live.EmptyChains[0] != "bsc" {
		t.Errorf("%d tokens are listed, none of %v; want some of base alone", len(live.Tokens), live.EmptyChains)
	}
	// The heartbeat is as of the last look at the chains, which may have been before base was at its head.
	var beat contract.Heartbeat
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		r.get(t, "/api/status/heartbeat", &beat)
		if len(beat.Chains) == 2 && beat.Chains[0].Status == contract.HeartbeatStatusOk && beat.Chains[1].Status == contract.HeartbeatStatusDown {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the chains are %+v; want base ok, bsc down", beat.Chains)
		}
	}
}

// chainManifest declares the chain base, whose node is at an address.
func chainManifest(node string) string {
	return `apiVersion: boardwalk.dev/v1alpha1
kind: Chain
metadata: {name: base}
spec:
  id: base
  label: Base
  family: EVM
  chainID: 8453
  minTradeUSD: "2.0"
  blockTime: 2s
  nativeAsset: {symbol: ETH, wrapped: "0x4200000000000000000000000000000000000006"}
  quoteAssets:
  - {symbol: WETH, address: "0x4200000000000000000000000000000000000006"}
  rpc: {endpoints: [{url: "` + node + `"}]}
  start: {block: 0}
`
}

// TestUpRefusesBeforeItWrites gives it what can't work: each error says what to do, and no database is made.
func TestUpRefusesBeforeItWrites(t *testing.T) {
	t.Parallel()
	good := t.TempDir()
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":0,"result":"0x1"}`)
	}))
	defer node.Close()
	manifest := chainManifest(node.URL)
	write := func(dir, text string) string {
		if err := os.WriteFile(filepath.Join(dir, "base.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	write(good, manifest)
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	for name, c := range map[string]struct {
		dir, dsn, listen string
		want             []string
	}{
		"no manifests":        {dir: t.TempDir(), want: []string{"Chain"}},
		"an unknown field":    {dir: write(t.TempDir(), manifest+"  colour: blue\n"), want: []string{"colour"}},
		"an unknown family":   {dir: write(t.TempDir(), strings.Replace(manifest, "EVM", "Move", 1)), want: []string{"family", "EVM", "Solana"}},
		"a bad address":       {dir: write(t.TempDir(), strings.Replace(manifest, "0x42", "0xzz", 1)), want: []string{"wrapped"}},
		"a port in use":       {dir: good, listen: taken.Addr().String(), want: []string{"in use", "flag"}},
		"a wrong chain id":    {dir: good, want: []string{"eth_chainId is 1", "8453", "correct the URL"}},
		"an unknown database": {dir: good, dsn: "oracle:x", want: []string{"eth_chainId"}},
	} {
		db := filepath.Join(t.TempDir(), "sub", "up.db")
		dsn := "sqlite:" + db
		if c.dsn != "" {
			dsn = c.dsn
		}
		listen := "127.0.0.1:0"
		if c.listen != "" {
			listen = c.listen
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		err := program(dsn, listen, c.dir).Run(ctx)
		cancel()
		if err == nil {
			t.Errorf("%s: it ran", name)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: the error is %q; want %q in it", name, err, want)
			}
		}
		if _, err := os.Stat(filepath.Dir(db)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: the database's folder was made", name)
		}
	}
}

func TestHelpReadsWell(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--help"}, {"up", "--help"}, {"indexer", "--help"}, {"apiserver", "--help"}, {"migrate", "--help"}, {"check", "--help"}, {"samples", "--help"}, {"version"}} {
		c := cmd.New(serve.Build{Commit: strings.Repeat("0", 40)})
		var out bytes.Buffer
		c.SetOut(&out)
		c.SetArgs(args)
		if err := c.ExecuteContext(t.Context()); err != nil || out.Len() < 40 {
			t.Errorf("%v: %v, %q", args, err, out.String())
		}
	}
}
