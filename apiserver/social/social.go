// Package social has the operations about the platform's members.
package social

import (
	"log/slog"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/read"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/apiserver/wire"
)

// presenceWindow is for how long a member is present, in seconds.
const presenceWindow = 180

// Options are what the handlers work with.
type Options struct {
	Readers read.Readers
	// OwnReaders are for the events that are made once for all who follow the stream: however many others ask, they are made.
	OwnReaders read.Readers
	Links      wire.Links
	// ProvedWalletsAlone keeps wallets off the leaderboard that the platform alone vouches for.
	ProvedWalletsAlone bool
	// BigTradeUSD is the least value in USD of a trade that the filter big shows.
	BigTradeUSD float64
	Now         func() time.Time
	Log         *slog.Logger
}

// Handlers answer the operations about members.
type Handlers struct {
	Options

	launchCards wire.LaunchCards
	rich        *richTexts
	leaders     serve.Bodies[leadersKey]
	live        live
}

// New makes the handlers.
func New(o Options) *Handlers {
	h := &Handlers{Options: o, launchCards: wire.LaunchCards{Links: o.Links}, rich: newRichTexts(o.Readers.Pairs)}
	own := o
	own.Readers = o.OwnReaders
	h.live.h = &Handlers{Options: own, launchCards: h.launchCards, rich: h.rich}
	return h
}

// Routes are the operations about members.
func (h *Handlers) Routes() []serve.Route {
	return []serve.Route{
		{Operation: "getTokenFamily", Handle: h.family},
		{Operation: "getLeaderboard", Handle: h.leaderboard},
		{Operation: "getLeaderboardSeries", Handle: h.series},
		{Operation: "getMembersIn", Handle: h.membersIn},
		{Operation: "getOnlineCount", Handle: h.onlineCount},
		{Operation: "getTradeFeed", Handle: h.feed},
		{Operation: "getLiveSince", Handle: h.since},
		{Operation: "getLiveStream", Handle: h.stream},
		{Operation: "getLandingLive", Handle: h.landingLive},
		{Operation: "getLandingStats", Handle: h.landingStats},
	}
}

func (h *Handlers) onlineCount(r *serve.Request) (*serve.Answer, error) {
	out := contract.OnlineCount{WindowS: presenceWindow, UnknownReasons: contract.UnknownReasons{}}
	online := r.Seen.Online(h.Now())
	if online == nil {
		out.UnknownReasons["online"] = contract.UnknownReasonUnavailable
		out.AsOf = r.AsOf(0)
		return serve.Encode(out)
	}
	out.Online, out.Stale, out.AsOf = &online.Members, online.Stale, r.AsOf(online.CountedAt)
	return serve.Encode(out)
}
