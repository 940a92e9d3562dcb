package indexer

import (
	"context"
	"iter"

	"github.com/boardwalkhq/boardwalk/indexer/evm"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// nodes are what an index needs of a chain's nodes, in parts: whoever needs a part is given that alone.
type nodes interface {
	chainCheck
	headReader
	blockReader
	agreement
	pastReader
	transferReader
	factSource
	sampleSource
	poolSource
	poolKeySource
	contractSource
	declarationSource
	// Heads tells of new blocks where an endpoint announces them.
	Heads(ctx context.Context) <-chan struct{}
}

var _ nodes = (*evm.Source)(nil)

// chainCheck tells whether the endpoints serve the right chain.
type chainCheck interface {
	Check(ctx context.Context) error
	AllWrong() bool
}

// headReader tells the newest block.
type headReader interface {
	Head(ctx context.Context) (evm.Head, error)
}

// blockReader reads the blocks up to the head, in order and linked to each other.
type blockReader interface {
	Header(ctx context.Context, number uint64) (evm.Header, error)
	Headers(ctx context.Context, parent market.Header, first, last uint64) ([]evm.Header, error)
	AnyHas(ctx context.Context, block market.Header) bool
	Blocks(ctx context.Context, headers []evm.Header) iter.Seq2[evm.BlockRead, error]
}

// agreement asks a second endpoint for a block, and remembers which endpoints were outvoted.
type agreement interface {
	Agree(ctx context.Context, h evm.Header, r *evm.BlockRead) (changed bool, err error)
	LogsHash(r *evm.BlockRead) []byte
	Recall(logsHash []byte) (r evm.BlockRead, ok bool)
	Records() []rpc.Record
	RecallRecords(records []rpc.Record)
}

// pastReader reads what lies far behind the head.
type pastReader interface {
	Backfill(ctx context.Context, parent market.Header, first, last uint64) iter.Seq2[evm.Batch, error]
	RereadPast(ctx context.Context, parent market.Header, b *evm.Batch) error
}

// transferReader reads the transfers of one token, from its creation on.
type transferReader interface {
	TransfersOf(ctx context.Context, token market.Address, from, to uint64) ([]market.Block, uint64, error)
	CreatedAt(ctx context.Context, contract market.Address, last uint64) (uint64, error)
}

// factSource asks contracts what no log tells, and what is kept for ever. Unsure are the facts, by their place, that no two of several endpoints
// give.
type factSource interface {
	TokenFacts(ctx context.Context, at evm.BlockRef, tokens []market.Address) (facts []market.TokenFact, unsure []bool, err error)
	CurveFacts(ctx context.Context, at evm.BlockRef, curves []market.CurveKey) (facts []market.CurveFact, unsure []bool, err error)
	PoolFacts(ctx context.Context, at evm.BlockRef, exchanges []chainconfig.Exchange, pools []market.Address,
		counts func(market.PoolFact) bool) (facts []market.PoolFact, unsure []bool, err error)
}

// sampleSource asks tokens for supplies and balances, which derivation is held against.
type sampleSource interface {
	Supplies(ctx context.Context, at evm.BlockRef, tokens []market.Address, doubt func(market.Fact) bool) ([]market.SupplyFact, error)
	Balances(ctx context.Context, at evm.BlockRef, keys []market.BalanceKey, doubt func(market.Fact) bool) ([]market.BalanceFact, error)
}

// poolSource finds pools that are older than the index, and asks them for their price and ticks.
type poolSource interface {
	PoolStates(ctx context.Context, at evm.BlockRef, pools []market.PoolCreated) (states []evm.PoolState, gone bool, err error)
	NewestPoolStates(ctx context.Context, pools []market.PoolCreated) ([]evm.StatesAfter, error)
	PoolsOf(ctx context.Context, at evm.BlockRef, exchanges []chainconfig.Exchange, pairs [][2]market.Address) (pools []market.Address, gone bool, err error)
}

// poolKeySource finds the key of a Uniswap V4 pool (tokens, fee, spacing, hook): the pool's events give only its hash.
type poolKeySource interface {
	KeysOfV4Pools(ctx context.Context, exchanges []chainconfig.Exchange, pools []market.Address) (known []market.PoolCreated, err error)
	CreationsOfV4Pools(ctx context.Context, exchanges []chainconfig.Exchange, pools []market.Address, to uint64) (created []market.PoolCreated, from uint64, err error)
}

// contractSource tells whether contracts are there, and whether launch venues' are paused.
type contractSource interface {
	Exists(ctx context.Context, contract market.Address, number uint64) (exists, known bool, err error)
	AllExist(ctx context.Context, contracts []market.Address, number uint64) (exist []bool, known bool, err error)
	Paused(ctx context.Context, contracts []market.Address) ([]bool, error)
}

// declarationSource holds a chain's declaration against its contracts.
type declarationSource interface {
	CheckDeclared(ctx context.Context, c *chainconfig.Chain) ([]evm.Declared, error)
}
