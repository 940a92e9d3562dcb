// Package simnet is a local world for tests and demonstrations: anvil chains with the real exchange
// contracts (Uniswap V2, V3 and V4, PancakeSwap V3) and ERC-4337's entry point, a dozen tokens that
// misbehave in the ways tokens do, and seeded traders who leave behind the truth about what they did.
// Launch venues are Boardwalk's own contract and others that stand in for launchpads; a LaunchDesk makes
// launches on them. Fixtures are attempts to manipulate a price, HostileTokens tokens that are traps; Bench
// makes a large chain for measurements.
//
// The chain node, the Solidity compiler and the exchanges' contracts come from npm at run time
// (npm/package-lock.json pins them) and are never part of this repository; contracts/ holds only what
// is written here. Nothing in this package knows about the indexer or the API.
package simnet
