package simnet

import (
	"context"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
)

// startWorld starts a chain of a test's own, at a fixed time, and deploys to it.
func startWorld(t *testing.T, chainID, seed uint64) *World {
	t.Helper()
	node, err := anvil.StartNode(t.Context(), anvil.NodeOptions{ChainID: chainID, Timestamp: time.Unix(1760000000, 0)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { node.Close() })
	world, err := Deploy(t.Context(), node, DeployOptions{Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	return world
}

func TestTraderTellsTheTruth(t *testing.T) {
	t.Parallel()
	world := startWorld(t, 8453, 1)
	trader := NewTrader(world, 1)
	seen := make(map[Kind]int)
	for range 40 {
		truths, err := trader.Step(t.Context(), 30)
		if err != nil {
			t.Fatal(err)
		}
		if err := world.Node.MineNext(t.Context()); err != nil {
			t.Fatal(err)
		}
		hashes := make([]string, len(truths))
		for i, truth := range truths {
			hashes[i] = truth.TxHash
		}
		receipts, err := world.Node.Receipts(t.Context(), hashes)
		if err != nil {
			t.Fatal(err)
		}
		for i, truth := range truths {
			seen[truth.Kind]++
			if !receipts[i].Succeeded() {
				t.Errorf("reverted: %+v", truth)
				continue
			}
			checkTruth(t, world, truth, receipts[i])
		}
	}
	for _, kind := range []Kind{SwapV2, SwapV2Path, SwapV2Taxed, SwapV3, SwapV3Path, SwapV4, SwapPancake, SwapSplit, SwapBundled, Transfer, Wrap, Unwrap, AddV2, RemoveV2, AddV3, RemoveV3, AddV4, RemoveV4, Rebase} {
		if seen[kind] == 0 {
			t.Errorf("no %q in %v", kind, seen)
		}
	}
}

// checkTruth compares what the receipt's Transfers moved with what the trader is said to have done.
func checkTruth(t *testing.T, world *World, truth Truth, receipt anvil.Receipt) {
	t.Helper()
	if receipt.From != truth.Sender {
		t.Errorf("%s: sent by %s, truth says %s", truth.Kind, receipt.From, truth.Sender)
	}
	net := make(map[string]*big.Int) // of the trader, by token
	for _, log := range receipt.Logs {
		if log.Topics[0] != transferTopic || len(log.Topics) != 3 {
			continue
		}
		if net[log.Address] == nil {
			net[log.Address] = new(big.Int)
		}
		value := new(big.Int).SetBytes(anvil.FromHex(log.Data))
		if anvil.AddressAt(anvil.FromHex(log.Topics[1]), 0) == truth.Trader {
			net[log.Address].Sub(net[log.Address], value)
		}
		if anvil.AddressAt(anvil.FromHex(log.Topics[2]), 0) == truth.Trader {
			net[log.Address].Add(net[log.Address], value)
		}
	}
	sign := func(token string) int {
		if net[token] == nil {
			return 0
		}
		return net[token].Sign()
	}
	swap := strings.Contains(string(truth.Kind), "swap")
	for _, pool := range truth.Pools {
		if truth.Kind != Rebase && !slices.ContainsFunc(receipt.Logs, func(log anvil.Log) bool {
			return log.Address == pool || log.Address == world.UniswapV4PoolManager && len(log.Topics) > 1 && log.Topics[1] == pool
		}) {
			t.Errorf("%s: no event of pool %s: %+v", truth.Kind, pool, truth)
		}
	}
	if (swap && !truth.NativeIn || truth.Kind == Transfer) && sign(truth.TokenIn) >= 0 {
		t.Errorf("%s: trader gave no %s: %+v", truth.Kind, truth.TokenIn, truth)
	}
	if swap && !truth.NativeIn && truth.Kind != SwapV2Taxed && new(big.Int).Add(net[truth.TokenIn], truth.AmountIn).Sign() != 0 {
		t.Errorf("%s: trader gave %s, truth says %s: %+v", truth.Kind, net[truth.TokenIn], truth.AmountIn, truth)
	}
	if swap && !truth.NativeOut && sign(truth.TokenOut) <= 0 {
		t.Errorf("%s: trader got no %s: %+v", truth.Kind, truth.TokenOut, truth)
	}
}

// Topics of the events that tests look for.
const (
	transferTopic = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
	syncTopic     = "0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1"
	v3SwapTopic   = "0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67"
)

func TestSameSeedSameBlocks(t *testing.T) {
	t.Parallel()
	var heads []string
	for range 2 {
		world := startWorld(t, 56, 7)
		trader := NewTrader(world, 7)
		err := world.History(t.Context(), trader, HistoryOptions{Blocks: 40, Span: time.Hour, End: time.Unix(1760003600, 0)})
		if err != nil {
			t.Fatal(err)
		}
		latest, err := world.Node.Latest(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if age := time.Unix(1760003600, 0).Sub(latest.Timestamp); age != 0 {
			t.Errorf("history ends %s early", age)
		}
		heads = append(heads, latest.Hash)
	}
	if heads[0] != heads[1] {
		t.Errorf("head %s, then %s", heads[0], heads[1])
	}
}

func TestTradingGoesOnAfterReorg(t *testing.T) {
	t.Parallel()
	world := startWorld(t, 8453, 3)
	trader := NewTrader(world, 3)
	step := func() {
		t.Helper()
		if _, err := trader.Step(t.Context(), 10); err != nil {
			t.Fatal(err)
		}
		if err := world.Node.MineNext(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for range 5 {
		step()
	}
	before, err := world.Node.Latest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := world.Node.Reorg(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	after, err := world.Node.Latest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if after.Number != before.Number || after.Hash == before.Hash {
		t.Errorf("reorg turned block %d %s into %d %s", before.Number, before.Hash, after.Number, after.Hash)
	}
	step()
	if err := world.Node.Rollback(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	rolled, err := world.Node.Latest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if rolled.Number != after.Number-1 {
		t.Errorf("rolled back from %d to %d", after.Number+1, rolled.Number)
	}
	step()
}

func TestDumpedStateLoads(t *testing.T) {
	t.Parallel()
	world := startWorld(t, 8453, 4)
	before, err := world.Node.Latest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "state.json")
	if err := world.Node.DumpState(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	node, err := anvil.StartNode(t.Context(), anvil.NodeOptions{ChainID: 8453, Timestamp: time.Unix(1760000000, 0), LoadState: file})
	if err != nil {
		t.Fatal(err)
	}
	defer node.Close()
	after, err := node.Latest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if after != before {
		t.Errorf("dumped at %v, loaded at %v", before, after)
	}
	was, err := world.Node.Census(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	is, err := node.Census(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(was, is) {
		t.Errorf("dumped %+v, loaded %+v", was, is)
	}
	// The chain goes on where it was.
	world.Node = node
	trader := NewTrader(world, 4)
	for range 3 {
		if _, err := trader.Step(t.Context(), 10); err != nil {
			t.Fatal(err)
		}
		if err := world.Node.MineNext(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := node.Reorg(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
}

func TestManifest(t *testing.T) {
	t.Parallel()
	world := startWorld(t, 56, 5)
	path, err := world.WriteManifest(t.TempDir(), ManifestOptions{ID: "bsc", Label: "BNB Chain", BlockTime: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"metadata: {name: bsc}",
		`  label: "BNB Chain"`,
		"  chainID: 56",
		"  blockTime: 1s",
		`  nativeAsset: {symbol: BNB, wrapped: "` + world.Wrapped + `"}`,
		`  - {symbol: WBNB, address: "` + world.Wrapped + `"}`,
		`  - {name: uniswap-v2, protocol: UniswapV2, factory: "` + world.UniswapV2Factory + `"}`,
		`  - {name: uniswap-v4, protocol: UniswapV4, factory: "` + world.UniswapV4PoolManager + `"}`,
		`  - {name: pancakeswap-v3, protocol: PancakeSwapV3, factory: "` + world.PancakeSwapV3Factory + `"}`,
		`  rpc: {endpoints: [{url: "` + world.Node.URL() + `"}]}`,
	} {
		if !strings.Contains(string(content), line+"\n") {
			t.Errorf("no line %q in\n%s", line, content)
		}
	}
}

func TestLaunchesWhileLive(t *testing.T) {
	t.Parallel()
	world := startWorld(t, 56, 8)
	tokens, pools := len(world.Tokens), len(world.Pools)
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	launched := make(map[Protocol]bool)
	err := world.Live(ctx, NewTrader(world, 8), LiveOptions{
		BlockTime: time.Second, TxPerBlock: 5, Seed: 8, LaunchEvery: time.Second,
		OnLaunch: func(_ Token, pool Pool) {
			launched[pool.Protocol] = true
			if state := poolNow(t, world, pool); state.empty() {
				t.Errorf("empty: %+v", pool)
			}
			if len(launched) == 2 {
				// Traders must get along with a token that was never there.
				if err := world.Node.Reorg(t.Context(), 1); err != nil {
					t.Error(err)
				}
			}
			if len(launched) == 4 {
				stop()
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(launched) != 4 || len(world.Tokens) < tokens+4 || len(world.Pools) < pools+4 {
		t.Errorf("launched on %v, %d tokens, %d pools", launched, len(world.Tokens), len(world.Pools))
	}
}

func TestBench(t *testing.T) {
	t.Parallel()
	var heads []string
	for range 2 {
		node, err := anvil.StartNode(t.Context(), BenchNode())
		if err != nil {
			t.Fatal(err)
		}
		defer node.Close()
		world, err := Bench(t.Context(), node, BenchOptions{Blocks: 20, Txs: 500, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		latest, err := node.Latest(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		heads = append(heads, latest.Hash)
		census, err := node.Census(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		swaps := census.ByEvent["V2 Swap"] + census.ByEvent["V3 Swap"]
		if census.Reverted != 0 || swaps < 200 || swaps > 300 || census.ByEvent["other"] > 100 {
			t.Errorf("unexpected census: %+v", census)
		}
		if exchanges := world.Exchanges(); len(exchanges) != 2 {
			t.Errorf("exchanges: %v", exchanges)
		}
	}
	if heads[0] != heads[1] {
		t.Errorf("head %s, then %s", heads[0], heads[1])
	}
}
