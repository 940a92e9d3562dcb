package figures

import (
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/price"
)

// Summary is what a list of trades tells of a token: names, decimals and price.
type Summary struct {
	Name, Symbol string
	Decimals     uint8
	HasDecimals  bool
	// Launched is true of what was launched at a declared venue of its chain.
	Launched bool
	// Metadata is nil while none was fetched. AwaitsMetadata says that there may be some which is still to be fetched.
	Metadata       *Metadata
	AwaitsMetadata bool
	// Price is in USD; nil when unknown.
	Price *float64
	// Changed is the newest block in which an input of the price changed.
	Changed Stamp
}

// Whole converts an amount of the token from raw units; 0 without decimals.
func (s *Summary) Whole(raw *market.Amount) float64 {
	if !s.HasDecimals {
		return 0
	}
	return price.Whole(raw, s.Decimals)
}

// Summary is the token's.
func (t *Token) Summary() Summary {
	f := NewFacts(t)
	return f.Summary(t.Token.Mint, t.USD, nil)
}

// Summary values the token at the prices of its chain's quote assets, which last changed when changed says.
func (f *Facts) Summary(mint market.Address, usd Prices, changed map[market.Address]Stamp) Summary {
	return Summary{
		Name: f.Name, Symbol: f.Symbol, Decimals: f.decimals, HasDecimals: f.hasDecimals, Launched: f.launched,
		Metadata: f.Metadata, AwaitsMetadata: f.Metadata == nil && (f.launched || f.AwaitsMetadata),
		Price: f.Figures(mint, usd, 0).Price, Changed: f.ChangedWith(mint, changed), // no price hangs on the time
	}
}
