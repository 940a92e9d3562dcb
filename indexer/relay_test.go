package indexer_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// spoil changes what a node says to one request, or leaves it as it is.
type spoil func(method string, params []json.RawMessage, result json.RawMessage) json.RawMessage

// relay stands before the world's node and spoils its answers. Each request of a batch is one.
func (w *testWorld) relay(t *testing.T, how spoil) (url string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || len(body) == 0 { // no subscriptions here
			panic(http.ErrAbortHandler)
		}
		type request struct {
			Method string            `json:"method"`
			Params []json.RawMessage `json:"params"`
			ID     int               `json:"id"`
		}
		type result struct {
			Version string          `json:"jsonrpc"`
			ID      int             `json:"id"`
			Result  json.RawMessage `json:"result,omitempty"`
			Error   json.RawMessage `json:"error,omitempty"`
		}
		answer, err := post(r.Context(), w.node.URL(), body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		single := body[0] == '{'
		if single {
			body, answer = fmt.Appendf(nil, "[%s]", body), fmt.Appendf(nil, "[%s]", answer)
		}
		var reqs []request
		var answers []result
		if json.Unmarshal(body, &reqs) != nil || json.Unmarshal(answer, &answers) != nil {
			panic(http.ErrAbortHandler)
		}
		for i := range answers {
			for _, q := range reqs {
				if q.ID == answers[i].ID && answers[i].Result != nil {
					answers[i].Result = how(q.Method, q.Params, answers[i].Result)
				}
			}
		}
		if single {
			_ = json.NewEncoder(rw).Encode(answers[0])
			return
		}
		_ = json.NewEncoder(rw).Encode(answers)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// callOf reports whether a request calls one of some functions of a contract.
func callOf(method string, params []json.RawMessage, functions ...string) bool {
	if method != "eth_call" {
		return false
	}
	for _, f := range functions {
		if strings.Contains(string(params[0]), f) {
			return true
		}
	}
	return false
}

// rebasing is the world's token whose balances change without transfers.
func (w *testWorld) rebasing(t *testing.T) market.Address {
	t.Helper()
	return mustAddress(t, w.TokensLike(world.Rebasing)[0].Address)
}
