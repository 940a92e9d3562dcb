package decode

import (
	"github.com/holiman/uint256"

	"github.com/boardwalkhq/boardwalk/indexer/solana/decode/borsh"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// MeteoraDBC is Meteora's program of curves. Layouts: the IDL of its SDK (npm @meteora-ag/dynamic-bonding-curve-sdk, MIT). A launch is its venue's by the
// configuration that it refers to. Each swap is told by two events, of which the newer one counts; the program's first swaps have the older one alone. Tokens and funds lie with one account,
// market.MeteoraDBCHolder.
const MeteoraDBC = "dbcij3LWUppWqq96dh6gJWwBifmcGfLSB5D4DuSMaqN"

// dbcRules are those of its curves: up to 20 pieces with a liquidity each, whose price a swap tells. A curve is full when it has raised its threshold.
var dbcRules = market.CurveRules{Pricing: market.PricePosted, Basis: market.FundsRaised}

func (d *Decoder) meteoraDBC(p *program) {
	for _, variant := range []string{"", "WithTransferHook"} { // both have the same contents
		p.events[eventNamed("EvtInitializePool"+variant)] = dbcCreated
		p.events[eventNamed("EvtSwap2"+variant)] = dbcSwap
		p.events[eventNamed("EvtCurveComplete"+variant)] = dbcComplete
	}
	p.events[eventNamed("EvtSwap")] = dbcOlderSwap
	p.runs = dbcMigrate
}

// These events tell a swap in the newer layout.
var dbcNewerSwap, dbcNewerHookedSwap = eventNamed("EvtSwap2"), eventNamed("EvtSwap2WithTransferHook")

// Accounts of the instructions.
const (
	// of a launch
	dbcNewQuote = 4
	// of a swap
	dbcSwapPool, dbcSwapBase, dbcSwapPayer = 2, 7, 9
	// of a migration
	dbcMovedConfig, dbcMovedPool = 2, 4
	dbcMovedBaseV2               = 13
	dbcMovedA, dbcMovedB         = 7, 8
)

func (c *call) dbcVenue(config market.Address) string {
	return c.r.d.venueOf(chainconfig.MeteoraDBC, config, c.p.key)
}

// dbcCreated is EvtInitializePool. The token's texts stand in the instruction.
func dbcCreated(c *call) {
	c.Skip(32) // the pool
	config, creator, mint := c.Key(), c.Key(), c.Key()
	e := market.Launched{
		Venue: c.dbcVenue(config), Token: mint, Creator: creator, Curve: market.MeteoraDBCHolder, Quote: c.account(dbcNewQuote), Rules: dbcRules,
	}
	if c.Bad || e.Venue == "" || e.Quote.IsNone() {
		return
	}
	if texts, ok := c.arguments(); ok {
		e.Name, e.Symbol, e.Metadata = textOf(&texts), textOf(&texts), referenceOf(&texts)
		if texts.Bad {
			e.Name, e.Symbol, e.Metadata = "", "", "" // the token's own count
		}
	}
	c.r.makes(e.Token, e.Name, e.Symbol)
	c.emit(e)
}

// arguments are those of the instruction that tells the event.
func (c *call) arguments() (b borsh.Reader, ok bool) {
	data, ok := c.r.tx.appendData(nil, c.by)
	b = borsh.NewReader(data)
	b.Skip(len(discriminator{}))
	return b, ok && !b.Bad
}

// dbcSwap is EvtSwap2. A last purchase may take less than was asked for: what counts is what was taken.
func dbcSwap(c *call) {
	pool, config := c.Key(), c.Key()
	buys := c.Bool()
	c.Skip(1 + 8 + 8 + 1) // whether somebody is referred to, and what was asked for
	given, givenWithoutFee := c.Amount(), c.Amount()
	c.Skip(8) // what is left of it
	got := c.Amount()
	price := c.Uint128()
	fees := sum(c.Amount(), c.Amount(), c.Amount())
	raised, threshold := c.Amount(), c.Amount()
	if e, ok := c.dbcTrade(pool, config, buys, given, givenWithoutFee, got, fees); ok {
		e.After, e.Tells = market.CurveReserves{RealQuote: raised, Price: posted(price)}, market.TellsQuote|market.TellsPrice
		c.emit(market.CurveSet{Venue: e.Venue, Token: e.Token, TargetQuote: threshold})
		c.emit(e)
	}
}

// dbcOlderSwap is EvtSwap, which tells neither what is raised nor the threshold. It counts where no newer event tells the same swap.
func dbcOlderSwap(c *call) {
	pool, config := c.Key(), c.Key()
	buys := c.Bool()
	c.Skip(1 + 8 + 8) // whether somebody is referred to, and what was asked for
	givenWithoutFee, got := c.Amount(), c.Amount()
	price := c.Uint128()
	fees := sum(c.Amount(), c.Amount(), c.Amount())
	given := c.Amount()
	if e, ok := c.dbcTrade(pool, config, buys, given, givenWithoutFee, got, fees); ok && !c.tellsAsWell(dbcNewerSwap, dbcNewerHookedSwap) {
		e.After, e.Tells = market.CurveReserves{Price: posted(price)}, market.TellsPrice
		c.emit(e)
	}
}

// dbcTrade is a swap of a declared venue, by the amounts that an event tells. Fees are taken from what is given for a purchase, and from what is got for a sale.
func (c *call) dbcTrade(pool, config market.Address, buys bool, given, givenWithoutFee, got, fees market.Amount) (e market.CurveTrade, ok bool) {
	e = market.CurveTrade{Venue: c.dbcVenue(config), Token: c.account(dbcSwapBase), Trader: c.account(dbcSwapPayer), Sell: !buys}
	if e.Sell {
		e.BaseAmount, e.QuoteAmount, e.Raised = given, got, sum(got, fees)
	} else {
		e.BaseAmount, e.QuoteAmount, e.Raised = got, given, givenWithoutFee
	}
	return e, !c.Bad && e.Venue != "" && c.account(dbcSwapPool) == pool && !e.Token.IsNone()
}

// posted turns the square root of a price, a fixed-point number with 64 fractional bits, into the price of 10^18 base units of the token in base units of the
// quote: sqrt² · 10^18 / 2^128. A price that doesn't fit is the greatest number.
func posted(sqrt market.Amount) (price market.Amount) {
	var unit, one market.Amount
	unit.Exp(uint256.NewInt(10), uint256.NewInt(18))
	one.Lsh(uint256.NewInt(1), 128)
	sqrt.Mul(&sqrt, &sqrt)
	if _, over := price.MulDivOverflow(&sqrt, &unit, &one); over {
		price.SetAllOne()
	}
	return price
}

// dbcComplete is EvtCurveComplete, which a swap tells.
func dbcComplete(c *call) {
	pool, config := c.Key(), c.Key()
	if e := (market.CurveCompleted{Venue: c.dbcVenue(config), Token: c.account(dbcSwapBase)}); e.Venue != "" && c.account(dbcSwapPool) == pool {
		c.emit(e)
	}
}

// The instructions by which a full curve's funds move to a pool. No event tells of it.
var (
	dbcToDAMMv2 = instructionNamed("migration_damm_v2")
	dbcToDAMMv1 = instructionNamed("migrate_meteora_damm")
)

// dbcMigrate is the end of a curve.
func dbcMigrate(c *call) {
	disc := c.Take(len(discriminator{}))
	if c.Bad {
		return
	}
	e := market.Graduated{Venue: c.dbcVenue(c.account(dbcMovedConfig)), Pool: c.account(dbcMovedPool)}
	var tokens []market.Address
	switch discriminator(disc) {
	case dbcToDAMMv2:
		tokens = []market.Address{c.account(dbcMovedBaseV2)}
	case dbcToDAMMv1:
		tokens = []market.Address{c.account(dbcMovedA), c.account(dbcMovedB)} // whichever was launched
	}
	for _, e.Token = range tokens {
		if e.Venue != "" && !e.Token.IsNone() {
			c.emit(e)
		}
	}
}
