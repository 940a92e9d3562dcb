package profiles

import "time"

// plain has no limit at all: it is for measuring the index alone.
func plain() Profile {
	return Profile{Name: "plain", Client: "Geth", LogTimes: true, Sources: []Source{{"no limit, no latency", "no node is so", "L"}}}
}

const alchemyTooLong = "Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit on the response size, " +
	"or you can request any block range with a cap of 10K logs in the response. Based on your parameters and the response size limit, " +
	"this block range should work: [%s, %s]"

var alchemyUnits = map[string]int64{
	"net_version": 0, "eth_chainId": 0, "eth_syncing": 0, "eth_blockNumber": 10, "eth_accounts": 10, "eth_subscribe": 10,
	"eth_maxPriorityFeePerGas": 10, "eth_createAccessList": 10, "eth_call": 26, "eth_getLogs": 60,
}

func alchemy() Profile {
	return Profile{
		Name: "alchemy", Client: "Geth", Latency: far, Units: alchemyUnits, OtherUnits: 20,
		RateUnits: map[string]int64{"eth_getBlockReceipts": 500},
		Logs:      LogLimits{Bytes: 150 << 20, TooLong: Refusal{Code: -32602, Message: alchemyTooLong}},
		Batch:     BatchLimits{Calls: 1000, TooMany: Refusal{Status: 400, Code: -32600, Message: "batch size too large: %d calls, the limit is %d"}},
		Rate: Rate{
			PerSecond: 10_000, Burst: 100_000, RetryAfter: true,
			Exceeded: Refusal{Status: 429, Code: 429, Message: "Your app has exceeded its compute units per second capacity. If you have retries enabled, you can " +
				"safely ignore this message. If not, check out https://docs.alchemy.com/reference/throughput"},
		},
		Sources: []Source{
			{"units by method; 500 throughput units for eth_getBlockReceipts; those of a batch added up", "alchemy.com/docs/reference/compute-unit-costs", "H"},
			{"no limit on the range on the chains of the samples, 150 MB an answer", "alchemy.com/docs, eth_getLogs, chain API limits", "H"},
			{"text of an answer that is too long", "bancorprotocol/webapp issue 523; ethers issue 4703", "M"},
			{"units are counted over 10 s; 10,000 a second", "alchemy.com/docs/reference/throughput and pricing-plans", "H"},
			{"429's text and code, under HTTP 429", "conduitxyz/node issue 36, latticexyz/mud issue 1522", "M"},
			{"Retry-After", "alchemy.com/docs/how-to-implement-retries, from memory", "L"},
			{"1,000 calls a batch", "alchemy.com/support/does-alchemy-support-batch-requests", "H"},
			{"the words for a longer batch", "a guess", "L"},
			latencyGuessed,
		},
	}
}

func alchemyFree() Profile {
	p := alchemy()
	p.Name = "alchemy-free"
	p.Logs.Range, p.Logs.TooWide = 10, Refusal{Status: 400, Code: -32600, Message: "Under the Free tier plan, you can make eth_getLogs requests with up to a " +
		"%[2]d block range. Based on your parameters, this block range should work: [%[3]s, %[4]s]. Upgrade to PAYG for expanded block range."}
	p.Rate.PerSecond, p.Rate.Burst = 500, 5_000
	p.Sources = append([]Source{
		{"10 blocks a range on all chains, 500 units a second", "alchemy.com/docs, pricing plans and throughput", "H"},
		{"text, code and HTTP 400 of a range that is too wide", "several public clients' tests, which quote it word for word", "M"},
	}, p.Sources...)
	return p
}

func quickNode() Profile {
	return Profile{
		Name: "quicknode", Client: "Geth", Latency: far, OtherUnits: 20,
		Logs: LogLimits{Range: 10_000, TooWide: Refusal{Status: 413, Code: -32614, Message: "eth_getLogs is limited to a 10,000 range"}},
		Rate: Rate{
			PerSecond: 50, Burst: 50, Calls: true,
			Exceeded: Refusal{Status: 429, Code: -32007, Message: "50/second request limit reached - reduce calls per second or upgrade your account at quicknode.com"},
		},
		Sources: []Source{
			{"10,000 blocks a range", "quicknode.com/docs/ethereum/eth_getLogs", "H"},
			{"its text, code and HTTP 413", "OffchainLabs/arbitrum-sdk issue 609, with the whole answer", "M"},
			{"50 calls a second on the Build plan", "quicknode.com/pricing, by api-evangelist/quicknode", "M"},
			{"text, code and HTTP 429 of the rate", "foundry-rs/foundry issue 4894; erpc's and dank_mids' sources", "M"},
			{"each call of a batch counts", "quicknode.com/guides, how to set up method rate limits", "M"},
			{"20 credits a call", "quicknode.com/api-credits, from memory", "L"},
			latencyGuessed,
		},
	}
}

func infura() Profile {
	return Profile{
		Name: "infura", Client: "Geth", Latency: far, OtherUnits: 80,
		Units: map[string]int64{"eth_chainId": 5, "net_version": 5, "eth_subscribe": 5, "eth_getLogs": 255, "eth_getBlockReceipts": 1000, "eth_estimateGas": 300},
		Logs: LogLimits{
			Range: 10_000, TooWide: Refusal{Code: -32602, Message: "range %d exceeds limit of %d"},
			Results: 10_000, TooMany: Refusal{Code: -32005, Message: "query returned more than %d results. Try with this block range [%s, %s]."},
		},
		Rate: Rate{
			PerSecond: 4_000, Burst: 4_000, Exceeded: Refusal{Status: 429, Code: -32005, Message: "exceeded project rate limit"},
			PerDay: 15_000_000 / 80, DayIsOver: Refusal{Status: 429, Code: -32005, Message: "daily request count exceeded, request rate limited"},
		},
		Sources: []Source{
			{"10,000 blocks a range, and its text", "INFURA/infura issue 237", "M"},
			{"10,000 results an answer", "docs.infura.io, eth_getLogs, constraints", "H"},
			{"its text with a range that works", "quoted word for word in several public clients; ethers issue 4703", "M"},
			{"4,000 credits a second, 15 million a day on the Developer plan; each call of a batch costs", "docs.metamask.io/services/get-started/pricing", "H"},
			{"80 credits for a method that isn't listed", "docs.metamask.io/services/get-started/pricing/credit-cost", "H"},
			{"255 for eth_getLogs, 1,000 for eth_getBlockReceipts", "the same page, from memory", "L"},
			{"text and code of the rate", "status-im/status-go pull request 4807", "M"},
			{"text and code of the day", "gochain/web3 issue 180", "M"},
			{"the day is counted in calls of 80 credits", "a simplification", "L"},
			latencyGuessed,
		},
	}
}

// publicEndpoint is the profile of a free endpoint that anybody may use, such as mainnet.base.org or 1rpc.io.
func publicEndpoint() Profile {
	return Profile{
		Name: "public", Client: "Geth", Latency: Latency{Least: 30 * time.Millisecond, Median: 120 * time.Millisecond, Tail: 2 * time.Second},
		Logs:  LogLimits{Range: 50, TooWide: Refusal{Code: -32602, Message: "eth_getLogs is limited to 0 - 50 blocks range"}},
		Batch: BatchLimits{Calls: 10, TooMany: Refusal{Code: -32014, Message: "maximum %[2]d calls in 1 batch"}},
		Rate:  Rate{PerSecond: 10, Burst: 20, Calls: true, Exceeded: Refusal{Status: 429, Code: -32016, Message: "over rate limit"}},
		State: StateLimits{Blocks: 128, NoOverrides: true},
		Heads: HeadLimits{NoWebSocket: true, Late: 100 * time.Millisecond, LateReceipts: 300 * time.Millisecond, LateLogs: 200 * time.Millisecond},
		Sources: []Source{
			{"50 blocks a range, and its text", "1rpc.io, quoted in a public client's tests", "M"},
			{"text, code and HTTP 429 of the rate", "base/node issue 368", "M"},
			{"10 calls a batch", "a guess; the words are those of OP Stack's proxyd, from memory", "L"},
			{"10 calls a second, 128 blocks of state, no overrides, no WebSocket", "a guess at the low end of what is offered", "L"},
			{"a block is announced before it can be had; its logs are an empty list at first, its receipts null", "several nodes behind one address, see agree.go and empty.go", "L"},
			latencyGuessed,
		},
	}
}

// publicBSC is one of BNB Chain's own, which have no logs.
func publicBSC() Profile {
	return Profile{
		Name: "public-bsc", Client: "Geth", Latency: far, State: StateLimits{Blocks: 128},
		Missing: []string{"eth_getLogs"}, NoMethod: Refusal{Code: -32005, Message: "limit exceeded"},
		Rate: Rate{PerSecond: 10_000.0 / 300, Burst: 1_000, Calls: true, Exceeded: Refusal{Status: 429, HTML: "error code: 1015"}, RetryAfter: true},
		Sources: []Source{
			{"eth_getLogs is refused, and its words", "bnb-chain/bsc issue 1215, bnb-chain/docs-site issue 621", "H"},
			{"10,000 calls in 5 minutes", "docs.bnbchain.org, JSON-RPC endpoint, from memory", "L"},
			{"the rate is refused by Cloudflare, without JSON", "a guess; its error 1015 is Cloudflare's documented one", "L"},
			latencyGuessed,
		},
	}
}

func geth() Profile {
	return Profile{
		Name: "geth", Client: "Geth", Latency: near, LogTimes: true,
		Logs:       LogLimits{Ahead: Refusal{Code: -32602, Message: "block range extends beyond current head block"}, Strict: true},
		Batch:      BatchLimits{Calls: 1000, TooMany: Refusal{Code: -32600, Message: "batch too large"}},
		MostAnswer: 25_000_000, OfBatches: true, TooLong: Refusal{Code: -32003, Message: "response too large"},
		State: StateLimits{Blocks: 128},
		Sources: []Source{
			{"1,000 calls and 25 MB a batch, with their words and codes", "go-ethereum rpc/errors.go, rpc/handler.go, node/defaults.go", "H"},
			{"the state of 128 blocks, and its words", "go-ethereum issues 20874 and 29170", "H"},
			{"a range that ends above the head is an error", "ethereum/execution-apis tests/eth_getLogs/filter-error-future-block-range.io", "H"},
			{"null for a new block, header not found and unknown block otherwise", "go-ethereum eth/api_backend.go, eth/filters/api.go, from memory", "M"},
			latencyGuessed,
		},
	}
}

func reth() Profile {
	return Profile{
		Name: "reth", Client: "reth", Latency: near, LogTimes: true,
		Logs: LogLimits{
			Range: 100_000, TooWide: Refusal{Code: -32602, Message: "query exceeds max block range %[2]d"},
			Results: 20_000, TooMany: Refusal{Code: -32602, Message: "query exceeds max results %d, retry with the range %s-%s"}, Decimal: true,
			Ahead: Refusal{Code: -32602, Message: "block range extends beyond current head block"}, Strict: true,
		},
		MostAnswer: 160 << 20, TooLong: Refusal{Code: -32008, Message: "Response is too big"},
		State: StateLimits{Blocks: 10_064, Gone: Refusal{Code: -32603, Message: "state at block #%[2]d is pruned"}},
		Heads: HeadLimits{Unknown: Refusal{Code: -32001, Message: "block not found"}},
		Sources: []Source{
			{"100,000 blocks a range and 20,000 results, with their words and code", "reth's EthFilterError; base/base issue 2421 with the whole answer", "H"},
			{"a range above the head is an error", "public measurement of a reth endpoint", "M"},
			{"160 MB an answer, and its words", "reth --rpc.max-response-size; jsonrpsee's error -32008", "M"},
			{"the words for pruned state", "reth's ProviderError::StateAtBlockPruned", "H"},
			{"the state of 10,064 blocks on a full node; the code of pruned state", "reth's documentation, from memory", "L"},
			latencyGuessed,
		},
	}
}

func erigon() Profile {
	return Profile{
		Name: "erigon", Client: "erigon", Latency: near,
		Batch: BatchLimits{Calls: 100, TooMany: Refusal{Code: -32000, Message: "batch limit %[2]d exceeded (can increase by --rpc.batch.limit). Requested batch of size: %[1]d"}},
		State: StateLimits{Blocks: 100_000, Gone: Refusal{Code: -32000, Message: "old data not available due to pruning"}},
		Sources: []Source{
			{"100 calls a batch, and its words", "erigon rpc/server.go; the number is the flag's default, from memory", "M"},
			{"the words for pruned state", "erigon's PrunedError", "H"},
			{"the state of 100,000 blocks", "erigon --prune.mode=full, from memory", "L"},
			latencyGuessed,
		},
	}
}

// hyperEVM is a node of one's own.
func hyperEVM() Profile {
	return Profile{
		Name: "hyperevm", Client: "hyperliquid evm", Latency: near,
		Logs: LogLimits{
			Range: 50, TooWide: Refusal{Code: -32602, Message: "query exceeds max block range %[2]d"},
			Topics: 4, TooManyTopics: Refusal{Code: -32602, Message: "invalid params: at most %[2]d topics"},
		},
		State: StateLimits{LatestAlone: true, NoOverrides: true, Gone: Refusal{Code: -32603, Message: "invalid block height: %[2]d"}},
		Heads: HeadLimits{NoWebSocket: true, NoTags: true, UnknownNumber: Refusal{Code: -32603, Message: "invalid block height: %d"}},
		Sources: []Source{
			{"state at latest alone; 4 topics and 50 blocks a range", "hyperliquid.gitbook.io, HyperEVM, JSON-RPC", "H"},
			{"an unknown block's number is an error, and its words", "ponder-sh/ponder issue 2129", "M"},
			{"the same words for older state; those for too many topics or blocks; all topics count, alternatives too", "a guess", "L"},
			{"no WebSocket", "hyperliquid.gitbook.io, HyperEVM", "H"},
			{"neither safe nor finalized, no overrides", "a guess", "L"},
			latencyGuessed,
		},
	}
}

// hyperEVMPublic answers a question about an older block with the newest state.
func hyperEVMPublic() Profile {
	p := hyperEVM()
	p.Name, p.Latency, p.State.Silent = "hyperevm-public", far, true
	p.Rate = Rate{PerSecond: 100.0 / 60, Burst: 100, Calls: true, Exceeded: Refusal{Status: 429, Code: -32005, Message: "rate limited"}}
	p.Sources = append([]Source{
		{"an older block's state is answered with the newest, without a word", "hyperliquid-dex/node issue 158, measured", "M"},
		{"100 requests a minute", "Hyperliquid's documents, rate limits, from memory", "M"},
		{"the words of the rate", "a guess", "L"},
	}, p.Sources...)
	return p
}

// moody has all that goes wrong at a head at once.
func moody() Profile {
	return Profile{
		Name: "moody", Client: "Geth", Latency: Latency{Least: 5 * time.Millisecond, Median: 60 * time.Millisecond, Tail: 3 * time.Second},
		Heads: HeadLimits{
			Late: 300 * time.Millisecond, Unknown: Refusal{Code: -32000, Message: "Unknown block"}, LateReceipts: time.Second, LateLogs: 400 * time.Millisecond, StopAfter: 50,
		},
		State:   StateLimits{Blocks: 128},
		Sources: []Source{{"all of it", "made up, from what several nodes behind one address bring about (evm/empty.go, docs.monad.xyz on early heads)", "L"}},
	}
}
