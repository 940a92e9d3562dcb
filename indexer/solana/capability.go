package solana

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

// probeTime is how long an endpoint may take over the questions about itself.
const probeTime = 30 * time.Second

// Capabilities are what an endpoint can do, as far as it tells.
type Capabilities struct {
	// Endpoint is what it is called in logs; Err is why it can't be asked, or serves another chain.
	Endpoint string
	Err      error
	// Client is what it calls itself: a stranger's text, to be cleaned before it is shown.
	Client string
	// Head is its newest block. Oldest is the slot of the oldest one that it has; 0 where it doesn't tell.
	Head   market.Header
	Oldest uint64
	// Refused is why it doesn't give its newest block with its transactions; nil where it does. Transactions and Bytes are that block's.
	Refused             error
	Transactions, Bytes int
	// NoHolders is why it doesn't tell who has a token, NoLists why it doesn't list what an account did; nil where it does, or isn't to.
	NoHolders, NoLists error
}

// Capabilities asks all endpoints at once that can be asked for what a chain as it is declared needs.
func (s *Source) Capabilities(ctx context.Context, c *chainconfig.Chain) []Capabilities {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	out := make([]Capabilities, len(s.pool.List))
	var asking sync.WaitGroup
	for i, e := range s.pool.List {
		asking.Go(func() {
			out[i] = Capabilities{Endpoint: e.Name}
			out[i].Err = s.pool.On(ctx, e, func(ctx context.Context, e *endpoint) error {
				if err := s.probe(ctx, e, &out[i]); err != nil {
					return err
				}
				return e.probeMore(ctx, c, &out[i])
			})
		})
	}
	asking.Wait()
	return out
}

func (s *Source) probe(ctx context.Context, e *endpoint, c *Capabilities) error {
	var version struct {
		Core string `json:"solana-core"`
	}
	if err := e.Do(ctx, &rpc.Request{Method: "getVersion", Take: take(&version), Optional: true}); err != nil {
		return err
	}
	c.Client = version.Core
	if err := e.Do(ctx, &rpc.Request{Method: "getFirstAvailableBlock", Take: take(&c.Oldest), Optional: true}); err != nil {
		return err
	}
	slot, err := s.slotOn(ctx, e, commitment)
	if err != nil {
		return err
	}
	var slots []uint64
	params := []any{slot - min(slot, unreadyBlocks), slot, map[string]any{"commitment": commitment}}
	if err := e.Do(ctx, &rpc.Request{Method: "getBlocks", Params: params, Take: take(&slots)}); err != nil {
		return err
	}
	if len(slots) == 0 {
		return fmt.Errorf("%w: it is at slot %d, and has no block near it", rpc.ErrGarbage, slot)
	}
	newest, err := s.headerOn(ctx, e, slots[len(slots)-1])
	if err != nil {
		return err
	}
	c.Head = newest.Header
	b, err := s.blockOn(ctx, e, newest.Number)
	c.Refused, c.Transactions, c.Bytes = err, b.Transactions, b.bytes
	return nil
}

// nobody is an account that has no token, and is part of no transaction.
var nobody = market.SolanaAddress([32]byte([]byte("boardwalk asks whether it's told")))

// probeMore asks what only some chains need.
func (e *endpoint) probeMore(ctx context.Context, c *chainconfig.Chain, told *Capabilities) error {
	var ignored any
	if h := c.Tracking.Holders; h == chainconfig.HoldersDeclared || h == chainconfig.HoldersAll {
		ask := holdersQuestion(nobody, false, 0)
		ask.Take = take(&ignored)
		refused, err := e.askHolders(ctx, ask)
		if err != nil {
			return err
		}
		told.NoHolders = refused
	}
	if c.Tracking.PastDays > 0 {
		ask := &rpc.Request{Method: "getSignaturesForAddress", Params: []any{nobody.String(), map[string]any{"limit": 1}}, Take: take(&ignored), Optional: true}
		if err := e.Do(ctx, ask); err != nil {
			return err
		}
		told.NoLists = ask.Err
	}
	return nil
}

// StreamCapabilities are what an endpoint sends that streams blocks.
type StreamCapabilities struct {
	// Endpoint is what it is called in logs; Err is why it sends none, or none of this chain.
	Endpoint string
	Err      error
	// Newest is the block that it sent, with so many transactions in so many bytes.
	Newest              market.Header
	Transactions, Bytes int
}

// errOtherStream says that a stream's block isn't the one that the chain has in its slot.
var errOtherStream = errors.New("it streams another chain's blocks")

// StreamCapabilities reads a block of each stream, and holds it against the one that an endpoint has which can be asked.
func (s *Source) StreamCapabilities(ctx context.Context) []StreamCapabilities {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	out := make([]StreamCapabilities, len(s.streams))
	var reading sync.WaitGroup
	for i, e := range s.streams {
		reading.Go(func() {
			out[i] = StreamCapabilities{Endpoint: e.Name}
			out[i].Err = s.probeStream(ctx, e, &out[i])
		})
	}
	reading.Wait()
	return out
}

func (s *Source) probeStream(ctx context.Context, e *endpoint, c *StreamCapabilities) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended, came := make(chan error, 1), make(chan struct{}, 1)
	go func() { ended <- s.readStream(ctx, e, came) }()
	select {
	case err := <-ended:
		return err
	case <-came:
	}
	e.mu.Lock()
	c.Newest = e.newest
	e.mu.Unlock()
	if r, ok := s.kept.of(c.Newest.Number, c.Newest.Hash); ok {
		c.Transactions, c.Bytes = r.Transactions, r.bytes
	}
	for {
		told, err := s.fetch(ctx, c.Newest.Number, s.headerOn)
		switch {
		case err == nil && told.Hash != c.Newest.Hash:
			return fmt.Errorf("%w: block %d is another one there", errOtherStream, c.Newest.Number)
		case err == nil:
			return nil
		case !errors.Is(err, chain.ErrNoBlock) || !wait.For(ctx, s.rereadPause):
			return fmt.Errorf("its block %d can't be held against that of an endpoint of protocol JSONRPC: %w", c.Newest.Number, err)
		}
	}
}
