package backfill

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// replay serves JSON-RPC from what the node answered before, so that the node's work and its pace are not what is
// measured. What was never asked is asked of the node, once.
type replay struct {
	node   string
	client *http.Client
	server *http.Server
	url    string

	mu      sync.Mutex
	answers map[string]json.RawMessage // by method and parameters: `"result":…` or `"error":…`
	asked   int                        // how many calls went to the node
}

type rpcCall struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

func startReplay(ctx context.Context, node string) (*replay, error) {
	var c net.ListenConfig
	l, err := c.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	r := &replay{
		node: node, client: &http.Client{Timeout: time.Minute}, url: "http://" + l.Addr().String(),
		answers: map[string]json.RawMessage{},
	}
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = r.server.Serve(l) }() // ends with close
	return r, nil
}

func (r *replay) close() { _ = r.server.Close() }

// missed gives how many calls were not recorded yet, since it was last asked.
func (r *replay) missed() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.asked
	r.asked = 0
	return n
}

// ServeHTTP answers one call or a batch of them.
func (r *replay) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	batch := bytes.HasPrefix(bytes.TrimSpace(body), []byte("["))
	calls := make([]rpcCall, 1)
	if batch {
		err = json.Unmarshal(body, &calls)
	} else {
		err = json.Unmarshal(body, &calls[0])
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	parts := make([][]byte, 0, 4*len(calls)+2)
	size := 0
	add := func(b ...[]byte) {
		for _, p := range b {
			parts, size = append(parts, p), size+len(p)
		}
	}
	separator := []byte("[")
	for i := range calls {
		answer, err := r.answer(req.Context(), &calls[i])
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		if batch {
			add(separator)
			separator = []byte(",")
		}
		add([]byte(`{"jsonrpc":"2.0","id":`), calls[i].ID, []byte(","), answer, []byte("}"))
	}
	if batch {
		add([]byte("]"))
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(size))
	for _, p := range parts {
		if _, err := w.Write(p); err != nil {
			return // the client is gone
		}
	}
}

func (r *replay) answer(ctx context.Context, c *rpcCall) (json.RawMessage, error) {
	key := c.Method + " " + string(c.Params)
	r.mu.Lock()
	known, ok := r.answers[key]
	if !ok {
		r.asked++
	}
	r.mu.Unlock()
	if ok {
		return known, nil
	}
	got, err := r.ask(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("replay: %s: %w", c.Method, err)
	}
	r.mu.Lock()
	r.answers[key] = got
	r.mu.Unlock()
	return got, nil
}

func (r *replay) ask(ctx context.Context, c *rpcCall) (json.RawMessage, error) {
	params := c.Params
	if len(params) == 0 {
		params = json.RawMessage("[]")
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": c.Method, "params": params})
	if err != nil {
		return nil, err
	}
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, r.node, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	post.Header.Set("Content-Type", "application/json")
	res, err := r.client.Do(post)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	var answer struct{ Result, Error json.RawMessage }
	if err := json.Unmarshal(raw, &answer); err != nil {
		return nil, err
	}
	switch {
	case len(answer.Error) > 0:
		return append([]byte(`"error":`), answer.Error...), nil
	case len(answer.Result) > 0:
		return append([]byte(`"result":`), answer.Result...), nil
	default:
		return nil, errors.New("the node's answer has neither result nor error")
	}
}
