package evm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm"
	"github.com/boardwalkhq/boardwalk/indexer/trust"
	evmtrust "github.com/boardwalkhq/boardwalk/indexer/trust/evm"
	"github.com/boardwalkhq/boardwalk/indexer/trust/evm/probe"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	report "github.com/boardwalkhq/boardwalk/internal/trust"
)

// between stands before the world's node and does something to each call of a batch: change gives the call's parameters as they
// are passed on, or a refusal.
func (w *testWorld) between(t *testing.T, change func(params []json.RawMessage) ([]json.RawMessage, bool)) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		single := body[0] == '{'
		if single {
			body = []byte("[" + string(body) + "]")
		}
		var calls []map[string]json.RawMessage
		if err := json.Unmarshal(body, &calls); err != nil {
			t.Error(err)
			return
		}
		for _, c := range calls {
			var params []json.RawMessage
			if err := json.Unmarshal(c["params"], &params); err != nil {
				t.Error(err)
				return
			}
			params, ok := change(params)
			if !ok {
				c["method"] = json.RawMessage(`"eth_unknown"`)
			}
			if c["params"], err = json.Marshal(params); err != nil {
				t.Error(err)
				return
			}
		}
		var on any = calls
		if single {
			on = calls[0]
		}
		if body, err = json.Marshal(on); err != nil {
			t.Error(err)
			return
		}
		req, err := http.NewRequestWithContext(r.Context(), http.MethodPost, w.Node.URL(), bytes.NewReader(body))
		if err != nil {
			t.Error(err)
			return
		}
		req.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return // the test has ended
		}
		defer res.Body.Close()
		_, _ = io.Copy(rw, res.Body)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

var simulations = []string{report.HoneypotSell, report.BuyTax, report.SellTax, report.TransferTax}

func TestEndpointsWithoutOverrides(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token, pool := w.listed(t, "Pausable")
	// The third parameter of eth_getStorageAt, which doesn't begin with a call, is the block.
	overrides := func(p []json.RawMessage) bool { return len(p) > 2 && p[0][0] == '{' }
	strips := w.between(t, func(p []json.RawMessage) ([]json.RawMessage, bool) {
		if overrides(p) {
			p = p[:2]
		}
		return p, true
	})
	refuses := w.between(t, func(p []json.RawMessage) ([]json.RawMessage, bool) { return p, !overrides(p) })
	for name, endpoints := range map[string][]string{"strips": {strips}, "refuses": {refuses}, "both": {strips, refuses}, "one can": {strips, w.Node.URL()}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := w.config()
			cfg.Endpoints = nil
			for _, u := range endpoints {
				cfg.Endpoints = append(cfg.Endpoints, chainconfig.Endpoint{URL: u, Weight: 1})
			}
			source := w.source(t, cfg)
			c, _ := w.checkerOf(t, cfg, source, trust.Options{}, w.known(t, token, pool))
			r, err := c.Check(t.Context(), token)
			if err != nil {
				t.Fatal(err)
			}
			if name == "one can" {
				expect(t, r, want{report.Pausable: report.Warn, report.Ownership: report.Warn})
				return
			}
			others := want{report.Ownership: report.Warn, report.Pausable: report.Unknown}
			for _, id := range simulations {
				others[id] = report.Unknown
			}
			expect(t, r, others)
			for _, id := range append([]string{report.Pausable}, simulations...) {
				if got := r.Find(id); got.UnknownReason != report.RPCCapability {
					t.Errorf("%+v", got)
				}
			}
			for endpoint, can := range source.Overrides() {
				if can {
					t.Errorf("%s is said to simulate", endpoint)
				}
			}
		})
	}
}

// TestNoEndpointAnswers: what the index knows is still checked, and nothing of an endpoint's URL is in the report.
func TestNoEndpointAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token, pool := w.listed(t, "Clean")
	cfg := w.config()
	cfg.Endpoints = []chainconfig.Endpoint{{URL: "http://127.0.0.1:1/secretkey", Weight: 1}}
	now := time.Now()
	c, x := w.checkerOf(t, cfg, w.source(t, cfg), trust.Options{Now: func() time.Time { return now }}, w.known(t, token, pool))
	r, err := c.Check(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	for id, result := range results(r) {
		known := id == report.LiquidityDepth || id == report.PairAge
		if (result != report.Unknown) != known && id != report.Top10Share {
			t.Errorf("%s is %s", id, result)
		}
	}
	if r.Verdict() != report.VerdictUnknown {
		t.Errorf("the verdict is %s", r.Verdict())
	}
	body, err := json.Marshal(r)
	if err != nil || strings.Contains(string(body), "secretkey") || strings.Contains(string(body), "127.0.0.1") {
		t.Errorf("%s, %v", body, err)
	}
	// A report that lacks this much stands for a moment alone.
	now = now.Add(6 * time.Second)
	if _, err := c.Check(t.Context(), token); err != nil || x.asked != 2 {
		t.Errorf("asked %d times, %v", x.asked, err)
	}

	k := w.known(t, token)
	k.USD, k.First, k.Token.Holders = nil, nil, market.Holders{}
	c, _ = w.checkerOf(t, cfg, w.source(t, cfg), trust.Options{}, k)
	if _, err := c.Check(t.Context(), token); !errors.Is(err, trust.ErrUnavailable) {
		t.Errorf("with nothing to check: %v", err)
	}
}

// TestStateIsGone: a node that no longer has the state after the indexed block is asked about its newest one.
func TestStateIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token, pool := w.listed(t, "Clean")
	k := w.known(t, token, pool)
	k.Block.Hash[0] ^= 1 // of a branch that was left
	cfg := w.config()
	gone := &staleNode{Source: w.source(t, cfg), hash: k.Block.Hash}
	c, _ := w.checkerOf(t, cfg, gone, trust.Options{}, k)
	r, err := c.Check(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, r, nil)
	if r.Block.Hash == k.Block.Hash.String() || r.Block.Number < k.Block.Number {
		t.Errorf("the block is %+v", r.Block)
	}
}

// staleNode has no state after one block.
type staleNode struct {
	*evm.Source

	hash market.Hash
}

func (n *staleNode) Ask(ctx context.Context, at chain.Ref, list []*evm.Question) error {
	if at.Hash == n.hash {
		return evm.ErrStateGone
	}
	return n.Source.Ask(ctx, at, list)
}

// countingNode counts what it is asked, and may wait.
type countingNode struct {
	evmtrust.Node

	asked atomic.Int64
	wait  chan struct{}
}

func (n *countingNode) Ask(ctx context.Context, at chain.Ref, list []*evm.Question) error {
	n.asked.Add(1)
	if n.wait != nil {
		select {
		case <-n.wait:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return n.Node.Ask(ctx, at, list)
}

func TestStrangersAddresses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cfg := w.config()
	node := &countingNode{Node: w.source(t, cfg)}
	nowhere := address(t, "0x00000000000000000000000000000000000000ee")
	c, _ := w.checkerOf(t, cfg, node, trust.Options{}, w.known(t, nowhere))
	if _, err := c.Check(t.Context(), address(t, w.Deployer)); !errors.Is(err, trust.ErrNotIndexed) || node.asked.Load() != 0 {
		t.Errorf("a stranger's address: %v, and the node was asked %d times", err, node.asked.Load())
	}
	if _, err := c.Check(t.Context(), nowhere); !errors.Is(err, trust.ErrNoCode) {
		t.Errorf("an address without code: %v", err)
	}
}

func TestOneFlightAndKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token, pool := w.listed(t, "Clean")
	cfg := w.config()
	now := time.Now()
	node := &countingNode{Node: w.source(t, cfg), wait: make(chan struct{})}
	c, x := w.checkerOf(t, cfg, node, trust.Options{Now: func() time.Time { return now }}, w.known(t, token, pool))

	gone, leave := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() {
		if _, err := c.Check(gone, token); !errors.Is(err, context.Canceled) {
			t.Errorf("whoever left got %v", err)
		}
	})
	for node.asked.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	for range 5 {
		all.Go(func() {
			if _, err := c.Check(t.Context(), token); err != nil {
				t.Error(err)
			}
		})
	}
	leave()
	close(node.wait)
	all.Wait()
	if x.asked != 1 {
		t.Errorf("%d checks for six callers", x.asked)
	}
	now = now.Add(59 * time.Second)
	first, err := c.Check(t.Context(), token)
	if err != nil || x.asked != 1 {
		t.Errorf("after 59 s: %d checks, %v", x.asked, err)
	}
	now = now.Add(2 * time.Second)
	second, err := c.Check(t.Context(), token)
	if err != nil || x.asked != 2 || first == second {
		t.Errorf("after 61 s: %d checks, %v", x.asked, err)
	}
}

func TestCaps(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var tokens []market.Address
	var known []trust.Known
	for range 3 {
		token, pool := w.listed(t, "Clean")
		tokens, known = append(tokens, token), append(known, w.known(t, token, pool))
	}
	cfg := w.config()
	node := &countingNode{Node: w.source(t, cfg), wait: make(chan struct{})}
	c, _ := w.checkerOf(t, cfg, node, trust.Options{AtOnce: 1}, known...)
	done := make(chan error, 1)
	go func() {
		_, err := c.Check(t.Context(), tokens[0])
		done <- err
	}()
	for node.asked.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	if _, err := c.Check(t.Context(), tokens[1]); !errors.Is(err, trust.ErrBusy) {
		t.Errorf("a second at once: %v", err)
	}
	close(node.wait)
	if err := <-done; err != nil {
		t.Error(err)
	}

	now := time.Now()
	c, _ = w.checkerOf(t, cfg, w.source(t, cfg), trust.Options{AtOnce: 1, PerSecond: 1, Now: func() time.Time { return now }}, known...)
	if _, err := c.Check(t.Context(), tokens[0]); err != nil {
		t.Error(err)
	}
	if _, err := c.Check(t.Context(), tokens[1]); !errors.Is(err, trust.ErrBusy) {
		t.Errorf("a second within the second: %v", err)
	}
	now = now.Add(time.Second)
	if _, err := c.Check(t.Context(), tokens[1]); err != nil {
		t.Errorf("a second later: %v", err)
	}

	node = &countingNode{Node: w.source(t, cfg), wait: make(chan struct{})}
	c, _ = w.checkerOf(t, cfg, node, trust.Options{Deadline: 10 * time.Millisecond}, known...)
	r, err := c.Check(t.Context(), tokens[2])
	if err != nil || r.Find(report.HoneypotSell).UnknownReason != report.CallFailed {
		t.Errorf("a node that doesn't answer in time: %v", err)
	}
}

func TestHandler(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token, pool := w.listed(t, "Clean")
	nowhere := address(t, "0x00000000000000000000000000000000000000ee")
	cfg := w.config()
	c, x := w.checkerOf(t, cfg, w.source(t, cfg), trust.Options{AtOnce: 1, PerSecond: 1e6}, w.known(t, token, pool), w.known(t, nowhere))
	s := httptest.NewServer(c.Handler())
	t.Cleanup(s.Close)
	get := func(path string) (int, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil || (res.Header.Get("Content-Type") != "application/json" && path != "/trust/") {
			t.Errorf("%s: %v, %v", path, res.Header, err)
		}
		return res.StatusCode, string(body)
	}
	status, body := get("/trust/" + token.String())
	var r report.Report
	if err := json.Unmarshal([]byte(body), &r); status != http.StatusOK || err != nil || r.Mint != token.String() || r.Verdict() != report.OK {
		t.Errorf("%d %s, %v", status, body, err)
	}
	if status, _ := get("/trust/" + strings.ToUpper(token.String()[2:])); status != http.StatusBadRequest {
		t.Errorf("no address: %d", status)
	}
	if status, body := get("/trust/" + w.Deployer); status != http.StatusNotFound || !strings.Contains(body, "not_indexed") {
		t.Errorf("not indexed: %d %s", status, body)
	}
	if status, body := get("/trust/" + nowhere.String()); status != http.StatusNotFound || !strings.Contains(body, "no_code") {
		t.Errorf("no code: %d %s", status, body)
	}
	x.err = errors.New("the database at db.example is gone")
	if status, body := get("/trust/" + w.Spare[0]); status != http.StatusServiceUnavailable || !strings.Contains(body, `"unavailable"`) {
		t.Errorf("no index: %d %s", status, body)
	}
}

// TestIndexChecks are those that a node has no part in, or a small one.
func TestIndexChecks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token, pool := w.listed(t, "Clean")
	wrapped, creator := address(t, w.Wrapped), address(t, w.Spare[1])
	w.send(t, map[string]string{"to": token.String(), "data": calldata("transfer(address,uint256)", probe.Address(creator), tokens(60_000_000))})
	amount := func(whole uint64) market.Amount { return *new(market.Amount).SetBytes(tokens(whole)) }
	holder := func(n byte, whole uint64) trust.Holding {
		return trust.Holding{Account: market.EVMAddress([32]byte{12: 0x77, 31: n}), Amount: amount(whole)}
	}
	cfg := w.config()
	cfg.Retention.Trades = chainconfig.Duration(time.Hour)
	c := func(change func(k *trust.Known)) *report.Report {
		t.Helper()
		k := w.known(t, token, pool)
		k.Launch = &market.Launch{
			Mint: token, Venue: "ours", Creator: creator, State: market.LaunchGraduated, Pool: pool.ID, Block: 3, CreatedAt: k.Block.Time - 7200,
		}
		change(&k)
		checker, _ := w.checkerOf(t, cfg, w.source(t, cfg), trust.Options{}, k)
		r, err := checker.Check(t.Context(), token)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	is := func(r *report.Report, id string, result report.Result, severity report.Severity, value any) {
		t.Helper()
		if got := r.Find(id); got.Result != result || got.Severity != severity || got.Value != value {
			t.Errorf("%s is %s of severity %s with %v, want %s, %s, %v", id, got.Result, got.Severity, got.Value, result, severity, value)
		}
	}
	r := c(func(k *trust.Known) {
		// The pool, the burned and the venue's don't count, and of the others ten.
		k.Holders = []trust.Holding{
			{Account: pool.ID, Amount: amount(300_000_000)},
			{Account: burned, Amount: amount(200_000_000)},
			{Account: address(t, cfg.Venues[0].Contracts[0].String()), Amount: amount(100_000_000)},
		}
		for n := range byte(11) {
			k.Holders = append(k.Holders, holder(n, 2_000_000))
		}
	})
	is(r, report.Top10Share, report.Pass, report.High, 2.0)
	is(r, report.CreatorHolding, report.Fail, report.Medium, 6.0)
	is(r, report.CreatorHistory, report.Pass, report.High, 0.0)
	is(r, report.BundleShare, report.Pass, report.Medium, 0.0)

	r = c(func(k *trust.Known) {
		k.Holders = []trust.Holding{holder(1, 400_000_000), holder(2, 200_000_000)}
		k.CreatorLaunches, k.CreatorGraduated = 30, 1
		k.FirstTrades = []market.Trade{
			{Block: 3, Trader: holder(1, 0).Account, BaseAmount: amount(150_000_000)},
			{Block: 3, Trader: holder(2, 0).Account, BaseAmount: amount(100_000_000)},
			{Block: 3, Trader: holder(2, 0).Account, BaseAmount: amount(100_000_000), Sell: true},
			{Block: 3, Trader: creator, BaseAmount: amount(500_000_000)},
			{Block: 4, Trader: holder(3, 0).Account, BaseAmount: amount(500_000_000)},
		}
		k.Pools[0].Locked, k.Pools[0].Depth, k.Pools[0].CreatedAt = 0.2, 0.001, k.Block.Time-60
		k.Launch.CreatedAt = k.Block.Time - 90
	})
	is(r, report.Top10Share, report.Fail, report.Medium, 60.0)
	is(r, report.CreatorHistory, report.Fail, report.High, 30.0)
	is(r, report.BundleShare, report.Fail, report.Medium, 25.0)
	is(r, report.LiquidityDepth, report.Fail, report.High, 600.0)
	is(r, report.PairAge, report.Warn, report.Medium, 90.0)

	// The index knows the liquidity of one pool within a window of ticks alone, and nothing of the liquidity of another one, whose ticks it doesn't know.
	r = c(func(k *trust.Known) { k.Pools[0].Window = market.TickWindow{Lower: -1000, Upper: 1000} })
	if got := r.Find(report.LiquidityDepth); got.Result != report.Pass || !strings.HasPrefix(got.Evidence[0].Detail, "it holds at least ") {
		t.Errorf("%+v", got)
	}
	for _, change := range []func(*market.Pool){
		func(p *market.Pool) { p.Locked, p.Window = 0.2, market.TickWindow{Lower: -1000, Upper: 1000} },
		func(p *market.Pool) { p.Locked, p.Untrusted = 0, market.UntrustedTicks },
	} {
		r = c(func(k *trust.Known) { change(&k.Pools[0]) })
		if got := r.Find(report.LiquidityDepth); got.Result != report.Unknown || got.UnknownReason != report.NotIndexed {
			t.Errorf("%+v", got)
		}
	}

	r = c(func(k *trust.Known) {
		k.Holders = []trust.Holding{holder(1, 800_000_000)}
		k.Launch.State, k.Launch.Venue = market.LaunchLive, "clanker"
		k.CreatorLaunches = 999
	})
	is(r, report.Top10Share, report.Fail, report.High, 80.0)
	is(r, report.CreatorHistory, report.Pass, report.High, 999.0)
	is(r, report.LPBurnedLocked, report.Pass, report.High, nil)

	r = c(func(k *trust.Known) {
		k.Token.Holders.Status, k.HasFirstTrades, k.First = market.HoldersIndexing, false, nil
		k.Pools[0].CreatedAt, k.Launch = 0, nil
		k.USD = map[market.Address]float64{wrapped: 0}
	})
	for _, id := range []string{report.Top10Share, report.BundleShare, report.SupplyChange, report.PairAge, report.LiquidityDepth, report.CreatorHolding, report.CreatorHistory} {
		if got := r.Find(id); got.Result != report.Unknown || got.UnknownReason != report.NotIndexed {
			t.Errorf("%+v", got)
		}
	}
	if got := r.WithCallersAge(time.Now().Add(-time.Hour*48), time.Now()).Find(report.PairAge); got.Result != report.Pass || got.Source != "caller" {
		t.Errorf("%+v", got)
	}
	// Without a price of anything, the trades are parts of what the pool has.
	is(r, report.HoneypotSell, report.Pass, report.Critical, false)
}
