package apiserver_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// coin is a launch of the tests' world, in what tells it from others. Its address is made of its number.
type coin struct {
	n            int
	name, symbol string
	venue        string
	ago          int64 // its age in seconds
	state        market.LaunchState
	progress     float64
	unknown      bool // nothing is known of its progress
	liquidityUSD float64
	volumeUSD    float64
	holders      int64
	status       market.HolderStatus
	buyers       int
	graduatedAgo int64
	quietS       int64 // seconds since its last trade, one unless set
	completedAgo int64 // how long its curve has been full, where it is
	unvalued     bool
	unlaunched   bool // a token without a launch record
}

func (c *coin) mint() string { return fmt.Sprintf("0xca%038x", c.n) }

// chainTime is the time of the newest block of the tests' world.
var chainTime = clock.Unix() - 2

// mints commits coins in a block of a chain.
func mintCoins(t *testing.T, st *store.Store, chain string, number uint64, coins ...coin) {
	t.Helper()
	mintBlock(t, st, chain, number, func(ch *market.Changes) {
		for i := range coins {
			coins[i].add(t, ch, number)
		}
	})
}

// mintBlock commits changes in a block of a chain.
func mintBlock(t *testing.T, st *store.Store, chain string, number uint64, change func(*market.Changes)) {
	t.Helper()
	l, err := st.Leases.Acquire(t.Context(), chain, "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	h := market.Header{Number: number, Hash: market.Hash{byte(number)}, Parent: market.Hash{byte(number - 1)}, Time: chainTime}
	c := &store.Commit{
		Last: h, Blocks: []market.Header{h}, Undo: true, Head: store.HeadStatus{Number: number, Time: chainTime, Final: 80, FinalTime: chainTime - 60},
	}
	change(&c.Changes)
	if err := st.Commit(t.Context(), l, c); err != nil {
		t.Fatal(err)
	}
}

func (c *coin) add(t *testing.T, ch *market.Changes, block uint64) {
	t.Helper()
	mint := address(t, c.mint())
	l := market.Launch{
		Mint: mint, Venue: c.venue, Creator: address(t, creator), Name: c.name, Symbol: c.symbol, Block: block, LogIndex: uint64(c.n),
		CreatedAt: chainTime - c.ago, State: c.state, Curve: address(t, curves), Quote: address(t, weth),
		Rules: market.CurveRules{Pricing: market.PriceReserves, Basis: market.TokensSold}, SaleBase: amount("793100000"),
		Reserves: market.CurveReserves{VirtualBase: amount("1000"), VirtualQuote: amount("30"), RealBase: amount("12"), RealQuote: amount("7")},
		Progress: c.progress, HasProgress: !c.unknown, TargetQuote: amount("85"), FeeBps: 100,
	}
	pool := market.Pool{
		ID: market.CurveID(mint), Protocol: market.BondingCurve, Factory: address(t, curves), Token0: mint, Token1: address(t, weth), Base: mint, Quote: address(t, weth), BaseIs0: true,
		Price: 0.00001, Locked: c.liquidityUSD / 2000, LastTradeAt: chainTime - max(c.quietS, 1), Day: market.Window{VolumeUSD: amount(strconv.FormatFloat(c.volumeUSD*1e9, 'f', 0, 64))},
	}
	if c.state == market.LaunchLive || c.state == market.LaunchGraduated {
		pool.ID = address(t, fmt.Sprintf("0xcb%038x", c.n))
		pool.Protocol, l.Pool = market.UniswapV2, pool.ID
	}
	if c.state == market.LaunchLive {
		l.Curve, l.Rules, l.Reserves, l.SaleBase, l.TargetQuote = market.Address{}, market.CurveRules{}, market.CurveReserves{}, market.Amount{}, market.Amount{}
		l.HasProgress, l.FeeBps = false, 0
	}
	if c.state == market.LaunchGraduated {
		l.GraduatedAt, l.GraduatedTx = chainTime-c.graduatedAgo, market.EVMTx([32]byte{7})
	}
	if c.state == market.LaunchCompleted || c.state == market.LaunchGraduated {
		l.CompletedAt = chainTime - max(c.completedAgo, c.graduatedAgo)
	}
	if c.unvalued {
		pool.Price, pool.Locked = 0, 0
	}
	if !c.unlaunched {
		ch.Launches = append(ch.Launches, set(mint, l))
	}
	ch.Pools = append(ch.Pools, set(pool.ID, pool))
	ch.Tokens = append(ch.Tokens, set(mint, market.Token{
		Mint: mint, Name: c.name, Symbol: c.symbol, HasDecimals: true, Decimals: 18, HasSupply: true, Supply: amount("1000000000000000000000000000"),
		FirstSeenAt: chainTime - c.ago, Pool: pool.ID, Holders: market.Holders{Status: c.status, Count: c.holders},
	}))
	for i := range c.buyers {
		ch.Trades = append(ch.Trades, market.Trade{
			Block: block, LogIndex: uint64(1000*c.n + i), Time: chainTime - max(c.quietS, 100), Pool: pool.ID, Base: mint, Trader: address(t, fmt.Sprintf("0xcc%038x", 1000*c.n+i)),
			BaseAmount: amount("1"), QuoteAmount: amount("1"), NanoUSD: 50_000_000_000, HasUSD: true, CloseUSD: 0.01, CloseNative: 0.00001,
		})
	}
}

// good is a coin on its curve that clears the bar.
func good(n int, name string) coin {
	return coin{
		n: n, name: name, symbol: strings.ToUpper(name), venue: "four-meme", ago: 3000, state: market.LaunchOnCurve, progress: 40, liquidityUSD: 9000,
		volumeUSD: 20_000, holders: 80, status: market.HoldersCurrent, buyers: 20,
	}
}

// with changes a coin.
func (c coin) with(change func(*coin)) coin {
	change(&c)
	return c
}

func cards(t *testing.T, c *client, query string) contract.LaunchBoard {
	t.Helper()
	return get[contract.LaunchBoard](t, c, "/api/launch/launches?"+query)
}

// numbers are those of the coins of a page, in its order; what the world had before is left out.
func numbers(b contract.LaunchBoard) []int {
	out := []int{}
	for _, card := range b.Launches {
		if n, err := strconv.ParseInt(strings.TrimPrefix(card.Mint, "0xca"), 16, 64); err == nil {
			out = append(out, int(n))
		}
	}
	return out
}
