package traffic

import (
	"context"
	"math"
	"math/big"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
)

// The functions here build what isn't a swap: transfers, wrapping, liquidity, rebases.

// Outsiders is how many wallets, besides the traders, receive transfers and never send any, by default.
const Outsiders = 400

// Outsider is the address of the i-th of them.
func Outsider(i int) string { return world.MadeUpAddress("simnet outsider", uint64(i)) }

func actTransfer(_ context.Context, t *Trader, m *market, in *intent) ([]anvil.Transaction, []Truth, error) {
	to := Outsider(t.rng.IntN(t.outsiders))
	if t.rng.IntN(3) == 0 {
		to = t.world.Traders[t.rng.IntN(len(t.world.Traders))]
	}
	part := 0.002 * math.Exp(t.rng.NormFloat64())
	amount, _ := big.NewFloat(min(part, 0.02) * world.Float(m.balances[[2]string{in.trader, in.token.Address}])).Int(nil)
	if amount.Sign() == 0 || to == in.trader {
		return nil, nil, nil
	}
	m.spend(in.trader, in.token.Address, amount)
	tx := anvil.Transaction{From: in.trader, To: in.token.Address, Data: anvil.EncodeCall("transfer(address,uint256)", to, amount)}
	return []anvil.Transaction{tx}, []Truth{{Kind: Transfer, Trader: in.trader, TokenIn: in.token.Address, To: to}}, nil
}

// actWrap deposits or withdraws, whichever brings the wrapped balance back to what it was at first.
func actWrap(_ context.Context, t *Trader, m *market, in *intent) ([]anvil.Transaction, []Truth, error) {
	amount := world.Units(10*t.rng.Float64(), 18)
	wrapped := t.world.Wrapped
	if m.balances[[2]string{in.trader, wrapped}].Cmp(world.Units(world.TraderWrapped, 18)) < 0 {
		tx := anvil.Transaction{From: in.trader, To: wrapped, Data: anvil.EncodeCall("deposit()"), Value: amount}
		return []anvil.Transaction{tx}, []Truth{{Kind: Wrap, Trader: in.trader, TokenIn: wrapped, TokenOut: wrapped, NativeIn: true}}, nil
	}
	m.spend(in.trader, wrapped, amount)
	tx := anvil.Transaction{From: in.trader, To: wrapped, Data: anvil.EncodeCall("withdraw(uint256)", amount)}
	return []anvil.Transaction{tx}, []Truth{{Kind: Unwrap, Trader: in.trader, TokenIn: wrapped, TokenOut: wrapped, NativeOut: true}}, nil
}

// actRebase moves the rebasing token's index by some tenths of a percent, within 10 %.
func actRebase(_ context.Context, t *Trader, _ *market, _ *intent) ([]anvil.Transaction, []Truth, error) {
	token := t.world.TokensLike(world.Rebasing)[0]
	t.index = max(-0.1, min(0.1, t.index+0.004*t.rng.NormFloat64()-0.02*t.index))
	var pairs []string
	for _, pool := range t.world.Pools {
		if pool.Protocol == world.UniswapV2 && pool.Has(token.Address) {
			pairs = append(pairs, pool.Address)
		}
	}
	tx := anvil.Transaction{
		From: t.world.Deployer, To: token.Address,
		Data: anvil.EncodeCall("rebase(uint256,address[])", world.Units(math.Exp(t.index), 18), pairs),
	}
	return []anvil.Transaction{tx}, []Truth{{Kind: Rebase, Trader: t.world.Deployer, TokenIn: token.Address, Pools: pairs}}, nil
}

// shares are the amounts of both sides of a small addition to a pool; nil if the trader lacks one.
func (t *Trader) shares(m *market, in *intent) (amount0, amount1 *big.Int) {
	state, part := m.pools[in.pool.Key()], 0.001+0.004*t.rng.Float64()
	if state.Empty() {
		return nil, nil
	}
	have0 := balancePart * world.Float(m.balances[[2]string{in.trader, in.pool.Token0}])
	have1 := balancePart * world.Float(m.balances[[2]string{in.trader, in.pool.Token1}])
	part = min(part, have0/state.Reserve0, have1/state.Reserve1)
	if part < 1e-5 {
		return nil, nil
	}
	amount0, _ = big.NewFloat(part * state.Reserve0).Int(nil)
	amount1, _ = big.NewFloat(part * state.Reserve1).Int(nil)
	m.spend(in.trader, in.pool.Token0, amount0)
	m.spend(in.trader, in.pool.Token1, amount1)
	return amount0, amount1
}

// actLiquidityV2 takes out what the trader put in last time, or else puts something in.
func actLiquidityV2(ctx context.Context, t *Trader, m *market, in *intent) ([]anvil.Transaction, []Truth, error) {
	if pool, found := t.provided[in.trader]; found {
		delete(t.provided, in.trader)
		held, err := t.read(ctx, pool.Address, "balanceOf(address)", in.trader)
		if err != nil {
			return nil, nil, err
		}
		if shares := anvil.WordAt(held, 0); shares.Sign() > 0 { // none after a reorg, or before the addition is mined
			router := t.world.RouterV2(pool)
			return []anvil.Transaction{
				{From: in.trader, To: pool.Address, Data: anvil.EncodeCall("approve(address,uint256)", router, shares)},
				{From: in.trader, To: router, Data: anvil.EncodeCall("removeLiquidity(address,address,uint256,uint256,uint256,address,uint256)",
					pool.Token0, pool.Token1, shares, 0, 0, in.trader, world.Deadline)},
			}, []Truth{{Kind: RemoveV2, Trader: in.trader, Pools: []string{pool.Address}}}, nil
		}
	}
	amount0, amount1 := t.shares(m, in)
	if amount0 == nil {
		return nil, nil, nil
	}
	t.provided[in.trader] = in.pool
	tx := anvil.Transaction{
		From: in.trader, To: t.world.RouterV2(in.pool),
		Data: anvil.EncodeCall("addLiquidity(address,address,uint256,uint256,uint256,uint256,address,uint256)",
			in.pool.Token0, in.pool.Token1, amount0, amount1, 0, 0, in.trader, world.Deadline),
	}
	return []anvil.Transaction{tx}, []Truth{{Kind: AddV2, Trader: in.trader, Pools: []string{in.pool.Address}}}, nil
}

// actLiquidityV3 closes a position of the trader's on the pool's exchange if he has one, or else opens one in this pool.
func actLiquidityV3(ctx context.Context, t *Trader, m *market, in *intent) ([]anvil.Transaction, []Truth, error) {
	truth := Truth{Kind: RemoveV3, Trader: in.trader}
	exchange := t.world.ExchangeV3(in.pool)
	manager := exchange.Positions
	count, err := t.read(ctx, manager, "balanceOf(address)", in.trader)
	if err != nil {
		return nil, nil, err
	}
	key := [2]string{in.trader, "positions"}
	if anvil.WordAt(count, 0).Sign() > 0 && m.balances[key] == nil {
		m.balances[key] = anvil.WordAt(count, 0)
		tx, pool, err := t.closePosition(ctx, in.trader, exchange)
		truth.Pools = []string{pool}
		return []anvil.Transaction{tx}, []Truth{truth}, err
	}
	truth.Kind, truth.Pools = AddV3, []string{in.pool.Address}
	amount0, amount1 := t.shares(m, in)
	if amount0 == nil {
		return nil, nil, nil
	}
	spacing := in.pool.TickSpacing
	at := world.AlignTick(world.TickOf(world.PriceOf(m.pools[in.pool.Address].SqrtPrice)), spacing)
	// 6 to 18 % to either side. Narrower ones would make the pool look far deeper than it is a little
	// away from the price, and amounts follow its looks.
	reach := world.AlignTick(600+t.rng.IntN(1200), spacing)
	tx := anvil.Transaction{
		From: in.trader, To: manager,
		Data: anvil.EncodeCall("mint((address,address,uint24,int24,int24,uint256,uint256,uint256,uint256,address,uint256))",
			anvil.Tuple{
				in.pool.Token0, in.pool.Token1, in.pool.Fee, at - reach, at + reach + spacing,
				amount0, amount1, 0, 0, in.trader, world.Deadline,
			}),
	}
	return []anvil.Transaction{tx}, []Truth{truth}, nil
}

// closePosition takes everything out of a trader's first position on an exchange and burns it.
func (t *Trader) closePosition(ctx context.Context, trader string, exchange world.UniswapV3Exchange) (tx anvil.Transaction, pool string, err error) {
	manager := exchange.Positions
	answer, err := t.read(ctx, manager, "tokenOfOwnerByIndex(address,uint256)", trader, 0)
	if err != nil {
		return tx, "", err
	}
	id := anvil.WordAt(answer, 0)
	position, err := t.read(ctx, manager, "positions(uint256)", id)
	if err != nil {
		return tx, "", err
	}
	token0, token1, fee, liquidity := anvil.AddressAt(position, 2), anvil.AddressAt(position, 3), anvil.WordAt(position, 4), anvil.WordAt(position, 7)
	for _, candidate := range t.world.Pools {
		if candidate.Factory == exchange.Factory && candidate.Token0 == token0 && candidate.Token1 == token1 && fee.IsInt64() && int(fee.Int64()) == candidate.Fee {
			pool = candidate.Address
		}
	}
	maxUint128 := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 128), big.NewInt(1))
	return anvil.Transaction{From: trader, To: manager, Data: anvil.EncodeCall("multicall(bytes[])", [][]byte{
		anvil.EncodeCall("decreaseLiquidity((uint256,uint128,uint256,uint256,uint256))", anvil.Tuple{id, liquidity, 0, 0, world.Deadline}),
		anvil.EncodeCall("collect((uint256,address,uint128,uint128))", anvil.Tuple{id, trader, maxUint128, maxUint128}),
		anvil.EncodeCall("burn(uint256)", id),
	})}, pool, nil
}

func (t *Trader) read(ctx context.Context, to, signature string, args ...any) ([]byte, error) {
	var answer anvil.HexBytes
	request := []anvil.Request{anvil.View(to, &answer, signature, args...)}
	if err := t.world.Node.Batch(ctx, request); err != nil {
		return nil, err
	}
	return answer, request[0].Err
}
