package profiles

import (
	"time"

	"google.golang.org/grpc/codes"

	"github.com/boardwalkhq/boardwalk/hack/provider/yellowstone"
)

// withStream is a provider with a stream by Yellowstone gRPC beside JSON-RPC on a paid plan.
func withStream() Profile {
	p := helius()
	p.Name = "yellowstone"
	p.Stream = yellowstone.Limits{
		Offered: true, Token: "a-readers-token", NoToken: yellowstone.Refusal{Code: codes.Unauthenticated, Message: "No valid auth token"},
		Streams: 25, TooMany: yellowstone.Refusal{Code: codes.ResourceExhausted, Message: "max subscription limit exceeded"},
		MostMessage: 64 << 20,
		TooLong:     yellowstone.Refusal{Code: codes.OutOfRange, Message: "Error, encoded message length too large: found %d bytes, the limit is: %d bytes"},
		Kept:        150, NoReplay: yellowstone.Refusal{Code: codes.Internal, Message: "from_slot is not supported"},
		Gone:      yellowstone.Refusal{Code: codes.OutOfRange, Message: "broadcast from %d is not available, last available: %d"},
		PingEvery: 10 * time.Second, IdleAfter: time.Minute, Idle: yellowstone.Refusal{Code: codes.Internal, Message: "Received RST_STREAM with code 1"},
	}
	p.StreamLatency = far
	p.Sources = append([]Source{
		{"the token as x-token; code and words for another one, and of too many streams; a ping every 10 s", "rpcpool/yellowstone-grpc, geyser/src/grpc.rs", "H"},
		{"code and words of a from_slot that isn't kept any more, and where none is", "the same; issue 594", "H"},
		{"150 slots are kept for from_slot", "the same, config.rs: the default", "H"},
		{"from_slot sends whole blocks again", "meant so by the plugin; its version 14.1.0 sends none (issue 830)", "M"},
		{"25 streams at a time", "chainstack/dev-portal, docs/yellowstone-grpc-geyser-plugin.mdx: the largest plan of 2025", "H"},
		{"messages of 64 MB at most", "nolimitnodes.com, gRPC nodes: 64 MB payloads", "M"},
		{"code and words of a longer message", "tonic, in which the plugin is written, from copies of its source", "M"},
		{"a reader that sends nothing is cut off", "rpcpool/yellowstone-grpc, README: cloud providers do so", "H"},
		{"after a minute", "a guess", "L"},
		{"code and words of the cut", "rpcpool/yellowstone-grpc issue 533, where the reason wasn't found", "L"},
		{"JSON-RPC is that of profile helius, as no provider's has both in one place", "a simplification", "L"},
	}, p.Sources...)
	return p
}

// withMoodyStream is such a provider with every fault that readers have reported, as often as a short trial needs.
func withMoodyStream() Profile {
	p := withStream()
	p.Name = "yellowstone-moody"
	s := &p.Stream
	p.StreamLatency = Latency{Least: 5 * time.Millisecond, Median: 60 * time.Millisecond, Tail: 2 * time.Second}
	s.MissEvery, s.MostMessage = 7, 24<<10
	s.Faults = yellowstone.ReportedFaults()
	p.Sources = append([]Source{
		{"a stream ends, and says that it was lagged", "rpcpool/yellowstone-grpc issue 597", "M"},
		{"a stream ends as the server does", "rpcpool/yellowstone-grpc, geyser/src/grpc.rs", "H"},
		{"a stream stops without a word or a ping, and stays open", "rpcpool/yellowstone-grpc issue 175; solana-foundation/solana-private-channels pull request 245", "M"},
		{"blocks come later and later", "rpcpool/yellowstone-grpc issue 307: 42 slots in 60 s", "M"},
		{"blocks are left out that the plugin couldn't put together", "rpcpool/yellowstone-grpc issue 575", "M"},
		{"messages that can't be read", "0xfnzero/solana-streamer pull request 70", "M"},
		{"how often each of these happens; the limit of 24 kB a message, which some blocks of the local chain are longer than", "made up", "L"},
	}, p.Sources...)
	return p
}
