// Package social has the operations about the platform's members.
package social

import (
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
)

// presenceWindow is for how long a member is present, in seconds.
const presenceWindow = 180

// Handlers answer the operations about members.
type Handlers struct{ now func() time.Time }

// New makes the handlers.
func New(now func() time.Time) *Handlers { return &Handlers{now} }

// Routes are the operations about members.
func (h *Handlers) Routes() []serve.Route {
	return []serve.Route{{Operation: "getOnlineCount", Handle: h.onlineCount}}
}

func (h *Handlers) onlineCount(r *serve.Request) (*serve.Answer, error) {
	out := contract.OnlineCount{WindowS: presenceWindow, UnknownReasons: contract.UnknownReasons{}}
	online := r.Seen.Online(h.now())
	if online == nil {
		out.UnknownReasons["online"] = contract.UnknownReasonUnavailable
		out.AsOf = r.AsOf(0)
		return serve.Encode(out)
	}
	out.Online, out.Stale, out.AsOf = &online.Members, online.Stale, r.AsOf(online.CountedAt)
	return serve.Encode(out)
}
