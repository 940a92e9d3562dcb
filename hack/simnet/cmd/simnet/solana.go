package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/people"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/days"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/manifest"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
	"github.com/boardwalkhq/boardwalk/internal/member"
)

// solanaChain is the local Solana.
type solanaChain struct {
	world *solana.World
	days  *days.Days
	began time.Time
	// tokens are those that were launched so far.
	tokens []people.Token
}

// solanaPeople is how many people trade there.
const solanaPeople = 90

func startSolana(ctx context.Context, s settings) (*solanaChain, error) {
	began := time.Now().Add(-s.span - time.Minute)
	o := svm.Options{Port: s.solanaPort, Genesis: fmt.Sprintf("local world %d", s.seed), Time: began, KeepBlocks: s.keepBlocks}
	if s.logs {
		o.LogFile = filepath.Join(s.dir, "solana.log")
	}
	chain, err := svm.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	fmt.Printf("solana: at %s\n", chain.URL())
	w, err := solana.Deploy(ctx, chain, solana.Options{Seed: s.seed, People: solanaPeople, Platform: true})
	if err != nil {
		chain.Kill()
		return nil, err
	}
	c := &solanaChain{world: w, days: days.New(w, s.seed, s.launchEvery), began: began}
	c.days.OnLaunch = func(launched *solana.Curve, l solana.Launch) {
		fmt.Printf("solana: launch of %q (%s)\n", l.Symbol, launched.Token)
		if member.CheckSymbol(l.Symbol) == nil {
			c.tokens = append(c.tokens, people.Token{Chain: "solana", Mint: launched.Token.String(), Symbol: l.Symbol})
		}
	}
	return c, nil
}

func (c *solanaChain) past(ctx context.Context, s settings) error {
	shown := 0
	return c.days.Mine(ctx, days.HistoryOptions{Began: c.began, Span: s.span, Blocks: s.blocks, OnBlock: func(done float64) {
		if percent := int(done*10) * 10; percent > shown {
			shown = percent
			fmt.Printf("solana: history %d%%\n", percent)
		}
	}})
}

func (c *solanaChain) write(ctx context.Context, dir string) (path string, err error) {
	var hash string
	if err := c.world.Chain.Call(ctx, &hash, "getGenesisHash"); err != nil {
		return "", err
	}
	return world.WriteFile(dir, "solana", manifest.YAML(c.world, hash))
}

func (c *solanaChain) live(ctx context.Context, _ settings) error { return c.days.Live(ctx, c.began) }
