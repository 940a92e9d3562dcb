// Package solana is a local Solana that goes on by itself, for endpoints with the limits of providers. It has no mainnet's volume: hack/bench measures that.
package solana

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/boardwalkhq/boardwalk/config/samples"
	"github.com/boardwalkhq/boardwalk/hack/provider/node"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/manifest"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
	"github.com/boardwalkhq/boardwalk/hack/simnet/tokentext"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
)

// Options say how a chain begins and goes on.
type Options struct {
	Seed uint64
	// BlockTime is 400 ms if it is 0. Past is how many blocks there are before now.
	BlockTime time.Duration
	Past      int
}

// mainnetBlockTime is the mainnet's, and actsOfBlock how much people do in a block.
const mainnetBlockTime, actsOfBlock = 400 * time.Millisecond, 3

// Chain is a local Solana with people who trade.
type Chain struct {
	*svm.Chain

	World     *solana.World
	blockTime time.Duration
	names     *tokentext.Inventor
	made      uint64
	newest    atomic.Uint64
}

// Start makes the chain and its past.
func Start(ctx context.Context, o Options) (*Chain, error) {
	if o.BlockTime == 0 {
		o.BlockTime = mainnetBlockTime
	}
	began := time.Now().Add(-time.Duration(o.Past+10) * o.BlockTime)
	local, err := svm.Start(ctx, svm.Options{Slot: 1, Time: began})
	if err != nil {
		return nil, err
	}
	c := &Chain{Chain: local, blockTime: o.BlockTime, names: tokentext.New(o.Seed)}
	if c.World, err = solana.Deploy(ctx, local, solana.Options{Seed: o.Seed, People: 8}); err != nil {
		return nil, errors.Join(err, local.Close())
	}
	c.newest.Store(c.World.Slot())
	for n := range o.Past {
		if err := c.Extend(ctx, began.Add(time.Duration(n)*o.BlockTime)); err != nil {
			return nil, errors.Join(err, local.Close())
		}
	}
	return c, nil
}

// Extend makes a block of what people do. One slot in ten has none.
func (c *Chain) Extend(ctx context.Context, at time.Time) error {
	for range actsOfBlock {
		if err := c.World.Act(ctx, c.names); err != nil {
			return err
		}
	}
	slot := c.World.Slot() + 1
	if c.made++; c.made%10 == 0 {
		slot++
	}
	if last := c.World.Time(); at.Before(last) {
		at = last
	}
	if err := c.World.Mine(ctx, slot, at); err != nil {
		return err
	}
	c.newest.Store(slot)
	return nil
}

// Newest is the slot of the newest block, which may be asked for while the chain goes on.
func (c *Chain) Newest() uint64 { return c.newest.Load() }

// BlockTime is the time between two blocks.
func (c *Chain) BlockTime() time.Duration { return c.blockTime }

// Serve begins to serve the chain with a provider's limits, with a stream of blocks where the profile has one.
func (c *Chain) Serve(ctx context.Context, o node.Options) (n *node.Node, err error) {
	if o.Profile.Stream.Offered {
		if o.Yellowstone, err = c.Geyser(ctx, ""); err != nil {
			return nil, err
		}
	}
	return node.StartSolana(ctx, c.URL(), o)
}

// Live makes blocks at the chain's pace until ctx ends.
func (c *Chain) Live(ctx context.Context) error {
	pace := time.NewTicker(c.blockTime)
	defer pace.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-pace.C:
		}
		if err := c.Extend(context.WithoutCancel(ctx), time.Now()); err != nil {
			return fmt.Errorf("provider: %w", err)
		}
	}
}

// Manifests are those of the chain, with these endpoints, and of its launch venues.
func (c *Chain) Manifests(ctx context.Context, endpoints ...chainconfig.Endpoint) ([]byte, error) {
	var genesisHash string
	if err := c.Call(ctx, &genesisHash, "getGenesisHash"); err != nil {
		return nil, err
	}
	pumpFun, err := samples.Files.ReadFile("15-pump-fun.yaml")
	return append(append(manifest.YAML(c.World, genesisHash, endpoints...), "---\n"...), pumpFun...), err
}
