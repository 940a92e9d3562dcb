package ethcall

import (
	"bytes"
	"context"
	"slices"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

// opinions are the endpoints' answers to one call.
type opinions struct {
	call *Call // the first endpoint's; in the end it has the answer that counts
	more []*Call
	// expected is an answer among the others' that was expected; nil if there is none.
	expected *Call
	settled  bool
}

// weigh takes one more answer in. One that two endpoints gave counts; endpoints that gave another are left aside for a while.
func (cl *Caller) weigh(o *opinions, given *Call, expected bool) {
	o.more = append(o.more, given)
	if expected && o.expected == nil {
		o.expected = given
	}
	agrees := func(c *Call) bool { return c.OK == given.OK && bytes.Equal(c.Answer, given.Answer) }
	if !agrees(o.call) && !slices.ContainsFunc(o.more[:len(o.more)-1], agrees) {
		return
	}
	for _, c := range append(o.more, o.call) {
		if !agrees(c) {
			c.By.Failed(cl.pool.Now())
		}
	}
	o.settled = true
	o.call.Answer, o.call.OK, o.call.Aside = given.Answer, given.OK, given.Aside
}

// Second asks other endpoints about calls whose answers nobody expected, until two endpoints have given the same answer. Where
// no two do, the answer that was expected counts, and where none was, the call has none. Where no other endpoint answers,
// the first one has to say the same again after a pause.
func (cl *Caller) Second(ctx context.Context, at chain.Ref, list []*Call, expected func(i int, c *Call) bool) error {
	all := make([]opinions, len(list))
	for i, c := range list {
		all[i].call = c
	}
	for _, e := range cl.pool.Candidates() {
		if err := cl.secondOn(ctx, e, blockParam(at), all, func(o *opinions) bool { return o.call.By != e }, expected); err != nil {
			return err
		}
	}
	alone := map[*node.Endpoint]bool{}
	for i := range all {
		if o := &all[i]; !o.settled && len(o.more) == 0 {
			alone[o.call.By] = true
		}
	}
	if len(alone) > 0 && !wait.For(ctx, cl.rereadPause) {
		return ctx.Err()
	}
	for e := range alone {
		again := func(o *opinions) bool { return o.call.By == e && len(o.more) == 0 }
		if err := cl.secondOn(ctx, e, blockParam(at), all, again, expected); err != nil {
			return err
		}
	}
	for i := range all {
		switch o := &all[i]; {
		case o.settled:
		case o.expected != nil:
			o.call.Answer, o.call.OK = o.expected.Answer, true
		default:
			o.call.Answer, o.call.OK, o.call.Aside = nil, false, chain.EndpointsDiffer
		}
	}
	cl.tellAsides(list)
	return nil
}

// secondOn asks one endpoint about those open calls that which chooses. An error is the context's end: an endpoint
// that fails has no opinion.
func (cl *Caller) secondOn(ctx context.Context, e *node.Endpoint, block any, all []opinions, which func(*opinions) bool,
	expected func(i int, c *Call) bool,
) error {
	var asked []*Call
	var of []int
	for i := range all {
		if o := &all[i]; !o.settled && which(o) {
			asked, of = append(asked, &Call{To: o.call.To, Data: o.call.Data}), append(of, i)
		}
	}
	if len(asked) == 0 {
		return nil
	}
	err := cl.pool.On(ctx, e, func(ctx context.Context, e *node.Endpoint) error {
		return askAll(ctx, e, block, asked)
	})
	if err != nil {
		return ctx.Err()
	}
	for k, c := range asked {
		cl.weigh(&all[of[k]], c, expected(of[k], c))
	}
	return nil
}
