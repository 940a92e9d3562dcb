package main

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/desk"
	"github.com/boardwalkhq/boardwalk/hack/simnet/history"
	"github.com/boardwalkhq/boardwalk/hack/simnet/launch"
	"github.com/boardwalkhq/boardwalk/hack/simnet/traffic"
	"github.com/boardwalkhq/boardwalk/hack/simnet/venues"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
)

// evmChain is anvil with a world of contracts.
type evmChain struct {
	*anvil.Node

	world  *world.World
	trader *traffic.Trader
	desk   *desk.Desk
	paid   *rand.Rand  // draws who pays whom
	other  *anvil.Node // has another fork
}

// beginEVM starts the chain, with contracts and some hours of history.
func beginEVM(ctx context.Context, seed uint64, end time.Time) (*evmChain, error) {
	node, err := anvil.StartNode(ctx, anvil.NodeOptions{ChainID: 31337, Timestamp: genesis})
	if err != nil {
		return nil, err
	}
	c := &evmChain{Node: node, paid: payingOf(seed)}
	protocols := []venues.Protocol{venues.BoardwalkCurve, venues.PonsV2, venues.FourMemeV2, venues.ClankerV4}
	if c.world, err = launch.Deploy(ctx, node, world.DeployOptions{Seed: seed}, protocols...); err != nil {
		c.end()
		return nil, err
	}
	c.trader = traffic.NewTrader(c.world, seed)
	c.desk = desk.New(c.world, desk.Options{Seed: seed, Every: 3 * time.Second})
	err = history.Mine(ctx, c.world, c.trader, history.Options{
		Span: 3 * time.Hour, Blocks: 50, BlockTime: 2 * time.Second, TxPerBlock: 4, Seed: seed, End: end,
	})
	if err != nil {
		c.end()
		return nil, err
	}
	return c, nil
}

func (c *evmChain) id() string { return "base" }

func (c *evmChain) act(ctx context.Context, at time.Time, count int) error {
	if _, err := c.desk.Step(ctx, at); err != nil {
		return err
	}
	if _, err := c.trader.Step(ctx, count); err != nil {
		return err
	}
	return c.pay(ctx)
}

func (c *evmChain) seal(ctx context.Context, at time.Time) error { return c.MineAt(ctx, at) }

func (c *evmChain) newest(ctx context.Context) (made, error) {
	b, err := c.Latest(ctx)
	return made{b.Number, b.Timestamp}, err
}

func (c *evmChain) reorg(ctx context.Context, depth int) error    { return c.Reorg(ctx, depth) }
func (c *evmChain) rollback(ctx context.Context, depth int) error { return c.Rollback(ctx, depth) }

// fork starts a second node that has the blocks up to here in common with the chain, and others after them.
func (c *evmChain) fork(ctx context.Context, dir string) (string, error) {
	file := filepath.Join(dir, "state.json")
	if err := c.DumpState(ctx, file); err != nil {
		return "", err
	}
	var err error
	if c.other, err = anvil.StartNode(ctx, anvil.NodeOptions{ChainID: 31337, Timestamp: genesis, LoadState: file}); err != nil {
		return "", err
	}
	return c.other.URL(), errors.Join(c.other.Mine(ctx, 5, time.Second), os.Remove(file))
}

// manifests name the venues without the other chains that they are on.
func (c *evmChain) manifests() (chain, ofVenues []byte, err error) {
	if chain, err = c.world.Manifest(world.ManifestOptions{ID: c.id(), Label: "Base", BlockTime: blockTime}); err != nil {
		return nil, nil, err
	}
	raw, err := launch.VenueManifests(map[string]*world.World{c.id(): c.world})
	if err != nil {
		return nil, nil, err
	}
	for document := range bytes.SplitSeq(raw, []byte("\n---\n")) {
		var manifest map[string]any
		if err := yaml.Unmarshal(document, &manifest); err != nil {
			return nil, nil, err
		}
		spec, ok := manifest["spec"].(map[string]any)
		if !ok {
			continue
		}
		chains, _ := spec["chains"].([]any)
		spec["chains"] = slices.DeleteFunc(chains, func(on any) bool {
			declared, ok := on.(map[string]any)
			return !ok || declared["chain"] != c.id()
		})
		if document, err = yaml.Marshal(manifest); err != nil {
			return nil, nil, err
		}
		ofVenues = append(append(ofVenues, document...), "---\n"...)
	}
	return chain, ofVenues, nil
}

func (c *evmChain) tokens() (list []string) {
	for _, t := range c.world.Tokens[3:11] {
		list = append(list, t.Address)
	}
	return list
}

func (c *evmChain) end() {
	c.Kill()
	if c.other != nil {
		c.other.Kill()
	}
}
