// Package declared indexes the catalogue, so that requests can look up chains, venues and majors.
package declared

import (
	"slices"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/catalog"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Catalog is an index of a catalogue. It is never changed: a changed catalogue gets a Catalog of its own.
type Catalog struct {
	// Chains and Venues are in declared order.
	Chains []Chain
	Venues []catalog.Venue
	// ChangedAt is when the newest of it was declared or changed; zero when nobody knows.
	ChangedAt time.Time

	// Source is the catalogue that this is the index of.
	Source *catalog.Catalog
	byID   map[string]*Chain
	Majors []Major
	venues map[Place]Venue
}

// Venue is a declared venue on one of its chains.
type Venue struct {
	*catalog.Venue

	On *catalog.VenueChain
}

// Major is a declared major: an asset by its ticker, and the token that it is on its chain.
type Major struct {
	Chain, Asset string
	Mint         market.Address
}

// Place names a venue on a chain by their ids.
type Place struct{ Venue, Chain string }

// Chain is what the API says of a declared chain.
type Chain struct {
	ID, Label   string
	Family      chainconfig.Family
	Suspended   bool
	MinTradeUSD float64
	// NativeSymbol is the ticker of its own coin, NativeDecimals are the coin's, Wrapped is the contract that wraps it.
	NativeSymbol   string
	NativeDecimals uint8
	Wrapped        market.Address
	// Exchanges are the names of its exchanges by their factories.
	Exchanges map[market.Address]string
}

// New makes a catalogue whose chains and venues can be looked up.
func New(c *catalog.Catalog) *Catalog {
	out := &Catalog{
		Chains: make([]Chain, 0, len(c.Chains)), Venues: c.Venues, ChangedAt: c.ChangedAt,
		Source: c, byID: make(map[string]*Chain, len(c.Chains)), venues: make(map[Place]Venue),
	}
	for i := range c.Venues {
		for j := range c.Venues[i].Chains {
			on := &c.Venues[i].Chains[j]
			out.venues[Place{c.Venues[i].ID, on.Chain}] = Venue{&c.Venues[i], on}
		}
	}
	for i := range c.Chains {
		declared := &c.Chains[i]
		chain := Chain{
			ID: declared.ID, Label: declared.Label, Family: declared.Family, Suspended: declared.Suspended,
			MinTradeUSD: declared.MinTradeUSD, NativeSymbol: declared.Native.Symbol, NativeDecimals: declared.Family.CoinDecimals(), Exchanges: make(map[market.Address]string, len(declared.Exchanges)),
		}
		for _, e := range declared.Exchanges {
			chain.Exchanges[e.Factory] = e.Name
		}
		out.Chains = append(out.Chains, chain)
		out.byID[chain.ID] = &out.Chains[i]
		out.Chains[i].Wrapped = declared.Native.Wrapped
		for _, m := range declared.Majors {
			out.Majors = append(out.Majors, Major{Chain: chain.ID, Asset: m.Asset, Mint: m.Address})
		}
	}
	return out
}

// OfFamily makes a condition that the chains of a family meet.
func OfFamily(family chainconfig.Family) func(*Chain) bool {
	return func(c *Chain) bool { return c.Family == family }
}

// Chain finds a chain by its id; nil when it isn't declared.
func (c *Catalog) Chain(id string) *Chain { return c.byID[id] }

// VenueOn finds a venue on a chain by their ids; ok is false when it isn't declared there.
func (c *Catalog) VenueOn(venue, chain string) (v Venue, ok bool) {
	v, ok = c.venues[Place{venue, chain}]
	return v, ok && c.byID[chain] != nil
}

// The values of the launch board's launchpad parameter beside the filters of outside venues.
const (
	AllLaunchpads  = "all"
	OurLaunchpads  = catalog.FilterOurs
	AllBoardChains = "all"
)

// The ownerships of venues, as their cards tell them.
const (
	OwnVenue     = catalog.Own
	OutsideVenue = catalog.Outside
)

// Launchpad is the name by which a card calls a venue: the value of its filter. Own venues share one value, so that a card calls an own venue by its id.
func Launchpad(v *catalog.Venue) string {
	if v.Ownership == OwnVenue {
		return v.ID
	}
	return v.Filter
}

// Launchpads lists the legal values of the launch board's launchpad parameter: every value that a card can have is among them.
func (c *Catalog) Launchpads() []string {
	out := []string{AllLaunchpads, OurLaunchpads}
	for i := range c.Venues {
		if f := Launchpad(&c.Venues[i]); !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	return out
}

// ChainIDs lists the chains that fit, in declared order; nil fits all.
func (c *Catalog) ChainIDs(fits func(*Chain) bool) []string {
	out := []string{}
	for i := range c.Chains {
		if fits == nil || fits(&c.Chains[i]) {
			out = append(out, c.Chains[i].ID)
		}
	}
	return out
}

// SameChains says whether the same chains are declared in the same order.
func SameChains(a, b *Catalog) bool {
	return slices.EqualFunc(a.Chains, b.Chains, func(x, y Chain) bool { return x.ID == y.ID })
}
