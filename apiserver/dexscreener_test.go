package apiserver_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// The pairs of pairWorld, by their base tokens.
const (
	wethPool  = "0xd000000000000000000000000000000000000001"
	quiet     = "0xd100000000000000000000000000000000000001" // not traded for two days
	steady    = "0xd100000000000000000000000000000000000002" // against a stable coin, not traded for two days
	young     = "0xd100000000000000000000000000000000000003" // first traded 20 minutes ago
	odd       = "0xd100000000000000000000000000000000000004" // against an asset that has no past
	worthless = "0xd100000000000000000000000000000000000005" // against an asset that has no price
	ranged    = "0xd100000000000000000000000000000000000006" // in a pool of ranges, as its second token
	oddQuote  = "0xd200000000000000000000000000000000000001"
	noQuote   = "0xd200000000000000000000000000000000000002"
)

// pairWorld adds pairs to the world's base chain: WETH has a past of its own, in which it rose from 1000 USD to 2000.
func pairWorld(t *testing.T, st *store.Store) {
	t.Helper()
	mintBlock(t, st, "base", 101, func(ch *market.Changes) {
		tok := func(mint string, decimals uint8, pool string) {
			a := address(t, mint)
			v := market.Token{Mint: a, Name: mint[:4], Symbol: mint[:4], HasDecimals: true, Decimals: decimals, FirstSeenAt: chainTime - 3*86_400}
			if pool != "" {
				v.Pool = address(t, pool)
			}
			ch.Tokens = append(ch.Tokens, set(a, v))
		}
		pool := func(id, base, quote string, price float64, traded int64, day market.Window) market.Pool {
			return market.Pool{
				ID: address(t, id), Protocol: market.UniswapV2, Factory: address(t, native), Token0: address(t, base), Token1: address(t, quote),
				Base: address(t, base), Quote: address(t, quote), BaseIs0: true, Price: price, Depth: 1, Locked: 10, CreatedAt: chainTime - 3*86_400,
				LastTradeAt: traded, Day: day,
			}
		}
		add := func(p market.Pool) { ch.Pools = append(ch.Pools, set(p.ID, p)) }
		minute := func(pool string, ago int64, usd, inETH float64) {
			at := chainTime - ago
			k := market.CandleKey{Pool: address(t, pool), Interval: 60, Open: at - at%60}
			ch.Candles = append(ch.Candles, set(k, market.Candle{
				CandleKey: k, USD: market.OHLC{Open: usd, High: usd, Low: usd, Close: usd},
				Native: market.OHLC{Open: inETH, High: inETH, Low: inETH, Close: inETH}, Buys: 1, LastBlock: 90,
			}))
		}
		tok(weth, 18, wethPool)
		tok(usdc, 6, "")
		add(pool(wethPool, weth, usdc, 2000, chainTime-60, market.Window{ReferenceUSD: 1000}))
		for ago, usd := range map[int64]float64{25 * 3600: 1000, 7 * 3600: 1600, 5 * 3600: 1800, 1800: 1900, 60: 2000} {
			minute(wethPool, ago, usd, 1)
		}
		for _, mint := range []string{quiet, steady, young, odd, worthless, ranged} {
			tok(mint, 18, poolOf(mint))
		}
		add(pool(poolOf(quiet), quiet, weth, 0.001, chainTime-2*86_400, market.Window{ReferenceUSD: 1}))
		minute(poolOf(quiet), 2*86_400, 1, 0.001)
		add(pool(poolOf(steady), steady, usdc, 0.7, chainTime-2*86_400, market.Window{ReferenceUSD: 0.7}))
		minute(poolOf(steady), 2*86_400, 0.7, 0.0007)
		newborn := pool(poolOf(young), young, weth, 0.001, chainTime-60, market.Window{ReferenceUSD: 0.5})
		newborn.CreatedAt = chainTime - 1200
		add(newborn)
		minute(poolOf(young), 1200, 0.5, 0.5/1900)
		minute(poolOf(young), 60, 2, 0.001)
		tok(oddQuote, 18, "")
		tok(noQuote, 18, "")
		ch.Quotes = append(ch.Quotes, set(address(t, oddQuote), market.QuotePrice{Asset: address(t, oddQuote), USD: 3}))
		add(pool(poolOf(odd), odd, oddQuote, 0.5, 0, market.Window{}))
		add(pool(poolOf(worthless), worthless, noQuote, 0.5, 0, market.Window{}))

		// A unit of one token costs a unit of the other, so that the square root of the price is 1. The pool has liquidity L from tick -600 to 600, and
		// the same from -1200 to -600, where it holds token 1 alone.
		wide := pool(poolOf(ranged), ranged, weth, 1, chainTime-60, market.Window{ReferenceUSD: 1900})
		wide.Protocol, wide.Token0, wide.Token1, wide.BaseIs0 = market.UniswapV3, address(t, weth), address(t, ranged), false
		wide.SqrtPriceX96, wide.Liquidity, wide.TickSpacing = amount("79228162514264337593543950336"), amount(rangedLiquidity), 60
		wide.Reserve0, wide.Reserve1 = whole(rangedQuote()), whole(rangedBase())
		add(wide)
		ticks := market.TickMap{}.AddRange(-600, 600, market.SignedAmount{Abs: amount(rangedLiquidity)}).
			AddRange(-1200, -600, market.SignedAmount{Abs: amount(rangedLiquidity)})
		ch.Ticks = append(ch.Ticks, set(wide.ID, ticks))
	})
}

const rangedLiquidity = "1000000000000000000000" // 1000 with 18 decimals

// rangedQuote and rangedBase are what the pool of ranges holds, in whole tokens, by the Uniswap V3 whitepaper (section 6.2): of token 0
// what lies above the price, of token 1 what lies below.
func rangedQuote() float64 { return 1000 * (1 - 1/sqrtAtTick(600)) }
func rangedBase() float64  { return 1000 * (1 - sqrtAtTick(-1200)) }

func sqrtAtTick(tick int) float64 { return math.Pow(1.0001, float64(tick)/2) }

// whole is an amount of whole tokens of 18 decimals, in the smallest unit.
func whole(v float64) market.Amount { return amount(fmt.Sprintf("%.0f", v*1e18)) }

// poolOf is the pool of a token of pairWorld.
func poolOf(mint string) string { return "0xdd" + mint[4:] }

// foundPair is a pair as a client reads it that takes what it needs.
type foundPair struct {
	PriceUSD    *string             `json:"priceUsd"`
	PriceChange map[string]*float64 `json:"priceChange"`
	Liquidity   map[string]*float64 `json:"liquidity"`
}

// findPair finds a pair by its own address: a token whose quote has no price isn't in the index.
func findPair(t *testing.T, c *client, mint string) foundPair {
	t.Helper()
	found := get[struct{ Pairs []foundPair }](t, c, "/api/dexscreener/search?q="+poolOf(mint))
	if len(found.Pairs) != 1 {
		t.Fatalf("%s finds %d pairs", poolOf(mint), len(found.Pairs))
	}
	return found.Pairs[0]
}

// TestPriceChangesOfPairs holds priceChange against a world whose past is known. Clients of DexScreener read four numbers, whatever
// happened: without a trade the price moved with its quote, and of a pair that is younger than a window the first price counts.
func TestPriceChangesOfPairs(t *testing.T) {
	t.Parallel()
	st := seeded(t, "sqlite")
	pairWorld(t, st)
	c := start(t, st)
	for name, p := range map[string]struct {
		mint            string
		m5, h1, h6, h24 float64
	}{
		"untraded for days":                {quiet, 100 * (2000.0/1900 - 1), 100 * (2000.0/1800 - 1), 25, 100},
		"untraded, against a stable coin":  {steady, 0, 0, 0, 0},
		"younger than the windows":         {young, 300, 300, 300, 300},
		"against an asset without a past":  {odd, 0, 0, 0, 0},
		"against an asset without a price": {worthless, 0, 0, 0, 0},
	} {
		got := findPair(t, c, p.mint).PriceChange
		for window, want := range map[string]float64{"m5": p.m5, "h1": p.h1, "h6": p.h6, "h24": p.h24} {
			switch v := got[window]; {
			case v == nil:
				t.Errorf("%s: there is no change over %s; want %v", name, window, want)
			case math.Abs(*v-want) > 1e-6:
				t.Errorf("%s: the change over %s is %v, want %v", name, window, *v, want)
			}
		}
	}
	// Whatever there is, each pair has all four.
	_, body := c.do(t, http.MethodGet, "/api/dexscreener/search?q=pepe", nil)
	var all struct{ Pairs []foundPair }
	if err := json.Unmarshal(body, &all); err != nil || len(all.Pairs) == 0 {
		t.Fatalf("%v: %s", err, body)
	}
	for i, p := range all.Pairs {
		for _, window := range []string{"m5", "h1", "h6", "h24"} {
			if p.PriceChange[window] == nil {
				t.Errorf("pair %d has no change over %s", i, window)
			}
		}
	}
}

// TestPoolsOfRangesTellTheirAmounts asks for a pair whose liquidity is in ranges of prices: what its positions hold is known as
// exactly as its price.
func TestPoolsOfRangesTellTheirAmounts(t *testing.T) {
	t.Parallel()
	st := seeded(t, "sqlite")
	pairWorld(t, st)
	got := findPair(t, start(t, st), ranged).Liquidity
	for side, want := range map[string]float64{"base": rangedBase(), "quote": rangedQuote(), "usd": 20_000} {
		switch v := got[side]; {
		case v == nil:
			t.Errorf("its liquidity has no %s; want %v", side, want)
		case math.Abs(*v/want-1) > 1e-9:
			t.Errorf("its liquidity's %s is %v, want %v", side, *v, want)
		}
	}
}
