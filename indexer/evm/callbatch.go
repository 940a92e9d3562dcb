package evm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/manycalls"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
)

const (
	// maxCallsAnswer bounds what is read of a batch's answer: a whole batch of answers that are just short enough
	// fits.
	maxCallsAnswer = rpc.CallsAtOnce*(2*maxCallAnswer+256) + 1<<20
	// callGas bounds what a call may burn.
	callGas = "0x989680"
)

// callsAt runs eth_calls at a block. A contract that fails has no answer, and keeps no other from having one. An error
// is the nodes' alone: with it there are no answers.
func (s *Source) callsAt(ctx context.Context, block any, list []*call) error {
	for part := range slices.Chunk(list, rpc.CallsAtOnce) {
		var doubtful []*call
		var first *endpoint
		err := s.pool.Try(ctx, func(ctx context.Context, e *endpoint) (err error) {
			first = e
			doubtful, err = e.ask(ctx, block, part)
			return err
		})
		if err == nil && len(doubtful) > 0 {
			err = s.askElsewhere(ctx, first, block, doubtful)
		}
		if err != nil {
			return err
		}
		s.tellAsides(part)
	}
	return nil
}

// ask runs calls as one batch, and in halves where that is too much for the node. Doubtful are the calls that failed
// in a way that may be the contract's fault or the node's.
func (e *endpoint) ask(ctx context.Context, block any, list []*call) (doubtful []*call, err error) {
	left, why, err := e.batch(ctx, block, list)
	if err != nil || why == nil {
		return left, err
	}
	if err := e.works(ctx, block); err != nil {
		return nil, errors.Join(why, err)
	}
	return e.halves(ctx, block, list)
}

// halves asks the halves of a list, one after the other, and their halves where they have to be.
func (e *endpoint) halves(ctx context.Context, block any, list []*call) (doubtful []*call, err error) {
	if len(list) <= 1 {
		return list, nil
	}
	for half := range slices.Chunk(list, (len(list)+1)/2) {
		more, why, err := e.batch(ctx, block, half)
		if err == nil && why != nil {
			more, err = e.halves(ctx, block, half)
		}
		if err != nil {
			return nil, err
		}
		doubtful = append(doubtful, more...)
	}
	return doubtful, nil
}

// batch runs calls as one batch. It says why, where they are too much at once and none has an answer. Where that is so
// of some, their halves are asked for at once: the node answered the others. Deployless calls aren't asked for in halves: others are, instead of them.
func (e *endpoint) batch(ctx context.Context, block any, list []*call) (doubtful []*call, why, err error) {
	if err := e.KeepsState(ctx, block); err != nil {
		return nil, nil, err
	}
	deployless := slices.ContainsFunc(list, (*call).isDeployless)
	if deployless && e.Deployless.TakesNone() {
		return nil, nil, node.ErrNoDeployless
	}
	reqs := make([]*rpc.Request, len(list))
	for i, c := range list {
		c.answer, c.ok, c.aside, c.by = nil, false, "", e
		reqs[i] = &rpc.Request{Method: "eth_call", Params: callParams(c.to.String(), c.data, block), Take: c.take, Optional: true}
	}
	switch err := e.DoWithin(ctx, maxCallsAnswer, reqs...); {
	case err == nil:
	case deployless && !node.RateRefused(err):
		return nil, nil, e.failedDeployless(ctx, block, err)
	case len(list) == 1 && errors.Is(err, rpc.ErrTooLong):
		list[0].aside = chain.AnswerTooLong // whichever node is asked
		return nil, nil, nil
	case node.Overwhelmed(err):
		return nil, err, nil
	default:
		return nil, nil, err
	}
	var rest []*call
	for i, c := range list {
		refusal, refused := errors.AsType[*rpc.NodeError](reqs[i].Err)
		if c.isDeployless() && manycalls.ByDeployless.IsMissing(c.answer, !c.ok, c.questions) && !node.RateRefused(reqs[i].Err) {
			return nil, nil, e.failedDeployless(ctx, block, reqs[i].Err)
		}
		if !refused {
			continue
		}
		switch node.FaultOf(refusal) {
		case node.FaultContract:
		case node.FaultNode, node.FaultState:
			return nil, nil, e.WithoutState(ctx, block, refusal)
		case node.FaultSize:
			rest, why = append(rest, c), refusal
		case node.FaultUnknown:
			doubtful = append(doubtful, c)
		}
	}
	if len(rest) == len(list) {
		return nil, why, nil
	}
	more, err := e.halves(ctx, block, rest)
	return append(doubtful, more...), nil, err
}

// askElsewhere asks a second endpoint about calls that failed at a first one, and the first one again where no other
// can tell. A call that fails there too has no answer.
func (s *Source) askElsewhere(ctx context.Context, first *endpoint, block any, doubtful []*call) (err error) {
	for _, e := range append(s.pool.Others(first), first) {
		err = s.pool.On(ctx, e, func(ctx context.Context, e *endpoint) error { return e.settle(ctx, block, doubtful) })
		if err == nil || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("chain %s: %w: %s: %w", s.pool.Chain, rpc.ErrUnanswered, first.Name, err)
	}
	return nil
}

// settle asks about doubtful calls once more, each alone: one may have failed because of its neighbours. An error says
// that the endpoint can't tell.
func (e *endpoint) settle(ctx context.Context, block any, doubtful []*call) error {
	failed := false
	for i := range doubtful {
		again, why, err := e.batch(ctx, block, doubtful[i:i+1])
		if err != nil {
			return err
		}
		if why != nil || len(again) > 0 {
			doubtful[i].aside, failed = chain.NoAnswer, true
		}
	}
	if failed {
		return e.works(ctx, block)
	}
	return nil
}

// askAll asks one endpoint for calls, and once more for the calls of which it isn't clear who failed.
func (e *endpoint) askAll(ctx context.Context, block any, list []*call) error {
	doubtful, err := e.ask(ctx, block, list)
	if err == nil && len(doubtful) > 0 {
		err = e.settle(ctx, block, doubtful)
	}
	return err
}

// works asks for the simplest call that there is. A node that fails it, too, is at fault for what else it failed.
func (e *endpoint) works(ctx context.Context, block any) error {
	const identity = "0x0000000000000000000000000000000000000004" // the precompiled contract that answers its data
	return e.Do(ctx, &rpc.Request{Method: "eth_call", Params: callParams(identity, "0x626f617264", block), Take: func(json.RawMessage) error {
		return nil
	}})
}

func callParams(to, data string, block any) []any {
	c := map[string]any{"data": data, "gas": callGas}
	if to != "" {
		c["to"] = to
	}
	return []any{c, block}
}
