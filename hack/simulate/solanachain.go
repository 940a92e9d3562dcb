package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/boardwalkhq/boardwalk/config/samples"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/manifest"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
	"github.com/boardwalkhq/boardwalk/hack/simnet/tokentext"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// solanaChain is Solana's runtime with a world of people.
type solanaChain struct {
	*svm.Chain

	world *solana.World
	names *tokentext.Inventor
	// asked are the tokens that the API is asked for.
	asked []string
	// slots counts the blocks made, some of which leave slots out.
	slots uint64
	// gone are the slots whose blocks an event took back.
	gone []slotRange
}

// slotRange are the slots from one to another.
type slotRange struct{ first, last uint64 }

// longestStep is how many slots the next block is above the newest one at most.
const longestStep = 2

// historyOfSolana is how many blocks a run's Solana begins with. deepestFork is the most that an event takes back, and keptPast what several in a row may.
const historyOfSolana, deepestFork, keptPast = 50, 12, 48

func beginSolana(ctx context.Context, seed uint64, end time.Time) (*solanaChain, error) {
	chain, err := svm.Start(ctx, svm.Options{Slot: 1, Time: genesis})
	if err != nil {
		return nil, err
	}
	c := &solanaChain{Chain: chain, names: tokentext.New(seed)}
	if c.world, err = solana.Deploy(ctx, chain, solana.Options{Seed: seed, People: 8, KeepPast: keptPast, Platform: true}); err != nil {
		c.end()
		return nil, err
	}
	for n := range historyOfSolana {
		at := end.Add(time.Duration(n-historyOfSolana+1) * 2 * time.Second)
		if err := errors.Join(c.act(ctx, at, 3), c.seal(ctx, at)); err != nil {
			c.end()
			return nil, err
		}
	}
	c.asked = append(c.asked, solana.USDC.String())
	for _, curve := range c.world.Curves() {
		c.asked = append(c.asked, curve.Token.String())
	}
	return c, nil
}

func (c *solanaChain) id() string { return "solana" }

func (c *solanaChain) act(ctx context.Context, _ time.Time, count int) error {
	for range count {
		if err := c.world.Act(ctx, c.names); err != nil {
			return err
		}
	}
	return nil
}

func (c *solanaChain) seal(ctx context.Context, at time.Time) error {
	if last := c.world.Time(); at.Before(last) {
		at = last
	}
	c.slots++
	return c.world.Mine(ctx, c.world.Slot()+1+c.slots*c.slots%3, at)
}

func (c *solanaChain) newest(context.Context) (made, error) {
	return made{c.world.Slot(), c.world.Time()}, nil
}

func (c *solanaChain) reorg(ctx context.Context, depth int) error {
	at := c.world.Time()
	if err := c.rollback(ctx, depth); err != nil {
		return err
	}
	for range depth + 1 {
		if err := c.seal(ctx, at); err != nil {
			return err
		}
	}
	return nil
}

func (c *solanaChain) rollback(ctx context.Context, depth int) error {
	newest := c.world.Slot()
	err := c.world.Fork(ctx, min(depth, deepestFork))
	c.gone = append(c.gone, slotRange{c.world.Slot() + 1, newest})
	return err
}

// mayBeOfAnotherFork reports whether a supply that the index took in with a block may be that of a block which an event took back: a supply is told for a slot, and holds from
// the next block on. Nodes of the mainnet tell it of blocks that nothing takes back.
func (c *solanaChain) mayBeOfAnotherFork(block uint64) bool {
	return slices.ContainsFunc(c.gone, func(s slotRange) bool { return block > s.first && block <= s.last+longestStep })
}

func (c *solanaChain) fork(context.Context, string) (string, error) {
	return "", errors.New("there is no second node of a local Solana")
}

func (c *solanaChain) manifests() (chain, venues []byte, err error) {
	var genesisHash string
	if err := c.Call(context.Background(), &genesisHash, "getGenesisHash"); err != nil {
		return nil, nil, err
	}
	chain, venues, _ = bytes.Cut(manifest.YAML(c.world, genesisHash), []byte("\n---\n"))
	pumpFun, err := samples.Files.ReadFile("15-pump-fun.yaml")
	return chain, append(append(venues, "---\n"...), pumpFun...), err
}

func (c *solanaChain) tokens() []string { return c.asked }

// supplyBlocks are the blocks with which the index took in each token's newest supply from a node.
func (c *solanaChain) supplyBlocks(ctx context.Context, st *store.Store) (map[market.Address]uint64, error) {
	facts, err := st.Facts.Between(ctx, c.id(), 0, math.MaxInt32)
	blocks := map[market.Address]uint64{}
	for _, f := range facts {
		if supply, ok := f.Fact.(market.SupplyFact); ok {
			blocks[supply.Token] = f.Block
		}
	}
	return blocks, err
}

// holdSupplies holds what an index at the head knows of tokens against what the chain itself says: a fresh index has the other one's facts.
func (c *solanaChain) holdSupplies(ctx context.Context, st *store.Store) (wrong []string, err error) {
	mints := []market.Address{market.SolanaAddress(solana.USDC)}
	for _, curve := range c.world.Curves() {
		mints = append(mints, market.SolanaAddress(curve.Token))
	}
	rows, err := st.Tokens.Now(ctx, mints)
	if err != nil {
		return nil, err
	}
	toldWith, err := c.supplyBlocks(ctx, st)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		t := &rows[i]
		var told struct {
			Value struct {
				Amount   string
				Decimals uint8
			}
		}
		if err := c.Call(ctx, &told, "getTokenSupply", t.Mint.String(), map[string]string{"commitment": "confirmed"}); err != nil {
			return nil, err
		}
		isOther := t.HasSupply && t.Supply.Dec() != told.Value.Amount && !c.mayBeOfAnotherFork(toldWith[t.Mint])
		if isOther || t.HasDecimals && t.Decimals != told.Value.Decimals {
			wrong = append(wrong, fmt.Sprintf("token %s has %s in all and %d decimals, and the chain says %s and %d", t.Mint, t.Supply.Dec(), t.Decimals, told.Value.Amount,
				told.Value.Decimals))
		}
	}
	return wrong, nil
}

func (c *solanaChain) end() { _ = c.Close() } // it ends with this process at the latest
