// Package budget decides what a chain gives up while what its endpoints allow in a day runs out, and says what would suffice where they allow
// too little. It takes measurements and gives decisions: it asks nobody, and has no clock.
package budget

import "time"

// Purpose is what a node is asked for. The purposes are in the order of their worth: the last one is given up first, Blocks never.
type Purpose uint8

// The purposes.
const (
	// Blocks is all that blocks, their prices and the chain's head need, but for PoolStates.
	Blocks Purpose = iota
	// PoolStates is the state of pools that are older than the index, and the search for pools of quotes without a price.
	PoolStates
	// Agreement is a second endpoint's word on blocks that are drawn by lot. What decides prices is agreed on as Blocks.
	Agreement
	// Samples are balances and supplies of tokens, held against what was derived.
	Samples
	// Members are what members' wallets had, and what they paid for their transactions.
	Members
	// Holders are the pasts of tokens whose holders are counted.
	Holders
	// PoolKeys is the search for the creation of V4 pools that are older than the index.
	PoolKeys
	// Pasts are what members' wallets did before they were watched.
	Pasts
	// Trust are the checks of tokens, and of the declared addresses.
	Trust
	// Reindexing is all that another generation of a chain's index needs, beside the one that is served.
	Reindexing
	purposes
)

var names = [purposes]string{"blocks", "pool_states", "agreement", "samples", "members", "holders", "pool_keys", "pasts", "trust", "reindexing"}

func (p Purpose) String() string { return names[p] }

// Purposes are all of them, the most worthy first.
func Purposes() []Purpose {
	return []Purpose{Blocks, PoolStates, Agreement, Samples, Members, Holders, PoolKeys, Pasts, Trust, Reindexing}
}

// Spent is what nodes were asked for: calls, each of a batch counted, and the compute units that these count.
type Spent struct{ Calls, Units int64 }

// Usage is what was spent for each purpose since the start.
type Usage [purposes]Spent

// Endpoint is what an endpoint allows and how it stands.
type Endpoint struct {
	// Calls and Units are what of the day was spent; CallsPerDay and UnitsPerDay what it allows, 0 where that is any number.
	Calls, CallsPerDay int64
	Units, UnitsPerDay int64
	// PerSecond is how many calls a second it allows, as declared or as learnt from its refusals; 0 is any number.
	PerSecond float64
	// Wrong says that it serves another chain, Silent that it hasn't answered for a while.
	Wrong, Silent bool
}

// Reading is how a chain and its endpoints stand at a moment.
type Reading struct {
	At        time.Time
	Usage     Usage
	Endpoints []Endpoint
	// Head and Indexed are the numbers of the newest announced and the newest indexed block, 0 where there is none.
	Head, Indexed uint64
	// Lag is how far the index is behind the chain; 0 where that isn't known.
	Lag time.Duration
}
