// Package solana reads Solana: a JSON-RPC source over several endpoints, which returns values of internal/market and knows no database.
package solana

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/budget"
	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/indexer/solana/decode"
	"github.com/boardwalkhq/boardwalk/indexer/solana/digest"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// MainnetGenesis is the hash of the mainnet's first block, which a chain document that names none is of.
const MainnetGenesis = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d"

// commitment is how far a block has to be voted for: two thirds of the stake. Only an attack on the network takes such a block back.
const commitment = "confirmed"

// usualUnits are those of one provider (alchemy.com/docs/reference/compute-unit-costs), which docs/costs.md repeats.
var usualUnits = rpc.Units{"getBlock": 40, "getBlocks": 20, "getMultipleAccounts": 20, chainconfig.OtherMethods: 20}

// Source reads a chain of Solana's family through its endpoints. It gives the blocks, and says what its endpoints can do. Its parts Accounts and
// History do the rest.
type Source struct {
	// pool are the endpoints that are asked, streams those that send blocks by themselves and can't be asked.
	pool        *rpc.Pool[*endpoint]
	streams     []*endpoint
	genesis     string
	decoder     *decode.Decoder
	decodedFor  [8]byte // digest.DecodedFor
	aside       func(chain.Aside)
	rereadPause time.Duration
	heads       heads
	kept        kept
	// noTimeUntil is until when (unix seconds) findTime asks nobody.
	noTimeUntil atomic.Int64
	// named are the transactions of the wallet that was listed last, priced those of the pool that was.
	named, priced named
}

// endpoint is a node.
type endpoint struct {
	*rpc.Endpoint

	mu sync.Mutex
	// told is the newest slot that it told, at toldAt; at risenAt that was a higher one than before.
	told            uint64
	toldAt, risenAt time.Time
	// newest is the block that a stream sent last, used the last one that the index was given. What it sends doesn't count until asideUntil, where it was found to
	// be of another chain or fork.
	newest, used market.Header
	asideUntil   time.Time
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
	// RereadPause is the time before an answer that nobody else confirms is asked for again; 0 is the default.
	RereadPause time.Duration
}

// rereadPause is the default of Options.RereadPause.
const rereadPause = time.Second

// NewSource checks the chain document's endpoints, exchanges and venues; it opens no connection.
func NewSource(c *chainconfig.Chain, o Options) (*Source, error) {
	d, err := decode.New(c)
	if err != nil {
		return nil, err
	}
	s := &Source{
		pool:    &rpc.Pool[*endpoint]{Chain: c.ID, Now: o.Now, Log: o.Log, NoFault: lacks},
		genesis: cmp.Or(c.GenesisHash, MainnetGenesis), decoder: d, decodedFor: digest.DecodedFor(c), aside: o.Aside,
		rereadPause: cmp.Or(o.RereadPause, rereadPause),
	}
	s.pool.IsOfChain = s.isOfChain
	reads := rpc.NewInFlight(o.InFlight)
	for i, declared := range c.Endpoints {
		e, err := rpc.NewEndpoint(i, rpc.EndpointOptions{
			Declared: declared, Reads: reads, Now: o.Now, Observe: o.Observe, RateRefused: rateRefused, UsualUnits: usualUnits,
		})
		if err != nil {
			return nil, fmt.Errorf("chain %s: %w", c.ID, err)
		}
		if declared.Protocol == chainconfig.YellowstoneGRPC {
			s.streams = append(s.streams, &endpoint{Endpoint: e})
		} else {
			s.pool.List = append(s.pool.List, &endpoint{Endpoint: e})
		}
	}
	switch {
	case len(s.pool.List) > 0:
		return s, nil
	case len(s.streams) > 0:
		return nil, fmt.Errorf("chain %s: no RPC endpoint that can be asked: add one of protocol JSONRPC beside that of Yellowstone gRPC, under spec.rpc.endpoints", c.ID)
	default:
		return nil, fmt.Errorf("chain %s: no RPC endpoint: add one under spec.rpc.endpoints, or suspend the chain", c.ID)
	}
}

// endpoints are all of them, whether they can be asked or not, in the order of their declaration among those of their kind.
func (s *Source) endpoints() []*endpoint { return slices.Concat(s.pool.List, s.streams) }

// all is a pool of all endpoints, of which some can't be asked.
func (s *Source) all() *rpc.Pool[*endpoint] {
	return &rpc.Pool[*endpoint]{List: s.endpoints(), Now: s.pool.Now}
}

// AllWrong reports whether every endpoint has turned out to serve another chain.
func (s *Source) AllWrong() bool { return s.pool.AllWrong() }

// Check asks every endpoint for its genesis hash. ErrWrongChain is in the error's tree when one serves another chain; nodes that don't answer are no
// error here.
func (s *Source) Check(ctx context.Context) error { return s.pool.CheckAll(ctx) }

// Usage is what was asked of the endpoints since the start, and how each of them stands.
func (s *Source) Usage() (sum budget.Usage, list []budget.Endpoint) { return s.pool.Usage() }

// Records are those of the endpoints that aren't trusted, in the order of their hashes.
func (s *Source) Records() []chain.Record { return s.all().Records() }

// RecallRecords takes up the records of before this start, or of another process. What this process knows itself counts more.
func (s *Source) RecallRecords(records []chain.Record) { s.all().RecallRecords(records) }

// isOfChain holds an endpoint's genesis hash against the declared one.
func (s *Source) isOfChain(ctx context.Context, e *endpoint) error {
	var hash string
	if err := e.Do(ctx, &rpc.Request{Method: "getGenesisHash", Take: take(&hash)}); err != nil {
		return err
	}
	if hash != s.genesis {
		return fmt.Errorf("%w: its getGenesisHash is %.80q, and chain %s is declared with genesisHash %s: mend the URL or the manifest",
			rpc.ErrWrongChain, hash, s.pool.Chain, s.genesis)
	}
	return nil
}

// take reads a result as JSON.
func take[T any](into *T) func(json.RawMessage) error {
	return func(raw json.RawMessage) error {
		if err := json.Unmarshal(raw, into); err != nil {
			return fmt.Errorf("%w: %.100s", rpc.ErrGarbage, err.Error())
		}
		return nil
	}
}

// outvoted notes that an endpoint said what two others contradict.
func (s *Source) outvoted(e *endpoint) {
	e.Outvote()
	s.tell(chain.Aside{Kind: "endpoint", Subject: e.Name, Reason: chain.Outvoted})
	s.pool.Log.Warn("endpoint contradicted by others", "endpoint", e.Name)
}

func (s *Source) tell(a chain.Aside) {
	if s.aside != nil {
		s.aside(a)
	}
}
