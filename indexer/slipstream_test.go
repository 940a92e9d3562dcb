package indexer_test

import (
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/history"
	"github.com/boardwalkhq/boardwalk/hack/simnet/traffic"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// The factories of velodromes; nobody declares strangeFactory.
const (
	solidlyFactory    = "0x420dd381b31aef6683db6b902084cb0ffece40da"
	slipstreamFactory = "0x5e7bb104d84c7cb9b682aac2f3d509f5f406809a"
	strangeFactory    = "0x00000000000000000000000000000000000bad01"
)

// velodromes is a world with stand-ins of Solidly and Slipstream, and a second Slipstream factory, of whose pools no word is true.
func velodromes(t *testing.T) *testWorld {
	t.Helper()
	const span = 3 * time.Hour
	node, err := anvil.StartNode(t.Context(), anvil.NodeOptions{ChainID: 31337, Timestamp: history.GenesisFor(span)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = node.Close() })
	w, err := world.Deploy(t.Context(), node, world.DeployOptions{Seed: 1, Places: &world.Places{
		SolidlyFactory: solidlyFactory, SlipstreamFactories: []string{slipstreamFactory, strangeFactory},
	}})
	if err != nil {
		t.Fatal(err)
	}
	out := &testWorld{World: w, node: node, trader: traffic.NewTrader(w, 1)}
	err = history.Mine(t.Context(), w, out.trader, history.Options{Span: span, Blocks: 40, BlockTime: 2 * time.Second, TxPerBlock: 12, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// poolsOf are what the index has of a protocol's pools.
func poolsOf(t *testing.T, st *store.Store, protocol market.Protocol) (out []market.Pool) {
	t.Helper()
	for _, p := range pools(t, st) {
		if p.Protocol == protocol {
			out = append(out, p)
		}
	}
	return out
}

// TestSlipstream indexes pools of Slipstream's and Solidly's kinds on both databases, and holds prices, depths, trades and volumes against
// their contracts. Pools of a factory that isn't declared log the same and count for nothing.
func TestSlipstream(t *testing.T) {
	t.Parallel()
	w := velodromes(t)
	quiet := w.openQuietPool(t)
	for _, kind := range storetest.Both {
		st := storetest.Open(t, kind)
		stop := run(t, w.config(), st, 0)
		for round := range 3 {
			w.await(t, st)
			t.Run(fmt.Sprint(kind, " in round ", round), func(t *testing.T) {
				w.checkConcentrated(t, st)
				if i := slices.IndexFunc(pools(t, st), func(p market.Pool) bool { return p.ID.String() == quiet }); i < 0 {
					t.Errorf("the pool %s, in which nobody traded, isn't in the index", quiet)
				}
				w.checkStable(t, st)
				w.checkVolume(t, st)
				w.checkStrange(t, st)
			})
			w.moveLiquidity(t, round)
			w.trade(t, 2)
		}
		stop()
	}
}

// TestSlipstreamPoolsOlderThanTheIndex: a pool whose creation no log told is known from its first swap on, by its tick spacing.
func TestSlipstreamPoolsOlderThanTheIndex(t *testing.T) {
	t.Parallel()
	w := velodromes(t)
	st := storetest.Open(t, "sqlite")
	cfg := w.config()
	head, err := w.node.Latest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cfg.Start = chainconfig.Start{Block: head.Number}
	defer run(t, cfg, st, 0)()
	w.await(t, st)
	for range 10 {
		w.trade(t, 3)
	}
	w.await(t, st)
	spacings := map[string]int{}
	for _, p := range w.Pools {
		spacings[p.Address] = p.TickSpacing
	}
	found := poolsOf(t, st, market.Slipstream)
	for _, p := range found {
		if p.Factory.String() != slipstreamFactory || int(p.TickSpacing) != spacings[p.ID.String()] || p.FeePips != 0 || p.CreatedBlock != 0 {
			t.Errorf("the older pool is %+v, and its spacing %d", p, spacings[p.ID.String()])
		}
	}
	if len(found) == 0 || len(poolsOf(t, st, market.Solidly)) == 0 {
		t.Error("no older pool was found")
	}
	w.checkConcentrated(t, st)
	w.checkStrange(t, st)
}

// checkConcentrated holds the price and the depth of each Slipstream pool against what its contract answers.
func (w *testWorld) checkConcentrated(t *testing.T, st *store.Store) {
	t.Helper()
	status, _, err := st.Chain(t.Context(), "base")
	if err != nil {
		t.Fatal(err)
	}
	toks := tokens(t, st)
	traded := 0
	for _, p := range poolsOf(t, st, market.Slipstream) {
		raw := w.rawPrice(t, &p, status.Last.Number)
		if !p.BaseIs0 {
			raw.Quo(big.NewFloat(1), raw)
		}
		base, quote := toks[p.Base], toks[p.Quote]
		want, _ := raw.Float64()
		want *= math.Pow10(int(base.Decimals) - int(quote.Decimals))
		if math.Abs(p.Price/want-1) > 1e-9 {
			t.Errorf("pool %s has the price %v, by its contract it is %v", p.ID, p.Price, want)
		}
		if p.LastTradeAt > 0 {
			traded++
		}
		if p.Untrusted == market.UntrustedTicks {
			continue // an older pool
		}
		deep := w.sellDown(t, &p, status.Last.Number) / math.Pow10(int(quote.Decimals))
		if deep == 0 || math.Abs(p.Depth/deep-1) > 1e-6 {
			t.Errorf("pool %s has the depth %v, its contract gives %v until the price has fallen by 2 %%", p.ID, p.Depth, deep)
		}
	}
	if traded == 0 {
		t.Error("nobody traded in a pool of Slipstream")
	}
}

// sellDown tries what a Slipstream pool gives of its quote while the base's price falls by 2 %.
func (w *testWorld) sellDown(t *testing.T, p *market.Pool, block uint64) float64 {
	t.Helper()
	sqrt := new(big.Float).SetPrec(256).SetInt(new(big.Int).SetBytes(w.ethCall(t, p.ID.String(), selector("slot0()"), block)[:32]))
	if fall := new(big.Float).SetPrec(256).SetFloat64(math.Sqrt(0.98)); p.BaseIs0 {
		sqrt.Mul(sqrt, fall)
	} else {
		sqrt.Quo(sqrt, fall)
	}
	limit, _ := sqrt.Int(nil)
	have := new(big.Int).SetBytes(w.ethCall(t, p.Base.String(), selector("balanceOf(address)")+word(w.Deployer), block))
	data := selector("swapTo(address,address,int24,uint256,address,uint160)") + word(p.Base.String()) + word(p.Quote.String()) +
		fmt.Sprintf("%064x%064x", p.TickSpacing, have) + word(w.Deployer) + fmt.Sprintf("%064x", limit)
	var out string
	err := w.node.Call(t.Context(), &out, "eth_call", map[string]string{"from": w.Deployer, "to": w.Slipstream[0].Router, "data": data}, fmt.Sprintf("0x%x", block))
	if err != nil {
		t.Fatalf("selling %s in pool %s: %v", p.Base, p.ID, err)
	}
	given, ok := new(big.Int).SetString(strings.TrimPrefix(out, "0x"), 16)
	if !ok {
		t.Fatalf("the router answered %q", out)
	}
	f, _ := new(big.Float).SetInt(given).Float64()
	return f
}

func word(address string) string {
	return strings.Repeat("0", 24) + strings.TrimPrefix(strings.ToLower(address), "0x")
}

// checkStable holds the price of Solidly's pools against what a whole token of them brings, less the fee.
func (w *testWorld) checkStable(t *testing.T, st *store.Store) {
	t.Helper()
	status, _, err := st.Chain(t.Context(), "base")
	if err != nil {
		t.Fatal(err)
	}
	toks := tokens(t, st)
	stable := 0
	for _, p := range poolsOf(t, st, market.Solidly) {
		fee := 0.003
		if p.Stable {
			fee = 0.0005
			stable++
		}
		// A pool has millions of a plain token and hundreds of others.
		one := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(toks[p.Base].Decimals)), nil)
		if p.Base.String() == w.Wrapped {
			one.Div(one, big.NewInt(10_000))
		}
		answer := w.ethCall(t, p.ID.String(), selector("getAmountOut(uint256,address)")+fmt.Sprintf("%064x", one)+word(p.Base.String()), status.Last.Number)
		got, _ := new(big.Float).SetInt(new(big.Int).SetBytes(answer)).Float64()
		whole, _ := new(big.Float).SetInt(one).Float64()
		want := got / math.Pow10(int(toks[p.Quote].Decimals)) / (whole / math.Pow10(int(toks[p.Base].Decimals))) / (1 - fee)
		if math.Abs(p.Price/want-1) > 1e-4 {
			t.Errorf("pool %s (stable: %v) has the price %v, its contract gives %v", p.ID, p.Stable, p.Price, want)
		}
	}
	if stable == 0 {
		t.Error("there is no stable pool")
	}
}

// checkStrange looks for anything of the pools whose factory nobody declares.
func (w *testWorld) checkStrange(t *testing.T, st *store.Store) {
	t.Helper()
	strange := map[string]bool{}
	for _, p := range w.Pools {
		if p.Factory == strangeFactory {
			strange[p.Address] = true
		}
	}
	for _, p := range pools(t, st) {
		if strange[p.ID.String()] || p.Factory.String() == strangeFactory {
			t.Errorf("the index has the pool %s of a factory that isn't declared", p.ID)
		}
	}
	var logs []struct{ Address string }
	topic := "0x" + hex.EncodeToString(keccak([]byte("Swap(address,address,int256,int256,uint160,uint128,int24)")))
	if err := w.node.Call(t.Context(), &logs, "eth_getLogs", map[string]any{"fromBlock": "0x0", "topics": []string{topic}}); err != nil {
		t.Fatal(err)
	}
	swaps := 0
	for _, l := range logs {
		if strange[l.Address] {
			swaps++
		}
	}
	if len(strange) == 0 || swaps == 0 {
		t.Errorf("%d pools of the strange factory have %d swaps: the test shows nothing", len(strange), swaps)
	}
	for _, trade := range all[market.Trade](t)(st.Inspect.Trades(t.Context(), "base", 0, 0)) {
		if strange[trade.Pool.String()] {
			t.Errorf("the index has the trade %+v in a pool whose factory isn't declared", trade)
		}
	}
}

// openQuietPool makes a pool with liquidity that nobody trades in: only its own first price is there to tell what it holds.
func (w *testWorld) openQuietPool(t *testing.T) (id string) {
	t.Helper()
	i := slices.IndexFunc(w.Pools, func(p world.Pool) bool { return p.Factory == slipstreamFactory && p.TickSpacing == 200 })
	like, pair := w.Pools[i], word(w.Pools[i].Token0)+word(w.Pools[i].Token1)
	const spacing = 2000
	slot0 := w.ethCall(t, like.Address, selector("slot0()"), w.headNumber(t))
	liquidity := w.ethCall(t, like.Address, selector("liquidity()"), w.headNumber(t))
	w.transact(t, w.Deployer, slipstreamFactory, selector("createPool(address,address,int24,uint160)")+pair+signedWord(spacing)+hex.EncodeToString(slot0[:32]))
	w.transact(t, w.Deployer, w.Slipstream[0].Router, selector("mint(address,address,int24,int24,int24,uint128)")+
		pair+signedWord(spacing)+signedWord(-440*spacing)+signedWord(440*spacing)+hex.EncodeToString(liquidity))
	answer := w.ethCall(t, slipstreamFactory, selector("getPool(address,address,int24)")+pair+signedWord(spacing), w.headNumber(t))
	return fmt.Sprintf("0x%x", answer[12:])
}

// moveLiquidity opens a narrow position in each declared Slipstream pool, and in later rounds takes half of it out again.
func (w *testWorld) moveLiquidity(t *testing.T, round int) {
	t.Helper()
	for _, p := range w.Pools {
		if p.Factory != slipstreamFactory {
			continue
		}
		slot0 := w.ethCall(t, p.Address, selector("slot0()"), w.headNumber(t))
		tick := int(int32(new(big.Int).SetBytes(slot0[60:64]).Uint64()))
		lower := int(math.Floor(float64(tick)/float64(p.TickSpacing))) * p.TickSpacing
		ticks := signedWord(lower-p.TickSpacing) + signedWord(lower+2*p.TickSpacing)
		active := new(big.Int).SetBytes(w.ethCall(t, p.Address, selector("liquidity()"), w.headNumber(t)))
		if active.Sign() == 0 {
			t.Fatalf("pool %s has no liquidity", p.Address)
		}
		active.Div(active, big.NewInt(4))
		w.transact(t, w.Deployer, w.Slipstream[0].Router, selector("mint(address,address,int24,int24,int24,uint128)")+
			word(p.Token0)+word(p.Token1)+signedWord(p.TickSpacing)+ticks+fmt.Sprintf("%064x", active))
		if round > 0 {
			w.transact(t, w.Deployer, p.Address, selector("burn(int24,int24,uint128)")+ticks+fmt.Sprintf("%064x", active.Div(active, big.NewInt(2))))
		}
	}
}

func signedWord(n int) string {
	if n < 0 {
		return strings.Repeat("f", 48) + fmt.Sprintf("%016x", uint64(n))
	}
	return fmt.Sprintf("%064x", n)
}

func (w *testWorld) headNumber(t *testing.T) uint64 {
	t.Helper()
	head, err := w.node.Latest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return head.Number
}
