package anvil

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Request is one call of a batch. Batch fills Result, a pointer or nil, or Err.
type Request struct {
	Method string
	Params []any
	Result any
	Err    error
}

// RPCError is an error that the node answered with.
type RPCError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (e *RPCError) Error() string { return fmt.Sprintf("rpc error %d: %s", e.Code, e.Message) }

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

// batchLimit keeps a request and its answer at some megabytes.
const batchLimit = 400

type rpcRequest struct {
	Version string `json:"jsonrpc"`
	ID      int    `json:"id"`
	Method  string `json:"method"`
	Params  []any  `json:"params"`
}

type rpcResponse struct {
	ID     int             `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *RPCError       `json:"error"`
}

// Call calls one JSON-RPC method and decodes its result into result, a pointer or nil.
// An error of the node is an *RPCError.
func (n *Node) Call(ctx context.Context, result any, method string, params ...any) error {
	request := []Request{{Method: method, Params: params, Result: result}}
	if err := n.Batch(ctx, request); err != nil {
		return err
	}
	return request[0].Err
}

// Batch sends the requests together, in order. The returned error is about the exchange as a whole;
// what the node says about a single request is in its Err.
func (n *Node) Batch(ctx context.Context, requests []Request) error {
	for start := 0; start < len(requests); start += batchLimit {
		if err := n.exchange(ctx, requests[start:min(start+batchLimit, len(requests))]); err != nil {
			return err
		}
	}
	return nil
}

func (n *Node) exchange(ctx context.Context, requests []Request) error {
	encoded := make([]rpcRequest, len(requests))
	for i, request := range requests {
		if request.Params == nil {
			request.Params = []any{}
		}
		encoded[i] = rpcRequest{"2.0", i, request.Method, request.Params}
	}
	body, err := json.Marshal(encoded)
	if err != nil {
		return fmt.Errorf("anvil: %s: %w", requests[0].Method, err)
	}
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, n.URL(), bytes.NewReader(body))
	if err != nil {
		return err
	}
	post.Header.Set("Content-Type", "application/json")
	response, err := n.http.Do(post)
	if err != nil {
		return fmt.Errorf("anvil: %s: %w", requests[0].Method, err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("anvil: %s: %w", requests[0].Method, err)
	}
	var responses []rpcResponse
	if err := json.Unmarshal(answer, &responses); err != nil {
		return fmt.Errorf("anvil: %s: %s: %.200s", requests[0].Method, response.Status, answer)
	}
	if len(responses) != len(requests) {
		return fmt.Errorf("anvil: %s: %d answers to %d requests", requests[0].Method, len(responses), len(requests))
	}
	for _, item := range responses {
		if item.ID < 0 || item.ID >= len(requests) {
			return fmt.Errorf("anvil: answer with id %d to %d requests", item.ID, len(requests))
		}
		request := &requests[item.ID]
		switch {
		case item.Error != nil:
			request.Err = fmt.Errorf("anvil: %s: %w", request.Method, item.Error)
		case request.Result != nil:
			request.Err = json.Unmarshal(item.Result, request.Result)
		}
	}
	return nil
}

// FirstError is the first error that the node answered one of the requests with.
func FirstError(requests []Request) error {
	for _, request := range requests {
		if request.Err != nil {
			return request.Err
		}
	}
	return nil
}

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
