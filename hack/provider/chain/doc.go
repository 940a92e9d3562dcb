// Package chain makes a growing chain that looks like a mainnet's: headers whose hashes, roots and blooms are true, blocks with as many
// transactions and logs as a mainnet's, and a state that can be asked, which is anvil's. It is a stand-in: no mainnet has these blocks.
//
// A block has two kinds of transactions. Real ones were mined by anvil, with simnet's contracts and traders. Volume is made up by seed, in
// the shapes of two recorded blocks of Ethereum (shapes.txt): its swaps follow the arithmetic of Uniswap's pools, in pools that really
// exist, whose state is written into anvil's now and then. A transactions root stands for the hashes of the transactions, not for the
// transactions, since made-up ones have no signatures.
package chain
