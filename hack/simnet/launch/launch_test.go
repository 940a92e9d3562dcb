package launch

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/simnettest"
	"github.com/boardwalkhq/boardwalk/hack/simnet/venues"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
)

// startVenues is a chain of a test's own with launch venues.
func startVenues(t *testing.T, chainID, seed uint64, protocols ...venues.Protocol) *world.World {
	t.Helper()
	w, err := Deploy(t.Context(), simnettest.Node(t, chainID), world.DeployOptions{Seed: seed}, protocols...)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// launchOn makes a launch by one of the wallets.
func launchOn(t *testing.T, w *world.World, venue venues.Venue, creator int) *Launch {
	t.Helper()
	l, err := Start(t.Context(), w, venue.ID, Order{
		Creator: w.Wallets[creator], Name: "Paper Lantern", Symbol: "LAMP", Metadata: "data:application/json,{}", Image: "data:image/png;base64,",
	})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// lifeTopics are the topics of the events that a token's launch, trades, completion and graduation log, as the launchpads'
// contracts have them; those without a hash stand in docs/venues.md by their signatures.
var lifeTopics = map[venues.Protocol][]string{
	venues.BoardwalkCurve: {
		anvil.ToHex(anvil.Keccak([]byte("TokenLaunched(address,address,string,string,string,address,uint256,uint256,uint256,uint256,uint16)"))),
		anvil.ToHex(anvil.Keccak([]byte("CurveTrade(address,address,bool,uint256,uint256,uint256,uint256,uint256,uint256,uint256)"))),
		anvil.ToHex(anvil.Keccak([]byte("CurveCompleted(address,uint256)"))),
		anvil.ToHex(anvil.Keccak([]byte("TokenGraduated(address,bytes32,uint256,uint256)"))),
	},
	venues.FourMemeV1: {
		"0xc60523754e4c8d044ae75f841c3a7f27fefeed24c086155510c2ae0edf538fa0",
		"0x623b3804fa71d67900d064613da8f94b9617215ee90799290593e1745087ad18",
		"0x3aa3f154f6bf5e3490d1a7205aa8d1412e76d26f9d186830de86fb9309224040",
		"0xc18aa71171b358b706fe3dd345299685ba21a5316c66ffa9e319268b033c44b0",
		anvil.ToHex(anvil.Keccak([]byte("TradeStop(address)"))),
	},
	venues.FourMemeV2: {
		"0x396d5e902b675b032348d3d2e9517ee8f0c4a926603fbc075d3d282ff00cad20",
		"0x7db52723a3b2cdd6164364b3b766e65e540d7be48ffa89582956d8eaebe62942",
		"0x0a5575b3648bae2210cee56bf33254cc1ddfbc7bf637c0af2ac18b14fb1bae19",
		"0xc18aa71171b358b706fe3dd345299685ba21a5316c66ffa9e319268b033c44b0",
		anvil.ToHex(anvil.Keccak([]byte("TradeStop(address)"))),
	},
	venues.Flap: {
		"0x504e7f360b2e5fe33cbaaae4c593bc55305328341bf79009e43e0e3b7f699603",
		"0xa800a2038683844fac66747f771bfdfae862eb28b16bcfa387afa9fbacce8ff7",
		"0x03a4693e592f5e75dc7c136acb39b146d2b4966c0e509c34f362dee02b3b861a",
		"0x6e4f47630b8745b8cacbd44f42a8a33e7eea7cc08ef22fc7630f4f385784ff7d",
		"0x3ceb902d3c555c21c3415b6aa839104b18e4825b2f8324011ff979089a507a8c",
		anvil.ToHex(anvil.Keccak([]byte("TokenCurveSetV2(address,uint256,uint256,uint256)"))),
		anvil.ToHex(anvil.Keccak([]byte("TokenDexSupplyThreshSet(address,uint256)"))),
	},
	venues.PonsV2: {
		"0x8d4aad4953d0ca700d468f3753aa14432d1b35b43ec6409f051fb6aa43a89607",
		"0xec36bf571f136799e8dc0b0b8bea4b04d8bd3d43de838aab0d5fc21d4cbfc455",
		"0x8113d738abdcb6b38357e9d53a54a7157861a09031b453651f0fe7fe151f59df",
		"0x0a44ef75df69c534f43cd6c1aa3ef8983065fe5fe79ef9e79f6494e6f258c259",
	},
	venues.NadFun: {
		"0xd37e3f4f651fe74251701614dbeac478f5a0d29068e87bbe44e5026d166abca9",
		"0x00a7ba871905cb955432583640b5c9fc6bdd27d36884ab2b5420839224638862",
		"0x0eb25df0e2137de8ce042eeaf39080d25f0c8d451372c99db69a4c0a298d0fa1",
		"0xa1cae252e597e19f398a442722a17a17e62d17f9d4f3656786e18aabcd428908",
		anvil.ToHex(anvil.Keccak([]byte("CurveSync(address,uint256,uint256,uint256,uint256)"))),
		anvil.ToHex(anvil.Keccak([]byte("CurveTokenLocked(address)"))),
	},
	venues.ClankerV3: {"0x6b04d68ca5c822b9c981d731c83ecb1356b96c8596c7659d397d234856a4537b"},
	venues.ClankerV4: {"0x9299d1d1a88d8e1abdc591ae7a167a6bc63a8f17d695804e9091ee33aa89fb67"},
}

// Each curve does what the model says, to the unit, from the launch until it is full; its logs are the launchpad's and say the
// same; and then its funds are a pool's.
func TestCurves(t *testing.T) {
	t.Parallel()
	w := startVenues(t, 56, 21, venues.All...)
	for _, venue := range w.Venues {
		if !venue.HasCurve() {
			continue
		}
		seen := make(map[string]bool)
		for round := range 2 { // Pons' second token has a tax, and Flap's tells its quote
			l := launchOn(t, w, venue, round)
			c := &curveCheck{w, l, rand.New(rand.NewPCG(uint64(round), 23)), l.Shape.Fresh(), make(map[string]*big.Int), nil, seen}
			c.note(l.Receipt)
			c.launchLogs(t)
			c.trade(t)
			c.graduate(t)
		}
		for _, topic := range lifeTopics[venue.Protocol] {
			if !seen[topic] {
				t.Errorf("%s: no event %s", venue.ID, topic)
			}
		}
	}
}

// curveCheck compares a curve with the model.
type curveCheck struct {
	world  *world.World
	launch *Launch
	rng    *rand.Rand
	want   venues.CurveState
	held   map[string]*big.Int // by wallet
	buyers []string
	seen   map[string]bool // topics of the venue's logs
}

func (c *curveCheck) note(receipt anvil.Receipt) {
	for _, log := range receipt.Logs {
		if log.Address == c.launch.Curve || log.Address == c.launch.Venue.Contracts[0] {
			c.seen[log.Topics[0]] = true
		}
	}
}

// launchLogs are right where a launch tells what its curve is.
func (c *curveCheck) launchLogs(t *testing.T) {
	t.Helper()
	l, s := c.launch, c.launch.Shape
	token, creator := new(big.Int).SetBytes(anvil.FromHex(l.Token)), new(big.Int).SetBytes(anvil.FromHex(l.Creator))
	var topics, words []*big.Int
	switch l.Venue.Protocol {
	case venues.BoardwalkCurve: // the three texts take 3 + 2·3 words
		topics = []*big.Int{token, creator}
		words = []*big.Int{nil, nil, nil, new(big.Int), s.VirtualBase, s.VirtualQuote, s.SaleBase, s.Target(), big.NewInt(venues.FeeBps)}
		words = append(words, make([]*big.Int, 6)...)
	case venues.Flap:
		k := new(big.Int).Div(s.Product(), world.Units(1, 18))
		if !logged(l.Receipt, l.Curve, nil, []*big.Int{token, s.SaleBase}) {
			t.Errorf("%s: the threshold isn't %s", l.Venue.ID, s.SaleBase)
		}
		words = []*big.Int{token, s.VirtualQuote, new(big.Int).Sub(s.VirtualBase, world.Units(SupplyWhole, 18)), k}
	case venues.PonsV2:
		topics = []*big.Int{token, new(big.Int).SetBytes(anvil.FromHex(l.Curve)), creator}
		words = []*big.Int{new(big.Int), big.NewInt((s.FeeBps - venues.FeeBps) / ponsTaxBpsOfConfig), s.Target()}
	case venues.NadFun:
		topics = []*big.Int{creator, token, nil}
		words = append([]*big.Int{nil, nil, nil, s.VirtualQuote, s.VirtualBase, s.Last()}, make([]*big.Int, 6)...)
	case venues.FourMemeV1, venues.FourMemeV2, venues.ClankerV3, venues.ClankerV4: // tell nothing of it
		return
	}
	if !logged(l.Receipt, l.Venue.Contracts[0], topics, words) {
		t.Errorf("%s: no log with %v and %v in\n%+v", l.Venue.ID, topics, words, l.Receipt.Logs)
	}
}

// trade buys and sells until the curve is full.
func (c *curveCheck) trade(t *testing.T) {
	t.Helper()
	l := c.launch
	for trade := 0; !c.want.Completed; trade++ {
		sells := trade%3 == 2
		trader, amount := c.world.Wallets[10+c.rng.IntN(30)], world.Portion(l.Shape.Target(), 0.15*c.rng.Float64())
		if trade < 2 {
			amount = big.NewInt(1e9 + 7) // next to nothing
		}
		model, act := l.Shape.Buy, Buy
		if sells {
			trader = c.buyers[c.rng.IntN(len(c.buyers))]
			amount, model, act = world.Portion(c.held[trader], c.rng.Float64()), l.Shape.Sell, Sell
		}
		fill, after, err := model(c.want, amount)
		if err != nil {
			continue // he has nothing left
		}
		receipt, err := act(t.Context(), c.world, l, trader, amount)
		if err != nil {
			t.Fatalf("%s: trade %d: %v", l.Venue.ID, trade, err)
		}
		c.want = after
		c.note(receipt)
		c.keep(trader, sells, fill)
		if product := new(big.Int).Mul(after.VirtualBase, after.VirtualQuote); product.Cmp(l.Shape.Product()) < 0 {
			t.Errorf("%s: the product fell below the first one", l.Venue.ID)
		}
		if topics, words := c.tradeLog(trader, sells, fill); !logged(receipt, l.Curve, topics, words) {
			t.Fatalf("%s: trade %d, sale %t: no log with %v and %v in\n%+v", l.Venue.ID, trade, sells, topics, words, receipt.Logs)
		}
		got, err := Curve(t.Context(), c.world, l)
		if err != nil {
			t.Fatal(err)
		}
		got.Pool = ""
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Fatalf("%s: trade %d: curve %v\nwant %v", l.Venue.ID, trade, got, c.want)
		}
	}
	if c.want.RealQuote.Cmp(l.Venue.Target()) != 0 {
		t.Errorf("%s: raised %s of %s", l.Venue.ID, c.want.RealQuote, l.Venue.Target())
	}
}

func (c *curveCheck) keep(trader string, sells bool, fill venues.Fill) {
	if c.held[trader] == nil {
		c.held[trader], c.buyers = new(big.Int), append(c.buyers, trader)
	}
	if sells {
		c.held[trader].Sub(c.held[trader], fill.Base)
		return
	}
	c.held[trader].Add(c.held[trader], fill.Base)
}

// tradeLog is what a venue logs of a trade: the indexed values after the first topic, and the words of the data. A nil
// one may be anything.
func (c *curveCheck) tradeLog(trader string, sells bool, f venues.Fill) (topics, words []*big.Int) {
	token, who := new(big.Int).SetBytes(anvil.FromHex(c.launch.Token)), new(big.Int).SetBytes(anvil.FromHex(trader))
	s := c.want
	sale, amount := new(big.Int), f.Paid()
	if sells {
		sale, amount = big.NewInt(1), f.Got()
	}
	switch c.launch.Venue.Protocol {
	case venues.BoardwalkCurve:
		return []*big.Int{token, who}, []*big.Int{sale, f.Base, amount, f.Fee, s.VirtualBase, s.VirtualQuote, s.RealBase, s.RealQuote}
	case venues.FourMemeV1:
		return nil, []*big.Int{token, who, f.Base, f.Net}
	case venues.FourMemeV2:
		return nil, []*big.Int{token, who, s.Price(), f.Base, f.Net, f.Fee, s.RealBase, s.RealQuote}
	case venues.Flap:
		if sells {
			amount = f.Net
		}
		return nil, []*big.Int{nil, token, who, f.Base, amount, f.Fee, s.Price()}
	case venues.PonsV2:
		tax := bpsOf(amount, c.launch.Shape.FeeBps-venues.FeeBps)
		if sells {
			tax = bpsOf(f.Net, c.launch.Shape.FeeBps-venues.FeeBps)
		}
		first, second := amount, f.Base
		if sells {
			first, second = f.Base, amount
		}
		if s.Completed {
			tax.Div(new(big.Int).Mul(amount, big.NewInt(c.launch.Shape.FeeBps-venues.FeeBps)), big.NewInt(bps))
		}
		return []*big.Int{who, who}, []*big.Int{first, second, new(big.Int).Sub(f.Fee, tax), tax}
	case venues.NadFun:
		if sells {
			return []*big.Int{who, token}, []*big.Int{f.Base, f.Net}
		}
		return []*big.Int{who, token}, []*big.Int{f.Net, f.Base}
	case venues.ClankerV3, venues.ClankerV4:
	}
	panic("no curve")
}

// logged tells whether a contract logged just these values.
func logged(receipt anvil.Receipt, address string, topics, words []*big.Int) bool {
	return slices.ContainsFunc(receipt.Logs, func(log anvil.Log) bool {
		data := anvil.FromHex(log.Data)
		if log.Address != address || len(log.Topics) != 1+len(topics) || len(data) != 32*len(words) {
			return false
		}
		for i, topic := range topics {
			if topic != nil && topic.Cmp(anvil.WordAt(anvil.FromHex(log.Topics[i+1]), 0)) != 0 {
				return false
			}
		}
		for i, word := range words {
			if word != nil && word.Cmp(anvil.WordAt(data, i)) != 0 {
				return false
			}
		}
		return true
	})
}

// graduate sees the full curve's funds become a pool in which people trade on.
func (c *curveCheck) graduate(t *testing.T) {
	t.Helper()
	l := c.launch
	wallet := c.world.Wallets[5]
	if _, err := Buy(t.Context(), c.world, &Launch{Venue: l.Venue, Token: l.Token, Curve: l.Curve}, wallet, world.Units(1, 18)); err == nil {
		t.Errorf("%s: a full curve sells", l.Venue.ID)
	}
	if l.Venue.Waits() {
		if l.Pool.Key() != "" {
			t.Fatalf("%s: graduated by itself to %+v", l.Venue.ID, l.Pool)
		}
		receipt, err := Graduate(t.Context(), c.world, l, wallet)
		if err != nil {
			t.Fatalf("%s: %v", l.Venue.ID, err)
		}
		c.note(receipt)
		if _, err := Graduate(t.Context(), c.world, l, wallet); err == nil {
			t.Errorf("%s: graduated twice", l.Venue.ID)
		}
	}
	if l.Pool.Key() == "" {
		t.Fatalf("%s: graduated to nowhere", l.Venue.ID)
	}
	kept, raised := world.Float(new(big.Int).Sub(world.Units(SupplyWhole, 18), l.Shape.SaleBase)), world.Float(l.Venue.Target())
	state := simnettest.PoolNow(t, c.world, l.Pool)
	base, quote := state.ReserveOf(l.Pool, l.Token), state.ReserveOf(l.Pool, l.Pool.Other(l.Token))
	if !near(base, kept) || !near(quote, raised) {
		t.Errorf("%s: pool has %g and %g, not %g and %g", l.Venue.ID, base, quote, kept, raised)
	}
	if end := world.Float(c.want.VirtualQuote) / world.Float(c.want.VirtualBase); quote/base < 0.999*end || quote/base > 1.001*end {
		t.Errorf("%s: price goes from %g to %g", l.Venue.ID, end, quote/base)
	}
	if _, err := Buy(t.Context(), c.world, l, wallet, world.Units(0.01, 18)); err != nil {
		t.Errorf("%s: %v", l.Venue.ID, err)
	}
	if _, err := Sell(t.Context(), c.world, l, c.buyers[0], c.held[c.buyers[0]]); err != nil {
		t.Errorf("%s: %v", l.Venue.ID, err)
	}
}

const bps = 10_000

// bpsOf is a share of an amount in basis points, rounded up.
func bpsOf(amount *big.Int, share int64) *big.Int {
	scaled := new(big.Int).Mul(amount, big.NewInt(share))
	return scaled.Add(scaled, big.NewInt(bps-1)).Div(scaled, big.NewInt(bps))
}
