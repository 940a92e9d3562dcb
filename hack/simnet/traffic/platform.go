package traffic

import (
	"context"
	"math/big"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
)

// intendPlatform trades through the platform's router, on a pool with a quote asset on one side.
func (t *Trader) intendPlatform() *intent {
	pool := t.choosePool(func(pool world.Pool) bool {
		return t.divisible(pool) && t.isQuote(pool.Token0) != t.isQuote(pool.Token1)
	})
	return &intent{act: actPlatform, pool: pool}
}

func (t *Trader) isQuote(token string) bool {
	return token == t.world.Wrapped || token == t.world.StableUSDC6 || token == t.world.StableUSD18
}

// platformFee is what the platform's router takes of an amount.
func platformFee(amount *big.Int) *big.Int {
	fee := new(big.Int).Mul(amount, big.NewInt(80))
	return fee.Div(fee, big.NewInt(10_000))
}

// actPlatform pays the fee in the quote asset, or in the chain's own coin.
func actPlatform(_ context.Context, t *Trader, m *market, in *intent) ([]anvil.Transaction, []Truth, error) {
	tokenIn, tokenOut, amount := t.decide(m, in.pool, in.trader)
	if amount == nil {
		return nil, nil, nil
	}
	truth := Truth{Kind: SwapPlatform, Trader: in.trader, TokenIn: tokenIn, TokenOut: tokenOut, AmountIn: amount, Pools: []string{in.pool.Key()}}
	tx := anvil.Transaction{From: in.trader, To: t.world.Routers.Platform}
	if !t.isQuote(tokenIn) {
		exchange, order := t.world.SwapCall(in.pool, tokenIn, amount, tx.To)
		tx.Data = anvil.EncodeCall("sell(address,uint256,address,address,bytes)", tokenIn, amount, tokenOut, exchange, order)
		return []anvil.Transaction{tx}, []Truth{truth}, nil
	}
	left := new(big.Int).Sub(amount, platformFee(amount))
	exchange, order := t.world.SwapCall(in.pool, tokenIn, left, in.trader)
	if tokenIn == t.world.Wrapped && t.rng.Float64() < t.coins/2 {
		truth.NativeIn, tx.Value = true, amount
		tx.Data = anvil.EncodeCall("buyWithCoin(address,address,bytes)", tokenIn, exchange, order)
	} else {
		tx.Data = anvil.EncodeCall("buy(address,uint256,address,bytes)", tokenIn, amount, exchange, order)
	}
	return []anvil.Transaction{tx}, []Truth{truth}, nil
}
