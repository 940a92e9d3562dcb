package attack

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
)

// Fixture is an attempt to make a token look like something it isn't. Its transactions are sent and
// not mined: the caller mines them, in one block if the fixture says so.
type Fixture struct {
	// Pool is where the attempt takes place. It does not become one of the world's pools, so that no
	// trader spoils it.
	Pool  world.Pool
	Token string
	// Reference is the deepest honest pool of the token.
	Reference world.Pool
	// TxHashes are the transactions in the order in which they will be mined.
	TxHashes []string
}

const (
	// absurd is how many times the honest price a trap shows.
	absurd = 1000
	// washUSD is what a trap's maker trades with himself, so that there is a swap at that price.
	washUSD = 5
)

// quotes are the assets that a Chain resource declares, by which tokens are priced.
func quotes(w *world.World) []string {
	return []string{w.StableUSDC6, w.StableUSD18, w.Wrapped, anvil.ZeroAddress}
}

// attacker is the account behind the fixtures.
func attacker(w *world.World) string { return w.Spare[0] }

// reference is the deepest honest pool of a token against a quote asset, among protocols, with what
// it holds of the quote, in smallest units; on V3 and V4 in the virtual sense of world.PoolState.
func reference(ctx context.Context, w *world.World, address string, protocols ...world.Protocol) (world.Pool, float64, error) {
	token, found := w.Token(address)
	if !found || token.USD == 0 || token.Behaviour == world.Stable || token.Behaviour == world.Wrapped ||
		token.Behaviour == world.FeeOnTransfer || token.Behaviour == world.Rebasing {
		return world.Pool{}, 0, fmt.Errorf("simnet: %s is no token with a price and plain transfers", address)
	}
	answers := make([]anvil.HexBytes, 2*len(w.Pools))
	var requests []anvil.Request
	for i, pool := range w.Pools {
		requests = append(requests, world.StateRequests(pool, &answers[2*i], &answers[2*i+1])...)
	}
	if err := w.Node.Batch(ctx, requests); err != nil {
		return world.Pool{}, 0, err
	}
	var best world.Pool
	var bestUSD, bestReserve float64
	for i, pool := range w.Pools {
		quote := pool.Other(address)
		if pool.Trap != "" || !pool.Has(address) || !slices.Contains(quotes(w), quote) || !slices.Contains(protocols, pool.Protocol) {
			continue
		}
		reserve := world.ReadState(pool, answers[2*i], answers[2*i+1]).ReserveOf(pool, quote)
		asset := w.Asset(quote)
		if usd := reserve * asset.USD / world.Pow10(float64(asset.Decimals)); usd > bestUSD {
			best, bestUSD, bestReserve = pool, usd, reserve
		}
	}
	if bestUSD == 0 {
		return world.Pool{}, 0, fmt.Errorf("simnet: %s (%s) has no honest pool among %v", token.Symbol, address, protocols)
	}
	return best, bestReserve, anvil.FirstError(requests)
}

// FlashPump buys a token with many times what its deepest Uniswap V2 or V3 pool holds and sells all of
// it again. Mine both transactions in one block: the price is hundreds of times higher between them
// and, but for the pool's fees, the same after them. Take a token without deeper pools elsewhere if
// its pump should hit the reference: the fourth and fifth plain tokens are on no other exchange.
func FlashPump(ctx context.Context, w *world.World, token string) (Fixture, error) {
	if w.Pump == "" {
		return Fixture{}, world.ErrClassic
	}
	pool, reserve, err := reference(ctx, w, token, world.UniswapV2, world.UniswapV3)
	if err != nil {
		return Fixture{}, err
	}
	quote := pool.Other(token)
	var balance anvil.HexBytes
	if err := w.Node.Batch(ctx, []anvil.Request{anvil.View(quote, &balance, "balanceOf(address)", attacker(w))}); err != nil {
		return Fixture{}, err
	}
	times, router, fee := 20.0, w.Routers.UniswapV2, 0
	if pool.Protocol == world.UniswapV3 {
		times, router, fee = 5, w.Routers.UniswapV3, pool.Fee
	}
	amount, _ := big.NewFloat(min(times*reserve, 0.9*world.Float(anvil.WordAt(balance, 0)))).Int(nil)
	hashes, err := w.Node.Send(ctx, []anvil.Transaction{
		{From: attacker(w), To: w.Pump, Data: anvil.EncodeCall("buy(address,address,address,uint24,uint256)", router, quote, token, fee, amount)},
		{From: attacker(w), To: w.Pump, Data: anvil.EncodeCall("sellAll(address,address,address,uint24)", router, token, quote, fee)},
	})
	return Fixture{Pool: pool, Token: token, Reference: pool, TxHashes: hashes}, err
}

// OneTickPool opens a Uniswap V3 pool at a thousand times the token's price, with very little money,
// all of it in one tick: its liquidity looks many times deeper than the reference pool, and
// what can be had within 2 % is a fraction of what the reference pool gives. One small swap follows.
func OneTickPool(ctx context.Context, w *world.World, token string) (Fixture, error) {
	reference, reserve, err := reference(ctx, w, token, world.UniswapV2, world.UniswapV3, world.UniswapV4, world.PancakeSwapV3)
	if err != nil {
		return Fixture{}, err
	}
	asset := w.Asset(reference.Other(token))
	depthUSD := 0.002 * reserve * asset.USD / world.Pow10(float64(asset.Decimals))
	pool, err := unused(ctx, w, world.UniswapV3, token, w.StableUSDC6, "", world.TrapOneTick)
	if err != nil {
		return Fixture{}, err
	}
	usd0, usd1 := absurdPrices(w, pool, token)
	token0, token1 := w.Asset(pool.Token0), w.Asset(pool.Token1)
	ratio := usd0 / usd1 * world.Pow10(float64(token1.Decimals-token0.Decimals))
	tick := world.AlignTick(world.TickOf(ratio), pool.TickSpacing)
	ratio = math.Pow(1.0001, float64(tick)+float64(pool.TickSpacing)/2)
	return trap(ctx, w, pool, token, reference, depthUSD/40, []anvil.Transaction{
		w.InitializePool(pool, world.SqrtPriceX96(ratio)),
		w.AddRange(pool, ratio, tick, tick+pool.TickSpacing,
			world.Units(depthUSD/usd0, token0.Decimals), world.Units(depthUSD/usd1, token1.Decimals)),
	})
}

// OneSidedPool opens a Uniswap V3 pool at a thousand times the token's price that holds a twentieth of
// the token's supply and nothing of the quote asset. Nobody swaps in it: a purchase would bring quote.
func OneSidedPool(ctx context.Context, w *world.World, token string) (Fixture, error) {
	reference, _, err := reference(ctx, w, token, world.UniswapV2, world.UniswapV3, world.UniswapV4, world.PancakeSwapV3)
	if err != nil {
		return Fixture{}, err
	}
	pool, err := unused(ctx, w, world.UniswapV3, token, w.StableUSDC6, "", world.TrapOneSided)
	if err != nil {
		return Fixture{}, err
	}
	var supply anvil.HexBytes
	if err := w.Node.Batch(ctx, []anvil.Request{anvil.View(token, &supply, "totalSupply()")}); err != nil {
		return Fixture{}, err
	}
	amount := new(big.Int).Div(anvil.WordAt(supply, 0), big.NewInt(20))
	usd0, usd1 := absurdPrices(w, pool, token)
	token0, token1 := w.Asset(pool.Token0), w.Asset(pool.Token1)
	ratio := usd0 / usd1 * world.Pow10(float64(token1.Decimals-token0.Decimals))
	// Token0 waits above the price and token1 below it.
	tick, limit := world.AlignTick(world.TickOf(ratio), pool.TickSpacing), world.MaxTick/pool.TickSpacing*pool.TickSpacing
	lower, upper, amount0, amount1 := tick+pool.TickSpacing, limit, amount, new(big.Int)
	if pool.Token1 == token {
		lower, upper, amount0, amount1 = -limit, tick, new(big.Int), amount
	}
	return trap(ctx, w, pool, token, reference, 0, []anvil.Transaction{
		w.InitializePool(pool, world.SqrtPriceX96(ratio)),
		w.AddRange(pool, ratio, lower, upper, amount0, amount1),
	})
}

// HookPool opens a Uniswap V4 pool with an undeclared hook at a thousand times the token's price, far
// deeper than any other of its pools. One small swap follows.
func HookPool(ctx context.Context, w *world.World, token string) (Fixture, error) {
	if w.Hook == "" {
		return Fixture{}, world.ErrClassic
	}
	reference, _, err := reference(ctx, w, token, world.UniswapV2, world.UniswapV3, world.UniswapV4, world.PancakeSwapV3)
	if err != nil {
		return Fixture{}, err
	}
	pool, err := unused(ctx, w, world.UniswapV4, token, w.StableUSDC6, w.Hook, world.TrapHook)
	if err != nil {
		return Fixture{}, err
	}
	usd0, usd1 := absurdPrices(w, pool, token)
	return trap(ctx, w, pool, token, reference, washUSD, w.OpenPool(pool, world.Opening{USD0: usd0, USD1: usd1, DepthUSD: 5_000_000}))
}

// ThinTakeover opens a second pool of the token, a Uniswap V2 pair against a quote asset that it has
// none with, with 300 dollars a side at a thousand times the price. One small swap follows.
func ThinTakeover(ctx context.Context, w *world.World, token string) (Fixture, error) {
	reference, _, err := reference(ctx, w, token, world.UniswapV2, world.UniswapV3, world.UniswapV4, world.PancakeSwapV3)
	if err != nil {
		return Fixture{}, err
	}
	for _, quote := range []string{w.StableUSDC6, w.StableUSD18, w.Wrapped} {
		pool, err := unused(ctx, w, world.UniswapV2, token, quote, "", world.TrapThin)
		if err != nil {
			continue
		}
		usd0, usd1 := absurdPrices(w, pool, token)
		return trap(ctx, w, pool, token, reference, washUSD, w.OpenPool(pool, world.Opening{USD0: usd0, USD1: usd1, DepthUSD: 300}))
	}
	return Fixture{}, fmt.Errorf("simnet: %s has a pair with every quote asset already", token)
}

// absurdPrices are the sides' prices with the token's a thousand times too high.
func absurdPrices(w *world.World, pool world.Pool, token string) (usd0, usd1 float64) {
	usd0, usd1 = w.Asset(pool.Token0).USD, w.Asset(pool.Token1).USD
	if pool.Token0 == token {
		return usd0 * absurd, usd1
	}
	return usd0, usd1 * absurd
}

// unused describes a pool that neither the world nor an earlier fixture has, with the address that it
// will have.
func unused(ctx context.Context, w *world.World, protocol world.Protocol, token, quote, hooks string, trap world.Trap) (world.Pool, error) {
	for _, fee := range []int{100, 500, 3000, 10000} {
		pool := w.NewPool(protocol, token, quote, fee, hooks)
		pool.Trap = trap
		if protocol == world.UniswapV4 {
			if !slices.ContainsFunc(slices.Concat(w.Pools, w.Traps), func(p world.Pool) bool { return p.ID == pool.ID }) {
				w.Traps = append(w.Traps, pool)
				return pool, nil
			}
			continue
		}
		var address anvil.HexBytes
		creation := anvil.View(pool.Factory, &address, "createPool(address,address,uint24)", token, quote, fee)
		if protocol == world.UniswapV2 {
			creation = anvil.View(pool.Factory, &address, "createPair(address,address)", token, quote)
		}
		requests := []anvil.Request{creation}
		if err := w.Node.Batch(ctx, requests); err != nil {
			return world.Pool{}, err
		}
		if requests[0].Err == nil { // else it exists
			pool.Address = anvil.AddressAt(address, 0)
			return pool, nil
		}
	}
	return world.Pool{}, fmt.Errorf("simnet: %s has every kind of %s pool with %s already", token, protocol, quote)
}

// trap sends what opens a pool, and a purchase of the token for some dollars.
func trap(ctx context.Context, w *world.World, pool world.Pool, token string, reference world.Pool, wash float64, open []anvil.Transaction) (Fixture, error) {
	if wash > 0 {
		quote := w.Asset(pool.Other(token))
		tx := anvil.Transaction{From: attacker(w)}
		tx.To, tx.Data = w.SwapCall(pool, quote.Address, world.Units(wash/quote.USD, quote.Decimals), attacker(w))
		open = append(open, tx)
	}
	hashes, err := w.Node.Send(ctx, open)
	return Fixture{Pool: pool, Token: token, Reference: reference, TxHashes: hashes}, err
}

// PoolFlood opens n Uniswap V4 pools of the token and a stablecoin, each with a fee of its own from the first-th on. Every other one has a
// cent or more of liquidity, in one range, the rest has nothing in it.
func PoolFlood(ctx context.Context, w *world.World, token string, first, n int) (Fixture, error) {
	if w.UniswapV4PoolManager == "" {
		return Fixture{}, world.ErrClassic
	}
	reference, _, err := reference(ctx, w, token, world.UniswapV2, world.UniswapV3, world.UniswapV4, world.PancakeSwapV3)
	if err != nil {
		return Fixture{}, err
	}
	var txs []anvil.Transaction
	for i := range n {
		pool := w.NewPool(world.UniswapV4, token, w.StableUSDC6, 3000, "").WithFee(100_000 + first + i)
		token0, token1 := w.Asset(pool.Token0), w.Asset(pool.Token1)
		ratio := token0.USD / token1.USD * world.Pow10(float64(token1.Decimals-token0.Decimals))
		txs = append(txs, w.InitializePool(pool, world.SqrtPriceX96(ratio)))
		if i%2 == 0 {
			limit := world.MaxTick / pool.TickSpacing * pool.TickSpacing
			cent := 0.01 * float64(1+i)
			txs = append(txs, w.AddRange(pool, ratio, -limit, limit, world.Units(cent/token0.USD, token0.Decimals), world.Units(cent/token1.USD, token1.Decimals)))
		}
	}
	hashes, err := w.Node.Send(ctx, txs)
	return Fixture{Token: token, Reference: reference, TxHashes: hashes}, err
}
