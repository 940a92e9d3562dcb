package traffic

import (
	"context"
	"fmt"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
)

// BenchOptions say how big a chain Bench makes. Zero values take the defaults named here.
type BenchOptions struct {
	// Blocks and Txs are mined after deployment. Defaults 2000 and 104000.
	Blocks, Txs int
	Seed        uint64
	// OnBlock, if set, hears after each block how much is done, in [0, 1].
	OnBlock func(done float64)
}

// benchHabits make a chain mostly of swaps and transfers.
var benchHabits = []habit{
	{35, func(t *Trader) *intent { return t.intendSwapOn(world.UniswapV2) }},
	{14, func(t *Trader) *intent { return t.intendSwapOn(world.UniswapV3) }},
	{51, (*Trader).intendTransfer},
}

// benchOutsiders gives the chain some tens of thousands of balances.
const benchOutsiders = 2500

// Bench fills a fresh chain, which NodeOptions of BenchNode should have started: Uniswap V2 and V3
// only, and the same options make the same blocks.
func Bench(ctx context.Context, node *anvil.Node, o BenchOptions) (*world.World, error) {
	if o.Blocks == 0 {
		o.Blocks = 2000
	}
	if o.Txs == 0 {
		o.Txs = 104_000
	}
	w, err := world.Deploy(ctx, node, world.DeployOptions{Seed: o.Seed, Classic: true})
	if err != nil {
		return nil, err
	}
	trader := NewTrader(w, o.Seed)
	trader.habits, trader.outsiders, trader.coins = benchHabits, benchOutsiders, 0.2
	latest, err := node.Latest(ctx)
	if err != nil {
		return nil, err
	}
	at, sent := latest.Timestamp, 0
	for block := 1; block <= o.Blocks; block++ {
		// Somebody may lack what he wanted to give, so that a transaction is left for later.
		for due := o.Txs * block / o.Blocks; sent < due; {
			truths, err := trader.Step(ctx, due-sent)
			if err != nil {
				return nil, fmt.Errorf("bench: %w", err)
			}
			sent += len(truths)
			if block < o.Blocks {
				break
			}
		}
		at = at.Add(benchBlockTime)
		if err := node.MineAt(ctx, at); err != nil {
			return nil, err
		}
		if o.OnBlock != nil {
			o.OnBlock(float64(block) / float64(o.Blocks))
		}
	}
	return w, nil
}

const benchBlockTime = 2 * time.Second

// BenchNode is how a node for Bench starts.
func BenchNode() anvil.NodeOptions {
	return anvil.NodeOptions{ChainID: 8453, Timestamp: time.Unix(1_760_000_000, 0), KeepStates: 100}
}
