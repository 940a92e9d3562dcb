package traffic_test

import (
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/simnettest"
	"github.com/boardwalkhq/boardwalk/hack/simnet/traffic"
)

func TestTraderTellsTheTruth(t *testing.T) {
	t.Parallel()
	world := simnettest.World(t, 8453, 1)
	trader := traffic.NewTrader(world, 1)
	trader.UsePlatform()
	seen := make(map[traffic.Kind]int)
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
			simnettest.CheckTruth(t, world, truth, receipts[i])
		}
	}
	for _, kind := range []traffic.Kind{
		traffic.SwapV2, traffic.SwapV2Path, traffic.SwapV2Taxed, traffic.SwapV3, traffic.SwapV3Path, traffic.SwapV4,
		traffic.SwapPancake, traffic.SwapSplit, traffic.SwapBundled, traffic.SwapPlatform, traffic.Transfer, traffic.Wrap, traffic.Unwrap,
		traffic.AddV2, traffic.RemoveV2, traffic.AddV3, traffic.RemoveV3, traffic.AddV4, traffic.RemoveV4,
		traffic.Rebase,
	} {
		if seen[kind] == 0 {
			t.Errorf("no %q in %v", kind, seen)
		}
	}
}

func TestTradingGoesOnAfterReorg(t *testing.T) {
	t.Parallel()
	world := simnettest.World(t, 8453, 3)
	trader := traffic.NewTrader(world, 3)
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
	world := simnettest.World(t, 8453, 4)
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
	trader := traffic.NewTrader(world, 4)
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

func TestBench(t *testing.T) {
	t.Parallel()
	var heads []string
	for range 2 {
		node, err := anvil.StartNode(t.Context(), traffic.BenchNode())
		if err != nil {
			t.Fatal(err)
		}
		defer node.Close()
		world, err := traffic.Bench(t.Context(), node, traffic.BenchOptions{Blocks: 20, Txs: 500, Seed: 1})
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
