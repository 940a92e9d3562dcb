package simnet

import (
	"context"
	"math/big"
	"testing"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
)

func TestFixtures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		make func(*World, context.Context, string) (Fixture, error)
		// price is what the pool shows afterwards, as a multiple of the honest one, from and to.
		from, to float64
		// deepest tells whether the pool's liquidity exceeds the reference pool's.
		deepest bool
	}{
		{"flash pump", (*World).FlashPump, 0.98, 1.02, false},
		{"one tick", (*World).OneTickPool, 990, 1010, true},
		{"one-sided", (*World).OneSidedPool, 990, 1010, false},
		{"hook", (*World).HookPool, 990, 1010, true},
		{"thin takeover", (*World).ThinTakeover, 1000, 1050, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			world := startWorld(t, 56, 9)
			for _, token := range world.TokensLike(Plain) {
				before := honestPrice(t, world, token.Address)
				made, err := c.make(world, t.Context(), token.Address)
				if err != nil {
					t.Fatal(err)
				}
				if err := world.Node.MineNext(t.Context()); err != nil {
					t.Fatal(err)
				}
				receipts, err := world.Node.Receipts(t.Context(), made.TxHashes)
				if err != nil {
					t.Fatal(err)
				}
				for i, receipt := range receipts {
					if !receipt.Succeeded() {
						t.Fatalf("%s: transaction %d of %d reverted", token.Symbol, i+1, len(receipts))
					}
				}
				state := poolNow(t, world, made.Pool)
				if got := usdIn(world, made.Pool, token.Address, state) / before; got < c.from || got > c.to {
					t.Errorf("%s: pool shows %.4f of the honest price", token.Symbol, got)
				}
				if made.Reference.key() == made.Pool.key() {
					peak := pumpPeak(t, world, made, receipts[0]) / before
					if peak < 20 {
						t.Errorf("%s: price rose to %.1f times", token.Symbol, peak)
					}
					continue
				}
				reference := poolNow(t, world, made.Reference)
				depth := quoteUSD(world, made.Pool, token.Address, state) / quoteUSD(world, made.Reference, token.Address, reference)
				if (depth > 1) != c.deepest {
					t.Errorf("%s: pool looks %.3f times as deep as the reference", token.Symbol, depth)
				}
				if after := honestPrice(t, world, token.Address); after != before {
					t.Errorf("%s: reference went from %g to %g", token.Symbol, before, after)
				}
				if made.Pool.Trap == TrapOneSided {
					var balance anvil.HexBytes
					request := anvil.View(made.Pool.other(token.Address), &balance, "balanceOf(address)", made.Pool.Address)
					if err := world.Node.Batch(t.Context(), []anvil.Request{request}); err != nil {
						t.Fatal(err)
					}
					if anvil.WordAt(balance, 0).Sign() != 0 {
						t.Errorf("%s: pool holds quote", token.Symbol)
					}
				}
			}
		})
	}
}

func poolNow(t *testing.T, world *World, pool Pool) poolState {
	t.Helper()
	var first, second anvil.HexBytes
	if err := world.Node.Batch(t.Context(), stateRequests(pool, &first, &second)); err != nil {
		t.Fatal(err)
	}
	return readPool(pool, first, second)
}

// honestPrice is a token's price in dollars in its deepest honest pool.
func honestPrice(t *testing.T, world *World, token string) float64 {
	t.Helper()
	pool, _, err := world.reference(t.Context(), token, UniswapV2, UniswapV3, UniswapV4, PancakeSwapV3)
	if err != nil {
		t.Fatal(err)
	}
	return usdIn(world, pool, token, poolNow(t, world, pool))
}

// usdIn is a token's price in dollars by a pool.
func usdIn(world *World, pool Pool, token string, state poolState) float64 {
	ratio := state.price()
	if state.sqrtPrice != nil {
		ratio = priceOf(state.sqrtPrice)
	}
	ratio *= pow10(float64(world.asset(pool.Token0).Decimals - world.asset(pool.Token1).Decimals))
	if pool.Token0 == token {
		return ratio * world.asset(pool.Token1).USD
	}
	return world.asset(pool.Token0).USD / ratio
}

func quoteUSD(world *World, pool Pool, token string, state poolState) float64 {
	quote := world.asset(pool.other(token))
	return state.reserveOf(pool, quote.Address) * quote.USD / pow10(float64(quote.Decimals))
}

// pumpPeak reads the price after the purchase from the pool's Sync or Swap.
func pumpPeak(t *testing.T, world *World, made Fixture, bought anvil.Receipt) float64 {
	t.Helper()
	for _, log := range bought.Logs {
		data := anvil.FromHex(log.Data)
		switch {
		case log.Address != made.Pool.Address:
		case log.Topics[0] == syncTopic:
			return usdIn(world, made.Pool, made.Token, poolState{reserve0: toFloat(anvil.WordAt(data, 0)), reserve1: toFloat(anvil.WordAt(data, 1))})
		case log.Topics[0] == v3SwapTopic:
			return usdIn(world, made.Pool, made.Token, poolState{sqrtPrice: new(big.Int).Set(anvil.WordAt(data, 2))})
		}
	}
	t.Fatal("no price in the purchase")
	return 0
}
