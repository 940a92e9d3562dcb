package wire

import (
	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
)

// PriceView is the wire form of a token's price with the figures around it. candidates are the chains that have a token at its address, when none was asked
// for and there are several.
func PriceView(t *figures.Token, candidates []string) contract.PriceView {
	f := t.Figures()
	why := NewNotes(t)
	out := contract.PriceView{
		Name: t.Token.Name, Symbol: t.Token.Symbol, Chain: t.Chain, ChainCandidates: candidates, Pair: PairOf(t),
		Price: Number(f.Price), Liquidity: Number(f.LiquidityUSD), Volume: Number(f.VolumeUSD), MarketCap: Number(f.FDV),
		SupplyBasis: SupplyBasis(f), Change24HPct: Number(f.Change24hPct), UpdatedAt: Timestamp(t.Changed.At),
		Stale: t.Stale, FigureSources: why.Sources, UnknownReasons: why.Unknown,
	}
	if t.Changed.Block > 0 {
		out.Block = new(int64(t.Changed.Block))
	}
	why.Note("block", out.Block != nil, "")
	price := PriceSource(f)
	why.Note("price", out.Price != nil, price)
	why.Note("liquidity", out.Liquidity != nil, LiquiditySource(f))
	why.Note("volume", out.Volume != nil, "chain_swaps")
	why.NoteOfSupply("market_cap", out.MarketCap != nil, price, &f)
	why.NoteOfSupply("supply_basis", out.SupplyBasis != nil, "", &f)
	why.Note("change_24h_pct", out.Change24HPct != nil, "chain_swaps")
	why.Note("pair", out.Pair != nil, "")
	out.PairKind = why.PairKind(t.Reference())
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
