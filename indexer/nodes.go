package indexer

import "github.com/boardwalkhq/boardwalk/indexer/chain"

// nodes are what an index needs of a chain's nodes. The packages below see of it only the interfaces of indexer/chain that they need.
type nodes struct {
	blockSource
	contractSource
	historySource
}

// blockSource gives the chain's blocks, at its head and before, and says whether the nodes serve the chain.
type blockSource interface {
	chain.Check
	chain.HeadReader
	chain.BlockReader
	chain.Agreement
	chain.PastReader
}

// contractSource answers questions to contracts and accounts, and questions about single transactions. It also finds the logs by which pools were made.
type contractSource interface {
	chain.FactSource
	chain.SampleSource
	chain.GasSource
	chain.PoolSource
	chain.PoolKeySource
	chain.ContractSource
	chain.DeclarationSource
}

// historySource finds who has a token, and where in the past something happened to a token, a wallet or a pool.
type historySource interface {
	chain.TransferReader
	chain.HolderReader
	chain.PastFinder
}
