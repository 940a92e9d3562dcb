package decode

import (
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// LaunchLab is Raydium's program of curves. Layouts: the program's IDL as sevenlabs-hq/carbon (MIT) has it, and two recorded transactions. Its tokens and
// funds lie with one account of the program's, LaunchLabHolder.
const LaunchLab = "LanMV9sAd7wArD4vJFi2qDdfnVhFxYSUg6eADduJ3uj"

func (d *Decoder) launchLab(p *program) {
	p.events[eventNamed("PoolCreateEvent")] = launchLabCreated
	p.events[eventNamed("TradeEvent")] = launchLabTrade
	p.runs = launchLabMigrate
}

// Accounts of the program's instructions.
const (
	// of all: the configuration of the program, and that of the platform
	launchLabConfig, launchLabPlatform = 2, 3
	// of a launch
	launchLabNewPool, launchLabNewBase, launchLabNewQuote = 5, 6, 7
	// of a trade
	launchLabPool, launchLabBase = 4, 9
)

// launchLabVenue is the venue whose launch it is: by the platform's configuration, the program's, or the program.
func (c *call) launchLabVenue() string {
	return c.r.d.venueOf(chainconfig.RaydiumLaunchLab, c.account(launchLabPlatform), c.account(launchLabConfig), c.p.key)
}

// The kinds of curves.
const launchLabConstant = 0

// launchLabCreated is PoolCreateEvent.
func launchLabCreated(c *call) {
	pool, creator := c.Key(), c.Key()
	c.Skip(32 + 1) // the program's configuration, and the token's decimals
	e := market.Launched{
		Venue: c.launchLabVenue(), Token: c.account(launchLabNewBase), Creator: creator, Curve: market.LaunchLabHolder, Quote: c.account(launchLabNewQuote),
		Name: textOf(&c.Reader), Symbol: textOf(&c.Reader), Metadata: referenceOf(&c.Reader), Rules: market.CurveRules{Pricing: market.PriceExecuted, Basis: market.FundsRaised},
	}
	kind := c.Byte()
	c.Skip(8) // the supply
	if kind == launchLabConstant {
		e.SaleBase = c.Amount()
		e.Rules = market.CurveRules{Pricing: market.PriceReserves, Basis: market.TokensSold}
	}
	e.TargetQuote = c.Amount()
	if c.Bad || e.Venue == "" || c.account(launchLabNewPool) != pool || e.Token.IsNone() || e.Quote.IsNone() {
		return
	}
	c.r.makes(e.Token, e.Name, e.Symbol)
	c.emit(e)
}

// The states that a trade tells of the curve after it.
const launchLabFunding = 0

// launchLabTrade is TradeEvent. The curve's reserves are told before and after the trade, and what is virtual of them as it was at first.
func launchLabTrade(c *call) {
	pool := c.Key()
	sale, virtualBase, virtualQuote := c.Amount(), c.Amount(), c.Amount()
	c.Skip(8) // what was sold before
	raisedBefore := c.Amount()
	sold, raised := c.Amount(), c.Amount()
	given, got := c.Amount(), c.Amount()
	c.Skip(8 + 8 + 8 + 8) // fees
	e := market.CurveTrade{
		Venue: c.launchLabVenue(), Token: c.account(launchLabBase), Trader: c.account(0), Sell: c.Byte() != 0,
		After: market.CurveReserves{
			VirtualBase: less(virtualBase, sold), VirtualQuote: sum(virtualQuote, raised), RealBase: less(sale, sold), RealQuote: raised,
		},
		Tells: market.TellsVirtual | market.TellsBase | market.TellsQuote,
	}
	status := c.Byte()
	e.BaseAmount, e.QuoteAmount, e.Raised = got, given, less(raised, raisedBefore)
	if e.Sell {
		e.BaseAmount, e.QuoteAmount, e.Raised = given, got, less(raisedBefore, raised)
	}
	if c.Bad || e.Venue == "" || c.account(launchLabPool) != pool || e.Token.IsNone() {
		return
	}
	c.emit(e)
	if status != launchLabFunding {
		c.emit(market.CurveCompleted{Venue: e.Venue, Token: e.Token})
	}
}

// The instructions by which a full curve's funds move to a pool. No event tells of it.
var (
	launchLabToCPMM  = instructionNamed("migrate_to_cpswap")
	launchLabToAMMv4 = instructionNamed("migrate_to_amm")
)

// Accounts of both, of the one that moves to a pool of the CPMM, and of the one that moves to a pool of AMM v4.
const launchLabMovedBase, launchLabCPMMPool, launchLabAMMv4Pool = 1, 5, 13

// launchLabMigrate is the end of a curve. Which venue's the launch is the token tells, since not every one of these instructions names a configuration.
func launchLabMigrate(c *call) {
	e := market.Graduated{Token: c.account(launchLabMovedBase)}
	switch disc := c.Take(len(discriminator{})); {
	case c.Bad || e.Token.IsNone():
		return
	case discriminator(disc) == launchLabToCPMM:
		e.Pool = c.account(launchLabCPMMPool)
	case discriminator(disc) == launchLabToAMMv4:
		e.Pool = c.account(launchLabAMMv4Pool)
	default:
		return
	}
	for _, e.Venue = range c.r.d.idsOf(chainconfig.RaydiumLaunchLab) {
		c.emit(e)
	}
}
