package solana

import (
	"context"
	"errors"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// The loop calls the methods of this file on every family of chains. On Solana they answer nothing: either the blocks themselves tell what is asked for, or no node
// can be asked for it.

// errUntold says that no node of Solana can be asked for something.
var errUntold = errors.New("nodes of Solana don't tell it")

// CurveFacts aren't needed: an announcement tells what its curve takes.
func (Accounts) CurveFacts(context.Context, chain.Ref, []market.CurveKey) ([]market.CurveFact, []bool, error) {
	return nil, nil, nil
}

// PoolFacts aren't needed: each trade tells what its pool is.
func (Accounts) PoolFacts(context.Context, chain.Ref, []chainconfig.Exchange, []market.Address, func(market.PoolFact) bool) ([]market.PoolFact, []bool, error) {
	return nil, nil, nil
}

// Supplies tell nothing: nodes answer for now, not for a block. NewestSupplies does.
func (Accounts) Supplies(context.Context, chain.Ref, []market.Address, func(market.SupplyFact) chain.Doubt) ([]market.SupplyFact, error) {
	return nil, nil
}

// Balances tell nothing: nodes answer for now, and by token accounts.
func (Accounts) Balances(context.Context, chain.Ref, []market.BalanceKey, func(market.Fact) bool) ([]market.BalanceFact, error) {
	return nil, nil
}

// Gas tells nothing: blocks tell what transactions cost, and who paid.
func (Accounts) Gas(_ context.Context, questions []chain.GasQuestion) ([]chain.Gas, error) {
	return make([]chain.Gas, len(questions)), nil
}

// PoolStates aren't needed: each trade tells its pool's reserves.
func (Accounts) PoolStates(context.Context, chain.Ref, []market.PoolCreated) (states []chain.PoolState, gone bool, err error) {
	return nil, false, nil
}

// NewestPoolStates aren't needed either.
func (Accounts) NewestPoolStates(context.Context, []market.PoolCreated) ([]chain.StatesAfter, error) {
	return nil, nil
}

// PoolsOf names none: pools come up as they are traded.
func (Accounts) PoolsOf(context.Context, chain.Ref, []chainconfig.Exchange, [][2]market.Address) (pools []market.Address, gone bool, err error) {
	return nil, false, nil
}

// UsualPools are none.
func (Accounts) UsualPools([]chainconfig.Exchange, [][2]market.Address, ...uint32) []market.PoolCreated {
	return nil
}

// KeysOfPools are of Uniswap V4 alone.
func (Accounts) KeysOfPools(context.Context, []chainconfig.Exchange, []market.Address) ([]market.PoolCreated, error) {
	return nil, nil
}

// CreationsOfPools are of Uniswap V4 alone.
func (Accounts) CreationsOfPools(context.Context, []chainconfig.Exchange, []market.Address, uint64) (created []market.PoolCreated, from uint64, err error) {
	return nil, 0, nil
}

// TransfersOf can't be asked: no node finds the blocks that move a token.
func (History) TransfersOf(context.Context, market.Address, uint64, uint64) ([]market.Block, uint64, error) {
	return nil, 0, errUntold
}

// CreatedAt can't be asked.
func (History) CreatedAt(context.Context, market.Address, uint64) (uint64, error) {
	return 0, errUntold
}
