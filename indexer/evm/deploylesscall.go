package evm

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/evm/manycalls"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
)

// On a chain without Multicall3 many questions come into one call without a contract's address (package manycalls). Not every node takes one: each is asked
// once in a while, with as much as a pool is asked at once.

// deploylessPause is after which time an endpoint is asked again where it couldn't be found out whether it takes deployless calls.
const deploylessPause = time.Minute

// errNoDeployless says that an endpoint isn't asked by a deployless call, since it takes none.
var errNoDeployless = errors.New("it takes no call without a contract's address")

// ways are how pools are asked, for one question to whichever endpoints.
func (s *Source) ways(ctx context.Context) manycalls.Ways {
	return s.manyCalls.Ways(s.pool.Now(), sync.OnceValue(func() bool { return s.takesDeployless(ctx) }))
}

// takesDeployless reports whether enough endpoints take deployless calls: two, whose answers can be compared, or one where no other is known not to.
func (s *Source) takesDeployless(ctx context.Context) bool {
	candidates := s.pool.Candidates()
	answers := make([]Answer, len(candidates))
	var asking sync.WaitGroup
	for i, e := range candidates {
		asking.Go(func() { answers[i] = s.takesDeploylessOn(ctx, e) })
	}
	asking.Wait()
	var count [No + 1]int
	for _, a := range answers {
		count[a]++
	}
	return count[Yes] > 1 || count[Yes] == 1 && count[No] == 0
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

// refusedDeployless learns from a refusal of a call that the endpoint takes no deployless one, or none any more. A contract that is asked can't bring
// that about (manycalls.Deployless).
func (e *endpoint) refusedDeployless(c *call, refusal *rpc.NodeError) {
	if fault := faultOf(refusal); c.to.IsNone() && !rateRefused(refusal) && (fault == faultContract || fault == faultNode) {
		e.deployless.Learn(true, false, e.Now().Add(manycalls.KnownFor))
	}
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
