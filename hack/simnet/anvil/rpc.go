package anvil

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/process"
)

// Request is one call of a batch.
type Request = process.Request

// RPCError is an error that the node answered with.
type RPCError = process.RPCError

// FirstError is the first error that the node answered one of the requests with.
func FirstError(requests []Request) error { return process.FirstError(requests) }

// Log is an event of a receipt.
type Log struct {
	Address  string   `json:"address"`
	Topics   []string `json:"topics"`
	Data     string   `json:"data"`
	LogIndex string   `json:"logIndex"`
}

// Receipt is the part of a transaction receipt that tests look at. Numbers are hexadecimal.
type Receipt struct {
	TransactionHash string `json:"transactionHash"`
	BlockNumber     string `json:"blockNumber"`
	BlockHash       string `json:"blockHash"`
	From            string `json:"from"`
	To              string `json:"to"`
	Status          string `json:"status"`
	GasUsed         string `json:"gasUsed"`
	Logs            []Log  `json:"logs"`
}

// Succeeded tells whether the transaction was not reverted.
func (r *Receipt) Succeeded() bool { return r.Status == "0x1" }

// Block is the header of a block as far as simnet needs it.
type Block struct {
	Number    uint64
	Hash      string
	Timestamp time.Time
}

// Latest is the newest block.
func (n *Node) Latest(ctx context.Context) (Block, error) {
	var raw struct{ Number, Hash, Timestamp string }
	if err := n.Call(ctx, &raw, "eth_getBlockByNumber", "latest", false); err != nil {
		return Block{}, err
	}
	return Block{hexUint(raw.Number), raw.Hash, time.Unix(int64(hexUint(raw.Timestamp)), 0).UTC()}, nil
}

// Receipts returns the receipts of mined transactions, in the order of the hashes.
func (n *Node) Receipts(ctx context.Context, hashes []string) ([]Receipt, error) {
	found := make([]*Receipt, len(hashes))
	requests := make([]Request, len(hashes))
	for i, hash := range hashes {
		requests[i] = Request{Method: "eth_getTransactionReceipt", Params: []any{hash}, Result: &found[i]}
	}
	if err := n.Batch(ctx, requests); err != nil {
		return nil, err
	}
	if err := FirstError(requests); err != nil {
		return nil, err
	}
	receipts := make([]Receipt, len(hashes))
	for i := range found {
		if found[i] == nil {
			return nil, fmt.Errorf("anvil: transaction %s is not mined", hashes[i])
		}
		receipts[i] = *found[i]
	}
	return receipts, nil
}

// View is an eth_call at the newest block whose returned bytes land in out.
func View(to string, out *HexBytes, signature string, args ...any) Request {
	call := map[string]string{"to": to, "data": ToHex(EncodeCall(signature, args...))}
	return Request{Method: "eth_call", Params: []any{call, "latest"}, Result: out}
}

// HexBytes are bytes that a node writes as 0x and hexadecimal digits.
type HexBytes []byte

// UnmarshalText reads 0x and hexadecimal digits.
func (b *HexBytes) UnmarshalText(text []byte) error {
	*b = FromHex(string(text))
	return nil
}

func hexUint(text string) uint64 {
	n, _ := strconv.ParseUint(strings.TrimPrefix(text, "0x"), 16, 64)
	return n
}

// HexOf writes a number as JSON-RPC takes it: 0x and hexadecimal digits without leading zeros.
func HexOf(n uint64) string { return "0x" + strconv.FormatUint(n, 16) }
