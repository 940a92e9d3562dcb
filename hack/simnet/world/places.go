package world

import (
	"context"
	"fmt"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
)

// Places are the addresses at which contracts are put, as a mainnet has them. A contract without one lies where its creation puts it.
type Places struct {
	Wrapped              string
	UniswapV2Factory     string
	UniswapV3Factory     string
	UniswapV4PoolManager string
	// UniswapV4PositionManager is where simnet's own router stands in for Uniswap's PositionManager.
	UniswapV4PositionManager string
	PancakeSwapV3Factory     string
	// PancakeSwapV2Factory is of a second exchange of Uniswap V2's kind; there is none without it. Uniswap's own code stands in for
	// PancakeSwap's, so that its pairs take 0.3 %, not 0.25 %.
	PancakeSwapV2Factory string
	// MoreUniswapV3Factories are of further exchanges of Uniswap V3's kind. Uniswap's own code stands in for theirs.
	MoreUniswapV3Factories []string
	// SolidlyFactory and SlipstreamFactories are of Velodrome's and Aerodrome's kinds; there are none without them. Contracts of simnet's
	// own stand in for theirs.
	SolidlyFactory      string
	SlipstreamFactories []string
	// USDC and USDT are the stable coins of the world, whatever they are called on that mainnet.
	USDC, USDT PlacedToken
	// MoreStables have a pool with the first one.
	MoreStables []PlacedToken
	// Multicall is where simnet's own contract stands in for Multicall3; there is none without it.
	Multicall string
}

// PlacedToken is a token at an address that was chosen.
type PlacedToken struct {
	Address  string
	Symbol   string
	Decimals int
}

// createAt puts a contract at an address, where one is given. The address is given the code that creates the contract, and a
// transaction runs it there: so the storage and the immutable values are those of a contract that was created at that address. In the
// end the address gets the code that this returned. The next flush tells of an error.
func (d *Deployment) createAt(ctx context.Context, address, contract, constructor string, args ...any) string {
	if address == "" {
		return d.Create(contract, constructor, args...)
	}
	address = anvil.ToHex(anvil.FromHex(address)) // lower case
	if err := d.runAt(ctx, address, d.initCode(contract, constructor, args...)); err != nil && d.failed == nil {
		d.failed = fmt.Errorf("%s at %s: %w", contract, address, err)
	}
	return address
}

func (d *Deployment) runAt(ctx context.Context, address string, creation []byte) error {
	if err := d.Flush(ctx); err != nil {
		return err
	}
	var runtime anvil.HexBytes
	call := map[string]string{"from": d.Deployer, "to": address, "gas": anvil.HexOf(deployGas)}
	requests := []anvil.Request{
		{Method: "anvil_setCode", Params: []any{address, anvil.ToHex(creation)}},
		{Method: "anvil_setNonce", Params: []any{address, "0x1"}}, // as EIP-161 has it
		{Method: "eth_call", Params: []any{call, "latest"}, Result: &runtime},
	}
	if err := d.Node.Batch(ctx, requests); err != nil {
		return err
	}
	if err := anvil.FirstError(requests); err != nil {
		return err
	}
	d.Add(anvil.Transaction{To: address})
	if err := d.Flush(ctx); err != nil {
		return err
	}
	return d.Node.Call(ctx, nil, "anvil_setCode", address, anvil.ToHex(runtime))
}

// placedExchanges are the contracts that a world has only where its places name them.
func (d *Deployment) placedExchanges(ctx context.Context) {
	if p := d.places.PancakeSwapV2Factory; p != "" {
		d.PancakeSwapV2Factory = d.createAt(ctx, p, "UniswapV2Factory", "(address)", d.Deployer)
		d.Routers.PancakeSwapV2 = d.Create("UniswapV2Router02", "(address,address)", d.PancakeSwapV2Factory, d.Wrapped)
	}
	for _, place := range d.places.MoreUniswapV3Factories {
		factory := d.createAt(ctx, place, "UniswapV3Factory", "")
		d.MoreUniswapV3 = append(d.MoreUniswapV3, UniswapV3Exchange{
			Factory:   factory,
			Router:    d.Create("SwapRouter", "(address,address)", factory, d.Wrapped),
			Positions: d.Create("NonfungiblePositionManager", "(address,address,address)", factory, d.Wrapped, anvil.ZeroAddress),
		})
	}
	if p := d.places.SolidlyFactory; p != "" {
		d.SolidlyFactory = d.createAt(ctx, p, "SolidlyStandIn", "")
		d.Routers.Solidly = d.Create("SolidlyRouter", "(address)", d.SolidlyFactory)
	}
	for _, place := range d.places.SlipstreamFactories {
		factory := d.createAt(ctx, place, "SlipstreamStandIn", "")
		d.Slipstream = append(d.Slipstream, SlipstreamExchange{Factory: factory, Router: d.Create("SlipstreamRouter", "(address)", factory)})
	}
	if p := d.places.Multicall; p != "" {
		d.createAt(ctx, p, "MulticallStandIn", "")
	}
}

// stables are the plans of the stable coins, the places' where they name them.
func (p *Places) stables(plans []tokenPlan) []tokenPlan {
	for i, placed := range []PlacedToken{p.USDC, p.USDT} {
		if placed.Symbol != "" {
			plans[i].Name, plans[i].Symbol, plans[i].Decimals, plans[i].Address = placed.Symbol, placed.Symbol, placed.Decimals, placed.Address
		}
	}
	for _, more := range p.MoreStables {
		plans = append(plans, tokenPlan{
			Token:    Token{Address: more.Address, Name: more.Symbol, Symbol: more.Symbol, Decimals: more.Decimals, Behaviour: Stable, USD: 1},
			contract: "Token", supply: 4e9,
		})
	}
	return plans
}

// openMorePools opens the pools that a world has besides because of its places: one of each further stable coin, one
// of the wrapped coin on each further exchange of Uniswap V3's kind, and some of the second exchange of Uniswap V2's kind, of Solidly and of
// each Slipstream factory.
func (d *Deployment) openMorePools() {
	for _, more := range d.places.MoreStables {
		d.open(d.NewPool(UniswapV3, anvil.ToHex(anvil.FromHex(more.Address)), d.StableUSDC6, 100, ""), Opening{USD0: 1, USD1: 1, DepthUSD: 1_000_000})
	}
	for _, exchange := range d.MoreUniswapV3 {
		pool := d.NewPool(UniswapV3, d.Wrapped, d.StableUSDC6, 3000, "")
		pool.Factory = exchange.Factory
		d.open(pool, Opening{USD0: d.Asset(pool.Token0).USD, USD1: d.Asset(pool.Token1).USD, DepthUSD: 500_000})
	}
	d.openVelodromes()
	if d.PancakeSwapV2Factory == "" {
		return
	}
	for _, token := range append([]Token{d.Tokens[1]}, d.TokensLike(Plain)[:2]...) {
		pool := d.NewPool(UniswapV2, token.Address, d.Wrapped, 0, "")
		pool.Factory = d.PancakeSwapV2Factory
		d.open(pool, Opening{USD0: d.Asset(pool.Token0).USD, USD1: d.Asset(pool.Token1).USD, DepthUSD: 50_000})
	}
}

// openVelodromes opens pools of the wrapped coin, of two stable coins and of a plain token on Solidly and on each Slipstream factory.
func (d *Deployment) openVelodromes() {
	usdc, usdt, plain := d.StableUSDC6, d.StableUSD18, d.TokensLike(Plain)
	open := func(pool Pool, depthUSD float64) {
		d.open(pool, Opening{USD0: d.Asset(pool.Token0).USD, USD1: d.Asset(pool.Token1).USD, DepthUSD: depthUSD})
	}
	if d.SolidlyFactory != "" {
		pegged := d.NewPool(Solidly, usdc, usdt, 0, "")
		pegged.Stable = true
		open(pegged, 400_000)
		open(d.NewPool(Solidly, d.Wrapped, usdc, 0, ""), 300_000)
		open(d.NewPool(Solidly, plain[2].Address, d.Wrapped, 0, ""), 50_000)
	}
	for _, exchange := range d.Slipstream {
		for _, of := range []struct {
			tokenA, tokenB string
			spacing        int
			depthUSD       float64
		}{{d.Wrapped, usdc, 100, 800_000}, {usdc, usdt, 1, 500_000}, {plain[3].Address, d.Wrapped, 200, 60_000}} {
			pool := d.NewPool(Slipstream, of.tokenA, of.tokenB, 0, "")
			pool.Factory, pool.TickSpacing = exchange.Factory, of.spacing
			open(pool, of.depthUSD)
		}
	}
}

// routerSlipstream is the router of the Slipstream factory that a pool is of.
func (w *World) routerSlipstream(pool Pool) string {
	for _, exchange := range w.Slipstream {
		if exchange.Factory == pool.Factory {
			return exchange.Router
		}
	}
	panic("simnet: no Slipstream factory " + pool.Factory)
}

// RouterV2 is the router of the exchange of Uniswap V2's kind that a pool is of.
func (w *World) RouterV2(pool Pool) string {
	if w.PancakeSwapV2Factory != "" && pool.Factory == w.PancakeSwapV2Factory {
		return w.Routers.PancakeSwapV2
	}
	return w.Routers.UniswapV2
}

// ExchangeV3 is the exchange of Uniswap V3's kind that a pool is of.
func (w *World) ExchangeV3(pool Pool) UniswapV3Exchange {
	for _, exchange := range w.MoreUniswapV3 {
		if exchange.Factory == pool.Factory {
			return exchange
		}
	}
	return UniswapV3Exchange{Factory: w.UniswapV3Factory, Router: w.Routers.UniswapV3, Positions: w.Routers.V3Positions}
}
