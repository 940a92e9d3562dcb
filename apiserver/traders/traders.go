// Package traders has the operations about wallets: the card of a wallet's profit.
package traders

import (
	"github.com/boardwalkhq/boardwalk/apiserver/read"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/apiserver/share"
)

// Options are what the handlers work with.
type Options struct {
	Readers read.Readers
	Cards   *share.Cards
}

// Handlers answer the operations of traders.
type Handlers struct{ Options }

// New makes the handlers.
func New(o Options) *Handlers { return &Handlers{o} }

// Routes are the operations of traders.
func (h *Handlers) Routes() []serve.Route {
	return []serve.Route{{Operation: "getTraderCard", Handle: h.card}}
}
