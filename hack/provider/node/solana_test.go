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

// solanaNode is a node before a chain whose head is slot 1000, and which answers each call with what it is given for its method and parameters, or for its method.
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
			params, _ := json.Marshal(c.Params)
			if of := answers[c.Method+string(params)]; of != "" {
				answer = of
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
		p, err := profiles.Named(name)
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

// TestALedgerThatJumpedToASnapshotHasAHole: the hole is from slot 100 to slot 399, of which the snapshot is.
func TestALedgerThatJumpedToASnapshotHasAHole(t *testing.T) {
	n := solanaNode(t, profile(t, "agave-restarted"), map[string]string{
		"getBlock": `{"parentSlot":98}`, "getBlock[400]": `{"parentSlot":399}`, "getBlock[401]": `{"parentSlot":400}`, "getBlockTime": "1700000000",
		"getBlocks": "[98,99,100,101,398,399,400,401]", "getBlocksWithLimit[99,500000]": "[99,100,101,398,399,400,401]",
		`getTransaction["before"]`: `{"slot":99}`, `getTransaction["first"]`: `{"slot":100}`, `getTransaction["last"]`: `{"slot":399}`, `getTransaction["after"]`: `{"slot":400}`,
		`getSignaturesForAddress["w",{"limit":1000}]`: `[{"signature":"e","slot":400},{"signature":"d","slot":399},{"signature":"c","slot":100},{"signature":"b","slot":99},{"signature":"a","slot":98}]`,
		"getFirstAvailableBlock":                      "1", "minimumLedgerSlot": "1",
	})
	const skipped = `{"code":-32007,"message":"Slot %d was skipped, or missing due to ledger jump to recent snapshot"}`
	says(t, n, "getBlock", "[99]", 200, `"result":{"parentSlot":98}`)
	says(t, n, "getBlock", "[100]", 200, fmt.Sprintf(skipped, 100))
	says(t, n, "getBlock", "[398]", 200, fmt.Sprintf(skipped, 398))
	says(t, n, "getBlock", "[399]", 200, `"result":null`)
	says(t, n, "getBlock", "[400]", 200, `"result":null`)
	says(t, n, "getBlock", "[401]", 200, `"result":{"parentSlot":400}`)
	says(t, n, "getBlockTime", "[99]", 200, `"result":1700000000`)
	says(t, n, "getBlockTime", "[100]", 200, fmt.Sprintf(skipped, 100))
	says(t, n, "getBlockTime", "[399]", 200, `"result":null`)
	says(t, n, "getBlockTime", "[400]", 200, `"result":1700000000`)
	if refused := n.Counts().Refused; refused["gap"] != 6 || len(refused) != 1 {
		t.Errorf("refused: %v", refused)
	}
	says(t, n, "getBlocks", "[1,1000]", 200, `"result":[98,99,399,400,401]}`)
	says(t, n, "getBlocksWithLimit", "[99,3]", 200, `"result":[99,399,400]}`)
	says(t, n, "getTransaction", `["before"]`, 200, `"result":{"slot":99}`)
	says(t, n, "getTransaction", `["first"]`, 200, `"result":null`)
	says(t, n, "getTransaction", `["last"]`, 200, `"result":null`)
	says(t, n, "getTransaction", `["after"]`, 200, `"result":{"slot":400}`)
	says(t, n, "getSignaturesForAddress", `["w"]`, 200, `"result":[{"signature":"e","slot":400},{"signature":"b","slot":99},{"signature":"a","slot":98}]}`)
	says(t, n, "getSignaturesForAddress", `["w",{"limit":2}]`, 200, `"result":[{"signature":"e","slot":400},{"signature":"b","slot":99}]}`)
	says(t, n, "getFirstAvailableBlock", "[]", 200, `"result":1}`)
	says(t, n, "minimumLedgerSlot", "[]", 200, `"result":1}`)
}

// TestANodeStandsStillBeforeItsHole: the chain's head is slot 1000. The node tells a hole once that is above the hole.
func TestANodeStandsStillBeforeItsHole(t *testing.T) {
	p := profile(t, "agave-restarted")
	for from, want := range map[uint64][2]string{ // of the hole's first slot, and the newest slot
		700:  {`{"code":-32007,"message":"Slot 700 was skipped`, `"result":1000}`},
		701:  {`{"code":-32004,"message":"Block not available for slot 701"}`, `"result":700}`},
		1000: {`{"code":-32004,"message":"Block not available for slot 1000"}`, `"result":999}`},
		1001: {`"result":{}`, `"result":1000}`}, // the chain itself says that there is no such block
	} {
		p.Solana.Holes.From = from
		n := solanaNode(t, p, map[string]string{"getBlock": "{}", "getBlocks": "[699,700,1000]"})
		says(t, n, "getBlock", fmt.Sprintf("[%d]", from), 200, want[0])
		says(t, n, "getSlot", "[]", 200, want[1])
	}
	p.Solana.Holes.From = 701
	n := solanaNode(t, p, map[string]string{"getBlock": "{}", "getBlocks": "[699,700,701,1000]"})
	says(t, n, "getBlocks", "[1,1000]", 200, `"result":[699,700]}`)
	says(t, n, "getBlock", "[1000]", 200, `{"code":-32004,"message":"Block not available for slot 1000"}`)
	p.Solana.Holes.From = 650
	says(t, solanaNode(t, p, map[string]string{`getSlot[{"commitment":"finalized"}]`: "948"}), "getSlot", `[{"commitment":"finalized"}]`, 200, `"result":949}`)
}

// TestALongTermStorageHasHoles: slots 890 to 893 are the last hole of the storage, as the node has slots 901 to 1000 itself.
func TestALongTermStorageHasHoles(t *testing.T) {
	answers := map[string]string{
		"getBlock": "{}", "getBlock[894]": `{"parentSlot":893}`, "getBlocks": "[839,840,843,844,889,890,893,894,940,943]", "getFirstAvailableBlock": "0", "minimumLedgerSlot": "0",
		"getSignaturesForAddress": `[{"signature":"b","slot":940},{"signature":"a","slot":893}]`,
	}
	p := profile(t, "agave-storage")
	n := solanaNode(t, p, answers)
	const missing = `{"code":-32009,"message":"Slot %d was skipped, or missing in long-term storage"}`
	says(t, n, "getBlock", "[889]", 200, `"result":{}`)
	says(t, n, "getBlock", "[890]", 200, fmt.Sprintf(missing, 890))
	says(t, n, "getBlock", "[893]", 200, fmt.Sprintf(missing, 893))
	says(t, n, "getBlock", "[894]", 200, `"result":{"parentSlot":893}`)
	says(t, n, "getBlock", "[940]", 200, `"result":{}`)
	says(t, n, "getBlocks", "[1,1000]", 200, `"result":[839,844,889,894,940,943]}`)
	says(t, n, "getSignaturesForAddress", `["w"]`, 200, `"result":[{"signature":"b","slot":940}]}`)
	says(t, n, "getFirstAvailableBlock", "[]", 200, `"result":0}`)
	says(t, n, "minimumLedgerSlot", "[]", 200, `"result":901}`)
	if refused := n.Counts().Refused; refused["gap"] != 2 {
		t.Errorf("refused: %v", refused)
	}
	p.Solana.Holes.Below = 108
	n = solanaNode(t, p, answers)
	says(t, n, "getBlock", "[892]", 200, fmt.Sprintf(missing, 892))
	says(t, n, "getBlock", "[893]", 200, `"result":{}`)
}

func TestANodeOfSolanaHasARateOfEachMethod(t *testing.T) {
	p, err := profiles.Named("solana-public")
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
