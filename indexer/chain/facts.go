package chain

import (
	"context"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// FactSource asks contracts for data that are in no log and are kept for ever. In each answer, unsure marks by
// position the facts that no two of several endpoints gave alike.
type FactSource interface {
	TokenFacts(ctx context.Context, at Ref, tokens []market.Address) (facts []market.TokenFact, unsure []bool, err error)
	CurveFacts(ctx context.Context, at Ref, curves []market.CurveKey) (facts []market.CurveFact, unsure []bool, err error)
	PoolFacts(ctx context.Context, at Ref, exchanges []chainconfig.Exchange, pools []market.Address,
		counts func(market.PoolFact) bool) (facts []market.PoolFact, unsure []bool, err error)
}

// Doubt says how many endpoints have to say a supply before it counts.
type Doubt uint8

// Reasons for which a supply is doubted.
const (
	// NoDoubt is of a supply that derivation arrived at, too: one endpoint's word is enough.
	NoDoubt Doubt = iota
	// Untold is of a supply with nothing to hold it against: two endpoints have to say it, if a second one answers.
	Untold
	// Contradicted is of a supply that derivation did not arrive at: two endpoints have to say it, or, if no second one answers, the same one
	// twice with a pause between.
	Contradicted
)

// SampleSource asks tokens for supplies and balances, which derivation is held against.
type SampleSource interface {
	Supplies(ctx context.Context, at Ref, tokens []market.Address, doubt func(market.SupplyFact) Doubt) ([]market.SupplyFact, error)
	// TellsNewestSupplies reports whether nodes tell supplies as they are now, and not those of a given block. The answer may change.
	TellsNewestSupplies() bool
	// NewestSupplies are the supplies of tokens after the newest blocks that nodes have, which are no earlier than a given one. Where nodes tell supplies of a
	// given block there are none, nor of tokens of which no two of several endpoints say the same.
	NewestSupplies(ctx context.Context, noEarlier uint64, tokens []market.Address) ([]SupplyAfter, error)
	Balances(ctx context.Context, at Ref, keys []market.BalanceKey, doubt func(market.Fact) bool) ([]market.BalanceFact, error)
}

// SupplyAfter is a token's supply after a block. Hash is the block's hash, and zero where nodes don't tell it. A supply with a hash counts only if the chain has that block.
type SupplyAfter struct {
	market.SupplyFact

	After uint64
	Hash  market.Hash
}

// GasQuestion asks what a transaction of a block cost.
type GasQuestion struct {
	At Ref
	Tx market.TxID
}

// Gas is the cost of a transaction to its sender, in raw units of the chain's own coin. Known is false if no node told it.
type Gas struct {
	Known  bool
	Sender market.Address
	Amount market.Amount
}

// GasSource tells what transactions cost, in the order of the questions. With an error comes what was told all the same.
type GasSource interface {
	Gas(ctx context.Context, questions []GasQuestion) ([]Gas, error)
}

// PoolState is what could be had of a pool's state. Known is false where the answers don't fit together, or the state takes more calls than a
// pool is worth; Unsure is true where there are several endpoints and no two gave it.
type PoolState struct {
	market.PoolStateFact

	Known, Unsure bool
}

// StatesAfter are the states of pools after a block.
type StatesAfter struct {
	After  Ref
	States []PoolState // in the order of the pools
}

// CreatedOf gives the description of a pool that a request for its state needs.
func CreatedOf(p *market.Pool) market.PoolCreated {
	return market.PoolCreated{Pool: p.ID, Protocol: p.Protocol, Factory: p.Factory, TickSpacing: p.TickSpacing}
}

// PoolSource finds pools that are older than the index, and asks them for their price and ticks.
type PoolSource interface {
	PoolStates(ctx context.Context, at Ref, pools []market.PoolCreated) (states []PoolState, gone bool, err error)
	NewestPoolStates(ctx context.Context, pools []market.PoolCreated) ([]StatesAfter, error)
	PoolsOf(ctx context.Context, at Ref, exchanges []chainconfig.Exchange, pairs [][2]market.Address) (pools []market.Address, gone bool, err error)
	// UsualPools names pools that the exchanges may have of pairs of tokens, without a request: a pool's state tells whether the pool exists. Without fees the pools have the
	// usual fees and tick spacings. With fees (market.Swap's FeePips) they have these, and the tick spacing that is usual with such a fee is left out.
	UsualPools(exchanges []chainconfig.Exchange, pairs [][2]market.Address, fees ...uint32) []market.PoolCreated
}

// PoolKeySource finds what pools are whose events give only a hash of it, as Uniswap V4's do: their tokens, fee, spacing and hook.
type PoolKeySource interface {
	KeysOfPools(ctx context.Context, exchanges []chainconfig.Exchange, pools []market.Address) (known []market.PoolCreated, err error)
	CreationsOfPools(ctx context.Context, exchanges []chainconfig.Exchange, pools []market.Address, to uint64) (created []market.PoolCreated, from uint64, err error)
}

// ContractSource tells whether contracts are there, and whether launch venues' are paused.
type ContractSource interface {
	Exists(ctx context.Context, contract market.Address, number uint64) (exists, known bool, err error)
	AllExist(ctx context.Context, contracts []market.Address, number uint64) (exist []bool, known bool, err error)
	Paused(ctx context.Context, contracts []market.Address) ([]bool, error)
}

// Declared is a declared address, and what its contract says against it.
type Declared struct {
	// What names the address by its place in the chain document, such as "factory of uniswap-v3".
	What    string
	Address market.Address
	// Wrong is why the address can't be right, Unknown why it couldn't be asked, and Note what a person should look at though it may be
	// right. At most one of them is set.
	Wrong, Unknown, Note string
	// Symbol is what a token calls itself, where it is declared as something else: a stranger's text, to be cleaned before it is shown.
	Symbol string
}

// DeclarationSource holds a chain's declaration against its contracts.
type DeclarationSource interface {
	CheckDeclared(ctx context.Context, c *chainconfig.Chain) ([]Declared, error)
}
