package httpapi

import (
	"github.com/boardwalkhq/boardwalk/apiserver/cards"
	"github.com/boardwalkhq/boardwalk/internal/figure"
	"github.com/boardwalkhq/boardwalk/internal/sharecard"
)

func (h *TokenHandlers) card(r *request) (*answer, error) {
	return h.Cards.Answer(r, sharecard.KindToken, "mint", h.buildCard)
}

// buildCard makes the data of a token's card, from the figures of its other answers.
func (h *TokenHandlers) buildCard(r *request) (*cards.Built, error) {
	s, err := namedSubject(r, h.Readers.Tokens, "mint")
	if err != nil {
		return nil, err
	}
	f := s.Figures()
	mint := s.Token.Token.Mint
	out := &sharecard.Token{
		Asset:    newAsset(r, s.Chain, mint, s.Token.Token.Name, s.Token.Token.Symbol),
		PriceUSD: roundTo(f.Price, figure.RoundPrice), Change24hPct: roundTo(f.Change24hPct, figure.RoundPercent),
		LiquidityUSD: roundTo(f.LiquidityUSD, figure.RoundUSD), Volume24hUSD: roundTo(f.VolumeUSD, figure.RoundUSD),
		MarketCapUSD: roundTo(f.FDV, figure.RoundUSD),
	}
	if f.Pairs > 0 && !f.OnCurvesAlone {
		out.Pools = &f.Pairs
	}
	if out.PriceUSD != nil {
		out.PricedAt = figure.RoundMinute(s.AsOf) // it moves with its quote, whenever the token was traded last
	}
	launchedAt := int64(0)
	if c, launched := r.seen.Board.Launched(s.Chain, mint); launched {
		launchedAt = c.Launch.CreatedAt
	}
	if out.Picture, err = h.Cards.picture(r, s.Chain, mint); err != nil {
		return nil, err
	}
	if out.Day, out.SinceLaunch, err = h.Cards.day(r, &s.Token, launchedAt); err != nil {
		return nil, err
	}
	return &cards.Built{Card: out, Subject: subjectOf(sharecard.KindToken, s.Chain, mint), AsOf: s.AsOf}, nil
}
