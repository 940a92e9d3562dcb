package decode

import (
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// PumpFun is the program of pump.fun's curves. Layouts: the IDL of its SDK (npm @pump-fun/pump-sdk, MIT), and recorded transactions of 2024, 2025 and 2026.
const PumpFun = "6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P"

// pumpRules are those of its curves: a constant product of virtual reserves, which is full when all that is for sale is sold.
var pumpRules = market.CurveRules{Pricing: market.PriceReserves, Basis: market.TokensSold}

func (d *Decoder) pumpFun(p *program) {
	p.events[eventNamed("CreateEvent")] = pumpCreate
	p.events[eventNamed("TradeEvent")] = pumpTrade
	p.events[eventNamed("CompleteEvent")] = pumpComplete
	p.events[eventNamed("CompletePumpAmmMigrationEvent")] = pumpMigrated
}

func (c *call) pumpVenue() string { return c.r.d.venueOf(chainconfig.PumpFun, c.p.key) }

// pumpQuote is what a curve takes by the mint that its event names: all zeros, and the system program's key, are SOL.
func pumpQuote(mint market.Address) market.Address {
	if mint.IsNone() || mint == market.SolanaAddress([32]byte{}) {
		return market.Native
	}
	return mint
}

// pumpCreate is CreateEvent. Its first layout ends with the user, who is the creator then, and tells nothing of the curve.
func pumpCreate(c *call) {
	e := market.Launched{Venue: c.pumpVenue(), Rules: pumpRules, Quote: market.Native}
	e.Name, e.Symbol, e.Metadata = textOf(&c.Reader), textOf(&c.Reader), referenceOf(&c.Reader)
	e.Token, e.Curve, e.Creator = c.Key(), c.Key(), c.Key()
	if c.More() {
		e.Creator = c.Key()
		c.Skip(8) // the time
		e.Reserves.VirtualBase, e.Reserves.VirtualQuote = c.Amount(), c.Amount()
		e.SaleBase = c.Amount()
		e.Tells = market.TellsVirtual
		c.Skip(8) // the supply, which the balances tell
	}
	if c.More() {
		c.Skip(32 + 1 + 1) // the token's program, and two modes
	}
	if c.More() {
		e.Quote = pumpQuote(c.Key())
		if virtual := c.Amount(); !virtual.IsZero() {
			e.Reserves.VirtualQuote = virtual
		}
	}
	if c.Bad || e.Venue == "" {
		return
	}
	var left market.Amount
	if _, under := left.SubOverflow(&e.Reserves.VirtualBase, &e.SaleBase); !under {
		e.TargetQuote = market.RaisedByAll(&e.Reserves.VirtualQuote, &e.SaleBase, &left)
	}
	c.r.makes(e.Token, e.Name, e.Symbol)
	c.emit(e)
}

// pumpTrade is TradeEvent. Amounts in SOL are 0 where the curve takes something else; then those at the event's end count.
func pumpTrade(c *call) {
	e := market.CurveTrade{Venue: c.pumpVenue(), Token: c.Key(), Tells: market.TellsVirtual | market.TellsBase | market.TellsQuote}
	quote := c.Amount()
	e.BaseAmount, e.Sell, e.Trader = c.Amount(), !c.Bool(), c.Key()
	c.Skip(8) // the time
	e.After.VirtualQuote, e.After.VirtualBase = c.Amount(), c.Amount()
	if c.More() {
		e.After.RealQuote, e.After.RealBase = c.Amount(), c.Amount()
	} else {
		e.Tells = market.TellsVirtual
	}
	var fees market.Amount
	if c.More() {
		c.Skip(32 + 8) // the recipient, and the rate
		fees = c.Amount()
	}
	if c.More() {
		c.Skip(32 + 8) // the creator, and the rate
		fees = sum(fees, c.Amount())
	}
	if c.More() {
		c.Skip(1 + 8 + 8 + 8 + 8) // volumes
	}
	if c.More() {
		c.Bytes() // the instruction's name
		c.Skip(1) // a mode
	}
	if c.More() {
		c.Skip(8 + 8 + 8 + 8) // cashback and buyback, which are parts of the fees
		c.SkipList(pumpShareholder)
	}
	if c.More() {
		mint := pumpQuote(c.Key())
		amount, virtual, held := c.Amount(), c.Amount(), c.Amount()
		if mint != market.Native && quote.IsZero() && e.After.VirtualQuote.IsZero() {
			quote, e.After.VirtualQuote, e.After.RealQuote = amount, virtual, held
		}
	}
	if e.Venue == "" {
		return
	}
	e.Raised = quote
	if e.QuoteAmount = sum(quote, fees); e.Sell {
		e.QuoteAmount = less(quote, fees)
	}
	c.emit(e)
}

// pumpShareholder is the length of one of a trade's shareholders: a key and a share of 16 bits.
const pumpShareholder = 32 + 2

// pumpComplete is CompleteEvent: all that was for sale is sold.
func pumpComplete(c *call) {
	c.Skip(32) // the user
	if e := (market.CurveCompleted{Venue: c.pumpVenue(), Token: c.Key()}); e.Venue != "" {
		c.emit(e)
	}
}

// pumpMigrated is CompletePumpAmmMigrationEvent: the curve's funds are in a pool of PumpSwap.
func pumpMigrated(c *call) {
	c.Skip(32) // the user
	e := market.Graduated{Venue: c.pumpVenue(), Token: c.Key()}
	c.Skip(8 + 8 + 8 + 32 + 8) // amounts, the curve, and the time
	if e.Pool = c.Key(); e.Venue != "" {
		c.emit(e)
	}
}
