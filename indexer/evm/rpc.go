package evm

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

// RPCError is an error that a node answered with.
type RPCError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

func (e *RPCError) Error() string { return fmt.Sprintf("node answered %d: %.200s", e.Code, e.Message) }

// batchError is an error that a node answered a whole batch with.
type batchError struct{ *RPCError }

func (e batchError) Unwrap() error { return e.RPCError }

// httpStatusError is an answer that is no JSON-RPC.
type httpStatusError struct{ code int }

func (e httpStatusError) Error() string { return "node answered HTTP " + strconv.Itoa(e.code) }

// errTooLong is an answer beyond what is read.
var errTooLong = errors.New("the node's answer is too long")

// errGarbage marks answers that no honest node gives.
var errGarbage = errors.New("the node's answer makes no sense")

// request is one JSON-RPC call; result is decoded by take.
type request struct {
	method string
	params []any
	take   func(json.RawMessage) error
	// whole calls are about one block: their answers can't be halved, and may have maxWhole bytes.
	whole bool
	// optional calls may be refused (a revert, an unknown method): err keeps the refusal.
	optional bool
	err      error
	// answered says that take has the result.
	answered bool
}

// client speaks JSON-RPC over HTTP to one node. It never puts the URL, which may carry a key, into an error.
type client struct {
	http  *http.Client
	url   func() (string, error)
	reads *inFlight
	// retryAfter is the header of that name of the node's last refusal, if it had one.
	retryAfter atomic.Pointer[string]
}

func newHTTPClient() *http.Client {
	return &http.Client{
		Timeout: 60 * time.Second,
		// A node doesn't lead elsewhere, and a key must not be carried there.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext:           (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
			MaxIdleConnsPerHost:   16,
			IdleConnTimeout:       time.Minute,
			ResponseHeaderTimeout: 30 * time.Second,
			ForceAttemptHTTP2:     true,
		},
	}
}

// post sends a body and reads the whole answer, of at most so many bytes. Once the answer isn't needed any more the caller says that it is
// done with it.
func (c *client) post(ctx context.Context, body []byte, most int64) (_ *reply, err error) {
	out := &reply{hold: c.reads.holdOf(ctx)}
	defer func() {
		if err != nil {
			out.done()
		}
	}()
	if err := out.reserve(ctx, min(firstPiece, most+1)); err != nil {
		return nil, err
	}
	u, err := c.url()
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("the endpoint's URL can't be used; its form is https://HOST/PATH")
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("reach the node: %w", withoutURL(u, err))
	}
	defer func() { _ = res.Body.Close() }()
	if res.ContentLength > most {
		return nil, errTooLong
	}
	if err := out.reserve(ctx, res.ContentLength+1); err != nil {
		return nil, err
	}
	switch err := out.readAll(ctx, res.Body, most); {
	case errors.Is(err, errTooLong):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("read the node's answer: %w", withoutURL(u, err))
	}
	if text := res.Header.Get("Retry-After"); text != "" && res.StatusCode != http.StatusOK {
		c.retryAfter.Store(&text)
	}
	if res.StatusCode != http.StatusOK && (len(out.raw) == 0 || out.raw[0] != '{' && out.raw[0] != '[') {
		return nil, httpStatusError{res.StatusCode}
	}
	return out, nil
}

// readAll reads an answer of at most so many bytes to its end.
func (r *reply) readAll(ctx context.Context, body io.Reader, most int64) error {
	for {
		if len(r.raw) == cap(r.raw) {
			if err := r.reserve(ctx, min(2*int64(cap(r.raw)), most+1)); err != nil {
				return err
			}
		}
		n, err := body.Read(r.raw[len(r.raw):cap(r.raw)])
		r.raw = r.raw[:len(r.raw)+n]
		switch {
		case int64(len(r.raw)) > most:
			return errTooLong
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

type wireRequest struct {
	Version string `json:"jsonrpc"`
	ID      int    `json:"id"`
	Method  string `json:"method"`
	Params  []any  `json:"params"`
}

type wireAnswer struct {
	ID     *int            `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *RPCError       `json:"error"`
}

// do sends calls as one batch (a single one alone), reads at most so many bytes, and hands each result to its take.
func (c *client) do(ctx context.Context, most int64, reqs ...*request) error {
	wire := make([]wireRequest, len(reqs))
	for i, r := range reqs {
		if r.params == nil {
			r.params = []any{}
		}
		r.answered = false
		wire[i] = wireRequest{"2.0", i, r.method, r.params}
	}
	var body []byte
	var err error
	if len(reqs) == 1 {
		body, err = json.Marshal(wire[0])
	} else {
		body, err = json.Marshal(wire)
	}
	if err != nil {
		return fmt.Errorf("encode the request: %w", err)
	}
	got, err := c.post(ctx, body, most)
	if err != nil {
		return err
	}
	defer got.done()
	raw := got.raw
	var answers []wireAnswer
	if len(reqs) == 1 || (len(raw) > 0 && raw[0] == '{') {
		answers = make([]wireAnswer, 1)
		err = json.Unmarshal(raw, &answers[0])
	} else {
		err = json.Unmarshal(raw, &answers)
	}
	if err != nil {
		return fmt.Errorf("%w: %.100s", errGarbage, err.Error())
	}
	for i := range answers {
		c.withoutURL(answers[i].Error)
	}
	if len(reqs) > 1 && len(answers) == 1 && answers[0].Error != nil {
		return batchError{answers[0].Error}
	}
	return match(reqs, answers)
}

// withoutURL takes the URL out of what a node says, if it says something: some repeat what they were asked for.
func (c *client) withoutURL(e *RPCError) {
	if e == nil {
		return
	}
	u, err := c.url()
	if err != nil {
		e.Message = ""
		return
	}
	e.Message = redact(u, e.Message)
}

// match hands answers to what asked. Of several refusals of calls that aren't optional the first counts; the other calls have their answers.
func match(reqs []*request, answers []wireAnswer) error {
	var refusal error
	seen := make([]bool, len(reqs))
	for _, a := range answers {
		if a.ID == nil || *a.ID < 0 || *a.ID >= len(reqs) {
			if a.Error != nil {
				return a.Error
			}
			return fmt.Errorf("%w: an answer to no request", errGarbage)
		}
		r := reqs[*a.ID]
		seen[*a.ID] = true
		r.err = nil
		switch {
		case a.Error != nil && r.optional:
			r.err = a.Error
		case a.Error != nil:
			refusal = cmp.Or(refusal, error(a.Error))
		default:
			if err := r.take(a.Result); err != nil {
				return cmp.Or(refusal, err)
			}
			r.answered = true
		}
	}
	if refusal != nil {
		return refusal
	}
	for i, ok := range seen {
		if !ok {
			return fmt.Errorf("%w: no answer to %s", errGarbage, reqs[i].method)
		}
	}
	return nil
}

// quantity reads "0x…" into v.
func quantity(v *uint64) func(json.RawMessage) error {
	return func(raw json.RawMessage) error {
		n, err := parseQuantity(raw)
		*v = n
		return err
	}
}

func parseQuantity(raw []byte) (uint64, error) {
	if len(raw) < 5 || raw[0] != '"' || raw[1] != '0' || raw[2] != 'x' {
		return 0, fmt.Errorf("%w: %.40q is no quantity", errGarbage, raw)
	}
	n, err := strconv.ParseUint(string(raw[3:len(raw)-1]), 16, 64)
	if err != nil {
		return 0, fmt.Errorf("%w: %.40q is no quantity", errGarbage, raw)
	}
	return n, nil
}

func hexQuantity(n uint64) string { return "0x" + strconv.FormatUint(n, 16) }
