package rpc

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
)

// TestALimitOfCallsIsLearned: a node takes only so many calls at once. A longer batch is sent in parts, and once the node has
// refused one it is sent no other that it has to refuse.
func TestALimitOfCallsIsLearned(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{1, 3, 19, 20, 21} {
		t.Run(strconv.Itoa(limit), func(t *testing.T) {
			t.Parallel()
			refused := 0
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					panic(http.ErrAbortHandler)
				}
				if body[0] == '{' {
					_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":0,"result":"0x2a"}`)
					return
				}
				var calls []struct{ ID int }
				if err := json.Unmarshal(body, &calls); err != nil {
					panic(http.ErrAbortHandler)
				}
				if len(calls) > limit {
					refused++
					_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"batch limit %d exceeded: %d requests given"}}`,
						limit, len(calls))
					return
				}
				answers := make([]map[string]any, len(calls))
				for i, c := range calls {
					answers[i] = map[string]any{"jsonrpc": "2.0", "id": c.ID, "result": "0x2a"}
				}
				_ = json.NewEncoder(w).Encode(answers)
			}))
			t.Cleanup(s.Close)
			e, err := NewEndpoint(0, EndpointOptions{
				Declared: chainconfig.Endpoint{URL: s.URL}, Reads: NewInFlight(nil), Now: time.Now,
				RateRefused: func(error) bool { return false },
			})
			if err != nil {
				t.Fatal(err)
			}
			for round := range 2 {
				answers := make([]uint64, 20)
				reqs := make([]*Request, len(answers))
				for i := range reqs {
					reqs[i] = &Request{Method: "eth_gasPrice", Take: Quantity(&answers[i])}
				}
				before := refused
				if err := e.Do(t.Context(), reqs...); err != nil {
					t.Fatal(err)
				}
				for i, a := range answers {
					if a != 42 {
						t.Errorf("call %d answers %d", i, a)
					}
				}
				if again := refused - before; round > 0 && again > 0 {
					t.Errorf("%d batches more were refused", again)
				}
			}
			if wanted := limit < 20; (refused > 0) != wanted {
				t.Errorf("%d batches were refused", refused)
			}
		})
	}
}
