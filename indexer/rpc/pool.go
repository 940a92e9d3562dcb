package rpc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/wait"
)

// ErrWrongChain means that an endpoint serves another chain than the declared one.
var ErrWrongChain = errors.New("the endpoint serves another chain")

// ErrUnanswered means that no endpoint answers a question. It may be asked again: what the index holds stays good.
var ErrUnanswered = errors.New("no endpoint answers")

// Member is an endpoint in a pool, with whatever else a chain family knows of it.
type Member interface {
	comparable
	Base() *Endpoint
}

// Pool shares the calls to a chain's nodes.
type Pool[E Member] struct {
	Chain string
	List  []E
	Now   func() time.Time
	Log   *slog.Logger
	// IsOfChain asks whether an endpoint serves the declared chain; ErrWrongChain is in its error's tree where it serves another. It is required.
	IsOfChain func(context.Context, E) error
	// NoFault reports whether an error is an answer: the node lacks what was asked for, doesn't keep it, or has too much of it for one answer.
	// It is required.
	NoFault func(error) bool
}

// Candidates are the endpoints to try now, best first: healthy ones by load, latency and weight, then those that are distrusted
// or left aside, or whose day is spent, so that a chain with nothing else still gets an answer.
func (p *Pool[E]) Candidates() []E {
	var none E
	return p.Others(none)
}

// Others are the candidates but for one.
func (p *Pool[E]) Others(except E) []E {
	now := p.Now()
	var ready, aside []E
	load := map[E]float64{}
	for _, member := range p.List {
		e := member.Base()
		e.mu.Lock()
		e.forgive(now)
		load[member] = e.load()
		e.latency *= forgetting // so that one slow moment is not held against it for good
		e.given *= forgettingGiven
		healthy, wrong := !now.Before(e.until) && e.distrust == 0 && !e.isSpent(now), e.wrong
		e.mu.Unlock()
		if member == except || wrong {
			continue
		}
		if healthy {
			ready = append(ready, member)
		} else {
			aside = append(aside, member)
		}
	}
	slices.SortStableFunc(ready, func(a, b E) int { return cmp.Compare(load[a], load[b]) })
	return append(ready, aside...)
}

// AllWrong reports whether every endpoint has turned out to serve another chain.
func (p *Pool[E]) AllWrong() bool {
	return !slices.ContainsFunc(p.List, func(e E) bool { return !e.Base().isWrong() })
}

// Check asks an endpoint whether it serves the right chain. Each is checked before it is asked anything else.
func (p *Pool[E]) Check(ctx context.Context, member E) error {
	err := p.IsOfChain(ctx, member)
	member.Base().noteCheck(err)
	return err
}

// CheckAll asks every endpoint whether it serves the right chain. ErrWrongChain is in the error's tree when one serves another; nodes that don't
// answer are no error here.
func (p *Pool[E]) CheckAll(ctx context.Context) error {
	var errs []error
	for _, e := range p.List {
		err := p.On(ctx, e, func(context.Context, E) error { return nil })
		if errors.Is(err, ErrWrongChain) {
			errs = append(errs, fmt.Errorf("%s: %w", e.Base().Name, err))
		}
	}
	return errors.Join(errs...)
}

// Try runs call on one endpoint after the other until one answers.
func (p *Pool[E]) Try(ctx context.Context, call func(context.Context, E) error) error {
	return p.TryOf(ctx, p.Candidates(), call)
}

// TryOf is Try for a list of endpoints, in its order. Where one of them refuses for its rate and none answers, they are asked again in a while.
func (p *Pool[E]) TryOf(ctx context.Context, list []E, call func(context.Context, E) error) error {
	for round := 1; ; round++ {
		refusing, err := p.tryOnce(ctx, list, call)
		if err == nil || len(refusing) == 0 || round == RefusedRounds {
			return err
		}
		if !wait.For(ctx, untilReady(refusing, p.Now())) {
			return ctx.Err()
		}
	}
}

// tryOnce asks the endpoints of a list until one answers. Refusing are those that are asked too often.
func (p *Pool[E]) tryOnce(ctx context.Context, list []E, call func(context.Context, E) error) (refusing []*Endpoint, err error) {
	var errs []error
	for _, member := range list {
		err := p.On(ctx, member, call)
		if err == nil {
			return nil, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		e := member.Base()
		if e.rateRefused(err) {
			refusing = append(refusing, e)
		}
		errs = append(errs, fmt.Errorf("%s: %w", e.Name, err))
	}
	if len(errs) == 0 {
		return nil, fmt.Errorf("chain %s: no endpoint is left to ask", p.Chain)
	}
	return refusing, fmt.Errorf("chain %s: %w: %w", p.Chain, ErrUnanswered, errors.Join(errs...))
}

// On runs call on one endpoint and remembers how it went.
func (p *Pool[E]) On(ctx context.Context, member E, call func(context.Context, E) error) error {
	e := member.Base()
	checked := e.begin()
	defer e.end()
	began := p.Now()
	err := error(nil)
	if !checked {
		err = p.Check(ctx, member)
	}
	if err == nil {
		err = call(ctx, member)
	}
	if _, ok := errors.AsType[budgetError](err); ok {
		if e.logSpent() {
			p.Log.WarnContext(ctx, "endpoint left alone for the day", "endpoint", e.Name, "err", err.Error())
		}
		return err
	}
	e.took(p.Now().Sub(began))
	switch {
	case err == nil, p.NoFault(err):
		e.worked() // what an answer is worth is judged elsewhere
	case ctx.Err() == nil:
		fails := e.Failed
		if e.rateRefused(err) {
			fails = e.refused
		}
		pause, first := fails(p.Now())
		level := slog.LevelDebug
		if first {
			level = slog.LevelWarn
		}
		p.Log.Log(ctx, level, "endpoint left aside", "endpoint", e.Name, "for_s", pause.Seconds(), "err", err.Error())
	}
	return err
}
