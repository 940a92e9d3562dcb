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
	"github.com/boardwalkhq/boardwalk/indexer/evm/node"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node/nodetest"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// TestARefusalForTheRateIsTriedAgain asks a node that refuses twice.
func TestARefusalForTheRateIsTriedAgain(t *testing.T) {
	t.Parallel()
	for _, refusals := range []int64{rpc.RefusedRounds - 1, rpc.RefusedRounds} {
		t.Run(strconv.FormatInt(refusals, 10), func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int64
			node := nodetest.New(t, func(method string, _ []json.RawMessage) (string, string) {
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
			fake := nodetest.New(t, func(method string, params []json.RawMessage) (string, string) {
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
			e := sourceFor(t, Options{Now: time.Now}, chainconfig.Endpoint{URL: fake.URL, RequestsPerSecond: 100_000}).pool.List[0]
			e.Shorten(9)
			numbers, reqs := make([]chain.Header, all), make([]*rpc.Request, all)
			for i := range reqs {
				reqs[i] = node.HeaderRequest(uint64(i+1), &numbers[i])
			}
			if err := e.Do(t.Context(), reqs...); err != nil {
				t.Fatal(err)
			}
			calls := make([]*call, all)
			for i := range calls {
				calls[i] = &call{to: market.EVMAddress([32]byte{31: byte(i + 1)}), data: callSupply}
			}
			clear(asked)
			if doubtful, err := e.ask(t.Context(), node.Newest, calls); err != nil || len(doubtful) > 0 {
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
			if n := fake.Count("eth_getBlockByNumber"); n != all+refused {
				t.Errorf("%d headers, %d refused at first, were asked for %d times", all, refused, n)
			}
			if n := fake.Count("eth_call"); n != all+refused {
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
		if answered := err == nil; answered != (calls == rpc.MostWaitsRefused+1) || batches != rpc.MostWaitsRefused+1 || err != nil && !node.RateRefused(err) {
			t.Errorf("%d calls were sent in %d batches, with %v", calls, batches, err)
		}
	}
}

// TestARefusalBesideAnotherFault asks two nodes, of which one has lost the block and the other is asked too often at first.
func TestARefusalBesideAnotherFault(t *testing.T) {
	t.Parallel()
	lost := nodetest.New(t, func(string, []json.RawMessage) (string, string) {
		return "", `{"code":-32000,"message":"state is pruned"}`
	})
	var asked atomic.Int64
	busy := nodetest.New(t, func(string, []json.RawMessage) (string, string) {
		if asked.Add(1) < rpc.RefusedRounds {
			return "", `{"code":-32005,"message":"exceeded project rate limit"}`
		}
		return blocktest.Header(5, true, "5208"), ""
	})
	if h, err := sourceOf(t, time.Now, lost.URL, busy.URL).Header(t.Context(), 5); err != nil || h.Number != 5 {
		t.Errorf("block %d, %v", h.Number, err)
	}
}
