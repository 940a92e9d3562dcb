package node

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/provider/chain"
	"github.com/boardwalkhq/boardwalk/hack/provider/profiles"
	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/traffic"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
)

// shared is the chain of this package's tests, which run one after the other: a chain takes longer to make than all of them.
var shared *chain.Chain

func TestMain(m *testing.M) {
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	ctx := context.Background()
	node, err := anvil.StartNode(ctx, anvil.NodeOptions{ChainID: 8453, Timestamp: time.Now().Add(-time.Hour), KeepStates: 200})
	if err == nil {
		defer node.Close()
		shared, err = newChain(ctx, node)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

func newChain(ctx context.Context, node *anvil.Node) (*chain.Chain, error) {
	w, err := world.Deploy(ctx, node, world.DeployOptions{Seed: 1, Places: &world.Places{Multicall: "0xcA11bde05977b3631167028862bE2a173976CA11"}})
	if err != nil {
		return nil, err
	}
	c, err := chain.New(ctx, chain.Options{World: w, Trader: traffic.NewTrader(w, 1), Seed: 1, Txs: 20, Logs: 80, VolumeV2: 8, VolumeV3: 2})
	if err != nil {
		return nil, err
	}
	for range 40 {
		if _, err := c.Extend(time.Now().Add(-time.Minute)); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// extend makes the next block.
func extend(t *testing.T) *chain.Block {
	t.Helper()
	b, err := shared.Extend(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// lastTx is the hash of a block's last transaction.
func lastTx(t *testing.T, b *chain.Block) string {
	t.Helper()
	txs, err := shared.Txs(b)
	if err != nil {
		t.Fatal(err)
	}
	return txs[len(txs)-1].Hash.String()
}

func testNode(t *testing.T, p profiles.Profile) *Node {
	t.Helper()
	return testNodeAt(t, p, time.Now)
}

// testNodeAt has a clock of the test's.
func testNodeAt(t *testing.T, p profiles.Profile, now func() time.Time) *Node {
	t.Helper()
	n, err := Start(t.Context(), shared, Options{Profile: p, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	return n
}

// answer is what a node says.
type answer struct {
	status  int
	header  http.Header
	body    string
	ID      int
	Result  json.RawMessage
	Code    int
	Message string
}

type wireError struct {
	Code    int
	Message string
}

// ask sends a call.
func ask(t *testing.T, n *Node, method string, params ...any) answer {
	t.Helper()
	if params == nil {
		params = []any{}
	}
	a := send(t, n, map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	var one struct {
		ID     int
		Result json.RawMessage
		Error  *wireError
	}
	if err := json.Unmarshal([]byte(a.body), &one); err != nil {
		return a // no JSON-RPC
	}
	a.ID, a.Result = one.ID, one.Result
	if one.Error != nil {
		a.Code, a.Message = one.Error.Code, one.Error.Message
	}
	return a
}

func send(t *testing.T, n *Node, body any) answer {
	t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, n.URL(), bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{status: res.StatusCode, header: res.Header, body: string(text)}
}

// batch sends a number of like calls in one.
func batch(t *testing.T, n *Node, size int, method string, params ...any) answer {
	t.Helper()
	calls := make([]any, size)
	for i := range calls {
		calls[i] = map[string]any{"jsonrpc": "2.0", "id": i, "method": method, "params": append([]any{}, params...)}
	}
	return send(t, n, calls)
}

// logsOf asks for the logs of so many blocks up to the head.
func logsOf(t *testing.T, n *Node, blocks uint64) answer {
	t.Helper()
	head := shared.Head().Number
	return ask(t, n, "eth_getLogs", map[string]any{"fromBlock": hexOf(head - blocks + 1), "toBlock": hexOf(head)})
}

// refused wants a refusal whose text holds all parts.
func (a answer) refused(t *testing.T, status, code int, parts ...string) {
	t.Helper()
	if a.status != status || a.Code != code {
		t.Errorf("HTTP %d, code %d (%s), wanted %d and %d", a.status, a.Code, a.Message, status, code)
	}
	for _, p := range parts {
		if !strings.Contains(a.Message, p) {
			t.Errorf("it says %q, wanted %q in it", a.Message, p)
		}
	}
}

func (a answer) works(t *testing.T) {
	t.Helper()
	if a.status != http.StatusOK || a.Code != 0 || len(a.Result) == 0 {
		t.Errorf("HTTP %d, code %d: %s %s", a.status, a.Code, a.Message, a.Result)
	}
}

func TestBlocksAreAnsweredByNumberTagAndHash(t *testing.T) {
	n, head := testNode(t, profiles.Profile{}), shared.Head()
	for _, by := range []answer{
		ask(t, n, "eth_getBlockByNumber", "latest", false), ask(t, n, "eth_getBlockByNumber", hexOf(head.Number), false),
		ask(t, n, "eth_getBlockByHash", head.Hash.String(), true),
	} {
		var b struct {
			Hash, ParentHash string
			Transactions     []json.RawMessage
		}
		if err := json.Unmarshal(by.Result, &b); err != nil || b.Hash != head.Hash.String() || b.ParentHash != head.Parent.String() || len(b.Transactions) != head.Count {
			t.Errorf("%.300s (%v)", by.body, err)
		}
	}
	for tag, depth := range map[string]uint64{"safe": safeDepth, "finalized": finalDepth} {
		var b struct{ Number string }
		want := max(head.Number, shared.First()+depth) - depth
		if err := json.Unmarshal(ask(t, n, "eth_getBlockByNumber", tag, false).Result, &b); err != nil || b.Number != hexOf(want) {
			t.Errorf("%s is block %s, wanted %s (%v)", tag, b.Number, hexOf(want), err)
		}
	}
	if a := ask(t, n, "eth_getBlockByNumber", hexOf(head.Number+1), false); string(a.Result) != "null" {
		t.Errorf("the block after the head is %s", a.Result)
	}
}

func TestLogsAreFilteredAndAgreeWithReceipts(t *testing.T) {
	n, head := testNode(t, profiles.Profile{LogTimes: true}), shared.Head()
	type log struct {
		Address, Data, TransactionHash, LogIndex, BlockHash, BlockTimestamp string
		Topics                                                              []string
	}
	read := func(where map[string]any) (logs []log) {
		if err := json.Unmarshal(ask(t, n, "eth_getLogs", where).Result, &logs); err != nil {
			t.Fatal(err)
		}
		return logs
	}
	all := read(map[string]any{"blockHash": head.Hash.String()})
	var receipts []struct{ Logs []log }
	if err := json.Unmarshal(ask(t, n, "eth_getBlockReceipts", hexOf(head.Number)).Result, &receipts); err != nil {
		t.Fatal(err)
	}
	var inReceipts []log
	for _, r := range receipts {
		inReceipts = append(inReceipts, r.Logs...)
	}
	if fmt.Sprint(all) != fmt.Sprint(inReceipts) || len(all) != head.Logs || all[0].BlockTimestamp != hexOf(head.Time) {
		t.Errorf("%d logs by hash, %d in receipts, the block has %d", len(all), len(inReceipts), head.Logs)
	}
	of := func(keep func(log) bool) (n int) {
		for _, l := range all {
			if keep(l) {
				n++
			}
		}
		return n
	}
	number := map[string]any{"fromBlock": hexOf(head.Number), "toBlock": hexOf(head.Number)}
	first, second := all[0].Topics[0], all[0].Topics[1]
	for _, filter := range []struct {
		key  string
		with any
		want int
	}{
		{"topics", []any{first}, of(func(l log) bool { return len(l.Topics) > 0 && l.Topics[0] == first })},
		{"topics", []any{[]any{first, "0x" + strings.Repeat("11", 32)}, nil}, of(func(l log) bool { return len(l.Topics) > 1 && l.Topics[0] == first })},
		{"topics", []any{nil, []any{second}}, of(func(l log) bool { return len(l.Topics) > 1 && l.Topics[1] == second })},
		{"address", all[0].Address, of(func(l log) bool { return l.Address == all[0].Address })},
		{"address", []any{all[0].Address, all[1].Address}, of(func(l log) bool { return l.Address == all[0].Address || l.Address == all[1].Address })},
		{"address", "0x" + strings.Repeat("11", 20), 0},
	} {
		delete(number, "topics")
		delete(number, "address")
		number[filter.key] = filter.with
		if got := read(number); len(got) != filter.want {
			t.Errorf("%s %v: %d logs, wanted %d", filter.key, filter.with, len(got), filter.want)
		}
	}
}

func TestStateIsAnvils(t *testing.T) {
	n, w := testNode(t, profiles.Profile{}), shared.World()
	decimals := map[string]any{"to": w.StableUSDC6, "data": "0x313ce567"}
	six := `"0x0000000000000000000000000000000000000000000000000000000000000006"`
	head := shared.Head()
	for _, at := range []any{"latest", hexOf(head.Number), map[string]any{"blockHash": head.Hash.String(), "requireCanonical": true}} {
		if a := ask(t, n, "eth_call", decimals, at); string(a.Result) != six {
			t.Errorf("at %v the decimals are %s (%s)", at, a.Result, a.Message)
		}
	}
	if a := ask(t, n, "eth_call", decimals, hexOf(shared.First()-5)); string(a.Result) != `"0x"` {
		t.Errorf("before the first block the decimals are %s (%s)", a.Result, a.Message)
	}
	ask(t, n, "eth_call", decimals, hexOf(head.Number+9)).refused(t, http.StatusOK, -32000, "header not found")
	// The EVM sees the chain's block, not anvil's: getBlockNumber() and getLastBlockHash().
	for data, want := range map[string]string{"0x42cbb15c": fmt.Sprintf("0x%064x", head.Number), "0x27e86d6e": head.Parent.String()} {
		call := map[string]any{"to": "0xcA11bde05977b3631167028862bE2a173976CA11", "data": data}
		if a := ask(t, n, "eth_call", call, "latest"); string(a.Result) != `"`+want+`"` {
			t.Errorf("%s answers %s (%s), wanted %s", data, a.Result, a.Message, want)
		}
	}
	// Without a contract's address the data is run: a call that needs no contract.
	if a := ask(t, n, "eth_call", map[string]any{"data": "0x60065f5260205ff3"}, "latest"); string(a.Result) != six {
		t.Errorf("the call without a contract answers %s (%s)", a.Result, a.Message)
	}
	if a := ask(t, n, "eth_getCode", w.StableUSDC6, "latest"); len(a.Result) < 100 {
		t.Errorf("the code is %s", a.Result)
	}
}

func TestCallsAreCountedByMethod(t *testing.T) {
	n := testNode(t, profiles.Profile{Units: map[string]int64{"eth_call": 26}, OtherUnits: 10})
	batch(t, n, 3, "eth_call", map[string]any{"data": "0x"}, "latest")
	ask(t, n, "eth_blockNumber")
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, n.URL()+"/counts", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var c Counts
	if err := json.NewDecoder(res.Body).Decode(&c); err != nil {
		t.Fatal(err)
	}
	if c.Requests != 2 || c.Calls["eth_call"] != 3 || c.Units["eth_call"] != 78 || c.AllCalls != 4 || c.AllUnits != 88 || c.Bytes == 0 {
		t.Errorf("the counts are %+v", c)
	}
}
