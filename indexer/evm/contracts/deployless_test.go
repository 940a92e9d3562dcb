package contracts

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/decode"
	"github.com/boardwalkhq/boardwalk/indexer/evm/hash"
	"github.com/boardwalkhq/boardwalk/indexer/evm/manycalls"
	"github.com/boardwalkhq/boardwalk/indexer/evm/poolstate"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
)

// gateway stands before a node, and counts the eth_calls by their way. Of those without a contract's address a test may have it refuse all.
type gateway struct {
	*httptest.Server
	node *anvil.Node

	mu      sync.Mutex
	refusal string
	// passes is how many calls without a contract's address it lets through before it refuses them.
	passes int
	// lacks says that it has no state of a block that is named.
	lacks   bool
	counted map[string]int
}

// The gateway's names of the ways. The first call of an endpoint without an address is a probe.
const toMulticall, toNone, toOthers = "to Multicall3", "deployless", "to others"

func newGateway(t *testing.T, node *anvil.Node, refusal string) *gateway {
	t.Helper()
	g := &gateway{node: node, refusal: refusal, counted: map[string]int{}}
	g.Server = httptest.NewServer(g)
	t.Cleanup(g.Close)
	return g
}

type gatewayCall struct {
	Version string            `json:"jsonrpc"`
	ID      int               `json:"id"`
	Method  string            `json:"method"`
	Params  []json.RawMessage `json:"params"`
}

// way is which way a call goes; it is empty where it is no eth_call.
func (c *gatewayCall) way() string {
	var p struct{ To, Data string }
	if c.Method != "eth_call" || json.Unmarshal(c.Params[0], &p) != nil {
		return ""
	}
	switch p.To {
	case "":
		return toNone
	case poolstate.Multicall3Address.String():
		return toMulticall
	}
	return toOthers
}

func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	single := body[0] == '{'
	if single {
		body = []byte("[" + string(body) + "]")
	}
	var calls []gatewayCall
	if err := json.Unmarshal(body, &calls); err != nil {
		panic(http.ErrAbortHandler)
	}
	var out, answered []json.RawMessage
	var rest []gatewayCall
	g.mu.Lock()
	for _, c := range calls {
		way := c.way()
		g.counted[way]++
		if g.lacks && way != "" && string(c.Params[1]) != `"latest"` {
			out = append(out, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"error":{"code":-32000,"message":"missing trie node"}}`, c.ID))
			continue
		}
		if way == toNone && g.passes > 0 {
			g.passes--
		} else if way == toNone && g.refusal != "" {
			if g.refusal == hangsUp || g.refusal == hangs {
				hangs := g.refusal == hangs
				g.mu.Unlock()
				if hangs {
					<-r.Context().Done()
				}
				panic(http.ErrAbortHandler)
			}
			kind := "error"
			if g.refusal == nothing {
				kind = "result"
			}
			out = append(out, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,%q:%s}`, c.ID, kind, g.refusal))
			continue
		}
		rest = append(rest, c)
	}
	g.mu.Unlock()
	if len(rest) > 0 {
		if err := g.forward(r.Context(), rest, &answered); err != nil {
			panic(http.ErrAbortHandler)
		}
	}
	if out = append(out, answered...); single {
		_, _ = w.Write(out[0])
		return
	}
	_ = json.NewEncoder(w).Encode(out)
}

func (g *gateway) forward(ctx context.Context, calls []gatewayCall, out *[]json.RawMessage) error {
	body, err := json.Marshal(calls)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, g.node.URL(), bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	return json.NewDecoder(res.Body).Decode(out)
}

// count gives what was counted since it was called last.
func (g *gateway) count() map[string]int {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := maps.Clone(g.counted)
	delete(out, "")
	clear(g.counted)
	return out
}

func (g *gateway) lack(state bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.lacks = state
}

func (g *gateway) refuse(refusal string, after ...int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.refusal = refusal
	for _, n := range after {
		g.passes = n
	}
}

const (
	// Refusals: for want of an address, for the rate, as of a contract, and of no kind that is known.
	noTo     = `{"code":-32602,"message":"missing field: to"}`
	tooFast  = `{"code":-32005,"message":"exceeded project rate limit"}`
	reverts  = `{"code":-32000,"message":"out of gas"}`
	unlikely = `{"code":-32000,"message":"internal error"}`
	tookLong = `{"code":-32000,"message":"execution aborted (timeout = 5s)"}`
	// The connection ends, or nothing comes.
	hangsUp = "hangs up"
	hangs   = "hangs"
	// Where no contract is asked some nodes may answer nothing. Absent is no answer: nobody is there.
	nothing = `"0x"`
	absent  = "absent"
)

// A V3-like pool is read in so many calls (package poolstate): mostCalls at most, of which nearCalls ask for words around the price. One call asks for poolWords words, or for
// poolTicks ticks.
const mostCalls, nearCalls, poolWords, poolTicks = 30, 3, 300, 120

// poolsWorld is a chain with pools, of which the first has more ticks than fit into the calls for it.
type poolsWorld struct {
	*world.World
	pools []market.PoolCreated
}

func newPoolsWorld(t *testing.T, multicall bool) *poolsWorld {
	t.Helper()
	node, err := anvil.StartNode(t.Context(), anvil.NodeOptions{ChainID: 1, KeepStates: 200})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = node.Close() })
	places := &world.Places{SlipstreamFactories: []string{"0x5e7bb104d84c7cb9b682aac2f3d509f5f406809a"}}
	if multicall {
		places.Multicall = poolstate.Multicall3Address.String()
	}
	w, err := world.Deploy(t.Context(), node, world.DeployOptions{Seed: 1, Places: places})
	if err != nil {
		t.Fatal(err)
	}
	out := &poolsWorld{World: w}
	protocols := map[world.Protocol]market.Protocol{
		world.UniswapV3: market.UniswapV3, world.PancakeSwapV3: market.PancakeSwapV3, world.Slipstream: market.Slipstream,
	}
	seen := map[string]bool{}
	for _, p := range w.Pools {
		kind := fmt.Sprint(p.Protocol, p.TickSpacing)
		if protocol, ok := protocols[p.Protocol]; ok && !seen[kind] {
			seen[kind] = true
			one := market.PoolCreated{Protocol: protocol, Factory: markettest.Address(p.Factory), Pool: markettest.Address(p.Address), TickSpacing: int32(p.TickSpacing)}
			if out.pools = append(out.pools, one); protocol == market.UniswapV3 && p.TickSpacing == 10 {
				out.pools[0], out.pools[len(out.pools)-1] = one, out.pools[0]
			}
		}
	}
	if len(out.pools) < 5 || out.pools[0].TickSpacing != 10 {
		t.Fatalf("the pools are %+v", out.pools)
	}
	return out
}

// head is the newest block.
func (w *poolsWorld) head(t *testing.T) chain.Ref {
	t.Helper()
	b, err := w.Node.Latest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	h, err := market.ParseHash(b.Hash)
	if err != nil {
		t.Fatal(err)
	}
	return chain.Ref{Number: b.Number, Hash: h}
}

func (w *poolsWorld) mine(t *testing.T) {
	t.Helper()
	if err := w.Node.Mine(t.Context(), 1, time.Second); err != nil {
		t.Fatal(err)
	}
}

// states are the states of pools after the newest block.
func (w *poolsWorld) states(t *testing.T, s *source, pools []market.PoolCreated) []chain.PoolState {
	t.Helper()
	states, gone, err := s.Contracts().PoolStates(t.Context(), w.head(t), pools)
	if err != nil || gone {
		t.Fatalf("gone %v, %v", gone, err)
	}
	return states
}

// addLadder writes ticks beside each other into the storage of a Uniswap V3 pool (UniswapV3Pool.sol: its ticks are in slot 5, their bitmap in slot 6),
// above a state in which it has few.
func (w *poolsWorld) addLadder(t *testing.T, state *chain.PoolState, spacing int32, rungs int) {
	t.Helper()
	has, err := market.UnmarshalTickMap([]byte(state.Ticks))
	if err != nil || !state.Window.IsWhole() {
		t.Fatalf("the pool's ticks aren't known: %v", err)
	}
	nets, words := map[int32]market.SignedAmount{}, map[int][32]byte{}
	for _, n := range has {
		nets[n.Tick] = n.Net
	}
	for _, r := range markettest.Ladder(state.Tick/spacing*spacing+2*spacing, spacing, rungs) {
		nets[r.TickLower] = nets[r.TickLower].Add(r.Delta)
		nets[r.TickUpper] = nets[r.TickUpper].Add(r.Delta.Negate())
	}
	var writes []anvil.Request
	write := func(key int, slot uint64, value []byte) {
		at := anvil.ToHex(anvil.Keccak(decode.SignedWord(key), decode.NumberWord(slot)))
		writes = append(writes, anvil.Request{Method: "anvil_setStorageAt", Params: []any{state.Pool.String(), at, anvil.ToHex(value)}})
	}
	for tick, net := range nets {
		word := markettest.SignedWord(net)
		write(int(tick), 5, append(append([]byte(nil), word[16:]...), decode.NumberWord(1)[16:]...))
		compressed := int(tick / spacing)
		bits := words[compressed>>8]
		bits[31-compressed&255/8] |= 1 << (compressed & 7)
		words[compressed>>8] = bits
	}
	for n, bits := range words {
		write(n, 6, bits[:])
	}
	if err := w.Node.Batch(t.Context(), writes); err != nil {
		t.Fatal(err)
	}
	if err := anvil.FirstError(writes); err != nil {
		t.Fatal(err)
	}
	w.mine(t)
}

// TestStatesAreTheSameInEveryWay asks pools with Multicall3, without it, and where deployless calls are refused as well, and counts the calls.
func TestStatesAreTheSameInEveryWay(t *testing.T) {
	t.Parallel()
	w := newPoolsWorld(t, true)
	plain, strict := newGateway(t, w.Node, ""), newGateway(t, w.Node, noTo)
	source := func(g *gateway) *source { return sourceOf(t, time.Now, g.URL) }
	before := w.states(t, source(plain), w.pools)
	w.addLadder(t, &before[0], 10, (mostCalls-2-3)*poolTicks+50)
	plain.count()
	want := w.states(t, source(plain), w.pools)
	byMulticall := plain.count()
	for i, state := range want {
		if p := w.pools[i]; !state.Known || state.Window.IsWhole() != (i > 0) {
			t.Errorf("%s with a spacing of %d is known: %v, its window %+v, and it has %d bytes of ticks", p.Protocol, p.TickSpacing, state.Known, state.Window, len(state.Ticks))
		}
	}
	if byMulticall[toNone] > 0 || byMulticall[toMulticall] == 0 || byMulticall[toOthers] != 2*len(w.pools) {
		t.Errorf("with Multicall3 the calls are %v", byMulticall)
	}

	if err := w.Node.Call(t.Context(), nil, "anvil_setCode", poolstate.Multicall3Address.String(), "0x"); err != nil {
		t.Fatal(err)
	}
	w.mine(t)
	s := source(plain)
	for round := range 3 {
		got := w.states(t, s, w.pools)
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("%s with a spacing of %d has another state by deployless calls: known %v, window %+v", w.pools[i].Protocol, w.pools[i].TickSpacing, got[i].Known, got[i].Window)
			}
		}
		n := plain.count()
		expect := map[string]int{toOthers: byMulticall[toOthers], toNone: byMulticall[toMulticall]}
		if round == 0 { // Multicall3 is asked for the words around the prices, and the endpoint whether it takes deployless calls
			expect[toNone]++
			for _, p := range w.pools {
				spacing := int(p.TickSpacing)
				expect[toMulticall] += min(nearCalls, (market.MaxTick/spacing>>8-market.MinTick/spacing>>8+poolWords)/poolWords)
			}
		}
		if !maps.Equal(n, expect) {
			t.Errorf("without Multicall3 the calls of round %d are %v, want %v", round, n, expect)
		}
	}

	s = source(strict)
	for round := range 3 {
		whole := 0
		for i, got := range w.states(t, s, w.pools) {
			if got.Known && got.Window.IsWhole() {
				whole++
				if got != want[i] {
					t.Errorf("%s with a spacing of %d has another state by single calls", w.pools[i].Protocol, w.pools[i].TickSpacing)
				}
			}
		}
		if n := strict.count(); whole < 2 || n[toNone] != map[bool]int{true: 1}[round == 0] || n[toOthers] < 200 {
			t.Errorf("with single calls %d pools are known as a whole in round %d, and the calls are %v", whole, round, n)
		}
	}
}

// TestEndpointsThatDiffer has endpoints of which some take deployless calls: none is asked by more than the probe where not all are known to take them.
func TestEndpointsThatDiffer(t *testing.T) {
	t.Parallel()
	w := newPoolsWorld(t, false)
	pools := w.pools[:3]
	want := w.states(t, sourceOf(t, time.Now, newGateway(t, w.Node, "").URL), pools)
	for name, tt := range map[string]struct {
		refusals []string
		// deployless says that a pool of which single calls tell little is known whole.
		deployless bool
	}{
		"both take them":               {[]string{"", ""}, true},
		"one of two":                   {[]string{"", noTo}, false},
		"two of three":                 {[]string{noTo, "", ""}, false},
		"one of three":                 {[]string{noTo, "", noTo}, false},
		"one, and one isn't there":     {[]string{"", absent}, false},
		"none":                         {[]string{noTo, noTo}, false},
		"their contracts seem to fail": {[]string{reverts, reverts}, false},
		"a refusal that says nothing":  {[]string{unlikely, unlikely}, false},
		"they answer nothing":          {[]string{nothing, nothing}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var endpoints []chainconfig.Endpoint
			var gates []*gateway
			for _, r := range tt.refusals {
				g := newGateway(t, w.Node, r)
				if r == absent {
					g.Close()
				}
				gates, endpoints = append(gates, g), append(endpoints, chainconfig.Endpoint{URL: g.URL, Weight: 1})
			}
			s := sourceFor(t, options{Now: time.Now, VouchTime: time.Minute}, endpoints...)
			var log bytes.Buffer
			s.pool.Log = slog.New(slog.NewTextHandler(&log, nil))
			for range 2 {
				for i, got := range w.states(t, s, pools) {
					if got.Unsure != slices.Contains(tt.refusals, absent) || tt.deployless && got.PoolStateFact != want[i].PoolStateFact {
						t.Errorf("the state of pool %d is known: %v, unsure: %v, %+v", i, got.Known, got.Unsure, got.Window)
					}
				}
				list, err := s.Contracts().NewestPoolStates(t.Context(), pools)
				if err != nil || len(list) != 1 {
					t.Fatalf("there are newest states of %d blocks, %v", len(list), err)
				}
				for i, got := range list[0].States {
					if tt.deployless && got.PoolStateFact != want[i].PoolStateFact {
						t.Errorf("the newest state of pool %d is known: %v, %+v", i, got.Known, got.Window)
					}
				}
			}
			if log.Len() > 0 && !slices.Contains(tt.refusals, absent) {
				t.Errorf("an endpoint was left aside for what it lacks: %s", &log)
			}
			for i, g := range gates {
				if n := g.count()[toNone]; !tt.deployless && tt.refusals[i] != absent && n != 1 {
					t.Errorf("where not all endpoints take deployless calls, endpoint %d gets %d", i, n)
				}
			}
		})
	}
}

// TestAnEndpointThatChanges takes deployless calls, then none, then takes them again: each is learnt, in its time.
func TestAnEndpointThatChanges(t *testing.T) {
	t.Parallel()
	w := newPoolsWorld(t, false)
	g, now := newGateway(t, w.Node, ""), time.Now()
	s := sourceOf(t, func() time.Time { return now }, g.URL)
	i := slices.IndexFunc(w.pools, func(p market.PoolCreated) bool { return p.TickSpacing >= 60 })
	pools := w.pools[i : i+1]
	ask := func(want map[string]bool) {
		t.Helper()
		w.states(t, s, pools)
		n := g.count()
		for _, way := range []string{toMulticall, toNone} {
			if n[way] > 0 != want[way] {
				t.Errorf("the calls are %v, want %v", n, want)
			}
		}
	}
	ask(map[string]bool{toMulticall: true, toNone: true})
	ask(map[string]bool{toNone: true})
	g.refuse(noTo)
	if got := w.states(t, s, pools); !got[0].Known || got[0].Unsure || g.count()[toNone] != 1 {
		t.Errorf("when the endpoint refuses, the pool is known: %v, unsure: %v", got[0].Known, got[0].Unsure)
	}
	for range 2 {
		ask(map[string]bool{toMulticall: true})
	}
	g.refuse("")
	ask(map[string]bool{toMulticall: true})
	now = now.Add(manycalls.KnownFor)
	ask(map[string]bool{toMulticall: true, toNone: true})
	ask(map[string]bool{toNone: true})
	// After a refusal for the rate it is asked again soon.
	now = now.Add(manycalls.KnownFor)
	g.refuse(tooFast)
	for range 2 {
		w.states(t, s, pools)
	}
	refused := g.count()[toNone]
	g.refuse("")
	now = now.Add(manycalls.AgainAfter - time.Second)
	ask(map[string]bool{toMulticall: true})
	now = now.Add(time.Second)
	ask(map[string]bool{toNone: true})
	if refused == 0 {
		t.Error("the endpoint wasn't asked: the test shows nothing")
	}
	// A call that fails as a contract does is followed by single calls at once, and isn't tried for the next pools: here the first after the probe.
	now = now.Add(manycalls.KnownFor)
	g.refuse(reverts, 1)
	if got := w.states(t, s, pools); !got[0].Known || got[0].Unsure {
		t.Errorf("the pool is known: %v, unsure: %v", got[0].Known, got[0].Unsure)
	}
	if n := g.count(); n[toMulticall] == 0 || n[toNone] != 2 || n[toOthers] < 100 {
		t.Errorf("the calls are %v", n)
	}
	ask(map[string]bool{toMulticall: true})
}

// hostilePool is the code of a contract that tells a price and no liquidity, and for all else does what the code after says, which begins at its byte 59.
func hostilePool(code string) string {
	const slot0, liquidity, price = 29, 52, "6c01000000000000000000000000"
	return "60003560e01c" + fmt.Sprintf("8063%s1460%02x57", hash.SelectorHex("slot0()")[2:], slot0) + fmt.Sprintf("8063%s1460%02x57", hash.SelectorHex("liquidity()")[2:], liquidity) + "603a56" +
		"5b" + price + "60005260406000f3" + "5b60206000f3" + "5b" + code
}

// TestPoolsThatMisbehave: whatever a contract does that is asked as a pool, it has no state, others have theirs, and the endpoint is asked as before.
func TestPoolsThatMisbehave(t *testing.T) {
	t.Parallel()
	w := newPoolsWorld(t, false)
	g := newGateway(t, w.Node, "")
	s := sourceOf(t, time.Now, g.URL)
	codes := map[string]string{
		"answers that it has no ticks": "60206000f3",
		"reverts":                      "60006000fd",
		"reverts with a word":          "60206000fd",
		"answers nothing":              "00",
		"answers a byte too few":       "601f6000f3",
		"answers megabytes":            "6221e0006000f3",
		"burns all gas":                "5b603b56",
		"halts":                        "fe",
		"answers that all are ticks":   "60001960005260206000f3",
	}
	pools, names := []market.PoolCreated{w.pools[1]}, []string{"an honest one"}
	for name, code := range codes {
		address := fmt.Sprintf("0x%040x", 0xbad<<32+len(pools))
		if err := w.Node.Call(t.Context(), nil, "anvil_setCode", address, "0x"+hostilePool(code)); err != nil {
			t.Fatal(err)
		}
		pools, names = append(pools, market.PoolCreated{Protocol: market.UniswapV3, Pool: markettest.Address(address), TickSpacing: 1}), append(names, name)
	}
	pools = append(pools, market.PoolCreated{Protocol: market.UniswapV3, Pool: markettest.Address("0x" + strings.Repeat("0", 37) + "bad"), TickSpacing: 1})
	names = append(names, "isn't there")
	w.mine(t)
	for round := range 2 {
		g.count()
		states := w.states(t, s, pools)
		for i, got := range states {
			if want := i == 0 || names[i] == "answers that it has no ticks"; got.Known != want {
				t.Errorf("the state of a pool that %q is known: %v", names[i], got.Known)
			}
		}
		n := g.count()
		if n[toNone] < nearCalls*len(codes) || (n[toMulticall] > 0) != (round == 0) || n[toOthers] != 2*len(pools) {
			t.Errorf("the calls of round %d are %v", round, n)
		}
	}
}
