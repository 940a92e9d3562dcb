package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/provider/mainnet"
	"github.com/boardwalkhq/boardwalk/hack/provider/node"
	"github.com/boardwalkhq/boardwalk/hack/provider/profiles"
	"github.com/boardwalkhq/boardwalk/hack/provider/solana"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// solanaID is the id of the sample of Solana.
const solanaID = "solana"

// standIn is the local chain that a trial indexes.
type standIn interface {
	BlockTime() time.Duration
	// First is the first block from which an index may begin, Newest the chain's newest one.
	First() uint64
	Newest() uint64
	// IsNewest reports whether a block is the newest one.
	IsNewest(market.Header) bool
	// Reorgs is how many reorgs there were.
	Reorgs() uint64
	// Live makes blocks until ctx ends.
	Live(ctx context.Context) error
	// Serve begins to serve the chain behind a profile, Plain is one without limits.
	Serve(ctx context.Context, o node.Options) (*node.Node, error)
	Plain() profiles.Profile
	// WriteManifests writes the chain's resources, with a node's endpoints, into a folder.
	WriteManifests(ctx context.Context, dir string, n *node.Node, start uint64) error
	Close() error
}

// begin starts the trial's chain.
func (t *trial) begin(ctx context.Context) (standIn, error) {
	if t.chain == solanaID {
		c, err := solana.Start(ctx, solana.Options{Seed: t.seed, Past: t.past})
		if err != nil {
			return nil, err
		}
		return &localSolana{c}, nil
	}
	m, err := mainnet.Start(ctx, mainnet.Options{
		Samples: t.samples, Chain: t.chain, Seed: t.seed, Txs: t.txs, Logs: t.logs, Past: t.past, Reorgs: t.reorgRate, ReorgDepth: t.depth,
		StateEvery: stateEvery(t.during), KeepStates: firstStates + mostStates,
	})
	if err != nil {
		return nil, err
	}
	return &evmMainnet{m}, nil
}

// evmMainnet is a stand-in of a mainnet of the EVM.
type evmMainnet struct{ *mainnet.Mainnet }

func (m *evmMainnet) First() uint64 { return m.Chain.Genesis() }

func (m *evmMainnet) Newest() uint64 { return m.Chain.Head().Number }

func (m *evmMainnet) IsNewest(h market.Header) bool {
	head := m.Chain.Head()
	return h.Number == head.Number && [32]byte(h.Hash) == [32]byte(head.Hash)
}

func (m *evmMainnet) Serve(ctx context.Context, o node.Options) (*node.Node, error) {
	return node.Start(ctx, m.Chain, o)
}

func (m *evmMainnet) Plain() profiles.Profile {
	return profiles.Profile{Client: "Geth", LogTimes: true}
}

func (m *evmMainnet) WriteManifests(_ context.Context, dir string, n *node.Node, start uint64) error {
	_, err := m.WriteManifest(dir, []string{n.URL()}, int64(start))
	return err
}

// localSolana is a local Solana, which is indexed from its first block on and has no reorgs: a confirmed block is never taken back.
type localSolana struct{ *solana.Chain }

func (c *localSolana) First() uint64 { return 0 }

func (c *localSolana) IsNewest(h market.Header) bool { return h.Number == c.Newest() }

func (c *localSolana) Reorgs() uint64 { return 0 }

func (c *localSolana) Plain() profiles.Profile {
	return profiles.Profile{Client: "agave", IsSolana: true}
}

func (c *localSolana) WriteManifests(ctx context.Context, dir string, n *node.Node, _ uint64) error {
	raw, err := c.Manifests(ctx, n.Endpoints()...)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "solana.yaml"), raw, 0o600); err != nil {
		return fmt.Errorf("trial: %w", err)
	}
	return nil
}
