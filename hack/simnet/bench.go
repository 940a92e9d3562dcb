package simnet

import (
	"context"
	"fmt"
	"time"
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
	{35, func(t *Trader) *intent { return t.intendSwapOn(UniswapV2) }},
	{14, func(t *Trader) *intent { return t.intendSwapOn(UniswapV3) }},
	{51, (*Trader).intendTransfer},
}

// benchOutsiders gives the chain some tens of thousands of balances.
const benchOutsiders = 2500

// Bench fills a fresh chain, which NodeOptions of BenchNode should have started: Uniswap V2 and V3
// only, and the same options make the same blocks.
func Bench(ctx context.Context, node *Node, o BenchOptions) (*World, error) {
	if o.Blocks == 0 {
		o.Blocks = 2000
	}
	if o.Txs == 0 {
		o.Txs = 104_000
	}
	world, err := Deploy(ctx, node, DeployOptions{Seed: o.Seed, Classic: true})
	if err != nil {
		return nil, err
	}
	trader := NewTrader(world, o.Seed)
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
	return world, nil
}

const benchBlockTime = 2 * time.Second

// BenchNode is how a node for Bench starts.
func BenchNode() NodeOptions {
	return NodeOptions{ChainID: 8453, Timestamp: time.Unix(1_760_000_000, 0), KeepStates: 100}
}

// Census counts what a chain has recorded.
type Census struct {
	Blocks, Txs, Reverted, Logs int
	// ByEvent counts logs by the name of the event; those of other events are under "other".
	ByEvent map[string]int
}

// censusEvents are told apart by the hash of their signature alone, as NFT transfers are from those of
// tokens by nothing else than their number of topics.
var censusEvents = map[string]string{
	"Transfer":       "Transfer(address,address,uint256)",
	"Approval":       "Approval(address,address,uint256)",
	"Deposit":        "Deposit(address,uint256)",
	"Withdrawal":     "Withdrawal(address,uint256)",
	"V2 PairCreated": "PairCreated(address,address,address,uint256)",
	"V2 Sync":        "Sync(uint112,uint112)",
	"V2 Swap":        "Swap(address,uint256,uint256,uint256,uint256,address)",
	"V2 Mint":        "Mint(address,uint256,uint256)",
	"V3 PoolCreated": "PoolCreated(address,address,uint24,int24,address)",
	"V3 Initialize":  "Initialize(uint160,int24)",
	"V3 Swap":        "Swap(address,address,int256,int256,uint160,uint128,int24)",
	"V3 Mint":        "Mint(address,address,int24,int24,uint128,uint256,uint256)",
}

// censusBatch is how many blocks' receipts are read at once: some megabytes.
const censusBatch = 20

// Census reads the receipts of all blocks.
func (n *Node) Census(ctx context.Context) (Census, error) {
	names := make(map[string]string, len(censusEvents))
	for name, signature := range censusEvents {
		names[toHex(keccak([]byte(signature)))] = name
	}
	latest, err := n.Latest(ctx)
	if err != nil {
		return Census{}, err
	}
	c := Census{ByEvent: make(map[string]int)}
	for first := uint64(0); first <= latest.Number; first += censusBatch {
		count := min(censusBatch, latest.Number+1-first)
		blocks := make([][]Receipt, count)
		requests := make([]Request, count)
		for i := range blocks {
			requests[i] = Request{Method: "eth_getBlockReceipts", Params: []any{hexOf(first + uint64(i))}, Result: &blocks[i]}
		}
		if err := n.Batch(ctx, requests); err != nil {
			return Census{}, err
		}
		if err := firstError(requests); err != nil {
			return Census{}, err
		}
		for _, receipts := range blocks {
			c.count(receipts, names)
		}
	}
	return c, nil
}

func (c *Census) count(receipts []Receipt, names map[string]string) {
	c.Blocks++
	for i := range receipts {
		c.Txs++
		if !receipts[i].Succeeded() {
			c.Reverted++
		}
		for _, log := range receipts[i].Logs {
			c.Logs++
			name := "other"
			if len(log.Topics) > 0 && names[log.Topics[0]] != "" {
				name = names[log.Topics[0]]
			}
			c.ByEvent[name]++
		}
	}
}
