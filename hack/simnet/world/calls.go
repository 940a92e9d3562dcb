package world

import (
	"context"
	"math/big"
	"slices"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
)

const (
	// TradeGas covers a trade with a curve or a pool.
	TradeGas = 1_500_000
	// CreationGas covers what creates contracts: launches, graduations and the buys that fill a curve.
	CreationGas = 12_000_000
)

// PoolBuy buys a token for the native coin where the pool's router takes it, else for the wrapped one.
func (w *World) PoolBuy(pool Pool, token, wallet string, quote *big.Int) anvil.Transaction {
	tx := anvil.Transaction{From: wallet, Value: quote, Gas: TradeGas}
	switch in := pool.Other(token); pool.Protocol {
	case UniswapV2:
		tx.To = w.Routers.UniswapV2
		tx.Data = anvil.EncodeCall("swapExactETHForTokensSupportingFeeOnTransferTokens(uint256,address[],address,uint256)",
			0, []string{in, token}, wallet, Deadline)
	case UniswapV3:
		tx.To, tx.Data = w.SwapCall(pool, in, quote, wallet)
	case UniswapV4, PancakeSwapV3, Solidly, Slipstream:
		tx.To, tx.Data = w.SwapCall(pool, in, quote, wallet)
		if in != anvil.ZeroAddress {
			tx.Value = nil
		}
	}
	return tx
}

// Approval lets a spender take an amount of somebody's token.
func Approval(token, from, spender string, amount *big.Int) anvil.Transaction {
	return anvil.Transaction{From: from, To: token, Data: anvil.EncodeCall("approve(address,uint256)", spender, amount), Gas: TradeGas}
}

// PoolSell sells a token for the native coin, on Uniswap V4 for what the pool has.
func (w *World) PoolSell(pool Pool, token, wallet string, base *big.Int) []anvil.Transaction {
	sale := anvil.Transaction{From: wallet, Gas: TradeGas}
	switch pool.Protocol {
	case UniswapV2:
		sale.To = w.Routers.UniswapV2
		sale.Data = anvil.EncodeCall("swapExactTokensForETHSupportingFeeOnTransferTokens(uint256,uint256,address[],address,uint256)",
			base, 0, []string{token, pool.Other(token)}, wallet, Deadline)
	case UniswapV3:
		swap := anvil.EncodeCall("exactInputSingle((address,address,uint24,address,uint256,uint256,uint256,uint160))",
			anvil.Tuple{token, pool.Other(token), pool.Fee, anvil.ZeroAddress, Deadline, base, 0, 0})
		sale.To = w.Routers.UniswapV3
		sale.Data = anvil.EncodeCall("multicall(bytes[])", [][]byte{swap, anvil.EncodeCall("unwrapWETH9(uint256,address)", 0, wallet)})
	case UniswapV4, PancakeSwapV3, Solidly, Slipstream:
		sale.To, sale.Data = w.SwapCall(pool, token, base, wallet)
	}
	return []anvil.Transaction{Approval(token, wallet, sale.To, base), sale}
}

// BalanceOf is what an account has of a token at the newest block.
func (w *World) BalanceOf(ctx context.Context, token, account string) (*big.Int, error) {
	var answer anvil.HexBytes
	request := []anvil.Request{anvil.View(token, &answer, "balanceOf(address)", account)}
	if err := w.Node.Batch(ctx, request); err != nil {
		return nil, err
	}
	return anvil.WordAt(answer, 0), request[0].Err
}

// Creation creates a contract. It must be its sender's transaction of that nonce.
func (w *World) Creation(from string, nonce uint64, contract, constructor string, args ...any) (anvil.Transaction, string) {
	return anvil.Transaction{From: from, Data: w.initCode(contract, constructor, args...), Gas: CreationGas}, anvil.CreateAddress(from, nonce)
}

// initCode is the code that creates a contract.
func (w *World) initCode(contract, constructor string, args ...any) []byte {
	code, found := w.Node.Tools.Code[contract]
	if !found {
		panic("simnet: no code for " + contract)
	}
	if constructor == "" {
		return slices.Clone(code)
	}
	return slices.Concat(code, anvil.EncodeArgs(constructor, args...))
}

// NextNonce is the next nonce of an account.
func (w *World) NextNonce(ctx context.Context, account string) (uint64, error) {
	nonces, err := w.Node.Nonces(ctx, []anvil.Transaction{{From: account}})
	return nonces[account], err
}

// SwapBuy buys a token in a pool for an amount of the native coin, and mines it.
func SwapBuy(ctx context.Context, w *World, pool Pool, token, account string, quote *big.Int) (anvil.Receipt, error) {
	receipts, err := w.Node.Settled(ctx, []anvil.Transaction{w.PoolBuy(pool, token, account, quote)})
	if err != nil {
		return anvil.Receipt{}, err
	}
	return receipts[0], nil
}

// SwapSell approves and sells a token in a pool, and mines both. An error says that the sale was reverted.
func SwapSell(ctx context.Context, w *World, pool Pool, token, account string, base *big.Int) (anvil.Receipt, error) {
	receipts, err := w.Node.Settled(ctx, w.PoolSell(pool, token, account, base))
	if err != nil {
		return anvil.Receipt{}, err
	}
	return receipts[1], nil
}
