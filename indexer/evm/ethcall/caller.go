// Package ethcall makes eth_calls by the endpoints of a chain, and says which answers count: of nodes that fail, that differ, or that have no state of a block. What
// contracts are asked is package contracts.
package ethcall

import (
	"cmp"
	"context"
	"sync/atomic"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/manycalls"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Caller makes eth_calls by a chain's endpoints, and says which of their answers count.
type Caller struct {
	// NewestAlone says that nodes seem to give no state but the newest: none gave that of the last recent block that was asked for.
	NewestAlone atomic.Bool

	pool *rpc.Pool[*node.Endpoint]
	// head is the number of the newest block that is known.
	head        func() uint64
	aside       func(chain.Aside)
	rereadPause time.Duration
	vouchTime   time.Duration
	// within bounds the time of an endpoint that vouches.
	within    func(context.Context, time.Duration) (context.Context, context.CancelFunc)
	manyCalls manycalls.Chain
}

// Options are what a Caller needs besides the endpoints.
type Options struct {
	// Head is the number of the newest block that is known, 0 before there is one.
	Head func() uint64
	// Aside is told of what is set aside; it may be nil. Several goroutines call it.
	Aside func(chain.Aside)
	// RereadPause is the time before an answer that nobody else confirms is asked for again.
	RereadPause time.Duration
	// VouchTime is how long another endpoint may take to answer again what one has answered.
	VouchTime time.Duration
	// Within bounds the time of an endpoint that vouches; nil is context.WithTimeout. Tests end the time themselves.
	Within func(context.Context, time.Duration) (context.Context, context.CancelFunc)
}

// New makes calls by the endpoints of a pool.
func New(pool *rpc.Pool[*node.Endpoint], o Options) *Caller {
	if o.Within == nil {
		o.Within = context.WithTimeout
	}
	return &Caller{pool: pool, head: o.Head, aside: o.Aside, rereadPause: o.RereadPause, vouchTime: o.VouchTime, within: o.Within}
}

// tellAsides tells of each contract once for each reason.
func (cl *Caller) tellAsides(list []*Call) {
	if cl.aside == nil {
		return
	}
	type told struct {
		contract market.Address
		reason   string
	}
	seen := map[told]bool{}
	for _, c := range list {
		if t := (told{c.To, c.Aside}); c.Aside != "" && !seen[t] {
			seen[t] = true
			cl.aside(chain.Aside{Kind: "contract", Subject: cmp.Or(c.To.String(), "many in a deployless call"), Reason: c.Aside})
		}
	}
}
