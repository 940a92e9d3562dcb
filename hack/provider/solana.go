package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/boardwalkhq/boardwalk/hack/provider/node"
	"github.com/boardwalkhq/boardwalk/hack/provider/profiles"
	"github.com/boardwalkhq/boardwalk/hack/provider/solana"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
)

// solanaID is the id of the sample of Solana.
const solanaID = "solana"

// runSolana serves a local Solana until ctx ends; lifetime ends it.
func runSolana(ctx, lifetime context.Context, out io.Writer, s *settings, chosen []profiles.Profile) (err error) {
	c, err := solana.Start(lifetime, solana.Options{Seed: s.Seed, BlockTime: s.BlockTime, Past: s.Past})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	nodes, err := startNodes(s, chosen, func(o node.Options) (*node.Node, error) { return c.Serve(lifetime, o) })
	if err != nil {
		return err
	}
	var endpoints []chainconfig.Endpoint
	for _, n := range nodes {
		defer func() { _ = n.Close() }()
		endpoints = append(endpoints, n.Endpoints()...)
	}
	if s.dir == "" {
		if s.dir, err = os.MkdirTemp("", "provider-"); err != nil {
			return err
		}
	}
	raw, err := c.Manifests(ctx, endpoints...)
	if err != nil {
		return err
	}
	path := filepath.Join(s.dir, "solana.yaml")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		return err
	}
	fmt.Fprintf(out, "a stand-in of solana with what few people do; no mainnet\n")
	for i, p := range chosen {
		url := nodes[i].URL()
		fmt.Fprintf(out, "%s: %s (%s/counts)\n", p.Name, url, url)
		for _, e := range nodes[i].Endpoints()[1:] {
			fmt.Fprintf(out, "%s: %s by %s\n", p.Name, e.URL, e.Protocol)
		}
	}
	fmt.Fprintf(out, "slots: up to %d\nwrote %s\nprovider ready\n", c.World.Slot(), path)
	err = c.Live(ctx)
	return errors.Join(err, report(out, chosen, nodes))
}
