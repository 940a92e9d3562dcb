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

	"github.com/boardwalkhq/boardwalk/indexer/evm/block/blocktest"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node/nodetest"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
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
