package tokens

import (
	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/lookup"
	"github.com/boardwalkhq/boardwalk/apiserver/read/boards"
	"github.com/boardwalkhq/boardwalk/apiserver/read/declared"
	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/apiserver/wire"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

func (h *Handlers) marketLive(r *serve.Request) (*serve.Answer, error) {
	perChain := r.Number("per_chain")
	list := r.Seen.Live
	if list == nil {
		return nil, serve.Unavailable(serve.ErrNoSnapshot)
	}
	return h.live.Get(list.Version, perChain, func() (*serve.Answer, error) { return serve.Encode(liveList(r, list, int(perChain))) })
}

// liveList deals the chains' tokens round-robin by their rank on their chain.
func liveList(r *serve.Request, list *boards.Live, perChain int) contract.MarketLive {
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
			wire.NoteBlock(out.Blocks, c.ID, c.Ranked.Block)
			newest = max(newest, c.Ranked.At)
		}
	}
	for rank := range perChain {
		for i := range list.Chains {
			if tokens := list.Chains[i].Tokens; rank < len(tokens) {
				t := &tokens[rank]
				wire.NoteBlock(out.Blocks, t.Chain, t.Changed.Block)
				newest = max(newest, t.Changed.At)
				out.Tokens = append(out.Tokens, contract.LiveToken{
					MarketToken: wire.MarketToken(&t.Token, t.Figures, false), Rank: len(out.Tokens) + 1, ChainRank: rank + 1,
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
	return wire.TractionOf(&t.Parts, wire.Rounded(t.Score), wire.UnknownHolders(status == market.HoldersCurrent && !t.Stale, t.Stale, status), t.KnowsMembers)
}

func (h *Handlers) info(r *serve.Request) (*serve.Answer, error) {
	const param = "mint_address"
	if serve.FamilyOf(r.Text(param)) == chainconfig.EVM && !r.Given("chain") {
		return nil, r.UnsupportedAddress(contract.ParameterErrorInPath, param,
			"is no Solana mint, and without chain Solana is meant: name its chain", declared.OfFamily(chainconfig.EVM))
	}
	s, err := lookup.Named(r, h.Readers.Tokens, param)
	if err != nil {
		return nil, err
	}
	f := s.Figures()
	c, launched := r.Seen.Board.Launched(s.Chain, s.Token.Token.Mint)
	out := contract.TokenInfo{
		MarketToken: wire.MarketToken(&s.Token, f, launched), LiquidityPairs: f.Pairs, AsOf: wire.Timestamp(s.Changed.At), Stale: s.Stale,
		Blocks: wire.Blocks(&s.Token), Links: links(s.Metadata, launched || s.AwaitsMetadata),
	}
	if s.Token.Token.HasDecimals {
		out.Decimals = new(int(s.Token.Token.Decimals))
	} else {
		out.UnknownReasons["decimals"] = contract.UnknownReasonUnavailable
	}
	if launched {
		out.CreatedAt = new(wire.Timestamp(c.Launch.CreatedAt))
		out.Launch = &contract.TokenLaunch{Launchpad: wire.LaunchpadOf(c.Venue), Graduation: wire.Graduation(c.Launch)}
	} else {
		out.UnknownReasons["created_at"] = contract.UnknownReasonUnavailable
		out.UnknownReasons["launch"] = contract.UnknownReasonNotApplicable
	}
	return serve.Encode(out)
}

// links lists the links that a token's metadata names.
func links(m *figures.Metadata, awaited bool) contract.TokenLinks {
	out := contract.TokenLinks{UnknownReasons: contract.UnknownReasons{}}
	none := contract.UnknownReasonUnavailable
	if m == nil {
		if m = (&figures.Metadata{}); awaited {
			none = contract.UnknownReasonIndexing
		}
	}
	for _, l := range []struct {
		name, url string
		into      **string
	}{{"website", m.Website, &out.Website}, {"x", m.X, &out.X}, {"telegram", m.Telegram, &out.Telegram}} {
		if *l.into = wire.Link(l.url); *l.into == nil {
			out.UnknownReasons[l.name] = none
		}
	}
	return out
}
