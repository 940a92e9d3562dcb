// Package venue decides whether a launch venue is open on a chain: rules over what was seen, without any of the cluster's
// machinery, so that `boardwalk up` says the same without one.
package venue

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/internal/catalog/resolve"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Patience is how long an indexer may be silent before it counts as down: longer than a pod takes to be replaced in order.
const Patience = 20 * time.Second

// Chain is what is known of a chain when a venue on it is looked at.
type Chain struct {
	Name   string
	Family chainconfig.Family
	// Refused says why the chain isn't accepted; empty when it is.
	Refused   string
	Suspended bool
	MaxLag    time.Duration
	// State is what the chain's indexer said last and SeenAt when; nil if it never did. AskedAt is when it was asked last: all
	// that is said of the chain is said of that moment, so that whoever looks before the next question sees the same. The times
	// are by the clock of whoever asks.
	State           *chainconfig.State
	SeenAt, AskedAt time.Time
	// Asked says that the indexer's silence means something: it has been asked for some time. Before that, as after a start of
	// the operator, what was decided earlier stands.
	Asked bool
}

// Down says whether the indexer has been silent for too long.
func (c *Chain) Down() bool { return c.State == nil || c.AskedAt.Sub(c.SeenAt) > Patience }

// Lag is how far the indexer may be behind its chain; known is false when it can't be said.
func (c *Chain) Lag() (lag time.Duration, known bool) {
	if c.State == nil {
		return 0, false
	}
	if lag, known = c.State.Lag(); !known {
		return 0, false
	}
	silence := max(0, c.AskedAt.Sub(c.SeenAt))
	return lag + min(silence, math.MaxInt64-lag), true
}

// Behind says whether the indexer is further behind than the chain allows, or can't say how far it is.
func (c *Chain) Behind() bool {
	lag, known := c.Lag()
	return !known || lag > c.MaxLag
}

// Unread says whether the indexer has only just started and read no block.
func (c *Chain) Unread() bool {
	_, known := c.Lag()
	return !known && c.State.Phase == chainconfig.PhaseStarting
}

// Facts are everything on which it depends whether a venue is open on a chain.
type Facts struct {
	Venue    string
	Protocol chainconfig.VenueProtocol
	// Refused says why the venue isn't accepted; empty when it is.
	Refused string
	On      v1alpha1.VenueChain
	// Before is what was decided last, or nil.
	Before *v1alpha1.VenueChainStatus
	// Taken has the contracts of the venue on the chain that another venue has, with the other venue's name.
	Taken map[market.Address]string
	// Chain is nil where there is none of the name.
	Chain *Chain
}

// check is one thing that must be so. fails gives the reason that people read, empty when all is well: it has no figure that
// changes with time, so that a status isn't written again and again.
type check struct {
	reason string
	fails  func(f *Facts) string
}

// The checks are in order: each may take for granted what those before it say. The declared ones need no indexer.
var declared = []check{
	{v1alpha1.ReasonWantedClosed, func(f *Facts) string {
		if f.On.WantedState == v1alpha1.VenueClosed {
			return "it is wanted closed: write wantedState: Open to open it"
		}
		return ""
	}},
	{v1alpha1.ReasonVenueNotAccepted, func(f *Facts) string { return f.Refused }},
	{v1alpha1.ReasonChainNotFound, func(f *Facts) string {
		if f.Chain == nil {
			return fmt.Sprintf("the namespace has no Chain of the name %s: apply one, or correct spec.chains", f.On.Chain)
		}
		return ""
	}},
	{v1alpha1.ReasonChainNotAccepted, func(f *Facts) string { return f.Chain.Refused }},
	{v1alpha1.ReasonWrongFamily, func(f *Facts) string {
		if family := f.Protocol.Family(); family != f.Chain.Family {
			return fmt.Sprintf("protocol %s is of family %s, Chain %s is of family %s: take the chain out of spec.chains", f.Protocol,
				family, f.Chain.Name, f.Chain.Family)
		}
		return ""
	}},
	{v1alpha1.ReasonChainSuspended, func(f *Facts) string {
		if f.Chain.Suspended {
			return fmt.Sprintf("Chain %s is suspended: drop its spec.suspend", f.Chain.Name)
		}
		return ""
	}},
	{v1alpha1.ReasonNoContracts, func(f *Facts) string {
		if len(f.On.Contracts)+len(f.On.ProgramAccounts) == 0 {
			return "no contract is declared: write the venue's contracts (programAccounts on Solana) under spec.chains"
		}
		return ""
	}},
	{v1alpha1.ReasonDuplicateContract, func(f *Facts) string {
		var taken []string
		for a, name := range f.Taken {
			taken = append(taken, fmt.Sprintf("%s is declared by LaunchVenue %s, which was there first", a, name))
		}
		if len(taken) == 0 {
			return ""
		}
		slices.Sort(taken)
		return strings.Join(taken, "; ") + ": take it out of one of the two"
	}},
}

var observed = []check{
	{v1alpha1.ReasonIndexerDown, func(f *Facts) string {
		if f.Chain.Down() {
			return fmt.Sprintf("the indexer of Chain %s doesn't answer: `kubectl describe chain %s` says more", f.Chain.Name, f.Chain.Name)
		}
		return ""
	}},
	{v1alpha1.ReasonIndexerHalted, func(f *Facts) string {
		if f.Chain.State.Phase == chainconfig.PhaseHalted {
			return f.Chain.State.Message
		}
		return ""
	}},
	{v1alpha1.ReasonIndexerOutdated, func(f *Facts) string {
		if v, known := f.Chain.State.Venue(f.Venue); !known || !slices.Equal(v.Contracts, resolve.Contracts(&f.On)) {
			return fmt.Sprintf("the indexer of Chain %s is about to learn of the venue, or of its contracts", f.Chain.Name)
		}
		return ""
	}},
	{v1alpha1.ReasonIndexerStarting, func(f *Facts) string {
		if f.Chain.Unread() {
			return fmt.Sprintf("the indexer of Chain %s hasn't read a block yet", f.Chain.Name)
		}
		return ""
	}},
	{v1alpha1.ReasonIndexerBehind, func(f *Facts) string {
		if f.Chain.Behind() {
			return fmt.Sprintf("the indexer is more than %s behind the chain, or hasn't read a block yet", f.Chain.MaxLag)
		}
		return ""
	}},
	{v1alpha1.ReasonContractUnknown, func(f *Facts) string {
		switch v, _ := f.Chain.State.Venue(f.Venue); {
		case !v.Checked:
			return "the chain's nodes haven't told yet whether the contracts are there"
		case len(v.Missing) > 0:
			return "there is no contract at " + strings.Join(v.Missing, ", ")
		}
		return ""
	}},
	{v1alpha1.ReasonContractPaused, func(f *Facts) string {
		if v, _ := f.Chain.State.Venue(f.Venue); len(v.Paused) > 0 {
			return "paused: " + strings.Join(v.Paused, ", ")
		}
		return ""
	}},
}

// Decide says whether the venue is open on the chain: closed with the reason of the first check that fails.
func Decide(f Facts) (state v1alpha1.VenueState, reason, message string) {
	if reason, message = first(declared, &f); reason != "" {
		return v1alpha1.VenueClosed, reason, message
	}
	if f.Chain.State == nil && !f.Chain.Asked {
		return f.undecided()
	}
	if reason, message = first(observed, &f); reason != "" {
		return v1alpha1.VenueClosed, reason, message
	}
	return v1alpha1.VenueOpen, v1alpha1.ReasonOpen, ""
}

// undecided is what stands while the indexer hadn't time to answer: what was seen of it last, if anything was.
func (f *Facts) undecided() (state v1alpha1.VenueState, reason, message string) {
	seen := func(c check) bool { return c.reason == f.Before.Reason }
	if f.Before != nil && (f.Before.State == v1alpha1.VenueOpen || slices.ContainsFunc(observed, seen)) {
		return f.Before.State, f.Before.Reason, f.Before.Message
	}
	return v1alpha1.VenueClosed, v1alpha1.ReasonIndexerStarting, fmt.Sprintf("the indexer of Chain %s hasn't answered yet", f.Chain.Name)
}

func first(checks []check, f *Facts) (reason, message string) {
	for _, c := range checks {
		if why := c.fails(f); why != "" {
			return c.reason, why
		}
	}
	return "", ""
}
