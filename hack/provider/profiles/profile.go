// Package profiles describes the RPC providers and nodes that hack/provider/node can stand in for: their limits, their words and their latency. Each profile names the
// source of every behaviour.
package profiles

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/provider/yellowstone"
)

// Profile is how a provider or a node behaves. The zero value is a node without any limit.
type Profile struct {
	Name string
	// Client is what web3_clientVersion answers, and in whose words anvil's errors are said: geth, reth, erigon.
	Client string

	Logs  LogLimits
	Batch BatchLimits
	Rate  Rate
	State StateLimits
	Heads HeadLimits
	// Solana bounds what a node of Solana's family answers; IsSolana says that it is one.
	Solana   SolanaLimits
	IsSolana bool
	// Stream bounds the stream of blocks that a provider of Solana has beside JSON-RPC.
	Stream yellowstone.Limits
	// StreamLatency is how long a block of the stream is on its way.
	StreamLatency Latency
	// Latency is how long an answer takes on its way.
	Latency Latency

	// Units are the compute units of a call by its method, OtherUnits those of all others. RateUnits are what counts for the rate, where
	// that differs.
	Units, RateUnits map[string]int64
	OtherUnits       int64
	// MostAnswer is how many bytes the answer to a request may have, to a batch alone where OfBatches says so; 0 is any number. TooLong is
	// what is said instead.
	MostAnswer int
	OfBatches  bool
	TooLong    Refusal
	// Missing are methods that are not there, answered with NoMethod.
	Missing  []string
	NoMethod Refusal
	// LogTimes says that logs have the block's time.
	LogTimes bool

	// Sources say how each behaviour is known.
	Sources []Source
}

// Source says where a behaviour was seen.
type Source struct {
	Behaviour string
	// From is a document, an issue or a program's source. Sure is H where that is the provider's own or its program's, M where others report
	// what they saw, L where it is a guess.
	From string
	Sure string
}

// Refusal is an error as a provider says it. Status is 0 for HTTP's 200. %d and %s in the message are what the place of its use says.
type Refusal struct {
	Status  int
	Code    int
	Message string
	// HTML is an answer that is no JSON-RPC.
	HTML string
}

// LogLimits bound eth_getLogs.
type LogLimits struct {
	// Range is the most blocks, 0 any number. Its refusal may have the number of blocks asked for as %[1]d, the limit as %[2]d, and a
	// range that works as %[3]s to %[4]s.
	Range   uint64
	TooWide Refusal
	// Results is the most logs, 0 any number; the refusal may have the limit as %[1]d and a range that works as %[2]s to %[3]s, in
	// decimal where Decimal says so.
	Results int
	TooMany Refusal
	Decimal bool
	// Bytes is the longest answer, 0 any length; the refusal may have a range that works as %[1]s to %[2]s.
	Bytes   int
	TooLong Refusal
	// Topics is the most topics at all places together, 0 any number.
	Topics        int
	TooManyTopics Refusal
	// Ahead is what is said to a range that begins, or where Strict says so ends, above the head; without a message there are no logs.
	Ahead  Refusal
	Strict bool
}

// BatchLimits bound a batch.
type BatchLimits struct {
	Calls   int
	TooMany Refusal
}

// Rate bounds how much is asked. Each call of a batch counts.
type Rate struct {
	// PerSecond is how many units, or calls where Calls says so, a second brings; Burst how many may be saved up.
	PerSecond, Burst float64
	Calls            bool
	Exceeded         Refusal
	// RetryAfter says that an answer with status 429 has such a header.
	RetryAfter bool
	// PerDay is how many calls a day has; 0 is any number.
	PerDay    int64
	DayIsOver Refusal
}

// SolanaLimits bound what a node of Solana answers.
type SolanaLimits struct {
	// Kept is of how many slots below the head the blocks and their transactions are kept; 0 is of all. Gone may have the slot as %[1]d and the first kept one as %[2]d.
	Kept uint64
	Gone Refusal
	// Holes are slots that the node lacks although it has earlier and later ones.
	Holes Holes
	// NoTokens, if it has a message, is said to who asks for all accounts of a token; it may have the program as %s.
	NoTokens Refusal
	// PerMethod bounds the calls of each method by itself.
	PerMethod Rate
}

// Holes are ranges of slots whose blocks a node lacks. Its lists leave out these slots and their transactions. The zero value is a node without holes.
type Holes struct {
	// From is the first slot of the first hole, Slots the length of each. Every is the distance from one hole's first slot to the next one's; 0 is one hole alone.
	From, Slots, Every uint64
	// Below is how many of the newest slots have no hole: the node has these itself, and the older ones in a storage that lacks some.
	Below uint64
	// Missing is said of a slot in a hole, which it may have as %d.
	Missing Refusal
	// Jumped says that the node began anew from a snapshot of each hole's last slot, and stands still before the hole until the chain is above it: meanwhile it says NotYet,
	// which may have the slot as %d. The node's lists have the snapshot's slot. It answers null for the block of this slot, and for the next block, of whose parent it
	// has no hash.
	Jumped bool
	NotYet Refusal
}

// Around finds the first and the last slot of the hole that a slot is in; ok is false for a slot in no hole.
func (h *Holes) Around(slot uint64) (first, last uint64, ok bool) {
	if slot < h.From || h.Slots == 0 {
		return 0, 0, false
	}
	if first = h.From; h.Every > 0 {
		first = slot - (slot-h.From)%h.Every
	}
	last = first + h.Slots - 1
	return first, last, slot <= last
}

// StateLimits say of which blocks the state can be asked.
type StateLimits struct {
	// Blocks is of how many blocks below the head the state is kept; 0 is of all.
	Blocks uint64
	Gone   Refusal
	// LatestAlone refuses every block but latest, or answers with the newest state where Silent says so.
	LatestAlone, Silent bool
	NoOverrides         bool
}

// HeadLimits say how new blocks come to be known.
type HeadLimits struct {
	// Announced is how long a block is announced before it can be had: until then it is null, its logs and receipts as Unknown says.
	Late    time.Duration
	Unknown Refusal
	// LateReceipts is how long receipts are null or missing after the block is there, LateLogs how long its logs are an empty list.
	LateReceipts, LateLogs time.Duration
	// UnknownNumber is what is said to a question for a block above the head; without a message that is null.
	UnknownNumber Refusal
	// NoWebSocket has no subscriptions; those of others stop after StopAfter heads, without the connection's end.
	NoWebSocket bool
	StopAfter   int
	// NoTags knows neither safe nor finalized.
	NoTags bool
}

// Latency is a median with a tail: every answer takes at least Least, half of them Median, one in a hundred Tail or more.
type Latency struct {
	Least, Median, Tail time.Duration
}

// tailQuantile is the standard normal's 99th percentile.
const tailQuantile = 2.326

// Draw is of a log-normal distribution above Least with this median and 99th percentile.
func (l Latency) Draw(rng *rand.Rand) time.Duration {
	if l.Median <= l.Least {
		return l.Least
	}
	median, tail := float64(l.Median-l.Least), float64(max(l.Tail, l.Median)-l.Least)
	sigma := math.Log(tail/median) / tailQuantile
	return l.Least + time.Duration(median*math.Exp(sigma*rng.NormFloat64()))
}
