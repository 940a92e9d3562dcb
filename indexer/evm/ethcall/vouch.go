package ethcall

import (
	"bytes"
	"context"
	"slices"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node"
)

// Facts are kept for ever, and the decimals of a token decide its price by powers of ten. So where there are several endpoints two have to
// answer a call by which a price is decided in the same way. A contract may answer each node differently, by what differs between clients:
// whoever is contradicted about one is told, and not distrusted, or strangers could bring honest endpoints into disrepute.

// ballot is a call with what endpoints answered to it.
type ballot struct {
	call *Call // the first endpoint's; in the end it has the answer that counts
	more []*Call
	// late says that others answered for their newest block, as far as it is known: they don't have the block's state.
	late, settled bool
}

func alike(a, b *Call) bool { return a.OK == b.OK && bytes.Equal(a.Answer, b.Answer) }

// Vouch asks other endpoints for calls that one endpoint has answered, until two have given each call the same answer, which the call keeps. Unsure are
// the calls, by their place in the list, that no two endpoints answered alike. Either no other endpoint answers within its time: then the first
// answer stays. Or all answers differ: then the answer of the endpoint that was outvoted less is taken, and is set
// aside. With one endpoint nothing is unsure. The calls were answered for the block at, or for the newest one where its state is gone.
func (cl *Caller) Vouch(ctx context.Context, at chain.Ref, gone bool, list []*Call) (unsure []bool, err error) {
	unsure = make([]bool, len(list))
	if len(cl.pool.List) == 1 || len(list) == 0 {
		return unsure, nil
	}
	all := make([]ballot, len(list))
	for i, c := range list {
		all[i].call = c
	}
	for _, e := range cl.pool.Candidates() {
		if e.IsSlow() {
			continue
		}
		if err := cl.vouchOn(ctx, e, at, gone, all); err != nil {
			return nil, err
		}
	}
	for i := range all {
		b := &all[i]
		if b.settled {
			continue
		}
		// Where nobody else has the state, or can tell, nobody knows what the supply was; a token is no less known for that.
		none := len(b.more) == 0 || len(b.more) == 1 && b.more[0].IsMute()
		unsure[i] = list[i].Data != TotalSupply || !none
		if len(b.more) > 0 && !b.late && unsure[i] {
			b.better()
		}
	}
	cl.tellAsides(list)
	return unsure, nil
}

// vouchOn asks one endpoint for the calls that are open and that another answered. What hardly ever changes it may answer for its newest
// block, where it doesn't keep the state of the other: not where it may be late, since there is no contract yet in what it has. An error is
// the context's end.
func (cl *Caller) vouchOn(ctx context.Context, e *node.Endpoint, at chain.Ref, gone bool, all []ballot) error {
	timed, cancel := cl.within(ctx, cl.vouchTime)
	defer cancel()
	ask := func(block any, late bool) (missing bool) {
		var asked []*Call
		var of []*ballot
		for i := range all {
			b := &all[i]
			if !b.settled && b.call.By != e && (!late || b.call.Data != TotalSupply && !b.call.Changes) {
				asked, of = append(asked, &Call{To: b.call.To, Data: b.call.Data, Questions: b.call.Questions}), append(of, b)
			}
		}
		if len(asked) == 0 {
			return false
		}
		err := cl.pool.On(timed, e, func(ctx context.Context, e *node.Endpoint) error {
			return askAll(ctx, e, block, asked)
		})
		for i := range asked {
			if err == nil {
				cl.take(of[i], asked[i], late)
			}
		}
		return node.StateMissing(err, at.Number+LateBlocks > cl.head())
	}
	if gone {
		ask(node.Newest, false)
	} else if ask(blockParam(at), false) {
		ask(node.Newest, true)
	}
	if ctx.Err() == nil && timed.Err() != nil {
		cl.TookTooLong(e)
	}
	return ctx.Err()
}

// take takes one more answer to a call in.
func (cl *Caller) take(b *ballot, given *Call, late bool) {
	b.late = b.late || late
	b.more = append(b.more, given)
	like := func(c *Call) bool { return alike(c, given) }
	if !like(b.call) && !slices.ContainsFunc(b.more[:len(b.more)-1], like) {
		return
	}
	b.settled = true
	for _, c := range append(b.more, b.call) {
		if !like(c) {
			cl.Contradicted(c.By)
		}
	}
	b.call.Answer, b.call.OK, b.call.Aside = given.Answer, given.OK, given.Aside
}

// better chooses the answer of the endpoint that was outvoted less.
func (b *ballot) better() {
	best := b.call
	for _, c := range b.more {
		if c.By.Outvotes() < best.By.Outvotes() {
			best = c
		}
	}
	b.call.Answer, b.call.OK, b.call.Aside = best.Answer, best.OK, chain.EndpointsDiffer
}

// Contradicted tells of an endpoint that answered for a contract what two others contradict.
func (cl *Caller) Contradicted(e *node.Endpoint) {
	if cl.aside != nil {
		cl.aside(chain.Aside{Kind: "endpoint", Subject: e.Name, Reason: chain.CallContradicted})
	}
}

// TookTooLong notes that an endpoint took longer than its time to vouch.
func (cl *Caller) TookTooLong(e *node.Endpoint) { e.TookTooLong(cl.vouchTime) }
