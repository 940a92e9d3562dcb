package httpapi

import (
	"strings"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// namedTokens reads the items of a list; each may have its chain before it.
func namedTokens(r *request, param string) ([]Named, error) {
	items := r.list(param)
	out := make([]Named, 0, len(items))
	for _, item := range items {
		address, chain := item, ""
		if before, rest, ok := strings.Cut(item, ":"); ok {
			chain, address = before, rest
		}
		n, err := r.NamedIn(contract.ParameterErrorInQuery, param, address, param, chain)
		if err != nil {
			return nil, err
		}
		n.Text = item
		out = append(out, n)
	}
	return out, nil
}

func (h *TokenHandlers) prices(r *request) (*answer, error) {
	wanted, err := namedTokens(r, "mints")
	if err != nil {
		return nil, err
	}
	var mints []market.Address
	for _, q := range wanted {
		if q.IsIndexed() {
			mints = append(mints, q.Address)
		}
	}
	found, err := h.Readers.Tokens.TokensAt(r.Context(), mints)
	if err != nil {
		return nil, unavailable(err)
	}
	out := contract.TokenPrices{Prices: map[string]contract.PriceView{}, Missing: []string{}, Blocks: contract.Blocks{}}
	var newest int64
	for _, q := range wanted {
		s := chooseSubject(r.seen.Catalog, found[q.Address], q.Chain)
		if s == nil {
			out.Missing = append(out.Missing, q.Text)
			continue
		}
		out.Prices[q.Text] = priceView(s)
		out.Stale = out.Stale || s.Stale
		noteBlock(out.Blocks, s.Chain, s.Changed.Block)
		newest = max(newest, s.Changed.At)
	}
	out.AsOf = r.AsOf(newest)
	return encode(out)
}

func priceView(s *subject) contract.PriceView {
	f := s.Figures()
	why := newNotes(&s.Token)
	out := contract.PriceView{
		Name: s.Token.Token.Name, Symbol: s.Token.Token.Symbol, Chain: s.Chain, ChainCandidates: s.candidates, Pair: pairOf(&s.Token),
		Price: number(f.Price), Liquidity: number(f.LiquidityUSD), Volume: number(f.VolumeUSD), MarketCap: number(f.FDV),
		SupplyBasis: supplyBasis(f), Change24HPct: number(f.Change24hPct), UpdatedAt: timestamp(s.Changed.At),
		Stale: s.Stale, FigureSources: why.sources, UnknownReasons: why.unknown,
	}
	if s.Changed.Block > 0 {
		out.Block = new(int64(s.Changed.Block))
	}
	why.note("block", out.Block != nil, "")
	price := priceSource(f)
	why.note("price", out.Price != nil, price)
	why.note("liquidity", out.Liquidity != nil, liquiditySource(f))
	why.note("volume", out.Volume != nil, "chain_swaps")
	why.noteOfSupply("market_cap", out.MarketCap != nil, price, &f)
	why.noteOfSupply("supply_basis", out.SupplyBasis != nil, "", &f)
	why.note("change_24h_pct", out.Change24HPct != nil, "chain_swaps")
	why.note("pair", out.Pair != nil, "")
	out.PairKind = why.pairKind(s.Reference())
	why.note("price_source", out.Price != nil, "")
	if out.Price != nil {
		switch {
		case f.Pegged:
			out.PriceSource = new(contract.PriceSourcePeg)
		case f.OnCurve:
			out.PriceSource = new(contract.PriceSourceCurve)
		default:
			out.PriceSource = new(contract.PriceSourcePool)
		}
	}
	return out
}
