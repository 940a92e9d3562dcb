package world

import (
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
)

// VolumePool is a real pool in which nobody trades by transactions. Somebody who makes up its swaps keeps its state true with SetPools.
type VolumePool struct {
	Pool
	// Reserve0 and Reserve1 are what the pool holds. The liquidity of a Uniswap V3 pool lies over all prices, so that it never changes.
	Reserve0, Reserve1   *big.Int
	SqrtPrice, Liquidity *big.Int // of Uniswap V3
	Tick                 int
}

// volumeDepth is what a volume pool holds on each side, in USD: between this and fifty times as much.
const volumeDepth = 8_000

// volumeGroup is how many pools are opened in a block.
const volumeGroup = 40

// OpenVolume makes a token for each of a number of pools of Uniswap V2 and V3, all but every eighth against the wrapped native asset. They
// don't become the world's, so that no trader uses them.
func OpenVolume(ctx context.Context, w *World, v2, v3 int, seed uint64) ([]VolumePool, error) {
	rng := rand.New(rand.NewPCG(seed, 19))
	nonces, err := w.Node.Nonces(ctx, []anvil.Transaction{{From: w.Deployer}})
	if err != nil {
		return nil, err
	}
	d := NewDeployment(w, nonces[w.Deployer])
	var pools []Pool
	for i := range v2 + v3 {
		name := ordinaryNames[rng.IntN(len(ordinaryNames))]
		token := Token{
			Name: fmt.Sprintf("%s %d", name.name, i), Symbol: fmt.Sprintf("%s%d", name.symbol, i), Decimals: 18, USD: 0.001 * Pow10(3*rng.Float64()),
		}
		token.Address = d.Create("Token", "((string,string,uint8,uint256,address[],uint256,address[]))", anvil.Tuple{
			token.Name, token.Symbol, token.Decimals, Units(1e9, token.Decimals), []string{}, 0, d.Operators(),
		})
		quote := w.Tokens[0]
		if i%8 == 7 {
			quote = w.Tokens[1]
		}
		protocol, fee := UniswapV2, 0
		if i >= v2 {
			protocol, fee = UniswapV3, 3000
		}
		pool := w.NewPool(protocol, token.Address, quote.Address, fee, "")
		usd0, usd1, decimals0, decimals1 := token.USD, quote.USD, token.Decimals, quote.Decimals
		if pool.Token0 != token.Address {
			usd0, usd1, decimals0, decimals1 = usd1, usd0, decimals1, decimals0
		}
		depth := min(volumeDepth*Pow10(1.7*rng.Float64()), 5e8*token.USD)
		amount0, amount1 := Units(depth/usd0, decimals0), Units(depth/usd1, decimals1)
		if protocol == UniswapV2 {
			d.Add(w.addV2(pool, amount0, amount1))
		} else {
			ratio, limit := usd0/usd1*Pow10(float64(decimals1-decimals0)), MaxTick/pool.TickSpacing*pool.TickSpacing
			d.Add(w.InitializePool(pool, SqrtPriceX96(ratio)))
			d.Add(w.AddRange(pool, ratio, -limit, limit, amount0, amount1))
		}
		if pools = append(pools, pool); i%volumeGroup == volumeGroup-1 || i == v2+v3-1 {
			if err := d.Flush(ctx); err != nil {
				return nil, fmt.Errorf("simnet: open pools for volume: %w", err)
			}
		}
	}
	if err := w.Locate(ctx, pools); err != nil {
		return nil, err
	}
	return volumeStates(ctx, w, pools)
}

// volumeStates reads what the pools hold.
func volumeStates(ctx context.Context, w *World, pools []Pool) ([]VolumePool, error) {
	type state struct{ balance0, balance1, slot, liquidity anvil.HexBytes }
	states := make([]state, len(pools))
	var requests []anvil.Request
	for i, p := range pools {
		requests = append(requests, anvil.View(p.Token0, &states[i].balance0, "balanceOf(address)", p.Address),
			anvil.View(p.Token1, &states[i].balance1, "balanceOf(address)", p.Address))
		if p.Protocol == UniswapV3 {
			requests = append(requests, anvil.View(p.Address, &states[i].slot, "slot0()"), anvil.View(p.Address, &states[i].liquidity, "liquidity()"))
		}
	}
	if err := w.Node.Batch(ctx, requests); err != nil {
		return nil, err
	}
	out := make([]VolumePool, len(pools))
	for i, p := range pools {
		s := &states[i]
		out[i] = VolumePool{Pool: p, Reserve0: anvil.WordAt(s.balance0, 0), Reserve1: anvil.WordAt(s.balance1, 0)}
		if p.Protocol == UniswapV3 {
			out[i].SqrtPrice, out[i].Liquidity = anvil.WordAt(s.slot, 0), anvil.WordAt(s.liquidity, 0)
			out[i].Tick = int(int32(uint32(anvil.WordAt(s.slot, 1).Uint64() & 0xffffffff)))
		}
	}
	return out, anvil.FirstError(requests)
}

// Where contracts keep what SetPools changes: the reserves of a Uniswap V2 pair, slot0 of a V3 pool, and the balances of simnet's own
// tokens and of WETH9, which happen to lie in one place.
const (
	pairReservesSlot = 8
	poolSlot0        = 0
	balancesSlot     = 3
)

// SetPools writes the pools' state into the chain's, as trades would have left it at a time. It becomes part of the next block.
func SetPools(ctx context.Context, w *World, pools []VolumePool, at uint32) error {
	requests := make([]anvil.Request, 0, 3*len(pools))
	set := func(contract string, slot []byte, value *big.Int) {
		requests = append(requests, anvil.Request{Method: "anvil_setStorageAt", Params: []any{contract, anvil.ToHex(slot), anvil.ToHex(anvil.Word(value))}})
	}
	for _, p := range pools {
		account := anvil.Word(new(big.Int).SetBytes(anvil.FromHex(p.Address)))
		set(p.Token0, anvil.Keccak(account, anvil.Word(big.NewInt(balancesSlot))), p.Reserve0)
		set(p.Token1, anvil.Keccak(account, anvil.Word(big.NewInt(balancesSlot))), p.Reserve1)
		if p.Protocol == UniswapV2 {
			packed := new(big.Int).Lsh(big.NewInt(int64(at)), 224)
			packed.Or(packed, new(big.Int).Lsh(p.Reserve1, 112)).Or(packed, p.Reserve0)
			set(p.Address, anvil.Word(big.NewInt(pairReservesSlot)), packed)
			continue
		}
		// unlocked, one observation of room for one, the tick in 24 bits, the price.
		packed := new(big.Int).Lsh(big.NewInt(1), 240)
		packed.Or(packed, new(big.Int).Lsh(big.NewInt(1), 160+24+32)).Or(packed, new(big.Int).Lsh(big.NewInt(1), 160+24+16))
		packed.Or(packed, new(big.Int).Lsh(big.NewInt(int64(uint32(p.Tick)&0xffffff)), 160)).Or(packed, p.SqrtPrice)
		set(p.Address, anvil.Word(big.NewInt(poolSlot0)), packed)
	}
	if err := w.Node.Batch(ctx, requests); err != nil {
		return err
	}
	return anvil.FirstError(requests)
}
