package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver"
	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/limit"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/apiserver/site"
	"github.com/boardwalkhq/boardwalk/hack/written"
	"github.com/boardwalkhq/boardwalk/internal/catalog"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// writtenChain is a chain whose blocks a test writes, answered by the API server.
type writtenChain struct{ *written.Chain }

// The addresses of a written chain.
var (
	writtenUSDC, writtenWETH            = writtenAddress(1), writtenAddress(2)
	writtenToken, writtenOther          = writtenAddress(3), writtenAddress(4)
	writtenFactory, writtenPad          = writtenAddress(5), writtenAddress(6)
	writtenRouter, writtenCreator       = writtenAddress(7), writtenAddress(8)
	ethPool, tokenPool, otherPool       = writtenAddress(11), writtenAddress(12), writtenAddress(13)
	writtenStart                  int64 = 1_700_000_000 - 1_700_000_000%86_400
)

func writtenAddress(n byte) market.Address {
	return market.EVMAddress([32]byte{12: 0xee, 31: n})
}

// newWritten has WETH at 1,000 USDC in a deep pool.
func newWritten(t *testing.T) *writtenChain {
	t.Helper()
	w := &writtenChain{written.New(t, storetest.Open(t, "sqlite"), &chainconfig.Chain{
		ID: "base", Family: chainconfig.EVM, Native: chainconfig.Native{Symbol: "ETH", Wrapped: writtenWETH},
		Quotes: []chainconfig.Quote{
			{Symbol: "USDC", Address: writtenUSDC, PegUSD: 1, PegBoundPct: 5}, {Symbol: "WETH", Address: writtenWETH},
		},
		Exchanges: []chainconfig.Exchange{{Name: "uniswap-v2", Protocol: market.UniswapV2, Factory: writtenFactory}},
		Venues:    []chainconfig.Venue{{ID: "pad", Contracts: []market.Address{writtenPad}}},
	}, market.Header{Number: 99, Hash: market.Hash{99}, Time: writtenStart})}
	w.Block(t, 12, []market.Fact{told(writtenUSDC, 6), told(writtenWETH, 18)}, pairOf(ethPool, writtenWETH, writtenUSDC))
	w.ether(t, 60, 1000)
	return w
}

// told is what a new token's contract says of itself.
func told(token market.Address, decimals uint8) market.Fact {
	return market.TokenFact{Token: token, Name: "n", Symbol: "s", HasDecimals: true, Decimals: decimals, HasSupply: true, Supply: wei(1_000_000), FromCreation: true}
}

func decimals(n uint64, d int) (v market.Amount) {
	ten := market.Amount{}
	ten.SetUint64(10)
	v.SetUint64(n)
	for range d {
		v.Mul(&v, &ten)
	}
	return v
}

func wei(n uint64) market.Amount { return decimals(n, 18) }

func pairOf(pool, token0, token1 market.Address) market.Event {
	return market.PoolCreated{Protocol: market.UniswapV2, Factory: writtenFactory, Pool: pool, Token0: token0, Token1: token1}
}

// bought is a purchase of one unit of token0, for one of token1.
func bought(pool market.Address) market.Event {
	return market.Swap{
		Pool: pool, Sender: writtenRouter, Recipient: writtenRouter,
		Amount0: market.SignedAmount{Abs: wei(1), Neg: true}, Amount1: market.SignedAmount{Abs: decimals(1, 6)},
	}
}

// ether trades WETH to a price in USDC.
func (w *writtenChain) ether(t *testing.T, seconds int64, usd uint64) {
	t.Helper()
	w.Block(t, seconds, nil, market.Reserves{Pool: ethPool, Reserve0: wei(10_000), Reserve1: decimals(10_000*usd, 6)}, bought(ethPool))
}

// token trades a token against WETH or USDC to a price of so many thousandths of it.
func (w *writtenChain) token(t *testing.T, seconds int64, pool market.Address, quoteDecimals int, thousandths uint64) {
	t.Helper()
	w.Block(t, seconds, nil, market.Reserves{Pool: pool, Reserve0: wei(1_000_000), Reserve1: decimals(1000*thousandths, quoteDecimals)}, bought(pool))
}

// answer asks a server that has just been started on what is stored.
func (w *writtenChain) answer(t *testing.T) func(path string, into any) {
	t.Helper()
	words, err := site.Default()
	if err != nil {
		t.Fatal(err)
	}
	now := func() time.Time { return time.Unix(w.Last.Time+1, 0) }
	s, err := apiserver.New(apiserver.Options{
		Store: w.Store, Site: &words, Build: serve.Build{Commit: strings.Repeat("0", 40)}, BaseURL: "https://api.example",
		Catalog: catalog.NewLive(&catalog.Catalog{
			Chains: []catalog.Chain{{
				ID: "base", Label: "Base", Family: chainconfig.EVM, Native: chainconfig.Native{Symbol: "ETH", Wrapped: writtenWETH}, MinTradeUSD: 2,
				Exchanges: []catalog.Exchange{{Name: "uniswap-v2", Protocol: market.UniswapV2, Factory: writtenFactory}},
			}},
			Venues: []catalog.Venue{{ID: "pad", Label: "Pad", Ownership: catalog.Further, Filter: "pad", Chains: []catalog.VenueChain{{Chain: "base"}}}},
		}),
		Limiter: limit.NewMemory(now, 1000), Now: now, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Refresh(ctx)
	}()
	t.Cleanup(func() { cancel(); <-done })
	eventually(t, "the server isn't ready", func() bool { return s.Ready(t.Context()) == nil })
	return func(path string, into any) {
		t.Helper()
		rec := httptest.NewRecorder()
		s.Handler().ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		if rec.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", path, rec.Code, rec.Body)
		}
		if err := json.Unmarshal(rec.Body.Bytes(), into); err != nil {
			t.Fatal(err)
		}
	}
}

// launchIn launches the token into its pool with WETH.
func (w *writtenChain) launchIn(t *testing.T, seconds int64, transfers ...market.Event) {
	t.Helper()
	w.Block(t, seconds, []market.Fact{told(writtenToken, 18)}, append([]market.Event{
		market.Launched{Venue: "pad", Token: writtenToken, Creator: writtenCreator, Name: "Otter", Symbol: "OTR", Pool: tokenPool},
		pairOf(tokenPool, writtenToken, writtenWETH),
		market.Reserves{Pool: tokenPool, Reserve0: wei(1_000_000), Reserve1: wei(1000)},
		bought(tokenPool),
	}, transfers...)...)
}

func nearly(got *float64, want float64) bool {
	return got != nil && math.Abs(*got-want) < 1e-6*max(1, math.Abs(want))
}

// shown is a figure that may be null.
func shown(v *float64) any {
	if v == nil {
		return nil
	}
	return *v
}

// TestChangeOfADormantToken: the price of then is what the token cost in its quote, times what the quote was worth then. What ether did in the
// days since the token's last trade isn't the token's move of a day, and what it did within the day is.
func TestChangeOfADormantToken(t *testing.T) {
	t.Parallel()
	const minute, hour = 60, 3600
	w := newWritten(t)
	w.launchIn(t, 60) // 0.001 WETH, or one USD
	// Another one that costs a dollar in USDC, whatever ether does.
	w.Block(t, 60, []market.Fact{told(writtenOther, 18)}, pairOf(otherPool, writtenOther, writtenUSDC), market.Reserves{Pool: otherPool, Reserve0: wei(1_000_000), Reserve1: decimals(1_000_000, 6)}, bought(otherPool))
	w.ether(t, 30*hour, 2000)
	w.ether(t, 30*hour, 2000) // now
	check := func(what string, price, m5, h1, h6, h24 float64, other float64) {
		t.Helper()
		get := w.answer(t)
		for _, c := range []struct {
			mint          market.Address
			price, change float64
		}{{writtenToken, price, h24}, {writtenOther, 1, other}} {
			var info contract.TokenInfo
			get("/api/token/info/"+c.mint.String()+"?chain=base", &info)
			if !nearly(info.Price, c.price) || !nearly(info.Change24HPct, c.change) {
				t.Errorf("%s: %s costs %v and moved by %v %% in a day, want %v and %v", what, c.mint, shown(info.Price), shown(info.Change24HPct), c.price, c.change)
			}
		}
		var alone contract.LaunchedToken
		get("/api/launch/token/"+writtenToken.String(), &alone)
		if !nearly(alone.Change24HPct, h24) || !nearly(alone.Change1HPct, h1) {
			t.Errorf("%s: the card moved by %v %% in a day and %v %% in an hour, want %v and %v", what, shown(alone.Change24HPct), shown(alone.Change1HPct), h24, h1)
		}
		var found contract.DexSearch
		get("/api/dexscreener/search?q="+writtenToken.String(), &found)
		if len(found.Pairs) != 1 {
			t.Fatalf("%s: %d pairs", what, len(found.Pairs))
		}
		p := found.Pairs[0].PriceChange
		if !nearly(&p.M5, m5) || !nearly(&p.H1, h1) || !nearly(&p.H6, h6) || !nearly(&p.H24, h24) {
			t.Errorf("%s: the pair moved by %v, %v, %v and %v %%, want %v, %v, %v and %v", what, p.M5, p.H1, p.H6, p.H24, m5, h1, h6, h24)
		}
	}
	check("while ether stands still", 2, 0, 0, 0, 0, 0)
	w.ether(t, 40*minute, 2200)
	w.ether(t, 15*minute, 2200)
	check("after ether rose within the hour", 2.2, 0, 10, 10, 10, 0)
	w.token(t, 10*minute, tokenPool, 18, 2)
	w.ether(t, minute, 2200)
	check("after the token was traded again", 4.4, 100, 120, 120, 120, 0)
}

// TestPriceOfThenIsInTheQuote: the price of then is the price in the quote of the last trade before it, whatever ether did between that trade and
// then, even within the minute of the trade. A pair that is younger than a window is held against the price that it opened with.
func TestPriceOfThenIsInTheQuote(t *testing.T) {
	t.Parallel()
	const minute, hour = 60, 3600
	w := newWritten(t)
	w.launchIn(t, 48) // 0.001 WETH, or one USD; a minute begins with it
	w.token(t, 3*hour, tokenPool, 18, 2)
	w.ether(t, 30, 2000)
	w.token(t, 90*minute, tokenPool, 18, 3)
	w.Block(t, 12, []market.Fact{told(writtenOther, 18)}, pairOf(otherPool, writtenOther, writtenWETH),
		market.Reserves{Pool: otherPool, Reserve0: wei(1_000_000), Reserve1: wei(1000)})
	w.ether(t, 12, 2500)
	get := w.answer(t)
	moved := func(mint market.Address) [4]float64 {
		t.Helper()
		var found contract.DexSearch
		get("/api/dexscreener/search?q="+mint.String(), &found)
		if len(found.Pairs) != 1 {
			t.Fatalf("%d pairs", len(found.Pairs))
		}
		p := found.Pairs[0].PriceChange
		return [4]float64{p.M5, p.H1, p.H6, p.H24}
	}
	want := func(what string, got, want float64) {
		t.Helper()
		if !nearly(&got, want) {
			t.Errorf("%s moved by %v %%, want %v", what, got, want)
		}
	}
	// It is at 7.5 USD, and was at 4 before each of the shorter windows.
	pair := moved(writtenToken)
	want("in 5 minutes the pair", pair[0], 87.5)
	want("in an hour the pair", pair[1], 87.5)
	want("since its launch the pair", pair[2], 650)
	want("since its launch the pair", pair[3], 650)
	var alone contract.LaunchedToken
	get("/api/launch/token/"+writtenToken.String(), &alone)
	if !nearly(alone.Change1HPct, 87.5) || !nearly(alone.Change24HPct, 650) {
		t.Errorf("the card moved by %v %% in an hour and by %v %% since the launch, want 87.5 and 650", shown(alone.Change1HPct), shown(alone.Change24HPct))
	}
	for i, got := range moved(writtenOther) {
		want("in window "+strconv.Itoa(i)+" the untraded pair", got, 25)
	}
	var info contract.TokenInfo
	get("/api/token/info/"+writtenOther.String()+"?chain=base", &info)
	if !nearly(info.Change24HPct, 25) {
		t.Errorf("the untraded token moved by %v %%, want 25", shown(info.Change24HPct))
	}
}

// TestNewHoldersCount: whoever comes to hold a token counts in its traction, half after 30 minutes, and no pool does.
func TestNewHoldersCount(t *testing.T) {
	t.Parallel()
	w := newWritten(t)
	give := func(to byte) market.Event {
		return market.Transfer{Token: writtenToken, To: writtenAddress(to), Amount: wei(10)}
	}
	w.launchIn(t, 60, market.Transfer{Token: writtenToken, To: tokenPool, Amount: wei(1000)}, give(101), give(102), give(103), give(104))
	w.Block(t, 30*60, nil, give(105), give(106), give(101), bought(tokenPool)) // who holds some already is no new holder
	get := w.answer(t)
	var alone contract.LaunchedToken
	get("/api/launch/token/"+writtenToken.String(), &alone)
	if alone.Holders == nil || *alone.Holders != 6 {
		t.Fatalf("it has %v holders, want 6", alone.Holders)
	}
	if h := alone.Traction.Parts.NewHolders; !nearly(h, 4) {
		t.Errorf("four holders of half an hour ago and two of now count %v in its traction, want 4", shown(h))
	}
	w.Block(t, 12, nil, give(107), give(108), give(109), give(110))
	w.answer(t)("/api/launch/token/"+writtenToken.String(), &alone)
	if h, want := alone.Traction.Parts.NewHolders, 4*math.Exp2(-12.0/1800)+4; !nearly(h, want) {
		t.Errorf("with four more they count %v, want %v", shown(h), want)
	}
}
