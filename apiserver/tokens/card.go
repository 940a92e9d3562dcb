package tokens

import (
	"github.com/boardwalkhq/boardwalk/apiserver/cards"
	"github.com/boardwalkhq/boardwalk/apiserver/lookup"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/apiserver/share"
	"github.com/boardwalkhq/boardwalk/internal/figure"
	"github.com/boardwalkhq/boardwalk/internal/sharecard"
)

func (h *Handlers) card(r *serve.Request) (*serve.Answer, error) {
	return h.Cards.Answer(r, sharecard.KindToken, "mint", h.buildCard)
}

// buildCard makes the data of a token's card, from the figures of its other answers.
func (h *Handlers) buildCard(r *serve.Request) (*cards.Built, error) {
	s, err := lookup.Named(r, h.Readers.Tokens, "mint")
	if err != nil {
		return nil, err
	}
	f := s.Figures()
	mint := s.Token.Token.Mint
	out := &sharecard.Token{
		Asset:    share.NewAsset(r, s.Chain, mint, s.Token.Token.Name, s.Token.Token.Symbol),
		PriceUSD: share.Rounded(f.Price, figure.RoundPrice), Change24hPct: share.Rounded(f.Change24hPct, figure.RoundPercent),
		LiquidityUSD: share.Rounded(f.LiquidityUSD, figure.RoundUSD), Volume24hUSD: share.Rounded(f.VolumeUSD, figure.RoundUSD),
		MarketCapUSD: share.Rounded(f.FDV, figure.RoundUSD),
	}
	if f.Pairs > 0 && !f.OnCurvesAlone {
		out.Pools = &f.Pairs
	}
	if out.PriceUSD != nil {
		out.PricedAt = figure.RoundMinute(s.AsOf) // it moves with its quote, whenever the token was traded last
	}
	if r.Seen.TokenMembers.IsKnown(s.Chain) {
		out.Members = &sharecard.Members{Count: figure.RoundCount(r.Seen.TokenMembers.Count(s.Chain, mint))}
	}
	launchedAt := int64(0)
	if c, launched := r.Seen.Board.Launched(s.Chain, mint); launched {
		launchedAt = c.Launch.CreatedAt
	}
	if out.Picture, err = h.Cards.Picture(r, s.Chain, mint); err != nil {
		return nil, err
	}
	if out.Day, out.SinceLaunch, err = h.Cards.Day(r, &s.Token, launchedAt); err != nil {
		return nil, err
	}
	return &cards.Built{Card: out, Subject: share.Subject(sharecard.KindToken, s.Chain, mint), AsOf: s.AsOf}, nil
}
