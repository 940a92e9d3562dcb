// Package node asks one node of an EVM chain: its requests, what its refusals mean, how much it takes at once, and of which blocks it has the state. Which of a
// chain's nodes is asked, and whether one is believed, is decided by the packages above it.
package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/budget"
	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/manycalls"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// usualUnits has the prices of calls at one provider (alchemy.com/docs/reference/compute-unit-costs), which docs/costs.md repeats.
var usualUnits = rpc.Units{"eth_call": 26, "eth_getLogs": 60, chainconfig.OtherMethods: 20}

// LongestRange is of how many blocks at most an endpoint is asked for logs at once.
const LongestRange = 10_000

// Endpoint is a node of an EVM chain.
type Endpoint struct {
	*rpc.Endpoint

	// Deployless is whether it takes calls without a contract's address.
	Deployless manycalls.Taken

	mu sync.Mutex
	// topicsLen is the most topics that it takes in one filter; 0 while it took all, anyTopics where its refusals are about something else.
	topicsLen int
	// wrapped is the chain's wrapped coin, by whose balance it shows whether the endpoint looks at the block that a question names.
	wrapped market.Address
	silence silence
	// slowUntil is until when it isn't asked to vouch for another's answers.
	slowUntil time.Time
}

// Options are the clock, the log and the observers of a chain's endpoints.
type Options struct {
	Log *slog.Logger
	Now func() time.Time
	// Observe is told of every request to an endpoint, with what it was counted as; it may be nil.
	Observe func(endpoint string, spent budget.Spent, err error)
	// InFlight is told how many bytes of answers are being read or decoded, whenever that changes; it may be nil, and must not wait.
	InFlight func(bytes int64)
}

// NewPool checks the chain document's endpoints; it opens no connection.
func NewPool(c *chainconfig.Chain, o Options) (*rpc.Pool[*Endpoint], error) {
	pool := &rpc.Pool[*Endpoint]{
		Chain: c.ID, Now: o.Now, Log: o.Log, NoFault: IsAnswer,
		IsOfChain: func(ctx context.Context, e *Endpoint) error { return e.isOfChain(ctx, c.ID, c.EVMChainID) },
	}
	reads := rpc.NewInFlight(o.InFlight)
	for i, declared := range c.Endpoints {
		e, err := rpc.NewEndpoint(i, rpc.EndpointOptions{
			Declared: declared, Reads: reads, Now: o.Now, Observe: o.Observe, RateRefused: RateRefused, UsualUnits: usualUnits,
		})
		if err != nil {
			return nil, fmt.Errorf("chain %s: %w", c.ID, err)
		}
		pool.List = append(pool.List, &Endpoint{Endpoint: e, wrapped: c.Native.Wrapped})
	}
	if len(pool.List) == 0 {
		return nil, fmt.Errorf("chain %s: no RPC endpoint: add one under spec.rpc.endpoints, or suspend the chain", c.ID)
	}
	return pool, nil
}

// isOfChain holds an endpoint's chain id against the declared one.
func (e *Endpoint) isOfChain(ctx context.Context, chainName string, declared uint64) error {
	var id uint64
	if err := e.Do(ctx, &rpc.Request{Method: "eth_chainId", Take: rpc.Quantity(&id)}); err != nil {
		return err
	}
	if id != declared {
		return fmt.Errorf("%w: its eth_chainId is %d, and chain %s is declared with chainID %d: correct the URL or the manifest",
			rpc.ErrWrongChain, id, chainName, declared)
	}
	return nil
}

var (
	// ErrReplaced means that another block has the number of the one that was asked about.
	ErrReplaced = errors.New("the block was replaced by another")
	// ErrNoDeployless says that an endpoint isn't asked by a deployless call, since it takes none.
	ErrNoDeployless = errors.New("it takes no call without a contract's address")
)

// IsAnswer reports whether an error says that a node doesn't have what it is asked for, doesn't keep it, or has too much of it for one answer:
// that is no fault of the node. What its logs are worth is judged elsewhere.
func IsAnswer(err error) bool {
	var narrow *RangeError
	return errors.As(err, &narrow) || errors.Is(err, chain.ErrNoBlock) || errors.Is(err, ErrReplaced) || StateMissing(err, false) ||
		errors.Is(err, ErrNoDeployless)
}

// IsSlow reports whether the endpoint took too long to vouch for another's answer a short while ago.
func (e *Endpoint) IsSlow() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.Now().Before(e.slowUntil)
}

// slowShare is the part of the time, one of so many, that an endpoint may spend that takes longer to vouch than it may.
const slowShare = 10

// TookTooLong notes that the endpoint took longer to vouch than the time that it had. For so long it isn't asked again that it takes a tenth of the time at most.
func (e *Endpoint) TookTooLong(had time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.slowUntil = e.Now().Add((slowShare - 1) * had)
}
