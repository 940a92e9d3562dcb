package launch

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/simnettest"
	"github.com/boardwalkhq/boardwalk/hack/simnet/venues"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
)

// padTrades are the calls by which people buy and sell on the launchpads themselves, for whoever makes them. least is what they
// want at the least; four.meme's sale doesn't ask.
var padTrades = map[venues.Protocol]struct {
	buy, sell func(l *Launch, wallet string, amount, least *big.Int) []byte
	// refused are sales that the launchpad refuses though the seller has the tokens.
	refused func(l *Launch, wallet string, amount *big.Int) []byte
}{
	venues.FourMemeV2: {
		func(l *Launch, _ string, amount, least *big.Int) []byte {
			return anvil.EncodeCall("buyTokenAMAP(address,uint256,uint256)", l.Token, amount, least)
		},
		func(l *Launch, _ string, amount, _ *big.Int) []byte {
			return anvil.EncodeCall("sellToken(address,uint256)", l.Token, amount)
		},
		func(l *Launch, _ string, amount *big.Int) []byte { // finer than it takes
			return anvil.EncodeCall("sellToken(address,uint256)", l.Token, new(big.Int).Sub(amount, big.NewInt(1)))
		},
	},
	venues.Flap: {
		func(l *Launch, _ string, amount, least *big.Int) []byte {
			return anvil.EncodeCall(flapSwap, anvil.Tuple{anvil.ZeroAddress, l.Token, amount, least, []byte{}})
		},
		func(l *Launch, _ string, amount, least *big.Int) []byte {
			return anvil.EncodeCall(flapSwap, anvil.Tuple{l.Token, anvil.ZeroAddress, amount, least, []byte{}})
		},
		func(l *Launch, _ string, amount *big.Int) []byte { // for another token
			return anvil.EncodeCall(flapSwap, anvil.Tuple{l.Token, l.Token, amount, 0, []byte{}})
		},
	},
	venues.PonsV2: {
		func(_ *Launch, wallet string, amount, least *big.Int) []byte {
			return anvil.EncodeCall("buy(uint256,uint256,address)", amount, least, wallet)
		},
		func(_ *Launch, wallet string, amount, least *big.Int) []byte {
			return anvil.EncodeCall("sell(uint256,uint256,address)", amount, least, wallet)
		},
		func(_ *Launch, wallet string, amount *big.Int) []byte { // for more than there is
			return anvil.EncodeCall("sell(uint256,uint256,address)", amount, world.Units(SupplyWhole, 18), wallet)
		},
	},
}

const flapSwap = "swapExactInput((address,address,uint256,uint256,bytes))"

// The launchpads' own functions trade as those that are the same everywhere: for the same amounts, with the same logs.
func TestPadTrades(t *testing.T) {
	t.Parallel()
	w := startVenues(t, 56, 24, venues.FourMemeV2, venues.Flap, venues.PonsV2)
	for i, venue := range w.Venues {
		for round := range 2 { // Pons' second token has a tax
			l := launchOn(t, w, venue, round)
			c := &curveCheck{w, l, rand.New(rand.NewPCG(uint64(round), 24)), l.Shape.Fresh(), make(map[string]*big.Int), nil, make(map[string]bool)}
			wallet := w.Wallets[20+2*i+round]
			for range 3 {
				c.padBuy(t, wallet, world.Units(0.7, 18))
				c.padSell(t, wallet)
			}
			// The last purchase is cut, and what is left of the coins comes back.
			c.padBuy(t, wallet, new(big.Int).Mul(l.Shape.Target(), big.NewInt(2)))
			if !c.want.Completed {
				t.Errorf("%s: not full", venue.ID)
			}
		}
	}
}

// padBuy buys by the launchpad's function, and holds tokens, coins, log and curve against the model.
func (c *curveCheck) padBuy(t *testing.T, wallet string, value *big.Int) {
	t.Helper()
	fill, after, err := c.launch.Shape.Buy(c.want, value)
	if err != nil {
		t.Fatal(err)
	}
	calls := padTrades[c.launch.Venue.Protocol]
	call := anvil.Transaction{From: wallet, To: c.launch.Curve, Value: value, Gas: world.CreationGas}
	more := new(big.Int).Add(fill.Base, big.NewInt(1))
	if call.Data = calls.buy(c.launch, wallet, value, more); c.world.Node.Settle(t.Context(), []anvil.Transaction{call}) == nil {
		t.Fatalf("%s: fewer tokens than were asked for", c.launch.Venue.ID)
	}
	if call.Data = calls.buy(c.launch, wallet, new(big.Int).Add(value, big.NewInt(1)), fill.Base); c.world.Node.Settle(t.Context(), []anvil.Transaction{call}) == nil {
		t.Fatalf("%s: bought for more than was sent", c.launch.Venue.ID)
	}
	call.Data = calls.buy(c.launch, wallet, value, fill.Base)
	c.padTrade(t, wallet, []anvil.Transaction{call}, false, fill, after)
}

// padSell sells half of what the wallet has by the launchpad's function, in thousand millions of units.
func (c *curveCheck) padSell(t *testing.T, wallet string) {
	t.Helper()
	amount := new(big.Int).Div(simnettest.Read(t, c.world, c.launch.Token, "balanceOf(address)", wallet), big.NewInt(2e9))
	amount.Mul(amount, big.NewInt(1e9))
	fill, after, err := c.launch.Shape.Sell(c.want, amount)
	if err != nil {
		t.Fatal(err)
	}
	calls := padTrades[c.launch.Venue.Protocol]
	sale := anvil.Transaction{From: wallet, To: c.launch.Curve, Gas: world.TradeGas, Data: calls.refused(c.launch, wallet, amount)}
	approved := world.Approval(c.launch.Token, wallet, c.launch.Curve, amount)
	if c.world.Node.Settle(t.Context(), []anvil.Transaction{approved, sale}) == nil {
		t.Fatalf("%s: sold what it doesn't take", c.launch.Venue.ID)
	}
	sale.Data = calls.sell(c.launch, wallet, amount, fill.Got())
	c.padTrade(t, wallet, []anvil.Transaction{approved, sale}, true, fill, after)
}

// padTrade mines a trade, the last of the transactions, and holds it against the model.
func (c *curveCheck) padTrade(t *testing.T, wallet string, transactions []anvil.Transaction, sells bool, fill venues.Fill, after venues.CurveState) {
	t.Helper()
	l := c.launch
	tokens, coins := simnettest.Read(t, c.world, l.Token, "balanceOf(address)", wallet), simnettest.CoinsOf(t, c.world, wallet)
	receipts, err := c.world.Node.Settled(t.Context(), transactions)
	if err != nil {
		t.Fatalf("%s: %v", l.Venue.ID, err)
	}
	c.want = after
	tokens.Sub(simnettest.Read(t, c.world, l.Token, "balanceOf(address)", wallet), tokens)
	coins.Sub(simnettest.CoinsOf(t, c.world, wallet), coins)
	base, quote := fill.Base, new(big.Int).Neg(fill.Paid())
	if sells {
		base, quote = new(big.Int).Neg(fill.Base), fill.Got()
	}
	if tokens.Cmp(base) != 0 || coins.Cmp(quote) != 0 {
		t.Errorf("%s: sale %t: %s tokens for %s coins, want %s for %s", l.Venue.ID, sells, tokens, coins, base, quote)
	}
	if topics, words := c.tradeLog(wallet, sells, fill); !logged(receipts[len(receipts)-1], l.Curve, topics, words) {
		t.Errorf("%s: sale %t: no log with %v and %v in\n%+v", l.Venue.ID, sells, topics, words, receipts[len(receipts)-1].Logs)
	}
	got, err := Curve(t.Context(), c.world, l)
	if err != nil {
		t.Fatal(err)
	}
	if got.VirtualBase.Cmp(after.VirtualBase) != 0 || got.VirtualQuote.Cmp(after.VirtualQuote) != 0 || got.Completed != after.Completed {
		t.Errorf("%s: sale %t: curve %v, want %v", l.Venue.ID, sells, got, after)
	}
}

// A stand-in's record of a token is that of TokenManager2: thirteen words, all zeros of a token that it doesn't have.
func TestFourMemeRecord(t *testing.T) {
	t.Parallel()
	w := startVenues(t, 56, 26, venues.FourMemeV2)
	l := launchOn(t, w, w.Venues[0], 0)
	if _, err := Buy(t.Context(), w, l, w.Wallets[10], world.Units(1, 18)); err != nil {
		t.Fatal(err)
	}
	curve, err := Curve(t.Context(), w, l)
	if err != nil {
		t.Fatal(err)
	}
	token, none := new(big.Int).SetBytes(anvil.FromHex(l.Token)), new(big.Int)
	for asked, want := range map[string][]*big.Int{
		l.Token: {
			token, none, none, world.Units(SupplyWhole, 18), l.Shape.SaleBase, l.Shape.Target(), none, curve.RealBase, curve.RealQuote,
			curve.Price(), none, none, none,
		},
		w.Wrapped: slices.Repeat([]*big.Int{none}, 13),
	} {
		var answer anvil.HexBytes
		request := []anvil.Request{anvil.View(l.Curve, &answer, "_tokenInfos(address)", asked)}
		if err := w.Node.Batch(t.Context(), request); err != nil || request[0].Err != nil {
			t.Fatal(err, request[0].Err)
		}
		if len(answer) != 32*len(want) {
			t.Fatalf("%d bytes, want %d words", len(answer), len(want))
		}
		for i, word := range want {
			if got := anvil.WordAt(answer, i); got.Cmp(word) != 0 {
				t.Errorf("word %d of %s is %s, want %s", i, asked, got, word)
			}
		}
	}
}
