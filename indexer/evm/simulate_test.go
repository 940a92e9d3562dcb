package evm

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// fakeNode answers each call of a batch by a function: a result, or an error as a node writes it.
type fakeNode struct {
	*httptest.Server

	mu     sync.Mutex
	answer func(method string, params []json.RawMessage) (result, refusal string)
	calls  []string
	// balances says that answer answers for accounts' balances of the native coin, too.
	balances bool
}

func newFakeNode(t *testing.T, answer func(method string, params []json.RawMessage) (result, refusal string)) *fakeNode {
	t.Helper()
	n := &fakeNode{answer: answer}
	n.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		single := body[0] == '{'
		if single {
			body = []byte("[" + string(body) + "]")
		}
		var reqs []struct {
			ID     int
			Method string
			Params []json.RawMessage
		}
		if err := json.Unmarshal(body, &reqs); err != nil {
			t.Error(err)
		}
		n.mu.Lock()
		defer n.mu.Unlock()
		var out []string
		for _, q := range reqs {
			n.calls = append(n.calls, q.Method)
			result, refusal := `"0x1"`, ""
			switch {
			case q.Method == "eth_getBalance" && !n.balances: // it keeps all state
				if string(q.Params[1]) != `"latest"` {
					result = string(q.Params[1])
				}
			case q.Method != "eth_chainId":
				result, refusal = n.answer(q.Method, q.Params)
			}
			if refusal != "" {
				out = append(out, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"error":%s}`, q.ID, refusal))
			} else {
				out = append(out, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%s}`, q.ID, result))
			}
		}
		if single {
			_, _ = io.WriteString(w, out[0])
			return
		}
		_, _ = io.WriteString(w, "["+strings.Join(out, ",")+"]")
	}))
	t.Cleanup(n.Close)
	return n
}

func (n *fakeNode) count(method string) (c int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, m := range n.calls {
		if m == method {
			c++
		}
	}
	return c
}

func sourceOf(t *testing.T, now func() time.Time, urls ...string) *Source {
	t.Helper()
	var endpoints []chainconfig.Endpoint
	for _, u := range urls {
		endpoints = append(endpoints, chainconfig.Endpoint{URL: u, Weight: 1})
	}
	return sourceFor(t, Options{Now: now}, endpoints...)
}

// balanceOverride is the balance that a call's overrides give its callee.
func balanceOverride(params []json.RawMessage) string {
	if len(params) < 3 {
		return ""
	}
	var call struct{ To string }
	var overrides map[string]struct{ Balance, Code string }
	if json.Unmarshal(params[0], &call) != nil || json.Unmarshal(params[2], &overrides) != nil {
		return ""
	}
	return overrides[call.To].Balance
}

// asked says that an overriding node answers its probe, and everything else with the word 7.
func overriding(method string, params []json.RawMessage) (result, refusal string) {
	if b := balanceOverride(params); method == "eth_call" && b != "" {
		return `"0x` + strings.Repeat("0", 64-len(b)+2) + b[2:] + `"`, ""
	}
	return `"0x` + strings.Repeat("0", 63) + `7"`, ""
}

func simulated() *Question {
	return &Question{
		To: market.Native, From: market.Native,
		Overrides: []Override{{Account: market.Native, Code: []byte{1}, Balance: new(market.Amount).SetUint64(1)}},
	}
}

func TestOverridesAreProbed(t *testing.T) {
	t.Parallel()
	refusing := newFakeNode(t, func(_ string, params []json.RawMessage) (string, string) {
		if len(params) > 2 {
			return "", `{"code":-32602,"message":"too many arguments, want at most 2"}`
		}
		return `"0x"`, ""
	})
	stripping := newFakeNode(t, func(string, []json.RawMessage) (string, string) { return `"0x"`, "" })
	able := newFakeNode(t, overriding)
	now := time.Unix(1_000_000, 0)
	s := sourceOf(t, func() time.Time { return now }, refusing.URL, stripping.URL)
	for range 3 {
		if err := s.Ask(t.Context(), chain.Ref{Number: 5}, []*Question{simulated()}); !errors.Is(err, ErrNoOverride) {
			t.Fatalf("without an endpoint that simulates: %v", err)
		}
	}
	if n := refusing.count("eth_call") + stripping.count("eth_call"); n != 2 {
		t.Errorf("%d calls to find out what two endpoints can", n)
	}
	if got := s.Overrides(); len(got) != 2 || got["endpoint 1"] || got["endpoint 2"] {
		t.Errorf("known of the endpoints is %v", got)
	}
	// A view needs no override.
	if err := s.Ask(t.Context(), chain.Ref{Number: 5}, []*Question{{To: market.Native}}); err != nil {
		t.Error(err)
	}
	now = now.Add(overrideRetry)
	before := refusing.count("eth_call") + stripping.count("eth_call")
	if err := s.Ask(t.Context(), chain.Ref{Number: 5}, []*Question{simulated()}); !errors.Is(err, ErrNoOverride) {
		t.Error(err)
	}
	if n := refusing.count("eth_call") + stripping.count("eth_call") - before; n != 2 {
		t.Errorf("%d probes after a while", n)
	}

	s = sourceOf(t, func() time.Time { return now }, refusing.URL, able.URL)
	q := simulated()
	if err := s.Ask(t.Context(), chain.Ref{Number: 5}, []*Question{q, {Kind: AskCode, To: market.Native}}); err != nil || !q.OK {
		t.Errorf("one endpoint of two simulates: %v, %+v", err, q)
	}
}

func TestAnEndpointThatStopsSimulating(t *testing.T) {
	t.Parallel()
	works := true
	n := newFakeNode(t, func(method string, params []json.RawMessage) (string, string) {
		if !works {
			return `"0x"`, ""
		}
		return overriding(method, params)
	})
	s := sourceOf(t, time.Now, n.URL)
	if err := s.Ask(t.Context(), chain.Ref{Number: 5}, []*Question{simulated()}); err != nil {
		t.Fatal(err)
	}
	n.mu.Lock()
	works = false
	n.mu.Unlock()
	if err := s.Ask(t.Context(), chain.Ref{Number: 5}, []*Question{simulated()}); err != nil {
		t.Fatal(err) // it answers, with nothing
	}
	if err := s.Ask(t.Context(), chain.Ref{Number: 5}, []*Question{simulated()}); !errors.Is(err, ErrNoOverride) {
		t.Errorf("after an answer as if without overrides: %v", err)
	}
}

func TestAnswersOfEachKind(t *testing.T) {
	t.Parallel()
	n := newFakeNode(t, func(method string, params []json.RawMessage) (string, string) {
		switch method {
		case "eth_getCode":
			return `"0xef"`, ""
		case "eth_getStorageAt":
			return `"0x1ff"`, "" // without leading zeros
		case "eth_gasPrice":
			return `"0x7"`, ""
		}
		var call struct{ Data string }
		if err := json.Unmarshal(params[0], &call); err != nil {
			return "", `{"code":-32700,"message":"no JSON"}`
		}
		switch call.Data {
		case "0x01":
			return "", `{"code":3,"message":"execution reverted","data":"0x1234"}`
		case "0x02":
			return "", `{"code":-32000,"message":"execution aborted (timeout = 5s)"}`
		case "0x03":
			return `"0x` + strings.Repeat("00", maxCallAnswer+32) + `"`, ""
		case "0x04":
			return `"0x` + strings.Repeat("ff", 32) + `"`, ""
		}
		return `"0x` + strings.Repeat("00", maxCallAnswer) + `"`, ""
	})
	s := sourceOf(t, time.Now, n.URL)
	code, slot, gas := &Question{Kind: AskCode, To: market.Native}, &Question{Kind: AskStorage, To: market.Native}, &Question{Kind: AskGasPrice}
	view := func(b ...byte) *Question { return &Question{To: market.Native, Data: b} }
	reverts, slow, long, address, most := view(1), view(2), view(3), view(4), view(5)
	if err := s.Ask(t.Context(), chain.Ref{Number: 5}, []*Question{code, slot, gas, reverts, slow, long, address, most}); err != nil {
		t.Fatal(err)
	}
	if !code.OK || string(code.Answer) != "\xef" {
		t.Errorf("the code is %+v", code)
	}
	if v, ok := slot.Uint(); !ok || v.Uint64() != 0x1ff || len(slot.Answer) != 32 {
		t.Errorf("the slot is %+v", slot)
	}
	if v, ok := gas.Uint(); !ok || v.Uint64() != 7 {
		t.Errorf("the gas price is %+v", gas)
	}
	if !reverts.Reverted || reverts.OK || reverts.Failed {
		t.Errorf("a revert is %+v", reverts)
	}
	if !slow.Failed || slow.OK || slow.Reverted {
		t.Errorf("a timeout is %+v", slow)
	}
	if long.OK || !long.Reverted || long.Answer != nil {
		t.Error("more than 64 KiB was taken")
	}
	if !most.OK || len(most.Answer) != maxCallAnswer {
		t.Error("64 KiB were not taken")
	}
	if _, ok := address.Address(); ok {
		t.Error("a word of ones was taken for an address")
	}
}

func TestStateGone(t *testing.T) {
	t.Parallel()
	gone := func(string, []json.RawMessage) (string, string) {
		return "", `{"code":-32000,"message":"missing trie node 0xabc (path )"}`
	}
	a, b := newFakeNode(t, gone), newFakeNode(t, gone)
	s := sourceOf(t, time.Now, a.URL, b.URL)
	if err := s.Ask(t.Context(), chain.Ref{Number: 5}, []*Question{{To: market.Native}}); !errors.Is(err, ErrStateGone) {
		t.Errorf("no endpoint keeps the state: %v", err)
	}
	s = sourceOf(t, time.Now, a.URL, newFakeNode(t, overriding).URL)
	if err := s.Ask(t.Context(), chain.Ref{Number: 5}, []*Question{{To: market.Native}}); err != nil {
		t.Errorf("one endpoint of two keeps the state: %v", err)
	}
}

func TestAskSaysNothingOfTheURL(t *testing.T) {
	t.Parallel()
	n := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":0,"error":{"code":-32000,"message":"no such key: %s"}}`, r.URL)
	}))
	t.Cleanup(n.Close)
	for _, u := range []string{n.URL + "/secretkey", "http://127.0.0.1:1/secretkey"} {
		s := sourceOf(t, time.Now, u)
		for _, q := range []*Question{simulated(), {To: market.Native}} {
			if err := s.Ask(t.Context(), chain.Ref{Number: 5}, []*Question{q}); err == nil || strings.Contains(err.Error(), "secretkey") {
				t.Errorf("%v", err)
			}
		}
	}
}
