package ethcall

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
	// LongestBatch bounds what is read of a batch's answer: a whole batch of answers that are just short enough
	// fits.
	LongestBatch = rpc.CallsAtOnce*(2*LongestAnswer+256) + 1<<20
	// callGas bounds what a call may burn.
	callGas = "0x989680"
)

// callsAt runs eth_calls at a block. A contract that fails has no answer, and keeps no other from having one. An error
// is the nodes' alone: with it there are no answers.
func (cl *Caller) callsAt(ctx context.Context, block any, list []*Call) error {
	for part := range slices.Chunk(list, rpc.CallsAtOnce) {
		var doubtful []*Call
		var first *node.Endpoint
		err := cl.pool.Try(ctx, func(ctx context.Context, e *node.Endpoint) (err error) {
			first = e
			doubtful, err = ask(ctx, e, block, part)
			return err
		})
		if err == nil && len(doubtful) > 0 {
			err = cl.askElsewhere(ctx, first, block, doubtful)
		}
		if err != nil {
			return err
		}
		cl.tellAsides(part)
	}
	return nil
}

// ask runs calls as one batch, and in halves where that is too much for the node. Doubtful are the calls that failed
// in a way that may be the contract's fault or the node's.
func ask(ctx context.Context, e *node.Endpoint, block any, list []*Call) (doubtful []*Call, err error) {
	left, why, err := batch(ctx, e, block, list)
	if err != nil || why == nil {
		return left, err
	}
	if err := works(ctx, e, block); err != nil {
		return nil, errors.Join(why, err)
	}
	return halves(ctx, e, block, list)
}

// halves asks the halves of a list, one after the other, and their halves where they have to be.
func halves(ctx context.Context, e *node.Endpoint, block any, list []*Call) (doubtful []*Call, err error) {
	if len(list) <= 1 {
		return list, nil
	}
	for half := range slices.Chunk(list, (len(list)+1)/2) {
		more, why, err := batch(ctx, e, block, half)
		if err == nil && why != nil {
			more, err = halves(ctx, e, block, half)
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
func batch(ctx context.Context, e *node.Endpoint, block any, list []*Call) (doubtful []*Call, why, err error) {
	if err := e.KeepsState(ctx, block); err != nil {
		return nil, nil, err
	}
	deployless := slices.ContainsFunc(list, (*Call).isDeployless)
	if deployless && e.Deployless.TakesNone() {
		return nil, nil, node.ErrNoDeployless
	}
	reqs := make([]*rpc.Request, len(list))
	for i, c := range list {
		c.Answer, c.OK, c.Aside, c.By = nil, false, "", e
		reqs[i] = &rpc.Request{Method: "eth_call", Params: callParams(c.To.String(), c.Data, block), Take: c.take, Optional: true}
	}
	switch err := e.DoWithin(ctx, LongestBatch, reqs...); {
	case err == nil:
	case deployless && !node.RateRefused(err):
		return nil, nil, failedDeployless(ctx, e, block, err)
	case len(list) == 1 && errors.Is(err, rpc.ErrTooLong):
		list[0].Aside = chain.AnswerTooLong // whichever node is asked
		return nil, nil, nil
	case node.Overwhelmed(err):
		return nil, err, nil
	default:
		return nil, nil, err
	}
	var rest []*Call
	for i, c := range list {
		refusal, refused := errors.AsType[*rpc.NodeError](reqs[i].Err)
		if c.isDeployless() && manycalls.ByDeployless.IsMissing(c.Answer, !c.OK, c.Questions) && !node.RateRefused(reqs[i].Err) {
			return nil, nil, failedDeployless(ctx, e, block, reqs[i].Err)
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
	more, err := halves(ctx, e, block, rest)
	return append(doubtful, more...), nil, err
}

// askElsewhere asks a second endpoint about calls that failed at a first one, and the first one again where no other
// can tell. A call that fails there too has no answer.
func (cl *Caller) askElsewhere(ctx context.Context, first *node.Endpoint, block any, doubtful []*Call) (err error) {
	for _, e := range append(cl.pool.Others(first), first) {
		err = cl.pool.On(ctx, e, func(ctx context.Context, e *node.Endpoint) error { return settle(ctx, e, block, doubtful) })
		if err == nil || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("chain %s: %w: %s: %w", cl.pool.Chain, rpc.ErrUnanswered, first.Name, err)
	}
	return nil
}

// settle asks about doubtful calls once more, each alone: one may have failed because of its neighbours. An error says
// that the endpoint can't tell.
func settle(ctx context.Context, e *node.Endpoint, block any, doubtful []*Call) error {
	failed := false
	for i := range doubtful {
		again, why, err := batch(ctx, e, block, doubtful[i:i+1])
		if err != nil {
			return err
		}
		if why != nil || len(again) > 0 {
			doubtful[i].Aside, failed = chain.NoAnswer, true
		}
	}
	if failed {
		return works(ctx, e, block)
	}
	return nil
}

// askAll asks one endpoint for calls, and once more for the calls of which it isn't clear who failed.
func askAll(ctx context.Context, e *node.Endpoint, block any, list []*Call) error {
	doubtful, err := ask(ctx, e, block, list)
	if err == nil && len(doubtful) > 0 {
		err = settle(ctx, e, block, doubtful)
	}
	return err
}

// AskNewest asks one endpoint for calls at the newest block. An error is the node's: a contract that fails has no answer.
func AskNewest(ctx context.Context, e *node.Endpoint, list []*Call) error {
	return askAll(ctx, e, node.Newest, list)
}

// works asks for the simplest call that there is. A node that fails it, too, is at fault for what else it failed.
func works(ctx context.Context, e *node.Endpoint, block any) error {
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
