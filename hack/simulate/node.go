package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"reflect"
	"sync/atomic"
	"time"
)

// node is an endpoint of the chain: it stands before anvil and behaves as its plan says.
type node struct {
	plan   *Node
	faults map[string]nodeFault
	seed   uint64
	url    string

	real, fork atomic.Pointer[string] // URLs of anvil's chains
	block      *atomic.Int64          // how many blocks were made; -1 stops all faults
	requests   atomic.Int64
	heads      falseHeads
	allowance  allowance
	stopped    context.Context //nolint:containedctx // ends stalled requests with the run
	seen       *tally
	log        *trace
	refused    *refusals // may be nil
	server     *http.Server
}

// exchange is a request of the indexer and what becomes of it.
type exchange struct {
	drop, stall, cut, fork bool
	status                 int
	text                   string
}

// call is one JSON-RPC call of a batch, with the node's answer.
type call struct {
	Method string            `json:"method"`
	Params []json.RawMessage `json:"params"`
	ID     int               `json:"id"`

	result  json.RawMessage
	err     *rpcError
	wrongID bool
	request int64 // the number of the request that it came with
}

func (c *call) fail(code int, message string) {
	c.result, c.err = nil, &rpcError{Code: code, Message: message}
}

type rpcError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

type rpcAnswer struct {
	Version string          `json:"jsonrpc"`
	ID      int             `json:"id"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

func (n *node) start(ctx context.Context) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	n.url, n.stopped = "http://"+l.Addr().String(), ctx
	n.server = &http.Server{Handler: n, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = n.server.Serve(l) }()
	return nil
}

func (n *node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || len(body) == 0 { // a WebSocket: this node has none
		http.Error(w, "POST a JSON-RPC request", http.StatusBadRequest)
		return
	}
	calls, single, err := parse(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	n.travel(r.Context())
	if n.refuses(w, len(calls)) {
		return
	}
	number := n.requests.Add(1)
	for _, c := range calls {
		c.request = number
	}
	faults := n.faultsOf(number)
	x := &exchange{status: http.StatusOK}
	for _, name := range faults {
		if f := n.faults[name]; f.whole != nil {
			n.met(name, calls)
			f.whole(x)
		}
	}
	if n.plan.MaxBatch > 0 && len(calls) > n.plan.MaxBatch {
		n.seen.add("batch limit")
		x.text = fmt.Sprintf(`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"batch too large: %d calls, at most %d"}}`, len(calls), n.plan.MaxBatch)
	}
	switch {
	case x.drop:
		panic(http.ErrAbortHandler)
	case x.stall:
		select {
		case <-r.Context().Done():
		case <-n.stopped.Done():
		}
		panic(http.ErrAbortHandler)
	case x.text != "":
		w.WriteHeader(x.status)
		_, _ = io.WriteString(w, x.text)
		return
	}
	if err := n.pass(r.Context(), x, body, calls); err != nil {
		panic(http.ErrAbortHandler)
	}
	for _, name := range faults {
		if f := n.faults[name]; f.calls != nil {
			spoiled := false
			for _, c := range calls {
				before := *c
				f.calls(n, c)
				spoiled = spoiled || before.differs(c)
			}
			if spoiled {
				n.met(name, calls)
			}
		}
	}
	n.write(w, x, calls, single)
}

// faultsOf are the faults that a request meets, in the order of the plan.
func (n *node) faultsOf(number int64) (names []string) {
	block := int(n.block.Load())
	for i, f := range n.plan.Faults {
		if !f.meets(block) {
			continue
		}
		if rng := rand.New(rand.NewPCG(n.seed^uint64(number), uint64(i))); rng.IntN(100) < f.Percent {
			names = append(names, f.Fault)
		}
	}
	return names
}

func (n *node) met(fault string, calls []*call) {
	n.seen.add(fault)
	n.log.add("%s: request %d (%s and %d more): %s", n.url, n.requests.Load(), calls[0].Method, len(calls)-1, fault)
}

func parse(body []byte) (calls []*call, single bool, err error) {
	if body[0] == '[' {
		err = json.Unmarshal(body, &calls)
	} else {
		c := &call{}
		single, calls = true, []*call{c}
		err = json.Unmarshal(body, c)
	}
	if err == nil && len(calls) == 0 {
		err = errors.New("an empty batch")
	}
	return calls, single, err
}

// differs reports whether a fault changed anything of what a call is answered, in whatever order its fields are.
func (c *call) differs(after *call) bool {
	if (c.err == nil) != (after.err == nil) || c.err != nil && c.err.Message != after.err.Message || c.wrongID != after.wrongID {
		return true
	}
	if bytes.Equal(c.result, after.result) {
		return false
	}
	var was, is any
	return json.Unmarshal(c.result, &was) != nil || json.Unmarshal(after.result, &is) != nil || !reflect.DeepEqual(was, is)
}

// pass asks anvil.
func (n *node) pass(ctx context.Context, x *exchange, body []byte, calls []*call) error {
	to := n.real.Load()
	if fork := n.fork.Load(); x.fork && fork != nil {
		to = fork
	}
	answer, err := post(ctx, *to, body)
	if err != nil {
		return err
	}
	var answers []rpcAnswer
	if answer[0] == '{' {
		answers = make([]rpcAnswer, 1)
		err = json.Unmarshal(answer, &answers[0])
	} else {
		err = json.Unmarshal(answer, &answers)
	}
	if err != nil {
		return err
	}
	byID := map[int]*rpcAnswer{}
	for i := range answers {
		byID[answers[i].ID] = &answers[i]
	}
	for _, c := range calls {
		a := byID[c.ID]
		if a == nil {
			return fmt.Errorf("anvil left out the answer to %s", c.Method)
		}
		if c.result, c.err = a.Result, a.Error; c.err != nil {
			c.err = inWordsOf(n.plan.Client, c.err)
		} else if c.result == nil {
			c.result = json.RawMessage("null")
		}
	}
	return nil
}

var client = &http.Client{Timeout: 2 * time.Minute}

func post(ctx context.Context, url string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	if err == nil && len(answer) == 0 {
		err = errors.New("anvil answered nothing")
	}
	return answer, err
}

func (n *node) write(w http.ResponseWriter, x *exchange, calls []*call, single bool) {
	answers := make([]rpcAnswer, len(calls))
	for i, c := range calls {
		answers[i] = rpcAnswer{Version: "2.0", ID: c.ID, Result: c.result, Error: c.err}
		if c.wrongID {
			answers[i].ID += 1_000_000
		}
	}
	var out []byte
	if single {
		out, _ = json.Marshal(answers[0])
	} else {
		out, _ = json.Marshal(answers)
	}
	if most := n.plan.MaxAnswer; most > 0 && len(out) > most {
		n.seen.add("answer limit")
		out = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":null,"error":{"code":-32003,"message":"response too large: %d bytes, at most %d"}}`, len(out), most)
	}
	if x.cut {
		out = out[:len(out)/2]
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(out)
}
