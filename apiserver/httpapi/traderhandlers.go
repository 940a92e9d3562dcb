// Package traders answers what is asked of wallets.
package httpapi

import "github.com/boardwalkhq/boardwalk/apiserver/read"

// TraderOptions are what the handlers work with.
type TraderOptions struct {
	Readers read.Readers
	Cards   *Cards
}

// TraderHandlers answer the operations of traders.
type TraderHandlers struct{ TraderOptions }

// NewTraderHandlers makes the handlers.
func NewTraderHandlers(o TraderOptions) *TraderHandlers { return &TraderHandlers{o} }

// Routes are the operations of traders.
func (h *TraderHandlers) Routes() []Route { return []Route{{Operation: "getTraderCard", Handle: h.card}} }
