package node

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Some nodes answer calls for their newest block alone (HyperEVM's own). One kind refuses every other block, in words that it has for blocks
// that it doesn't know, too. Another kind answers with the newest state without a word: it is found by a question of which the answer is known.

// silentFor is how long it counts that an endpoint answered a question about an old block with the newest state, or that it didn't: behind one
// address there may be another node tomorrow. Where that couldn't be found out it is asked again after silentPause.
const silentFor, silentPause = time.Hour, time.Minute

// noStateError says that an endpoint has a block but not the state after it.
type noStateError struct{ why error }

func (e noStateError) Error() string {
	return "the node answers for its newest block alone: " + e.why.Error()
}

func (e noStateError) Unwrap() error { return e.why }

var errSilent = errors.New("it answers questions about old blocks with the newest state")

// silence says whether an endpoint answers a question about an old block with the newest state, as far as that is known.
type silence struct {
	mu    sync.Mutex
	is    bool
	until time.Time
}

// KeepsState refuses a block's name for an endpoint whose answer wouldn't be for that block.
func (e *Endpoint) KeepsState(ctx context.Context, block any) error {
	if block == Newest || e.wrapped.IsNone() {
		return nil
	}
	e.silence.mu.Lock()
	defer e.silence.mu.Unlock()
	if now := e.Now(); !now.Before(e.silence.until) {
		pause := silentFor
		answer := e.AnswersByNewest(ctx, e.wrapped)
		if answer == Unknown {
			pause = silentPause
		}
		e.silence.is, e.silence.until = answer == Yes || answer == Unknown && e.silence.is, now.Add(pause)
	}
	if e.silence.is {
		return noStateError{errSilent}
	}
	return nil
}

// AnswersByNewest asks for the wrapped coin's own balance of the native coin before the chain's first block and now. That changes all the time:
// an endpoint that has the same for both didn't look. It is asked for the newest on either side, since a block may come in between.
func (e *Endpoint) AnswersByNewest(ctx context.Context, wrapped market.Address) Answer {
	var before, first, after market.Amount
	reqs := []*rpc.Request{BalanceRequest(wrapped, Newest, &before), BalanceRequest(wrapped, rpc.HexQuantity(0), &first), BalanceRequest(wrapped, Newest, &after)}
	for _, r := range reqs {
		r.Optional = true
	}
	err := InProbeTime(ctx, func(ctx context.Context) error { return e.DoWithin(ctx, ProbeBytes, reqs...) })
	switch {
	case err == nil && StateMissing(reqs[1].Err, false):
		return No
	case err != nil || reqs[0].Err != nil || reqs[1].Err != nil || reqs[2].Err != nil:
		return Unknown
	case !first.IsZero() && (first == before || first == after):
		return Yes
	}
	return No
}

// WithoutState says of a refusal whether it means that the endpoint has the block without its state. In the same words it may mean that it
// doesn't have the block: so it is asked for it.
func (e *Endpoint) WithoutState(ctx context.Context, block any, refusal error) error {
	if block == Newest || !refusesBlock(refusal) {
		return refusal
	}
	var h chain.Header
	r := &rpc.Request{Method: "eth_getBlockByNumber", Params: []any{block, false}, Take: takeHeader(&h)}
	if named, ok := block.(map[string]any); ok {
		r.Method, r.Params[0] = "eth_getBlockByHash", named["blockHash"]
	}
	if err := e.Do(ctx, r); err != nil || h.Hash.IsZero() {
		return refusal
	}
	return noStateError{refusal}
}

// refusesBlock reports whether a node refused a request for the block that it names, in words that are for nothing else.
func refusesBlock(err error) bool {
	refusal, ok := errors.AsType[*rpc.NodeError](err)
	return ok && strings.Contains(strings.ToLower(refusal.Message), "invalid block height")
}
