package derive_test

import (
	"slices"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// nobody is the trader of a swap that no account's balance shows.
var nobody market.Address

// TestTrader: the trader of a swap is the account, neither pool nor router, whose balance of the token really changed.
// In every case poolA is a V2 pair of dog (token0) and WETH, poolB one of cat (token0) and WETH, poolC one of dog
// (token0) and USDC. poolID(1) is a V4 pool of the native coin and dog, poolID(2) one of the native coin and USDC, with
// WETH as the base.
func TestTrader(t *testing.T) {
	t.Parallel()
	buyDog := func(recipient market.Address) market.Event {
		return swapped(poolA, out(e18(100)), in(e18(1)), router, recipient)
	}
	sellDog := func(recipient market.Address) market.Event {
		return swapped(poolA, in(e18(100)), out(e18(1)), router, recipient)
	}
	v4Swap := func(id market.Address, amount0, amount1 market.SignedAmount) market.Event {
		return market.Swap{
			Pool: id, Sender: router, Recipient: router, Amount0: amount0, Amount1: amount1,
			SqrtPriceX96: sqrtPrice(0), Liquidity: e18(1),
		}
	}
	tests := []struct {
		name   string
		events []market.Event
		want   []market.Address
	}{
		{"a direct buy", tx(
			moved(weth, alice, poolA, e18(1)), moved(dog, poolA, alice, e18(100)), buyDog(alice),
		), []market.Address{alice}},
		{"a direct sell", tx(
			moved(dog, alice, poolA, e18(100)), moved(weth, poolA, alice, e18(1)), sellDog(alice),
		), []market.Address{alice}},
		{"a V3 pool, which pays out before it is paid", tx(
			moved(dog, poolA, alice, e18(100)), moved(weth, alice, poolA, e18(1)), buyDog(alice),
		), []market.Address{alice}},
		{"a buy with the native coin, wrapped by the router", tx(
			wrapped(router, e18(1)), moved(weth, router, poolA, e18(1)), moved(dog, poolA, alice, e18(100)), buyDog(alice),
		), []market.Address{alice}},
		{"a sell for the native coin, unwrapped by the router", tx(
			moved(dog, alice, poolA, e18(100)), moved(weth, poolA, router, e18(1)), sellDog(router), unwrapped(router, e18(1)),
		), []market.Address{alice}},
		{"a buy that the router passes on", tx(
			moved(weth, alice, router, e18(1)), moved(weth, router, poolA, e18(1)), moved(dog, poolA, router, e18(100)),
			buyDog(router), moved(dog, router, alice, e18(100)),
		), []market.Address{alice}},
		{"a sell through the router", tx(
			moved(dog, alice, router, e18(100)), moved(dog, router, poolA, e18(100)), moved(weth, poolA, router, e18(1)),
			sellDog(router), moved(weth, router, alice, e18(1)),
		), []market.Address{alice}},
		{"a buy through an aggregator and its executor", tx(
			moved(weth, alice, aggregator, e18(1)), moved(weth, aggregator, solver, e18(1)), moved(weth, solver, poolA, e18(1)),
			moved(dog, poolA, solver, e18(100)), buyDog(solver), moved(dog, solver, aggregator, e18(100)),
			moved(dog, aggregator, alice, e18(100)),
		), []market.Address{alice}},
		{"a gift: the recipient has the tokens", tx(
			moved(weth, alice, poolA, e18(1)), moved(dog, poolA, bob, e18(100)), buyDog(bob),
		), []market.Address{bob}},
		{"two hops, dog to cat over WETH, straight from pool to pool", tx(
			moved(dog, alice, poolA, e18(100)), moved(weth, poolA, poolB, e18(1)), sellDog(poolB),
			moved(cat, poolB, alice, e18(50)), swapped(poolB, out(e18(50)), in(e18(1)), router, alice),
		), []market.Address{alice, alice}},
		{"two hops over the router", tx(
			moved(dog, alice, router, e18(100)), moved(dog, router, poolA, e18(100)), moved(weth, poolA, router, e18(1)), sellDog(router),
			moved(weth, router, poolB, e18(1)), moved(cat, poolB, router, e18(50)), swapped(poolB, out(e18(50)), in(e18(1)), router, router),
			moved(cat, router, alice, e18(50)),
		), []market.Address{alice, alice}},
		{"an order split over two pools of one token", tx(
			moved(weth, alice, aggregator, e18(1)), moved(usdc, alice, aggregator, e6(2000)),
			moved(weth, aggregator, poolA, e18(1)), moved(dog, poolA, aggregator, e18(100)), buyDog(aggregator),
			moved(usdc, aggregator, poolC, e6(2000)), moved(dog, poolC, aggregator, e18(90)), swapped(poolC, out(e18(90)), in(e6(2000)), aggregator, aggregator),
			moved(dog, aggregator, alice, e18(190)),
		), []market.Address{alice, alice}},
		{"an arbitrage between two pools leaves nobody with the token: the quote's gain tells", tx(
			moved(dog, poolA, poolC, e18(100)), moved(weth, solver, poolA, e18(1)), buyDog(poolC),
			moved(usdc, poolC, solver, e6(2100)), swapped(poolC, in(e18(100)), out(e6(2100)), solver, solver),
		), []market.Address{solver, solver}},
		{"two users of a bundler in one transaction", tx(
			moved(weth, alice, poolA, e18(1)), moved(dog, poolA, alice, e18(100)), buyDog(alice),
			moved(weth, bob, poolA, e18(1)), moved(dog, poolA, bob, e18(99)), swapped(poolA, out(e18(99)), in(e18(1)), router, bob),
		), []market.Address{alice, bob}},
		{"two users who get the same amount", tx(
			moved(weth, alice, poolA, e18(1)), moved(dog, poolA, alice, e18(100)), buyDog(alice),
			moved(weth, bob, poolA, e18(1)), moved(dog, poolA, bob, e18(100)), buyDog(bob),
		), []market.Address{alice, bob}},
		{"two users who sell the same amount", tx(
			moved(dog, alice, poolA, e18(100)), moved(weth, poolA, alice, e18(1)), sellDog(alice),
			moved(dog, bob, poolA, e18(100)), moved(weth, poolA, bob, e18(1)), sellDog(bob),
		), []market.Address{alice, bob}},
		{"one buys and another sells", tx(
			moved(weth, alice, poolA, e18(1)), moved(dog, poolA, alice, e18(100)), buyDog(alice),
			moved(dog, bob, poolA, e18(100)), moved(weth, poolA, bob, e18(1)), sellDog(bob),
		), []market.Address{alice, bob}},
		{"two users through one router", tx(
			moved(weth, alice, router, e18(1)), moved(weth, router, poolA, e18(1)), moved(dog, poolA, router, e18(100)), buyDog(router),
			moved(dog, router, alice, e18(100)),
			moved(weth, bob, router, e18(1)), moved(weth, router, poolA, e18(1)), moved(dog, poolA, router, e18(98)),
			swapped(poolA, out(e18(98)), in(e18(1)), router, router), moved(dog, router, bob, e18(98)),
		), []market.Address{alice, bob}},
		{"a fee on transfer, taken first", tx(
			moved(weth, alice, poolA, e18(1)), moved(dog, poolA, collector, e18(5)), moved(dog, poolA, alice, e18(95)), buyDog(alice),
		), []market.Address{alice}},
		{"a fee on transfer, taken last", tx(
			moved(weth, alice, poolA, e18(1)), moved(dog, poolA, alice, e18(95)), moved(dog, poolA, collector, e18(5)), buyDog(alice),
		), []market.Address{alice}},
		{"a fee on transfer in a sell", tx(
			moved(dog, alice, collector, e18(5)), moved(dog, alice, poolA, e18(100)), moved(weth, poolA, alice, e18(1)), sellDog(alice),
		), []market.Address{alice}},
		{"a fee on transfer that the pool pays on", tx(
			moved(dog, alice, poolA, e18(95)), moved(dog, alice, collector, e18(10)), moved(weth, poolA, alice, e18(1)),
			swapped(poolA, in(e18(95)), out(e18(1)), router, alice),
		), []market.Address{alice}},
		{"a router that keeps a fee of the token", tx(
			moved(weth, alice, router, e18(1)), moved(weth, router, poolA, e18(1)), moved(dog, poolA, router, e18(100)), buyDog(router),
			moved(dog, router, collector, e18(1)), moved(dog, router, alice, e18(99)),
		), []market.Address{alice}},
		{"a router that keeps crumbs", tx(
			moved(weth, alice, router, e18(1)), moved(weth, router, poolA, e18(1)), moved(dog, poolA, router, e18(100)), buyDog(router),
			moved(dog, router, alice, units(99_999, 15)),
		), []market.Address{alice}},
		{"no transfers at all: nobody", tx(buyDog(carol)), []market.Address{nobody}},
		{"two hops of which a collector takes a fee between: it is no trader", tx(
			moved(weth, alice, poolA, e18(1)), moved(dog, poolA, router, e18(100)), buyDog(router), moved(dog, router, collector, e18(1)),
			moved(dog, router, poolC, e18(99)), moved(usdc, poolC, alice, e6(2000)), swapped(poolC, in(e18(99)), out(e6(2000)), router, alice),
		), []market.Address{alice, alice}},
		{"a router that keeps nothing of what it was paid out in: nobody", tx(
			moved(dog, nobody, poolA, e18(100)), moved(weth, poolA, router, e18(1)), sellDog(router), unwrapped(router, e18(1)),
		), []market.Address{nobody}},
		{"crumbs of the quote make no trader", tx(
			moved(dog, nobody, poolA, e18(100)), moved(weth, poolA, router, e18(1)), sellDog(router),
			moved(weth, router, collector, units(1, 15)), unwrapped(router, units(999, 15)),
		), []market.Address{nobody}},
		{"an order split over two pools of one token and one of another", tx(
			moved(weth, alice, poolA, e18(1)), moved(dog, poolA, alice, e18(100)), buyDog(alice),
			moved(weth, alice, poolB, e18(1)), moved(cat, poolB, alice, e18(50)), swapped(poolB, out(e18(50)), in(e18(1)), router, alice),
			moved(usdc, alice, poolC, e6(2000)), moved(dog, poolC, alice, e18(90)), swapped(poolC, out(e18(90)), in(e6(2000)), router, alice),
		), []market.Address{alice, alice, alice}},
		{"a vault whose quotes pay for three trades of tokens that it doesn't keep", tx(
			moved(weth, solver, poolA, e18(10)), moved(dog, poolA, poolB, e18(100)), swapped(poolA, out(e18(100)), in(e18(10)), router, solver),
			moved(weth, solver, poolB, e18(10)), moved(cat, poolB, poolC, e18(50)), swapped(poolB, out(e18(50)), in(e18(10)), router, solver),
			moved(usdc, solver, poolC, e6(2000)), moved(dog, poolC, poolA, e18(90)), swapped(poolC, out(e18(90)), in(e6(2000)), router, solver),
		), []market.Address{nobody, nobody, nobody}},
		{"the first of two buyers is paid by the transaction's first log, the second gets more", tx(
			moved(dog, poolA, alice, e18(100)), moved(weth, alice, poolA, e18(1)), buyDog(alice),
			moved(weth, bob, poolA, e18(2)), moved(dog, poolA, bob, e18(200)), swapped(poolA, out(e18(200)), in(e18(2)), router, bob),
		), []market.Address{alice, bob}},
		{"the pool pays less than it says, in the transaction's first log, and another account is given more", tx(
			moved(dog, poolA, alice, e18(95)), moved(weth, alice, poolA, e18(1)), buyDog(alice), moved(dog, nobody, bob, e18(500)),
		), []market.Address{alice}},
		{"the router pays a fee and the buyer, and another account is given more in between", tx(
			moved(weth, alice, router, e18(1)), moved(weth, router, poolA, e18(1)), moved(dog, poolA, router, e18(100)), buyDog(router),
			moved(dog, router, collector, e18(1)), moved(dog, nobody, bob, e18(500)), moved(dog, router, alice, e18(99)),
		), []market.Address{alice}},
		{"a token that its contract mints to the buyer, and less of it to another account", tx(
			moved(weth, alice, poolA, e18(1)), moved(dog, nobody, alice, e18(100)), moved(dog, nobody, bob, e18(60)), buyDog(alice),
		), []market.Address{alice}},
		// The token is followed through eight accounts. Behind them the largest change tells, here that of a gift.
		{"a buy that seven contracts pass on", append(passedOn(7), buyDog(router), moved(dog, nobody, bob, e18(500))), []market.Address{alice}},
		{"a buy that eight contracts pass on", append(passedOn(8), buyDog(router), moved(dog, nobody, bob, e18(500))), []market.Address{bob}},
		{"whoever pays for two trades by the quotes alone is their trader", tx(
			moved(weth, solver, poolA, e18(10)), moved(dog, poolA, poolB, e18(100)), swapped(poolA, out(e18(100)), in(e18(10)), router, solver),
			moved(weth, solver, poolB, e18(10)), moved(cat, poolB, nobody, e18(50)), swapped(poolB, out(e18(50)), in(e18(10)), router, solver),
		), []market.Address{solver, solver}},
		{"whoever pays for two trades by the quotes alone is their trader, and another one trades in the same transaction", tx(
			moved(weth, solver, poolA, e18(10)), moved(dog, poolA, poolB, e18(100)), swapped(poolA, out(e18(100)), in(e18(10)), router, solver),
			moved(weth, solver, poolB, e18(10)), moved(cat, poolB, nobody, e18(50)), swapped(poolB, out(e18(50)), in(e18(10)), router, solver),
			moved(usdc, alice, poolC, e6(2000)), moved(dog, poolC, alice, e18(40)), swapped(poolC, out(e18(40)), in(e6(2000)), router, alice),
		), []market.Address{solver, solver, alice}},
		{"whoever goes from one quote to another over tokens of three pools is the trader in all of them", tx(
			moved(usdc, solver, poolC, e6(2000)), moved(dog, poolC, poolA, e18(100)), swapped(poolC, out(e18(100)), in(e6(2000)), router, poolA),
			moved(weth, poolA, solver, e18(1)), sellDog(solver),
			moved(cat, nobody, poolB, e18(50)), moved(weth, poolB, solver, e18(1)), swapped(poolB, in(e18(50)), out(e18(1)), router, solver),
		), []market.Address{solver, solver, solver}},
		{"the pool paid as much to another account before, without a swap", tx(
			moved(dog, poolA, bob, e18(100)), moved(weth, alice, poolA, e18(1)), moved(dog, poolA, alice, e18(100)), buyDog(alice),
		), []market.Address{alice}},
		{"V4: a buy for the native coin", tx(
			moved(dog, v4, alice, e18(100)), v4Swap(poolID(1), in(e18(1)), out(e18(100))),
		), []market.Address{alice}},
		{"V4: a sell for the native coin", tx(
			moved(dog, alice, v4, e18(100)), v4Swap(poolID(1), out(e18(1)), in(e18(100))),
		), []market.Address{alice}},
		{"V4: the swap is logged before its settlement", tx(
			v4Swap(poolID(1), in(e18(1)), out(e18(100))), moved(dog, v4, router, e18(100)), moved(dog, router, alice, e18(100)),
		), []market.Address{alice}},
		{"V4: another buyer of the same amount is paid later", tx(
			v4Swap(poolID(1), in(e18(1)), out(e18(100))), moved(dog, v4, alice, e18(100)), moved(dog, v4, bob, e18(100)),
		), []market.Address{alice}},
		{"V4: two buyers of the same amount, each paid after the log of the swap", tx(
			v4Swap(poolID(1), in(e18(1)), out(e18(100))), moved(dog, v4, alice, e18(100)),
			v4Swap(poolID(1), in(e18(1)), out(e18(100))), moved(dog, v4, bob, e18(100)),
		), []market.Address{alice, bob}},
		{"V4: two sellers of the same amount, who pay after the logs of both swaps", tx(
			v4Swap(poolID(1), out(e18(1)), in(e18(100))), v4Swap(poolID(1), out(e18(1)), in(e18(100))),
			moved(dog, alice, v4, e18(100)), moved(dog, bob, v4, e18(100)),
		), []market.Address{alice, bob}},
		{"V4: a buyer of the same amount at another price is another swap's", tx(
			v4Swap(poolID(1), in(e18(1)), out(e18(100))), moved(dog, v4, alice, e18(100)),
			v4Swap(poolID(1), in(e18(2)), out(e18(100))), moved(dog, v4, bob, e18(100)),
		), []market.Address{alice, bob}},
		{"V4: WETH bought with USDC, wrapped by the router", tx(
			moved(usdc, alice, v4, e6(2000)), v4Swap(poolID(2), out(e18(1)), in(e6(2000))),
			wrapped(router, e18(1)), moved(weth, router, alice, e18(1)),
		), []market.Address{alice}},
		{"V4: the native coin bought with USDC", tx(
			moved(usdc, alice, v4, e6(2000)), v4Swap(poolID(2), out(e18(1)), in(e6(2000))),
		), []market.Address{alice}},
		{"V4: the native coin sold for USDC", tx(
			v4Swap(poolID(2), in(e18(1)), out(e6(2000))), moved(usdc, v4, alice, e6(2000)),
		), []market.Address{alice}},
		// Arbitrum's WETH logs a mint beside each deposit, and a burn beside each withdrawal.
		{"V4: WETH bought with USDC where deposits are logged twice", tx(
			moved(usdc, alice, v4, e6(2000)), v4Swap(poolID(2), out(e18(1)), in(e6(2000))),
			moved(weth, nobody, router, e18(1)), wrapped(router, e18(1)), moved(weth, router, alice, e18(1)),
		), []market.Address{alice}},
		{"V4: WETH sold for USDC where withdrawals are logged twice", tx(
			moved(weth, alice, router, e18(1)), moved(weth, router, nobody, e18(1)), unwrapped(router, e18(1)),
			v4Swap(poolID(2), in(e18(1)), out(e6(2000))), moved(usdc, v4, alice, e6(2000)),
		), []market.Address{alice}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := stage(t)
			native := market.PoolCreated{Protocol: market.UniswapV4, Factory: v4, Pool: poolID(1), Token0: market.Native, Token1: dog, SqrtPriceX96: sqrtPrice(0)}
			dollars := native
			dollars.Pool, dollars.Token1 = poolID(2), usdc
			b.next(12, nil, tx(
				pair(poolA, dog, weth), synced(poolA, e18(100_000), e18(1000)),
				pair(poolB, cat, weth), synced(poolB, e18(100_000), e18(1000)),
				pair(poolC, dog, usdc), synced(poolC, e18(100_000), e6(2_000_000)), native, dollars,
			))
			b.next(12, nil, tt.events)
			got := listTraders(b)
			if len(got) != len(tt.want) {
				t.Fatalf("%d trades, want %d", len(got), len(tt.want))
			}
			for i := range got {
				if got[i] != tt.want[i] {
					t.Errorf("swap %d: the trader is %s, want %s", i+1, who(got[i]), who(tt.want[i]))
				}
			}
		})
	}
}

// passedOn pays 100 dogs out of poolA and over some contracts to alice.
func passedOn(contracts byte) (events []market.Event) {
	from := poolA
	for i := range contracts {
		events = append(events, moved(dog, from, address(100+i), e18(100)))
		from = address(100 + i)
	}
	return append(events, moved(dog, from, alice, e18(100)))
}

func who(a market.Address) string {
	for name, x := range map[string]market.Address{
		"nobody": nobody, "alice": alice, "bob": bob, "carol": carol, "the router": router, "the aggregator": aggregator, "the solver": solver,
		"the collector of fees": collector, "pool A": poolA, "pool B": poolB, "pool C": poolC, "the PoolManager": v4,
	} {
		if a == x {
			return name
		}
	}
	return a.String()
}

// balanceMoved tells a transaction's change of one balance, as chains of Solana do.
func balanceMoved(token, owner market.Address, change market.SignedAmount) market.Event {
	return market.BalanceChange{Token: token, Owner: owner, Change: change}
}

// TestHoldersOfAllPoolsAreNoTraders: a program of Solana has one account that holds the tokens of all its pools. An arbitrage leaves the solver with as much of the
// token as before, and the account of the program that the solver sold it to with more, which makes that account no trader. The solver is the trader where the
// solver's balances of the quotes show the swaps, and nobody is where the solver only keeps a small profit.
func TestHoldersOfAllPoolsAreNoTraders(t *testing.T) {
	t.Parallel()
	programs := map[market.Protocol]market.Address{market.RaydiumCPMM: cpmm, market.RaydiumAMMv4: ammV4, market.MeteoraDAMMv2: damm}
	for bought := range programs {
		for sold := range programs {
			if bought == sold {
				continue
			}
			t.Run(string(bought)+" to "+string(sold), func(t *testing.T) {
				t.Parallel()
				from, to := bought.Holder(), sold.Holder()
				poolOf := func(protocol market.Protocol, pool, quote market.Address) market.Event {
					return created(protocol, programs[protocol], pool, dog, quote)
				}
				trades := tx(
					balanceMoved(dog, from, out(e18(100))), balanceMoved(dog, to, in(e18(100))), balanceMoved(weth, from, in(e18(1))),
					swapped(poolA, out(e18(100)), in(e18(1)), solver, solver),
				)
				b := stage(t, ofSolana)
				b.next(12, nil, tx(poolOf(bought, poolA, weth), synced(poolA, e18(100_000), e18(1000)), poolOf(sold, poolB, weth), synced(poolB, e18(100_000), e18(1100)),
					poolOf(sold, poolC, usdc), synced(poolC, e18(100_000), e6(2_200_000))))
				// All that the solver paid comes back, then a tenth of it more, then 2,200 dollars for it.
				b.next(12, nil, append(slices.Clone(trades), balanceMoved(weth, to, out(e18(1))), swapped(poolB, in(e18(100)), out(e18(1)), solver, solver)))
				b.next(12, nil, append(slices.Clone(trades), balanceMoved(weth, to, out(units(11, 17))), balanceMoved(weth, solver, in(units(1, 17))),
					swapped(poolB, in(e18(100)), out(units(11, 17)), solver, solver)))
				b.next(12, nil, append(slices.Clone(trades), balanceMoved(weth, solver, out(e18(1))), balanceMoved(usdc, to, out(e6(2200))), balanceMoved(usdc, solver, in(e6(2200))),
					swapped(poolC, in(e18(100)), out(e6(2200)), solver, solver)))
				if got, want := listTraders(b), []market.Address{nobody, nobody, nobody, nobody, solver, solver}; !slices.Equal(got, want) {
					t.Errorf("the traders are %v, want %v", got, want)
				}
			})
		}
	}
}

// TestHolderOfAllCurvesIsNoTrader: a venue of Solana has one account that holds the tokens of all its curves. An arbitrage from a curve to a pool leaves the account with
// less of the token, which makes the account no seller, whether or not the index has seen the launch.
func TestHolderOfAllCurvesIsNoTrader(t *testing.T) {
	t.Parallel()
	for _, protocol := range []chainconfig.VenueProtocol{chainconfig.RaydiumLaunchLab, chainconfig.MeteoraDBC} {
		for launches, want := range [][]market.Address{{nobody}, {solver, nobody}} { // the curve's log names the solver
			b := stage(t, ofSolana, func(c *chainconfig.Chain) {
				c.Venues = append(c.Venues, chainconfig.Venue{ID: "curves", Protocol: protocol, Contracts: []market.Address{secondCurve}})
			})
			holder := protocol.Holder()
			b.next(12, facts(pup), tx(balanceMoved(pup, holder, in(e18(1000)))))
			if launches > 0 {
				b.next(12, nil, tx(launched(func(e *market.Launched) { e.Venue, e.Curve = "curves", holder })))
			}
			b.next(12, nil, tx(created(market.RaydiumCPMM, cpmm, poolA, pup, weth), synced(poolA, e18(100), e18(10))))
			purchase := bought(solver)
			purchase.Venue, purchase.Curve = "curves", holder
			b.next(12, nil, tx(balanceMoved(pup, holder, out(e18(200))), balanceMoved(pup, market.RaydiumCPMMHolder, in(e18(200))), purchase,
				swapped(poolA, in(e18(200)), out(e18(2)), solver, solver)))
			if got := listTraders(b); !slices.Equal(got, want) {
				t.Errorf("%s, %d launches seen: the traders are %v, want %v", protocol, launches, got, want)
			}
		}
	}
}

// listTraders lists the trader of each trade.
func listTraders(b *bench) (list []market.Address) {
	for i := range b.db.trades {
		list = append(list, b.db.trades[i].Trader)
	}
	return list
}
