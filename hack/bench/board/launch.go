package board

import (
	"math"

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// boardLaunch is a launched token as it goes on: what its rows are made of. Amounts are of whole tokens and whole coins.
type boardLaunch struct {
	id            int
	part          *boardChain
	venue         *boardVenue
	mint, creator market.Address
	own           market.Address // its pool, once it has one
	name, symbol  string
	born          int64 // unix seconds
	logIndex      uint64
	state         market.LaunchState
	traded        bool
	completedAt   int64
	graduatedAt   int64
	// target is what the curve raises.
	target float64
	// base and quote make the price, as a constant product: the curve's virtual reserves, or the pool's reserves.
	base, quote float64
	holders     int64
	lastTrade   int64
	// The last day's sums, of what is traded now: the curve or the pool.
	dayUSD, dayBuys, daySells, referenceUSD float64
}

// A curve sells saleTokens of curveTokens virtual ones; what is left of all goes into the pool.
const (
	allTokens   = 1e9
	saleTokens  = 793.1e6
	curveTokens = 1073e6
)

// virtualQuote is what the curve's quote begins with.
func (l *boardLaunch) virtualQuote() float64 {
	return l.target * (curveTokens - saleTokens) / saleTokens
}

// begin sets what is there at first: a fresh curve, or a live pool.
func (l *boardLaunch) begin() {
	if l.state == market.LaunchLive {
		l.base, l.quote = allTokens/2, l.target/2
		return
	}
	l.base, l.quote = curveTokens, l.virtualQuote()
}

func (l *boardLaunch) onCurve() bool {
	return l.state == market.LaunchOnCurve || l.state == market.LaunchCompleted
}

// raised is what the curve holds, left what it still sells.
func (l *boardLaunch) raised() float64 { return max(l.quote-l.virtualQuote(), 0) }
func (l *boardLaunch) left() float64   { return max(l.base-(curveTokens-saleTokens), 0) }

// sellTo brings a curve to a progress of 0 to 1.
func (l *boardLaunch) sellTo(progress float64) {
	k := l.base * l.quote
	l.base = curveTokens - progress*saleTokens
	l.quote = k / l.base
}

// price is of one token in coins.
func (l *boardLaunch) price() float64 { return l.quote / l.base }

// deepen multiplies a pool's liquidity.
func (l *boardLaunch) deepen(times float64) { l.base, l.quote = l.base*times, l.quote*times }

// complete fills the curve, at a time in unix seconds.
func (l *boardLaunch) complete(at int64) {
	l.sellTo(1)
	l.state, l.completedAt = market.LaunchCompleted, at
}

// endPrice is that of the curve when it is full, at which its pool begins.
func (l *boardLaunch) endPrice() float64 {
	return l.target / saleTokens * curveTokens / (curveTokens - saleTokens)
}

// graduate moves the token to its pool, at a time in unix seconds.
func (l *boardLaunch) graduate(at int64) {
	l.state, l.graduatedAt = market.LaunchGraduated, at
	l.base = allTokens - saleTokens
	l.quote = l.base * l.endPrice()
	l.dayUSD, l.dayBuys, l.daySells = 0, 0, 0
}

// trade moves the reserves by a trade worth about so many coins and gives what changed hands. A buyer of the last tokens gets
// those that are there; nobody sells more than the half of what a curve has raised, nor takes more than a fiftieth of a pool.
func (l *boardLaunch) trade(coins float64, sell bool) (base, quote float64) {
	quote = coins
	switch {
	case l.onCurve() && sell:
		quote = min(quote, l.raised()/2)
	case l.onCurve():
		quote = min(quote, l.target-l.raised())
	default:
		quote = min(quote, l.quote/50)
	}
	k := l.base * l.quote
	if sell {
		l.quote -= quote
	} else {
		l.quote += quote
	}
	before := l.base
	l.base = k / l.quote
	return math.Abs(l.base - before), quote
}

// full says that the curve has sold all but dust.
func (l *boardLaunch) full() bool {
	return l.state == market.LaunchOnCurve && l.left() < saleTokens*1e-6
}

// book adds to the day's sums: times trades that are worth usd together.
func (l *boardLaunch) book(usd float64, sell bool, times float64) {
	if l.referenceUSD == 0 {
		l.referenceUSD = l.price() * l.part.NativeUSD
	}
	l.dayUSD += usd
	if sell {
		l.daySells += times
	} else {
		l.dayBuys += times
	}
}

// row is the launch's row.
func (l *boardLaunch) row() market.Launch {
	c := l.part
	out := market.Launch{
		Mint: l.mint, Venue: l.venue.id, Creator: l.creator, Name: l.name, Symbol: l.symbol,
		Metadata: "ipfs://bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi/" + l.mint.String(),
		Block:    c.blockAt(l.born * 1000), LogIndex: l.logIndex, CreatedAt: l.born, Tx: market.EVMTx([32]byte{7, byte(l.id >> 16), byte(l.id >> 8), byte(l.id)}),
		FeeBps: 100, State: l.state, Traded: l.traded, CompletedAt: l.completedAt, GraduatedAt: l.graduatedAt,
	}
	if l.state == market.LaunchLive || l.state == market.LaunchGraduated {
		out.Pool = l.own
	}
	if l.state == market.LaunchGraduated {
		out.GraduatedTx = market.EVMTx([32]byte{8, byte(l.id >> 16), byte(l.id >> 8), byte(l.id)})
	}
	if l.state == market.LaunchLive {
		return out
	}
	out.Curve, out.Rules, out.Quote = l.venue.contract(c), l.venue.rules, c.Native
	out.SaleBase, out.TargetQuote = lab.RawAmount(saleTokens, 18), lab.RawAmount(l.target, 18)
	now := *l
	if l.state == market.LaunchGraduated {
		now.state = market.LaunchOnCurve
		now.begin()
		now.sellTo(1)
	}
	out.Reserves.RealBase, out.Reserves.RealQuote = lab.RawAmount(now.left(), 18), lab.RawAmount(now.raised(), 18)
	if out.Rules.Pricing == market.PriceReserves {
		out.Reserves.VirtualBase, out.Reserves.VirtualQuote = lab.RawAmount(now.base, 18), lab.RawAmount(now.quote, 18)
	} else {
		out.Reserves.Price = lab.RawAmount(now.price(), 18)
	}
	out.Count()
	return out
}

// poolID is what the token is traded in.
func (l *boardLaunch) poolID() market.Address {
	if l.onCurve() {
		return market.CurveID(l.mint)
	}
	return l.own
}

// poolRow is the row of what the token is traded in.
func (l *boardLaunch) poolRow() market.Pool {
	c := l.part
	out := market.Pool{
		ID: l.poolID(), Protocol: market.UniswapV2, Factory: c.V2, Token0: l.mint, Token1: c.Native, FeePips: 3000,
		CreatedBlock: c.blockAt(l.born * 1000), CreatedAt: l.born, Base: l.mint, Quote: c.Native, BaseIs0: true,
		Price: l.price(), Depth: l.quote / 100, Locked: 2 * l.quote, LastTradeAt: l.lastTrade,
		Reserve0: lab.RawAmount(l.base, 18), Reserve1: lab.RawAmount(l.quote, 18), Day: l.day(),
	}
	if l.onCurve() {
		out.Protocol, out.Factory, out.FeePips = market.BondingCurve, l.venue.contract(c), 10_000
		out.Locked, out.Depth = 2*l.raised(), min(out.Depth, l.raised())
		out.Reserve0, out.Reserve1 = lab.RawAmount(l.left(), 18), lab.RawAmount(l.raised(), 18)
	}
	return out
}

// emptied is the row of the curve that the token has left.
func (l *boardLaunch) emptied() market.Pool {
	c := l.part
	return market.Pool{
		ID: market.CurveID(l.mint), Protocol: market.BondingCurve, Factory: l.venue.contract(c), Token0: l.mint, Token1: c.Native, FeePips: 10_000,
		CreatedBlock: c.blockAt(l.born * 1000), CreatedAt: l.born, Base: l.mint, Quote: c.Native, BaseIs0: true, LastTradeAt: l.completedAt,
		Price: l.endPrice(),
	}
}

func (l *boardLaunch) day() market.Window {
	d := market.Window{Buys: int64(l.dayBuys), Sells: int64(l.daySells), ReferenceUSD: l.referenceUSD}
	d.VolumeUSD.SetUint64(uint64(l.dayUSD * 1e9))
	return d
}

// token is the token's row.
func (l *boardLaunch) token() market.Token {
	return market.Token{
		Mint: l.mint, Name: l.name, Symbol: l.symbol, HasDecimals: true, Decimals: 18, HasSupply: true, Supply: lab.RawAmount(allTokens, 18),
		FirstBlock: l.part.blockAt(l.born * 1000), FirstSeenAt: l.born, Pool: l.poolID(),
		Holders: market.Holders{Status: market.HoldersCurrent, Count: l.holders},
	}
}

// tradeRow makes a trade's row, but for its place in the block and the transaction.
func (l *boardLaunch) tradeRow(number uint64, base, quote, nativeUSD float64, trader market.Address, sell bool) market.Trade {
	return market.Trade{
		Block: number, Time: l.part.timeOf(number), Pool: l.poolID(), Base: l.mint, Trader: trader, Sell: sell,
		BaseAmount: lab.RawAmount(base, 18), QuoteAmount: lab.RawAmount(quote, 18), NanoUSD: int64(quote * nativeUSD * 1e9), HasUSD: true,
		CloseUSD: l.price() * nativeUSD, CloseNative: l.price(),
	}
}
