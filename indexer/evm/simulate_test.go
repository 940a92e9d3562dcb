package evm

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/ethcall"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node/nodetest"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

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
	refusing := nodetest.New(t, func(_ string, params []json.RawMessage) (string, string) {
		if len(params) > 2 {
			return "", `{"code":-32602,"message":"too many arguments, want at most 2"}`
		}
		return `"0x"`, ""
	})
	stripping := nodetest.New(t, func(string, []json.RawMessage) (string, string) { return `"0x"`, "" })
	able := nodetest.New(t, overriding)
	now := time.Unix(1_000_000, 0)
	s := sourceOf(t, func() time.Time { return now }, refusing.URL, stripping.URL)
	for range 3 {
		if err := s.Ask(t.Context(), chain.Ref{Number: 5}, []*Question{simulated()}); !errors.Is(err, ErrNoOverride) {
			t.Fatalf("without an endpoint that simulates: %v", err)
		}
	}
	if n := refusing.Count("eth_call") + stripping.Count("eth_call"); n != 2 {
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
	before := refusing.Count("eth_call") + stripping.Count("eth_call")
	if err := s.Ask(t.Context(), chain.Ref{Number: 5}, []*Question{simulated()}); !errors.Is(err, ErrNoOverride) {
		t.Error(err)
	}
	if n := refusing.Count("eth_call") + stripping.Count("eth_call") - before; n != 2 {
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
	n := nodetest.New(t, func(method string, params []json.RawMessage) (string, string) {
		if !works {
			return `"0x"`, ""
		}
		return overriding(method, params)
	})
	s := sourceOf(t, time.Now, n.URL)
	if err := s.Ask(t.Context(), chain.Ref{Number: 5}, []*Question{simulated()}); err != nil {
		t.Fatal(err)
	}
	n.Mu.Lock()
	works = false
	n.Mu.Unlock()
	if err := s.Ask(t.Context(), chain.Ref{Number: 5}, []*Question{simulated()}); err != nil {
		t.Fatal(err) // it answers, with nothing
	}
	if err := s.Ask(t.Context(), chain.Ref{Number: 5}, []*Question{simulated()}); !errors.Is(err, ErrNoOverride) {
		t.Errorf("after an answer as if without overrides: %v", err)
	}
}

func TestAnswersOfEachKind(t *testing.T) {
	t.Parallel()
	n := nodetest.New(t, func(method string, params []json.RawMessage) (string, string) {
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
			return `"0x` + strings.Repeat("00", ethcall.LongestAnswer+32) + `"`, ""
		case "0x04":
			return `"0x` + strings.Repeat("ff", 32) + `"`, ""
		}
		return `"0x` + strings.Repeat("00", ethcall.LongestAnswer) + `"`, ""
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
	if !most.OK || len(most.Answer) != ethcall.LongestAnswer {
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
	a, b := nodetest.New(t, gone), nodetest.New(t, gone)
	s := sourceOf(t, time.Now, a.URL, b.URL)
	if err := s.Ask(t.Context(), chain.Ref{Number: 5}, []*Question{{To: market.Native}}); !errors.Is(err, ErrStateGone) {
		t.Errorf("no endpoint keeps the state: %v", err)
	}
	s = sourceOf(t, time.Now, a.URL, nodetest.New(t, overriding).URL)
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
