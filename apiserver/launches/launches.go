// Package launches has the operations about launches: the launch board, the venues that are open on each chain, a launched token, and the
// launched token's card.
package launches

import (
	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/read"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/apiserver/share"
	"github.com/boardwalkhq/boardwalk/apiserver/wire"
	"github.com/boardwalkhq/boardwalk/internal/board"
)

// Options are what the handlers work with.
type Options struct {
	Readers read.Readers
	Links   wire.Links
	Cards   *share.Cards
	// Gate is the quality bar of the board.
	Gate board.Gate
}

// Handlers answer the operations of launches.
type Handlers struct {
	Options

	gate        contract.Gate
	launchCards wire.LaunchCards
	boards      serve.Bodies[boardKey]
	status      serve.ByCatalog
}

// New makes the handlers.
func New(o Options) *Handlers {
	return &Handlers{Options: o, gate: gateBody(&o.Gate), launchCards: wire.LaunchCards{Links: o.Links}}
}

// Routes are the operations of launches.
func (h *Handlers) Routes() []serve.Route {
	return []serve.Route{
		{Operation: "getLaunchBoard", Handle: h.board},
		{Operation: "getLaunchStatus", Handle: h.launchStatus},
		{Operation: "getLaunchedToken", Handle: h.launchedToken},
		{Operation: "getLaunchCard", Handle: h.card},
	}
}
