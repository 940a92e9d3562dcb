// Package evm reads EVM chains: a JSON-RPC source over several endpoints, which returns values of internal/market and knows no database. Here blocks are read and
// held against what other endpoints say: the head, headers, logs and the past. How one node is asked is in the folder node, how contracts are called in ethcall, and
// what they are asked in contracts.
package evm

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/budget"
	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/block"
	"github.com/boardwalkhq/boardwalk/indexer/evm/contracts"
	"github.com/boardwalkhq/boardwalk/indexer/evm/decode"
	"github.com/boardwalkhq/boardwalk/indexer/evm/ethcall"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// vouchTime is the default of Options.VouchTime.
const vouchTime = 2 * time.Second

// Source reads one EVM chain through its endpoints. It gives the blocks, answers the questions of a token's check, and says what its endpoints
// can do. Its parts Contracts and History do the rest.
type Source struct {
	pool          *rpc.Pool[*endpoint]
	calls         *ethcall.Caller
	contracts     contracts.Contracts
	decoder       *decode.Decoder
	topics        [][32]byte
	asked         [8]byte // hashAsked of the topics
	finalityDepth uint64
	blockTime     time.Duration
	seen          atomic.Uint64 // the number of the head, as heads has it
	heads         heads
	// readsBlocks says that blocks at the head are read with their transactions: launches trade on the chain.
	readsBlocks bool
	// taken is the newest block that the loop has taken in, or is about to; nil before the first.
	taken       atomic.Pointer[market.Header]
	overrides   overrides
	aside       func(chain.Aside)
	givesUp     func(budget.Purpose) bool
	rereadPause time.Duration
	vouchTime   time.Duration
	waits       waits
	// headersFail is set once the headers of the chain turn out not to tell which logs its blocks hold.
	headersFail atomic.Bool
	seals       seals
}

// Options are the clock, the log and the observers of a source.
type Options struct {
	Log *slog.Logger
	Now func() time.Time
	// Observe is told of every request to an endpoint, with what it was counted as; it may be nil.
	Observe func(endpoint string, spent budget.Spent, err error)
	// Aside is told of what is set aside; it may be nil. Several goroutines call it.
	Aside func(chain.Aside)
	// InFlight is told how many bytes of answers are being read or decoded, whenever that changes; it may be nil, and must not wait.
	InFlight func(bytes int64)
	// GivesUp reports whether nodes aren't asked for something now, since what they allow runs out; nil gives up nothing.
	GivesUp func(budget.Purpose) bool
	// RereadPause is the time before an answer that nobody else confirms is asked for again; it grows from time to time. 0 is
	// the default.
	RereadPause time.Duration
	// VouchTime is how long another endpoint may take to answer again what one has answered; 0 is the default.
	VouchTime time.Duration
}

// NewSource checks the chain document's endpoints and exchanges; it opens no connection.
func NewSource(c *chainconfig.Chain, o Options) (*Source, error) {
	d, err := decode.New(c)
	if err != nil {
		return nil, err
	}
	nodes, err := node.NewPool(c, node.Options{Log: o.Log, Now: o.Now, Observe: o.Observe, InFlight: o.InFlight})
	if err != nil {
		return nil, err
	}
	s := &Source{
		pool:    poolOf(nodes),
		decoder: d, topics: d.Topics(), finalityDepth: c.FinalityDepth, aside: o.Aside,
		blockTime:   time.Duration(c.BlockTime),
		readsBlocks: len(c.Venues) > 0,
		givesUp:     o.GivesUp,
		rereadPause: cmp.Or(o.RereadPause, rereadPause), vouchTime: cmp.Or(o.VouchTime, vouchTime),
	}
	s.calls = ethcall.New(nodes, ethcall.Options{Head: s.seen.Load, Aside: o.Aside, RereadPause: s.rereadPause, VouchTime: s.vouchTime})
	s.contracts = contracts.New(nodes, s.calls, c.Native.Wrapped)
	s.asked = hashAsked(s.topics)
	slices.SortFunc(s.topics, func(a, b [32]byte) int { return bytes.Compare(a[:], b[:]) }) // every endpoint has the same parts of them
	return s, nil
}

// poolOf has the nodes with what reading blocks knows of each.
func poolOf(nodes *rpc.Pool[*node.Endpoint]) *rpc.Pool[*endpoint] {
	pool := &rpc.Pool[*endpoint]{
		Chain: nodes.Chain, Now: nodes.Now, Log: nodes.Log, NoFault: isAnswer,
		IsOfChain: func(ctx context.Context, e *endpoint) error { return nodes.IsOfChain(ctx, e.Endpoint) },
	}
	for _, e := range nodes.List {
		pool.List = append(pool.List, &endpoint{Endpoint: e, rangeLen: firstRange})
	}
	return pool
}

// Contracts gives the part that asks contracts, by the source's endpoints.
func (s *Source) Contracts() contracts.Contracts { return s.contracts }

// AllWrong reports whether every endpoint has turned out to serve another chain.
func (s *Source) AllWrong() bool { return s.pool.AllWrong() }

// Check asks every endpoint for its chain id. ErrWrongChain is in the error's tree when one serves another chain; nodes
// that don't answer are no error here.
func (s *Source) Check(ctx context.Context) error { return s.pool.CheckAll(ctx) }

// Usage is what was asked of the endpoints since the start, and how each of them stands.
func (s *Source) Usage() (sum budget.Usage, list []budget.Endpoint) { return s.pool.Usage() }

// Records lists the records of the endpoints that aren't trusted, in the order of their hashes.
func (s *Source) Records() []chain.Record { return s.pool.Records() }

// RecallRecords takes up the records of before this start, or of another process. What this process knows itself counts more.
func (s *Source) RecallRecords(records []chain.Record) { s.pool.RecallRecords(records) }

// Block reads the logs of one block by its hash and decodes them. Every log must name that hash, and be one that the header
// allows. That there are none is believed by the rules of empty.go.
func (s *Source) Block(ctx context.Context, h chain.Header) (chain.BlockRead, error) {
	return s.readBlock(ctx, h, false)
}

// readBlock is Block. Ahead of its turn a block is only read if its answer isn't longer than others may be: one at a time may.
func (s *Source) readBlock(ctx context.Context, h chain.Header, ahead bool) (chain.BlockRead, error) {
	a, err := readLogs(ctx, s, h.Number, s.blockReading(h, ahead))
	return chain.BlockRead{Block: a.found, Agreed: a.agreed, Word: &blockWord{answer: a}}, err
}

func (s *Source) blockReading(h chain.Header, ahead bool) *logReading[market.Block] {
	mayHold := func(topics [][32]byte) bool { return s.headersFail.Load() || block.ProofOf(&h).MayHold(topics) }
	return &logReading[market.Block]{
		atHead: true,
		proved: func() bool { return !mayHold(s.topics) },
		ask: func(ctx context.Context, e *endpoint, a asking) (answer[market.Block], error) {
			q := node.LogQuestion{Where: map[string]any{"blockHash": h.Hash.String()}, Topics: s.topics, Single: !ahead, MayHold: mayHold}
			if a.byNumber {
				q.Where = map[string]any{"fromBlock": rpc.HexQuantity(h.Number), "toBlock": rpc.HexQuantity(h.Number)}
			}
			return s.blockOn(ctx, e, &h, &q, a)
		},
	}
}

// blockOn asks an endpoint for a block's logs.
func (s *Source) blockOn(ctx context.Context, e *endpoint, h *chain.Header, q *node.LogQuestion, a asking) (answer[market.Block], error) {
	out := answer[market.Block]{upTo: h.Number}
	logs, got, err := e.Logs(ctx, q)
	if !q.Single && errors.Is(err, rpc.ErrTooLong) {
		return out, &node.RangeError{Err: err} // not the endpoint's fault
	}
	if err != nil {
		return out, err
	}
	defer got.Done()
	ctx = got.Within(ctx)
	for i := range logs {
		if a.byNumber && logs[i].BlockHash != h.Hash && logs[i].Block == h.Number {
			return out, node.ErrReplaced
		}
		if logs[i].BlockHash != h.Hash || logs[i].Block != h.Number || logs[i].Removed {
			return out, fmt.Errorf("%w: asked for the logs of block %s, got one of %s", rpc.ErrGarbage, h.Hash, logs[i].BlockHash)
		}
	}
	if logs, err = s.ordered(h.Number, logs, a.lenient); err != nil {
		return out, err
	}
	if err := s.denies(ctx, e, h, logs); err != nil {
		if _, isDenied := asDenied(err); !isDenied || !a.lenient {
			return out, err
		}
		s.tellBlock(h.Number, chain.DeniedLogs)
		out.denied = true
	}
	out.logs, out.digest, out.content = len(logs), digestOf(logs), contentOf(logs)
	if out.found, err = s.decode(h.Header, logs, a.lenient); err != nil {
		return out, err
	}
	s.addTransactions(h, logs, &out.found)
	return out, nil
}

// decode orders a block's logs and decodes them. Logs may come in any order.
func (s *Source) decode(h market.Header, logs []decode.Log, renumber bool) (market.Block, error) {
	logs, err := s.ordered(h.Number, logs, renumber)
	if err != nil {
		return market.Block{Header: h}, err
	}
	return s.decoder.Block(h, logs), nil
}
