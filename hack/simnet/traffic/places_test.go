package traffic_test

import (
	"math/big"
	"testing"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/simnettest"
	"github.com/boardwalkhq/boardwalk/hack/simnet/traffic"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
)

// TestContractsLieAtAMainnetsAddresses puts the exchanges and stable coins where BNB Chain has them, and trades on each exchange.
func TestContractsLieAtAMainnetsAddresses(t *testing.T) {
	t.Parallel()
	node := simnettest.Node(t, 56)
	places := &world.Places{
		Wrapped:              "0xbb4CdB9CBd36B01bD1cBaEBF2De08d9173bc095c",
		UniswapV2Factory:     "0x8909Dc15e40173Ff4699343b6eB8132c65e18eC6",
		UniswapV3Factory:     "0xdB1d10011AD0Ff90774D0C6Bb92e5C5c8b4461F7",
		UniswapV4PoolManager: "0x28e2ea090877bf75740558f6bfb36a5ffee9e9df",
		PancakeSwapV2Factory: "0xcA143Ce32Fe78f1f7019d7d551a6402fC5350c73",
		PancakeSwapV3Factory: "0x0BFbCF9fa4f9C56B0F40a671Ad40E0805A091865",
		MoreUniswapV3Factories: []string{
			"0xFf7B3e8C00e57ea31477c32A5B52a58Eea47b072", "0x6B5F564339DbAD6b780249827f2198a841FEB7F3",
		},
		SolidlyFactory:      "0x420DD381b31aEf6683db6B902084cB0FFECe40Da",
		SlipstreamFactories: []string{"0x5e7BB104d84c7CB9B682AaC2F3d509f5F406809A", "0xaDe65c38CD4849aDBA595a4323a8C7DdfE89716a"},
		USDC:                world.PlacedToken{Address: "0x55d398326f99059fF775485246999027B3197955", Symbol: "USDT", Decimals: 18},
		USDT:                world.PlacedToken{Address: "0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d", Symbol: "USDC", Decimals: 18},
		MoreStables:         []world.PlacedToken{{Address: "0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174", Symbol: "USDX", Decimals: 6}},
		Multicall:           "0xcA11bde05977b3631167028862bE2a173976CA11",
	}
	w, err := world.Deploy(t.Context(), node, world.DeployOptions{Seed: 1, Places: places})
	if err != nil {
		t.Fatal(err)
	}
	trader := traffic.NewTrader(w, 1)
	swaps := map[string]int{}
	for range 10 {
		truths, err := trader.Step(t.Context(), 30)
		if err != nil {
			t.Fatal(err)
		}
		for _, truth := range truths {
			if truth.Kind == traffic.SwapDirect {
				swaps[truth.Pools[0]]++
			}
		}
		if err := w.Node.MineNext(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	census, err := node.Census(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if census.Reverted > 0 || census.ByEvent["V2 Swap"] == 0 || census.ByEvent["V3 Swap"] == 0 {
		t.Errorf("the trades came out as %+v", census)
	}
	direct := map[world.Protocol]int{}
	for _, pool := range w.Pools {
		direct[pool.Protocol] += swaps[pool.Address]
	}
	if direct[world.Solidly] == 0 || direct[world.Slipstream] == 0 {
		t.Errorf("there were %d swaps on Solidly and %d on Slipstream", direct[world.Solidly], direct[world.Slipstream])
	}
	factories := map[string]int{}
	for _, pool := range w.Pools {
		factories[pool.Factory]++
		if pool.Protocol == world.UniswapV4 {
			continue
		}
		factory := anvil.AddressAt(simnettest.Answer(t, w, pool.Address, "factory()"), 0)
		if factory != pool.Factory {
			t.Errorf("pool %s is of %s, wanted %s", pool.Address, factory, pool.Factory)
		}
	}
	for _, factory := range append([]string{
		places.UniswapV2Factory, places.UniswapV3Factory, places.UniswapV4PoolManager, places.PancakeSwapV2Factory, places.PancakeSwapV3Factory,
		places.SolidlyFactory, places.SlipstreamFactories[0], places.SlipstreamFactories[1],
	}, places.MoreUniswapV3Factories...) {
		if factories[anvil.ToHex(anvil.FromHex(factory))] == 0 {
			t.Errorf("factory %s has no pool", factory)
		}
	}
	routers := []string{w.Routers.PancakeSwapV2, w.Routers.Solidly, w.Slipstream[0].Router, w.Slipstream[1].Router}
	for _, exchange := range w.MoreUniswapV3 {
		routers = append(routers, exchange.Router)
	}
	for _, router := range routers {
		if simnettest.Read(t, w, w.Wrapped, "allowance(address,address)", w.SmartAccounts[0], router).Sign() == 0 {
			t.Errorf("router %s can't take a smart account's wrapped coin", router)
		}
	}
	for _, stable := range append([]world.PlacedToken{places.USDC, places.USDT}, places.MoreStables...) {
		decimals := simnettest.Read(t, w, stable.Address, "decimals()")
		if decimals.Cmp(big.NewInt(int64(stable.Decimals))) != 0 {
			t.Errorf("%s has %s decimals, wanted %d", stable.Symbol, decimals, stable.Decimals)
		}
	}
	calls := []anvil.Tuple{{places.USDC.Address, true, anvil.EncodeCall("decimals()")}, {places.USDC.Address, true, anvil.EncodeCall("nothing()")}}
	results := simnettest.Answer(t, w, places.Multicall, "aggregate3((address,bool,bytes)[])", calls)
	if len(results) < 32*9 || anvil.WordAt(results, 4).Sign() == 0 || anvil.WordAt(results, 7).Cmp(big.NewInt(18)) != 0 {
		t.Errorf("the multicall answered %x", results)
	}
}
