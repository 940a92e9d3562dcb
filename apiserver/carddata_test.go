package apiserver_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/sharecard"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// asJSON is what a card sends to the renderer.
func asJSON(t *testing.T, c sharecard.Card) object {
	t.Helper()
	raw, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	var out object
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// draw asks for a card and gives what was sent to the renderer.
func draw[C sharecard.Card](t *testing.T, c *client, e *easel, target string) C {
	t.Helper()
	if res, body := c.do(t, http.MethodGet, target, nil); res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %s", target, res.StatusCode, body)
	}
	return last[C](t, e)
}

// commitBlock commits a block of the chain's time with changes.
func commitBlock(t *testing.T, st *store.Store, chain string, number uint64, change func(*market.Changes)) {
	t.Helper()
	l, err := st.Leases.Acquire(t.Context(), chain, "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	h := market.Header{Number: number, Hash: market.Hash{byte(number)}, Parent: market.Hash{byte(number - 1)}, Time: chainTime}
	c := &store.Commit{Last: h, Blocks: []market.Header{h}, Head: store.HeadStatus{Number: number, Time: h.Time, Final: 80, FinalTime: chainTime - 60}}
	change(&c.Changes)
	if err := st.Commit(t.Context(), l, c); err != nil {
		t.Fatal(err)
	}
}

// TestTokenCardDatesThePrice: a price moves with its quote, so that the time beside it is that of the newest block, whenever the token was
// traded last.
func TestTokenCardDatesThePrice(t *testing.T) {
	t.Parallel()
	st := seeded(t, "sqlite")
	const quietFor = 37 * 60
	quiet := good(1, "Quiet").with(func(c *coin) { c.state, c.venue, c.quietS = market.LaunchLive, "clanker", quietFor })
	mintCoins(t, st, "base", 101, quiet)
	c, e, _ := drawing(t, st)
	drawn := asJSON(t, draw[*sharecard.Token](t, c, e, "/api/pnl-card/token/"+quiet.mint()+".png?chain=base"))
	minute := func(at int64) float64 { return float64(at - at%60) }
	var times []float64
	for name, v := range drawn {
		if at, ok := v.(float64); ok && at > 1e9 && at < 1e10 {
			times = append(times, at)
			t.Logf("%s is %s", name, time.Unix(int64(at), 0).UTC().Format(time.TimeOnly))
		}
	}
	if !slices.Contains(times, minute(chainTime)) {
		t.Errorf("no time on the card is %v, the minute of the price; there are %v, the last trade was at %v", minute(chainTime), times, minute(chainTime-quietFor))
	}
}

// TestPoolsThatHoldNothing: a pool without liquidity is none of a token's pools, whoever made it and whatever price it has.
func TestPoolsThatHoldNothing(t *testing.T) {
	t.Parallel()
	st := seeded(t, "sqlite")
	moved := good(1, "Moved").with(func(c *coin) { c.state, c.progress, c.graduatedAgo, c.ago = market.LaunchGraduated, 100, 500, 5000 })
	fresh := good(2, "Fresh").with(func(c *coin) { c.liquidityUSD, c.volumeUSD, c.buyers, c.progress = 0, 0, 0, 0 })
	mintCoins(t, st, "base", 101, moved, fresh)
	commitBlock(t, st, "base", 102, func(ch *market.Changes) {
		mint := address(t, moved.mint())
		ch.Pools = append(
			ch.Pools,
			// A V3 pool that somebody opened at a price and never filled, and the curve that the token has left.
			set(address(t, fmt.Sprintf("0xcd%038x", 1)), market.Pool{
				ID: address(t, fmt.Sprintf("0xcd%038x", 1)), Protocol: market.UniswapV3, Factory: address(t, native), Token0: mint, Token1: address(t, weth),
				Base: mint, Quote: address(t, weth), BaseIs0: true, Price: 0.00002,
			}),
			set(market.CurveID(mint), market.Pool{
				ID: market.CurveID(mint), Protocol: market.BondingCurve, Factory: address(t, curves), Token0: mint, Token1: address(t, weth), Base: mint,
				Quote: address(t, weth), BaseIs0: true, Price: 0.00001, LastTradeAt: chainTime - 600, Day: market.Window{VolumeUSD: amount("5000000000000")},
			}),
		)
	})
	c, e, _ := drawing(t, st)
	info := get[object](t, c, "/api/token/info/"+moved.mint()+"?chain=base")
	if pairs, _ := info["liquidity_pairs"].(float64); pairs != 1 {
		t.Errorf("the token has %v pairs with liquidity, want 1", info["liquidity_pairs"])
	}
	if volume, _ := info["volume"].(float64); volume != 25_000 {
		t.Errorf("its volume is %v; what was traded in its curve today counts too, which makes 25000", info["volume"])
	}
	if drawn := draw[*sharecard.Token](t, c, e, "/api/pnl-card/token/"+moved.mint()+".png?chain=base"); drawn.Pools == nil || *drawn.Pools != 1 {
		t.Errorf("the card has other pools than the one that holds something: %v", asJSON(t, drawn)["pools"])
	}
	begun := get[object](t, c, "/api/token/info/"+fresh.mint()+"?chain=base")
	if liquidity, known := begun["liquidity"].(float64); !known || liquidity != 0 {
		t.Errorf("a curve that has raised nothing yet has a liquidity of %v, want 0", begun["liquidity"])
	}
	if boardCard(t, cards(t, c, "sort=new&limit=100"), 2).LiquidityUSD != 0 {
		t.Error("a curve that has raised nothing yet is not on the board")
	}
}

// TestChangeOfAYoungCurveIsSinceItsLaunch: both cards of a token on its curve say over what its change is.
func TestChangeOfAYoungCurveIsSinceItsLaunch(t *testing.T) {
	t.Parallel()
	st := seeded(t, "sqlite")
	young := good(1, "Young").with(func(c *coin) { c.ago = 3600 })
	elder := good(2, "Elder").with(func(c *coin) { c.ago = 3 * 86_400 })
	mintCoins(t, st, "base", 101, young, elder)
	c, e, _ := drawing(t, st)
	for _, of := range []struct {
		coin coin
		want bool
	}{{young, true}, {elder, false}} {
		target := "/api/pnl-card/%s/" + of.coin.mint() + ".png?chain=base"
		if drawn := draw[*sharecard.Token](t, c, e, fmt.Sprintf(target, "token")); drawn.SinceLaunch != of.want {
			t.Errorf("%s: the token's card says that its change is since the launch: %v", of.coin.name, drawn.SinceLaunch)
		} else if drawn.Pools != nil {
			t.Errorf("%s: a curve is told as %d pools", of.coin.name, *drawn.Pools)
		}
		if drawn := draw[*sharecard.Launch](t, c, e, fmt.Sprintf(target, "launch")); drawn.SinceLaunch != of.want {
			t.Errorf("%s: the launch's card says that its change is since the launch: %v", of.coin.name, drawn.SinceLaunch)
		}
	}
}

// TestShapeOfAYoungToken: a token younger than a day has a line of its own minutes, from its launch on, and the card says so.
func TestShapeOfAYoungToken(t *testing.T) {
	t.Parallel()
	st := seeded(t, "sqlite")
	young := good(1, "Young").with(func(c *coin) { c.state, c.venue, c.ago = market.LaunchLive, "clanker", 20*60 })
	older := good(2, "Older").with(func(c *coin) { c.state, c.venue, c.ago = market.LaunchLive, "clanker", 11*3600 })
	elder := good(3, "Elder").with(func(c *coin) { c.state, c.venue, c.ago = market.LaunchLive, "clanker", 3*86_400 })
	mintCoins(t, st, "base", 101, young, older, elder)
	commitBlock(t, st, "base", 102, func(ch *market.Changes) {
		for _, c := range []coin{young, older, elder} {
			ch.Candles = append(ch.Candles, minuteByMinute(t, &c)...)
		}
	})
	c, e, _ := drawing(t, st)
	for _, of := range []struct {
		coin        coin
		least       int // points
		first       float64
		sinceLaunch bool
	}{{young, 20, 1, true}, {older, 100, 1, true}, {elder, sharecard.MaxPoints, 1 + 2*24*60 - 4, false}} {
		for _, kind := range []string{"token", "launch"} {
			t.Run(kind+" "+of.coin.name, func(t *testing.T) {
				target := "/api/pnl-card/" + kind + "/" + of.coin.mint() + ".png?chain=base"
				var line []float64
				var sent object
				if kind == "token" {
					drawn := draw[*sharecard.Token](t, c, e, target)
					line, sent = drawn.Day, asJSON(t, drawn)
				} else {
					drawn := draw[*sharecard.Launch](t, c, e, target)
					line, sent = drawn.Day, asJSON(t, drawn)
				}
				if len(line) < of.least || len(line) > sharecard.MaxPoints {
					t.Fatalf("the line has %d points, want at least %d and at most %d", len(line), of.least, sharecard.MaxPoints)
				}
				// Each minute closes one USD above the one before it.
				if of.sinceLaunch && (line[0] > of.first+5 || line[len(line)-1] < float64(of.coin.ago/60)) {
					t.Errorf("the line goes from %v to %v, want from about %v to %v", line[0], line[len(line)-1], of.first, of.coin.ago/60)
				}
				for i := 1; i < len(line); i++ {
					if line[i] <= line[i-1] {
						t.Errorf("point %d is %v after %v: it shows no minute of its own", i, line[i], line[i-1])
						break
					}
				}
				if since, _ := sent["since_launch"].(bool); since != of.sinceLaunch {
					t.Errorf("the card says that its line is since the launch: %v, want %v", since, of.sinceLaunch)
				}
			})
		}
	}
}

// minuteByMinute are the candles of a coin that was traded in every minute since its launch, each time for one USD more.
func minuteByMinute(t *testing.T, c *coin) (out []market.Change[market.CandleKey, market.Candle]) {
	t.Helper()
	pool := address(t, fmt.Sprintf("0xcb%038x", c.n))
	rows := map[market.CandleKey]*market.Candle{}
	price := 0.0
	for at := chainTime - c.ago; at <= chainTime; at += 60 {
		price++
		for _, interval := range market.StoredIntervals {
			k := market.CandleKey{Pool: pool, Interval: interval, Open: at - at%int64(interval)}
			if rows[k] == nil {
				rows[k] = &market.Candle{CandleKey: k}
			}
			rows[k].USD.Add(price)
			rows[k].Native.Add(price / 2000)
			rows[k].Buys++
		}
	}
	for k, row := range rows {
		out = append(out, set(k, *row))
	}
	return out
}
