// Package rpc asks a chain's nodes over JSON-RPC: a client of one node, a bound on the bytes of all answers that are being read, a scanner for
// answers that are too long for encoding/json, and a pool that chooses among a chain's endpoints by what it learnt of each. It knows no chain
// family.
package rpc

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
	"sync/atomic"
	"time"
)

// Request is one JSON-RPC call.
type Request struct {
	Method string
	Params []any
	// Take reads the result, which has no bytes where the node left it out. It is JSON, except that nobody has checked the characters within its
	// strings. Its memory is used again afterwards: Take copies the parts that it keeps.
	Take func(json.RawMessage) error
	// Whole calls are about one block: their answers can't be halved, and may be longer than others.
	Whole bool
	// Optional calls may be refused (a revert, an unknown method): Err keeps the refusal.
	Optional bool
	Err      error
	// answered says that Take has the result.
	answered bool
}

// client speaks JSON-RPC over HTTP to one node. It never puts the URL, which may carry a key, into an error.
type client struct {
	http *http.Client
	// URL is the node's, as it is now: it may change.
	URL func() (string, error)
	// Reads are the answers that are being read, of all of the chain's nodes.
	Reads *InFlight
	// retryAfter is the header of that name of the node's last refusal, if it had one.
	retryAfter atomic.Pointer[string]
	// blockLength is how long the next answer about one block is expected to be.
	blockLength atomic.Int64
}

// newClient makes a client of the node whose URL is asked for at each request. All clients of a chain share reads.
func newClient(url func() (string, error), reads *InFlight) *client {
	return &client{URL: url, Reads: reads, http: &http.Client{
		Timeout: 60 * time.Second,
		// A node doesn't lead elsewhere, and a key must not be carried there.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			DialContext:           (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
			MaxIdleConnsPerHost:   16,
			IdleConnTimeout:       time.Minute,
			ResponseHeaderTimeout: 30 * time.Second,
			ForceAttemptHTTP2:     true,
		},
	}}
}

// encodeCall is the body of a request with one call.
func encodeCall(method string, params []any) ([]byte, error) {
	body, err := json.Marshal(wireRequest{"2.0", 0, method, params})
	if err != nil {
		return nil, fmt.Errorf("encode the request: %w", err)
	}
	return body, nil
}

// refusedFor is the Retry-After header of the node's last refusal, if it had one.
func (c *client) refusedFor() (text string, told bool) {
	if p := c.retryAfter.Load(); p != nil {
		return *p, true
	}
	return "", false
}

// takeRefusedFor is refusedFor, and forgets the header.
func (c *client) takeRefusedFor() (text string, told bool) {
	if p := c.retryAfter.Swap(nil); p != nil {
		return *p, true
	}
	return "", false
}

// post sends a body and reads the whole answer, of at most so many bytes. Once the answer isn't needed any more the caller says that it is
// done with it.
func (c *client) post(ctx context.Context, body []byte, most int64) (_ *Reply, err error) {
	out := &Reply{hold: c.Reads.holdOf(ctx)}
	defer func() {
		if err != nil {
			out.Done()
		}
	}()
	if err := out.reserve(ctx, min(FirstPiece, most+1)); err != nil {
		return nil, err
	}
	u, err := c.URL()
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
		return nil, fmt.Errorf("reach the node: %w", WithoutURL(u, err))
	}
	defer func() { _ = res.Body.Close() }()
	if res.ContentLength > most {
		return nil, ErrTooLong
	}
	room := res.ContentLength + 1
	if res.ContentLength < 0 && most == c.Reads.Whole && res.StatusCode == http.StatusOK {
		// Blocks are about as long as each other, and to make room step by step takes as long as to read. A buffer that isn't kept isn't worth it.
		room = min(c.blockLength.Load()+1, 1<<maxKept, most+1)
	}
	if err := out.reserve(ctx, room); err != nil {
		return nil, err
	}
	switch err := out.readAll(ctx, res.Body, most); {
	case errors.Is(err, ErrTooLong):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("read the node's answer: %w", WithoutURL(u, err))
	}
	if most == c.Reads.Whole && len(out.Raw) > FirstPiece { // a shorter one needs no room, and may only say that there is no block
		before := c.blockLength.Load()
		c.blockLength.Store(max(int64(len(out.Raw)), before-before/8))
	}
	if text := res.Header.Get("Retry-After"); text != "" && res.StatusCode != http.StatusOK {
		c.retryAfter.Store(&text)
	}
	if res.StatusCode != http.StatusOK && (len(out.Raw) == 0 || out.Raw[0] != '{' && out.Raw[0] != '[') {
		return nil, StatusError{res.StatusCode}
	}
	return out, nil
}

// readAll reads an answer of at most so many bytes to its end.
func (r *Reply) readAll(ctx context.Context, body io.Reader, most int64) error {
	for {
		if len(r.Raw) == cap(r.Raw) {
			if err := r.reserve(ctx, min(2*int64(cap(r.Raw)), most+1)); err != nil {
				return err
			}
		}
		n, err := body.Read(r.Raw[len(r.Raw):cap(r.Raw)])
		r.Raw = r.Raw[:len(r.Raw)+n]
		switch {
		case int64(len(r.Raw)) > most:
			return ErrTooLong
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
	ID     *int
	Result json.RawMessage
	Error  *NodeError
}

// ResultOf is the result in an answer to one call, which lies within the answer, or the error that the node answered with, whose text may have
// parts of the URL.
func ResultOf(raw []byte) (json.RawMessage, error) {
	list, err := readAnswers(raw, 1)
	if err != nil {
		return nil, err
	}
	switch a := &list[0]; {
	case a.Error != nil:
		return nil, a.Error
	case len(a.Result) == 0:
		return nil, fmt.Errorf("%w: no result", ErrGarbage)
	default:
		return a.Result, nil
	}
}

// readAnswers splits what a node answered to so many calls: a list with an answer to each, or one answer. The results lie within raw.
func readAnswers(raw []byte, calls int) (list []wireAnswer, err error) {
	p := NewScanner(raw)
	one := func() {
		if len(list) == calls {
			err = fmt.Errorf("more than %d answers to as many calls", calls)
			p.Fail()
			return
		}
		list = append(list, wireAnswer{})
		err = readAnswer(p, &list[len(list)-1])
	}
	if calls == 1 || p.Peek() == '{' {
		one()
	} else {
		p.Array(one)
	}
	switch ok, at := p.End(); {
	case err != nil:
		return nil, fmt.Errorf("%w: %.100s", ErrGarbage, err.Error())
	case !ok:
		return nil, fmt.Errorf("%w: no JSON-RPC answer near byte %d", ErrGarbage, at)
	}
	return list, nil
}

// readAnswer reads the answer to one call. A result may have megabytes, which encoding/json reads at a tenth of the scanner's speed at most.
func readAnswer(p *Scanner, a *wireAnswer) (err error) {
	p.Object(func(key []byte) {
		switch string(key) {
		case "id":
			err = readValue(p, &a.ID)
		case "result":
			a.Result = p.Raw()
		case "error":
			err = readValue(p, &a.Error)
		default:
			p.Skip()
		}
	})
	return err
}

// readValue reads the next value, a short one, by encoding/json.
func readValue(p *Scanner, into any) error {
	raw := p.Raw()
	if raw == nil {
		return nil // the scanner has failed
	}
	err := json.Unmarshal(raw, into)
	if err != nil {
		p.Fail()
	}
	return err
}

// do sends calls as one batch (a single one alone), reads at most so many bytes, and hands each result to its Take. The error is a
// BatchError where the node refused the batch, and a NodeError where it refused a call that isn't optional.
func (c *client) do(ctx context.Context, most int64, reqs ...*Request) error {
	wire := make([]wireRequest, len(reqs))
	for i, r := range reqs {
		if r.Params == nil {
			r.Params = []any{}
		}
		r.answered = false
		wire[i] = wireRequest{"2.0", i, r.Method, r.Params}
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
	defer got.Done()
	answers, err := readAnswers(got.Raw, len(reqs))
	if err != nil {
		return err
	}
	for i := range answers {
		c.Redact(answers[i].Error)
	}
	if len(reqs) > 1 && len(answers) == 1 && answers[0].Error != nil {
		return BatchError{answers[0].Error}
	}
	return match(reqs, answers)
}

// Redact takes the URL out of what a node says, if it says something: some repeat what they were asked for.
func (c *client) Redact(e *NodeError) {
	if e == nil {
		return
	}
	u, err := c.URL()
	if err != nil {
		e.Message = ""
		return
	}
	e.Message = Redact(u, e.Message)
}

// match hands answers to what asked. Of several refusals of calls that aren't optional the first counts; the other calls have their answers.
func match(reqs []*Request, answers []wireAnswer) error {
	var refusal error
	seen := make([]bool, len(reqs))
	for _, a := range answers {
		if a.ID == nil || *a.ID < 0 || *a.ID >= len(reqs) {
			if a.Error != nil {
				return a.Error
			}
			return fmt.Errorf("%w: an answer to no request", ErrGarbage)
		}
		r := reqs[*a.ID]
		seen[*a.ID] = true
		r.Err = nil
		switch {
		case a.Error != nil && r.Optional:
			r.Err = a.Error
		case a.Error != nil:
			refusal = cmp.Or(refusal, error(a.Error))
		default:
			if err := r.Take(a.Result); err != nil {
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
			return fmt.Errorf("%w: no answer to %s", ErrGarbage, reqs[i].Method)
		}
	}
	return nil
}
