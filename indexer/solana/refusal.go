package solana

import (
	"errors"
	"net/http"
	"regexp"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
)

// The codes of errors that Solana's nodes answer with (agave, rpc-client-api/src/custom_error.rs). The slots of most of them may have a block all the same:
// the node lacks it, or hasn't got it yet.
const (
	blockCleanedUp       = -32001
	blockNotAvailable    = -32004
	nodeUnhealthy        = -32005
	slotSkipped          = -32007 // or missing due to a jump of the ledger
	slotSkippedLongTerm  = -32009 // or missing in long-term storage
	blockNotYetAvailable = -32014
	unsupportedVersion   = -32015
	minContextNotReached = -32016
)

// lacks reports whether a node says that it has no block of a slot, whatever the reason. The node isn't at fault.
func lacks(err error) bool {
	refusal, ok := errors.AsType[*rpc.NodeError](err)
	if !ok {
		return errors.Is(err, chain.ErrNoBlock)
	}
	switch refusal.Code {
	case blockCleanedUp, blockNotAvailable, slotSkipped, slotSkippedLongTerm, blockNotYetAvailable, minContextNotReached:
		return true
	default:
		return false
	}
}

var tooOften = regexp.MustCompile(`(?i)rate.?limit|too many requests|per (second|minute|day)|throttl|quota|credits`)

// rateRefused reports whether a node refused a request because it is asked too often.
func rateRefused(err error) bool {
	if refusal, ok := errors.AsType[*rpc.NodeError](err); ok {
		return refusal.Code == http.StatusTooManyRequests || tooOften.MatchString(refusal.Message)
	}
	status, ok := errors.AsType[rpc.StatusError](err)
	return ok && status.Code == http.StatusTooManyRequests
}
