package indexer_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer"
	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// wordOf is an answer of one word, whose last byte is given.
func wordOf(last byte) json.RawMessage {
	const digits = "0123456789abcdef"
	return json.RawMessage(`"0x` + strings.Repeat("0", 62) + string([]byte{digits[last>>4], digits[last&15]}) + `"`)
}

// decimalsForger stands before a node and says that tokens have 3 decimals, while it is armed: of every token, or of one.
func (w *testWorld) decimalsForger(t *testing.T, one string) (armed *atomic.Bool, lies *atomic.Int64, url string) {
	t.Helper()
	armed, lies = new(atomic.Bool), new(atomic.Int64)
	armed.Store(true)
	return armed, lies, w.relay(t, func(method string, params []json.RawMessage, result json.RawMessage) json.RawMessage {
		if !armed.Load() || !callOf(method, params, selector("decimals()")) || !callOf(method, params, one) {
			return result
		}
		lies.Add(1)
		return wordOf(3)
	})
}

// TestOneForgerOfDecimalsOfThree indexes tokens through a node that tells wrong decimals, beside two honest ones: as the past and as blocks
// at the head.
func TestOneForgerOfDecimalsOfThree(t *testing.T) {
	t.Parallel()
	for name, reorgBlocks := range map[string]uint64{"of the past": 8, "at the head": 400} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 30)
			_, lies, url := w.decimalsForger(t, "")
			cfg := w.config()
			cfg.ReorgBlocks = reorgBlocks
			honest := *cfg
			cfg.Endpoints = []chainconfig.Endpoint{{URL: url, Weight: 50}, {URL: w.node.URL(), Weight: 1}, {URL: w.node.URL(), Weight: 1}}
			st := storetest.Open(t, "sqlite")
			_, stop := startImpatient(t, cfg, st)
			w.await(t, st)
			stop()
			if lies.Load() == 0 {
				t.Error("nothing was forged: the test shows nothing")
			}
			w.compare(t, st, &honest)
		})
	}
}

// TestOneForgerOfAnOldPoolOfThree begins to index after the pools were made, through a node that names another token of a pair and has the
// factory confirm it, beside two honest ones.
func TestOneForgerOfAnOldPoolOfThree(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 70) // the start is beyond the reach of reorgs, and the same for both indexes
	honest := w.config()
	honest.Start.Block = 20
	fresh := storetest.Open(t, "sqlite")
	stop := run(t, honest, fresh, 0)
	w.await(t, fresh)
	stop()
	facts, err := fresh.Facts.Between(t.Context(), "base", 0, 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	wrapped, another := mustAddress(t, w.Wrapped), mustAddress(t, w.StableUSDC6)
	at := slices.IndexFunc(facts, func(f store.StoredFact) bool {
		p, ok := f.Fact.(market.PoolFact)
		return ok && p.Known && p.Info.Protocol == market.UniswapV2 && (p.Info.Token0 == wrapped || p.Info.Token1 == wrapped)
	})
	if at < 0 {
		t.Fatal("no pair with the wrapped coin is older than the index")
	}
	victim, _ := facts[at].Fact.(market.PoolFact)
	var lies atomic.Int64
	url := w.relay(t, func(method string, params []json.RawMessage, result json.RawMessage) json.RawMessage {
		addressOf := func(a market.Address) json.RawMessage {
			return json.RawMessage(`"0x` + strings.Repeat("0", 24) + strings.TrimPrefix(a.String(), "0x") + `"`)
		}
		switch {
		case callOf(method, params, victim.Pool.String()) && callOf(method, params, selector("token0()"), selector("token1()")) &&
			string(result) == string(addressOf(wrapped)):
			lies.Add(1)
			return addressOf(another)
		case callOf(method, params, selector("getPair(address,address)")) && callOf(method, params, another.String()[2:]):
			return addressOf(victim.Pool)
		}
		return result
	})
	cfg := *honest
	cfg.Endpoints = []chainconfig.Endpoint{{URL: url, Weight: 50}, {URL: w.node.URL(), Weight: 1}, {URL: w.node.URL(), Weight: 1}}
	st := storetest.Open(t, "sqlite")
	_, stop = startImpatient(t, &cfg, st)
	w.await(t, st)
	stop()
	if lies.Load() == 0 {
		t.Error("nothing was forged: the test shows nothing")
	}
	w.compareTables(t, derivedRows(t, st), derivedRows(t, fresh), "pools", "trades", "candles") // holders are counted beside the index
}

// startAt is startImpatient by a clock.
func startAt(t *testing.T, c *clock, cfg *chainconfig.Chain, st *store.Store) (ix *indexer.Indexer, stop func()) {
	t.Helper()
	return startVouching(t, c, cfg, st, patientVouch)
}

// startVouching is startAt with a time for endpoints to vouch; 0 is the default.
func startVouching(t *testing.T, c *clock, cfg *chainconfig.Chain, st *store.Store, vouch time.Duration) (ix *indexer.Indexer, stop func()) {
	t.Helper()
	ix, err := indexer.New(cfg, st, indexer.Options{
		Log: logger(t), Now: c.now, Holder: t.Name(), RereadPause: 2 * time.Millisecond, VouchTime: vouch,
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

// unsureFacts is how many facts no two endpoints gave.
func unsureFacts(t *testing.T, st *store.Store) int {
	t.Helper()
	facts, err := st.Facts.Unsure(t.Context(), "base", 10_000)
	if err != nil {
		t.Fatal(err)
	}
	return len(facts)
}

// untilSure makes blocks, one for each pause after which unsure facts are asked for again, until none is left.
func (w *testWorld) untilSure(t *testing.T, c *clock, st *store.Store) {
	t.Helper()
	for n := 0; unsureFacts(t, st) > 0; n++ {
		if n == 60 {
			t.Fatalf("%d facts are unsure after 60 pauses", unsureFacts(t, st))
		}
		c.ahead.Add(int64(11 * time.Second))
		w.trade(t, 1)
		w.await(t, st)
	}
	w.trade(t, 1)
	w.await(t, st)
}

// TestTwoThatDifferAboutFacts indexes tokens through a node that tells wrong decimals and an honest one: nobody can tell who is right, and
// the chain goes on. Once the forger is honest, the facts are asked for again, after a restart as well: blocks within the undo horizon
// are taken back, and the decimals of tokens of before are corrected. A database that goes back to the false facts has them taken back once
// more.
func TestTwoThatDifferAboutFacts(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reorgBlocks    uint64
		restart, moved bool
	}{
		"within the undo horizon": {reorgBlocks: 400}, "after a restart": {reorgBlocks: 400, restart: true},
		"after the database went back": {reorgBlocks: 400, moved: true}, "beyond the undo horizon": {reorgBlocks: 8},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 30)
			one := ""
			if tt.moved { // a fact that is taken back with an older one is no fact that was taken back
				one = mustAddress(t, w.Wrapped).String()
			}
			armed, lies, url := w.decimalsForger(t, one)
			cfg := w.config()
			cfg.ReorgBlocks = tt.reorgBlocks
			honest := *cfg
			cfg.Endpoints = []chainconfig.Endpoint{{URL: url, Weight: 50}, {URL: w.node.URL(), Weight: 1}}
			dsn, c := storetest.DSN(t, "sqlite"), &clock{}
			st := storetest.OpenAt(t, dsn)
			ix, stop := startAt(t, c, cfg, st)
			w.await(t, st)
			if lies.Load() == 0 || unsureFacts(t, st) == 0 {
				t.Fatalf("%d lies, %d unsure facts: the test shows nothing", lies.Load(), unsureFacts(t, st))
			}
			if !slices.ContainsFunc(ix.State().SetAside, func(a chainconfig.SetAside) bool { return a.Reason == chain.EndpointsDiffer }) {
				t.Errorf("set aside is %+v, and no contract about which the endpoints differ", ix.State().SetAside)
			}
			restore := storetest.Snapshot(t, dsn)
			armed.Store(false)
			if tt.restart {
				stop()
				_, stop = startAt(t, c, cfg, st)
			}
			if tt.moved {
				w.untilSure(t, c, st)
				restore()
				w.trade(t, 1)
				w.await(t, st)
			}
			if tt.reorgBlocks > 30 {
				w.untilSure(t, c, st)
				stop()
				w.compare(t, st, &honest)
				return
			}
			w.trade(t, 40) // there is a block at which decimals are corrected
			w.untilSure(t, c, st)
			stop()
			for mint, tok := range tokens(t, st) {
				if want := w.ethCall(t, mint.String(), selector("decimals()"), 20); tok.HasDecimals && want[len(want)-1] != tok.Decimals {
					t.Errorf("%s has %d decimals, want %d", tok.Symbol, tok.Decimals, want[len(want)-1])
				}
			}
			w.replay(t, &honest, st)
		})
	}
}

// TestASilentSecondEndpointStopsNoBlock indexes tokens through an honest node beside one that never answers a call: what no second one
// vouches for is kept, and asked for again once it answers.
func TestASilentSecondEndpointStopsNoBlock(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 30)
	var isSilent atomic.Bool
	isSilent.Store(true)
	over := make(chan struct{})
	url := w.relay(t, func(method string, _ []json.RawMessage, result json.RawMessage) json.RawMessage {
		if method == "eth_call" && isSilent.Load() {
			select {
			case <-over:
			case <-t.Context().Done():
			}
		}
		return result
	})
	cfg := w.config()
	cfg.ReorgBlocks = 400
	honest := *cfg
	cfg.Endpoints = []chainconfig.Endpoint{{URL: w.node.URL(), Weight: 50}, {URL: url, Weight: 1}}
	st, c := storetest.Open(t, "sqlite"), &clock{}
	_, stop := startVouching(t, c, cfg, st, 0) // an endpoint that took too long isn't asked for nine times as long
	w.await(t, st)
	if unsureFacts(t, st) == 0 {
		t.Error("no fact is unsure: the test shows nothing")
	}
	isSilent.Store(false)
	close(over)
	w.untilSure(t, c, st)
	stop()
	if isRewound(t, st) {
		t.Error("blocks were taken back for facts that were right")
	}
	w.compare(t, st, &honest)
}
