package resolvetest

import "strings"

const protocols = "allowed: UniswapV2, UniswapV3, UniswapV4, PancakeSwapV3, Solidly, Slipstream"

// Chains are Chain manifests that are to be refused.
func Chains() []Refused {
	const (
		decimals = "at most 9 digits after the point"
		names    = "allowed: 1 to 32 of a-z, 0-9 and -"
		symbols  = "allowed: 1 to 16 of letters, digits, ., _ and -"
		evm      = "allowed: 0x and 40 hexadecimal digits"

		number = `write a number in quotes that has neither sign nor exponent, such as "2.0"`
	)
	edit, editSolana, editKeys := from(Good), from(GoodSolana), from(GoodSolanaKeys)
	return []Refused{
		edit("no id", `  id: base`, ``, "spec.id: is missing", names).server("spec.id: Required value"),
		edit("id in upper case", `  id: base`, `  id: Base`, `spec.id: "Base" is no name`, names).server("spec.id in body " + matchName),
		edit("id too long", `  id: base`, `  id: `+strings.Repeat("b", 33), "spec.id: ", names).server("spec.id: Too long: may not be more than 32"),
		edit("id that means every chain", `  id: base`, `  id: all`, `spec.id: "all" means every chain`, "choose another").
			server("spec.id: Invalid value", "choose another id"),
		edit("no label", `  label: Base`, ``, "spec.label: is missing", `such as "BNB Chain"`).server("spec.label: Required value"),
		edit("label with a space in front", `  label: Base`, `  label: " Base"`, `spec.label: " Base" is no label`, "allowed: 1 to 48 characters").
			server("spec.label: Invalid value", "no space at either end and no control character"),
		edit("unknown family", `family: EVM`, `family: Cosmos`, `spec.family: "Cosmos" is not known`, "allowed: EVM, Solana").
			server(`spec.family: Unsupported value: "Cosmos": supported values: "EVM", "Solana"`),
		edit("EVM without chain id", `  chainID: 8453`, ``, "spec.chainID: is missing", "eth_chainId").
			server("spec.chainID: Invalid value", "write the number that its nodes answer to eth_chainId"),
		edit("chain id 0", `chainID: 8453`, `chainID: 0`, "spec.chainID: is 0", "allowed: 1 to 9007199254740991").
			server("spec.chainID in body should be greater than or equal to 1"),
		editSolana("Solana with chain id", `  family: Solana`, "  family: Solana\n  chainID: 101", "spec.chainID: is for family EVM alone", "leave it out").
			server("spec.chainID: Invalid value", "chainID is for family EVM alone: leave it out"),
		edit("no minimum trade", `  minTradeUSD: "2.0"`, ``, "spec.minTradeUSD: is missing", "0 to 1000000").
			server("spec.minTradeUSD: Required value"),
		edit("minimum trade with an exponent", `"2.0"`, `"2e1"`, `spec.minTradeUSD: "2e1" is no decimal number`, decimals).
			server("spec.minTradeUSD: Invalid value", number),
		edit("minimum trade below 0", `"2.0"`, `"-2"`, `spec.minTradeUSD: "-2" is no decimal number`, "allowed: 0 to 1000000").
			server("spec.minTradeUSD: Invalid value", number),
		edit("minimum trade too high", `"2.0"`, `"1000001"`, "spec.minTradeUSD: is 1000001", "allowed: 0 to 1000000").
			server("spec.minTradeUSD: Invalid value", "minTradeUSD must be at most 1000000"),
		edit("block time too short", `blockTime: 2s`, `blockTime: 1ms`, "spec.blockTime: is 1ms", "allowed: 50ms to 5m").
			server("spec.blockTime: Invalid value", "blockTime must be from 50ms to 5m"),
		edit("block time too long", `blockTime: 2s`, `blockTime: 1h`, "spec.blockTime: is 1h0m0s", "allowed: 50ms to 5m").
			server("spec.blockTime: Invalid value", "blockTime must be from 50ms to 5m"),
		edit("label too long", `  label: Base`, `  label: `+strings.Repeat("B", 49), "spec.label: ", "allowed: 1 to 48 characters").
			server("spec.label: Too long: may not be more than 48"),
		edit("native symbol with a space", `symbol: ETH`, `symbol: "E TH"`, `spec.nativeAsset.symbol: "E TH" is no symbol`, symbols).
			server("spec.nativeAsset.symbol in body should match '^[A-Za-z0-9._-]+$'"),
		edit("wrapped coin is the zero address", `    wrapped: "0x4200000000000000000000000000000000000006"`,
			`    wrapped: "0x0000000000000000000000000000000000000000"`, "spec.nativeAsset.wrapped: the zero address", "the wrapped coin").
			server("spec.nativeAsset.wrapped: Invalid value", "write the wrapped coin's address for the native coin"),
		edit("wrapped coin of another family", `    wrapped: "0x4200000000000000000000000000000000000006"`,
			`    wrapped: So11111111111111111111111111111111111111112`, "spec.nativeAsset.wrapped: ", evm).
			server("spec.nativeAsset.wrapped: Invalid value", "0x and 40 hexadecimal digits on EVM, base58 on Solana"),
		edit("address too short", `"0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"`, `"0x833589fCD6eDb6E08f4c7C32D4f71b54bdA029"`,
			"spec.quoteAssets[0].address: ", evm).
			server("spec.quoteAssets[0].address in body should match '^(0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$'"),
		edit("address with a wrong checksum", `0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913`, `0x833589fcD6eDb6E08f4c7C32D4f71b54bdA02913`,
			"spec.quoteAssets[0].address: ", "wrong checksum, 0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913 would be right"),
		editSolana("Solana address of 33 bytes", `address: So11111111111111111111111111111111111111112`,
			`address: "`+strings.Repeat("1", 32)+`2"`, "spec.quoteAssets[0].address: ", "a base58 key of 32 bytes"),
		editSolana("EVM address on Solana", `address: So11111111111111111111111111111111111111112`,
			`address: "0x4200000000000000000000000000000000000006"`, "spec.quoteAssets[0].address: ", "a base58 key of 32 bytes").
			server("spec.quoteAssets: Invalid value", "0x and 40 hexadecimal digits on EVM, base58 on Solana"),
		{
			Name: "no quote asset", Manifest: cut(Good, "  quoteAssets:\n", "  majors:\n", "  quoteAssets: []\n"),
			Want:   []string{"spec.quoteAssets: is empty", "declare at least one"},
			Server: []string{"spec.quoteAssets in body should have at least 1 items"},
		},
		{
			Name: "too many quote assets", Manifest: cut(Good, "  quoteAssets:\n", "  majors:\n", "  quoteAssets:\n"+many(17,
				`  - {symbol: Q%[1]d, address: "0x42000000000000000000000000000000000000%02[1]d"}`)),
			Want:   []string{"spec.quoteAssets: has 17 entries", "allowed: up to 16"},
			Server: []string{"spec.quoteAssets: Too many: 17: must have at most 16 items"},
		},
		edit("one quote symbol twice", `symbol: WETH`, `symbol: USDC`, `spec.quoteAssets[1].symbol: "USDC" is already at spec.quoteAssets[0].symbol`).
			server(`spec.quoteAssets[1]: Duplicate value: {"symbol":"USDC"}`),
		edit("one quote address twice, in two cases", "  - symbol: WETH\n    address: \"0x4200000000000000000000000000000000000006\"",
			"  - symbol: WETH\n    address: \"0x833589fcd6edb6e08f4c7c32d4f71b54bda02913\"",
			"spec.quoteAssets[1].address: ", "is already at spec.quoteAssets[0].address").
			server("spec.quoteAssets: Invalid value", "two quote assets have one address: keep one of them"),
		editSolana("peg after an asset without one", `  suspend: true`,
			"  - {symbol: USDC, address: EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v, peg: {usd: \"1\", maxDeviationPct: \"2\"}}\n  suspend: true",
			"spec.quoteAssets[1]: has a peg and stands after one that has none", "list pegged assets first").
			server("spec.quoteAssets: Invalid value", "list pegged assets first"),
		edit("peg of 0", `usd: "1"`, `usd: "0"`, "spec.quoteAssets[0].peg.usd: is 0", "allowed: above 0 and up to 1000000").
			server("spec.quoteAssets[0].peg.usd: Invalid value", "must be above 0 and at most 1000000; leave peg out for an asset without one"),
		edit("peg without a bound", `, maxDeviationPct: "2.5"`, ``, "spec.quoteAssets[0].peg.maxDeviationPct: is missing", "above 0 and up to 50").
			server("spec.quoteAssets[0].peg.maxDeviationPct: Required value"),
		edit("peg bound too wide", `"2.5"`, `"51"`, "spec.quoteAssets[0].peg.maxDeviationPct: is 51", "allowed: above 0 and up to 50").
			server("spec.quoteAssets[0].peg.maxDeviationPct: Invalid value", "peg.maxDeviationPct must be above 0 and at most 50"),
		edit("major without a code", `asset: ETH`, `asset: ""`, "spec.majors[0].asset: is missing", symbols).
			server("spec.majors[0].asset in body should be at least 1 chars long"),
		edit("one major's code twice, in two cases", `  exchanges:`,
			"  - {asset: eth, address: \"0x833589fcd6edb6e08f4c7c32d4f71b54bda02913\"}\n  exchanges:",
			`spec.majors[1].asset: "eth" is already at spec.majors[0].asset`).
			server("spec.majors: Invalid value", "upper or lower case doesn't matter): rename one of them"),
		{
			Name: "too many majors", Manifest: cut(Good, "  majors:\n", "  exchanges:\n", "  majors:\n"+many(65,
				`  - {asset: A%[1]d, address: "0x42000000000000000000000000000000000001%02[1]d"}`)),
			Want:   []string{"spec.majors: has 65 entries", "allowed: up to 64"},
			Server: []string{"spec.majors: Too many: 65: must have at most 64 items"},
		},
		{
			Name: "too many exchanges", Manifest: cut(Good, "  exchanges:\n", "  rpc:\n", "  exchanges:\n"+many(33,
				`  - {name: x%[1]d, protocol: UniswapV3, factory: "0x42000000000000000000000000000000000000%02[1]d"}`)),
			Want:   []string{"spec.exchanges: has 33 entries", "allowed: up to 32"},
			Server: []string{"spec.exchanges: Too many: 33: must have at most 32 items"},
		},
		edit("unknown protocol", `protocol: UniswapV4`, `protocol: UniV4`, `spec.exchanges[1].protocol: "UniV4" is not known; `+protocols).
			server(`spec.exchanges[1].protocol: Unsupported value: "UniV4": supported values: "UniswapV2", "UniswapV3"`),
		edit("no protocol", `    protocol: UniswapV2`, ``, `spec.exchanges[0].protocol: is missing; `+protocols).
			server("spec.exchanges[0].protocol: Required value"),
		edit("exchange name with a capital", `name: uniswap-v2`, `name: Uniswap`, `spec.exchanges[0].name: "Uniswap" is no name`, names).
			server("spec.exchanges[0].name in body " + matchName),
		edit("one exchange name twice", `name: uniswap-v4`, `name: uniswap-v2`, `spec.exchanges[1].name: "uniswap-v2" is already at spec.exchanges[0].name`).
			server(`spec.exchanges[1]: Duplicate value: {"name":"uniswap-v2"}`),
		edit("one factory twice", `"0x498581ff718922c3f8e6a244956af099b2652b2b"`, `"0x8909Dc15e40173Ff4699343b6eB8132c65e18eC6"`,
			"spec.exchanges[1].factory: ", "is already at spec.exchanges[0].factory").
			server("spec.exchanges: Invalid value", "two exchanges have one factory: keep one of them"),
		editKeys("one quote asset's key twice", `address: so1`, `address: So1`, "spec.quoteAssets[1].address: ", "is already at spec.quoteAssets[0].address").
			server("spec.quoteAssets: Invalid value", "two quote assets have one address: keep one of them"),
		editKeys("one major's key twice", `{asset: OTHER, address: EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1V}`, `{asset: OTHER, address: EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v}`,
			"spec.majors[1].address: ", "is already at spec.majors[0].address").
			server("spec.majors: Invalid value", "two majors have one address: keep one of them"),
		editKeys("one program twice", `52FMfXEa}`, `52FMfXEA}`, "spec.exchanges[1].factory: ", "is already at spec.exchanges[0].factory").
			server("spec.exchanges: Invalid value", "two exchanges have one factory: keep one of them"),
		editKeys("one locker's key twice", `1V]`, `1v]`, "spec.trust.lockers[1]: ", "is already at spec.trust.lockers[0]").
			server("spec.trust.lockers[1]: Duplicate value"),
		editKeys("a router's key that is a recipient's", `routers: [EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1V`, `routers: [EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v`,
			"spec.platformFee.routers[0]: ", "is already at spec.platformFee.recipients[2]").
			server("spec.platformFee: Invalid value", "a router is a recipient, too"),
		edit("hooks off UniswapV4", `    feePips: 2500`, `    hooks: ["0x33128a8fc17869897dce68ed026d694621f6fdfd"]`,
			"spec.exchanges[0].hooks: are for protocol UniswapV4 alone", "leave them out").
			server("spec.exchanges[0].hooks: Invalid value", "hooks are for protocol UniswapV4 alone: leave them out"),
		edit("a position manager off UniswapV4", `    feePips: 2500`, `    positionManager: "0x33128a8fc17869897dce68ed026d694621f6fdfd"`,
			"spec.exchanges[0].positionManager: is for protocol UniswapV4 alone", "leave it out").
			server("spec.exchanges[0].positionManager: Invalid value", "positionManager is for protocol UniswapV4 alone: leave it out"),
		edit("one hook twice", `hooks: ["0x33128a8fc17869897dce68ed026d694621f6fdfd"]`,
			`hooks: ["0x33128a8fc17869897dce68ed026d694621f6fdfd", "0x33128a8fc17869897dce68ed026d694621f6fdfd"]`,
			"spec.exchanges[1].hooks[1]: ", "is already at spec.exchanges[1].hooks[0]").
			server(`spec.exchanges[1].hooks[1]: Duplicate value: "0x33128a8fc17869897dce68ed026d694621f6fdfd"`),
		edit("one hook twice, in two cases", `hooks: ["0x33128a8fc17869897dce68ed026d694621f6fdfd"]`,
			`hooks: ["0x33128a8fc17869897dce68ed026d694621f6fdfd", "0x33128a8fC17869897dcE68Ed026d694621f6FDfD"]`,
			"spec.exchanges[1].hooks[1]: ", "is already at spec.exchanges[1].hooks[0]").
			server("spec.exchanges[1].hooks: Invalid value", "a hook is listed twice: keep one of them"),
		edit("a locker with a wrong checksum", `0x663A5C229c09b049E36dCc11a9B0d4a8Eb9db214`, `0x663a5C229c09b049E36dCc11a9B0d4a8Eb9db214`,
			"spec.trust.lockers[0]: ", "wrong checksum, 0x663A5C229c09b049E36dCc11a9B0d4a8Eb9db214 would be right"),
		edit("a locker of another family", `"0x663A5C229c09b049E36dCc11a9B0d4a8Eb9db214"`, `So11111111111111111111111111111111111111112`,
			"spec.trust.lockers[0]: ", evm).
			server("spec.trust.lockers: Invalid value", "0x and 40 hexadecimal digits on EVM, base58 on Solana"),
		edit("one locker twice, in two cases", `lockers: [`, `lockers: ["0x663a5c229c09b049e36dcc11a9b0d4a8eb9db214", `,
			"spec.trust.lockers[1]: ", "is already at spec.trust.lockers[0]").
			server("spec.trust.lockers: Invalid value", "a locker is listed twice: keep one of them"),
		{
			Name: "too many lockers", Manifest: cut(Good, "  trust: {", "  platformFee:", "  trust:\n    lockers:\n"+many(33,
				`    - "0x42000000000000000000000000000000000000%02[1]d"`)),
			Want:   []string{"spec.trust.lockers: has 33 entries", "allowed: up to 32"},
			Server: []string{"spec.trust.lockers: Too many: 33: must have at most 32 items"},
		},
		edit("a platform's fee without a recipient", `recipients: ["0x1111111111111111111111111111111111111111"]`, `recipients: []`,
			"spec.platformFee.recipients: is empty", "leave platformFee out").
			server("spec.platformFee.recipients in body should have at least 1 items"),
		edit("a platform's fee of everything", `bps: 85`, `bps: 1001`, "spec.platformFee.bps: is 1001", "allowed: 1 to 1000").
			server("spec.platformFee.bps in body should be less than or equal to 1000"),
		edit("a recipient of another family", `"0x1111111111111111111111111111111111111111"`, `So11111111111111111111111111111111111111112`,
			"spec.platformFee.recipients[0]: ", evm).
			server("spec.platformFee.recipients: Invalid value", "0x and 40 hexadecimal digits on EVM, base58 on Solana"),
		edit("a router of another family", `"0x2222222222222222222222222222222222222222"`, `So11111111111111111111111111111111111111112`,
			"spec.platformFee.routers[0]: ", evm).
			server("spec.platformFee.routers: Invalid value", "0x and 40 hexadecimal digits on EVM, base58 on Solana"),
		edit("a router that is a recipient", `routers: ["0x2222222222222222222222222222222222222222"]`, `routers: ["0x1111111111111111111111111111111111111111"]`,
			"spec.platformFee.routers[0]: ", "is already at spec.platformFee.recipients[0]").
			server("spec.platformFee: Invalid value", "a router is a recipient, too"),
		{
			Name: "too many recipients", Manifest: cut(Good, "  platformFee: {", "  fetchMetadata:", "  platformFee:\n    recipients:\n"+many(17,
				`    - "0x42000000000000000000000000000000000000%02[1]d"`)),
			Want:   []string{"spec.platformFee.recipients: has 17 entries", "allowed: up to 16"},
			Server: []string{"spec.platformFee.recipients: Too many: 17: must have at most 16 items"},
		},
		edit("fee on UniswapV4", `    hooks: ["0x33128a8fc17869897dce68ed026d694621f6fdfd"]`, `    feePips: 3000`,
			"spec.exchanges[1].feePips: is for protocols UniswapV2 and Solidly alone", "leave it out").
			server("spec.exchanges[1].feePips: Invalid value", "feePips is for protocols UniswapV2 and Solidly alone"),
		edit("fee too high", `feePips: 2500`, `feePips: 100001`, "spec.exchanges[0].feePips: is 100001", "allowed: 1 to 100000").
			server("spec.exchanges[0].feePips in body should be less than or equal to 100000"),
		editSolana("an exchange of EVM on Solana", `protocol: PumpSwap`, `protocol: UniswapV2`,
			`spec.exchanges[0].protocol: "UniswapV2" is not known; allowed: PumpSwap, RaydiumAMMv4, RaydiumCPMM, MeteoraDAMMv2`).
			server("spec.exchanges: Invalid value", "MeteoraDAMMv2 are of Solana, the others of EVM"),
		edit("an exchange of Solana on EVM", `protocol: UniswapV4`, `protocol: PumpSwap`, `spec.exchanges[1].protocol: "PumpSwap" is not known; `+protocols).
			server("spec.exchanges: Invalid value", "MeteoraDAMMv2 are of Solana, the others of EVM"),
		editSolana("a factory of EVM on Solana", `factory: pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA`, `factory: "0x8909dc15e40173ff4699343b6eb8132c65e18ec6"`,
			"spec.exchanges[0].factory: ", "is no Solana address").
			server("spec.exchanges: Invalid value", "every exchanges[].factory must be an address of the chain's family"),
		editSolana("a genesis hash of 33 bytes", `genesisHash: 4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY`, `genesisHash: zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz`,
			"spec.genesisHash: ", "is no hash; allowed: base58 of 32 bytes"),
		edit("a genesis hash on EVM", `  chainID: 8453`, "  chainID: 8453\n  genesisHash: 4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY",
			"spec.genesisHash: is for family Solana alone", "leave it out").
			server("spec.genesisHash: Invalid value", "genesisHash is for family Solana alone: leave it out"),
		edit("a stream on EVM", `      weight: 3`, "      weight: 3\n      protocol: YellowstoneGRPC", "spec.rpc.endpoints[0].protocol: is YellowstoneGRPC", "leave it out").
			server("spec.rpc.endpoints: Invalid value", "endpoints of protocol YellowstoneGRPC are for family Solana alone"),
		editSolana("a stream alone", `  suspend: true`, "  rpc: {endpoints: [{url: https://node.example, protocol: YellowstoneGRPC}]}",
			"spec.rpc.endpoints: has none of protocol JSONRPC", "can't be asked anything").
			server("spec.rpc.endpoints: Invalid value", "add one of protocol JSONRPC"),
		editSolana("an endpoint of another protocol", `  suspend: true`, "  rpc: {endpoints: [{url: https://node.example, protocol: WebSocket}]}",
			`spec.rpc.endpoints[0].protocol: is "WebSocket"; allowed are JSONRPC and YellowstoneGRPC`).
			server("spec.rpc.endpoints[0].protocol: Unsupported value", "JSONRPC"),
		editSolana("running without a node", `  suspend: true`, ``, "spec.rpc.endpoints: is empty", "suspend: true").
			server("spec.rpc.endpoints: Invalid value", "add one under rpc.endpoints, or write suspend: true"),
		edit("neither url nor urlFrom", `    - url: https://node.example/rpc
      weight: 3`, `    - weight: 3`, "spec.rpc.endpoints[0]: needs exactly one of url and urlFrom.secretKeyRef").
			server("spec.rpc.endpoints[0]: Invalid value", "write either url or urlFrom.secretKeyRef, exactly one of the two"),
		edit("both url and urlFrom", `      weight: 3`, `      urlFrom: {secretKeyRef: {name: rpc, key: url}}`,
			"spec.rpc.endpoints[0]: needs exactly one of url and urlFrom.secretKeyRef").
			server("spec.rpc.endpoints[0]: Invalid value", "write either url or urlFrom.secretKeyRef, exactly one of the two"),
		edit("url of a WebSocket", `https://node.example/rpc`, `wss://node.example/rpc`, "spec.rpc.endpoints[0].url: ", "allowed: http:// or https:// with a host").
			server(`spec.rpc.endpoints[0].url in body should match '^https?://[^\s/]+\S*$'`),
		edit("url without a host", `https://node.example/rpc`, `https:///rpc`, "spec.rpc.endpoints[0].url: ", "with a host").
			server(`spec.rpc.endpoints[0].url in body should match '^https?://[^\s/]+\S*$'`),
		edit("url with a password", `https://node.example/rpc`, `https://u:p@node.example/rpc`, "spec.rpc.endpoints[0].url: has a user or password", "write urlFrom").
			server("spec.rpc.endpoints[0].url", "url has a user or password", "write urlFrom"),
		edit("url with a broken escape", `https://node.example/rpc`, `https://node.example/%zz`, "spec.rpc.endpoints[0].url: ", "is no URL of a node"),
		edit("key of a Secret that leaves its directory", `url: https://node.example/rpc`, `urlFrom: {secretKeyRef: {name: rpc, key: ..}}`,
			`spec.rpc.endpoints[0].urlFrom.secretKeyRef.key: ".." is no key`, "no . in front").
			server("spec.rpc.endpoints[0].urlFrom.secretKeyRef.key in body should match '^[-_a-zA-Z0-9]([-._a-zA-Z0-9]*)$'"),
		edit("name of a Secret that leaves its directory", `url: https://node.example/rpc`, `urlFrom: {secretKeyRef: {name: ../rpc, key: url}}`,
			`spec.rpc.endpoints[0].urlFrom.secretKeyRef.name: "../rpc" is no name of a Secret`, "allowed: 1 to 253").
			server("spec.rpc.endpoints[0].urlFrom.secretKeyRef.name in body " + matchObject),
		edit("weight 0", `weight: 3`, `weight: 0`, "spec.rpc.endpoints[0].weight: is 0", "allowed: 1 to 1000").
			server("spec.rpc.endpoints[0].weight in body should be greater than or equal to 1"),
		edit("pace of nothing", `requestsPerSecond: 50`, `requestsPerSecond: 0`, "spec.rpc.endpoints[0].requestsPerSecond: is 0", "allowed: 1 to 100000").
			server("spec.rpc.endpoints[0].requestsPerSecond in body should be greater than or equal to 1"),
		edit("budget of nothing", `requestsPerDay: 100000`, `requestsPerDay: 0`, "spec.rpc.endpoints[0].requestsPerDay: is 0", "allowed: 1 to").
			server("spec.rpc.endpoints[0].requestsPerDay in body should be greater than or equal to 1"),
		edit("units of nothing", `computeUnitsPerDay: 1000000`, `computeUnitsPerDay: 0`, "spec.rpc.endpoints[0].computeUnitsPerDay: is 0", "allowed: 1 to 1000000000000").
			server("spec.rpc.endpoints[0].computeUnitsPerDay in body should be greater than or equal to 1"),
		edit("too many units", `computeUnitsPerDay: 1000000`, `computeUnitsPerDay: 1000000000001`, "spec.rpc.endpoints[0].computeUnitsPerDay: is 1000000000001", "allowed: 1 to 1000000000000").
			server("spec.rpc.endpoints[0].computeUnitsPerDay in body should be less than or equal to 1000000000000"),
		edit("units of a call below 0", `eth_call: 30`, `eth_call: -1`, "spec.rpc.endpoints[0].computeUnits.eth_call: is -1", "allowed: 0 to 100000").
			server("spec.rpc.endpoints[0].computeUnits.eth_call in body should be greater than or equal to 0"),
		edit("too many units of a call", `other: 15`, `other: 100001`, "spec.rpc.endpoints[0].computeUnits.other: is 100001", "allowed: 0 to 100000").
			server("spec.rpc.endpoints[0].computeUnits.other in body should be less than or equal to 100000"),
		edit("units of calls without a budget of units", "      computeUnitsPerDay: 1000000\n", ``, "spec.rpc.endpoints[0].computeUnits: says what calls count of computeUnitsPerDay", "write that too, or leave computeUnits out").
			server("spec.rpc.endpoints[0].computeUnits: Invalid value", "computeUnits says what calls count of computeUnitsPerDay"),
		{
			Name: "too many endpoints", Manifest: cut(Good, "    - url:", "  start:", many(9, `    - url: https://node%d.example`)),
			Want:   []string{"spec.rpc.endpoints: has 9 entries", "allowed: up to 8"},
			Server: []string{"spec.rpc.endpoints: Too many: 9: must have at most 8 items"},
		},
		edit("start at a block and now", `{block: 17}`, `{block: 17, now: true}`, "spec.start: needs exactly one", "{block: N} or {now: true}").
			server("spec.start: Invalid value", "write either {block: N} or {now: true}, exactly one of the two"),
		edit("start at nothing", `{block: 17}`, `{}`, "spec.start: needs exactly one", "{block: N} or {now: true}").
			server("spec.start: Invalid value", "write either {block: N} or {now: true}, exactly one of the two"),
		edit("start below 0", `{block: 17}`, `{block: -1}`, "spec.start.block: is -1", "allowed: 0 to").
			server("spec.start.block in body should be greater than or equal to 0"),
		edit("liquidity with a sign", `"500.5"`, `"+500"`, `spec.tracking.minLiquidityUSD: "+500" is no decimal number`, decimals).
			server("spec.tracking.minLiquidityUSD: Invalid value", number),
		edit("liquidity too high", `"500.5"`, `"1000000001"`, "spec.tracking.minLiquidityUSD: is 1000000001", "allowed: 0 to 1000000000").
			server("spec.tracking.minLiquidityUSD: Invalid value", "tracking.minLiquidityUSD must be at most 1000000000"),
		edit("no counted liquidity", `"7500"`, `"0"`, "spec.tracking.countedLiquidityUSD: is 0", "allowed: above 0 and up to 1000000000").
			server("spec.tracking.countedLiquidityUSD: Invalid value", "tracking.countedLiquidityUSD must be above 0 and at most 1000000000"),
		edit("counted liquidity too high", `"7500"`, `"1000000001"`, "spec.tracking.countedLiquidityUSD: is 1000000001").
			server("spec.tracking.countedLiquidityUSD: Invalid value", "tracking.countedLiquidityUSD must be above 0 and at most 1000000000"),
		edit("a past of less than nothing", `pastDays: 3650`, `pastDays: -1`, "spec.tracking.pastDays: is -1", "allowed: 0 to 3650").
			server("spec.tracking.pastDays in body should be greater than or equal to 0"),
		edit("a past too long", `pastDays: 3650`, `pastDays: 3651`, "spec.tracking.pastDays: is 3651", "allowed: 0 to 3650").
			server("spec.tracking.pastDays in body should be less than or equal to 3650"),
		edit("unknown choice of holders", `holders: All`, `holders: None`, `spec.tracking.holders: "None" is not known`, "allowed: Launches, Declared, All").
			server(`spec.tracking.holders: Unsupported value: "None": supported values: "Launches", "Declared", "All"`),
		edit("trades kept too short", `trades: 720h`, `trades: 1h`, "spec.retention.trades: is 1h0m0s", "allowed: 24h and more").
			server("spec.retention.trades: Invalid value", "must be at least 24h; leave it out to keep trades for good"),
		edit("candles kept too short", `minuteCandles: 48h`, `minuteCandles: 23h59m`, "spec.retention.minuteCandles: is 23h59m0s", "allowed: 24h and more").
			server("spec.retention.minuteCandles: Invalid value", "must be at least 24h; leave it out to keep them for good"),
		edit("no accounts", `accounts: 100000000`, `accounts: 0`, "spec.tracking.holderCaps.accounts: is 0", "allowed: 1 to 100000000").
			server("spec.tracking.holderCaps.accounts in body should be greater than or equal to 1"),
		edit("too many accounts", `accounts: 100000000`, `accounts: 100000001`, "spec.tracking.holderCaps.accounts: is 100000001").
			server("spec.tracking.holderCaps.accounts in body should be less than or equal to 100000000"),
		edit("too many transfers", `transfers: 10000000000`, `transfers: 10000000001`, "spec.tracking.holderCaps.transfers: is 10000000001").
			server("spec.tracking.holderCaps.transfers in body should be less than or equal to 10000000000"),
		edit("too many days", `days: 365`, `days: 366`, "spec.tracking.holderCaps.days: is 366", "allowed: 1 to 365").
			server("spec.tracking.holderCaps.days in body should be less than or equal to 365"),
		edit("no undo", `reorgBlocks: 32`, `reorgBlocks: 0`, "spec.reorgBlocks: is 0", "allowed: 1 to 10000").
			server("spec.reorgBlocks in body should be greater than or equal to 1"),
		edit("finality too deep", `finalityDepth: 600`, `finalityDepth: 1000001`, "spec.finalityDepth: is 1000001", "allowed: 1 to 1000000").
			server("spec.finalityDepth in body should be less than or equal to 1000000"),
		edit("order too high", `order: 20`, `order: 10001`, "spec.order: is 10001", "allowed: 0 to 10000").
			server("spec.order in body should be less than or equal to 10000"),
		edit("order below 0", `order: 20`, `order: -1`, "spec.order: is -1", "allowed: 0 to 10000").
			server("spec.order in body should be greater than or equal to 0"),
		edit("lag that no indexer can hold", `maxLag: 90s`, `maxLag: 14s`, "spec.indexer.maxLag: is 14s", "allowed: 15s to 24h").
			server("spec.indexer.maxLag: Invalid value", "indexer.maxLag must be from 15s to 24h"),
		edit("lag too long", `maxLag: 90s`, `maxLag: 25h`, "spec.indexer.maxLag: is 25h0m0s", "allowed: 15s to 24h").
			server("spec.indexer.maxLag: Invalid value", "indexer.maxLag must be from 15s to 24h"),
		edit("no generation", `generation: 1000000`, `generation: 0`, "spec.indexer.generation: is 0", "allowed: 1 to 1000000").
			server("spec.indexer.generation in body should be greater than or equal to 1"),
		edit("generation too high", `generation: 1000000`, `generation: 1000001`, "spec.indexer.generation: is 1000001", "allowed: 1 to 1000000").
			server("spec.indexer.generation in body should be less than or equal to 1000000"),
		edit("facts from nowhere", `facts: Asked`, `facts: Guessed`, "spec.indexer.facts", "Kept, Asked").
			server(`spec.indexer.facts: Unsupported value: "Guessed": supported values: "Kept", "Asked"`),
		edit("memory in words", `memory: 512Mi`, `memory: 512 MB`, `spec.indexer.resources.limits.memory: "512 MB" is no amount`, "such as 500m, 512Mi").
			server(`spec.indexer.resources.limits.memory in body should match '^[0-9]{1,12}(\.[0-9]{1,9})?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$'`),
		edit("processor below 0", `cpu: 250m`, `cpu: "-1"`, `spec.indexer.resources.requests.cpu: "-1" is no amount`, "such as 500m, 512Mi").
			server(`spec.indexer.resources.requests.cpu in body should match '^[0-9]{1,12}(\.[0-9]{1,9})?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$'`),
		edit("more processor asked for than allowed", `cpu: 250m`, `cpu: "1.001"`, "spec.indexer.resources.requests.cpu: is 1.001",
			"above the limit of 1", "raise spec.indexer.resources.limits.cpu").
			server("spec.indexer.resources: Invalid value", "requests.cpu is above resources.limits.cpu: lower one or raise the other"),
		edit("more memory asked for than allowed", `memory: 256Mi`, `memory: 1Gi`, "spec.indexer.resources.requests.memory: is 1Gi",
			"above the limit of 512Mi", "raise spec.indexer.resources.limits.memory").
			server("spec.indexer.resources: Invalid value", "requests.memory is above resources.limits.memory: lower one or raise the other"),
		edit("node label without a name", `{kubernetes.io/arch: amd64}`, `{kubernetes.io/: amd64}`,
			`spec.indexer.nodeSelector: "kubernetes.io/" is no label's name`, "such as kubernetes.io/arch").
			server("spec.indexer.nodeSelector: Invalid value", "a nodeSelector key must be a label's name, such as kubernetes.io/arch"),
		edit("node label with a long name", `{kubernetes.io/arch: amd64}`, `{`+strings.Repeat("a", 64)+`: amd64}`,
			`spec.indexer.nodeSelector: "aaa`, "such as kubernetes.io/arch").
			server("spec.indexer.nodeSelector: Invalid value", "a nodeSelector key must be a label's name, such as kubernetes.io/arch"),
		edit("node label with a space in its value", `{kubernetes.io/arch: amd64}`, `{kubernetes.io/arch: amd 64}`,
			`spec.indexer.nodeSelector[kubernetes.io/arch]: "amd 64" is no label's value`, "up to 63").
			server("spec.indexer.nodeSelector.kubernetes.io/arch in body should match '^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$'"),
		edit("too many node labels", `{kubernetes.io/arch: amd64}`, `{`+strings.ReplaceAll(many(17, `a%d: x,`), "\n", " ")+`}`,
			"spec.indexer.nodeSelector: has 17 entries", "allowed: up to 16").
			server("spec.indexer.nodeSelector: Too many: 17: must have at most 16 items"),
		edit("toleration of nothing", `{operator: Exists, effect: NoExecute}`, `{effect: NoExecute}`,
			"spec.indexer.tolerations[1].key: is missing", "operator: Exists").
			server("spec.indexer.tolerations[1].key: Invalid value", "a toleration needs the taint's key; without one, operator: Exists tolerates every taint"),
		edit("toleration of a value that is only to exist", `operator: Equal, value: indexers`, `operator: Exists, value: indexers`,
			"spec.indexer.tolerations[0].value: is for operator Equal alone", "leave it out").
			server("spec.indexer.tolerations[0].value: Invalid value", "leave value out, or write operator: Equal"),
		edit("taint's key with a space", `key: example.com/dedicated`, `key: dedicated to`,
			`spec.indexer.tolerations[0].key: "dedicated to" is no taint's key`, "such as example.com/dedicated").
			server("spec.indexer.tolerations[0].key: Invalid value", "a taint's key is a label's name, such as example.com/dedicated"),
		edit("unknown operator", `operator: Equal`, `operator: In`, `spec.indexer.tolerations[0].operator: "In" is not known`, "allowed: Equal, Exists").
			server(`spec.indexer.tolerations[0].operator: Unsupported value: "In": supported values: "Equal", "Exists"`),
		edit("unknown effect", `effect: NoExecute`, `effect: Evict`, `spec.indexer.tolerations[1].effect: "Evict" is not known`,
			"allowed: NoSchedule, PreferNoSchedule, NoExecute").
			server(`spec.indexer.tolerations[1].effect: Unsupported value: "Evict": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"`),
		edit("too many tolerations", `    - {operator: Exists, effect: NoExecute}`, many(16, `    - {key: taint%d, operator: Exists}`),
			"spec.indexer.tolerations: has 17 entries", "allowed: up to 16").
			server("spec.indexer.tolerations: Too many: 17: must have at most 16 items"),
		edit("priority class with a capital", `priorityClassName: boardwalk-indexer`, `priorityClassName: Boardwalk`,
			`spec.indexer.priorityClassName: "Boardwalk" is no name of a PriorityClass`, "allowed: 1 to 253").
			server("spec.indexer.priorityClassName in body " + matchObject),
	}
}
