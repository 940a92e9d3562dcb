package enrich

import (
	"context"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// Correction replaces a false fact of a token that is too old to be taken back.
type Correction struct {
	Was store.StoredFact
	Is  market.TokenFact
}

// IsMadeBy reports whether a fact makes this correction.
func (c Correction) IsMadeBy(f store.StoredFact) bool { return f.Fact == market.Fact(c.Is) }

// correct adds the corrections to a block's facts.
func (e *enrichment) correct(ctx context.Context, b *market.Block, told func(market.Address) bool) {
	for _, c := range e.corrections {
		if !told(c.Is.Token) {
			e.add(b, c.Is)
			e.Log.WarnContext(ctx, "false decimals corrected", "token", c.Is.Token.String(), "block", b.Number)
		}
	}
}
