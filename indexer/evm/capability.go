package evm

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"sync"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Capabilities is what one endpoint can do, as it showed when it was asked.
type Capabilities struct {
	// Endpoint is its name, which has nothing of its URL.
	Endpoint string
	// Err is why the rest isn't known: it doesn't answer, or ErrWrongChain.
	Err error
	// Client is what it calls itself: a stranger's text, which has to be cleaned before it is shown.
	Client string
	// Head is its newest block.
	Head market.Header
	// OldState says whether it has the state after the chain's first blocks, RecentState after a block up to 64 below its head, LatestState
	// after its newest block.
	OldState, RecentState, LatestState node.Answer
	// StateByNewest is set where it answers a question about old state with the newest, without a word.
	StateByNewest bool
	// Overrides says whether it simulates calls on a changed state.
	Overrides node.Answer
	// Logs says whether it takes the filter by which the chain is indexed, LogBlocks of how many blocks at once: 0 where that isn't known.
	Logs      node.Answer
	LogBlocks uint64
	// LogTopics is how many topics it takes in one filter, 0 where it takes all of the chain's. LogFilters is how many filters a question for
	// logs takes therefore.
	LogTopics, LogFilters int
	// BatchCalls is how many calls it took at once, 1 where it takes no batches, 0 where that isn't known.
	BatchCalls int
	// Heads says whether it announces new blocks by WebSocket, at the same address.
	Heads node.Answer
	// ManyCalls says whether it answers many calls in one: Multicall3 is there, or it takes a call without a contract's address.
	ManyCalls node.Answer
	// Finality says whether it knows the newest final block.
	Finality node.Answer
}

// logRanges and batchSizes are tried from the greatest on. An indexer asks for at most node.LongestRange blocks, and rpc.CallsAtOnce calls.
var (
	logRanges  = []uint64{node.LongestRange, 2_000, 1_000, 500, 100, 50, 10, 1}
	batchSizes = []int{rpc.CallsAtOnce, 50, 20, 10, 5, 2}
)

// recentBlocks is how far below the head a node without old state has to have it: reorgs are looked at no deeper on most chains.
const recentBlocks = 64

// Capabilities asks every endpoint what it can do: some 20 requests each.
func (s *Source) Capabilities(ctx context.Context, wrapped market.Address) []Capabilities {
	out := make([]Capabilities, len(s.pool.List))
	var asking sync.WaitGroup
	for i, e := range s.pool.List {
		asking.Go(func() { out[i] = s.capabilities(ctx, e, wrapped) })
	}
	asking.Wait()
	return out
}

func (s *Source) capabilities(ctx context.Context, e *endpoint, wrapped market.Address) Capabilities {
	c := Capabilities{Endpoint: e.Name}
	err := node.InProbeTime(ctx, func(ctx context.Context) error { return s.pool.Check(ctx, e) })
	if err == nil {
		c.Head, err = e.newestHeader(ctx)
	}
	if err != nil {
		c.Err = err
		return c
	}
	c.Client = e.clientName(ctx)
	e.stateKept(ctx, wrapped, &c)
	c.Overrides = s.takesOverrides(ctx, e)
	e.logsTaken(ctx, s.topics, &c)
	c.BatchCalls = e.callsTaken(ctx)
	c.Heads = e.announcesHeads(ctx)
	c.ManyCalls = s.calls.AnswersMany(ctx, e.Endpoint)
	c.Finality = e.knowsFinal(ctx)
	return c
}

func (e *endpoint) newestHeader(ctx context.Context) (market.Header, error) {
	var h chain.Header
	if err := e.Probe(ctx, node.TagRequest(node.Newest, &h)); err != nil {
		return market.Header{}, err
	}
	return h.Header, e.isPast(&h)
}

func (e *endpoint) clientName(ctx context.Context) (name string) {
	_ = e.Probe(ctx, &rpc.Request{Method: "web3_clientVersion", Take: func(raw json.RawMessage) error {
		return json.Unmarshal(raw, &name)
	}})
	u, err := e.URL()
	if err != nil {
		return ""
	}
	return rpc.Redact(u, name[:min(len(name), chain.MaxText)])
}

// stateKept asks for the wrapped coin's own balance of the native coin after several blocks.
func (e *endpoint) stateKept(ctx context.Context, wrapped market.Address, c *Capabilities) {
	var now, recent, old market.Amount
	c.LatestState = e.balanceAt(ctx, wrapped, node.Newest, &now)
	c.RecentState = e.balanceAt(ctx, wrapped, rpc.HexQuantity(c.Head.Number-min(c.Head.Number, recentBlocks)), &recent)
	c.OldState = e.balanceAt(ctx, wrapped, rpc.HexQuantity(min(c.Head.Number, 1)), &old)
	if c.OldState == node.Yes && e.AnswersByNewest(ctx, wrapped) == node.Yes {
		c.OldState, c.StateByNewest = node.No, true
		if recent == now {
			c.RecentState = node.Unknown
		}
	}
}

func (e *endpoint) balanceAt(ctx context.Context, account market.Address, block string, v *market.Amount) node.Answer {
	err := e.Probe(ctx, node.BalanceRequest(account, block, v))
	switch {
	case err == nil:
		return node.Yes
	case node.StateMissing(err, false):
		return node.No
	}
	return node.Unknown
}

func (s *Source) takesOverrides(ctx context.Context, e *endpoint) node.Answer {
	can := false
	err := node.InProbeTime(ctx, func(ctx context.Context) (err error) {
		can, err = s.canOverride(ctx, e)
		return err
	})
	switch {
	case err != nil:
		return node.Unknown
	case can:
		return node.Yes
	}
	return node.No
}

// nobody is an account that logs nothing: questions for its logs are answered with none.
var nobody = "0x" + hex.EncodeToString([]byte("boardwalk probes it:"))

// logsTaken finds the widest range of blocks of which the endpoint takes the index's own filter, or as many of its topics as it takes. It asks for
// logs of an account that has none: an answer's length isn't what is found out.
func (e *endpoint) logsTaken(ctx context.Context, topics [][32]byte, c *Capabilities) {
	for _, blocks := range logRanges {
		blocks = min(blocks, c.Head.Number+1)
		q := node.LogQuestion{Topics: topics, Where: map[string]any{
			"fromBlock": rpc.HexQuantity(c.Head.Number + 1 - blocks), "toBlock": rpc.HexQuantity(c.Head.Number), "address": nobody,
		}}
		err := e.probeLogs(ctx, &q)
		switch refusal, refused := errors.AsType[*rpc.NodeError](err); {
		case err == nil:
			c.Logs, c.LogBlocks, c.LogTopics = node.Yes, blocks, max(e.TopicsAtOnce(), 0)
			c.LogFilters = len(q.Parts(c.LogTopics))
			return
		case refused && node.SaysTooOften(refusal):
			return
		case refused:
			c.Logs = node.No // unless a smaller range does
		}
	}
}

// probeLogs asks a question for logs with as many topics as the endpoint takes.
func (e *endpoint) probeLogs(ctx context.Context, q *node.LogQuestion) error {
	for {
		part := q.Parts(e.TopicsAtOnce())[0]
		err := e.Probe(ctx, &rpc.Request{Method: "eth_getLogs", Params: q.Params(part), Take: func(raw json.RawMessage) error {
			var list []json.RawMessage
			return json.Unmarshal(raw, &list)
		}})
		if err == nil || !e.LearnTopics(err, len(part)) {
			return err
		}
	}
}

// callsTaken finds how many calls the endpoint takes at once.
func (e *endpoint) callsTaken(ctx context.Context) int {
	for _, n := range batchSizes {
		reqs := make([]*rpc.Request, n)
		for i := range reqs {
			reqs[i] = &rpc.Request{Method: "eth_chainId", Take: func(json.RawMessage) error { return nil }}
		}
		err := node.InProbeTime(ctx, func(ctx context.Context) error { return e.Send(ctx, node.ProbeBytes, reqs...) })
		switch refusal, refused := errors.AsType[*rpc.NodeError](err); {
		case err == nil:
			return n
		case refused && node.SaysTooOften(refusal):
			return 0
		}
	}
	return 1
}

// announcesHeads subscribes to new blocks, and waits for the endpoint to agree.
func (e *endpoint) announcesHeads(ctx context.Context) node.Answer {
	agreed := false
	err := node.InProbeTime(ctx, func(ctx context.Context) error {
		c, err := e.subscribed(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = c.CloseNow() }()
		_, said, err := c.Read(ctx)
		if err != nil {
			return err
		}
		_, err = rpc.ResultOf(said)
		agreed = err == nil
		return nil
	})
	if err != nil && ctx.Err() != nil {
		return node.Unknown
	}
	if agreed {
		return node.Yes
	}
	return node.No
}

func (e *endpoint) knowsFinal(ctx context.Context) node.Answer {
	var h chain.Header
	err := e.Probe(ctx, node.TagRequest("finalized", &h))
	switch _, refused := errors.AsType[*rpc.NodeError](err); {
	case err == nil:
		return node.Yes
	case refused, errors.Is(err, chain.ErrNoBlock):
		return node.No
	}
	return node.Unknown
}
