package node

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/provider/profiles"
	"github.com/boardwalkhq/boardwalk/hack/provider/yellowstone"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
)

// StartSolana begins to listen for a node of Solana, which asks another one that has no limits.
func StartSolana(ctx context.Context, upstream string, o Options) (*Node, error) {
	n, err := start(ctx, o)
	if err != nil {
		return nil, err
	}
	if o.Profile.Stream.Offered {
		if n.streams, err = n.stream(ctx, o.Yellowstone); err != nil {
			return nil, errors.Join(err, n.listener.Close())
		}
	}
	n.upstream, n.run = upstream, n.runSolana
	n.listen()
	return n, nil
}

// stream begins to stream the blocks that a server without limits streams.
func (n *Node) stream(ctx context.Context, from string) (*yellowstone.Server, error) {
	host, _, err := net.SplitHostPort(n.listener.Addr().String())
	if err != nil {
		return nil, err
	}
	return yellowstone.Start(ctx, yellowstone.Options{
		Limits: n.profile.Stream, Counter: n.counts, From: from, Host: host, Now: n.now,
		Delay: func() time.Duration { return n.drawLatency(&n.profile.StreamLatency) },
	})
}

// Endpoints are the node's as a chain declares them: the one of JSON-RPC, and the stream of blocks where there is one.
func (n *Node) Endpoints() []chainconfig.Endpoint {
	list := []chainconfig.Endpoint{{URL: n.url}}
	if n.streams != nil {
		list = append(list, chainconfig.Endpoint{URL: n.streams.URL(), Protocol: chainconfig.YellowstoneGRPC})
	}
	return list
}

// tokenPrograms are SPL Token and Token-2022.
var tokenPrograms = []string{`"TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"`, `"TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb"`}

// runSolana answers calls for a node of Solana.
func (n *Node) runSolana(ctx context.Context, calls []*call) {
	head, err := n.headSlot(ctx)
	if err != nil {
		for _, c := range calls {
			c.refuse(&profiles.Refusal{Status: http.StatusBadGateway, Code: -32603, Message: "the stand-in's chain doesn't answer"})
		}
		return
	}
	l := newLedger(&n.profile.Solana, head)
	var upstream []*call
	for _, c := range calls {
		if c.refusal != nil || n.isBeyond(c) {
			continue
		}
		if refusal, why := n.refusalOf(l, c); refusal != nil {
			n.counts.refused(why)
			c.refuse(refusal)
			continue
		}
		if !l.isWhole() {
			c.widen()
		}
		upstream = append(upstream, c)
	}
	n.forward(ctx, upstream)
	for _, c := range upstream {
		if c.refusal != nil || l.isWhole() {
			continue
		}
		if l.forget(c); l.lacksContent(c) {
			n.counts.refused("gap")
			c.result = null
		}
	}
}

// refusalOf is what the node says instead of asking the chain, and which limit that is; it is nil where the chain is asked.
func (n *Node) refusalOf(l *ledger, c *call) (refusal *profiles.Refusal, why string) {
	limits := &n.profile.Solana
	if slot, ok := c.slot(); ok {
		refusal, why = l.refusal(slot)
	}
	switch {
	case slices.Contains(n.profile.Missing, c.Method):
		return said(n.profile.NoMethod, c.Method), "method"
	case refusal != nil:
		return refusal, why
	case c.Method == "getProgramAccounts" && limits.NoTokens.Message != "" && slices.Contains(tokenPrograms, string(c.param(0))):
		return said(limits.NoTokens, trimmed(c.param(0))), "tokens"
	default:
		return nil, ""
	}
}

// isBeyond refuses a call that is beyond its method's own rate.
func (n *Node) isBeyond(c *call) bool {
	rate := n.profile.Solana.PerMethod
	if rate.PerSecond == 0 {
		return false
	}
	n.mu.Lock()
	b := n.byMethod[c.Method]
	if b == nil {
		b = newBucket(rate, n.now)
		n.byMethod[c.Method] = b
	}
	n.mu.Unlock()
	refusal, retry, _ := b.take(1)
	if refusal == nil {
		return false
	}
	n.counts.refused("method's rate")
	c.refusal, c.retry = refusal, retry
	return true
}

// headSlot is the chain's newest slot.
func (n *Node) headSlot(ctx context.Context) (slot uint64, err error) {
	answers, err := n.ask(ctx, []*call{{Method: "getSlot", Params: []json.RawMessage{json.RawMessage(`{"commitment":"confirmed"}`)}}})
	if err != nil {
		return 0, err
	}
	return slot, json.Unmarshal(answers[0].Result, &slot)
}

func (c *call) answer(v any) {
	if raw, err := json.Marshal(v); err == nil {
		c.result = raw
	}
}

// trimmed is a text without its quotation marks.
func trimmed(raw json.RawMessage) (text string) {
	_ = json.Unmarshal(raw, &text)
	return text
}
