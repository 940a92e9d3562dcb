package httpapi

import (
	"slices"

	"github.com/boardwalkhq/boardwalk/apiserver/cards"
	"github.com/boardwalkhq/boardwalk/apiserver/view"
	"github.com/boardwalkhq/boardwalk/internal/figure"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/plain"
	"github.com/boardwalkhq/boardwalk/internal/pnl"
	"github.com/boardwalkhq/boardwalk/internal/sharecard"
)

// buildTrader makes the data of a wallet's card. It has no handle: nobody has said yet that a wallet is theirs, and that it may
// be known.
func (a *API) buildTrader(r *request) (*cards.Built, error) {
	text := r.text("wallet")
	if !isEVM(text) {
		return nil, traderNotFound(text) // no Solana chain is indexed yet
	}
	wallet, err := market.ParseEVMAddress(text)
	if err != nil {
		return nil, err // the pattern was checked
	}
	now := r.seen.Newest()
	if now == 0 {
		return nil, unavailable(errNoSnapshot)
	}
	w, err := a.Profiles.WalletAt(r.Context(), wallet, r.seen.Catalog.ChainIDs(onEVM), now)
	switch {
	case err != nil:
		return nil, unavailable(err)
	case w == nil:
		return nil, traderNotFound(wallet.String())
	}
	out := &sharecard.Trader{Wallet: wallet.String(), Chains: []string{}}
	if !w.Uncounted {
		out.Day, out.Week = profitOf(&w.Day), profitOf(&w.Week)
		out.Line = profitLine(w.Week.Line)
		out.LastTradeAt = figure.RoundDay(w.LastTradeAt)
		for _, id := range w.Chains {
			out.Chains = append(out.Chains, r.seen.Catalog.Chain(id).Label)
		}
		if out.Best, err = a.bestSale(r, w.Week.Best); err != nil {
			return nil, err
		}
	}
	return &cards.Built{Card: out, Subject: string(sharecard.KindTrader) + " " + wallet.String(), AsOf: now}, nil
}

// profitOf is a window as cards show it. Profit after gas is known where the gas of every trade is.
func profitOf(w *pnl.Window) sharecard.Profit {
	out := sharecard.Profit{
		RealisedUSD: new(figure.RoundProfit(w.Realised.Dollars())), Sells: w.Sales, Wins: w.Wins, ExcludedUSD: figure.RoundUSD(w.Excluded.Dollars()),
	}
	if pct, ok := w.RealisedPct(); ok {
		out.RealisedPct = drawn(&pct, figure.RoundPercent)
	}
	if w.Trades > 0 && w.WithoutGas == 0 {
		out.NetUSD = new(figure.RoundProfit(w.Realised.Sub(w.Gas).Dollars()))
	}
	return out
}

func profitLine(points []pnl.USD) []float64 {
	line := make([]float64, len(points))
	for i, p := range points {
		line[i] = p.Dollars()
	}
	return figure.RoundLine(line)
}

// bestSale names the token of a sale.
func (a *API) bestSale(r *request, s *pnl.Sale) (*sharecard.Best, error) {
	if s == nil {
		return nil, nil //nolint:nilnil // there was no gain
	}
	tokens, err := a.Tokens.Tokens(r.Context(), s.Mint)
	if err != nil {
		return nil, unavailable(err)
	}
	out := &sharecard.Best{Symbol: plain.ShortAddress(s.Mint.String()), Chain: r.seen.Catalog.Chain(s.Chain).Label, PnLUSD: figure.RoundProfit(s.Realised.Dollars())}
	if i := slices.IndexFunc(tokens, func(t view.Token) bool { return t.Chain == s.Chain }); i >= 0 {
		if symbol := plain.Text(tokens[i].Token.Symbol); symbol != "" {
			out.Symbol = symbol
		}
	}
	return out, nil
}
