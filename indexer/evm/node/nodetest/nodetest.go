// Package nodetest has a node of an EVM chain that answers as a test says, and the refusals of real ones.
package nodetest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Node answers each call of a batch by a function: a result, or an error as a node writes it.
type Node struct {
	*httptest.Server

	// Mu is held while the node answers.
	Mu sync.Mutex
	// Answer gives a result, or an error.
	Answer func(method string, params []json.RawMessage) (result, refusal string)
	calls  []string
	// Balances says that Answer answers for accounts' balances of the native coin, too.
	Balances bool
}

// New starts a node; it ends with the test.
func New(t *testing.T, answer func(method string, params []json.RawMessage) (result, refusal string)) *Node {
	t.Helper()
	n := &Node{Answer: answer}
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
		n.Mu.Lock()
		defer n.Mu.Unlock()
		var out []string
		for _, q := range reqs {
			n.calls = append(n.calls, q.Method)
			result, refusal := `"0x1"`, ""
			switch {
			case q.Method == "eth_getBalance" && !n.Balances: // it keeps all state
				if string(q.Params[1]) != `"latest"` {
					result = string(q.Params[1])
				}
			case q.Method != "eth_chainId":
				result, refusal = n.Answer(q.Method, q.Params)
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

// Count is how often a method was called.
func (n *Node) Count(method string) (c int) {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	for _, m := range n.calls {
		if m == method {
			c++
		}
	}
	return c
}
