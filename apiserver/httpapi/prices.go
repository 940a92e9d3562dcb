package httpapi

import (
	"strings"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// asked is a token as a caller wrote it.
type asked struct {
	item, chain string
	mint        market.Address
	evm         bool
}

// askedTokens reads the items of a list; each may have its chain before it.
func (r *request) askedTokens(param string, items []string) ([]asked, error) {
	out := make([]asked, 0, len(items))
	for _, item := range items {
		q := asked{item: item}
		address := item
		if chain, rest, ok := strings.Cut(item, ":"); ok {
			q.chain, address = chain, rest
			if err := r.chainOf(contract.ParameterErrorInQuery, param, address, param, chain); err != nil {
				return nil, err
			}
		}
		if q.evm = isEVM(address); q.evm {
			var err error
			if q.mint, err = market.ParseEVMAddress(address); err != nil {
				return nil, err // the pattern was checked
			}
		}
		out = append(out, q)
	}
	return out, nil
}

func (a *API) tokenPrices(r *request) (*answer, error) {
	wanted, err := r.askedTokens("mints", r.list("mints"))
	if err != nil {
		return nil, err
	}
	var mints []market.Address
	for _, q := range wanted {
		if q.evm {
			mints = append(mints, q.mint)
		}
	}
	found, err := a.Tokens.TokensAt(r.Context(), mints)
	if err != nil {
		return nil, unavailable(err)
	}
	out := contract.TokenPrices{Prices: map[string]contract.PriceView{}, Missing: []string{}, Blocks: contract.Blocks{}}
	var newest int64
	for _, q := range wanted {
		s := r.choose(found[q.mint], q.chain)
		if !q.evm || s == nil {
			out.Missing = append(out.Missing, q.item)
			continue
		}
		out.Prices[q.item] = priceView(s)
		out.Stale = out.Stale || s.Stale
		noteBlock(out.Blocks, s.Chain, s.Changed.Block)
		newest = max(newest, s.Changed.At)
	}
	out.AsOf = a.asOf(r, newest)
	return encode(out)
}

func priceView(s *subject) contract.PriceView {
	f := s.Figures()
	why := newFigures(&s.Token)
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
