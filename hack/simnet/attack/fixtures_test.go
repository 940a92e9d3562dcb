package attack

import (
	"context"
	"math/big"
	"testing"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/simnettest"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
)

// Topics of the events that tell a pool's price.
const (
	syncTopic   = "0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1"
	v3SwapTopic = "0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67"
)

func TestFixtures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		make func(context.Context, *world.World, string) (Fixture, error)
		// price is what the pool shows afterwards, as a multiple of the honest one, from and to.
		from, to float64
		// deepest tells whether the pool's liquidity exceeds the reference pool's.
		deepest bool
	}{
		{"flash pump", FlashPump, 0.98, 1.02, false},
		{"one tick", OneTickPool, 990, 1010, true},
		{"one-sided", OneSidedPool, 990, 1010, false},
		{"hook", HookPool, 990, 1010, true},
		{"thin takeover", ThinTakeover, 1000, 1050, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := simnettest.World(t, 56, 9)
			for _, token := range w.TokensLike(world.Plain) {
				before := honestPrice(t, w, token.Address)
				made, err := c.make(t.Context(), w, token.Address)
				if err != nil {
					t.Fatal(err)
				}
				if err := w.Node.MineNext(t.Context()); err != nil {
					t.Fatal(err)
				}
				receipts, err := w.Node.Receipts(t.Context(), made.TxHashes)
				if err != nil {
					t.Fatal(err)
				}
				for i, receipt := range receipts {
					if !receipt.Succeeded() {
						t.Fatalf("%s: transaction %d of %d reverted", token.Symbol, i+1, len(receipts))
					}
				}
				state := simnettest.PoolNow(t, w, made.Pool)
				if got := usdIn(w, made.Pool, token.Address, state) / before; got < c.from || got > c.to {
					t.Errorf("%s: pool shows %.4f of the honest price", token.Symbol, got)
				}
				if made.Reference.Key() == made.Pool.Key() {
					peak := pumpPeak(t, w, made, receipts[0]) / before
					if peak < 20 {
						t.Errorf("%s: price rose to %.1f times", token.Symbol, peak)
					}
					continue
				}
				reference := simnettest.PoolNow(t, w, made.Reference)
				depth := quoteUSD(w, made.Pool, token.Address, state) / quoteUSD(w, made.Reference, token.Address, reference)
				if (depth > 1) != c.deepest {
					t.Errorf("%s: pool looks %.3f times as deep as the reference", token.Symbol, depth)
				}
				if after := honestPrice(t, w, token.Address); after != before {
					t.Errorf("%s: reference went from %g to %g", token.Symbol, before, after)
				}
				if made.Pool.Trap == world.TrapOneSided {
					var balance anvil.HexBytes
					request := anvil.View(made.Pool.Other(token.Address), &balance, "balanceOf(address)", made.Pool.Address)
					if err := w.Node.Batch(t.Context(), []anvil.Request{request}); err != nil {
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

// honestPrice is a token's price in dollars in its deepest honest pool.
func honestPrice(t *testing.T, w *world.World, token string) float64 {
	t.Helper()
	pool, _, err := reference(t.Context(), w, token, world.UniswapV2, world.UniswapV3, world.UniswapV4, world.PancakeSwapV3)
	if err != nil {
		t.Fatal(err)
	}
	return usdIn(w, pool, token, simnettest.PoolNow(t, w, pool))
}

// usdIn is a token's price in dollars by a pool.
func usdIn(w *world.World, pool world.Pool, token string, state world.PoolState) float64 {
	ratio := state.Price()
	if state.SqrtPrice != nil {
		ratio = world.PriceOf(state.SqrtPrice)
	}
	ratio *= world.Pow10(float64(w.Asset(pool.Token0).Decimals - w.Asset(pool.Token1).Decimals))
	if pool.Token0 == token {
		return ratio * w.Asset(pool.Token1).USD
	}
	return w.Asset(pool.Token0).USD / ratio
}

func quoteUSD(w *world.World, pool world.Pool, token string, state world.PoolState) float64 {
	quote := w.Asset(pool.Other(token))
	return state.ReserveOf(pool, quote.Address) * quote.USD / world.Pow10(float64(quote.Decimals))
}

// pumpPeak reads the price after the purchase from the pool's Sync or Swap.
func pumpPeak(t *testing.T, w *world.World, made Fixture, bought anvil.Receipt) float64 {
	t.Helper()
	for _, log := range bought.Logs {
		data := anvil.FromHex(log.Data)
		switch {
		case log.Address != made.Pool.Address:
		case log.Topics[0] == syncTopic:
			return usdIn(w, made.Pool, made.Token, world.PoolState{Reserve0: world.Float(anvil.WordAt(data, 0)), Reserve1: world.Float(anvil.WordAt(data, 1))})
		case log.Topics[0] == v3SwapTopic:
			return usdIn(w, made.Pool, made.Token, world.PoolState{SqrtPrice: new(big.Int).Set(anvil.WordAt(data, 2))})
		}
	}
	t.Fatal("no price in the purchase")
	return 0
}
