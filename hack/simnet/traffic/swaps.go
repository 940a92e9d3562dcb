package traffic

import (
	"context"
	"math/big"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
)

// The functions here build swaps through the exchanges' own routers. Amounts are chosen by
// Trader.decide; no minimum is asked for, as nobody races anybody.

func actSwapV2(_ context.Context, t *Trader, m *market, in *intent) ([]anvil.Transaction, []Truth, error) {
	tokenIn, tokenOut, amount := t.decide(m, in.pool, in.trader)
	if amount == nil {
		return nil, nil, nil
	}
	truth := Truth{Kind: SwapV2, Trader: in.trader, TokenIn: tokenIn, TokenOut: tokenOut, AmountIn: amount, Pools: []string{in.pool.Address}}
	suffix := "("
	if t.taxed(in.pool) {
		truth.Kind, suffix = SwapV2Taxed, "SupportingFeeOnTransferTokens("
	}
	tx := anvil.Transaction{From: in.trader, To: t.world.RouterV2(in.pool)}
	path := []string{tokenIn, tokenOut}
	native := t.rng.Float64() < t.coins/2
	switch {
	case native && tokenIn == t.world.Wrapped:
		truth.NativeIn = true
		tx.Value = amount
		tx.Data = anvil.EncodeCall("swapExactETHForTokens"+suffix+"uint256,address[],address,uint256)", 0, path, in.trader, world.Deadline)
	case native && tokenOut == t.world.Wrapped:
		truth.NativeOut = true
		tx.Data = anvil.EncodeCall("swapExactTokensForETH"+suffix+"uint256,uint256,address[],address,uint256)", amount, 0, path, in.trader, world.Deadline)
	default:
		tx.Data = anvil.EncodeCall("swapExactTokensForTokens"+suffix+"uint256,uint256,address[],address,uint256)", amount, 0, path, in.trader, world.Deadline)
	}
	return []anvil.Transaction{tx}, []Truth{truth}, nil
}

func actPathV2(_ context.Context, t *Trader, m *market, in *intent) ([]anvil.Transaction, []Truth, error) {
	from, to, amount := t.decidePath(m, in)
	if amount == nil {
		return nil, nil, nil
	}
	tx := anvil.Transaction{
		From: in.trader, To: t.world.Routers.UniswapV2,
		Data: anvil.EncodeCall("swapExactTokensForTokens(uint256,uint256,address[],address,uint256)",
			amount, 0, []string{from, t.world.Wrapped, to}, in.trader, world.Deadline),
	}
	return []anvil.Transaction{tx}, pathTruth(SwapV2Path, in, from, to, amount), nil
}

func actSwapV3(_ context.Context, t *Trader, m *market, in *intent) ([]anvil.Transaction, []Truth, error) {
	tokenIn, tokenOut, amount := t.decide(m, in.pool, in.trader)
	if amount == nil {
		return nil, nil, nil
	}
	truth := Truth{Kind: SwapV3, Trader: in.trader, TokenIn: tokenIn, TokenOut: tokenOut, AmountIn: amount, Pools: []string{in.pool.Address}}
	tx := anvil.Transaction{From: in.trader, To: t.world.ExchangeV3(in.pool).Router}
	single := func(recipient string) []byte {
		return anvil.EncodeCall("exactInputSingle((address,address,uint24,address,uint256,uint256,uint256,uint160))",
			anvil.Tuple{tokenIn, tokenOut, in.pool.Fee, recipient, world.Deadline, amount, 0, 0})
	}
	native := t.rng.Float64() < t.coins/3
	switch {
	case native && tokenIn == t.world.Wrapped:
		truth.NativeIn = true
		tx.Value, tx.Data = amount, single(in.trader)
	case native && tokenOut == t.world.Wrapped:
		// The router keeps the wrapped asset (recipient 0 means itself) and then unwraps it.
		truth.NativeOut = true
		tx.Data = anvil.EncodeCall("multicall(bytes[])", [][]byte{
			single(anvil.ZeroAddress), anvil.EncodeCall("unwrapWETH9(uint256,address)", 0, in.trader),
		})
	default:
		tx.Data = single(in.trader)
	}
	return []anvil.Transaction{tx}, []Truth{truth}, nil
}

func actPathV3(_ context.Context, t *Trader, m *market, in *intent) ([]anvil.Transaction, []Truth, error) {
	from, to, amount := t.decidePath(m, in)
	if amount == nil {
		return nil, nil, nil
	}
	path := anvil.FromHex(from)
	path = append(path, uint24(in.pool.Fee)...)
	path = append(path, anvil.FromHex(t.world.Wrapped)...)
	path = append(path, uint24(in.second.Fee)...)
	path = append(path, anvil.FromHex(to)...)
	tx := anvil.Transaction{
		From: in.trader, To: t.world.Routers.UniswapV3,
		Data: anvil.EncodeCall("exactInput((bytes,address,uint256,uint256,uint256))", anvil.Tuple{path, in.trader, world.Deadline, amount, 0}),
	}
	return []anvil.Transaction{tx}, pathTruth(SwapV3Path, in, from, to, amount), nil
}

func actSwapV4(_ context.Context, t *Trader, m *market, in *intent) ([]anvil.Transaction, []Truth, error) {
	tx, truth := t.swapDirectly(SwapV4, m, in)
	return tx, truth, nil
}

func actSwapPancake(_ context.Context, t *Trader, m *market, in *intent) ([]anvil.Transaction, []Truth, error) {
	tx, truth := t.swapDirectly(SwapPancake, m, in)
	return tx, truth, nil
}

func actSwapDirect(_ context.Context, t *Trader, m *market, in *intent) ([]anvil.Transaction, []Truth, error) {
	tx, truth := t.swapDirectly(SwapDirect, m, in)
	return tx, truth, nil
}

// swapDirectly swaps in one pool through simnet's own routers.
func (t *Trader) swapDirectly(kind Kind, m *market, in *intent) ([]anvil.Transaction, []Truth) {
	tokenIn, tokenOut, amount := t.decide(m, in.pool, in.trader)
	if amount == nil {
		return nil, nil
	}
	tx := anvil.Transaction{From: in.trader}
	tx.To, tx.Data = t.world.SwapCall(in.pool, tokenIn, amount, in.trader)
	if tokenIn == anvil.ZeroAddress {
		tx.Value = amount
	}
	return []anvil.Transaction{tx}, []Truth{{
		Kind: kind, Trader: in.trader, TokenIn: tokenIn, TokenOut: tokenOut, AmountIn: amount,
		NativeIn: tokenIn == anvil.ZeroAddress, NativeOut: tokenOut == anvil.ZeroAddress, Pools: []string{in.pool.Key()},
	}}
}

// decidePath sizes a sale of the first pool's token for the second pool's, by the shallower pool.
func (t *Trader) decidePath(m *market, in *intent) (from, to string, amount *big.Int) {
	if m.pools[in.pool.Key()].Empty() || m.pools[in.second.Key()].Empty() {
		return "", "", nil
	}
	from, to = in.pool.Other(t.world.Wrapped), in.second.Other(t.world.Wrapped)
	native := m.reserveOf(in.pool, t.world.Wrapped)
	shallow := min(native, m.reserveOf(in.second, t.world.Wrapped)) / native
	wish := largestPart / 4 * t.rng.Float64() * shallow * m.reserveOf(in.pool, from)
	have := balancePart * world.Float(m.balances[[2]string{in.trader, from}])
	if have < wish/20 || wish < 1 {
		return "", "", nil
	}
	amount, _ = big.NewFloat(min(wish, have)).Int(nil)
	m.spend(in.trader, from, amount)
	return from, to, amount
}

func (m *market) reserveOf(pool world.Pool, token string) float64 {
	return m.pools[pool.Key()].ReserveOf(pool, token)
}

func pathTruth(kind Kind, in *intent, from, to string, amount *big.Int) []Truth {
	return []Truth{{
		Kind: kind, Trader: in.trader, TokenIn: from, TokenOut: to, AmountIn: amount,
		Pools: []string{in.pool.Address, in.second.Address},
	}}
}

func uint24(n int) []byte { return []byte{byte(n >> 16), byte(n >> 8), byte(n)} }
