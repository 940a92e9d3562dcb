// Package resolvetest has Chain manifests and what is wrong with them, for the tests of both that refuse them: resolve,
// which reads files, and the CRD's rules in an API server.
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
    hooks: ["0x33128a8fc17869897dce68ed026d694621f6fdfd"]
  rpc:
    endpoints:
    - url: https://node.example/rpc
      weight: 3
      requestsPerDay: 100000
  start: {block: 17}
  tracking: {minLiquidityUSD: "500.5", holders: All}
  retention: {trades: 720h, minuteCandles: 48h}
  reorgBlocks: 32
  finalityDepth: 600
  suspend: false
`

// GoodSolana has only what must be there, and needs no node because it is suspended.
const GoodSolana = `apiVersion: boardwalk.dev/v1alpha1
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
  quoteAssets:
  - {symbol: WSOL, address: So11111111111111111111111111111111111111112}
  suspend: true
`

// Refused is Good or GoodSolana with one thing changed.
type Refused struct {
	Name     string
	Manifest string
	// Want are parts of resolve's message: the field, and what is allowed.
	Want []string
	// ResolveAlone is set where schema and CEL can't state the rule, so that an API server accepts the manifest.
	ResolveAlone bool
}

const protocols = "allowed: UniswapV2, UniswapV3, UniswapV4, PancakeSwapV3, Solidly"

// Cases are manifests that are to be refused.
func Cases() []Refused {
	const (
		decimals = "at most 9 digits after the point"
		names    = "allowed: 1 to 32 of a-z, 0-9 and -"
		symbols  = "allowed: 1 to 16 of letters, digits, ., _ and -"
		evm      = "allowed: 0x and 40 hexadecimal digits"
	)
	return []Refused{
		edit("no id", `  id: base`, ``, "spec.id: is missing", names),
		edit("id in upper case", `  id: base`, `  id: Base`, `spec.id: "Base" is no name`, names),
		edit("id too long", `  id: base`, `  id: `+strings.Repeat("b", 33), "spec.id: ", names),
		edit("id that means every chain", `  id: base`, `  id: all`, `spec.id: "all" means every chain`, "choose another"),
		edit("no label", `  label: Base`, ``, "spec.label: is missing", `such as "BNB Chain"`),
		edit("label with a space in front", `  label: Base`, `  label: " Base"`, `spec.label: " Base" is no label`, "allowed: 1 to 48 characters"),
		edit("unknown family", `family: EVM`, `family: Cosmos`, `spec.family: "Cosmos" is not known`, "allowed: EVM, Solana"),
		edit("EVM without chain id", `  chainID: 8453`, ``, "spec.chainID: is missing", "eth_chainId"),
		edit("chain id 0", `chainID: 8453`, `chainID: 0`, "spec.chainID: is 0", "allowed: 1 to 9007199254740991"),
		editSolana("Solana with chain id", `  family: Solana`, "  family: Solana\n  chainID: 101", "spec.chainID: is for family EVM alone", "leave it out"),
		edit("no minimum trade", `  minTradeUSD: "2.0"`, ``, "spec.minTradeUSD: is missing", "0 to 1000000"),
		edit("minimum trade with an exponent", `"2.0"`, `"2e1"`, `spec.minTradeUSD: "2e1" is no decimal number`, decimals),
		edit("minimum trade below 0", `"2.0"`, `"-2"`, `spec.minTradeUSD: "-2" is no decimal number`, "allowed: 0 to 1000000"),
		edit("minimum trade too high", `"2.0"`, `"1000001"`, "spec.minTradeUSD: is 1000001", "allowed: 0 to 1000000"),
		edit("block time too short", `blockTime: 2s`, `blockTime: 1ms`, "spec.blockTime: is 1ms", "allowed: 50ms to 5m"),
		edit("block time too long", `blockTime: 2s`, `blockTime: 1h`, "spec.blockTime: is 1h0m0s", "allowed: 50ms to 5m"),
		edit("native symbol with a space", `symbol: ETH`, `symbol: "E TH"`, `spec.nativeAsset.symbol: "E TH" is no symbol`, symbols),
		edit("wrapped coin is the zero address", `    wrapped: "0x4200000000000000000000000000000000000006"`,
			`    wrapped: "0x0000000000000000000000000000000000000000"`, "spec.nativeAsset.wrapped: the zero address", "the wrapped coin"),
		edit("wrapped coin of another family", `    wrapped: "0x4200000000000000000000000000000000000006"`,
			`    wrapped: So11111111111111111111111111111111111111112`, "spec.nativeAsset.wrapped: ", evm),
		edit("address too short", `"0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"`, `"0x833589fCD6eDb6E08f4c7C32D4f71b54bdA029"`,
			"spec.quoteAssets[0].address: ", evm),
		edit("address with a wrong checksum", `0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913`, `0x833589fcD6eDb6E08f4c7C32D4f71b54bdA02913`,
			"spec.quoteAssets[0].address: ", "wrong checksum, 0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913 would be right").alone(),
		editSolana("Solana address of 33 bytes", `address: So11111111111111111111111111111111111111112`,
			`address: "`+strings.Repeat("1", 32)+`2"`, "spec.quoteAssets[0].address: ", "a base58 key of 32 bytes").alone(),
		editSolana("EVM address on Solana", `address: So11111111111111111111111111111111111111112`,
			`address: "0x4200000000000000000000000000000000000006"`, "spec.quoteAssets[0].address: ", "a base58 key of 32 bytes"),
		{
			Name: "no quote asset", Manifest: cut(Good, "  quoteAssets:\n", "  majors:\n", "  quoteAssets: []\n"),
			Want: []string{"spec.quoteAssets: is empty", "declare at least one"},
		},
		{
			Name: "too many quote assets", Manifest: cut(Good, "  quoteAssets:\n", "  majors:\n", "  quoteAssets:\n"+many(17,
				`  - {symbol: Q%[1]d, address: "0x42000000000000000000000000000000000000%02[1]d"}`)),
			Want: []string{"spec.quoteAssets: has 17 entries", "allowed: up to 16"},
		},
		edit("one quote symbol twice", `symbol: WETH`, `symbol: USDC`, `spec.quoteAssets[1].symbol: "USDC" is already at spec.quoteAssets[0].symbol`),
		edit("one quote address twice, in two cases", "  - symbol: WETH\n    address: \"0x4200000000000000000000000000000000000006\"",
			"  - symbol: WETH\n    address: \"0x833589fcd6edb6e08f4c7c32d4f71b54bda02913\"",
			"spec.quoteAssets[1].address: ", "is already at spec.quoteAssets[0].address"),
		edit("peg of 0", `usd: "1"`, `usd: "0"`, "spec.quoteAssets[0].peg.usd: is 0", "allowed: above 0 and up to 1000000"),
		edit("peg without a bound", `, maxDeviationPct: "2.5"`, ``, "spec.quoteAssets[0].peg.maxDeviationPct: is missing", "above 0 and up to 50"),
		edit("peg bound too wide", `"2.5"`, `"51"`, "spec.quoteAssets[0].peg.maxDeviationPct: is 51", "allowed: above 0 and up to 50"),
		edit("major without a code", `asset: ETH`, `asset: ""`, "spec.majors[0].asset: is missing", symbols),
		edit("one major's code twice, in two cases", `  exchanges:`,
			"  - {asset: eth, address: \"0x833589fcd6edb6e08f4c7c32d4f71b54bda02913\"}\n  exchanges:",
			`spec.majors[1].asset: "eth" is already at spec.majors[0].asset`),
		edit("unknown protocol", `protocol: UniswapV4`, `protocol: UniV4`, `spec.exchanges[1].protocol: "UniV4" is not known; `+protocols),
		edit("no protocol", `    protocol: UniswapV2`, ``, `spec.exchanges[0].protocol: is missing; `+protocols),
		edit("exchange name with a capital", `name: uniswap-v2`, `name: Uniswap`, `spec.exchanges[0].name: "Uniswap" is no name`, names),
		edit("one exchange name twice", `name: uniswap-v4`, `name: uniswap-v2`, `spec.exchanges[1].name: "uniswap-v2" is already at spec.exchanges[0].name`),
		edit("one factory twice", `"0x498581ff718922c3f8e6a244956af099b2652b2b"`, `"0x8909Dc15e40173Ff4699343b6eB8132c65e18eC6"`,
			"spec.exchanges[1].factory: ", "is already at spec.exchanges[0].factory"),
		edit("hooks off UniswapV4", `    feePips: 2500`, `    hooks: ["0x33128a8fc17869897dce68ed026d694621f6fdfd"]`,
			"spec.exchanges[0].hooks: are for protocol UniswapV4 alone", "leave them out"),
		edit("one hook twice", `hooks: ["0x33128a8fc17869897dce68ed026d694621f6fdfd"]`,
			`hooks: ["0x33128a8fc17869897dce68ed026d694621f6fdfd", "0x33128a8fc17869897dce68ed026d694621f6fdfd"]`,
			"spec.exchanges[1].hooks[1]: ", "is already at spec.exchanges[1].hooks[0]"),
		edit("fee on UniswapV4", `    hooks: ["0x33128a8fc17869897dce68ed026d694621f6fdfd"]`, `    feePips: 3000`,
			"spec.exchanges[1].feePips: is for protocols UniswapV2 and Solidly alone", "leave it out"),
		edit("fee too high", `feePips: 2500`, `feePips: 100001`, "spec.exchanges[0].feePips: is 100001", "allowed: 1 to 100000"),
		editSolana("exchange on Solana", `  suspend: true`,
			"  suspend: true\n  exchanges: [{name: x, protocol: UniswapV2, factory: \"0x8909dc15e40173ff4699343b6eb8132c65e18ec6\"}]",
			"spec.exchanges: every known protocol is of family EVM", "leave exchanges out"),
		editSolana("running without a node", `  suspend: true`, ``, "spec.rpc.endpoints: is empty", "suspend: true"),
		edit("neither url nor urlFrom", `    - url: https://node.example/rpc
      weight: 3`, `    - weight: 3`, "spec.rpc.endpoints[0]: needs exactly one of url and urlFrom.secretKeyRef"),
		edit("both url and urlFrom", `      weight: 3`, `      urlFrom: {secretKeyRef: {name: rpc, key: url}}`,
			"spec.rpc.endpoints[0]: needs exactly one of url and urlFrom.secretKeyRef"),
		edit("url of a WebSocket", `https://node.example/rpc`, `wss://node.example/rpc`, "spec.rpc.endpoints[0].url: ", "allowed: http:// or https:// with a host"),
		edit("url without a host", `https://node.example/rpc`, `https:///rpc`, "spec.rpc.endpoints[0].url: ", "with a host"),
		edit("key of a Secret that leaves its directory", `url: https://node.example/rpc`, `urlFrom: {secretKeyRef: {name: rpc, key: ..}}`,
			`spec.rpc.endpoints[0].urlFrom.secretKeyRef.key: ".." is no key`, "no . in front"),
		edit("name of a Secret that leaves its directory", `url: https://node.example/rpc`, `urlFrom: {secretKeyRef: {name: ../rpc, key: url}}`,
			`spec.rpc.endpoints[0].urlFrom.secretKeyRef.name: "../rpc" is no Secret's name`, "allowed: 1 to 253"),
		edit("weight 0", `weight: 3`, `weight: 0`, "spec.rpc.endpoints[0].weight: is 0", "allowed: 1 to 1000"),
		edit("budget of nothing", `requestsPerDay: 100000`, `requestsPerDay: 0`, "spec.rpc.endpoints[0].requestsPerDay: is 0", "allowed: 1 to"),
		{
			Name: "too many endpoints", Manifest: cut(Good, "    - url:", "  start:", many(9, `    - url: https://node%d.example`)),
			Want: []string{"spec.rpc.endpoints: has 9 entries", "allowed: up to 8"},
		},
		edit("start at a block and now", `{block: 17}`, `{block: 17, now: true}`, "spec.start: needs exactly one", "{block: N} or {now: true}"),
		edit("start at nothing", `{block: 17}`, `{}`, "spec.start: needs exactly one", "{block: N} or {now: true}"),
		edit("start below 0", `{block: 17}`, `{block: -1}`, "spec.start.block: is -1", "allowed: 0 to"),
		edit("liquidity with a sign", `"500.5"`, `"+500"`, `spec.tracking.minLiquidityUSD: "+500" is no decimal number`, decimals),
		edit("liquidity too high", `"500.5"`, `"1000000001"`, "spec.tracking.minLiquidityUSD: is 1000000001", "allowed: 0 to 1000000000"),
		edit("unknown choice of holders", `holders: All`, `holders: None`, `spec.tracking.holders: "None" is not known`, "allowed: Declared, All"),
		edit("trades kept too short", `trades: 720h`, `trades: 1h`, "spec.retention.trades: is 1h0m0s", "allowed: 24h and more"),
		edit("candles kept too short", `minuteCandles: 48h`, `minuteCandles: 23h59m`, "spec.retention.minuteCandles: is 23h59m0s", "allowed: 24h and more"),
		edit("no undo", `reorgBlocks: 32`, `reorgBlocks: 0`, "spec.reorgBlocks: is 0", "allowed: 1 to 10000"),
		edit("finality too deep", `finalityDepth: 600`, `finalityDepth: 1000001`, "spec.finalityDepth: is 1000001", "allowed: 1 to 1000000"),
	}
}

func edit(name, from, to string, want ...string) Refused {
	return Refused{Name: name, Manifest: strings.Replace(Good, from, to, 1), Want: want}
}

func editSolana(name, from, to string, want ...string) Refused {
	return Refused{Name: name, Manifest: strings.Replace(GoodSolana, from, to, 1), Want: want}
}

func (r Refused) alone() Refused {
	r.ResolveAlone = true
	return r
}

// cut replaces what is from the one mark up to the other.
func cut(manifest, from, to, with string) string {
	before, _, _ := strings.Cut(manifest, from)
	_, after, _ := strings.Cut(manifest, to)
	return before + with + to + after
}

func many(n int, line string) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, line+"\n", i)
	}
	return out.String()
}
