// Package world is a local chain for tests and demonstrations: an anvil chain with the real exchange contracts (Uniswap V2, V3 and
// V4, PancakeSwap V3) and ERC-4337's entry point, a dozen tokens that misbehave in the ways tokens do, and their pools.
//
// Packages above it make things happen there: traffic trades and leaves behind the truth about what was done, launch has launch
// venues, desk makes launches on them, attack tries to mislead whoever watches, and history mines a chain's past and goes on
// with it. Below it, the node and its chain are package anvil's; the node's binary, the compiler and the exchanges' contracts are
// package toolchain's; package contracts has the Solidity that is written here. Nothing in these packages knows about the
// indexer or the API.
package world
