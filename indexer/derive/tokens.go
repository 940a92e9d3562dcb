package derive

import "github.com/boardwalkhq/boardwalk/internal/market"

// tokens are the block's tokens: what is known of them, their supplies, balances and holders.
type tokens struct {
	*work
	// begun are the tokens whose transfers are followed from this block on.
	begun map[market.Address]bool
	// transfers counts the block's transfers that were queued.
	transfers uint32
}

// token is the token's row for changing; it is made on the token's first mention.
func (ts *tokens) token(mint market.Address) *market.Token {
	if t := ts.s.tokens.get(mint); t != nil {
		return ts.s.tokens.edit(mint)
	}
	t := ts.s.tokens.edit(mint)
	*t = market.Token{Mint: mint, FirstBlock: ts.b.Number, FirstSeenAt: ts.b.Time}
	if ts.Follows(ts.s, mint) {
		ts.follow(t)
	}
	return t
}

// follow begins to queue a token's transfers, with this block's first.
func (ts *tokens) follow(t *market.Token) {
	t.Holders.Status = market.HoldersIndexing
	ts.begun[t.Mint] = true
}

func (ts *tokens) describe(f market.TokenFact) {
	t := ts.token(f.Token)
	t.Name, t.Symbol, t.HasDecimals, t.Decimals = f.Name, f.Symbol, f.HasDecimals, f.Decimals
	if ts.begun[f.Token] && f.FromCreation && t.Holders.Status == market.HoldersIndexing {
		t.Holders.Status, t.SinceCreation = market.HoldersCurrent, true
	}
}

// supply takes what a token itself said of its supply when it was asked what it is.
func (ts *tokens) supply(token market.Address, supply market.Amount) {
	if t := ts.s.tokens.get(token); t != nil && (!t.HasSupply || t.Supply != supply) {
		t = ts.s.tokens.edit(token)
		t.HasSupply, t.Supply = true, supply
	}
}

// sampleSupply holds the derived supply against what the contract answered for the state before this block. A supply that was unknown
// is known from here on. One that is contradicted again and again changes without transfers, by whatever between two samples: nobody
// knows it. On Solana it is taken as it is told: the token program itself keeps it, and fees that it withholds leave balances, but not the supply.
func (ts *tokens) sampleSupply(f market.SupplyFact) {
	t := ts.s.tokens.get(f.Token)
	switch {
	case t == nil:
	case ts.programKeepsSupplies:
		ts.supply(f.Token, f.Supply)
	case t.SupplyStrikes >= market.SupplyUntold:
	case t.HasSupply && t.Supply == f.Supply:
		if t.SupplyStrikes > 0 {
			ts.s.tokens.edit(f.Token).SupplyStrikes = 0
		}
	case !t.HasSupply:
		ts.supply(f.Token, f.Supply)
	default:
		t = ts.s.tokens.edit(f.Token)
		if t.SupplyStrikes++; t.SupplyStrikes >= market.SupplyUntold {
			untold(t)
			return
		}
		t.Supply = f.Supply
	}
}

// untold ends a token's supply for good: its transfers don't tell it.
func untold(t *market.Token) {
	t.HasSupply, t.Supply, t.SupplyStrikes = false, market.Amount{}, market.SupplyUntold
}
