package rpc

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/telemetry"
	"github.com/boardwalkhq/boardwalk/internal/telemetry/span"
	"github.com/boardwalkhq/boardwalk/internal/telemetry/tracetest"
)

// TestSpansOfRequestsNeverHaveTheURL: each request within a span is a span with the method and the endpoint's number. Whatever the node does, and even when it
// repeats what it was asked for, the key in its URL is in none.
func TestSpansOfRequestsNeverHaveTheURL(t *testing.T) {
	const key = "s3cr3tk3y0fth1sn0d3"
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked, _ := io.ReadAll(r.Body)
		switch text := string(asked); {
		case strings.Contains(text, "eth_chainId") && strings.HasPrefix(text, "{"):
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":0,"result":"0x1"}`)
		case strings.Contains(text, "eth_repeat"):
			raw, _ := json.Marshal("no such path: " + r.URL.String() + " on http://" + r.Host + r.URL.String())
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":0,"error":{"code":-32000,"message":`+string(raw)+`}}`)
		case strings.Contains(text, "eth_garbage"):
			_, _ = io.WriteString(w, r.URL.String())
		case strings.Contains(text, "eth_break"):
			panic(http.ErrAbortHandler)
		case strings.Contains(text, "eth_refused"):
			w.WriteHeader(http.StatusTooManyRequests)
		default:
			_, _ = io.WriteString(w, `[{"jsonrpc":"2.0","id":0,"result":"0x1"},{"jsonrpc":"2.0","id":1,"result":"0x1"},{"jsonrpc":"2.0","id":2,"result":"0x1"}]`)
		}
	}))
	defer node.Close()
	r, end := tracetest.Trace(t, telemetry.TracesOptions{Service: "boardwalk-indexer", Chain: "base"})
	endpoint := func(url string) *Endpoint {
		e, err := NewEndpoint(1, EndpointOptions{
			Declared: chainconfig.Endpoint{URL: url}, Reads: NewInFlight(nil), Now: time.Now, RateRefused: func(error) bool { return false },
		})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	secret := "/v2/" + key + "?key=" + key
	e := endpoint(strings.Replace(node.URL, "http://", "http://"+key+":"+key+"@", 1) + secret)
	gone := endpoint("http://127.0.0.1:1" + secret)
	ask := func(method string) *Request {
		return &Request{Method: method, Take: func(json.RawMessage) error { return nil }}
	}
	if err := e.Do(t.Context(), ask("eth_chainId")); err != nil { // in the background
		t.Fatal(err)
	}
	ctx, look := span.Start(t.Context(), "look", trace.SpanKindInternal)
	if err := e.Do(ctx, ask("eth_chainId")); err != nil {
		t.Fatal(err)
	}
	if err := e.Do(ctx, ask("eth_call"), ask("eth_getCode"), ask("eth_call")); err != nil {
		t.Fatal(err)
	}
	for _, method := range []string{"eth_repeat", "eth_garbage", "eth_break", "eth_refused"} {
		if err := e.Do(ctx, ask(method)); err == nil {
			t.Errorf("%s is no error", method)
		}
	}
	failed := gone.Do(ctx, ask("eth_gone"))
	_, raw := gone.PostCall(ctx, "eth_gonePosted", nil, 1<<20)
	if failed == nil || raw == nil {
		t.Error("a node that isn't there answers")
	}
	span.End(look, errors.Join(failed, raw))
	end()
	root := r.Named("look")
	if len(root) != 1 {
		t.Fatalf("the collector has %+v", r.Spans())
	}
	for method, isError := range map[string]bool{
		"eth_chainId": false, "eth_repeat": true, "eth_garbage": true, "eth_break": true, "eth_refused": true, "eth_gone": true, "eth_gonePosted": true,
	} {
		of := r.Named(method)
		if len(of) != 1 || of[0].Parent != root[0].ID || of[0].IsError != isError ||
			of[0].Attributes["rpc.method"] != method || of[0].Attributes["boardwalk.endpoint"] != "endpoint 2" {
			t.Errorf("%s has the spans %+v, want one of endpoint 2 within the look, error %v", method, of, isError)
		}
	}
	batch := r.Named("JSON-RPC batch")
	if len(batch) != 1 || batch[0].Attributes["boardwalk.rpc.calls"] != "3" || strings.Count(batch[0].Attributes["boardwalk.rpc.methods"], "eth_call") != 1 {
		t.Errorf("a batch has the spans %+v, want one of 3 calls", batch)
	}
	if r.Has(key) {
		t.Errorf("spans have the key of the URL: %+v", r.Spans())
	}
}
