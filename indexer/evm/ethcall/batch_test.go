package ethcall

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/block/blocktest"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node/nodetest"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// endpointOf is a chain's only endpoint.
func endpointOf(t *testing.T, declared chainconfig.Endpoint) *node.Endpoint {
	t.Helper()
	pool, err := node.NewPool(&chainconfig.Chain{
		ID: "base", Family: chainconfig.EVM, EVMChainID: 1, Endpoints: []chainconfig.Endpoint{declared},
	}, node.Options{Log: slog.New(slog.DiscardHandler), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return pool.List[0]
}

// TestWhatIsAnsweredIsNotAskedAgain asks nodes for many headers and calls that refuse each second one for their rate at first, or whole batches:
// nothing that was answered is asked for again.
func TestWhatIsAnsweredIsNotAskedAgain(t *testing.T) {
	t.Parallel()
	const all = 18
	for name, refuses := range map[string]func(nth int) bool{
		"each second one":  func(nth int) bool { return nth%2 == 0 },
		"the second batch": func(nth int) bool { return nth > 9 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := map[string]int{} // the node answers one request at a time
			fake := nodetest.New(t, func(method string, params []json.RawMessage) (string, string) {
				key := method + string(params[0])
				asked[key]++
				if asked[key] == 1 && refuses(len(asked)) {
					return "", `{"code":-32005,"message":"exceeded project rate limit"}`
				}
				if method == "eth_call" {
					return `"0x` + strings.Repeat("0", 62) + `2a"`, ""
				}
				number, err := rpc.ParseQuantity(params[0])
				if err != nil {
					t.Error(err)
				}
				return blocktest.Header(number, true, "5208"), ""
			})
			e := endpointOf(t, chainconfig.Endpoint{URL: fake.URL, RequestsPerSecond: 100_000})
			e.Shorten(9)
			numbers, reqs := make([]chain.Header, all), make([]*rpc.Request, all)
			for i := range reqs {
				reqs[i] = node.HeaderRequest(uint64(i+1), &numbers[i])
			}
			if err := e.Do(t.Context(), reqs...); err != nil {
				t.Fatal(err)
			}
			calls := make([]*Call, all)
			for i := range calls {
				calls[i] = &Call{To: market.EVMAddress([32]byte{31: byte(i + 1)}), Data: TotalSupply}
			}
			clear(asked)
			if doubtful, err := ask(t.Context(), e, node.Newest, calls); err != nil || len(doubtful) > 0 {
				t.Fatalf("%d calls are in doubt, %v", len(doubtful), err)
			}
			for i := range calls {
				if v, ok := calls[i].Uint(); !ok || v.Uint64() != 42 || numbers[i].Number != uint64(i+1) {
					t.Errorf("%d: the call has %s, the header the number %d", i, v.Dec(), numbers[i].Number)
				}
			}
			refused := 0
			for i := range all {
				if refuses(i + 1) {
					refused++
				}
			}
			if n := fake.Count("eth_getBlockByNumber"); n != all+refused {
				t.Errorf("%d headers, %d refused at first, were asked for %d times", all, refused, n)
			}
			if n := fake.Count("eth_call"); n != all+refused {
				t.Errorf("%d calls, %d refused at first, were made %d times", all, refused, n)
			}
		})
	}
}
