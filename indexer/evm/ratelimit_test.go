package evm

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/block/blocktest"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

func TestRateRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want bool
	}{
		{rpc.StatusError{Code: http.StatusTooManyRequests}, true},
		{rpc.StatusError{Code: http.StatusBadGateway}, false},
		{&rpc.NodeError{Code: 429, Message: "Your app has exceeded its compute units per second capacity"}, true},
		{&rpc.NodeError{Code: -32007, Message: "50/second request limit reached - reduce calls per second"}, true},
		{&rpc.NodeError{Code: -32005, Message: "exceeded project rate limit"}, true},
		{&rpc.NodeError{Code: -32016, Message: "over rate limit"}, true},
		{rpc.BatchError{NodeError: &rpc.NodeError{Code: -32016, Message: "over rate limit"}}, true},
		{&rpc.NodeError{Code: 3, Message: "execution reverted: over rate limit"}, false},
		{&rpc.NodeError{Code: -32000, Message: "execution reverted: too many requests"}, false},
		{&rangeError{err: &rpc.NodeError{Code: -32005, Message: "query returned more than 10000 results, rate limit"}}, false},
		{&rpc.NodeError{Code: -32000, Message: "header not found"}, false},
		{rpc.ErrGarbage, false},
	} {
		if got := rateRefused(c.err); got != c.want {
			t.Errorf("%v: %t, want %t", c.err, got, c.want)
		}
	}
}

// TestARefusalForTheRateIsTriedAgain asks a node that refuses twice.
func TestARefusalForTheRateIsTriedAgain(t *testing.T) {
	t.Parallel()
	for _, refusals := range []int64{rpc.RefusedRounds - 1, rpc.RefusedRounds} {
		t.Run(strconv.FormatInt(refusals, 10), func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int64
			node := newFakeNode(t, func(method string, _ []json.RawMessage) (string, string) {
				if method == "eth_getBlockByNumber" && asked.Add(1) <= refusals {
					return "", `{"code":-32005,"message":"exceeded project rate limit"}`
				}
				return blocktest.Header(5, true, "5208"), ""
			})
			s := sourceOf(t, time.Now, node.URL)
			h, err := s.Header(t.Context(), 5)
			if answered := err == nil && h.Number == 5; answered != (refusals < rpc.RefusedRounds) {
				t.Errorf("after %d refusals: block %d, %v", refusals, h.Number, err)
			}
		})
	}
}

// TestWhatIsAnsweredIsNotAskedAgain asks nodes for many headers and calls that refuse each second one for their rate at first, or whole batches:
// nothing that was answered is asked for again.
func TestWhatIsAnsweredIsNotAskedAgain(t *testing.T) {
	t.Parallel()
	const all = 18
	for name, refuses := range map[string]func(nth int) bool{
		"each second one":  func(nth int) bool { return nth%2 == 0 },
		"the second batch": func(nth int) bool { return nth > 9 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := map[string]int{} // the node answers one request at a time
			node := newFakeNode(t, func(method string, params []json.RawMessage) (string, string) {
				key := method + string(params[0])
				asked[key]++
				if asked[key] == 1 && refuses(len(asked)) {
					return "", `{"code":-32005,"message":"exceeded project rate limit"}`
				}
				if method == "eth_call" {
					return `"0x` + strings.Repeat("0", 62) + `2a"`, ""
				}
				number, err := rpc.ParseQuantity(params[0])
				if err != nil {
					t.Error(err)
				}
				return blocktest.Header(number, true, "5208"), ""
			})
			e := sourceFor(t, Options{Now: time.Now}, chainconfig.Endpoint{URL: node.URL, RequestsPerSecond: 100_000}).pool.List[0]
			e.Shorten(9)
			numbers, reqs := make([]chain.Header, all), make([]*rpc.Request, all)
			for i := range reqs {
				reqs[i] = headerRequest(uint64(i+1), &numbers[i])
			}
			if err := e.Do(t.Context(), reqs...); err != nil {
				t.Fatal(err)
			}
			calls := make([]*call, all)
			for i := range calls {
				calls[i] = &call{to: market.EVMAddress([32]byte{31: byte(i + 1)}), data: callSupply}
			}
			clear(asked)
			if doubtful, err := e.ask(t.Context(), newest, calls); err != nil || len(doubtful) > 0 {
				t.Fatalf("%d calls are in doubt, %v", len(doubtful), err)
			}
			for i := range calls {
				if v, ok := calls[i].uint(); !ok || v.Uint64() != 42 || numbers[i].Number != uint64(i+1) {
					t.Errorf("%d: the call has %s, the header the number %d", i, v.Dec(), numbers[i].Number)
				}
			}
			refused := 0
			for i := range all {
				if refuses(i + 1) {
					refused++
				}
			}
			if n := node.count("eth_getBlockByNumber"); n != all+refused {
				t.Errorf("%d headers, %d refused at first, were asked for %d times", all, refused, n)
			}
			if n := node.count("eth_call"); n != all+refused {
				t.Errorf("%d calls, %d refused at first, were made %d times", all, refused, n)
			}
		})
	}
}

// TestAnEndpointThatAnswersLittleIsNotWaitedForLong asks a node that answers one call of each batch: after as many pauses as are allowed others
// get their turn.
func TestAnEndpointThatAnswersLittleIsNotWaitedForLong(t *testing.T) {
	t.Parallel()
	batches := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		batches++
		if body[0] == '{' {
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":0,"result":"0x2a"}`)
			return
		}
		w.Header().Set("Retry-After", "0")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, `[{"jsonrpc":"2.0","id":0,"result":"0x2a"}`)
		for i := 1; i < strings.Count(string(body), `"method"`); i++ {
			_, _ = fmt.Fprintf(w, `,{"jsonrpc":"2.0","id":%d,"error":{"code":429,"message":"too many requests"}}`, i)
		}
		_, _ = io.WriteString(w, "]")
	}))
	t.Cleanup(s.Close)
	for _, calls := range []int{rpc.MostWaitsRefused + 1, rpc.MostWaitsRefused + 2} {
		e := sourceFor(t, Options{Now: time.Now}, chainconfig.Endpoint{URL: s.URL, RequestsPerSecond: 100_000}).pool.List[0]
		answers, reqs := make([]uint64, calls), make([]*rpc.Request, calls)
		for i := range reqs {
			reqs[i] = &rpc.Request{Method: "eth_gasPrice", Take: rpc.Quantity(&answers[i])}
		}
		batches = 0
		err := e.DoWithin(t.Context(), 1<<20, reqs...)
		if answered := err == nil; answered != (calls == rpc.MostWaitsRefused+1) || batches != rpc.MostWaitsRefused+1 || err != nil && !rateRefused(err) {
			t.Errorf("%d calls were sent in %d batches, with %v", calls, batches, err)
		}
	}
}

// TestARefusalBesideAnotherFault asks two nodes, of which one has lost the block and the other is asked too often at first.
func TestARefusalBesideAnotherFault(t *testing.T) {
	t.Parallel()
	lost := newFakeNode(t, func(string, []json.RawMessage) (string, string) {
		return "", `{"code":-32000,"message":"state is pruned"}`
	})
	var asked atomic.Int64
	busy := newFakeNode(t, func(string, []json.RawMessage) (string, string) {
		if asked.Add(1) < rpc.RefusedRounds {
			return "", `{"code":-32005,"message":"exceeded project rate limit"}`
		}
		return blocktest.Header(5, true, "5208"), ""
	})
	if h, err := sourceOf(t, time.Now, lost.URL, busy.URL).Header(t.Context(), 5); err != nil || h.Number != 5 {
		t.Errorf("block %d, %v", h.Number, err)
	}
}
