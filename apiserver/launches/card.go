package launches

import (
	"github.com/boardwalkhq/boardwalk/apiserver/cards"
	"github.com/boardwalkhq/boardwalk/apiserver/read/declared"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/apiserver/share"
	"github.com/boardwalkhq/boardwalk/apiserver/wire"
	"github.com/boardwalkhq/boardwalk/internal/figure"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/plain"
	"github.com/boardwalkhq/boardwalk/internal/price"
	"github.com/boardwalkhq/boardwalk/internal/sharecard"
)

func (h *Handlers) card(r *serve.Request) (*serve.Answer, error) {
	return h.Cards.Answer(r, sharecard.KindLaunch, "mint", h.buildCard)
}

// buildCard makes the data of a launch's card. One that has no value in USD yet is drawn with unknown figures.
func (h *Handlers) buildCard(r *serve.Request) (*cards.Built, error) {
	l, err := h.launched(r)
	if err != nil {
		return nil, err
	}
	name, symbol := l.card.Names()
	base := h.launchCards.Base(&l.card, max(l.token.AsOf-l.CreatedAt, 0))
	out := &sharecard.Launch{
		Asset: share.NewAsset(r, l.Chain, l.Mint, name, symbol), Venue: l.card.Venue.Label, Own: wire.IsOwn(l.card.Venue),
		Stage: stages[l.State], PriceUSD: share.Rounded(base.PriceUSD, figure.RoundPrice), Change24hPct: share.Rounded(base.Change24HPct, figure.RoundPercent),
		MarketCapUSD: share.Rounded(base.MarketCapUSD, figure.RoundUSD), CreatedAt: l.CreatedAt, AgeS: figure.RoundAge(base.AgeS),
		GatePass: base.GatePass, GateFails: inWords(base.GateFails),
	}
	handle := func() string { return wire.CreatorHandle(r.Seen.Members, l.Chain, l.card.Launch) }
	out.Creator, out.CreatorHandle = l.card.Launch.Creator.String(), handle()
	if l.card.Listed {
		out.LiquidityUSD, out.Volume24hUSD = share.Rounded(&base.LiquidityUSD, figure.RoundUSD), share.Rounded(&base.Volume24HUSD, figure.RoundUSD)
	}
	if base.Holders != nil {
		out.Holders = new(figure.RoundCount(int(*base.Holders)))
	} else {
		out.HoldersSource = string(base.HoldersSource)
	}
	if l.card.Launch.HasCurve && l.card.Launch.HasProgress {
		out.Curve = l.drawnCurve(r.Seen.Catalog.Chain(l.Chain))
	}
	if out.Picture, err = h.Cards.Picture(r, l.Chain, l.Mint); err != nil {
		return nil, err
	}
	if out.Stage == sharecard.StageGraduated || out.Stage == sharecard.StageLive {
		if out.Day, out.SinceLaunch, err = h.Cards.Day(r, &l.token, l.CreatedAt); err != nil {
			return nil, err
		}
	} else {
		out.SinceLaunch = share.IsYoung(l.CreatedAt, l.token.AsOf)
	}
	return &cards.Built{
		Card: out, Subject: share.Subject(sharecard.KindLaunch, l.Chain, l.Mint), AsOf: l.token.AsOf, Named: cards.Named{Handle: out.CreatorHandle, Now: handle},
	}, nil
}

// stages are the words of cards for the states of launches.
var stages = map[market.LaunchState]sharecard.Stage{
	market.LaunchOnCurve: sharecard.StageCurve, market.LaunchCompleted: sharecard.StageCompleted,
	market.LaunchGraduated: sharecard.StageGraduated, market.LaunchLive: sharecard.StageLive,
}

// drawnCurve is how far the curve is, with what it raised in whole coins.
func (l *launched) drawnCurve(on *declared.Chain) *sharecard.Curve {
	of := l.card.Launch
	out := &sharecard.Curve{ProgressPct: figure.RoundProgress(min(max(of.Progress, 0), 100)), Basis: string(of.Basis())}
	quote := l.beside.Quote
	symbol := plain.Text(quote.Symbol)
	decimals, known := quote.Decimals, quote.HasDecimals
	if on != nil && on.NativeSymbol != "" && (l.Quote.IsNative() || !l.Quote.IsNone() && l.Quote == on.Wrapped) {
		symbol, decimals, known = on.NativeSymbol, on.NativeDecimals, true
	}
	if !known || symbol == "" {
		return out
	}
	coins := func(raw *market.Amount) string { return figure.Coins(price.Whole(raw, decimals)) + " " + symbol }
	out.Raised = coins(&of.Raised)
	if !of.Target.IsZero() {
		out.Target = coins(&of.Target)
	}
	return out
}

// gateWords are the bars of the board's gate in words, by their names in the API.
var gateWords = map[string]string{
	"liquidity_usd": "liquidity", "volume_24h_usd": "24 h volume", "age_s_min": "too young", "age_s_max": "too old",
	"holders": "holders", "curve.progress_pct": "curve progress", "curve.buyers_1h": "buyers", "curve.full": "no pool yet", "trust": "safety checks",
}

func inWords(fails []string) []string {
	out := make([]string, 0, len(fails))
	for _, f := range fails {
		word, ok := gateWords[f]
		if !ok {
			word = f
		}
		out = append(out, word)
	}
	return out
}
