// Package launches answers what is asked of launches: the board, where one can launch, one launched token, and its card.
package httpapi

import (
	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/read"
	"github.com/boardwalkhq/boardwalk/internal/board"
)

// LaunchOptions are what the handlers work with.
type LaunchOptions struct {
	Readers read.Readers
	Links   Links
	Cards   *Cards
	// Gate is the quality bar of the board.
	Gate board.Gate
}

// LaunchHandlers answer the operations of launches.
type LaunchHandlers struct {
	LaunchOptions

	gate   contract.Gate
	boards bodies[boardKey]
	status ByCatalog
}

// NewLaunchHandlers makes the handlers.
func NewLaunchHandlers(o LaunchOptions) *LaunchHandlers {
	return &LaunchHandlers{LaunchOptions: o, gate: gateBody(&o.Gate)}
}

// Routes are the operations of launches.
func (h *LaunchHandlers) Routes() []Route {
	return []Route{
		{Operation: "getLaunchBoard", Handle: h.board},
		{Operation: "getLaunchStatus", Handle: h.launchStatus},
		{Operation: "getLaunchedToken", Handle: h.launchedToken},
		{Operation: "getLaunchCard", Handle: h.card},
	}
}
