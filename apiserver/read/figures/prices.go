package figures

import "github.com/boardwalkhq/boardwalk/internal/market"

// Prices are those of one chain's quote assets, each once. There are few: a list of them takes a tenth of the memory of a map, and thousands of tokens
// are remembered with one.
type Prices []market.QuotePrice

// Price gives the price of an asset, or the zero value if there is none.
func (p Prices) Price(asset market.Address) (q market.QuotePrice) {
	if q := p.find(asset); q != nil {
		return *q
	}
	return q
}

// find gives the price of an asset, or nil if there is none.
func (p Prices) find(asset market.Address) *market.QuotePrice {
	for i := range p {
		if p[i].Asset == asset {
			return &p[i]
		}
	}
	return nil
}

// Set takes over the price of an asset.
func (p *Prices) Set(q market.QuotePrice) {
	if last := p.find(q.Asset); last != nil {
		*last = q
		return
	}
	*p = append(*p, q)
}
