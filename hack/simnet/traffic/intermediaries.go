package traffic

import (
	"context"
	"encoding/binary"
	"math/big"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
)

// intendSplit takes two pools of the same two tokens.
func (t *Trader) intendSplit() *intent {
	first := t.choosePool(func(pool world.Pool) bool { return t.divisible(pool) && t.twin(pool) })
	second := t.choosePool(func(pool world.Pool) bool {
		return t.divisible(pool) && pool.Token0 == first.Token0 && pool.Token1 == first.Token1 && pool.Key() != first.Key()
	})
	return &intent{act: actSplit, pool: first, second: second}
}

// divisible tells whether intermediaries can trade on a pool: what they send arrives, and all of it
// is tokens.
func (t *Trader) divisible(pool world.Pool) bool {
	return pool.Trap == "" && pool.Token0 != anvil.ZeroAddress && !t.taxed(pool)
}

// twin tells whether the pool's tokens have another pool.
func (t *Trader) twin(pool world.Pool) bool {
	for _, other := range t.world.Pools {
		if other.Trap == "" && other.Key() != pool.Key() && other.Token0 == pool.Token0 && other.Token1 == pool.Token1 {
			return true
		}
	}
	return false
}

// actSplit sends a part through each of two pools, as an aggregator does.
func actSplit(_ context.Context, t *Trader, m *market, in *intent) ([]anvil.Transaction, []Truth, error) {
	tokenIn, tokenOut, amount := t.decide(m, in.pool, in.trader)
	if amount == nil || m.pools[in.second.Key()].Empty() {
		return nil, nil, nil
	}
	percent := int64(30 + t.rng.IntN(41))
	part := new(big.Int).Div(new(big.Int).Mul(amount, big.NewInt(percent)), big.NewInt(100))
	var legs []anvil.Tuple
	for i, pool := range []world.Pool{in.pool, in.second} {
		if i == 1 {
			part = new(big.Int).Sub(amount, part)
		}
		router, data := t.world.SwapCall(pool, tokenIn, part, t.world.Routers.Aggregator)
		legs = append(legs, anvil.Tuple{router, part, data})
	}
	tx := anvil.Transaction{
		From: in.trader, To: t.world.Routers.Aggregator,
		Data: anvil.EncodeCall("trade(address,address,uint256,(address,uint256,bytes)[])", tokenIn, tokenOut, amount, legs),
	}
	return []anvil.Transaction{tx}, []Truth{{
		Kind: SwapSplit, Trader: in.trader, TokenIn: tokenIn, TokenOut: tokenOut, AmountIn: amount,
		Pools: []string{in.pool.Key(), in.second.Key()},
	}}, nil
}

// intendBundle lets two smart accounts trade on the same pool at once.
func (t *Trader) intendBundle() *intent {
	pool := t.choosePool(t.divisible)
	chosen := t.rng.Perm(len(t.world.SmartAccounts))[:2]
	return &intent{
		act: actBundle, pool: pool,
		accounts: []string{t.world.SmartAccounts[chosen[0]], t.world.SmartAccounts[chosen[1]]},
	}
}

const (
	// operationGas is what each phase of a user operation may use.
	operationGas = 600_000
	bundleGas    = 6_000_000
)

// actBundle sends a user operation of each account in one transaction of the trader's, who is merely
// the bundler.
func actBundle(_ context.Context, t *Trader, m *market, in *intent) ([]anvil.Transaction, []Truth, error) {
	var operations []anvil.Tuple
	var truths []Truth
	for _, account := range in.accounts {
		tokenIn, tokenOut, amount := t.decide(m, in.pool, account)
		if amount == nil {
			continue
		}
		if len(truths) > 0 && truths[0].AmountIn.Cmp(amount) == 0 {
			amount.Sub(amount, big.NewInt(1)) // amounts tell the operations apart
		}
		router, data := t.world.SwapCall(in.pool, tokenIn, amount, account)
		// A nonce is a key of 192 bits and a count under that key; a new key needs no look at the chain.
		nonce := new(big.Int).Lsh(new(big.Int).SetUint64(t.rng.Uint64()), 64)
		gas := append(make([]byte, 8), binary.BigEndian.AppendUint64(nil, operationGas)...)
		operations = append(operations, anvil.Tuple{
			account, nonce,
			[]byte{},
			anvil.EncodeCall("execute(address,uint256,bytes)", router, 0, data),
			append(gas, gas...), 0, make([]byte, 32),
			[]byte{},
			[]byte{},
		})
		truths = append(truths, Truth{
			Kind: SwapBundled, Trader: account, TokenIn: tokenIn, TokenOut: tokenOut, AmountIn: amount, Pools: []string{in.pool.Key()},
		})
	}
	if len(operations) == 0 {
		return nil, nil, nil
	}
	tx := anvil.Transaction{
		From: in.trader, To: t.world.EntryPoint, Gas: bundleGas,
		Data: anvil.EncodeCall("handleOps((address,uint256,bytes,bytes,bytes32,uint256,bytes32,bytes,bytes)[],address)", operations, in.trader),
	}
	return []anvil.Transaction{tx}, truths, nil
}
