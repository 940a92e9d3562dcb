package mainnet

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/boardwalkhq/boardwalk/hack/provider/chain"
	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/traffic"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
)

// Options say what a stand-in is like. Zero values take the defaults named here.
type Options struct {
	// Samples is the folder with the Chain resources; Chain is the id of one.
	Samples, Chain string
	Seed           uint64
	// BlockTime is 100 ms to 12 s; the sample's by default.
	BlockTime time.Duration
	// Txs and Logs are about how many a block has of made-up ones.
	Txs, Logs int
	// VolumeV2 and VolumeV3 are the pools of the volume; both 0 is the chain's default.
	VolumeV2, VolumeV3 int
	// RealTxs is the mean number of real transactions in a block of anvil's, which mines one every StateEvery: by default once a second, and
	// never more often than the chain makes a block.
	RealTxs    int
	StateEvery time.Duration
	// Before is how many blocks of trades the chain has before the past, 20 by default; Past how many blocks of the full volume follow
	// it up to now. PastSpan, if it is set, is how much of the chain's time they take, and says how many they are.
	Before, Past int
	PastSpan     time.Duration
	// Reorgs is the part of the blocks that are followed by a reorg, of up to ReorgDepth blocks, 2 by default.
	Reorgs     float64
	ReorgDepth int
	// WithoutMulticall leaves Multicall3 out.
	WithoutMulticall bool
	// KeepStates is of how many of anvil's blocks the state is kept, at nearly 1 MB each; 500 by default.
	KeepStates int
	// Said, if set, is told how the past comes along, in [0, 1].
	Said func(done float64)
}

// Mainnet is a stand-in that runs.
type Mainnet struct {
	Chain  *chain.Chain
	World  *world.World
	sample *sample
	// options have the defaults in.
	options Options
	rng     *rand.Rand
	// newest is the time of anvil's newest block.
	newest time.Time
	reorgs atomic.Uint64
}

const (
	fastest, slowest = 100 * time.Millisecond, 12 * time.Second
	leastState       = time.Second
	beforeEvery      = 30 * time.Second
	defaultBefore    = 20
	defaultReal      = 4
	defaultDepth     = 2
	defaultStates    = 500
	// pastStates is into how many of anvil's blocks the past's real transactions go at most.
	pastStates = 120
	// setup is more than deployment and volume's pools take of the chain's time.
	setup = 5 * time.Minute
)

// fill sets the defaults.
func (o *Options) fill(s *sample) error {
	if o.BlockTime == 0 {
		o.BlockTime = s.Spec.BlockTime.Duration
	}
	if o.BlockTime < fastest || o.BlockTime > slowest {
		return fmt.Errorf("a block time of %s: it must be from %s to %s", o.BlockTime, fastest, slowest)
	}
	if o.StateEvery == 0 {
		o.StateEvery = leastState
	}
	if o.StateEvery < leastState {
		return fmt.Errorf("anvil's blocks every %s: it must be %s at least, since its times are whole seconds", o.StateEvery, leastState)
	}
	o.StateEvery = max(o.StateEvery, o.BlockTime)
	if o.PastSpan > 0 {
		o.Past = int(o.PastSpan / o.BlockTime)
	}
	for _, d := range []struct {
		value   *int
		usually int
	}{{&o.Before, defaultBefore}, {&o.RealTxs, defaultReal}, {&o.ReorgDepth, defaultDepth}, {&o.KeepStates, defaultStates}} {
		if *d.value == 0 {
			*d.value = d.usually
		}
	}
	return nil
}

// Start makes the chain up to now. It ends with Close, or with the context.
func Start(ctx context.Context, o Options) (m *Mainnet, err error) {
	m = &Mainnet{rng: rand.New(rand.NewPCG(o.Seed, 37))}
	if m.sample, err = readSample(o.Samples, o.Chain); err != nil {
		return nil, err
	}
	if err := o.fill(m.sample); err != nil {
		return nil, err
	}
	m.options = o
	spec := &m.sample.Spec
	native, known := natives[string(spec.NativeAsset.Symbol)]
	if !known {
		return nil, fmt.Errorf("chain %s: the stand-in has no price for %s: add one to natives", o.Chain, spec.NativeAsset.Symbol)
	}
	began := time.Now().Add(-time.Duration(o.Past) * o.BlockTime)
	genesis := began.Add(-time.Duration(o.Before)*beforeEvery - setup)
	node, err := anvil.StartNode(ctx, anvil.NodeOptions{ChainID: uint64(*spec.ChainID), Timestamp: genesis, KeepStates: o.KeepStates})
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			node.Kill()
		}
	}()
	places := m.sample.places()
	if o.WithoutMulticall {
		places.Multicall = ""
	}
	if m.World, err = world.Deploy(ctx, node, world.DeployOptions{Seed: o.Seed, Native: native, Places: places}); err != nil {
		return nil, err
	}
	trader := traffic.NewTrader(m.World, o.Seed)
	if err := m.before(ctx, trader); err != nil {
		return nil, err
	}
	m.Chain, err = chain.New(ctx, chain.Options{
		World: m.World, Trader: trader, Seed: o.Seed, Txs: o.Txs, Logs: o.Logs, VolumeV2: o.VolumeV2, VolumeV3: o.VolumeV3, RealTxs: o.RealTxs,
	})
	if err != nil {
		return nil, err
	}
	return m, m.past(ctx, began)
}

// before lets the traders trade for a while.
func (m *Mainnet) before(ctx context.Context, trader *traffic.Trader) error {
	for range m.options.Before {
		if _, err := trader.Step(ctx, m.options.RealTxs); err != nil {
			return err
		}
		latest, err := m.World.Node.Latest(ctx)
		if err != nil {
			return err
		}
		if err := m.World.Node.MineAt(ctx, latest.Timestamp.Add(beforeEvery)); err != nil {
			return err
		}
	}
	return nil
}

// past makes blocks from a time up to now.
func (m *Mainnet) past(ctx context.Context, began time.Time) error {
	o := &m.options
	every := max(o.StateEvery, time.Duration(o.Past)*o.BlockTime/pastStates)
	for i := range o.Past {
		at := began.Add(time.Duration(i) * o.BlockTime)
		if at.Sub(m.newest) >= every {
			if err := m.advance(ctx, at); err != nil {
				return err
			}
		}
		if _, err := m.Chain.Extend(at); err != nil {
			return err
		}
		if o.Said != nil {
			o.Said(float64(i+1) / float64(o.Past))
		}
	}
	return ctx.Err()
}

// advance mines a block of anvil's at a time, or a second after its newest.
func (m *Mainnet) advance(ctx context.Context, at time.Time) error {
	if at = at.Truncate(time.Second); !at.After(m.newest) {
		at = m.newest.Add(time.Second)
	}
	m.newest = at
	return m.Chain.Advance(ctx, at)
}

// Live makes a block every block time until the context ends.
func (m *Mainnet) Live(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		return every(ctx, m.options.StateEvery, func(at time.Time) error { return m.advance(ctx, at) })
	})
	g.Go(func() error {
		return every(ctx, m.options.BlockTime, func(at time.Time) error {
			if _, err := m.Chain.Extend(at); err != nil {
				return err
			}
			if m.rng.Float64() < m.options.Reorgs {
				m.reorgs.Add(1)
				return m.Chain.Reorg(1 + m.rng.IntN(m.options.ReorgDepth))
			}
			return nil
		})
	})
	err := g.Wait()
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// every does something at a pace; what was missed isn't made up for.
func every(ctx context.Context, pace time.Duration, do func(time.Time) error) error {
	ticker := time.NewTicker(pace)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case at := <-ticker.C:
			if err := do(at); err != nil {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				return err
			}
		}
	}
}

// Reorgs is how many reorgs there were.
func (m *Mainnet) Reorgs() uint64 { return m.reorgs.Load() }

// BlockTime is the time between two blocks.
func (m *Mainnet) BlockTime() time.Duration { return m.options.BlockTime }

// Manifest is the Chain resource with the stand-in's endpoints, indexed from a block on; a negative one is the head.
func (m *Mainnet) Manifest(urls []string, start int64) ([]byte, error) {
	return m.sample.manifest(urls, start)
}

// WriteManifest writes the resource into a folder.
func (m *Mainnet) WriteManifest(dir string, urls []string, start int64) (path string, err error) {
	raw, err := m.Manifest(urls, start)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	path = filepath.Join(dir, m.options.Chain+".yaml")
	return path, os.WriteFile(path, raw, 0o644)
}

// Close ends anvil.
func (m *Mainnet) Close() error { return m.World.Node.Close() }
