package httpapi

import (
	"github.com/boardwalkhq/boardwalk/apiserver/cards"
	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/view"
	"github.com/boardwalkhq/boardwalk/internal/candle"
	"github.com/boardwalkhq/boardwalk/internal/figure"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/plain"
	"github.com/boardwalkhq/boardwalk/internal/price"
	"github.com/boardwalkhq/boardwalk/internal/sharecard"
)

// The shape of a card's day: as fine as a card has room for.
const (
	dayTimeframe = contract.TimeframeM5
	dayPoints    = sharecard.MaxPoints
	dayS         = 24 * 60 * 60
)

// youngTimeframes are those of the line of a token younger than a day, the finest first.
var youngTimeframes = []contract.Timeframe{contract.TimeframeM1, contract.TimeframeM3, contract.TimeframeM5}

// buildToken makes the data of a token's card, from the figures of its other answers.
func (a *API) buildToken(r *request) (*cards.Built, error) {
	s, err := a.subject(r, "mint")
	if err != nil {
		return nil, err
	}
	f := s.Figures()
	mint := s.Token.Token.Mint
	out := &sharecard.Token{
		Asset:    a.asset(r, s.Chain, mint, s.Token.Token.Name, s.Token.Token.Symbol),
		PriceUSD: drawn(f.Price, figure.RoundPrice), Change24hPct: drawn(f.Change24hPct, figure.RoundPercent),
		LiquidityUSD: drawn(f.LiquidityUSD, figure.RoundUSD), Volume24hUSD: drawn(f.VolumeUSD, figure.RoundUSD),
		MarketCapUSD: drawn(f.FDV, figure.RoundUSD),
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
	if out.Picture, err = a.Profiles.Picture(r.Context(), s.Chain, mint); err != nil {
		return nil, unavailable(err)
	}
	out.Picture = fitting(out.Picture)
	if out.Day, out.SinceLaunch, err = a.day(r, s, launchedAt); err != nil {
		return nil, err
	}
	return &cards.Built{Card: out, Subject: subjectOf(sharecard.KindToken, s.Chain, mint), AsOf: s.AsOf}, nil
}

// drawn is a figure rounded to what a card shows of it, so that cards that look alike are one card. What is no finite number is
// unknown.
func drawn(v *float64, round func(float64) float64) *float64 {
	if v = number(v); v == nil {
		return nil
	}
	return new(round(*v))
}

func subjectOf(kind sharecard.Kind, chain string, mint market.Address) string {
	return string(kind) + " " + chain + " " + mint.String()
}

func (a *API) asset(r *request, chain string, mint market.Address, name, symbol string) sharecard.Asset {
	out := sharecard.Asset{Mint: mint.String(), Chain: chain, Symbol: plain.Text(symbol), Name: plain.Text(name)}
	if c := r.seen.Catalog.Chain(chain); c != nil {
		out.Chain = c.Label
	}
	return out
}

// fitting leaves out a picture that is too large to be sent to the renderer; the store's own are far from that.
func fitting(picture []byte) []byte {
	if len(picture) > sharecard.MaxPicture {
		return nil
	}
	return picture
}

// day is the shape of the reference pool's last 24 hours: its closes, gaps filled. That of a token which was launched since (launchedAt, unix
// seconds; 0 is unknown) begins at its launch, in the finest buckets that a card has room for.
func (a *API) day(r *request, s *subject, launchedAt int64) (points []float64, sinceLaunch bool, err error) {
	sinceLaunch = isYoung(launchedAt, s.AsOf)
	over := newSpan(string(dayTimeframe))
	from := int64(-1)
	if sinceLaunch {
		from = launchedAt
		for _, tf := range youngTimeframes {
			over = newSpan(string(tf))
			if width := int64(over.width); (over.width.Open(s.AsOf)-over.width.Open(from))/width < dayPoints {
				break
			}
		}
	}
	over.from, over.to = window(over.width, from, -1, dayPoints, s.AsOf)
	bars, err := a.bars(r.Context(), s, s.Reference(), over, candle.USD)
	if err != nil {
		return nil, false, err
	}
	line := make([]float64, 0, len(bars.list))
	for i := range bars.list {
		line = append(line, bars.list[i].Close)
	}
	return figure.RoundLine(line), sinceLaunch, nil
}

// isYoung reports whether a token is younger than the day that its change is told over, which then begins at its launch.
func isYoung(launchedAt, asOf int64) bool { return launchedAt > asOf-dayS }

// buildLaunch makes the data of a launch's card. One that has no value in USD yet is drawn with unknown figures.
func (a *API) buildLaunch(r *request) (*cards.Built, error) {
	l, err := a.launched(r)
	if err != nil {
		return nil, err
	}
	name, symbol := l.card.Names()
	base := a.launchBase(&l.card, max(l.token.AsOf-l.CreatedAt, 0))
	out := &sharecard.Launch{
		Asset: a.asset(r, l.Chain, l.Mint, name, symbol), Venue: l.card.Venue.Label, Own: isOwn(l.card.Venue),
		Stage: stages[l.State], PriceUSD: drawn(base.PriceUSD, figure.RoundPrice), Change24hPct: drawn(base.Change24HPct, figure.RoundPercent),
		MarketCapUSD: drawn(base.MarketCapUSD, figure.RoundUSD), CreatedAt: l.CreatedAt, AgeS: figure.RoundAge(base.AgeS),
		GatePass: base.GatePass, GateFails: inWords(base.GateFails),
	}
	creator := launchCreator(l.card.Launch)
	if out.Creator = creator.Address; creator.Handle != nil {
		out.CreatorHandle = plain.Text(*creator.Handle)
	}
	if l.card.Listed {
		out.LiquidityUSD, out.Volume24hUSD = drawn(&base.LiquidityUSD, figure.RoundUSD), drawn(&base.Volume24HUSD, figure.RoundUSD)
	}
	if base.Holders != nil {
		out.Holders = new(figure.RoundCount(int(*base.Holders)))
	} else {
		out.HoldersSource = string(base.HoldersSource)
	}
	if l.card.Launch.HasCurve && l.card.Launch.HasProgress {
		out.Curve = l.drawnCurve(r.seen.Catalog.Chain(l.Chain))
	}
	if out.Picture, err = a.Profiles.Picture(r.Context(), l.Chain, l.Mint); err != nil {
		return nil, unavailable(err)
	}
	out.Picture = fitting(out.Picture)
	if out.Stage == sharecard.StageGraduated || out.Stage == sharecard.StageLive {
		if out.Day, out.SinceLaunch, err = a.day(r, &subject{Token: l.token}, l.CreatedAt); err != nil {
			return nil, err
		}
	} else {
		out.SinceLaunch = isYoung(l.CreatedAt, l.token.AsOf)
	}
	return &cards.Built{Card: out, Subject: subjectOf(sharecard.KindLaunch, l.Chain, l.Mint), AsOf: l.token.AsOf}, nil
}

// stages are the words of cards for the states of launches.
var stages = map[market.LaunchState]sharecard.Stage{
	market.LaunchOnCurve: sharecard.StageCurve, market.LaunchCompleted: sharecard.StageCompleted,
	market.LaunchGraduated: sharecard.StageGraduated, market.LaunchLive: sharecard.StageLive,
}

// drawnCurve is how far the curve is, with what it raised in whole coins.
func (l *launched) drawnCurve(on *view.Chain) *sharecard.Curve {
	of := l.card.Launch
	out := &sharecard.Curve{ProgressPct: figure.RoundProgress(min(max(of.Progress, 0), 100)), Basis: string(of.Basis)}
	quote := l.beside.Quote
	symbol := plain.Text(quote.Symbol)
	decimals, known := quote.Decimals, quote.HasDecimals
	if on != nil && on.NativeSymbol != "" && (l.Quote.IsNative() || !l.Quote.IsNone() && l.Quote == on.Wrapped) {
		// The coin of every EVM chain has 18.
		symbol, decimals, known = on.NativeSymbol, 18, true
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

// bars of the board's gate by the names of the API.
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
