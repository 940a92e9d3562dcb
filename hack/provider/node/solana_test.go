package node

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/boardwalkhq/boardwalk/hack/provider/profiles"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
)

// solanaNode is a node before a chain whose head is slot 1000, and which answers each call with what it is given.
func solanaNode(t *testing.T, p profiles.Profile, answers map[string]string) *Node {
	t.Helper()
	chain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var calls []wireCall
		_ = json.NewDecoder(r.Body).Decode(&calls)
		var out []string
		for _, c := range calls {
			answer := answers[c.Method]
			if c.Method == "getSlot" {
				answer = "1000"
			}
			out = append(out, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%s}`, c.ID, answer))
		}
		_, _ = io.WriteString(w, "["+strings.Join(out, ",")+"]")
	}))
	t.Cleanup(chain.Close)
	n, err := StartSolana(t.Context(), chain.URL, Options{Profile: p, Now: func() time.Time { return time.Unix(0, 0) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Close() })
	return n
}

// TestTheStreamOfAProfileIsItsSecondEndpoint: only a profile with a stream has one, and it needs a server to read blocks from.
func TestTheStreamOfAProfileIsItsSecondEndpoint(t *testing.T) {
	if list := solanaNode(t, profile(t, "agave"), nil).Endpoints(); len(list) != 1 {
		t.Errorf("%+v", list)
	}
	if _, err := StartSolana(t.Context(), "http://127.0.0.1:1", Options{Profile: profile(t, "yellowstone")}); err == nil || !strings.Contains(err.Error(), "no server of Yellowstone gRPC") {
		t.Errorf("error %v", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // a test's own
	if err != nil {
		t.Fatal(err)
	}
	upstream := grpc.NewServer(grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
		<-stream.Context().Done() // a chain without blocks
		return nil
	}))
	go func() { _ = upstream.Serve(l) }()
	t.Cleanup(upstream.Stop)
	for _, name := range []string{"yellowstone", "yellowstone-moody"} {
		p, err := profiles.Of(name)
		if err != nil {
			t.Fatal(err)
		}
		n, err := StartSolana(t.Context(), "http://127.0.0.1:1", Options{Profile: p, Yellowstone: "http://" + l.Addr().String()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = n.Close() })
		if list := n.Endpoints(); len(list) != 2 || list[1].Protocol != chainconfig.YellowstoneGRPC || !strings.HasSuffix(list[1].URL, "/"+p.Stream.Token) {
			t.Errorf("%+v", list)
		}
		if got := p.Stream.Gone.Err(1, 2).Error(); !strings.Contains(got, "broadcast from 1 is not available, last available: 2") {
			t.Error(got)
		}
		if got := p.Stream.TooLong.Err(1, 2).Error(); !strings.Contains(got, "found 1 bytes, the limit is: 2 bytes") {
			t.Error(got)
		}
	}
}

// says asks a node, and wants a part of its answer.
func says(t *testing.T, n *Node, method, params string, status int, want string) {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, n.URL(), strings.NewReader(`{"jsonrpc":"2.0","id":7,"method":"`+method+`","params":`+params+`}`))
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != status || !strings.Contains(string(raw), want) {
		t.Errorf("%s %s: status %d, %s (%v); want %d, %s", method, params, res.StatusCode, raw, err, status, want)
	}
}

func TestANodeOfSolanaKeepsSoManySlots(t *testing.T) {
	n := solanaNode(t, profiles.Profile{Solana: profiles.SolanaLimits{Kept: 100, Gone: profile(t, "agave").Solana.Gone}}, map[string]string{
		"getBlock": `{"blockhash":"x"}`, "getBlocks": "[899,900,901]", "getTransaction": `{"slot":899}`, "getFirstAvailableBlock": "0",
		"getSignaturesForAddress": `[{"signature":"b","slot":900},{"signature":"a","slot":899}]`,
	})
	says(t, n, "getBlock", "[900]", 200, `"blockhash":"x"`)
	says(t, n, "getBlock", "[899]", 200, `{"code":-32001,"message":"Block 899 cleaned up, does not exist on node. First available block: 900"}`)
	says(t, n, "getBlocks", "[1,1000]", 200, `"result":[900,901]`)
	says(t, n, "getTransaction", `["a"]`, 200, `"result":null`)
	says(t, n, "getFirstAvailableBlock", "[]", 200, `"result":900`)
	says(t, n, "getSignaturesForAddress", `["w"]`, 200, `"result":[{"signature":"b","slot":900}]`)
}

func TestANodeOfSolanaHasARateOfEachMethod(t *testing.T) {
	p, err := profiles.Of("solana-public")
	if err != nil {
		t.Fatal(err)
	}
	p.Latency = profiles.Latency{}
	n := solanaNode(t, p, map[string]string{"getBlock": "{}", "getBlocks": "[]", "getProgramAccounts": "[]"})
	says(t, n, "getProgramAccounts", `["TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"]`, 200, `"code":-32010,"message":"Tokenkeg`)
	says(t, n, "getProgramAccounts", `["metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s"]`, 200, `"result":[]`)
	for range 40 {
		says(t, n, "getBlock", "[1]", 200, `"result":{}`)
	}
	says(t, n, "getBlock", "[1]", 429, "for a specific RPC call")
	for range 40 {
		says(t, n, "getBlocks", "[1,2]", 200, `"result":[]`)
	}
	for range 17 { // 2 + 41 + 40 calls so far, of 100
		says(t, n, "getSlot", "[]", 200, `"result":1000`)
	}
	says(t, n, "getSlot", "[]", 429, "Too many requests")
}
