package httpapi

import (
	"errors"
	"net/http"
	"sync"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/view"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

var errNoSnapshot = errors.New("nothing has been read yet")

// marketToken is the wire form of a token's figures; each unknown one has its reason.
func marketToken(t *view.Token, f view.Figures) contract.MarketToken {
	out := contract.MarketToken{
		Mint: t.Token.Mint.String(), Chain: t.Chain, Name: t.Token.Name, Symbol: t.Token.Symbol,
		Price: number(f.Price), Change24HPct: number(f.Change24hPct), Liquidity: number(f.LiquidityUSD),
		Volume: number(f.VolumeUSD), MarketCap: number(f.FDV), FDV: number(f.FDV),
		FigureSources: contract.FigureSources{}, UnknownReasons: contract.UnknownReasons{},
	}
	if p := t.Reference(); p != nil {
		pair := p.ID.String()
		out.Pair = &pair
	}
	if out.MarketCap != nil {
		// No chain tells which of the supply circulates, so all of it counts, and the basis says so.
		basis := contract.SupplyBasisTotal
		out.SupplyBasis = &basis
	}
	missing := contract.UnknownReasonUnavailable
	if len(t.Pools) == 0 {
		missing = contract.UnknownReasonNotApplicable
	}
	figure := func(name string, v *float64, source contract.FigureSource, why contract.UnknownReason) {
		if v != nil {
			out.FigureSources[name] = source
		} else {
			out.UnknownReasons[name] = why
		}
	}
	figure("price", out.Price, "pool_reserves", missing)
	figure("change_24h_pct", out.Change24HPct, "chain_swaps", missing)
	figure("liquidity", out.Liquidity, "pool_reserves", missing)
	figure("volume", out.Volume, "chain_swaps", missing)
	figure("market_cap", out.MarketCap, "pool_reserves", missing)
	figure("fdv", out.FDV, "pool_reserves", missing)
	if out.Pair == nil {
		out.UnknownReasons["pair"] = missing
	}
	if out.SupplyBasis == nil {
		out.UnknownReasons["supply_basis"] = missing
	}
	out.UnknownReasons["image_url"] = contract.UnknownReasonUnavailable
	return out
}

// liveBodies keeps the encoded live list by its only parameter, for one version of the list.
type liveBodies struct {
	mu      sync.Mutex
	version int64
	byWidth map[int]*answer
}

func (a *API) marketLive(r *http.Request) (*answer, error) {
	q := newQuery(r)
	perChain := int(q.integer("per_chain", 12, 1, 50))
	if err := q.err(); err != nil {
		return nil, err
	}
	list := a.Market.Live()
	if list == nil {
		return nil, unavailable(errNoSnapshot)
	}
	a.live.mu.Lock()
	defer a.live.mu.Unlock()
	if a.live.version != list.Version || a.live.byWidth == nil {
		a.live.version, a.live.byWidth = list.Version, make(map[int]*answer)
	}
	if hit := a.live.byWidth[perChain]; hit != nil {
		return hit, nil
	}
	made, err := encode(a.liveList(list, perChain))
	if err == nil {
		a.live.byWidth[perChain] = made
	}
	return made, err
}

// liveList deals the chains' tokens round-robin by their rank on their chain.
func (a *API) liveList(list *view.Live, perChain int) contract.MarketLive {
	out := contract.MarketLive{PerChain: perChain, Stale: list.Stale, EmptyChains: []string{}, Tokens: []contract.LiveToken{}}
	asOf := list.AsOf
	if asOf == 0 {
		asOf = a.Now().Unix()
	}
	out.AsOf = timestamp(asOf)
	for _, c := range list.Chains {
		if len(c.Tokens) == 0 {
			out.EmptyChains = append(out.EmptyChains, c.ID)
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

func (a *API) tokenInfo(r *http.Request) (*answer, error) {
	const param = "mint_address"
	q := newQuery(r)
	if mint := pathVar(r, param); mintPattern.MatchString(mint) && isEVM(mint) && q.values.Get("chain") == "" {
		return nil, a.unsupportedAddress(param, "Without chain Solana is meant, and a 0x address is no Solana mint: name its chain.",
			func(c Chain) bool { return c.EVM })
	}
	s, err := a.subject(r, param, q)
	if err != nil {
		return nil, err
	}
	out := contract.TokenInfo{
		MarketToken: marketToken(&s.Token, s.Figures()), AsOf: timestamp(s.AsOf), Stale: s.Stale,
	}
	if s.Token.Token.HasDecimals {
		d := int(s.Token.Token.Decimals)
		out.Decimals = &d
	} else {
		out.UnknownReasons["decimals"] = contract.UnknownReasonUnavailable
	}
	for i := range s.Pools {
		if s.Pools[i].Untrusted == market.Trusted && s.Pools[i].Price > 0 {
			out.LiquidityPairs++
		}
	}
	out.UnknownReasons["created_at"] = contract.UnknownReasonUnavailable
	return encode(out)
}
