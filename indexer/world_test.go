package indexer_test

import (
	"context"
	"io"
	"log/slog"
	"math/big"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/desk"
	"github.com/boardwalkhq/boardwalk/hack/simnet/history"
	"github.com/boardwalkhq/boardwalk/hack/simnet/launch"
	"github.com/boardwalkhq/boardwalk/hack/simnet/traffic"
	"github.com/boardwalkhq/boardwalk/hack/simnet/venues"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
	"github.com/boardwalkhq/boardwalk/indexer"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// testWorld is a fresh chain with contracts, a trader and some history.
type testWorld struct {
	*world.World
	node   *anvil.Node
	trader *traffic.Trader
	truths []traffic.Truth
	// desk, if set, launches tokens while the trader trades.
	desk *desk.Desk
	// hasMembers says that traders are members.
	hasMembers bool
}

func TestMain(m *testing.M) {
	if os.Getenv(childConfig) != "" {
		child()
		return
	}
	storetest.Main(m)
}

// newWorld has launch venues besides where some are named.
func newWorld(t *testing.T, blocks int, protocols ...venues.Protocol) *testWorld {
	t.Helper()
	return newWorldOn(t, 0, blocks, protocols...)
}

// newWorldOn has a node that keeps as many states, 0 for all.
func newWorldOn(t *testing.T, states, blocks int, protocols ...venues.Protocol) *testWorld {
	t.Helper()
	ctx := t.Context()
	const span = 27 * time.Hour
	node, err := anvil.StartNode(ctx, anvil.NodeOptions{ChainID: 31337, Timestamp: history.GenesisFor(span), KeepStates: states})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = node.Close() })
	w, err := launch.Deploy(ctx, node, world.DeployOptions{Seed: 1}, protocols...)
	if err != nil {
		t.Fatal(err)
	}
	out := &testWorld{World: w, node: node, trader: traffic.NewTrader(w, 1)}
	err = history.Mine(ctx, w, out.trader, history.Options{
		Span: span, Blocks: blocks, BlockTime: 2 * time.Second, TxPerBlock: 4, Seed: 1,
		OnBlock: func(_ float64, truths []traffic.Truth) { out.truths = append(out.truths, truths...) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// trade mines n blocks of trades, two seconds apart.
func (w *testWorld) trade(t *testing.T, n int) {
	t.Helper()
	for range n {
		if w.desk != nil {
			latest, err := w.node.Latest(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.desk.Step(t.Context(), latest.Timestamp.Add(2*time.Second)); err != nil {
				t.Fatal(err)
			}
		}
		truths, err := w.trader.Step(t.Context(), 4)
		if err != nil {
			t.Fatal(err)
		}
		w.truths = append(w.truths, truths...)
		if err := w.node.Mine(t.Context(), 1, 2*time.Second); err != nil {
			t.Fatal(err)
		}
	}
}

func (w *testWorld) config() *chainconfig.Chain {
	c := &chainconfig.Chain{
		ID: "base", Family: chainconfig.EVM, EVMChainID: w.ChainID, MinTradeUSD: 2,
		BlockTime: chainconfig.Duration(200 * time.Millisecond),
		Native:    chainconfig.Native{Symbol: "ETH", Wrapped: markettest.Address(w.Wrapped)},
		Quotes: []chainconfig.Quote{
			{Symbol: "USDC", Address: markettest.Address(w.StableUSDC6), PegUSD: 1, PegBoundPct: 5},
			{Symbol: "USDT", Address: markettest.Address(w.StableUSD18), PegUSD: 1, PegBoundPct: 5},
			{Symbol: "WETH", Address: markettest.Address(w.Wrapped)},
		},
		Majors:      []chainconfig.Major{{Asset: "ETH", Address: markettest.Address(w.Wrapped)}},
		Endpoints:   []chainconfig.Endpoint{{URL: w.node.URL(), Weight: 1}},
		Tracking:    chainconfig.Tracking{Holders: chainconfig.HoldersAll},
		ReorgBlocks: 32, FinalityDepth: 32,
	}
	if w.Routers.Platform != "" {
		c.PlatformFee = &chainconfig.PlatformFee{Recipients: markettest.Addresses(world.FeeRecipient), Routers: markettest.Addresses(w.Routers.Platform), Bps: 80}
	}
	for _, x := range w.Exchanges() {
		c.Exchanges = append(c.Exchanges, chainconfig.Exchange{
			Name: x.Name, Protocol: market.Protocol(x.Protocol), Factory: markettest.Address(x.Factory),
		})
	}
	for _, v := range w.Venues {
		c.Venues = append(c.Venues, chainconfig.Venue{ID: v.ID, Protocol: chainconfig.VenueProtocol(v.Protocol), Contracts: markettest.Addresses(v.Contracts...)})
	}
	return c
}

func logger(t *testing.T) *slog.Logger {
	t.Helper()
	w := io.Discard
	if os.Getenv("BOARDWALK_TEST_LOGS") != "" {
		w = os.Stderr
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// run starts an indexer; stop ends it and waits.
func run(t *testing.T, cfg *chainconfig.Chain, st *store.Store, cachedRows int) (stop func()) {
	t.Helper()
	return runWith(t, cfg, st, indexer.Options{CachedRows: cachedRows})
}

// runWith is run with options of a test's own.
func runWith(t *testing.T, cfg *chainconfig.Chain, st *store.Store, o indexer.Options) (stop func()) {
	t.Helper()
	o.Log, o.Now, o.Holder = logger(t), time.Now, t.Name()
	ix, err := indexer.New(cfg, st, o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- ix.Run(ctx) }()
	stop = func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	return stop
}

// await waits until the store has indexed the node's head.
func (w *testWorld) await(t *testing.T, st *store.Store) {
	t.Helper()
	var head struct{ Number, Hash string }
	deadline := time.Now().Add(90 * time.Second)
	var last store.ChainStatus
	for time.Now().Before(deadline) {
		if err := w.node.Call(t.Context(), &head, "eth_getBlockByNumber", "latest", false); err != nil {
			t.Fatal(err)
		}
		s, ok, err := st.Chain(t.Context(), "base")
		if err != nil {
			t.Fatal(err)
		}
		if last = s; ok && s.Last.Hash.String() == head.Hash {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("the index did not reach the head %s %s: it is at %+v", head.Number, head.Hash, last)
}

// ethCall asks a contract at a block.
func (w *testWorld) ethCall(t *testing.T, to, data string, block uint64) []byte {
	t.Helper()
	var out string
	err := w.node.Call(t.Context(), &out, "eth_call", map[string]string{"to": to, "data": data}, "0x"+big.NewInt(int64(block)).Text(16))
	if err != nil {
		t.Fatalf("eth_call %s %s at %d: %v", to, data, block, err)
	}
	b, ok := new(big.Int).SetString(strings.TrimPrefix(out, "0x"), 16)
	if !ok {
		return nil
	}
	raw := make([]byte, (len(out)-2)/2)
	return b.FillBytes(raw)
}
