package view

import (
	"fmt"
	"slices"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/catalog"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Catalog is a catalogue as requests look things up in it. It is never changed: a change is another Catalog.
type Catalog struct {
	// Chains and Venues are in declared order.
	Chains []Chain
	Venues []catalog.Venue
	// ChangedAt is when the newest of it was declared or changed; zero when nobody knows.
	ChangedAt time.Time

	of     *catalog.Catalog
	byID   map[string]*Chain
	majors []declaredMajor
}

// Chain is what the API says of a declared chain.
type Chain struct {
	ID, Label   string
	EVM         bool
	Suspended   bool
	MinTradeUSD float64
	// Exchanges are the names of its exchanges by their factories.
	Exchanges map[market.Address]string
}

// NewCatalog fails on an address that is none.
func NewCatalog(c *catalog.Catalog) (*Catalog, error) {
	out := &Catalog{
		Chains: make([]Chain, 0, len(c.Chains)), Venues: c.Venues, ChangedAt: c.ChangedAt,
		of: c, byID: make(map[string]*Chain, len(c.Chains)),
	}
	for i := range c.Chains {
		declared := &c.Chains[i]
		chain := Chain{
			ID: declared.ID, Label: declared.Label, EVM: declared.Family == chainconfig.EVM, Suspended: declared.Suspended,
			MinTradeUSD: declared.MinTradeUSD, Exchanges: make(map[market.Address]string, len(declared.Exchanges)),
		}
		for _, e := range declared.Exchanges {
			factory, err := market.ParseEVMAddress(e.Factory)
			if err != nil {
				return nil, fmt.Errorf("chain %s: exchange %s: factory: %w", chain.ID, e.Name, err)
			}
			chain.Exchanges[factory] = e.Name
		}
		out.Chains = append(out.Chains, chain)
		out.byID[chain.ID] = &out.Chains[i]
		if !chain.EVM {
			continue // no other family is indexed yet
		}
		for _, m := range declared.Majors {
			mint, err := market.ParseEVMAddress(m.Address)
			if err != nil {
				return nil, fmt.Errorf("chain %s: major %s: %w", chain.ID, m.Asset, err)
			}
			out.majors = append(out.majors, declaredMajor{chain: chain.ID, asset: m.Asset, mint: mint})
		}
	}
	return out, nil
}

// Chain finds a chain by its id; nil when it isn't declared.
func (c *Catalog) Chain(id string) *Chain { return c.byID[id] }

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

// sameChains says whether the same chains are declared in the same order.
func sameChains(a, b *Catalog) bool {
	return slices.EqualFunc(a.Chains, b.Chains, func(x, y Chain) bool { return x.ID == y.ID })
}
