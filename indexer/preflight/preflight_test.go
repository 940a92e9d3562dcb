package preflight_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/boardwalkhq/boardwalk/indexer/preflight"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
)

const key = "k3y-of-the-node"

// chain is one whose nodes are at some URLs.
func chain(urls ...string) *chainconfig.Chain {
	token := func(i byte) string { return "0x" + strings.Repeat("0", 38) + "a" + string('0'+i) }
	c := &chainconfig.Chain{
		ID: "base", Family: chainconfig.EVM, EVMChainID: 8453, BlockTime: chainconfig.Duration(2 * time.Second), FinalityDepth: 64,
		Native: chainconfig.Native{Symbol: "ETH", Wrapped: markettest.Address(token(1))}, Quotes: []chainconfig.Quote{{Symbol: "USDC", Address: markettest.Address(token(2))}},
		Exchanges: []chainconfig.Exchange{{Name: "uniswap-v2", Protocol: market.UniswapV2, Factory: markettest.Address(token(3))}},
	}
	for _, u := range urls {
		c.Endpoints = append(c.Endpoints, chainconfig.Endpoint{URL: u, Weight: 1})
	}
	return c
}

// server answers every call by its method with raw JSON; a method that it doesn't have is refused with text.
func server(t *testing.T, answers map[string]string, refusal string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		type call struct {
			ID     int    `json:"id"`
			Method string `json:"method"`
		}
		var calls []call
		single := json.Unmarshal(body, &calls) != nil
		if single {
			calls = make([]call, 1)
			_ = json.Unmarshal(body, &calls[0])
		}
		out := make([]map[string]any, len(calls))
		for i, c := range calls {
			out[i] = map[string]any{"jsonrpc": "2.0", "id": c.ID}
			if a, ok := answers[c.Method]; ok {
				out[i]["result"] = json.RawMessage(a)
			} else {
				out[i]["error"] = map[string]any{"code": -32000, "message": refusal + " " + r.URL.String()}
			}
		}
		if single {
			_ = json.NewEncoder(w).Encode(out[0])
			return
		}
		_ = json.NewEncoder(w).Encode(out)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v2/" + key
}

func written(t *testing.T, c *chainconfig.Chain) (*preflight.Report, string) {
	t.Helper()
	r, err := preflight.Check(t.Context(), c, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := r.Write(&out); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), key) || strings.Contains(out.String(), "127.0.0.1") {
		t.Errorf("it repeats the URL:\n%s", &out)
	}
	return r, out.String()
}

// TestAHostileNodesTextIsCleaned: whatever a node says of itself, of a token or as an error stands in one line, of bounded length.
func TestAHostileNodesTextIsCleaned(t *testing.T) {
	t.Parallel()
	nasty := "\x1b[2J\r\nbase: all is well\u202e\n" + strings.Repeat("x", 5_000)
	quoted := func(s string) string {
		raw, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	block := `{"number":"0x64","hash":"0x` + strings.Repeat("1", 64) + `","parentHash":"0x` + strings.Repeat("2", 64) + `","timestamp":"0x64"}`
	// An ABI string: offset, length, text.
	text := "0x" + strings.Repeat("0", 62) + "20" + strings.Repeat("0", 62) + "10" + "1b5b324a0d0a" + "41e280ae42" + strings.Repeat("00", 21)
	_, out := written(t, chain(server(t, map[string]string{
		"eth_chainId": `"0x2105"`, "web3_clientVersion": quoted(nasty), "eth_getBlockByNumber": block, "eth_getCode": `"0x6000"`, "eth_call": quoted(text),
	}, nasty)))
	if lines := strings.Count(out, "\n"); lines > 25 || len(out) > 10_000 {
		t.Errorf("it wrote %d lines of %d bytes", lines, len(out))
	}
	for _, r := range out {
		if r != '\n' && (unicode.IsControl(r) || r == '\u202e') {
			t.Fatalf("it wrote %q:\n%q", r, out)
		}
	}
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "base: all is well") {
			t.Errorf("a node made up a line:\n%s", out)
		}
	}
}

// TestNodesThatCantBeAsked: a node that isn't there is missing beside one that is, and wrong alone; another chain's is wrong.
func TestNodesThatCantBeAsked(t *testing.T) {
	t.Parallel()
	const dead = "http://127.0.0.1:9/v2/" + key
	block := `{"number":"0x64","hash":"0x` + strings.Repeat("1", 64) + `","parentHash":"0x` + strings.Repeat("2", 64) + `","timestamp":"0x64"}`
	answers := map[string]string{
		"eth_chainId": `"0x2105"`, "eth_getBlockByNumber": block, "eth_getCode": `"0x"`, "eth_getBalance": `"0x1"`, "eth_getLogs": `[]`, "eth_call": `"0x"`,
	}
	for name, c := range map[string]struct {
		urls  []string
		wrong int
		want  []string
	}{
		"none answers": {[]string{dead}, 1, []string{
			"base: chain id 8453 is served by none of 1 endpoints", "missing: endpoint 1 can't be asked", "wrong: no endpoint answers: give the URL of a node of chain id 8453",
		}},
		"one answers": {[]string{dead, server(t, answers, "no")}, 3, []string{
			"base: chain id 8453 is served by 1 of 2 endpoints, whose block 100 is ", "0 of 3 declared addresses", "there is no contract at this address", "endpoint 2 answers many calls in one by neither way",
			"missing: endpoint 1 can't be asked", "endpoint 2 has a newest block that is ", "wait until it is in sync",
		}},
		"another chain's": {[]string{server(t, map[string]string{"eth_chainId": `"0x1"`}, "no")}, 1, []string{"its eth_chainId is 1", "chainID 8453"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, out := written(t, chain(c.urls...))
			if r.CountWrong() != c.wrong {
				t.Errorf("%d are wrong, want %d", r.CountWrong(), c.wrong)
			}
			for _, want := range c.want {
				if !strings.Contains(out, want) {
					t.Errorf("%q is not in\n%s", want, out)
				}
			}
		})
	}
}
