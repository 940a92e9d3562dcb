package anvil

import (
	"context"
	"fmt"
	"math/big"
	"time"
)

// Transaction is one to be sent from an unlocked account.
type Transaction struct {
	From, To string // To is empty for a creation
	Data     []byte
	Value    *big.Int
	Gas      uint64 // 0 is defaultGas
}

// defaultGas covers every swap here; stating a limit saves the node an estimation per transaction.
const defaultGas = 1_500_000

// Send submits transactions in order, without mining, and returns their hashes. Each goes in a request of its own: anvil works on those of a batch at once, and
// they may enter its pool in another order.
func (n *Node) Send(ctx context.Context, transactions []Transaction) ([]string, error) {
	nonces, err := n.Nonces(ctx, transactions)
	if err != nil {
		return nil, err
	}
	hashes := make([]string, len(transactions))
	for i, tx := range transactions {
		gas := tx.Gas
		if gas == 0 {
			gas = defaultGas
		}
		call := map[string]string{
			"from": tx.From, "data": ToHex(tx.Data), "gas": HexOf(gas), "gasPrice": "0x0",
			"nonce": HexOf(nonces[tx.From]),
		}
		if tx.To != "" {
			call["to"] = tx.To
		}
		if tx.Value != nil {
			call["value"] = "0x" + tx.Value.Text(16)
		}
		nonces[tx.From]++
		if err := n.Call(ctx, &hashes[i], "eth_sendTransaction", call); err != nil {
			return nil, err
		}
	}
	return hashes, nil
}

// Nonces asks each time, because a reorg takes transactions back.
func (n *Node) Nonces(ctx context.Context, transactions []Transaction) (map[string]uint64, error) {
	var senders []string
	seen := make(map[string]bool)
	for _, tx := range transactions {
		if !seen[tx.From] {
			seen[tx.From] = true
			senders = append(senders, tx.From)
		}
	}
	counts := make([]string, len(senders))
	requests := make([]Request, len(senders))
	for i, sender := range senders {
		requests[i] = Request{Method: "eth_getTransactionCount", Params: []any{sender, "pending"}, Result: &counts[i]}
	}
	if err := n.Batch(ctx, requests); err != nil {
		return nil, err
	}
	nonces := make(map[string]uint64, len(senders))
	for i, sender := range senders {
		nonces[sender] = hexUint(counts[i])
	}
	return nonces, FirstError(requests)
}

// Settle sends transactions, mines them in one block a second later and requires that all succeed.
func (n *Node) Settle(ctx context.Context, transactions []Transaction) error {
	_, err := n.Settled(ctx, transactions)
	return err
}

// Settled is settle with the receipts, those of reverted transactions included.
func (n *Node) Settled(ctx context.Context, transactions []Transaction) ([]Receipt, error) {
	hashes, err := n.Send(ctx, transactions)
	if err != nil {
		return nil, err
	}
	if err := n.MineNext(ctx); err != nil {
		return nil, err
	}
	receipts, err := n.Receipts(ctx, hashes)
	if err != nil {
		return nil, err
	}
	for i, receipt := range receipts {
		if !receipt.Succeeded() {
			return receipts, fmt.Errorf("anvil: transaction %d of %d to %q reverted (%s)", i+1, len(receipts), transactions[i].To, hashes[i])
		}
	}
	return receipts, nil
}

// MineNext mines one block, a second after the newest one.
func (n *Node) MineNext(ctx context.Context) error {
	latest, err := n.Latest(ctx)
	if err != nil {
		return err
	}
	return n.MineAt(ctx, latest.Timestamp.Add(time.Second))
}
