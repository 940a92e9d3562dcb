// Package evm checks the tokens of EVM chains: contracts, holders, liquidity, and simulated trades. These use the
// contract in the folder probe, by eth_call with state overrides; no transaction is ever sent.
//
// A simulated account has code, and trades both ways in one block. If a token refuses either, the result is unknown
// or unsellable, although people can trade it. A token that treats only such accounts well deceives the simulation.
package evm

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm"
	check "github.com/boardwalkhq/boardwalk/indexer/trust"
	"github.com/boardwalkhq/boardwalk/indexer/trust/evm/probe"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/trust"
)

// Version changes with what the checks find.
const Version = "2"

const checkerID = "boardwalk-evm"

// Node is what the checks need of a chain's nodes.
type Node interface {
	// Ask sends questions as one batch, to be answered by the state after a block. See evm.ErrNoOverride and evm.ErrStateGone.
	Ask(ctx context.Context, at chain.Ref, questions []*evm.Question) error
	Head(ctx context.Context) (chain.Head, error)
}

var _ Node = (*evm.Source)(nil)

// Looker looks at the tokens of an EVM chain.
type Looker struct {
	cfg       *chainconfig.Chain
	node      Node
	o         Options
	wrapped   market.Address
	venues    map[string]venue
	contracts map[market.Address]string // the venues' ids by contract
	managers  map[market.Address]bool
	lockers   []market.Address
	code      []byte
}

// Options are what it needs besides a chain and its nodes.
type Options struct {
	Log *slog.Logger
	Now func() time.Time
	// Rand gives the accounts that trade in simulations: nobody may know them beforehand. The default is crypto/rand.
	Rand io.Reader
}

type venue struct {
	protocol  chainconfig.VenueProtocol
	contracts []market.Address
}

// New checks the chain document's addresses. It asks nobody anything.
func New(cfg *chainconfig.Chain, node Node, o Options) (*Looker, error) {
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	code, err := probe.Code()
	if err != nil {
		return nil, fmt.Errorf("the probe's code: %w", err)
	}
	c := &Looker{
		wrapped: cfg.Native.Wrapped, lockers: cfg.Trust.Lockers,
		cfg: cfg, node: node, o: o, code: code, venues: map[string]venue{},
		contracts: map[market.Address]string{}, managers: map[market.Address]bool{},
	}
	for _, v := range cfg.Venues {
		for _, a := range v.Contracts {
			c.contracts[a] = v.ID
		}
		c.venues[v.ID] = venue{protocol: v.Protocol, contracts: v.Contracts}
	}
	for _, x := range cfg.Exchanges {
		c.managers[x.Factory] = x.Protocol == market.UniswapV4
	}
	return c, nil
}

// Look checks a token. whole is false if a node might give more on another try. The only error is check.ErrNoCode.
func (c *Looker) Look(ctx context.Context, known *check.Known) (r *trust.Report, whole bool, err error) {
	l := &look{c: c, mint: known.Token.Mint, known: known}
	l.findMarket()
	if err := l.read(ctx); err != nil {
		return nil, false, err
	}
	return l.report(), !l.failed, nil
}
