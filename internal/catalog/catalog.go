// Package catalog has the chains as the running system serves them: plain values, whatever they were declared in. Where
// they come from is the business of the packages below: resolve (from resources), files (from manifests).
package catalog

import (
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Catalog is everything that is declared. It isn't changed once it is made: a change is a new Catalog.
type Catalog struct {
	// Chains are in the order in which they are declared, which is the order in which they are listed.
	Chains []Chain
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
	Factory  string
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
