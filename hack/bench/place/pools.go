package place

import (
	"math"
	"math/big"
	"math/bits"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// kind is how a pool works.
type kind uint8

const (
	// curve is a bonding curve of virtual reserves, which ends in a pair.
	curve kind = iota
	// ranged is a pool of one range from the first price up, which begins with all tokens and no coins.
	ranged
	// pair is a pool of two reserves. Its fee stays in them.
	pair
)

const million = 1_000_000

// pool is where a token is traded. All kinds are constant products of the reserves that make the price, of which those of a curve and of a range
// are more than what is in them.
type pool struct {
	kind  kind
	id    market.Address
	token *token
	// base and quote make the price. Of a curve and a range emptyBase and emptyQuote of them are virtual.
	base, quote, emptyBase, emptyQuote uint64
	// feePPM is the fee in millionths of what is paid in; creatorShare is which part of it the token's creator gets.
	feePPM       uint64
	creatorShare float64
	// taken is what the fees were so far, in gwei. Those of a pair stay in it, and aren't counted.
	taken uint64
	// owner gets the reserves of a pair back; nil where nobody can take them out.
	owner *account
}

// Terms of the venues; docs/place.md names their sources.
const (
	// The curve sells 793.1 of 1,073 M tokens, from a virtual 1.7 coins on; it is full when it has raised 4.8 coins, or 12,000 USD.
	curveBase, curveSale, curveQuote = 1_073_000_000 * million, 793_100_000 * million, 1_700_000_000
	// The pool of the others begins with all tokens at a value of 10 coins.
	rangedQuote = 10 * gwei
	// venueFeePPM is the fee of the venues, pairFeePPM that of a pair, in millionths.
	venueFeePPM, pairFeePPM = 10_000, 3000
)

// venue is where tokens are launched. The creator gets a share of the fee of each trade.
type venue struct {
	id, name     string
	kind         kind
	creatorShare float64
}

// venues are those of the chain. Those who launch honestly choose between the first two.
var venues = []venue{
	{"curve", "a curve, 30 % of its fee for the creator", curve, 0.3},
	{"pool-half", "a pool, half of its fee for the creator", ranged, 0.5},
	{"pool-all", "a pool, all of its fee for the creator", ranged, 1},
}

// site is the place of a venue in venues.
type site uint8

func (s site) MarshalText() ([]byte, error) { return []byte(venues[s].id), nil }

func (s *site) UnmarshalText(text []byte) (err error) {
	ids := make([]string, len(venues))
	for i := range venues {
		ids[i] = venues[i].id
	}
	*s, err = named[site]("venue", ids, text)
	return err
}

// token is a launched token.
type token struct {
	name, symbol string
	address      market.Address
	creator      *account
	launchedAt   int64
	// main is where it is launched, and where it is traded once its curve is full. own is a pair that an attacker made.
	main, own *pool
	// curve is the curve that it began on; nil where it began in a pool.
	curve    *pool
	balances map[*account]uint64
}

// creatorFees is what the creator gets of the fees, in gwei: those of the curve, if there was one, and of where it is traded now.
func (t *token) creatorFees() uint64 {
	sum := float64(t.main.taken) * t.main.creatorShare
	if t.curve != nil && t.curve != t.main {
		sum += float64(t.curve.taken) * t.curve.creatorShare
	}
	return uint64(sum)
}

// launch makes a token on a venue.
func (c *chain) launch(t *token, at *venue, address, poolID market.Address) {
	t.address, t.launchedAt, t.balances = address, c.now, make(map[*account]uint64)
	c.filled.Facts = append(c.filled.Facts, tokenFact(address, t.name, t.symbol, tokenDecimals))
	if at.kind == curve {
		t.curve = &pool{
			kind: curve, id: curveContract, token: t, base: curveBase, quote: curveQuote, emptyBase: curveBase - curveSale, emptyQuote: curveQuote,
			feePPM: venueFeePPM, creatorShare: at.creatorShare,
		}
		t.main = t.curve
		c.send(&transaction{signer: t.creator, events: []market.Event{
			market.Transfer{Token: address, To: curveContract, Amount: raw(supply)},
			market.Launched{
				Venue: curveVenue, Token: address, Creator: t.creator.address, Name: t.name, Symbol: t.symbol, Curve: curveContract, Quote: market.Native,
				Rules:    market.CurveRules{Pricing: market.PriceReserves, Basis: market.TokensSold},
				SaleBase: raw(curveSale), TargetQuote: wei(t.curve.full()), FeeBps: venueFeePPM / 100,
				Reserves: market.CurveReserves{VirtualBase: raw(curveBase), VirtualQuote: wei(curveQuote)}, Tells: market.TellsVirtual,
			},
		}})
		return
	}
	p := &pool{
		kind: ranged, id: poolID, token: t, base: supply, quote: rangedQuote, emptyQuote: rangedQuote, feePPM: venueFeePPM, creatorShare: at.creatorShare,
	}
	t.main = p
	sqrt, tick := p.sqrtPrice()
	c.send(&transaction{signer: t.creator, events: []market.Event{
		market.Transfer{Token: address, To: launchpad, Amount: raw(supply)},
		market.PoolCreated{Protocol: market.UniswapV3, Factory: exchangeV3, Pool: poolID, Token0: address, Token1: coin, FeePips: uint32(p.feePPM), TickSpacing: 1},
		market.PoolPriced{Pool: poolID, SqrtPriceX96: sqrt, Tick: tick},
		market.Transfer{Token: address, From: launchpad, To: poolID, Amount: raw(supply)},
		market.RangeLiquidity{Pool: poolID, TickLower: tick, TickUpper: maxTick, Delta: market.SignedAmount{Abs: p.liquidity()}},
		market.Launched{Venue: poolVenue, Token: address, Creator: t.creator.address, Name: t.name, Symbol: t.symbol, Pool: poolID},
	}})
}

// maxTick is the highest of Uniswap V3.
const maxTick = 887_272

// full is what a curve has raised when it is sold out, in gwei.
func (p *pool) full() uint64 { return share(p.emptyQuote, curveBase, p.emptyBase) - p.emptyQuote }

// share is a b / c, rounded down.
func share(a, b, c uint64) uint64 {
	high, low := bits.Mul64(a, b)
	out, _ := bits.Div64(high, low, c)
	return out
}

// left is how many tokens a pool can give away, in raw units.
func (p *pool) left() uint64 { return p.base - p.emptyBase }

// priceUSD is that of a whole token.
func (p *pool) priceUSD() float64 {
	return dollars(p.quote) / (float64(p.base) / million)
}

// liquidity is that of a range: the square root of the product of its reserves, in the smallest units.
func (p *pool) liquidity() market.Amount {
	product := new(big.Int).Mul(new(big.Int).SetUint64(p.base), new(big.Int).Mul(new(big.Int).SetUint64(p.quote), big.NewInt(gwei)))
	var out market.Amount
	out.SetFromBig(product.Sqrt(product))
	return out
}

// sqrtPrice is the price as Uniswap V3 has it.
func (p *pool) sqrtPrice() (sqrt market.Amount, tick int32) {
	ratio := float64(p.quote) * gwei / float64(p.base)
	root, _ := new(big.Float).Mul(big.NewFloat(math.Sqrt(ratio)), new(big.Float).SetMantExp(big.NewFloat(1), 96)).Int(nil)
	sqrt.SetFromBig(root)
	return sqrt, int32(math.Floor(math.Log(ratio) / math.Log(1.0001)))
}

// buy has an account pay in a pool, and gives what was paid, which is less where the curve is full before, and what of it was the fee. Through a
// router the tokens pass a contract.
func (c *chain) buy(who *account, p *pool, paid uint64, routed bool) (_, fee uint64) {
	if p.kind == curve {
		paid = min(paid, p.fill())
	}
	fee = share(paid, p.feePPM, million)
	net := paid - fee
	got := share(p.base, net, p.quote+net)
	if left := p.left(); got > left || p.kind == curve && left-got < million {
		got = left // a rest below a token is the rounding of what fills a curve
	}
	if got == 0 {
		return 0, 0
	}
	if p.base, p.quote = p.base-got, p.quote+net; p.kind == pair {
		p.quote += fee
	} else {
		p.taken += fee
	}
	p.token.balances[who] += got
	c.send(&transaction{signer: who.signer(), events: p.bought(who, paid, got, net, routed)})
	if p.kind == curve && p.left() == 0 {
		c.graduate(p.token)
	}
	return paid, fee
}

// fill is what has to be paid into a curve until it is sold out.
func (p *pool) fill() uint64 {
	net := share(p.quote, p.left(), p.emptyBase) + 1
	return share(net, million, million-p.feePPM) + 1
}

// sell has an account sell tokens in a pool, and gives what it got, and what the fee was worth.
func (c *chain) sell(who *account, p *pool, sold uint64, routed bool) (got, fee uint64) {
	sold = min(sold, p.token.balances[who])
	moved := uint64(0)
	if p.kind == pair {
		net := sold - share(sold, p.feePPM, million)
		got = share(p.quote, net, p.base+net)
		fee = share(got, p.feePPM, million-p.feePPM)
		moved = got
	} else {
		gross := min(share(p.quote, sold, p.base+sold), p.quote-p.emptyQuote)
		fee = share(gross, p.feePPM, million)
		got, moved = gross-fee, gross
		p.taken += fee
	}
	if got == 0 {
		return 0, 0
	}
	p.base, p.quote = p.base+sold, p.quote-moved
	p.token.balances[who] -= sold
	c.send(&transaction{signer: who.signer(), events: p.sold(who, sold, got, moved, routed)})
	return got, fee
}

// bought are the logs of a purchase; net is by how much the coins in the pool rose.
func (p *pool) bought(who *account, paid, got, net uint64, routed bool) []market.Event {
	t := p.token
	var out []market.Event
	buyer := who.address
	if routed {
		buyer = router
	}
	out = append(out, market.Transfer{Token: t.address, From: p.id, To: buyer, Amount: raw(got)})
	if p.kind != curve {
		out = append([]market.Event{market.Transfer{Token: coin, From: router, To: p.id, Amount: wei(paid)}}, out...)
	}
	out = append(out, p.traded(buyer, false, got, paid, net)...)
	if routed {
		out = append(out, market.Transfer{Token: t.address, From: router, To: who.address, Amount: raw(got)})
	}
	return out
}

// sold are the logs of a sale; gross is by how much the coins in the pool fell.
func (p *pool) sold(who *account, sold, got, gross uint64, routed bool) []market.Event {
	t := p.token
	seller := who.address
	var out []market.Event
	if routed {
		out = append(out, market.Transfer{Token: t.address, From: who.address, To: router, Amount: raw(sold)})
		seller = router
	}
	out = append(out, market.Transfer{Token: t.address, From: seller, To: p.id, Amount: raw(sold)})
	if p.kind != curve {
		out = append(out, market.Transfer{Token: coin, From: p.id, To: router, Amount: wei(got)})
	}
	return append(out, p.traded(seller, true, sold, got, gross)...)
}

// traded is how the pool logs a trade: tokens, coins of the trader, and by how much the coins in the pool changed.
func (p *pool) traded(who market.Address, sell bool, tokens, coins, moved uint64) []market.Event {
	amount0, amount1 := market.SignedAmount{Abs: raw(tokens), Neg: !sell}, market.SignedAmount{Abs: wei(coins), Neg: sell}
	switch p.kind {
	case curve:
		return []market.Event{market.CurveTrade{
			Venue: curveVenue, Curve: curveContract, Token: p.token.address, Trader: who, Sell: sell, BaseAmount: raw(tokens), QuoteAmount: wei(coins), Raised: wei(moved),
			After: market.CurveReserves{
				VirtualBase: raw(p.base), VirtualQuote: wei(p.quote), RealBase: raw(p.left()), RealQuote: wei(p.quote - p.emptyQuote),
			},
			Tells: market.TellsVirtual | market.TellsBase | market.TellsQuote,
		}}
	case ranged:
		sqrt, tick := p.sqrtPrice()
		return []market.Event{market.Swap{
			Pool: p.id, Sender: router, Recipient: who, Amount0: amount0, Amount1: amount1, SqrtPriceX96: sqrt, Liquidity: p.liquidity(), Tick: tick,
		}}
	case pair:
		return []market.Event{
			market.Reserves{Pool: p.id, Reserve0: raw(p.base), Reserve1: wei(p.quote)},
			market.Swap{Pool: p.id, Sender: router, Recipient: who, Amount0: amount0, Amount1: amount1},
		}
	}
	return nil
}

// graduate moves a token from its curve to a pair that nobody owns.
func (c *chain) graduate(t *token) {
	raised := t.curve.quote - t.curve.emptyQuote
	rest := supply - uint64(curveSale)
	p := &pool{kind: pair, id: pairOf(t.address, 0), token: t, base: rest, quote: raised, feePPM: pairFeePPM}
	t.main = p
	c.send(&transaction{signer: t.creator, events: append([]market.Event{
		market.CurveCompleted{Venue: curveVenue, Curve: curveContract, Token: t.address},
	}, append(p.made(curveContract, rest), market.Graduated{Venue: curveVenue, Curve: curveContract, Token: t.address, Pool: p.id})...)})
}

// made are the logs of a new pair into which an account puts the reserves.
func (p *pool) made(from market.Address, base uint64) []market.Event {
	return []market.Event{
		market.PoolCreated{Protocol: market.UniswapV2, Factory: exchangeV2, Pool: p.id, Token0: p.token.address, Token1: coin, FeePips: uint32(p.feePPM)},
		market.Transfer{Token: p.token.address, From: from, To: p.id, Amount: raw(base)},
		market.Reserves{Pool: p.id, Reserve0: raw(p.base), Reserve1: wei(p.quote)},
	}
}

// pairOf is the n-th pair of a token.
func pairOf(token market.Address, n byte) market.Address {
	var word [32]byte
	copy(word[12:], token.Bytes())
	word[12] ^= 0x40 + n
	return market.EVMAddress(word)
}

// fillPair has an account put tokens and as much worth of coins into a pair of its own, which is made if there is none; it gives the coins.
func (c *chain) fillPair(who *account, t *token, tokens uint64) uint64 {
	tokens = min(tokens, t.balances[who])
	paid := share(tokens, t.main.quote, t.main.base)
	if tokens == 0 || paid == 0 || t.own != nil && t.own.quote > 0 {
		return 0
	}
	t.balances[who] -= tokens
	if t.own == nil {
		t.own = &pool{kind: pair, id: pairOf(t.address, 1), token: t, base: tokens, quote: paid, feePPM: pairFeePPM, owner: who}
		c.send(&transaction{signer: who, events: t.own.made(who.address, tokens)})
		return paid
	}
	t.own.base, t.own.quote = tokens, paid
	c.send(&transaction{signer: who, events: []market.Event{
		market.Transfer{Token: t.address, From: who.address, To: t.own.id, Amount: raw(tokens)},
		market.Transfer{Token: coin, From: who.address, To: t.own.id, Amount: wei(paid)},
		market.PairLiquidity{Pool: t.own.id, Amount0: raw(tokens), Amount1: wei(paid)},
		market.Reserves{Pool: t.own.id, Reserve0: raw(tokens), Reserve1: wei(paid)},
	}})
	return paid
}

// closePair gives its owner all that is in a pair; it gives the coins.
func (c *chain) closePair(p *pool) uint64 {
	base, quote := p.base, p.quote
	p.base, p.quote = 0, 0
	p.token.balances[p.owner] += base
	c.send(&transaction{signer: p.owner, events: []market.Event{
		market.Transfer{Token: p.token.address, From: p.id, To: p.owner.address, Amount: raw(base)},
		market.Transfer{Token: coin, From: p.id, To: p.owner.address, Amount: wei(quote)},
		market.PairLiquidity{Pool: p.id, Amount0: raw(base), Amount1: wei(quote), Burn: true},
		market.Reserves{Pool: p.id},
	}})
	return quote
}

// give has accounts get tokens of another, as many each, in one transaction.
func (c *chain) give(from *account, t *token, each uint64, to []*account) {
	tx := transaction{signer: from}
	for _, who := range to {
		if t.balances[from] < each || each == 0 {
			break
		}
		t.balances[from] -= each
		t.balances[who] += each
		tx.events = append(tx.events, market.Transfer{Token: t.address, From: from.address, To: who.address, Amount: raw(each)})
	}
	c.send(&tx)
}
