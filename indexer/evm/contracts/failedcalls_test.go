package contracts

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node/nodetest"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// tokenAt is the i-th token of a test.
func tokenAt(i int) market.Address { return market.EVMAddress([32]byte{30: 1, 31: byte(i)}) }

// eighteen answers every call with the number 18.
const eighteen = `"0x0000000000000000000000000000000000000000000000000000000000000012"`

// spoiling is a node that answers every call with 18, but those of a token with a refusal.
func spoiling(t *testing.T, token market.Address, refusal string) *nodetest.Node {
	t.Helper()
	return nodetest.New(t, func(_ string, params []json.RawMessage) (string, string) {
		if strings.Contains(string(params[0]), token.String()) {
			return "", refusal
		}
		return eighteen, ""
	})
}

// TestAFailingContractHasNoAnswer asks three tokens, of which one fails in each way that may be the contract's: the
// others' answers count.
func TestAFailingContractHasNoAnswer(t *testing.T) {
	t.Parallel()
	tokens := []market.Address{tokenAt(1), tokenAt(2), tokenAt(3)}
	for _, r := range nodetest.Refusals {
		if r.Fault == "node" || r.Fault == "state" {
			continue
		}
		refusal, err := json.Marshal(rpc.NodeError{Code: r.Code, Message: r.Message, Data: json.RawMessage(`"0x"`)})
		if err != nil {
			t.Fatal(err)
		}
		node := spoiling(t, tokens[1], string(refusal))
		facts, _, err := sourceOf(t, time.Now, node.URL).Contracts().TokenFacts(t.Context(), chain.Ref{Number: 5}, tokens)
		if err != nil {
			t.Errorf("%s's %d %q keeps a block from being indexed: %v", r.Client, r.Code, r.Message, err)
			continue
		}
		for i, f := range facts {
			if want := i != 1; f.HasDecimals != want || f.HasSupply != want {
				t.Errorf("%s's %d %q: token %d has decimals %v, want %v", r.Client, r.Code, r.Message, i, f.HasDecimals, want)
			}
		}
	}
}

// TestAFailingNodeIsNotBelieved has nodes that refuse calls for reasons of their own: nothing may be taken for a fact.
func TestAFailingNodeIsNotBelieved(t *testing.T) {
	t.Parallel()
	for name, refusal := range map[string]string{
		"a rate limit":              `{"code":-32005,"message":"limit exceeded"}`,
		"an unknown reason":         `{"code":-32603,"message":"Internal error"}`,
		"another":                   `{"code":-32000,"message":"upstream connect error"}`,
		"time":                      `{"code":-32000,"message":"execution aborted (timeout = 5s)"}`,
		"answers that are too long": `{"code":-32003,"message":"response too large"}`,
	} {
		everything := nodetest.New(t, func(string, []json.RawMessage) (string, string) { return "", refusal })
		facts, _, err := sourceOf(t, time.Now, everything.URL).Contracts().TokenFacts(t.Context(), chain.Ref{Number: 5}, []market.Address{tokenAt(1)})
		if err == nil {
			t.Errorf("%s: a node that refuses everything is believed: %+v", name, facts)
		}
	}
}

// TestADoubtfulCallIsAskedElsewhere has a first node that fails a token for a reason that may be its own, and others
// beside it.
func TestADoubtfulCallIsAskedElsewhere(t *testing.T) {
	t.Parallel()
	const unknown = `{"code":-32603,"message":"Internal error"}`
	healthy := nodetest.New(t, func(string, []json.RawMessage) (string, string) { return eighteen, "" })
	limited := nodetest.New(t, func(string, []json.RawMessage) (string, string) { return "", `{"code":429,"message":"slow down"}` })
	pruned := nodetest.New(t, func(string, []json.RawMessage) (string, string) {
		return "", `{"code":-32000,"message":"missing trie node"}`
	})
	for name, tt := range map[string]struct {
		second string
		want   bool
	}{
		"another node answers":              {healthy.URL, true},
		"another node fails it too":         {spoiling(t, tokenAt(1), unknown).URL, false},
		"another node is asked too often":   {limited.URL, false},
		"another node has lost the state":   {pruned.URL, false},
		"another node can't be reached":     {"http://127.0.0.1:1", false},
		"another node says that it reverts": {spoiling(t, tokenAt(1), `{"code":3,"message":"execution reverted"}`).URL, false},
	} {
		first := spoiling(t, tokenAt(1), unknown)
		s := sourceOf(t, time.Now, first.URL, tt.second)
		facts, _, err := s.Contracts().TokenFacts(t.Context(), chain.Ref{Number: 5}, []market.Address{tokenAt(1), tokenAt(2)})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if facts[0].HasDecimals != tt.want || !facts[1].HasDecimals {
			t.Errorf("%s: the facts are %+v; want decimals of the doubtful token: %v", name, facts, tt.want)
		}
	}
}

// TestANodeThatFailsWhileItIsAskedAgain: a call fails once for a reason of the node, and is answered when it is asked
// again.
func TestANodeThatFailsWhileItIsAskedAgain(t *testing.T) {
	t.Parallel()
	left := 1
	node := nodetest.New(t, func(_ string, params []json.RawMessage) (string, string) {
		if strings.Contains(string(params[0]), callDecimals) && left > 0 {
			left--
			return "", `{"code":-32000,"message":"Unable to complete request at this time."}`
		}
		return eighteen, ""
	})
	facts, _, err := sourceOf(t, time.Now, node.URL).Contracts().TokenFacts(t.Context(), chain.Ref{Number: 5}, []market.Address{tokenAt(1)})
	if err != nil || !facts[0].HasDecimals {
		t.Errorf("%+v, %v", facts, err)
	}
}
