package evm

import (
	"bytes"
	"context"
	"slices"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

// opinions are the endpoints' answers to one call.
type opinions struct {
	call *call // the first endpoint's; in the end it has the answer that counts
	more []*call
	// expected is an answer among the others' that was expected; nil if there is none.
	expected *call
	settled  bool
}

// weigh takes one more answer in. One that two endpoints gave counts; endpoints that gave another are left aside for a while.
func (s *Source) weigh(o *opinions, given *call, expected bool) {
	o.more = append(o.more, given)
	if expected && o.expected == nil {
		o.expected = given
	}
	agrees := func(c *call) bool { return c.ok == given.ok && bytes.Equal(c.answer, given.answer) }
	if !agrees(o.call) && !slices.ContainsFunc(o.more[:len(o.more)-1], agrees) {
		return
	}
	for _, c := range append(o.more, o.call) {
		if !agrees(c) {
			c.by.Failed(s.pool.Now())
		}
	}
	o.settled = true
	o.call.answer, o.call.ok, o.call.aside = given.answer, given.ok, given.aside
}

// second asks other endpoints about calls whose answers nobody expected, until two endpoints have given the same answer. Where
// no two do, the answer that was expected counts, and where none was, the call has none. Where no other endpoint answers,
// the first one has to say the same again after a pause.
func (s *Source) second(ctx context.Context, block any, list []*call, expected func(i int, c *call) bool) error {
	all := make([]opinions, len(list))
	for i, c := range list {
		all[i].call = c
	}
	for _, e := range s.pool.Candidates() {
		if err := s.secondOn(ctx, e, block, all, func(o *opinions) bool { return o.call.by != e }, expected); err != nil {
			return err
		}
	}
	alone := map[*endpoint]bool{}
	for i := range all {
		if o := &all[i]; !o.settled && len(o.more) == 0 {
			alone[o.call.by] = true
		}
	}
	if len(alone) > 0 && !wait.For(ctx, s.rereadPause) {
		return ctx.Err()
	}
	for e := range alone {
		again := func(o *opinions) bool { return o.call.by == e && len(o.more) == 0 }
		if err := s.secondOn(ctx, e, block, all, again, expected); err != nil {
			return err
		}
	}
	for i := range all {
		switch o := &all[i]; {
		case o.settled:
		case o.expected != nil:
			o.call.answer, o.call.ok = o.expected.answer, true
		default:
			o.call.answer, o.call.ok, o.call.aside = nil, false, chain.EndpointsDiffer
		}
	}
	s.tellAsides(list)
	return nil
}

// secondOn asks one endpoint about those open calls that which chooses. An error is the context's end: an endpoint
// that fails has no opinion.
func (s *Source) secondOn(ctx context.Context, e *endpoint, block any, all []opinions, which func(*opinions) bool,
	expected func(i int, c *call) bool,
) error {
	var asked []*call
	var of []int
	for i := range all {
		if o := &all[i]; !o.settled && which(o) {
			asked, of = append(asked, &call{to: o.call.to, data: o.call.data}), append(of, i)
		}
	}
	if len(asked) == 0 {
		return nil
	}
	err := s.pool.On(ctx, e, func(ctx context.Context, e *endpoint) error {
		return e.askAll(ctx, block, asked)
	})
	if err != nil {
		return ctx.Err()
	}
	for k, c := range asked {
		s.weigh(&all[of[k]], c, expected(of[k], c))
	}
	return nil
}
