package tokens

import (
	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/lookup"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/apiserver/wire"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

func (h *Handlers) prices(r *serve.Request) (*serve.Answer, error) {
	wanted, err := lookup.List(r, "mints")
	if err != nil {
		return nil, err
	}
	var mints []market.Address
	for _, q := range wanted {
		if q.IsAddress() {
			mints = append(mints, q.Address)
		}
	}
	found, err := h.Readers.Tokens.TokensAt(r.Context(), mints)
	if err != nil {
		return nil, serve.Unavailable(err)
	}
	out := contract.TokenPrices{Prices: map[string]contract.PriceView{}, Missing: []string{}, Blocks: contract.Blocks{}}
	var newest int64
	for _, q := range wanted {
		s := lookup.Choose(r.Seen.Catalog, found[q.Address], q.Chain)
		if s == nil {
			out.Missing = append(out.Missing, q.Text)
			continue
		}
		out.Prices[q.Text] = priceView(s)
		out.Stale = out.Stale || s.Stale
		wire.NoteBlock(out.Blocks, s.Chain, s.Changed.Block)
		newest = max(newest, s.Changed.At)
	}
	out.AsOf = r.AsOf(newest)
	return serve.Encode(out)
}

func priceView(s *lookup.Token) contract.PriceView {
	f := s.Figures()
	why := wire.NewNotes(&s.Token)
	out := contract.PriceView{
		Name: s.Token.Token.Name, Symbol: s.Token.Token.Symbol, Chain: s.Chain, ChainCandidates: s.Candidates, Pair: wire.PairOf(&s.Token),
		Price: wire.Number(f.Price), Liquidity: wire.Number(f.LiquidityUSD), Volume: wire.Number(f.VolumeUSD), MarketCap: wire.Number(f.FDV),
		SupplyBasis: wire.SupplyBasis(f), Change24HPct: wire.Number(f.Change24hPct), UpdatedAt: wire.Timestamp(s.Changed.At),
		Stale: s.Stale, FigureSources: why.Sources, UnknownReasons: why.Unknown,
	}
	if s.Changed.Block > 0 {
		out.Block = new(int64(s.Changed.Block))
	}
	why.Note("block", out.Block != nil, "")
	price := wire.PriceSource(f)
	why.Note("price", out.Price != nil, price)
	why.Note("liquidity", out.Liquidity != nil, wire.LiquiditySource(f))
	why.Note("volume", out.Volume != nil, "chain_swaps")
	why.NoteOfSupply("market_cap", out.MarketCap != nil, price, &f)
	why.NoteOfSupply("supply_basis", out.SupplyBasis != nil, "", &f)
	why.Note("change_24h_pct", out.Change24HPct != nil, "chain_swaps")
	why.Note("pair", out.Pair != nil, "")
	out.PairKind = why.PairKind(s.Reference())
	why.Note("price_source", out.Price != nil, "")
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
