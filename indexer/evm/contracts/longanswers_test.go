package contracts

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/ethcall"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// bulkyNode is a node on which some tokens answer so many bytes to whatever they are asked; everything else is
// answered with 18.
type bulkyNode struct {
	*httptest.Server
	bytes  map[market.Address]int
	served atomic.Int64 // requests
	asked  atomic.Int64 // calls
	// refuse may answer a request before the node does; it is told the bytes that the node would answer.
	refuse func(w http.ResponseWriter, size int) bool
	// most is what a batch's results may add up to; the calls after that are refused, as geth does it. 0 is no bound.
	most int
}

func newBulkyNode(t *testing.T, bytes map[market.Address]int) *bulkyNode {
	t.Helper()
	n := &bulkyNode{bytes: bytes}
	n.Server = httptest.NewServer(n)
	t.Cleanup(n.Close)
	return n
}

func (n *bulkyNode) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n.served.Add(1)
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
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
		panic(http.ErrAbortHandler)
	}
	size := 0
	var out []string
	for _, q := range reqs {
		n.asked.Add(1)
		result := n.result(q.Method, q.Params)
		if n.most > 0 && size > n.most {
			out = append(out, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"error":{"code":-32003,"message":"response too large"}}`, q.ID))
			continue
		}
		size += len(result)
		out = append(out, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%s}`, q.ID, result))
	}
	if n.refuse != nil && n.refuse(w, size) {
		return
	}
	if single {
		_, _ = io.WriteString(w, out[0])
		return
	}
	_, _ = io.WriteString(w, "["+strings.Join(out, ",")+"]")
}

func (n *bulkyNode) result(method string, params []json.RawMessage) string {
	if method == "eth_chainId" {
		return `"0x1"`
	}
	for token, size := range n.bytes {
		if strings.Contains(string(params[0]), token.String()) {
			return `"0x` + strings.Repeat("00", size) + `"`
		}
	}
	return eighteen
}

// manyTokens are as many tokens, of which some answer so many bytes.
func manyTokens(n int, size int, bulky ...int) (tokens []market.Address, bytes map[market.Address]int) {
	bytes = map[market.Address]int{}
	for i := range n {
		tokens = append(tokens, tokenAt(i))
	}
	for _, i := range bulky {
		bytes[tokenAt(i)] = size
	}
	return tokens, bytes
}

// othersAnswer holds that all tokens but the bulky ones have told their decimals.
func othersAnswer(t *testing.T, facts []market.TokenFact, bytes map[market.Address]int) {
	t.Helper()
	for _, f := range facts {
		if _, bulky := bytes[f.Token]; f.HasDecimals == bulky || f.HasSupply == bulky {
			t.Errorf("%s has decimals %v and a supply %v; it answers too much: %v", f.Token, f.HasDecimals, f.HasSupply, bulky)
		}
	}
}

// TestBatchesAreHalved has tokens whose answers are too much for a node's batch, for a gateway, or for us, among
// tokens that answer as they should.
func TestBatchesAreHalved(t *testing.T) {
	t.Parallel()
	const much = 70_000
	gateway := func(status int) func(http.ResponseWriter, int) bool {
		return func(w http.ResponseWriter, size int) bool {
			if size > 2*much {
				w.WriteHeader(status)
			}
			return size > 2*much
		}
	}
	whole := func(message string) func(http.ResponseWriter, int) bool {
		return func(w http.ResponseWriter, size int) bool {
			if size > 2*much {
				_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":%q}}`, message)
			}
			return size > 2*much
		}
	}
	for name, set := range map[string]func(*bulkyNode){
		"the rest of a batch is refused":   func(n *bulkyNode) { n.most = much },
		"one bulky answer is all that may": func(n *bulkyNode) { n.most = much / 2 },
		"a gateway says too large":         func(n *bulkyNode) { n.refuse = gateway(http.StatusRequestEntityTooLarge) },
		"a gateway gives up":               func(n *bulkyNode) { n.refuse = gateway(http.StatusGatewayTimeout) },
		"a batch is refused as a whole":    func(n *bulkyNode) { n.refuse = whole("response size exceeds the limit") },
		"a batch takes too long":           func(n *bulkyNode) { n.refuse = whole("request timed out") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tokens, bytes := manyTokens(60, much, 3, 4, 5, 40, 59)
			node := newBulkyNode(t, bytes)
			set(node)
			facts, _, err := sourceOf(t, time.Now, node.URL).Contracts().TokenFacts(t.Context(), chain.Ref{Number: 5}, tokens)
			if err != nil {
				t.Fatal(err)
			}
			othersAnswer(t, facts, bytes)
			if n := node.served.Load(); n > 150 {
				t.Errorf("%d requests for %d tokens", n, len(tokens))
			}
		})
	}
}

// TestAnswersBeyondOurLimit has tokens that answer more together, and one that answers more alone, than is read of an
// answer.
func TestAnswersBeyondOurLimit(t *testing.T) {
	t.Parallel()
	tokens, bytes := manyTokens(12, 2_200_000, 7)
	bytes[tokenAt(10)] = ethcall.LongestBatch/2 + 1
	node := newBulkyNode(t, bytes)
	facts, _, err := sourceOf(t, time.Now, node.URL).Contracts().TokenFacts(t.Context(), chain.Ref{Number: 5}, tokens)
	if err != nil {
		t.Fatal(err)
	}
	othersAnswer(t, facts, bytes)
}

// TestALoneCallThatIsTooMuch: a node gives up on one token alone. It has no answer, unless another node gives it.
func TestALoneCallThatIsTooMuch(t *testing.T) {
	t.Parallel()
	tokens, bytes := manyTokens(10, 50_000, 6)
	strict := func() *bulkyNode {
		n := newBulkyNode(t, bytes)
		n.refuse = func(w http.ResponseWriter, size int) bool {
			if size > 50_000 {
				w.WriteHeader(http.StatusGatewayTimeout)
			}
			return size > 50_000
		}
		return n
	}
	facts, _, err := sourceOf(t, time.Now, strict().URL, strict().URL).Contracts().TokenFacts(t.Context(), chain.Ref{Number: 5}, tokens)
	if err != nil {
		t.Fatal(err)
	}
	othersAnswer(t, facts, bytes)
	facts, _, err = sourceOf(t, time.Now, strict().URL, newBulkyNode(t, bytes).URL).Contracts().TokenFacts(t.Context(), chain.Ref{Number: 5}, tokens)
	if err != nil || !facts[6].HasSupply {
		t.Errorf("another node answers for the token, and its supply is known: %v, %v", facts[6].HasSupply, err)
	}
}

// TestANodeThatGivesUpOnEverything: batches aren't taken apart at a node that fails the simplest call as well.
func TestANodeThatGivesUpOnEverything(t *testing.T) {
	t.Parallel()
	tokens, bytes := manyTokens(25, 0)
	node := newBulkyNode(t, bytes)
	node.refuse = func(w http.ResponseWriter, size int) bool {
		if size > len(`"0x1"`) {
			w.WriteHeader(http.StatusGatewayTimeout)
		}
		return size > len(`"0x1"`)
	}
	if _, _, err := sourceOf(t, time.Now, node.URL).Contracts().TokenFacts(t.Context(), chain.Ref{Number: 5}, tokens); err == nil {
		t.Error("a node that answers nothing is believed")
	}
	if n := node.served.Load(); n != 4 {
		t.Errorf("%d requests to a node that answers nothing; want its chain's id, a question about an old block, the batch and one call", n)
	}
}
