package social

import (
	"slices"
	"strconv"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/read/boards"
	"github.com/boardwalkhq/boardwalk/apiserver/read/declared"
	"github.com/boardwalkhq/boardwalk/apiserver/read/profit"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/apiserver/wire"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// onLandingPage is how many launches, and how many calls, a landing page shows. looksForCalls is how many of the latest calls are looked at for that: some may
// not be shown.
const onLandingPage, looksForCalls = 12, 60

func (h *Handlers) landingLive(r *serve.Request) (*serve.Answer, error) {
	if r.Seen.Board == nil || !r.Seen.HasStream() {
		return nil, serve.Unavailable(serve.ErrNoSnapshot)
	}
	out := contract.LandingLive{Launches: []contract.LandingLaunch{}}
	page := r.Seen.Board.Page(boards.PageQuery{Sort: boards.SortNew, Launchpad: declared.AllLaunchpads, Chain: declared.AllBoardChains, Limit: onLandingPage})
	for i := range page.Cards {
		out.Launches = append(out.Launches, h.landingLaunch(&page.Cards[i]))
	}
	latest := slices.Clone(r.Seen.Stream.Calls[max(len(r.Seen.Stream.Calls)-looksForCalls, 0):])
	slices.Reverse(latest)
	shown, err := h.showCalls(r.Context(), r.Seen, latest, withoutTexts)
	if err != nil {
		return nil, serve.Unavailable(err)
	}
	out.Calls = shown.calls[:min(len(shown.calls), onLandingPage)]
	out.AsOf, out.Stale = r.AsOf(max(page.AsOf, shown.newest)), page.Stale || shown.stale
	return serve.Encode(out)
}

func (h *Handlers) landingLaunch(c *boards.Shown) contract.LandingLaunch {
	of := h.launchCards.Base(c, 0)
	why := contract.UnknownReasons{}
	for _, name := range []string{"image_url", "market_cap_usd"} {
		if reason, ok := of.UnknownReasons[name]; ok {
			why[name] = reason
		}
	}
	return contract.LandingLaunch{
		Mint: of.Mint, Chain: of.Chain, Name: of.Name, Symbol: of.Symbol, ImageURL: of.ImageURL, Launchpad: of.Launchpad, CreatedAt: of.CreatedAt,
		MarketCapUSD: of.MarketCapUSD, UnknownReasons: why,
	}
}

func (h *Handlers) landingStats(r *serve.Request) (*serve.Answer, error) {
	newest := r.Seen.Newest()
	if newest == 0 {
		return nil, serve.Unavailable(serve.ErrNoSnapshot)
	}
	chains := allChains(r.Seen.Catalog)
	out := contract.LandingStats{Chains: len(chains), AsOf: r.AsOf(newest), UnknownReasons: contract.UnknownReasons{}}
	ids := make([]string, len(chains))
	for i, c := range chains {
		ids[i] = c.ID
	}
	counts, err := h.Readers.Totals.Counts(r.Context(), ids)
	if err != nil {
		return nil, serve.Unavailable(err)
	}
	out.Launches, out.Graduated, out.TokensTraded = counts.Launches, counts.Graduated, counts.Tokens
	if r.Seen.Members.IsEmpty() {
		for _, name := range []string{"members", "trades", "volume_usd", "since"} {
			out.UnknownReasons[name] = contract.UnknownReasonUnavailable
		}
		return serve.Encode(out)
	}
	trades, volume := 0, market.USD{}
	first, ok, err := h.Readers.Profit.FirstHour(r.Context(), chains)
	if err != nil {
		return nil, serve.Unavailable(err)
	}
	if ok {
		span := profit.Span{Interval: week, From: opens(max(first, newest-mostWeeks*week), week), To: newest, Final: r.Seen.Final()}
		var s *profit.Series
		if s, out.Stale, err = h.Readers.Profit.Series(r.Context(), chains, span); err != nil {
			return nil, serve.Unavailable(err)
		}
		for _, p := range s.Points {
			trades, volume = trades+p.Trades, volume.Add(p.Volume)
		}
		out.Since = new(wire.Timestamp(first))
	} else {
		out.UnknownReasons["since"] = contract.UnknownReasonNotApplicable
	}
	out.Members, out.Trades, out.VolumeUSD = new(r.Seen.Members.Count()), &trades, new(threeDigits(volume.Dollars()))
	return serve.Encode(out)
}

// allChains are the declared chains.
func allChains(in *declared.Catalog) (out []profit.Chain) {
	for i := range in.Chains {
		out = append(out, profit.Chain{ID: in.Chains[i].ID, Family: in.Chains[i].Family})
	}
	return out
}

// threeDigits rounds to three significant digits. Two exact sums would tell what a private trade between them was worth.
func threeDigits(v float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 2, 64), 64)
	if err != nil {
		return 0
	}
	return rounded
}
