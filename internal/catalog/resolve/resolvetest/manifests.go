// Package resolvetest has manifests and what is wrong with them, for the tests of both that refuse them: resolve, which reads
// files, and the CRDs' rules in an API server.
package resolvetest

import (
	"fmt"
	"strings"
)

// Good is a Chain that uses every field and is right.
const Good = `apiVersion: boardwalk.dev/v1alpha1
kind: Chain
metadata:
  name: base
spec:
  id: base
  label: Base
  family: EVM
  chainID: 8453
  minTradeUSD: "2.0"
  blockTime: 2s
  nativeAsset:
    symbol: ETH
    wrapped: "0x4200000000000000000000000000000000000006"
  quoteAssets:
  - symbol: USDC
    address: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
    peg: {usd: "1", maxDeviationPct: "2.5"}
  - symbol: WETH
    address: "0x4200000000000000000000000000000000000006"
  majors:
  - asset: ETH
    address: "0x4200000000000000000000000000000000000006"
  exchanges:
  - name: uniswap-v2
    protocol: UniswapV2
    factory: "0x8909dc15e40173ff4699343b6eb8132c65e18ec6"
    feePips: 2500
  - name: uniswap-v4
    protocol: UniswapV4
    factory: "0x498581ff718922c3f8e6a244956af099b2652b2b"
    positionManager: "0x7C5f5A4bBd8fD63184577525326123B519429bDc"
    hooks: ["0x33128a8fc17869897dce68ed026d694621f6fdfd"]
  rpc:
    endpoints:
    - url: https://node.example/rpc
      weight: 3
      requestsPerSecond: 50
      requestsPerDay: 100000
      computeUnitsPerDay: 1000000
      computeUnits: {eth_call: 30, eth_getLogs: 75, eth_getBlockByNumber: 16, eth_getBlockReceipts: 0, other: 15}
  start: {block: 17}
  tracking: {minLiquidityUSD: "500.5", countedLiquidityUSD: "7500", holders: All, holderCaps: {accounts: 100000000, transfers: 10000000000, days: 365}, pastDays: 3650}
  retention: {trades: 720h, minuteCandles: 48h}
  reorgBlocks: 32
  finalityDepth: 600
  trust: {lockers: ["0x663A5C229c09b049E36dCc11a9B0d4a8Eb9db214"]}
  platformFee: {recipients: ["0x1111111111111111111111111111111111111111"], routers: ["0x2222222222222222222222222222222222222222"], bps: 85}
  fetchMetadata: false
  order: 20
  indexer:
    maxLag: 90s
    resources:
      requests: {cpu: 250m, memory: 256Mi}
      limits: {cpu: "1", memory: 512Mi}
    nodeSelector: {kubernetes.io/arch: amd64}
    tolerations:
    - {key: example.com/dedicated, operator: Equal, value: indexers, effect: NoSchedule}
    - {operator: Exists, effect: NoExecute}
    priorityClassName: boardwalk-indexer
    generation: 1000000
    facts: Asked
  suspend: false
`

// GoodSolana has what must be there and what Solana alone has, and needs no node because it is suspended.
const GoodSolana = `apiVersion: boardwalk.dev/v1alpha1
kind: Chain
metadata:
  name: solana
spec:
  id: solana
  label: Solana
  family: Solana
  genesisHash: 4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY
  minTradeUSD: "2"
  blockTime: 400ms
  tracking: {holders: Declared, pastDays: 30}
  nativeAsset: {symbol: SOL, wrapped: So11111111111111111111111111111111111111112}
  exchanges:
  - {name: pumpswap, protocol: PumpSwap, factory: pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA}
  quoteAssets:
  - {symbol: WSOL, address: So11111111111111111111111111111111111111112}
  suspend: true
`

// GoodSolanaKeys has pairs of keys that are the same but for the case of one letter, which makes two keys of them: of the two of each list one alone is real.
const GoodSolanaKeys = `apiVersion: boardwalk.dev/v1alpha1
kind: Chain
metadata:
  name: solana
spec:
  id: solana
  label: Solana
  family: Solana
  minTradeUSD: "2"
  blockTime: 400ms
  nativeAsset: {symbol: SOL, wrapped: So11111111111111111111111111111111111111112}
  exchanges:
  - {name: pumpswap, protocol: PumpSwap, factory: pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA}
  - {name: another, protocol: PumpSwap, factory: pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEa}
  quoteAssets:
  - {symbol: WSOL, address: So11111111111111111111111111111111111111112}
  - {symbol: OTHER, address: so11111111111111111111111111111111111111112}
  majors:
  - {asset: USDC, address: EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v}
  - {asset: OTHER, address: EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1V}
  trust:
    lockers: [EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v, EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1V]
  platformFee:
    recipients: [So11111111111111111111111111111111111111112, so11111111111111111111111111111111111111112, EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v]
    routers: [EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1V, pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA, PAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA]
  suspend: true
`

// GoodVenue is a LaunchVenue that uses every field that an outside one on EVM chains has, and is right. It is on the chain of
// Good and on another.
const GoodVenue = `apiVersion: boardwalk.dev/v1alpha1
kind: LaunchVenue
metadata:
  name: four-meme
spec:
  id: four-meme
  label: four.meme
  ownership: Outside
  protocol: FourMemeV2
  filterValue: four-meme
  badge: four.meme
  marketModel: BondingCurve
  order: 50
  chains:
  - chain: bsc
    wantedState: Closed
    contracts: ["0x5c952063c7fc8610FFDB798152D69F0B9550762b", "0xf251f83e40a78868fcfa3fa4599dad6494e46034"]
    tradesInApp: true
  - chain: base
    wantedState: Open
    contracts: ["0xec4549cadce5da21df6e6422d448034b5233bfbc"]
    tradesInApp: false
    linkTemplate: https://four.meme/token/{mint}?from=boardwalk
`

// GoodOwnVenue is an own one on the chain of GoodSolana.
const GoodOwnVenue = `apiVersion: boardwalk.dev/v1alpha1
kind: LaunchVenue
metadata:
  name: boardwalk-dbc
spec:
  id: boardwalk-dbc
  label: Boardwalk DBC
  ownership: Own
  protocol: MeteoraDBC
  marketModel: BondingCurve
  default: true
  chains:
  - chain: solana
    programAccounts: [So11111111111111111111111111111111111111112]
    tradesInApp: true
`

// GoodFurtherVenue is one of the further family, whose tokens are live pools from their first block.
const GoodFurtherVenue = `apiVersion: boardwalk.dev/v1alpha1
kind: LaunchVenue
metadata:
  name: clanker
spec:
  id: clanker
  label: Clanker
  ownership: Further
  protocol: ClankerV4
  filterValue: clanker
  marketModel: LivePool
  chains:
  - chain: base
    contracts: ["0xe85a59c628f7d27878aceb4bf3b35733630083a9"]
    tradesInApp: true
`

// AllGood are the good manifests.
func AllGood() []string {
	return []string{Good, GoodSolana, GoodSolanaKeys, GoodVenue, GoodOwnVenue, GoodFurtherVenue}
}

// Refused is one of the good manifests with one thing changed.
type Refused struct {
	Name     string
	Manifest string
	// Want are parts of resolve's message: the field, and what is allowed.
	Want []string
	// Server are parts of the API server's message. There are none where schema and CEL can't state the rule, so that it
	// accepts the manifest and only resolve doesn't.
	Server []string
}

// from gives a maker of cases that replace a part of a good manifest.
func from(good string) func(name, part, with string, want ...string) Refused {
	return func(name, part, with string, want ...string) Refused {
		return Refused{Name: name, Manifest: strings.Replace(good, part, with, 1), Want: want}
	}
}

// What the API server says of names that don't match their pattern.
const (
	matchName   = "should match '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$'"
	matchObject = "should match '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$'"
)

// server adds what the API server says.
func (r Refused) server(want ...string) Refused {
	r.Server = want
	return r
}

// cut replaces what is from the one mark up to the other, or to the end where that is empty.
func cut(manifest, from, to, with string) string {
	before, rest, _ := strings.Cut(manifest, from)
	if to == "" {
		return before + with
	}
	_, after, _ := strings.Cut(rest, to)
	return before + with + to + after
}

func many(n int, line string) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, line+"\n", i)
	}
	return out.String()
}
