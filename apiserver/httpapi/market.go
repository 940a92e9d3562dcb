package httpapi

import (
	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/read/boards"
	"github.com/boardwalkhq/boardwalk/apiserver/read/declared"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

func (h *TokenHandlers) marketLive(r *request) (*answer, error) {
	perChain := r.number("per_chain")
	list := r.seen.Live
	if list == nil {
		return nil, unavailable(errNoSnapshot)
	}
	return h.live.Get(list.Version, perChain, func() (*answer, error) { return encode(liveList(r, list, int(perChain))) })
}

// liveList deals the chains' tokens round-robin by their rank on their chain.
func liveList(r *request, list *boards.Live, perChain int) contract.MarketLive {
	out := contract.MarketLive{
		PerChain: perChain, Stale: list.Stale, EmptyChains: []string{}, Tokens: []contract.LiveToken{},
		Blocks: contract.Blocks{},
	}
	var newest int64
	for _, c := range list.Chains {
		if len(c.Tokens) == 0 {
			out.EmptyChains = append(out.EmptyChains, c.ID)
		}
		if c.Indexed {
			noteBlock(out.Blocks, c.ID, c.Ranked.Block)
			newest = max(newest, c.Ranked.At)
		}
	}
	for rank := range perChain {
		for i := range list.Chains {
			if tokens := list.Chains[i].Tokens; rank < len(tokens) {
				t := &tokens[rank]
				noteBlock(out.Blocks, t.Chain, t.Changed.Block)
				newest = max(newest, t.Changed.At)
				out.Tokens = append(out.Tokens, contract.LiveToken{
					MarketToken: marketToken(&t.Token, t.Figures, t.Metadata, t.Metadata != nil), Rank: len(out.Tokens) + 1, ChainRank: rank + 1,
					Traction: liveTraction(t),
				})
			}
		}
	}
	out.AsOf = r.AsOf(newest)
	return out
}

func liveTraction(t *boards.Ranked) contract.Traction {
	status := t.Token.Token.Holders.Status
	return tractionOf(&t.Parts, rounded(t.Score), unknownHolders(status == market.HoldersCurrent && !t.Stale, t.Stale, status))
}

func (h *TokenHandlers) info(r *request) (*answer, error) {
	const param = "mint_address"
	if isEVM(r.text(param)) && !r.given("chain") {
		return nil, r.UnsupportedAddress(contract.ParameterErrorInPath, param,
			"is no Solana mint, and without chain Solana is meant: name its chain", declared.OnEVM)
	}
	s, err := namedSubject(r, h.Readers.Tokens, param)
	if err != nil {
		return nil, err
	}
	f := s.Figures()
	c, launched := r.seen.Board.Launched(s.Chain, s.Token.Token.Mint)
	var metadata *boards.Metadata
	if launched {
		metadata = c.Metadata
	}
	out := contract.TokenInfo{
		MarketToken: marketToken(&s.Token, f, metadata, launched), LiquidityPairs: f.Pairs, AsOf: timestamp(s.Changed.At), Stale: s.Stale,
		Blocks: blocks(&s.Token), Links: links(metadata, launched),
	}
	if s.Token.Token.HasDecimals {
		out.Decimals = new(int(s.Token.Token.Decimals))
	} else {
		out.UnknownReasons["decimals"] = contract.UnknownReasonUnavailable
	}
	if launched {
		out.CreatedAt = new(timestamp(c.Launch.CreatedAt))
		out.Launch = &contract.TokenLaunch{Launchpad: launchpadOf(c.Venue), Graduation: graduation(c.Launch)}
	} else {
		out.UnknownReasons["created_at"] = contract.UnknownReasonUnavailable
		out.UnknownReasons["launch"] = contract.UnknownReasonNotApplicable
	}
	return encode(out)
}

// links are those that a token's metadata names.
func links(m *boards.Metadata, launched bool) contract.TokenLinks {
	out := contract.TokenLinks{UnknownReasons: contract.UnknownReasons{}}
	none := contract.UnknownReasonUnavailable
	if m == nil {
		if m = (&boards.Metadata{}); launched {
			none = contract.UnknownReasonIndexing
		}
	}
	for _, l := range []struct {
		name, url string
		into      **string
	}{{"website", m.Website, &out.Website}, {"x", m.X, &out.X}, {"telegram", m.Telegram, &out.Telegram}} {
		if *l.into = link(l.url); *l.into == nil {
			out.UnknownReasons[l.name] = none
		}
	}
	return out
}
