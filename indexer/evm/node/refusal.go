package node

import (
	"errors"
	"net"
	"net/http"
	"regexp"

	"github.com/boardwalkhq/boardwalk/indexer/rpc"
)

// Fault says whose fault it is that a call has no answer.
type Fault uint8

const (
	// FaultUnknown says that the words fit a contract as well as a node. Another look has to tell.
	FaultUnknown Fault = iota
	// FaultContract says that the EVM ran the contract, and the contract failed. Every node says the same.
	FaultContract
	// FaultNode says that the node is asked too often, doesn't understand the request, or doesn't let us in.
	FaultNode
	// FaultState says that the node doesn't have the block, or its state.
	FaultState
	// FaultSize says that the answers are too long, or take too long, for one request.
	FaultSize
)

// The codes of JSON-RPC 2.0 and of EIP-1474 that a node answers with for requests, not for what a contract does.
// -32603 isn't among them: anvil and older Besu answer so when a contract fails.
const (
	parseError     = -32700
	InvalidRequest = -32600
	methodNotFound = -32601
	InvalidParams  = -32602
	limitExceeded  = -32005
	// tooManyRequests is HTTP's status as some providers repeat it.
	tooManyRequests = http.StatusTooManyRequests
	// revertedCode and vmError are what nodes answer with when a contract reverts, or fails in any way.
	revertedCode = 3
	vmError      = -32015
	// gethTimeout, nethermindTimeout and nethermindModuleTimeout say that a batch, or a call, took too long.
	gethTimeout             = -32002
	nethermindTimeout       = -32016
	nethermindModuleTimeout = -32017
)

var (
	// contractText are the beginnings of what nodes say when a contract failed. What follows may be the contract's own
	// words: a revert's reason can read like anything.
	contractText = regexp.MustCompile(`(?i)^(err(or)?: )?(` +
		`(execution )?revert(ed)?\b|vm execution error|vm exception|evm error|transaction processing could not be completed|` +
		`out ?of ?(gas|memory|funds|offset|bounds|stack)|(memory ?limit|invalid ?operand) ?oog|` +
		`(bad|invalid|undefined) ?(jump|opcode|op code|instruction|operand|stack|subroutine|code\b|fe ?opcode)|` +
		`opcode not found|stack ?(underflow|overflow|limit)|illegal state change|not ?activated|` +
		`(gas|nonce) ?uint64 ?overflow|gas required exceeds|write protection|static ?call ?violation|` +
		`return data out of bounds|access ?violation|(max )?(call )?depth (limit )?exceeded|` +
		`insufficient balance for transfer|not enough balance|(max )?(code|initcode) size exceeded|` +
		`(contract )?address collision|contract creation code storage|precompile|call returned result on length)`)
	// contractWords say the same in the middle of a text, where nothing else in it speaks of the node.
	contractWords = regexp.MustCompile(`(?i)revert|opcode|out of gas|invalid jump|stack (under|over)flow`)
	// stateGone are words by which nodes say that they don't keep the state of a block; blockGone are words that may
	// mean as much, or that the node doesn't have the block yet.
	stateGone = regexp.MustCompile(`(?i)missing trie node|pruned|historical|state .*not (found|available)|no state (found|available)|` +
		`world state unavailable|out ?of ?range|unsupported`)
	blockGone = regexp.MustCompile(`(?i)not available|header not found|hash not found|not currently canonical|unknown block|` +
		`resource not found|block.*not found|invalid block height`)
	// askedTooOften are words for a node that is asked too much.
	askedTooOften = regexp.MustCompile(tooOften.String() + `|per (minute|day)|(request|call|daily|monthly)s? limit`)
	// tooLarge are words for a request that is too much at once, while a smaller one may do.
	tooLarge = regexp.MustCompile(`(?i)(response|result|answer|payload|body|batch|content)\b.*(too (large|big|long)|exceed|limit)|` +
		`(too (large|big|long)|exceed|limit).*\b(response|result|answer|payload|body|batch|content)|time-?out|timed out|execution aborted`)
)

// FaultOf judges a node's refusal of a call.
func FaultOf(e *rpc.NodeError) Fault {
	switch {
	case e.Code == revertedCode, e.Code == vmError, contractText.MatchString(e.Message):
		return FaultContract
	case e.Code == methodNotFound:
		return FaultNode
	case stateGone.MatchString(e.Message), blockGone.MatchString(e.Message):
		return FaultState
	case e.Code == tooManyRequests, askedTooOften.MatchString(e.Message):
		return FaultNode
	case e.Code == gethTimeout, e.Code == nethermindTimeout, e.Code == nethermindModuleTimeout, tooLarge.MatchString(e.Message):
		return FaultSize
	case e.Code == limitExceeded, e.Code == parseError, e.Code <= InvalidRequest && e.Code >= InvalidParams:
		return FaultNode
	case contractWords.MatchString(e.Message):
		return FaultContract
	default:
		return FaultUnknown
	}
}

// Reverted reports whether a contract, not the node, refused a call.
func Reverted(err error) bool {
	var refusal *rpc.NodeError
	return errors.As(err, &refusal) && FaultOf(refusal) == FaultContract
}

// StateMissing reports whether a call failed for want of a block's state. recent says that the block is new enough
// that a node may simply be late.
func StateMissing(err error, recent bool) bool {
	if _, without := errors.AsType[noStateError](err); without || errors.Is(err, ErrNoDeployless) {
		return !errors.Is(err, ErrNoDeployless) // who takes no deployless call may have the state
	}
	var refusal *rpc.NodeError
	if !errors.As(err, &refusal) || FaultOf(refusal) != FaultState {
		return false
	}
	return stateGone.MatchString(refusal.Message) || !recent
}

// Overwhelmed reports whether a request as a whole was too much at once, so that parts of it may do.
func Overwhelmed(err error) bool {
	var refusal *rpc.NodeError
	var status rpc.StatusError
	var network net.Error
	switch {
	case errors.As(err, &refusal):
		return FaultOf(refusal) == FaultSize
	case errors.As(err, &status):
		return status.Code == http.StatusRequestEntityTooLarge || status.Code == http.StatusBadGateway || tookTooLong(status.Code)
	default:
		return errors.Is(err, rpc.ErrTooLong) || errors.As(err, &network) && network.Timeout()
	}
}

// tookTooLong reports whether a gateway gave up waiting for a node. Cloudflare, which many providers stand behind, has statuses of its own for
// an origin that sent nothing it understood (520), couldn't be connected to in time (522), or didn't answer in time (524).
func tookTooLong(status int) bool {
	return status == http.StatusGatewayTimeout || status == 520 || status == 522 || status == 524
}

// RateRefused reports whether a node refused a request because it is asked too often. A contract's words aren't a node's.
func RateRefused(err error) bool {
	var narrow *RangeError
	var status rpc.StatusError
	if refusal, ok := errors.AsType[*rpc.NodeError](err); ok && !errors.As(err, &narrow) {
		return FaultOf(refusal) == FaultNode && (refusal.Code == tooManyRequests || askedTooOften.MatchString(refusal.Message))
	}
	return errors.As(err, &status) && status.Code == http.StatusTooManyRequests
}

// SaysTooOften reports whether a node refused a request in words for its rate; codes don't count.
func SaysTooOften(refusal *rpc.NodeError) bool {
	return FaultOf(refusal) == FaultNode && tooOften.MatchString(refusal.Message)
}
