// Package trust says what a set of checks of a token amounts to: titles, severities, thresholds, verdict and score. It is
// pure; the indexer makes the checks.
package trust

import "time"

// Result is what a check found.
type Result string

// The results. Unknown is a check that could not be made, which is never a pass.
const (
	Pass    Result = "pass"
	Warn    Result = "warn"
	Fail    Result = "fail"
	Unknown Result = "unknown"
)

// Severity is how bad it is when a check fails.
type Severity string

// The severities, the least first.
const (
	Info     Severity = "info"
	Low      Severity = "low"
	Medium   Severity = "medium"
	High     Severity = "high"
	Critical Severity = "critical"
)

// Verdict is what all checks together say.
type Verdict string

// The verdicts.
const (
	OK             Verdict = "ok"
	Caution        Verdict = "caution"
	Danger         Verdict = "danger"
	VerdictUnknown Verdict = "unknown"
)

// Report is all checks of one token at one block.
type Report struct {
	Chain string `json:"chain"`
	Mint  string `json:"mint"`
	// Pair is the pool that the simulation traded with; empty when there is none.
	Pair   string    `json:"pair,omitempty"`
	Checks []Check   `json:"checks"`
	Block  Block     `json:"block"`
	At     time.Time `json:"at"` // the block's time
	// CheckedAt is when the checks were made.
	CheckedAt time.Time `json:"checked_at"`
	Checker   Checker   `json:"checker"`
}

// Checker names what made a report.
type Checker struct {
	ID      string `json:"id"`
	Version string `json:"version"`
}

// Block is the block that the checks saw the chain after.
type Block struct {
	Number uint64 `json:"number"`
	Hash   string `json:"hash"`
}

// Check is one check's outcome.
type Check struct {
	ID       string   `json:"id"`
	Title    string   `json:"title"`
	Result   Result   `json:"result"`
	Severity Severity `json:"severity"`
	// Value is a float64, string or bool; nil when nothing was measured. Unit is pct, usd, s, bool or address.
	Value     any    `json:"value"`
	Unit      string `json:"unit,omitempty"`
	Threshold any    `json:"threshold,omitempty"`
	// UnknownReason is why Result is Unknown: rpc_capability, no_pool, not_indexed, needs_outside_service …
	UnknownReason string     `json:"unknown_reason,omitempty"`
	Evidence      []Evidence `json:"evidence"`
	// Source is the origin of the figure, a value of the API's open enumeration of figure sources.
	Source string `json:"source"`
}

// Evidence is where a check's value was read.
type Evidence struct {
	Kind   string `json:"kind"` // account, call, simulation, log or index
	Ref    string `json:"ref"`
	Block  uint64 `json:"block"`
	Detail string `json:"detail"`
}
