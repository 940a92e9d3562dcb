package evm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/evm/manycalls"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
)

// On a chain without Multicall3 many questions come into one call without a contract's address (package manycalls). Not every node takes one: each is asked
// once in a while, with as much as a pool is asked at once. All of a chain's endpoints have to take it, or each question is a call.

// deploylessPause is after which time an endpoint is asked again where it couldn't be found out whether it takes deployless calls.
const deploylessPause = time.Minute

// errNoDeployless says that an endpoint isn't asked by a deployless call, since it takes none.
var errNoDeployless = errors.New("it takes no call without a contract's address")

// inOneWay asks pools in a way that every endpoint takes, and once more by single calls where one turned out meanwhile to take no deployless ones.
func (s *Source) inOneWay(ctx context.Context, ask func(manycalls.Ways) error) error {
	var takers []*endpoint
	err := ask(s.manyCalls.Ways(s.pool.Now(), sync.OnceValue(func() bool {
		takers = s.deploylessTakers(ctx)
		return len(takers) > 0
	})))
	if ctx.Err() == nil && slices.ContainsFunc(takers, func(e *endpoint) bool { return e.deployless.TakesNone() }) {
		err = ask(s.manyCalls.Ways(s.pool.Now(), func() bool { return false }))
	}
	return err
}

// deploylessTakers are the chain's endpoints where each is known to take deployless calls, else none: an endpoint that takes none may be the only one that
// is up, that has a block's state, or whose answer can be compared.
func (s *Source) deploylessTakers(ctx context.Context) []*endpoint {
	candidates := s.pool.Candidates()
	answers := make([]Answer, len(candidates))
	var asking sync.WaitGroup
	for i, e := range candidates {
		asking.Go(func() { answers[i] = s.takesDeploylessOn(ctx, e) })
	}
	asking.Wait()
	if slices.ContainsFunc(answers, func(a Answer) bool { return a != Yes }) {
		return nil
	}
	return candidates
}

// takesDeploylessOn asks one endpoint, unless it is known.
func (s *Source) takesDeploylessOn(ctx context.Context, e *endpoint) Answer {
	known, takes, old := e.deployless.At(e.Now())
	if old {
		err := s.pool.On(ctx, e, func(ctx context.Context, e *endpoint) error {
			return within(ctx, func(ctx context.Context) (err error) {
				known, takes, err = e.probeDeployless(ctx)
				return err
			})
		})
		known = known && err == nil
		pause := deploylessPause
		if known {
			pause = manycalls.KnownFor
		}
		if ctx.Err() == nil {
			e.deployless.Learn(known, takes, e.Now().Add(pause))
		}
	}
	switch {
	case !known:
		return Unknown
	case takes:
		return Yes
	}
	return No
}

// probeDeployless asks for no more and no less than the largest question to a pool.
func (e *endpoint) probeDeployless(ctx context.Context) (known, takes bool, err error) {
	probe := manycalls.Probe(wordsAtOnce, questionLength)
	c := &call{data: manycalls.ByDeployless.Data(probe, wordLength)}
	r := &rpc.Request{Method: "eth_call", Params: callParams("", c.data, newest), Take: c.take, Optional: true}
	if err := e.DoWithin(ctx, probeBytes, r); err != nil {
		return false, false, err
	}
	if refusal, refused := errors.AsType[*rpc.NodeError](r.Err); refused {
		return !rateRefused(refusal) && faultOf(refusal) != faultState, false, nil
	}
	return true, manycalls.IsProbed(probe, wordLength, c.answer), nil
}

// refusedDeployless learns from a refusal of a call that the endpoint takes no deployless one, or none any more, and says so. A contract that is asked
// can't bring that about (manycalls.Deployless).
func (e *endpoint) refusedDeployless(c *call, refusal *rpc.NodeError) error {
	if fault := faultOf(refusal); c.to.IsNone() && !rateRefused(refusal) && (fault == faultContract || fault == faultNode) {
		e.deployless.Learn(true, false, e.Now().Add(manycalls.KnownFor))
		return fmt.Errorf("%w: %w", errNoDeployless, refusal)
	}
	return nil
}

// answersMany reports whether an endpoint answers many calls in one, whichever way.
func (s *Source) answersMany(ctx context.Context, e *endpoint) Answer {
	has := false
	if err := e.probe(ctx, codeRequest(multicall3, newest, &has)); err != nil {
		return Unknown
	}
	if has {
		return Yes
	}
	return s.takesDeploylessOn(ctx, e)
}
