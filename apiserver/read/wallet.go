package read

import (
	"context"
	"errors"
	"slices"

	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/pnl"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// walletPoints is how many points a wallet's profit lines have: one for each hour of a week, and where it begins.
const walletPoints = 7*24 + 1

// Wallet is what a wallet realised by wac-v1.
type Wallet struct {
	// Chains lists the chains on which the wallet has traded, in the order in which they were asked for.
	Chains []string
	// Uncounted is true for a wallet with more trades than are added up; then nothing else is known of it.
	Uncounted bool
	// Day and Week are the windows that end at the moment that was asked for.
	Day, Week pnl.Window
	// LastTradeAt is in Unix seconds.
	LastTradeAt int64
}

// WalletAt works out what a wallet realised on some chains up to a moment (Unix seconds); it is nil for a wallet without a
// trade on them. It reads all of the wallet's trades.
func (v *View) WalletAt(ctx context.Context, wallet market.Address, chains []string, now int64) (*Wallet, error) {
	ctx, cancel := context.WithTimeout(ctx, figures.ReadTime)
	defer cancel()
	quotes, err := v.store.Pools.Quotes(ctx)
	if err != nil {
		return nil, err
	}
	money := make(map[pnl.Token]bool)
	for chain, list := range quotes {
		for i := range list {
			money[pnl.Token{Chain: chain, Mint: list[i].Asset}] = true
		}
	}
	ledger := pnl.NewLedger(pnl.Options{
		Now: now, Spans: []int64{pnl.Day, pnl.Week}, Points: walletPoints, Quote: func(t pnl.Token) bool { return money[t] },
	})
	out := &Wallet{}
	traded := make(map[string]bool, len(chains))
	for t, err := range v.store.Trades.OfWallet(ctx, wallet, chains, pnl.TradeLimit) {
		if errors.Is(err, store.ErrTooManyTrades) {
			return &Wallet{Uncounted: true}, nil
		}
		if err != nil {
			return nil, err
		}
		e := pnl.TradeOf(t.Chain, &t.Trade)
		e.Ineligible = t.Untrusted
		ledger.Add(&e)
		traded[t.Chain] = true
		out.LastTradeAt = max(out.LastTradeAt, t.Time)
	}
	if len(traded) == 0 {
		return nil, nil //nolint:nilnil // there is no such trader
	}
	out.Chains = slices.DeleteFunc(slices.Clone(chains), func(c string) bool { return !traded[c] })
	windows := ledger.Windows()
	out.Day, out.Week = windows[0], windows[1]
	return out, nil
}
