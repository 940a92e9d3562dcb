package node

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/provider/profiles"
)

// profile is one of the profiles without what would make its test slow or let its rate come in between.
func profile(t *testing.T, name string) profiles.Profile {
	t.Helper()
	p, err := profiles.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	p.Latency, p.Rate = profiles.Latency{}, profiles.Rate{}
	return p
}

func TestRangesAreLimitedInTheirWords(t *testing.T) {
	head := shared.Head().Number
	for _, of := range []struct {
		profile      string
		most         uint64 // a smaller limit than the profile's, so that a short chain reaches it
		status, code int
		says         string
	}{
		{"alchemy-free", 10, 400, -32600, fmt.Sprintf("up to a 10 block range. Based on your parameters, this block range should work: [%s, %s]. Upgrade", hexOf(head-10), hexOf(head-1))},
		{"quicknode", 20, 413, -32614, "eth_getLogs is limited to a 10,000 range"},
		{"infura", 20, 200, -32602, "range 21 exceeds limit of 20"},
		{"public", 30, 200, -32602, "eth_getLogs is limited to 0 - 50 blocks range"},
		{"reth", 20, 200, -32602, "query exceeds max block range 20"},
		{"hyperevm", 20, 200, -32602, "query exceeds max block range 20"},
	} {
		p := profile(t, of.profile)
		p.Logs.Range = of.most
		n := testNode(t, p)
		logsOf(t, n, of.most).works(t)
		logsOf(t, n, of.most+1).refused(t, of.status, of.code, of.says)
	}
}

func TestResultsAreLimitedAndTheSuggestedRangeWorks(t *testing.T) {
	for _, of := range []struct {
		profile string
		code    int
		format  string
	}{
		{"infura", -32005, "query returned more than 200 results. Try with this block range [0x%x, 0x%x]."},
		{"reth", -32602, "query exceeds max results 200, retry with the range %d-%d"},
	} {
		p := profile(t, of.profile)
		p.Logs.Results = 200
		n := testNode(t, p)
		a := logsOf(t, n, 20)
		a.refused(t, 200, of.code)
		var from, to uint64
		if _, err := fmt.Sscanf(a.Message, of.format, &from, &to); err != nil || to < from || to >= shared.Head().Number {
			t.Fatalf("%s says %q (%v)", of.profile, a.Message, err)
		}
		ask(t, n, "eth_getLogs", map[string]any{"fromBlock": hexOf(from), "toBlock": hexOf(to)}).works(t)
		ask(t, n, "eth_getLogs", map[string]any{"fromBlock": hexOf(from), "toBlock": hexOf(to + 1)}).refused(t, 200, of.code)
	}
}

func TestAlchemyLimitsAnAnswersLength(t *testing.T) {
	p := profile(t, "alchemy")
	p.Logs.Bytes = 200_000
	n := testNode(t, p)
	logsOf(t, n, 1).works(t)
	logsOf(t, n, 30).refused(t, 200, -32602, "Log response size exceeded.", "this block range should work: ["+hexOf(shared.Head().Number-29))
}

func TestBatchesAreLimited(t *testing.T) {
	for profiled, says := range map[string]string{
		"erigon": `{"code":-32000,"message":"batch limit 100 exceeded (can increase by --rpc.batch.limit). Requested batch of size: 101"}`,
		"geth":   `{"code":-32600,"message":"batch too large"}`,
		"public": `{"code":-32014,"message":"maximum 10 calls in 1 batch"}`,
	} {
		p := profile(t, profiled)
		n := testNode(t, p)
		if a := batch(t, n, p.Batch.Calls, "eth_chainId"); a.body[0] != '[' {
			t.Errorf("%s refuses %d calls: %s", profiled, p.Batch.Calls, a.body)
		}
		if a := batch(t, n, p.Batch.Calls+1, "eth_chainId"); a.body != `{"jsonrpc":"2.0","id":null,"error":`+says+`}` {
			t.Errorf("%s says to %d calls: %s", profiled, p.Batch.Calls+1, a.body)
		}
	}
}

func TestGethLimitsTheAnswerToABatchAlone(t *testing.T) {
	p := profile(t, "geth")
	p.MostAnswer = 20_000
	n := testNode(t, p)
	logsOf(t, n, 1).works(t)
	if a := batch(t, n, 2, "eth_getLogs", map[string]any{"blockHash": shared.Head().Hash.String()}); !strings.Contains(a.body, `"code":-32003,"message":"response too large"`) {
		t.Errorf("a batch is answered %.200s", a.body)
	}
}

func TestRatesCountEachCallOfABatch(t *testing.T) {
	p, err := profiles.Named("quicknode")
	if err != nil {
		t.Fatal(err)
	}
	p.Latency = profiles.Latency{}
	now := time.Now()
	n := testNodeAt(t, p, func() time.Time { return now })
	if a := batch(t, n, 50, "eth_chainId"); a.status != http.StatusOK {
		t.Errorf("50 calls are answered with HTTP %d", a.status)
	}
	a := ask(t, n, "eth_chainId")
	a.refused(t, 429, -32007, "50/second request limit reached - reduce calls per second")
	if a.header.Get("Retry-After") != "" {
		t.Error("it says Retry-After")
	}
	now = now.Add(500 * time.Millisecond)
	if a := batch(t, n, 26, "eth_chainId"); a.status != 429 || strings.Count(a.body, `"result"`) != 25 || strings.Count(a.body, "-32007") != 1 {
		t.Errorf("after half a second 26 calls are answered with HTTP %d: %s", a.status, a.body)
	}
}

func TestUnitsAreWhatCounts(t *testing.T) {
	p, err := profiles.Named("alchemy-free")
	if err != nil {
		t.Fatal(err)
	}
	p.Latency = profiles.Latency{}
	now := time.Now()
	n := testNodeAt(t, p, func() time.Time { return now })
	// 5,000 units: ten times the 500 that eth_getBlockReceipts has of the rate.
	for range 10 {
		ask(t, n, "eth_getBlockReceipts", "latest").works(t)
	}
	ask(t, n, "eth_chainId").works(t) // it costs nothing
	a := ask(t, n, "eth_call", map[string]any{"data": "0x"}, "latest")
	a.refused(t, 429, 429, "Your app has exceeded its compute units per second capacity.")
	if a.header.Get("Retry-After") != "1" {
		t.Errorf("Retry-After is %q", a.header.Get("Retry-After"))
	}
	now = now.Add(52 * time.Millisecond) // 26 units
	ask(t, n, "eth_call", map[string]any{"data": "0x"}, "latest").works(t)
	if c := n.Counts(); c.Units["eth_getBlockReceipts"] != 200 || c.Refused["rate"] != 1 {
		t.Errorf("the counts are %+v", c)
	}
}

func TestADayEnds(t *testing.T) {
	p := profile(t, "infura")
	known, err := profiles.Named("infura")
	if err != nil {
		t.Fatal(err)
	}
	p.Rate = known.Rate
	p.Rate.PerDay = 3
	now := time.Date(2026, 5, 4, 23, 59, 0, 0, time.UTC)
	n := testNodeAt(t, p, func() time.Time { return now })
	for range 3 {
		ask(t, n, "eth_chainId").works(t)
	}
	ask(t, n, "eth_chainId").refused(t, 429, -32005, "daily request count exceeded, request rate limited")
	now = now.Add(time.Minute)
	ask(t, n, "eth_chainId").works(t)
}

func TestARateMayBeRefusedWithoutJSON(t *testing.T) {
	p, err := profiles.Named("public-bsc")
	if err != nil {
		t.Fatal(err)
	}
	p.Latency, p.Rate.Burst = profiles.Latency{}, 1
	now := time.Now()
	n := testNodeAt(t, p, func() time.Time { return now })
	ask(t, n, "eth_getLogs", map[string]any{}).refused(t, 200, -32005, "limit exceeded")
	if a := ask(t, n, "eth_chainId"); a.status != 429 || a.body != "error code: 1015" || a.header.Get("Retry-After") != "1" {
		t.Errorf("HTTP %d, Retry-After %q: %s", a.status, a.header.Get("Retry-After"), a.body)
	}
}

func TestStateIsKeptForSoManyBlocks(t *testing.T) {
	for _, of := range []struct {
		profile string
		code    int
		says    string
	}{
		{"geth", -32000, "missing trie node " + shared.Block(shared.Head().Number - 8).StateRoot.String()[2:] + " (path ) state "},
		{"reth", -32603, fmt.Sprintf("state at block #%d is pruned", shared.Head().Number-8)},
		{"erigon", -32000, "old data not available due to pruning"},
	} {
		p := profile(t, of.profile)
		p.State.Blocks = 8
		n := testNode(t, p)
		balance := func(below uint64) answer {
			return ask(t, n, "eth_getBalance", shared.World().Deployer, hexOf(shared.Head().Number-below))
		}
		balance(7).works(t)
		balance(8).refused(t, 200, of.code, of.says)
	}
}

func TestHyperEVMHasTheNewestStateAlone(t *testing.T) {
	head := shared.Head().Number
	own, public := testNode(t, profile(t, "hyperevm")), testNode(t, profile(t, "hyperevm-public"))
	for _, n := range []*Node{own, public} {
		ask(t, n, "eth_getBalance", shared.World().Deployer, "latest").works(t)
		ask(t, n, "eth_getBlockByNumber", hexOf(head+1), false).refused(t, 200, -32603, fmt.Sprintf("invalid block height: %d", head+1))
		ask(t, n, "eth_getBlockByNumber", "finalized", false).refused(t, 200, -39001, "Unknown block")
	}
	ask(t, own, "eth_getBalance", shared.World().Deployer, hexOf(head-1)).refused(t, 200, -32603, fmt.Sprintf("invalid block height: %d", head-1))
	newest := ask(t, public, "eth_getCode", shared.World().StableUSDC6, "latest")
	for _, other := range []uint64{1, shared.First() + 1, head + 100} { // the contract isn't there yet, or the block
		if a := ask(t, public, "eth_getCode", shared.World().StableUSDC6, hexOf(other)); string(a.Result) != string(newest.Result) {
			t.Errorf("at block %d the code is %.80s (%s)", other, a.Result, a.Message)
		}
	}
	topics := []any{}
	for i := range 5 {
		topics = append(topics, fmt.Sprintf("0x%064x", i))
	}
	ask(t, own, "eth_getLogs", map[string]any{"topics": []any{topics[:4]}}).works(t)
	ask(t, own, "eth_getLogs", map[string]any{"topics": []any{topics}}).refused(t, 200, -32602, "at most 4 topics")
	ask(t, own, "eth_call", map[string]any{"data": "0x"}, "latest", map[string]any{}).refused(t, 200, -32602, "too many arguments, want at most 2")
}

func TestARangeAboveTheHead(t *testing.T) {
	head := shared.Head().Number
	beyond := map[string]any{"fromBlock": hexOf(head - 1), "toBlock": hexOf(head + 1)}
	for _, strict := range []string{"geth", "reth"} {
		ask(t, testNode(t, profile(t, strict)), "eth_getLogs", beyond).refused(t, 200, -32602, "block range extends beyond current head block")
	}
	ask(t, testNode(t, profile(t, "alchemy")), "eth_getLogs", beyond).works(t)
	ask(t, testNode(t, profile(t, "geth")), "eth_getLogs", map[string]any{"fromBlock": "0x9", "toBlock": "0x8"}).refused(t, 200, -32602, "invalid block range params")
}

func TestWhatANewBlockHasComesLate(t *testing.T) {
	p := profile(t, "moody")
	var ahead time.Duration
	n := testNodeAt(t, p, func() time.Time { return shared.Head().Made.Add(ahead) })
	head := extend(t)
	tx := lastTx(t, head)
	byHash := map[string]any{"blockHash": head.Hash.String()}

	if a := ask(t, n, "eth_blockNumber"); string(a.Result) != `"`+hexOf(head.Number)+`"` {
		t.Errorf("the new block isn't announced: %s", a.Result)
	}
	for _, method := range []string{"eth_getBlockByNumber", "eth_getBlockByHash", "eth_getTransactionReceipt", "eth_getBlockReceipts"} {
		of := map[string]string{"eth_getBlockByNumber": hexOf(head.Number), "eth_getBlockReceipts": hexOf(head.Number), "eth_getBlockByHash": head.Hash.String(), "eth_getTransactionReceipt": tx}
		if a := ask(t, n, method, of[method], false); string(a.Result) != "null" {
			t.Errorf("%s of a new block answers %.100s (%s)", method, a.Result, a.Message)
		}
	}
	ask(t, n, "eth_getLogs", byHash).refused(t, 200, -32000, "Unknown block")
	ask(t, n, "eth_getBalance", shared.World().Deployer, hexOf(head.Number)).refused(t, 200, -32000, "Unknown block")

	ahead = p.Heads.Late
	if a := ask(t, n, "eth_getLogs", byHash); string(a.Result) != "[]" {
		t.Errorf("its logs are %.100s (%s), wanted an empty list", a.Result, a.Message)
	}
	ask(t, n, "eth_getBlockByHash", head.Hash.String(), false).works(t)
	if ahead = p.Heads.LateLogs; len(ask(t, n, "eth_getLogs", byHash).Result) < 100 {
		t.Error("its logs are still missing")
	}
	if a := ask(t, n, "eth_getTransactionReceipt", tx); string(a.Result) != "null" {
		t.Errorf("the receipt is there: %.100s", a.Result)
	}
	ahead = p.Heads.LateReceipts
	if a := ask(t, n, "eth_getTransactionReceipt", tx); len(a.Result) < 100 {
		t.Errorf("the receipt is still missing: %s", a.Result)
	}
}

// TestReplacedBlocksAreKnownByTheirHashAlone asks for a block that a reorg replaced.
func TestReplacedBlocksAreKnownByTheirHashAlone(t *testing.T) {
	n := testNode(t, profile(t, "geth"))
	gone := extend(t)
	if err := shared.Reorg(1); err != nil {
		t.Fatal(err)
	}
	ask(t, n, "eth_getBlockByHash", gone.Hash.String(), false).works(t)
	at := map[string]any{"blockHash": gone.Hash.String(), "requireCanonical": true}
	ask(t, n, "eth_getBalance", shared.World().Deployer, at).refused(t, 200, -32000, "hash is not currently canonical")
	if a := ask(t, n, "eth_getTransactionReceipt", lastTx(t, gone)); string(a.Result) != "null" {
		t.Errorf("a transaction of a replaced block has the receipt %.100s", a.Result)
	}
	ask(t, n, "eth_getLogs", map[string]any{"blockHash": "0x" + strings.Repeat("77", 32)}).refused(t, 200, -32000, "unknown block")
}

func TestContractsFailInTheClientsWords(t *testing.T) {
	for client, says := range map[string]string{"geth": "invalid opcode: INVALID", "reth": "EVM error: InvalidFEOpcode"} {
		ask(t, testNode(t, profile(t, client)), "eth_call", map[string]any{"data": "0xfe"}, "latest").refused(t, 200, -32000-map[string]int{"reth": 3}[client], says)
	}
	ask(t, testNode(t, profile(t, "geth")), "eth_call", map[string]any{"data": "0x5f5ffd"}, "latest").refused(t, 200, 3, "execution reverted")
}
