package chainconfig

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// StatePath is where an indexer's operations listener answers with its State.
const StatePath = "/state"

// State is what an indexer says of itself. All its times are of the indexer's own clock or its chain's.
type State struct {
	// Chain is the id of the chain, Document the Hash of the document that the indexer runs on.
	Chain    string `json:"chain"`
	Document string `json:"document"`
	// Settings is the hash of what all indexers of a cluster have in common, as the operator gave it to this one; empty outside a cluster.
	Settings string `json:"settings,omitempty"`
	Phase    Phase  `json:"phase"`
	// Message says why, in the phases that need a reason. It has no figure that changes while the reason stays: whoever
	// repeats it would do so again and again.
	Message string `json:"message,omitempty"`
	// Cause is the root cause that the message tells of, where it is one of those below.
	Cause Cause `json:"cause,omitempty"`
	// At is when the state was told.
	At time.Time `json:"at"`
	// Head is the newest announced block and HeadReadAt when it was read; nil and zero before the first.
	Head       *Block    `json:"head,omitempty"`
	HeadReadAt time.Time `json:"head_read_at,omitzero"`
	// Indexed is the newest block that is in the database.
	Indexed *Block `json:"indexed,omitempty"`
	// Generation is the generation of the index that is served; 0 before it is known.
	Generation int64 `json:"generation,omitempty"`
	// Reindexing is the generation that is indexed beside it; nil where none is.
	Reindexing *Reindexing `json:"reindexing,omitempty"`
	// Venues are the venues of the document, with what the chain says of their contracts.
	Venues []VenueState `json:"venues"`
	// Declaration is what the chain's nodes say of all addresses of the document.
	Declaration Declaration `json:"declaration,omitzero"`
	// Plan is how the chain gets along with what its endpoints allow.
	Plan Plan `json:"plan,omitzero"`
	// Missing are the blocks before which the index has waited for ten minutes, since no endpoint has them although later ones follow; nil otherwise.
	Missing *MissingRange `json:"missing,omitempty"`
	// SetAside are the faults of contracts and nodes that the indexer went on without since it was started, by kind and
	// reason. It has few elements: neither kinds nor reasons are a contract's to choose.
	SetAside []SetAside `json:"set_aside,omitempty"`
}

// MissingRange are blocks that no endpoint has.
type MissingRange struct {
	First uint64 `json:"first"`
	Last  uint64 `json:"last"`
	// Since is from when on the index has waited for them.
	Since time.Time `json:"since"`
}

// Reindexing is how far another generation of a chain's index has come.
type Reindexing struct {
	Generation int64 `json:"generation"`
	// Phase and Message are as those of State.
	Phase   Phase  `json:"phase"`
	Message string `json:"message,omitempty"`
	// First is the number of its first block. Indexed is nil before that is in the database.
	First   uint64 `json:"first"`
	Indexed *Block `json:"indexed,omitempty"`
	// Effort is about what it takes in all, as was found when this process began with it. It is nil in the answer of an older indexer.
	Effort *Effort `json:"effort,omitempty"`
}

// Plan holds what a chain asks its endpoints for against what they allow.
type Plan struct {
	// Behind says what would suffice, while the endpoints allow too little for the chain's blocks; empty while they allow enough. Its figures
	// stay while they are about right.
	Behind string `json:"behind,omitempty"`
	// GivenUp is what isn't asked for since what is left of the day wouldn't last: of "reindexing", "trust", "pasts", "pool_keys", "holders", "members",
	// "samples", "agreement" and "pool_states", the one first that was given up first.
	GivenUp []string `json:"given_up,omitempty"`
	// Unit is what the following is counted in; empty where the endpoints allow any number a day. PerDay is what they allow in a UTC day, and
	// Left what is left of today's. Needed is what the blocks of a day take, as was measured last; 0 before.
	Unit   PlanUnit `json:"unit,omitempty"`
	PerDay int64    `json:"per_day,omitempty"`
	Left   int64    `json:"left,omitempty"`
	Needed int64    `json:"needed_per_day,omitempty"`
}

// PlanUnit is what a plan counts.
type PlanUnit string

// The units of plans.
const (
	PlanCalls PlanUnit = "calls"
	PlanUnits PlanUnit = "compute units"
)

// SetAside counts what was set aside for one reason.
type SetAside struct {
	// Kind is "token", "pool", "trade", "curve", "contract", "block" or "endpoint". A trade is that of a pool that nobody tells of.
	Kind   string `json:"kind"`
	Reason string `json:"reason"`
	Count  uint64 `json:"count"`
	// Last is the last one's address, number or name, LastAt when it was set aside.
	Last   string    `json:"last"`
	LastAt time.Time `json:"last_at"`
}

// Block is a block's place and its time on the chain.
type Block struct {
	Number uint64    `json:"number"`
	Time   time.Time `json:"time"`
}

// VenueState is what the chain says of a venue's contracts.
type VenueState struct {
	ID string `json:"id"`
	// Contracts are those of the document.
	Contracts []market.Address `json:"contracts,omitempty"`
	// Checked says whether the contracts could be asked. What follows means nothing until they could.
	Checked bool `json:"checked"`
	// Missing are the contracts at whose address there is no code, Paused those that say that they are paused. A contract
	// that can't be paused isn't.
	Missing []string `json:"missing,omitempty"`
	Paused  []string `json:"paused,omitempty"`
}

// Declaration is whether the addresses of a chain document have code and answer as their protocol does. Each text names the address, and says
// what to do.
type Declaration struct {
	// Checked says whether every address could be asked.
	Checked bool `json:"checked"`
	// Wrong is what can't be right, endpoints of another chain among it. Look is what a person should look at though it may be right.
	Wrong []string `json:"wrong,omitempty"`
	Look  []string `json:"look,omitempty"`
	// Unasked is why not every address could be asked; empty before the first try.
	Unasked string `json:"unasked,omitempty"`
}

// Phase is what an indexer is doing.
type Phase string

// The phases.
const (
	// PhaseStarting: nothing is known yet.
	PhaseStarting Phase = "Starting"
	// PhaseWaiting: another process has the chain's lease.
	PhaseWaiting Phase = "Waiting"
	// PhaseBackfilling: the past is being read.
	PhaseBackfilling Phase = "Backfilling"
	// PhaseFollowing: every block is indexed as it comes.
	PhaseFollowing Phase = "Following"
	// PhaseFailing: indexing was interrupted and is tried again.
	PhaseFailing Phase = "Failing"
	// PhaseHalted: a human is needed.
	PhaseHalted Phase = "Halted"
)

// Cause is what keeps an indexer from going on.
type Cause string

// The causes.
const (
	// CauseDatabase: nobody answers at the database's address, or the login is refused.
	CauseDatabase Cause = "DatabaseUnreachable"
	// CauseEndpoints: no endpoint of the chain answers.
	CauseEndpoints Cause = "EndpointUnreachable"
	// CauseSecret: no endpoint answers, and the Secret with the URL of one isn't there.
	CauseSecret Cause = "SecretMissing"
	// CauseWrongChain: the endpoints serve another chain.
	CauseWrongChain Cause = "WrongChain"
)

// ExitDatabase is the exit status of a program that ended because of CauseDatabase.
const ExitDatabase = 3

// Lag is how far what is indexed may be behind the chain: the distance from the newest announced block to the newest
// indexed one, and the time since an announcement was last read, as nobody knows what came since. It isn't known before
// both blocks are.
func (s *State) Lag() (lag time.Duration, known bool) {
	if s.Head == nil || s.Indexed == nil {
		return 0, false
	}
	behind, silent := max(0, s.Head.Time.Sub(s.Indexed.Time)), max(0, s.At.Sub(s.HeadReadAt))
	return behind + min(silent, math.MaxInt64-behind), true // a time that was left out is centuries ago
}

// Venue finds a venue by its id.
func (s *State) Venue(id string) (VenueState, bool) {
	for _, v := range s.Venues {
		if v.ID == id {
			return v, true
		}
	}
	return VenueState{}, false
}

// Encode gives the document as it is handed over, and its hash: equal documents have equal bytes.
func (c *Chain) Encode() (document []byte, hash string, err error) {
	document, err = json.MarshalIndent(c, "", "  ")
	if err != nil {
		return nil, "", err
	}
	sum := sha256.Sum256(document)
	return document, hex.EncodeToString(sum[:16]), nil
}
