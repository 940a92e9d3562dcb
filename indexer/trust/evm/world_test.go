package evm_test

import (
	"context"
	"encoding/hex"
	"io"
	"log/slog"
	"maps"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/toolchain"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
	"github.com/boardwalkhq/boardwalk/indexer/evm"
	"github.com/boardwalkhq/boardwalk/indexer/evm/hash"
	"github.com/boardwalkhq/boardwalk/indexer/trust"
	evmtrust "github.com/boardwalkhq/boardwalk/indexer/trust/evm"
	"github.com/boardwalkhq/boardwalk/indexer/trust/evm/probe"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
	report "github.com/boardwalkhq/boardwalk/internal/trust"
)

// testWorld is a chain with the exchanges' real contracts, and the contracts of testdata compiled. Tests share it: each has tokens
// of its own.
type testWorld struct {
	*world.World

	mu       sync.Mutex
	compiled map[string]toolchain.Compiled
}

var shared struct {
	once  sync.Once
	world *testWorld
	err   error
	end   func()
}

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.end != nil {
		shared.end()
	}
	os.Exit(code)
}

func newWorld(tb testing.TB) *testWorld {
	tb.Helper()
	shared.once.Do(func() {
		ctx := context.Background()
		var node *anvil.Node
		if node, shared.err = anvil.StartNode(ctx, anvil.NodeOptions{ChainID: 31337, Timestamp: time.Now().Add(-time.Hour)}); shared.err != nil {
			return
		}
		shared.end = func() { _ = node.Close() }
		w := &testWorld{}
		if w.World, shared.err = world.Deploy(ctx, node, world.DeployOptions{Seed: 1, Places: &world.Places{
			SolidlyFactory: "0x420DD381b31aEf6683db6B902084cB0FFECe40Da", SlipstreamFactories: []string{"0x5e7BB104d84c7CB9B682AaC2F3d509f5F406809A"},
		}}); shared.err != nil {
			return
		}
		sources := map[string]string{}
		for _, name := range []string{"Tokens.sol", "Curves.sol"} {
			var source []byte
			if source, shared.err = os.ReadFile("testdata/" + name); shared.err != nil {
				return
			}
			sources[name] = string(source)
		}
		w.compiled, shared.err = toolchain.Compile(ctx, "cancun", sources)
		shared.world = w
	})
	if shared.err != nil {
		tb.Fatal(shared.err)
	}
	return shared.world
}

func logger() *slog.Logger {
	w := io.Discard
	if os.Getenv("BOARDWALK_TEST_LOGS") != "" {
		w = os.Stderr
	}
	return slog.New(slog.NewTextHandler(w, nil))
}

func (w *testWorld) config() *chainconfig.Chain {
	c := &chainconfig.Chain{
		ID: "base", Family: chainconfig.EVM, EVMChainID: w.ChainID, MinTradeUSD: 2,
		Native: chainconfig.Native{Symbol: "ETH", Wrapped: markettest.Address(w.Wrapped)},
		Quotes: []chainconfig.Quote{
			{Symbol: "USDC", Address: markettest.Address(w.StableUSDC6), PegUSD: 1},
			{Symbol: "USDT", Address: markettest.Address(w.StableUSD18), PegUSD: 1},
			{Symbol: "WETH", Address: markettest.Address(w.Wrapped)},
		},
		Endpoints: []chainconfig.Endpoint{{URL: w.Node.URL(), Weight: 1}},
		Venues: []chainconfig.Venue{
			{ID: "ours", Protocol: chainconfig.BoardwalkCurve, Contracts: markettest.Addresses("0x00000000000000000000000000000000000000a1")},
			{ID: "clanker", Protocol: chainconfig.ClankerV4, Contracts: markettest.Addresses("0x00000000000000000000000000000000000000a2")},
		},
	}
	for _, x := range w.Exchanges() {
		c.Exchanges = append(c.Exchanges, chainconfig.Exchange{Name: x.Name, Protocol: market.Protocol(x.Protocol), Factory: markettest.Address(x.Factory)})
	}
	return c
}

func (w *testWorld) source(tb testing.TB, cfg *chainconfig.Chain) *evm.Source {
	tb.Helper()
	s, err := evm.NewSource(cfg, evm.Options{Log: logger(), Now: time.Now})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// index is an index of what a test says.
type index struct {
	mu    sync.Mutex
	known map[market.Address]trust.Known
	asked int
	err   error
}

func (x *index) Known(_ context.Context, mint market.Address) (trust.Known, bool, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.asked++
	k, ok := x.known[mint]
	return k, ok, x.err
}

func address(tb testing.TB, text string) market.Address {
	tb.Helper()
	a, err := market.ParseEVMAddress(text)
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

// head is the chain's newest block.
func (w *testWorld) head(tb testing.TB) market.Header {
	tb.Helper()
	b, err := w.Node.Latest(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	h, err := market.ParseHash(b.Hash)
	if err != nil {
		tb.Fatal(err)
	}
	return market.Header{Number: b.Number, Hash: h, Time: b.Timestamp.Unix()}
}

// send sends transactions of the deployer and mines them in one block; it gives the receipts' contract addresses.
func (w *testWorld) send(tb testing.TB, txs ...map[string]string) []string {
	tb.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	hashes := make([]string, len(txs))
	for i, tx := range txs {
		if tx["from"] == "" {
			tx["from"] = w.Deployer
		}
		tx["gas"], tx["gasPrice"] = "0xb71b00", "0x0"
		if err := w.Node.Call(tb.Context(), &hashes[i], "eth_sendTransaction", tx); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Node.Mine(tb.Context(), 1, time.Second); err != nil {
		tb.Fatal(err)
	}
	out := make([]string, len(txs))
	for i, id := range hashes {
		var receipt struct{ Status, ContractAddress string }
		if err := w.Node.Call(tb.Context(), &receipt, "eth_getTransactionReceipt", id); err != nil {
			tb.Fatal(err)
		}
		if receipt.Status != "0x1" {
			tb.Fatalf("transaction %d of %d to %s was refused", i+1, len(txs), txs[i]["to"])
		}
		out[i] = receipt.ContractAddress
	}
	return out
}

func calldata(signature string, words ...[]byte) string {
	data := hash.Selector(signature)
	for _, w := range words {
		data = append(data, w...)
	}
	return "0x" + hex.EncodeToString(data)
}

// tokens is n whole tokens of 18 decimals as an ABI word.
func tokens(n uint64) []byte {
	var v, unit market.Amount
	unit.SetUint64(1e18)
	v.Mul(v.SetUint64(n), &unit)
	word := v.Bytes32()
	return word[:]
}

// deploy creates a contract of testdata.
func (w *testWorld) deploy(tb testing.TB, name string, args ...[]byte) market.Address {
	tb.Helper()
	c, ok := w.compiled[name]
	if !ok {
		tb.Fatalf("testdata has no contract %s", name)
	}
	code := append([]byte(nil), c.Creation...)
	for _, a := range args {
		code = append(code, a...)
	}
	return address(tb, w.send(tb, map[string]string{"data": "0x" + hex.EncodeToString(code)})[0])
}

func (w *testWorld) call(tb testing.TB, to market.Address, signature string, words ...[]byte) []byte {
	tb.Helper()
	var out string
	err := w.Node.Call(tb.Context(), &out, "eth_call", map[string]string{"to": to.String(), "data": calldata(signature, words...)}, "latest")
	if err != nil {
		tb.Fatal(err)
	}
	b, err := hex.DecodeString(out[2:])
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// ethLocked is what a pair gets on its side of the wrapped coin.
const (
	ethLocked  = 20
	baseLocked = 100_000_000
)

// pair opens a Uniswap V2 pair of a token and the wrapped coin; shares go to the address.
func (w *testWorld) pair(tb testing.TB, token, shares market.Address) market.Pool {
	tb.Helper()
	factory, wrapped := address(tb, w.UniswapV2Factory), address(tb, w.Wrapped)
	w.send(tb, map[string]string{
		"to": factory.String(), "data": calldata("createPair(address,address)", probe.Address(token), probe.Address(wrapped)),
	})
	pair := market.EVMAddress([32]byte(w.call(tb, factory, "getPair(address,address)", probe.Address(token), probe.Address(wrapped))))
	w.send(tb,
		map[string]string{"to": token.String(), "data": calldata("transfer(address,uint256)", probe.Address(pair), tokens(baseLocked))},
		map[string]string{"to": wrapped.String(), "data": calldata("transfer(address,uint256)", probe.Address(pair), tokens(ethLocked))},
		map[string]string{"to": pair.String(), "data": calldata("mint(address)", probe.Address(shares))},
	)
	return w.pool(tb, market.UniswapV2, factory, pair, token, wrapped)
}

// pool is a pool as the index would have it, created two hours before the head.
func (w *testWorld) pool(tb testing.TB, protocol market.Protocol, factory, id, base, quote market.Address) market.Pool {
	tb.Helper()
	p := market.Pool{
		ID: id, Protocol: protocol, Factory: factory, Token0: base, Token1: quote, Base: base, Quote: quote, BaseIs0: true,
		Locked: 2 * ethLocked, Depth: ethLocked / 100., Price: ethLocked / float64(baseLocked), CreatedAt: w.head(tb).Time - 7200,
	}
	if quote.IsNative() {
		p.Quote = address(tb, w.Wrapped)
	}
	if base.Compare(quote) > 0 {
		p.Token0, p.Token1, p.BaseIs0 = quote, base, false
	}
	return p
}

// setPair tells a token of testdata where it is traded.
func (w *testWorld) setPair(tb testing.TB, token, pair market.Address) {
	tb.Helper()
	w.send(tb, map[string]string{"to": token.String(), "data": calldata("setPair(address)", probe.Address(pair))})
}

var burned = market.EVMAddress([32]byte{30: 0xde, 31: 0xad})

// listed deploys a token of testdata and opens a pair, whose shares are burned.
func (w *testWorld) listed(tb testing.TB, contract string, args ...[]byte) (market.Address, market.Pool) {
	tb.Helper()
	token := w.deploy(tb, contract, args...)
	p := w.pair(tb, token, burned)
	w.setPair(tb, token, p.ID)
	return token, p
}

// known is a token as the index would have it.
func (w *testWorld) known(tb testing.TB, token market.Address, pools ...market.Pool) trust.Known {
	tb.Helper()
	supply := new(market.Amount).SetBytes(tokens(1_000_000_000))
	k := trust.Known{
		Token: market.Token{Mint: token, HasDecimals: true, Decimals: 18, Holders: market.Holders{Status: market.HoldersCurrent, Count: 3}},
		Block: w.head(tb), Pools: pools, First: &market.TokenFact{Token: token, HasSupply: true, Supply: *supply},
		USD:            map[market.Address]float64{address(tb, w.Wrapped): 3000, address(tb, w.StableUSDC6): 1, address(tb, w.StableUSD18): 1},
		HasFirstTrades: true,
	}
	for i := range w.Pools {
		p := &w.Pools[i]
		q := w.poolOf(tb, p, w.Wrapped)
		if p.Trap == "" && (p.Token0 == w.Wrapped || p.Token1 == w.Wrapped || p.Token0 == zero) {
			k.NativePools = append(k.NativePools, q)
		}
	}
	return k
}

const zero = "0x0000000000000000000000000000000000000000"

// poolOf is one of the world's pools as the index would have it, with a token of it as the base.
func (w *testWorld) poolOf(tb testing.TB, p *world.Pool, base string) market.Pool {
	tb.Helper()
	id := p.Address
	if p.Protocol == world.UniswapV4 {
		id = p.ID
	}
	pool, err := market.ParseAddress(id)
	if err != nil {
		tb.Fatal(err)
	}
	var hooks market.Address
	if p.Hooks != "" {
		hooks = address(tb, p.Hooks)
	}
	out := market.Pool{
		ID: pool, Protocol: market.Protocol(p.Protocol), Factory: address(tb, p.Factory), Token0: address(tb, p.Token0), Token1: address(tb, p.Token1),
		Hooks: hooks, FeePips: uint32(p.Fee), TickSpacing: int32(p.TickSpacing), CreatedAt: w.head(tb).Time - 7200, Locked: 100, Depth: 1,
	}
	quote := p.Token1
	if base == p.Token1 {
		quote = p.Token0
	}
	if quote == zero {
		quote = w.Wrapped
	}
	out.Base, out.Quote = address(tb, base), address(tb, quote)
	if quote != w.Wrapped {
		out.Locked = 300_000
	}
	return out
}

// checker checks with an index of these tokens.
func (w *testWorld) checker(tb testing.TB, known ...trust.Known) (*trust.Checker, *index) {
	tb.Helper()
	cfg := w.config()
	return w.checkerOf(tb, cfg, w.source(tb, cfg), trust.Options{}, known...)
}

func (w *testWorld) checkerOf(tb testing.TB, cfg *chainconfig.Chain, node evmtrust.Node, o trust.Options, known ...trust.Known) (*trust.Checker, *index) {
	tb.Helper()
	return w.checkerBy(tb, cfg, node, nil, o, known...)
}

// checkerBy is checkerOf with accounts for the simulations that follow from random.
func (w *testWorld) checkerBy(tb testing.TB, cfg *chainconfig.Chain, node evmtrust.Node, random io.Reader, o trust.Options, known ...trust.Known,
) (*trust.Checker, *index) {
	tb.Helper()
	x := &index{known: map[market.Address]trust.Known{}}
	for _, k := range known {
		x.known[k.Token.Mint] = k
	}
	o.Log = logger()
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Deadline == 0 {
		o.Deadline = time.Minute
	}
	looker, err := evmtrust.New(cfg, node, evmtrust.Options{Log: o.Log, Now: o.Now, Rand: random})
	if err != nil {
		tb.Fatal(err)
	}
	return trust.New(looker, x, o), x
}

// check checks one token.
func (w *testWorld) check(tb testing.TB, k trust.Known) *report.Report {
	tb.Helper()
	c, _ := w.checker(tb, k)
	r, err := c.Check(tb.Context(), k.Token.Mint)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// results are a report's results by id.
func results(r *report.Report) map[string]report.Result {
	out := map[string]report.Result{}
	for _, c := range r.Checks {
		out[c.ID] = c.Result
	}
	return out
}

// expect holds the results that a test names, and that all others are as those of a clean token.
func expect(t *testing.T, r *report.Report, others map[string]report.Result) {
	t.Helper()
	want := maps.Clone(cleanResults)
	maps.Copy(want, others)
	for id, result := range results(r) {
		if want[id] != result {
			t.Errorf("%s is %s, want %s: %+v", id, result, want[id], *r.Find(id))
		}
	}
}

// hash is the Keccak-256 of a text, as the chain computes it.
func (w *testWorld) hash(tb testing.TB, text string) []byte {
	tb.Helper()
	var out string
	if err := w.Node.Call(tb.Context(), &out, "web3_sha3", "0x"+hex.EncodeToString([]byte(text))); err != nil {
		tb.Fatal(err)
	}
	b, err := hex.DecodeString(out[2:])
	if err != nil {
		tb.Fatal(err)
	}
	return b
}
