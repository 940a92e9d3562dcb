package ethcall

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/boardwalkhq/boardwalk/indexer/evm/manycalls"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node"
	"github.com/boardwalkhq/boardwalk/indexer/evm/poolstate"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
)

// On a chain without Multicall3 many questions come into one call without a contract's address (package manycalls). Not every node takes one: each is asked
// once in a while, with as much as a pool is asked at once. All of a chain's endpoints have to take it, or each question is a call.

// InOneWay asks pools in a way that every endpoint takes, and once more by single calls where one turned out meanwhile to take no deployless ones.
func (cl *Caller) InOneWay(ctx context.Context, ask func(manycalls.Ways) error) error {
	var takers []*node.Endpoint
	err := ask(cl.manyCalls.Ways(cl.pool.Now(), sync.OnceValue(func() bool {
		takers = cl.deploylessTakers(ctx)
		return len(takers) > 0
	})))
	if ctx.Err() == nil && slices.ContainsFunc(takers, func(e *node.Endpoint) bool { return e.Deployless.TakesNone() }) {
		err = ask(cl.manyCalls.Ways(cl.pool.Now(), func() bool { return false }))
	}
	return err
}

// deploylessTakers are the chain's endpoints where each is known to take deployless calls, else none: an endpoint that takes none may be the only one that
// is up, that has a block's state, or whose answer can be compared.
func (cl *Caller) deploylessTakers(ctx context.Context) []*node.Endpoint {
	candidates := cl.pool.Candidates()
	answers := make([]node.Answer, len(candidates))
	var asking sync.WaitGroup
	for i, e := range candidates {
		asking.Go(func() { answers[i] = cl.takesDeploylessOn(ctx, e) })
	}
	asking.Wait()
	if slices.ContainsFunc(answers, func(a node.Answer) bool { return a != node.Yes }) {
		return nil
	}
	return candidates
}

// takesDeploylessOn asks one endpoint, unless it is known.
func (cl *Caller) takesDeploylessOn(ctx context.Context, e *node.Endpoint) node.Answer {
	if _, _, old := e.Deployless.At(e.Now()); old {
		// The probe, and a simple call after it, are bounded, but not what an endpoint is asked before its first use.
		bounded, cancel := context.WithTimeout(ctx, 2*node.ProbeTime)
		defer cancel()
		if err := cl.pool.On(bounded, e, probeDeployless); err != nil && ctx.Err() == nil {
			e.Deployless.Forget(e.Now())
		}
	}
	known, takes, old := e.Deployless.At(e.Now())
	switch {
	case !known || old:
		return node.Unknown
	case takes:
		return node.Yes
	}
	return node.No
}

// probeDeployless asks for no more and no less than the largest question to a pool. An error is the endpoint's, which then fails a simple call, too.
func probeDeployless(ctx context.Context, e *node.Endpoint) error {
	probe, most := poolstate.LargestProbe()
	c := &Call{Data: manycalls.ByDeployless.Data(probe, most)}
	r := &rpc.Request{Method: "eth_call", Params: callParams("", c.Data, node.Newest), Take: c.take, Optional: true}
	err := node.InProbeTime(ctx, func(ctx context.Context) error { return e.DoWithin(ctx, node.ProbeBytes, r) })
	if err != nil {
		if err := node.InProbeTime(ctx, func(ctx context.Context) error { return works(ctx, e, node.Newest) }); err != nil || ctx.Err() != nil {
			return err
		}
	}
	refusal, refused := errors.AsType[*rpc.NodeError](cmp.Or(err, r.Err))
	switch {
	case node.RateRefused(cmp.Or(err, r.Err)):
		e.Deployless.Forget(e.Now())
	case err == nil && !refused:
		e.Deployless.Learn(manycalls.IsProbed(probe, most, c.Answer), e.Now())
	case refused && (node.FaultOf(refusal) == node.FaultContract || node.FaultOf(refusal) == node.FaultNode):
		e.Deployless.Learn(false, e.Now())
	default:
		e.Deployless.Doubt(e.Now())
	}
	return nil
}

// failedDeployless says why a deployless call failed. Where the endpoint still answers a simple call for the block it takes no deployless one, or none any
// more, which is learnt: a contract that is asked can't bring that about (manycalls.Deployless).
func failedDeployless(ctx context.Context, e *node.Endpoint, block any, why error) error {
	if err := works(ctx, e, block); err != nil {
		return e.WithoutState(ctx, block, err)
	}
	if _, refused := errors.AsType[*rpc.NodeError](why); why == nil || refused || node.Overwhelmed(why) {
		e.Deployless.Learn(false, e.Now())
	} else {
		e.Deployless.Doubt(e.Now())
	}
	return errors.Join(node.ErrNoDeployless, why)
}

func (c *Call) isDeployless() bool { return c.To.IsNone() }

// AnswersMany reports whether an endpoint answers many calls in one, whichever way.
func (cl *Caller) AnswersMany(ctx context.Context, e *node.Endpoint) node.Answer {
	has := false
	if err := e.Probe(ctx, node.CodeRequest(poolstate.Multicall3Address, node.Newest, &has)); err != nil {
		return node.Unknown
	}
	if has {
		return node.Yes
	}
	return cl.takesDeploylessOn(ctx, e)
}
