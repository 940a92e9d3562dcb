package process

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
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
		return fmt.Errorf("%s: %s: %w", n.name, requests[0].Method, err)
	}
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, n.URL(), bytes.NewReader(body))
	if err != nil {
		return err
	}
	post.Header.Set("Content-Type", "application/json")
	response, err := n.http.Do(post)
	if err != nil {
		return fmt.Errorf("%s: %s: %w", n.name, requests[0].Method, err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("%s: %s: %w", n.name, requests[0].Method, err)
	}
	var responses []rpcResponse
	if err := json.Unmarshal(answer, &responses); err != nil {
		return fmt.Errorf("%s: %s: %s: %.200s", n.name, requests[0].Method, response.Status, answer)
	}
	if len(responses) != len(requests) {
		return fmt.Errorf("%s: %s: %d answers to %d requests", n.name, requests[0].Method, len(responses), len(requests))
	}
	for _, item := range responses {
		if item.ID < 0 || item.ID >= len(requests) {
			return fmt.Errorf("%s: answer with id %d to %d requests", n.name, item.ID, len(requests))
		}
		request := &requests[item.ID]
		switch {
		case item.Error != nil:
			request.Err = fmt.Errorf("%s: %s: %w", n.name, request.Method, item.Error)
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
