package profiles

// cleanedUp and noTokens are agave's words (rpc-client-api/src/custom_error.rs).
var (
	cleanedUp = Refusal{Code: -32001, Message: "Block %d cleaned up, does not exist on node. First available block: %d"}
	noTokens  = Refusal{Code: -32010, Message: "%s excluded from account secondary indexes; this RPC method unavailable for key"}
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
