package world

import (
	"context"
	"math/big"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
)

// FactoryOf is the contract that announces a protocol's pools; empty if it isn't deployed.
func (w *World) FactoryOf(protocol Protocol) string {
	switch protocol {
	case UniswapV2:
		return w.UniswapV2Factory
	case UniswapV3:
		return w.UniswapV3Factory
	case UniswapV4:
		return w.UniswapV4PoolManager
	case PancakeSwapV3:
		return w.PancakeSwapV3Factory
	case Solidly:
		return w.SolidlyFactory
	case Slipstream: // the first; pools of others name theirs
		if len(w.Slipstream) > 0 {
			return w.Slipstream[0].Factory
		}
	}
	return ""
}

// NewPool describes a pool of two tokens. Its address is found by locate; a V4 pool's id follows from
// what it is.
func (w *World) NewPool(protocol Protocol, tokenA, tokenB string, fee int, hooks string) Pool {
	pool := Pool{
		Protocol: protocol, Token0: min(tokenA, tokenB), Token1: max(tokenA, tokenB),
		Fee: fee, TickSpacing: TickSpacings[fee], Hooks: hooks, Factory: w.FactoryOf(protocol),
	}
	if hooks != "" {
		pool.Trap = TrapHook
	}
	if protocol == UniswapV2 {
		pool.Fee = 3000
	}
	if protocol == UniswapV4 {
		pool.ID = anvil.ToHex(anvil.Keccak(anvil.EncodeArgs("("+v4KeyType+")", v4Key(pool))))
	}
	return pool
}

// Opening says with what a pool begins: what a whole token of either side counts for, and how much
// there is of each.
type Opening struct {
	USD0, USD1 float64
	DepthUSD   float64
}

// OpenPool creates a pool and gives it the deployer's liquidity, in order, in one block.
func (w *World) OpenPool(pool Pool, with Opening) []anvil.Transaction {
	token0, token1 := w.Asset(pool.Token0), w.Asset(pool.Token1)
	whole0, whole1 := with.DepthUSD/with.USD0, with.DepthUSD/with.USD1
	if pool.Protocol == UniswapV2 {
		return []anvil.Transaction{w.addV2(pool, Units(whole0, token0.Decimals), Units(whole1, token1.Decimals))}
	}
	if pool.Protocol == Solidly {
		return []anvil.Transaction{{
			From: w.Deployer, To: w.Routers.Solidly, Gas: deployGas,
			Data: anvil.EncodeCall("add(address,address,bool,uint256,uint256)",
				pool.Token0, pool.Token1, pool.Stable, Units(whole0, token0.Decimals), Units(whole1, token1.Decimals)),
		}}
	}
	ratio := with.USD0 / with.USD1 * Pow10(float64(token1.Decimals-token0.Decimals))
	transactions := []anvil.Transaction{w.InitializePool(pool, SqrtPriceX96(ratio))}
	for _, p := range v3Positions(ratio, pool.TickSpacing) {
		transactions = append(transactions, w.AddRange(pool, ratio, p.lower, p.upper,
			Units(whole0*p.share, token0.Decimals), Units(whole1*p.share, token1.Decimals)))
	}
	return transactions
}

// addV2 creates the pair if there is none yet.
func (w *World) addV2(pool Pool, amount0, amount1 *big.Int) anvil.Transaction {
	return anvil.Transaction{
		From: w.Deployer, To: w.RouterV2(pool), Gas: deployGas,
		Data: anvil.EncodeCall("addLiquidity(address,address,uint256,uint256,uint256,uint256,address,uint256)",
			pool.Token0, pool.Token1, amount0, amount1, 0, 0, w.Deployer, Deadline),
	}
}

// InitializePool creates a pool of V3's or V4's kind at a price.
func (w *World) InitializePool(pool Pool, sqrtPrice *big.Int) anvil.Transaction {
	tx := anvil.Transaction{From: w.Deployer, Gas: deployGas}
	switch pool.Protocol {
	case UniswapV4:
		tx.To = w.UniswapV4PoolManager
		tx.Data = anvil.EncodeCall("initialize("+v4KeyType+",uint160)", v4Key(pool), sqrtPrice)
	case PancakeSwapV3:
		tx.To = w.Routers.PancakeSwapV3
		tx.Data = anvil.EncodeCall("open(address,address,uint24,uint160)", pool.Token0, pool.Token1, pool.Fee, sqrtPrice)
	case Slipstream:
		tx.To = pool.Factory
		tx.Data = anvil.EncodeCall("createPool(address,address,int24,uint160)", pool.Token0, pool.Token1, pool.TickSpacing, sqrtPrice)
	case UniswapV2, UniswapV3, Solidly:
		tx.To = w.ExchangeV3(pool).Positions
		tx.Data = anvil.EncodeCall("createAndInitializePoolIfNecessary(address,address,uint24,uint160)",
			pool.Token0, pool.Token1, pool.Fee, sqrtPrice)
	}
	return tx
}

// AddRange opens a position of the deployer's, with at most these amounts but for rounding.
func (w *World) AddRange(pool Pool, price float64, lower, upper int, amount0, amount1 *big.Int) anvil.Transaction {
	tx := anvil.Transaction{From: w.Deployer, Gas: deployGas}
	liquidity := LiquidityFor(price, lower, upper, Float(amount0), Float(amount1))
	switch pool.Protocol {
	case UniswapV4:
		return w.ChangeV4(w.Deployer, pool, lower, upper, liquidity, amount0)
	case PancakeSwapV3:
		tx.To = w.Routers.PancakeSwapV3
		tx.Data = anvil.EncodeCall("mint(address,address,uint24,int24,int24,uint128)",
			pool.Token0, pool.Token1, pool.Fee, lower, upper, liquidity)
	case Slipstream:
		tx.To = w.routerSlipstream(pool)
		tx.Data = anvil.EncodeCall("mint(address,address,int24,int24,int24,uint128)",
			pool.Token0, pool.Token1, pool.TickSpacing, lower, upper, liquidity)
	case UniswapV2, UniswapV3, Solidly:
		tx.To = w.ExchangeV3(pool).Positions
		tx.Data = anvil.EncodeCall("mint((address,address,uint24,int24,int24,uint256,uint256,uint256,uint256,address,uint256))",
			anvil.Tuple{pool.Token0, pool.Token1, pool.Fee, lower, upper, amount0, amount1, 0, 0, w.Deployer, Deadline})
	}
	return tx
}

// Locate asks the factories for the addresses of pools. A pool that doesn't exist keeps none.
func (w *World) Locate(ctx context.Context, pools []Pool) error {
	found := make([]anvil.HexBytes, len(pools))
	var requests []anvil.Request
	for i, pool := range pools {
		switch pool.Protocol {
		case UniswapV2:
			requests = append(requests, anvil.View(pool.Factory, &found[i], "getPair(address,address)", pool.Token0, pool.Token1))
		case UniswapV3, PancakeSwapV3:
			requests = append(requests, anvil.View(pool.Factory, &found[i], "getPool(address,address,uint24)", pool.Token0, pool.Token1, pool.Fee))
		case Solidly:
			requests = append(requests, anvil.View(pool.Factory, &found[i], "getPool(address,address,bool)", pool.Token0, pool.Token1, pool.Stable))
		case Slipstream:
			requests = append(requests, anvil.View(pool.Factory, &found[i], "getPool(address,address,int24)", pool.Token0, pool.Token1, pool.TickSpacing))
		case UniswapV4:
		}
	}
	if err := w.Node.Batch(ctx, requests); err != nil {
		return err
	}
	for i := range pools {
		if address := anvil.AddressAt(found[i], 0); address != anvil.ZeroAddress {
			pools[i].Address = address
		}
	}
	return anvil.FirstError(requests)
}

// SwapCall swaps an exact amount through the pool's own router, tokens only. The data makes whoever
// sends it pay.
func (w *World) SwapCall(pool Pool, tokenIn string, amount *big.Int, recipient string) (router string, data []byte) {
	tokenOut := pool.Token0
	if tokenIn == pool.Token0 {
		tokenOut = pool.Token1
	}
	switch pool.Protocol {
	case UniswapV2:
		return w.RouterV2(pool), anvil.EncodeCall("swapExactTokensForTokens(uint256,uint256,address[],address,uint256)",
			amount, 0, []string{tokenIn, tokenOut}, recipient, Deadline)
	case UniswapV3:
		return w.ExchangeV3(pool).Router, anvil.EncodeCall("exactInputSingle((address,address,uint24,address,uint256,uint256,uint256,uint160))",
			anvil.Tuple{tokenIn, tokenOut, pool.Fee, recipient, Deadline, amount, 0, 0})
	case UniswapV4:
		return w.Routers.UniswapV4, anvil.EncodeCall("swap("+v4KeyType+",bool,uint256,address)",
			v4Key(pool), tokenIn == pool.Token0, amount, recipient)
	case PancakeSwapV3:
		return w.Routers.PancakeSwapV3, anvil.EncodeCall("swap(address,address,uint24,uint256,address)",
			tokenIn, tokenOut, pool.Fee, amount, recipient)
	case Solidly:
		return w.Routers.Solidly, anvil.EncodeCall("swap(address,address,bool,uint256,address)", tokenIn, tokenOut, pool.Stable, amount, recipient)
	case Slipstream:
		return w.routerSlipstream(pool), anvil.EncodeCall("swap(address,address,int24,uint256,address)",
			tokenIn, tokenOut, pool.TickSpacing, amount, recipient)
	}
	panic("simnet: no router of " + pool.Protocol)
}

// PoolState is a pool's reserves as a constant product would have them: real on V2, virtual on V3 and
// V4 (L/√P and L·√P).
type PoolState struct {
	Reserve0, Reserve1 float64
	// SqrtPrice is the square root of the price as a fixed point number, times 2^96; nil on V2.
	SqrtPrice *big.Int
}

// Price is token1 per token0, in smallest units.
func (s PoolState) Price() float64 { return s.Reserve1 / s.Reserve0 }

// Empty tells that there is nothing to trade with, or no pool any more after a reorg.
func (s PoolState) Empty() bool { return s.Reserve0 < 1 || s.Reserve1 < 1 }

// ReserveOf is what the pool has of one of its tokens.
func (s PoolState) ReserveOf(pool Pool, token string) float64 {
	if token == pool.Token0 {
		return s.Reserve0
	}
	return s.Reserve1
}

// StateRequests are the calls whose answers ReadState understands.
func StateRequests(pool Pool, first, second *anvil.HexBytes) []anvil.Request {
	switch pool.Protocol {
	case UniswapV2, Solidly:
		return []anvil.Request{anvil.View(pool.Address, first, "getReserves()")}
	case UniswapV4:
		slot := V4Slot(pool)
		return []anvil.Request{
			anvil.View(pool.Factory, first, "extsload(bytes32)", anvil.Word(slot)),
			anvil.View(pool.Factory, second, "extsload(bytes32)", anvil.Word(new(big.Int).Add(slot, big.NewInt(v4LiquidityOffset)))),
		}
	case UniswapV3, PancakeSwapV3, Slipstream:
	}
	return []anvil.Request{anvil.View(pool.Address, first, "slot0()"), anvil.View(pool.Address, second, "liquidity()")}
}

// ReadState is a pool's state by those answers.
func ReadState(pool Pool, first, second []byte) PoolState {
	if pool.Protocol == UniswapV2 || pool.Protocol == Solidly {
		return PoolState{Reserve0: Float(anvil.WordAt(first, 0)), Reserve1: Float(anvil.WordAt(first, 1))}
	}
	price := anvil.WordAt(first, 0)
	if pool.Protocol == UniswapV4 { // the tick and the fees share the word
		price.And(price, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 160), big.NewInt(1)))
	}
	state := PoolState{SqrtPrice: price}
	if price.Sign() == 0 {
		return state
	}
	liquidity, root := Float(anvil.WordAt(second, 0)), rootOf(price)
	state.Reserve0, state.Reserve1 = liquidity/root, liquidity*root
	return state
}
