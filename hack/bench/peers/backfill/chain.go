package backfill

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/traffic"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
	"github.com/boardwalkhq/boardwalk/internal/catalog/files"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/npmcache"
)

// stateFile is the chain beside its manifest, as `simnet bench --dump DIR/state.json` writes both.
const stateFile = "state.json"

// theChain is what everybody reads: one node that serves a chain which nobody extends.
type theChain struct {
	node *anvil.Node
	cfg  *chainconfig.Chain
	head uint64
}

// chainDir is the directory of a chain; without one, of the cached chain, which is made when it isn't there yet.
func chainDir(ctx context.Context, dir string) (string, error) {
	if dir != "" {
		if _, err := os.Stat(filepath.Join(dir, stateFile)); err != nil {
			return "", fmt.Errorf("--chain: %w (make one with: go run ./hack/simnet/cmd/simnet bench --dump %s)", err,
				filepath.Join(dir, stateFile))
		}
		return dir, nil
	}
	cache, err := npmcache.Dir()
	if err != nil {
		return "", err
	}
	o := traffic.BenchOptions{Blocks: 2000, Txs: 104_000, Seed: 1}
	dir = filepath.Join(cache, fmt.Sprintf("bench-chain-%d-%d-%d", o.Blocks, o.Txs, o.Seed))
	if _, err := os.Stat(filepath.Join(dir, stateFile)); err == nil {
		lab.Say("chain: %s, made earlier (remove it to make it anew)", dir)
		return dir, nil
	}
	if err := lab.Kept(dir, func(part string) error { return makeChain(ctx, part, o) }); err != nil {
		return "", fmt.Errorf("make the chain: %w", err)
	}
	return dir, nil
}

// makeChain makes the chain that the results are of.
func makeChain(ctx context.Context, dir string, o traffic.BenchOptions) (err error) {
	lab.Say("chain: making %d blocks with %d transactions, which takes a few minutes once", o.Blocks, o.Txs)
	node, err := anvil.StartNode(ctx, traffic.BenchNode())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, node.Close()) }()
	p := lab.NewProgress("chain", 1000)
	o.OnBlock = func(done float64) { p.At(int64(done * 1000)) }
	w, err := traffic.Bench(ctx, node, o)
	if err != nil {
		return err
	}
	if err := node.DumpState(ctx, filepath.Join(dir, stateFile)); err != nil {
		return err
	}
	_, err = w.WriteManifest(dir, world.ManifestOptions{ID: "bench", Label: "Bench", BlockTime: 2 * time.Second})
	return err
}

// serveChain starts the node on a chain's directory.
func serveChain(ctx context.Context, dir string) (*theChain, error) {
	manifests, err := files.Load(dir)
	if err != nil {
		return nil, err
	}
	declared, err := manifests.Resolve()
	if err != nil {
		return nil, err
	}
	if n := len(declared.Running); n != 1 {
		return nil, fmt.Errorf("%s declares %d chains: it must be one", dir, n)
	}
	c := &theChain{cfg: declared.Running[0]}
	o := traffic.BenchNode()
	o.ChainID, o.LoadState = c.cfg.EVMChainID, filepath.Join(dir, stateFile)
	lab.Say("node: loading the chain")
	if c.node, err = anvil.StartNode(ctx, o); err != nil {
		return nil, err
	}
	latest, err := c.node.Latest(ctx)
	if err != nil {
		c.node.Kill()
		return nil, err
	}
	c.head = latest.Number
	// Everybody is to do the same work: every pool with a quote side, every token's balances, and all but the newest
	// blocks read as the past.
	c.cfg.Tracking = chainconfig.Tracking{MinLiquidityUSD: 0, Holders: chainconfig.HoldersAll}
	c.cfg.Retention = chainconfig.Retention{}
	c.cfg.ReorgBlocks, c.cfg.Start = 8, chainconfig.Start{}
	return c, nil
}

// document writes the chain document for an endpoint into dir.
func (c *theChain) document(dir, endpoint string) (string, error) {
	cfg := *c.cfg
	cfg.Endpoints = []chainconfig.Endpoint{{URL: endpoint, Weight: 1}}
	raw, err := json.MarshalIndent(cfg, "", "  ")
	if err != nil {
		return "", fmt.Errorf("write the chain document: %w", err)
	}
	path := filepath.Join(dir, "chain.json")
	return path, os.WriteFile(path, raw, 0o600)
}
