package attack

import (
	"context"
	"fmt"
	"math/big"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
)

// FloodTrades has a Uniswap V2 pair log count swaps of one unit in one transaction, in a block that mine mines. What the pair holds stays
// as it is.
func FloodTrades(ctx context.Context, w *world.World, count int, mine func(context.Context) error) error {
	logs := "3333" + "7f" + eventTopic("Swap(address,uint256,uint256,uint256,uint256,address)") + "60805fa3"
	return floodLogs(ctx, w, world.UniswapV2, mine, "60015f526001606052"+fmt.Sprintf("62%06x", count), logs)
}

// highestFloodTick is above the ticks of every price here.
const highestFloodTick = 400_000

// FloodTicks has a Uniswap V3 pool log count additions of one unit of liquidity in one transaction, each to a range of its own from first
// on, in a block that mine mines. What the pool holds stays as it is.
func FloodTicks(ctx context.Context, w *world.World, first, count int, mine func(context.Context) error) error {
	lower := fmt.Sprintf("8060020262%06x03", highestFloodTick+2*(first+count)) // the counter goes down, the ticks go up
	logs := lower + "806001019033" + "7f" + eventTopic("Mint(address,address,int24,int24,uint128,uint256,uint256)") + "60805fa4"
	return floodLogs(ctx, w, world.UniswapV3, mine, "6001602052"+fmt.Sprintf("62%06x", count), logs)
}

// floodCode logs when a contract is called without data, which no pool is: after begin, which leaves a number on the stack, it runs code
// that often. With data it runs a contract's code in its own place. begin and code are in hexadecimal.
func floodCode(begin, code, contract string) string {
	const prologue, epilogue = 5, 11 // bytes around them
	loop := prologue + len(begin)/2
	end := loop + len(code)/2 + epilogue
	delegate := "363d3d373d3d3d363d73" + contract[2:] + "5af43d82803e903d91" // ERC-1167's
	return fmt.Sprintf("3661%04x57", end) + begin + "5b" + code + fmt.Sprintf("600190038061%04x5700", loop) +
		"5b" + delegate + fmt.Sprintf("61%04x57fd5bf3", end+1+len(delegate)/2+5)
}

// floodLogs gives an ordinary pool code that logs when it is called without data, and calls it. It stays as good a pool as before, so that
// no reorg brings back a state in which it isn't.
func floodLogs(ctx context.Context, w *world.World, protocol world.Protocol, mine func(context.Context) error, begin, code string) error {
	for _, pool := range w.Pools {
		if pool.Protocol != protocol || pool.Trap != "" {
			continue
		}
		const mark = "0xf100d" // the pool's own code is copied to an address that follows from the pool's
		copied := mark + pool.Address[len(mark):]
		var own, there string
		if err := w.Node.Call(ctx, &own, "eth_getCode", pool.Address, "latest"); err != nil {
			return err
		}
		if err := w.Node.Call(ctx, &there, "eth_getCode", copied, "latest"); err != nil {
			return err
		}
		if there == "0x" {
			if err := w.Node.Call(ctx, nil, "anvil_setCode", copied, own); err != nil {
				return err
			}
		}
		if err := w.Node.Call(ctx, nil, "anvil_setCode", pool.Address, "0x"+floodCode(begin, code, copied)); err != nil {
			return err
		}
		if _, err := w.Node.Send(ctx, []anvil.Transaction{{From: attacker(w), To: pool.Address, Gas: 1_000_000_000}}); err != nil {
			return err
		}
		return mine(ctx)
	}
	return fmt.Errorf("simnet: there is no pool of %s", protocol)
}

// FloodPools sends what makes count Uniswap V4 pools of a token and USDC without any liquidity; the first one's number tells them
// from those of an earlier flood.
func FloodPools(ctx context.Context, w *world.World, token string, first, count int) error {
	transactions := make([]anvil.Transaction, count)
	for i := range transactions {
		pool := w.NewPool(world.UniswapV4, token, w.StableUSDC6, 0, "")
		pool.Fee, pool.TickSpacing = 1+(first+i)%900_000, 1+(first+i)%16_000
		transactions[i] = w.InitializePool(pool, new(big.Int).Lsh(big.NewInt(1), 96))
		transactions[i].From = attacker(w)
	}
	_, err := w.Node.Send(ctx, transactions)
	return err
}
