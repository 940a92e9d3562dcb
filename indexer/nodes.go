package indexer

import "github.com/boardwalkhq/boardwalk/indexer/chain"

// nodes are what an index needs of a chain's nodes, in parts: whoever needs a part is given that alone.
type nodes interface {
	chain.Check
	chain.HeadReader
	chain.BlockReader
	chain.Agreement
	chain.PastReader
	chain.TransferReader
	chain.HolderReader
	chain.PastFinder
	chain.FactSource
	chain.SampleSource
	chain.GasSource
	chain.PoolSource
	chain.PoolKeySource
	chain.ContractSource
	chain.DeclarationSource
}
