package social

import (
	"slices"
	"strconv"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
	"github.com/boardwalkhq/boardwalk/apiserver/read/members"
	"github.com/boardwalkhq/boardwalk/apiserver/read/profit"
	"github.com/boardwalkhq/boardwalk/apiserver/read/standings"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/apiserver/wire"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/pnl"
)

func (h *Handlers) leaderboard(r *serve.Request) (*serve.Answer, error) {
	newest := r.Seen.Newest()
	if newest == 0 {
		return nil, serve.Unavailable(serve.ErrNoSnapshot)
	}
	chains, err := chainsOf(r)
	if err != nil {
		return nil, err
	}
	b, stale, err := h.Readers.Profit.Board(r.Context(), chains, newest-newest%60, h.ProvedWalletsAlone)
	if err != nil {
		return nil, serve.Unavailable(err)
	}
	key := leadersKey{b.Version, r.Seen.Standings.Version(), int(r.Number("limit")), stale}
	return h.leaders.Get(r.Seen.Members.Version(), key, func() (*serve.Answer, error) { return h.leadersOf(r, b, &key) })
}

// leadersKey is what a leaderboard follows from besides what is known of members.
type leadersKey struct {
	board     int64
	standings standings.Version
	limit     int
	stale     bool
}

func (h *Handlers) leadersOf(r *serve.Request, b *profit.Board, key *leadersKey) (*serve.Answer, error) {
	out := contract.Leaderboard{
		AsOf: wire.Timestamp(b.To), WindowS: pnl.Day, From: b.From, To: b.To, Method: contract.ProfitMethod(pnl.Method), Currency: contract.LeaderboardCurrencyUSD,
		Traders: []contract.LeaderboardTrader{}, Stale: key.stale,
	}
	shown := make([]*profit.Trader, 0, key.limit)
	var mints []market.Address
	for i := range b.Traders {
		t := &b.Traders[i]
		m, ok := r.Seen.Members.Member(t.Member)
		if !ok {
			continue // they have left
		}
		out.Traders = append(out.Traders, traderOf(r, t, m, len(out.Traders)+1))
		shown = append(shown, t)
		if t.Best != nil {
			mints = append(mints, t.Best.Mint)
		}
		if len(shown) == key.limit {
			break
		}
	}
	found, err := h.Readers.Tokens.TokensAt(r.Context(), mints)
	if err != nil {
		return nil, serve.Unavailable(err)
	}
	for i, t := range shown {
		if t.Best != nil {
			nameBest(out.Traders[i].Best, found[t.Best.Mint])
		}
	}
	return serve.Encode(out)
}

// chainsOf are the chains that a request is about: that of the query, or all.
func chainsOf(r *serve.Request) ([]profit.Chain, error) {
	id := r.Text("chain")
	if id != "" && r.Seen.Catalog.Chain(id) == nil {
		return nil, r.UnsupportedChain("chain", id)
	}
	all := allChains(r.Seen.Catalog)
	if id == "" {
		return all, nil
	}
	return slices.DeleteFunc(all, func(c profit.Chain) bool { return c.ID != id }), nil
}

// traderOf is a member's place on the leaderboard. The amounts of who keeps a wallet private are rounded, since exact ones would tell the wallet.
func traderOf(r *serve.Request, t *profit.Trader, m members.Member, rank int) contract.LeaderboardTrader {
	public, all := publicWallet(r, t)
	amount := func(u market.USD) float64 {
		if all {
			return wire.Rounded(u.Dollars())
		}
		return coarse(u.Dollars())
	}
	out := contract.LeaderboardTrader{
		Rank: rank, Handle: m.Handle, RealisedPnlUSD: amount(t.Realised()), CostUSD: amount(t.Cost), ProceedsUSD: amount(t.Proceeds), FeesUSD: amount(t.Fees),
		Sells: t.Sales, Wins: t.Wins, Losses: t.Losses, ExcludedSellsUSD: amount(t.Excluded), Wallet: public,
		UnknownReasons: contract.UnknownReasons{"gas_usd": contract.UnknownReasonUnavailable},
	}
	if rank, ok := r.Seen.Standings.Rank(t.Member); ok {
		out.GameRank = new(wire.GameRank(rank))
	} else {
		out.UnknownReasons["game_rank"] = contract.UnknownReasonUnavailable
	}
	none := func(what string) { out.UnknownReasons[what] = contract.UnknownReasonNotApplicable }
	if m.AvatarURL != "" {
		out.AvatarURL = &m.AvatarURL
	} else {
		none("avatar_url")
	}
	if pct, ok := t.RealisedPct(); ok {
		if !all {
			pct = coarse(pct)
		}
		out.RealisedPnlPct = wire.Number(&pct)
	} else {
		none("realised_pnl_pct")
	}
	rate, _ := t.WinRatePct() // there are sales
	out.WinRatePct = wire.Rounded(rate)
	if t.WithoutGas == 0 {
		out.GasUSD = new(amount(t.Gas))
		delete(out.UnknownReasons, "gas_usd")
	}
	if t.Best != nil {
		out.Best = &contract.LeaderboardBest{
			Mint: t.Best.Mint.String(), Chain: t.Best.Chain, PnlUSD: amount(t.Best.Realised),
			UnknownReasons: contract.UnknownReasons{"symbol": contract.UnknownReasonUnavailable},
		}
	} else {
		none("best")
	}
	if public == nil {
		none("wallet")
	}
	return out
}

// publicWallet is the wallet of a trader that realised most of those that they show by now; all says that they show every one.
func publicWallet(r *serve.Request, t *profit.Trader) (wallet *string, all bool) {
	all = true
	for _, w := range t.Wallets {
		owner, ok := r.Seen.Members.Owner(w.Family, w.Wallet, w.Chain)
		switch {
		case !ok || owner.Number != t.Member || !owner.IsPublic:
			all = false
		case wallet == nil:
			wallet = new(w.Wallet.String())
		}
	}
	return wallet, all
}

// coarse has two significant digits.
func coarse(v float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 2, 64), 64)
	if err != nil {
		return 0
	}
	return rounded
}

// nameBest says what the token of a sale calls itself.
func nameBest(best *contract.LeaderboardBest, tokens []figures.Token) {
	i := slices.IndexFunc(tokens, func(t figures.Token) bool { return t.Chain == best.Chain })
	if i >= 0 {
		best.Symbol = &tokens[i].Token.Symbol
		delete(best.UnknownReasons, "symbol")
	}
}

const (
	hour = 60 * 60
	day  = 24 * hour
	week = 7 * day
	// monday is how far the first Monday of unix time is from its beginning, a Thursday.
	monday = 4 * day
	// mostWeeks bounds the series of all time.
	mostWeeks = 520
)

// ranges are the buckets of each range, and how many there are; those of all time go by the first hour.
var ranges = map[string]struct{ interval, points int64 }{
	"24h": {hour, 24}, "7d": {6 * hour, 28}, "30d": {day, 30}, "90d": {day, 90}, "all": {week, 0},
}

// crowd is from how many members on a sum tells nobody's amount.
const crowd = 5

func (h *Handlers) series(r *serve.Request) (*serve.Answer, error) {
	newest := r.Seen.Newest()
	if newest == 0 {
		return nil, serve.Unavailable(serve.ErrNoSnapshot)
	}
	chains, err := chainsOf(r)
	if err != nil {
		return nil, err
	}
	name := r.Text("range")
	buckets := ranges[name]
	span := profit.Span{Interval: buckets.interval, To: newest, Final: r.Seen.Final()}
	span.From = opens(newest, buckets.interval) - (buckets.points-1)*buckets.interval
	if buckets.points == 0 {
		first, ok, err := h.Readers.Profit.FirstHour(r.Context(), chains)
		if err != nil {
			return nil, serve.Unavailable(err)
		}
		if !ok {
			first = newest
		}
		span.From = opens(max(first, newest-mostWeeks*week), week)
	}
	s, stale, err := h.Readers.Profit.Series(r.Context(), chains, span)
	if err != nil {
		return nil, serve.Unavailable(err)
	}
	out := contract.ProfitSeries{
		Range: contract.ProfitRange(name), IntervalS: int(s.Interval), Method: contract.ProfitMethod(pnl.Method), Points: make([]contract.ProfitPoint, 0, len(s.Points)), Stale: stale,
		AsOf: r.AsOf(newest),
	}
	var total float64 // of what is told, so that no sum tells more
	for _, p := range s.Points {
		realised := wire.Rounded(p.Realised.Dollars())
		if p.Members < crowd {
			realised = coarse(realised)
		}
		total += realised
		out.Points = append(out.Points, contract.ProfitPoint{
			T: p.T, RealisedUSD: realised, CumulativeUSD: wire.Rounded(total), Sells: p.Sales, Traders: p.Members, Final: p.IsFinal,
		})
	}
	out.TotalUSD = wire.Rounded(total)
	return serve.Encode(out)
}

// opens is when the bucket of a time opens.
func opens(t, interval int64) int64 {
	if interval == week {
		return t - (t-monday)%week
	}
	return t - t%interval
}
