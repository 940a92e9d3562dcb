// Package simnet is a local world for tests and demonstrations: anvil chains with the real exchange
// contracts (Uniswap V2, V3 and V4, PancakeSwap V3) and ERC-4337's entry point, a dozen tokens that
// misbehave in the ways tokens do, and seeded traders who leave behind the truth about what they did.
// Launch venues are Boardwalk's own contract and others that stand in for launchpads; a LaunchDesk makes
// launches on them. Fixtures are attempts to manipulate a price, HostileTokens tokens that are traps; Bench
// makes a large chain for measurements.
//
// The node and its chain are package anvil's; the node's binary, the compiler and the exchanges' contracts are package
// toolchain's; package contracts has the Solidity that is written here. Nothing in these packages knows about the
// indexer or the API.
package simnet
