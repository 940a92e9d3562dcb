package traders

import (
	"slices"

	"github.com/boardwalkhq/boardwalk/apiserver/cards"
	"github.com/boardwalkhq/boardwalk/apiserver/read/declared"
	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/apiserver/share"
	"github.com/boardwalkhq/boardwalk/internal/figure"
	"github.com/boardwalkhq/boardwalk/internal/plain"
	"github.com/boardwalkhq/boardwalk/internal/pnl"
	"github.com/boardwalkhq/boardwalk/internal/sharecard"
)

func (h *Handlers) card(r *serve.Request) (*serve.Answer, error) {
	return h.Cards.Answer(r, sharecard.KindTrader, "wallet", h.buildCard)
}

// buildCard makes the data of a wallet's card, with the handle of the member who shows it.
func (h *Handlers) buildCard(r *serve.Request) (*cards.Built, error) {
	n, err := r.Named("wallet")
	if err != nil {
		return nil, err
	}
	if !n.IsAddress() {
		return nil, traderNotFound(n.Text)
	}
	wallet := n.Address
	now := r.Seen.Newest()
	if now == 0 {
		return nil, serve.Unavailable(serve.ErrNoSnapshot)
	}
	w, err := h.Readers.Profiles.WalletAt(r.Context(), wallet, r.Seen.Catalog.ChainIDs(declared.OfFamily(n.Family)), now)
	switch {
	case err != nil:
		return nil, serve.Unavailable(err)
	case w == nil:
		return nil, traderNotFound(wallet.String())
	}
	handle := func() string { return r.Seen.Members.Of(n.Family, wallet, n.Chain) }
	out := &sharecard.Trader{Wallet: wallet.String(), Handle: handle(), Chains: []string{}}
	if !w.Uncounted {
		out.Day, out.Week = profitOf(&w.Day), profitOf(&w.Week)
		out.Line = profitLine(w.Week.Line)
		out.LastTradeAt = figure.RoundDay(w.LastTradeAt)
		for _, id := range w.Chains {
			out.Chains = append(out.Chains, r.Seen.Catalog.Chain(id).Label)
		}
		if out.Best, err = h.bestSale(r, w.Week.Best); err != nil {
			return nil, err
		}
	}
	return &cards.Built{
		Card: out, Subject: string(sharecard.KindTrader) + " " + wallet.String(), AsOf: now, Named: cards.Named{Handle: out.Handle, Now: handle},
	}, nil
}

// profitOf is a window as cards show it. Profit after gas is known where the gas of every trade is.
func profitOf(w *pnl.Window) sharecard.Profit {
	out := sharecard.Profit{
		RealisedUSD: new(figure.RoundProfit(w.Realised().Dollars())), Sells: w.Sales, Wins: w.Wins, ExcludedUSD: figure.RoundUSD(w.Excluded.Dollars()),
	}
	if pct, ok := w.RealisedPct(); ok {
		out.RealisedPct = share.Rounded(&pct, figure.RoundPercent)
	}
	if w.Trades > 0 && w.WithoutGas == 0 {
		out.NetUSD = new(figure.RoundProfit(w.Realised().Sub(w.Gas).Dollars()))
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
func (h *Handlers) bestSale(r *serve.Request, s *pnl.Sale) (*sharecard.Best, error) {
	if s == nil {
		return nil, nil //nolint:nilnil // there was no gain
	}
	tokens, err := h.Readers.Tokens.Tokens(r.Context(), s.Mint)
	if err != nil {
		return nil, serve.Unavailable(err)
	}
	out := &sharecard.Best{Symbol: plain.ShortAddress(s.Mint.String()), Chain: r.Seen.Catalog.Chain(s.Chain).Label, PnLUSD: figure.RoundProfit(s.Realised.Dollars())}
	if i := slices.IndexFunc(tokens, func(t figures.Token) bool { return t.Chain == s.Chain }); i >= 0 {
		if symbol := plain.Text(tokens[i].Token.Symbol); symbol != "" {
			out.Symbol = symbol
		}
	}
	return out, nil
}

func traderNotFound(wallet string) error {
	p := serve.NewProblem("trader-not-found", "No indexed chain has a trade of this wallet.")
	p.Wallet = wallet
	return p
}
