package anvil

import (
	"context"
)

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
		names[ToHex(Keccak([]byte(signature)))] = name
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
			requests[i] = Request{Method: "eth_getBlockReceipts", Params: []any{HexOf(first + uint64(i))}, Result: &blocks[i]}
		}
		if err := n.Batch(ctx, requests); err != nil {
			return Census{}, err
		}
		if err := FirstError(requests); err != nil {
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
