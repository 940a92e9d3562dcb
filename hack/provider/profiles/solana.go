package profiles

// These are agave's words (rpc-client-api/src/custom_error.rs).
var (
	cleanedUp    = Refusal{Code: -32001, Message: "Block %d cleaned up, does not exist on node. First available block: %d"}
	notAvailable = Refusal{Code: -32004, Message: "Block not available for slot %d"}
	jumped       = Refusal{Code: -32007, Message: "Slot %d was skipped, or missing due to ledger jump to recent snapshot"}
	notStored    = Refusal{Code: -32009, Message: "Slot %d was skipped, or missing in long-term storage"}
	noTokens     = Refusal{Code: -32010, Message: "%s excluded from account secondary indexes; this RPC method unavailable for key"}
)

var agaveWords = Source{"words and code of blocks that are gone", "anza-xyz/agave, rpc-client-api/src/custom_error.rs", "H"}

// solanaPlain has no limit at all.
func solanaPlain() Profile {
	return Profile{Name: "solana-plain", Client: "agave", IsSolana: true, Sources: []Source{{"no limit, no latency", "no node is so", "L"}}}
}

// solanaPublic is api.mainnet-beta.solana.com.
func solanaPublic() Profile {
	return Profile{
		Name: "solana-public", Client: "agave", IsSolana: true, Latency: far,
		Rate: Rate{
			PerSecond: 10, Burst: 100, Calls: true, RetryAfter: true,
			Exceeded: Refusal{Status: 429, Code: 429, Message: "Too many requests from your IP, contact your app developer or support@rpcpool.com."},
		},
		Solana: SolanaLimits{
			PerMethod: Rate{
				PerSecond: 4, Burst: 40, Calls: true,
				Exceeded: Refusal{Status: 429, Code: 429, Message: "Too many requests for a specific RPC call"},
			},
			NoTokens: noTokens,
		},
		Sources: []Source{
			{"100 requests in 10 s, 40 of them of one method", "solana.com/docs, clusters and public RPC endpoints; the project's docs/src/cluster/rpc-endpoints.md", "H"},
			{"both are filled evenly", "a simplification", "L"},
			{"their words under HTTP 429", "quoted in many public issues, from memory", "L"},
			{"no accounts of the token programs, with code and words", "solana-labs/solana issue 20973; solana-program-library issue 2547", "M"},
			latencyGuessed,
		},
	}
}

func heliusFree() Profile {
	return Profile{
		Name: "helius-free", Client: "agave", IsSolana: true, Latency: far, OtherUnits: 1, Units: map[string]int64{"getProgramAccounts": 10},
		Rate: Rate{
			PerSecond: 10, Burst: 10, Calls: true, Exceeded: Refusal{Status: 429, Code: -32429, Message: "rate limited"},
		},
		Sources: []Source{
			{"10 calls a second on the free plan", "helius.dev/docs/rate-limits, by api-evangelist/helius", "M"},
			{"getProgramAccounts is dearer, and has a rate of its own besides", "helius.dev/docs/faqs/rpc", "H"},
			{"1 credit a call, 10 for getProgramAccounts", "helius.dev/docs/billing/credits, from memory", "L"},
			{"code and words of the rate", "a guess", "L"},
			latencyGuessed,
		},
	}
}

func helius() Profile {
	p := heliusFree()
	p.Name = "helius"
	p.Rate.PerSecond, p.Rate.Burst = 50, 50
	p.Sources = append([]Source{{"50 calls a second on the Developer plan", "helius.dev/docs/rate-limits, by api-evangelist/helius", "M"}}, p.Sources[1:]...)
	return p
}

// agave is a node of one's own, which keeps as much of the ledger as it does by default.
func agave() Profile {
	return Profile{
		Name: "agave", Client: "agave", IsSolana: true, Latency: near,
		Solana: SolanaLimits{Kept: 400_000, Gone: cleanedUp},
		Sources: []Source{
			{"some two days of blocks with --limit-ledger-size", "docs.anza.xyz, agave-validator; the number of slots is a guess", "L"},
			agaveWords, latencyGuessed,
		},
	}
}

// agaveRestarted is such a node that was down for a while and began anew from a snapshot: its ledger lacks the blocks in between.
func agaveRestarted() Profile {
	p := agave()
	p.Name = "agave-restarted"
	p.Solana.Holes = Holes{From: 100, Slots: 300, Missing: jumped, NotYet: notAvailable, Jumped: true}
	p.Sources = append([]Source{
		{"a hole of 300 slots, below which older blocks are still there", "solana-labs/solana issue 17000: 300 to 900 blocks, most often some 300; issue 33832", "M"},
		{"which slots these are", "made up, so that a short chain has them", "L"},
		{"code and words of a slot in the hole, and of one above which there is no block yet", "anza-xyz/agave, rpc-client-api/src/custom_error.rs; rpc/src/rpc.rs, check_blockstore_root", "H"},
		{"getBlocks and getBlocksWithLimit leave the hole out", "anza-xyz/agave, rpc/src/rpc.rs: they list the ledger's roots", "H"},
		{"null for the block above the snapshot's", "anza-xyz/agave, rpc/src/rpc.rs, get_block; ledger/src/blockstore.rs, ParentEntriesUnavailable", "H"},
		{"the lists have the snapshot's slot, and its block is null", "anza-xyz/agave, ledger/src/blockstore_processor.rs, which makes it a root; that its shreds never come is a guess", "M"},
		{"transactions of the hole aren't found, and lists of an account's transactions leave them out", "anza-xyz/agave, rpc/src/rpc.rs: both read the ledger", "H"},
		{"until the chain is above the hole the node stands still", "solana-labs/solana issue 17000: unresponsive for some time. A simplification: it answers, and tells accounts as they are", "L"},
	}, p.Sources...)
	return p
}

// agaveStorage is a node that has older blocks in a long-term storage, which lacks some. Its own ledger has no holes.
func agaveStorage() Profile {
	return Profile{
		Name: "agave-storage", Client: "agave", IsSolana: true, Latency: near,
		Solana: SolanaLimits{Holes: Holes{From: 40, Slots: 4, Every: 50, Below: 100, Missing: notStored}},
		Sources: []Source{
			{"slots below the node's own ledger are looked for in the storage, so that none is pruned", "anza-xyz/agave, rpc/src/rpc.rs, get_block and get_blocks", "H"},
			{"code and words of a slot that is missing in the storage", "anza-xyz/agave, rpc-client-api/src/custom_error.rs; rpc/src/rpc.rs, check_bigtable_result", "H"},
			{"the storage lacks blocks that others follow", "solana-labs/solana issues 21350 and 25068 (up to 14,901 slots)", "M"},
			{"four slots in a row", "solana-foundation/solana-com issue 550: two to four; that all of them had blocks isn't said", "L"},
			{"in 50, and a ledger of 100 slots", "made up, so that a short chain has them", "L"},
			{"a slot without a block has the ledger's words there, too", "a simplification: agave says those of the storage", "L"},
			latencyGuessed,
		},
	}
}
