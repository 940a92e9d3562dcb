package evm

import (
	"errors"
	"sync"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/evm/node"
)

const (
	firstRange = 64
	// wantedLogs is how many logs an answer to a range should have: enough to spread a request's cost, few enough for
	// every provider's limit.
	wantedLogs = 8_000
)

// endpoint is a node of the chain, with what reading blocks knows of it.
type endpoint struct {
	*node.Endpoint

	mu sync.Mutex
	// rangeLen is how many blocks it is asked for at once.
	rangeLen uint64
	// pastLen is how many blocks it is asked for at once about a single pool of the past; 0 while it took all.
	pastLen uint64
	// pastFits is how many such questions it answered since it was asked for too many.
	pastFits int
	// probation counts the first ranges of the past that it gave, which are held against another endpoint's.
	probation int
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

// isAnswer reports whether an error says that a node doesn't have what it is asked for, doesn't keep it, or has too much of it for one answer:
// that is no fault of the node. What its logs are worth is judged elsewhere.
func isAnswer(err error) bool {
	_, isDenied := asDenied(err)
	return node.IsAnswer(err) || errors.Is(err, errRepeatedIndex) || isDenied
}
