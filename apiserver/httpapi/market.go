package httpapi

import (
	"errors"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/view"
)

var errNoSnapshot = errors.New("nothing has been read yet")

// figures gathers where a body's figures come from, and why others are unknown.
type figures struct {
	sources contract.FigureSources
	unknown contract.UnknownReasons
	// missing is the reason of what this token just doesn't have.
	missing contract.UnknownReason
}

func newFigures(t *view.Token) figures {
	f := figures{contract.FigureSources{}, contract.UnknownReasons{}, contract.UnknownReasonUnavailable}
	if len(t.Pools) == 0 {
		f.missing = contract.UnknownReasonNotApplicable
	}
	return f
}

// note says of a figure where it comes from, or why it is unknown.
func (f *figures) note(name string, known bool, source contract.FigureSource) {
	switch {
	case !known:
		f.unknown[name] = f.missing
	case source != "":
		f.sources[name] = source
	}
}

func priceSource(f view.Figures) contract.FigureSource {
	if f.Pegged {
		return "declared_peg"
	}
	return "pool_reserves"
}

// marketToken is the wire form of a token's figures; each unknown one has its reason.
func marketToken(t *view.Token, f view.Figures) contract.MarketToken {
	why := newFigures(t)
	out := contract.MarketToken{
		Mint: t.Token.Mint.String(), Chain: t.Chain, Name: t.Token.Name, Symbol: t.Token.Symbol,
		Price: number(f.Price), Change24HPct: number(f.Change24hPct), Liquidity: number(f.LiquidityUSD),
		Volume: number(f.VolumeUSD), MarketCap: number(f.FDV), FDV: number(f.FDV), Pair: pairOf(t), SupplyBasis: supplyBasis(f),
		FigureSources: why.sources, UnknownReasons: why.unknown,
	}
	price := priceSource(f)
	why.note("price", out.Price != nil, price)
	why.note("change_24h_pct", out.Change24HPct != nil, "chain_swaps")
	why.note("liquidity", out.Liquidity != nil, "pool_reserves")
	why.note("volume", out.Volume != nil, "chain_swaps")
	why.note("market_cap", out.MarketCap != nil, price)
	why.note("fdv", out.FDV != nil, price)
	why.note("pair", out.Pair != nil, "")
	why.note("supply_basis", out.SupplyBasis != nil, "")
	why.unknown["image_url"] = contract.UnknownReasonUnavailable
	return out
}

func pairOf(t *view.Token) *string {
	if p := t.Reference(); p != nil {
		return new(p.ID.String())
	}
	return nil
}

// supplyBasis is the supply behind a market cap. No chain tells which of the supply circulates, so all of it counts, and
// the basis says so.
func supplyBasis(f view.Figures) *contract.SupplyBasis {
	if number(f.FDV) == nil {
		return nil
	}
	return new(contract.SupplyBasisTotal)
}

func (a *API) marketLive(r *request) (*answer, error) {
	perChain := r.number("per_chain")
	list := r.seen.Live
	if list == nil {
		return nil, unavailable(errNoSnapshot)
	}
	return a.live.get(list.Version, perChain, func() any { return a.liveList(r, list, int(perChain)) })
}

// liveList deals the chains' tokens round-robin by their rank on their chain.
func (a *API) liveList(r *request, list *view.Live, perChain int) contract.MarketLive {
	out := contract.MarketLive{
		AsOf: a.asOf(r, list.AsOf), PerChain: perChain, Stale: list.Stale, EmptyChains: []string{}, Tokens: []contract.LiveToken{},
		Blocks: contract.Blocks{},
	}
	for _, c := range list.Chains {
		if len(c.Tokens) == 0 {
			out.EmptyChains = append(out.EmptyChains, c.ID)
		}
		if c.Indexed {
			out.Blocks[c.ID] = blockRef(c.Block)
		}
	}
	for rank := range perChain {
		for i := range list.Chains {
			if tokens := list.Chains[i].Tokens; rank < len(tokens) {
				t := &tokens[rank]
				out.Tokens = append(out.Tokens, contract.LiveToken{
					MarketToken: marketToken(&t.Token, t.Figures), Rank: len(out.Tokens) + 1, ChainRank: rank + 1,
					Traction: liveTraction(t),
				})
			}
		}
	}
	return out
}

func liveTraction(t *view.Ranked) contract.Traction {
	p := t.Parts
	age := int64(p.AgeS)
	return contract.Traction{
		Score: rounded(t.Score),
		Parts: contract.TractionParts{
			Buyers: number(&p.Buyers), VolumeUSD: number(&p.VolumeUSD), LiquidityUSD: number(&p.LiquidityUSD), AgeS: &age,
			Wash: number(&p.Wash), Concentration: number(&p.Concentration),
		},
		UnknownReasons: contract.UnknownReasons{
			"new_holders": contract.UnknownReasonUnavailable, "members": contract.UnknownReasonUnavailable,
		},
	}
}

func (a *API) tokenInfo(r *request) (*answer, error) {
	const param = "mint_address"
	if isEVM(r.text(param)) && !r.given("chain") {
		return nil, r.unsupportedAddress(contract.ParameterErrorInPath, param,
			"is no Solana mint, and without chain Solana is meant: name its chain", onEVM)
	}
	s, err := a.subject(r, param)
	if err != nil {
		return nil, err
	}
	f := s.Figures()
	none := contract.UnknownReasonUnavailable
	out := contract.TokenInfo{
		MarketToken: marketToken(&s.Token, f), LiquidityPairs: f.Pairs, AsOf: timestamp(s.AsOf), Stale: s.Stale, Blocks: blocks(&s.Token),
		Links: contract.TokenLinks{UnknownReasons: contract.UnknownReasons{"website": none, "x": none, "telegram": none}},
	}
	if s.Token.Token.HasDecimals {
		out.Decimals = new(int(s.Token.Token.Decimals))
	} else {
		out.UnknownReasons["decimals"] = none
	}
	out.UnknownReasons["created_at"] = none
	out.UnknownReasons["launch"] = contract.UnknownReasonNotApplicable
	return encode(out)
}
