package evm

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/manycalls"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

const (
	firstRange   = 64
	longestRange = 10_000
	// wantedLogs is how many logs an answer to a range should have: enough to spread a request's cost, few enough for
	// every provider's limit.
	wantedLogs = 8_000
)

// usualUnits has the prices of calls at one provider (alchemy.com/docs/reference/compute-unit-costs), which docs/costs.md repeats.
var usualUnits = rpc.Units{"eth_call": 26, "eth_getLogs": 60, chainconfig.OtherMethods: 20}

// endpoint is a node of an EVM chain.
type endpoint struct {
	*rpc.Endpoint

	mu sync.Mutex
	// rangeLen is how many blocks it is asked for at once.
	rangeLen uint64
	// pastLen is how many blocks it is asked for at once about a single pool of the past; 0 while it took all.
	pastLen uint64
	// pastFits is how many such questions it answered since it was asked for too many.
	pastFits int
	// topicsLen is the most topics that it takes in one filter; 0 while it took all, anyTopics where its refusals are about something else.
	topicsLen int
	// probation counts the first ranges of the past that it gave, which are held against another endpoint's.
	probation int
	// wrapped is the chain's wrapped coin, by whose balance it shows whether the endpoint looks at the block that a question names.
	wrapped market.Address
	silence silence
	// deployless is whether it takes calls without a contract's address.
	deployless manycalls.Taken
	// slowUntil is until when it isn't asked to vouch for another's answers to calls.
	slowUntil time.Time
	// told is the newest head that it told; headUntil is until when it is asked for the head last, and headPause for how long that was.
	told      toldHead
	headUntil time.Time
	headPause time.Duration
	// blocksUntil is until when it isn't asked for blocks with their transactions, and blocksPause for how long that was. toldForeign says that it was
	// logged once that it told transactions of another block.
	blocksUntil time.Time
	blocksPause time.Duration
	// nextUntil is until when it isn't asked for the block after the newest known one, and nextPause for how long that was.
	nextUntil time.Time
	nextPause time.Duration
	// failedLast says that it failed when it was asked last for the head or for headers.
	failedLast  bool
	toldForeign bool
}

// isOfChain holds an endpoint's chain id against the declared one.
func (s *Source) isOfChain(ctx context.Context, e *endpoint) error {
	var id uint64
	if err := e.Do(ctx, &rpc.Request{Method: "eth_chainId", Take: rpc.Quantity(&id)}); err != nil {
		return err
	}
	if id != s.chainID {
		return fmt.Errorf("%w: its eth_chainId is %d, and chain %s is declared with chainID %d: correct the URL or the manifest",
			rpc.ErrWrongChain, id, s.pool.Chain, s.chainID)
	}
	return nil
}

// isAnswer reports whether an error says that a node doesn't have what it is asked for, doesn't keep it, or has too much of it for one answer:
// that is no fault of the node. What its logs are worth is judged elsewhere.
func isAnswer(err error) bool {
	var narrow *rangeError
	_, isDenied := asDenied(err)
	return errors.As(err, &narrow) || errors.Is(err, chain.ErrNoBlock) || errors.Is(err, errReplaced) || stateMissing(err, false) ||
		errors.Is(err, errRepeatedIndex) || errors.Is(err, errNoDeployless) || isDenied
}
