package pnl

import "github.com/boardwalkhq/boardwalk/internal/market"

// Token is a token of a chain.
type Token struct {
	Chain string
	Mint  market.Address
}

// Position is what one wallet has of one token.
type Position struct {
	Wallet market.Address
	Token
}

// Kind is what happens to a position.
type Kind = market.EntryKind

// The kinds.
const (
	Buy  = market.Bought
	Sell = market.Sold
	In   = market.CameIn
	Out  = market.WentOut
	Held = market.Held
)

// Entry is one thing that happened to a position.
type Entry struct {
	Position
	Kind Kind
	At   int64 // unix seconds
	// Tx groups sales: those of one position in one transaction are one sale, as a router may have split it. Sales without a
	// transaction stand alone.
	Tx market.TxID
	// Amount is raw: what arrived in the wallet or left it, and for Held all that the wallet has. Without an amount nothing else happened.
	Amount market.Amount
	// Before is, if HasBefore, all that the wallet had of the token before the transaction of a Buy or Sell. What is missing of what
	// it had after the one before was sent away in between, to a stranger.
	Before    market.Amount
	HasBefore bool
	// NanoUSD is what a Buy or Sell was worth in 1e-9 USD, without the platform's fee. Its value is unknown while HasUSD is
	// false.
	NanoUSD int64
	HasUSD  bool
	// FeeNanoUSD is the platform's fee on top of a Buy or out of a Sell, in 1e-9 USD; 0 where the chain shows none. It counts up to the trade's value.
	FeeNanoUSD int64
	// GasNanoUSD is what the transaction cost in 1e-9 USD, if HasGas.
	GasNanoUSD int64
	HasGas     bool
	// Ineligible marks a Sell that moves the position as ever and counts for nothing, as in a pool that was too shallow.
	Ineligible bool
	// To is the wallet that an Out goes to, if it is the same member's: the basis goes with it, and no In is to follow. It is
	// none where the receiver is a stranger.
	To market.Address
}

// TradeOf is a wallet's trade as an index of its chain knows any wallet's: without gas and the platform's fee, of which it keeps account for members alone.
func TradeOf(chain string, t *market.Trade) Entry {
	e := Entry{
		Position: Position{Wallet: t.Trader, Token: Token{Chain: chain, Mint: t.Base}},
		At:       t.Time, Tx: t.Tx, Amount: t.Traded(), Before: t.TraderBefore, HasBefore: t.HasTraderBefore,
		NanoUSD: t.NanoUSD, HasUSD: t.HasUSD,
	}
	if t.Sell {
		e.Kind = Sell
	}
	return e
}
