package backfill

import (
	"encoding/json"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
)

func TestReplayAsksOnce(t *testing.T) {
	t.Parallel()
	asked := 0
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		var c rpcCall
		if err := json.NewDecoder(r.Body).Decode(&c); err != nil {
			t.Error(err)
		}
		if c.Method == "eth_call" {
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"error":{"code":3,"message":"reverted"}}`)
			return
		}
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":"`+c.Method+string(c.Params[1:len(c.Params)-1])+`"}`)
	}))
	defer node.Close()
	r, err := startReplay(t.Context(), node.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	post := func(body string) string {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		raw, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	for range 2 {
		if got, want := post(`{"jsonrpc":"2.0","id":7,"method":"a","params":[1]}`), `{"jsonrpc":"2.0","id":7,"result":"a1"}`; got != want {
			t.Errorf("one call: %s, want %s", got, want)
		}
		got := post(`[{"id":1,"method":"a","params":[1]},{"id":2,"method":"eth_call","params":[2]}]`)
		want := `[{"jsonrpc":"2.0","id":1,"result":"a1"},{"jsonrpc":"2.0","id":2,"error":{"code":3,"message":"reverted"}}]`
		if got != want {
			t.Errorf("a batch: %s, want %s", got, want)
		}
	}
	if asked != 2 || r.missed() != 2 || r.missed() != 0 {
		t.Errorf("the node was asked %d times, want 2", asked)
	}
}

func TestCensus(t *testing.T) {
	t.Parallel()
	address := func(n byte) string {
		return "0x" + strings.Repeat("0", 38) + string("0123456789abcdef"[n/16]) + string("0123456789abcdef"[n%16])
	}
	topicOf := func(n byte) string { return "0x" + strings.Repeat("0", 24) + address(n)[2:] }
	data := func(words ...int64) string {
		var s strings.Builder
		s.WriteString("0x")
		for _, w := range words {
			v := big.NewInt(w)
			if w < 0 {
				v.Add(v, new(big.Int).Lsh(big.NewInt(1), 256))
			}
			h := v.Text(16)
			s.WriteString(strings.Repeat("0", 64-len(h)) + h)
		}
		return s.String()
	}
	const weth, usdc, dog, cat, v2, v3, pair, pool, other, alice, bob = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
	cfg := &chainconfig.Chain{
		Native: chainconfig.Native{Wrapped: markettest.Address(address(weth))},
		Quotes: []chainconfig.Quote{{Address: markettest.Address(address(usdc))}, {Address: markettest.Address(address(weth))}},
	}
	n := newCensus(&theChain{cfg: cfg})
	n.factories[address(v2)], n.factories[address(v3)] = market.UniswapV2, market.UniswapV3
	for _, l := range []rawLog{
		{Address: address(v2), Topics: []string{sigPairCreated, topicOf(weth), topicOf(usdc)}, Data: data(pair, 1)},
		{Address: address(v3), Topics: []string{sigPoolCreated, topicOf(dog), topicOf(weth), topicOf(0)}, Data: data(60, pool)},
		{Address: address(v2), Topics: []string{sigPairCreated, topicOf(dog), topicOf(cat)}, Data: data(other, 2)}, // no quote asset
		{Address: address(weth), Topics: []string{sigDeposit, topicOf(alice)}, Data: data(100)},
		{Address: address(weth), Topics: []string{sigTransfer, topicOf(alice), topicOf(bob)}, Data: data(100)},
		{Address: address(dog), Topics: []string{sigTransfer, topicOf(alice), topicOf(bob), topicOf(5)}, Data: "0x"}, // an NFT
		{Address: address(pair), Topics: []string{sigTransfer, topicOf(0), topicOf(bob)}, Data: data(1000)},          // a share of the pair
		{Address: address(pair), Topics: []string{sigSwapV2, topicOf(0), topicOf(bob)}, Data: data(5, 0, 0, 7), BlockTimestamp: "0x3c"},
		{Address: address(pair), Topics: []string{sigSwapV2, topicOf(0), topicOf(bob)}, Data: data(5, 7, 0, 0), BlockTimestamp: "0x3c"}, // no exchange
		{Address: address(pool), Topics: []string{sigSwapV3, topicOf(0), topicOf(bob)}, Data: data(-3, 4, 1, 1, 1), BlockTimestamp: "0x3d"},
		{Address: address(other), Topics: []string{sigSwapV2, topicOf(0), topicOf(bob)}, Data: data(5, 0, 0, 7), BlockTimestamp: "0x3c"},
	} {
		n.log(&l)
	}
	n.dropPairTokens()
	got := strings.Join(n.rows().values(), " ")
	// WETH, USDC and DOG are tokens; of WETH and the pair's share, bob's WETH is a balance.
	if want := "2 2 1 3 8 11 8 100"; got != want {
		t.Errorf("counted %q, want %q (%v)", got, want, rowNames)
	}
}
