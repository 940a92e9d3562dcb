// Package catalog has the chains and the launch venues as the running system serves them: plain values, whatever they
// were declared in. Where they come from is the business of the packages below: resolve (from resources), files (from
// manifests), cluster (from Kubernetes).
package catalog

import (
	"time"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Catalog is everything that is declared. It isn't changed once it is made: a change is a new Catalog.
type Catalog struct {
	// Chains are in the order in which they are declared, which is the order in which they are listed.
	Chains []Chain
	// Venues are in the order in which they are listed.
	Venues []Venue
	// ChangedAt is when the newest of all this was written, the states of venues among it; zero when nobody knows.
	ChangedAt time.Time
}

// Chain is a declared chain. Addresses on EVM chains are in lower case.
type Chain struct {
	ID     string
	Label  string
	Family chainconfig.Family
	// EVMChainID is 0 on other families.
	EVMChainID uint64
	// MinTradeUSD is the smallest trade that the platform offers, in USD.
	MinTradeUSD float64
	// Suspended chains are listed, and nothing new is read from them.
	Suspended bool

	Native    chainconfig.Native
	Quotes    []chainconfig.Quote
	Majors    []chainconfig.Major
	Exchanges []Exchange
}

// Exchange is a deployment of a pool protocol.
type Exchange struct {
	Name     string
	Protocol market.Protocol
	Factory  market.Address
}

// Venue is a declared launch venue.
type Venue struct {
	ID        string
	Label     string
	Ownership Ownership
	Protocol  chainconfig.VenueProtocol
	// Filter is the value of the launch board's launchpad parameter; FilterOurs for own venues.
	Filter string
	// Badge is empty for own venues.
	Badge string
	// Chains lists the venue's chains that are in the catalogue, in the order of the declaration.
	Chains []VenueChain
}

// FilterOurs is the launch board's filter for own venues.
const FilterOurs = "ours"

// Ownership says whose a venue is, in the words of the public API.
type Ownership string

// The ownerships.
const (
	Own     Ownership = "own"
	Further Ownership = "further"
	Outside Ownership = "outside"
)

// VenueChain is a venue on one chain.
type VenueChain struct {
	// Chain is the chain's id.
	Chain string
	// Open says whether tokens can be launched now.
	Open bool
	// Default marks the venue that launches go to when nobody chose another.
	Default     bool
	TradesInApp bool
	// LinkTemplate is the token's page at the venue, with {mint} where its address goes; may be empty.
	LinkTemplate string
}

// Chain finds a chain by its id.
func (c *Catalog) Chain(id string) (*Chain, bool) {
	for i := range c.Chains {
		if c.Chains[i].ID == id {
			return &c.Chains[i], true
		}
	}
	return nil, false
}

// IDs lists the chains' ids in declared order, for messages that name what is allowed.
func (c *Catalog) IDs() []string {
	ids := make([]string, len(c.Chains))
	for i := range c.Chains {
		ids[i] = c.Chains[i].ID
	}
	return ids
}
