package boards

import (
	"cmp"
	"unique"

	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Launched is what the board keeps of a launch. It is never changed.
type Launched struct {
	Mint, Creator market.Address
	Pool          market.Address // none while unknown
	curve         market.Address
	// HasCurve is false for a live pool; then so is HasProgress.
	HasCurve, HasProgress bool
	logIndex              uint64
	block                 uint64
	kind                  unique.Handle[launchKind]
	// Name and Symbol are those of the announcement, empty where it has none.
	Name, Symbol           string
	CreatedAt, GraduatedAt int64   // unix seconds; 0 before it graduated
	CompletedAt            int64   // unix seconds; 0 before its curve was full
	Progress               float64 // in percent
	// Raised and Target are in the smallest unit of what the curve takes; Target is 0 while unknown.
	Raised, Target market.Amount
}

// launchKind is what very many launches have in common.
type launchKind struct {
	venue string
	state market.LaunchState
	basis market.ProgressBasis
}

// NewLaunched takes what the board keeps.
func NewLaunched(l *market.Launch) *Launched {
	return &Launched{
		Mint: l.Mint, Creator: l.Creator, kind: unique.Make(launchKind{l.Venue, l.State, l.Rules.Basis}), Name: l.Name, Symbol: l.Symbol, block: l.Block, logIndex: l.LogIndex,
		CreatedAt: l.CreatedAt, HasCurve: !l.Curve.IsNone(), curve: l.Curve,
		GraduatedAt: l.GraduatedAt, CompletedAt: l.CompletedAt, Pool: l.Pool,
		Progress: l.Progress, HasProgress: l.HasProgress, Raised: l.Reserves.RealQuote, Target: l.TargetQuote,
	}
}

// Venue is the id of the venue that it was launched at.
func (l *Launched) Venue() string { return l.kind.Value().venue }

// State says how far the launch is.
func (l *Launched) State() market.LaunchState { return l.kind.Value().state }

// Basis is what its progress counts.
func (l *Launched) Basis() market.ProgressBasis { return l.kind.Value().basis }

// moveTo changes the launch's venue.
func (l *Launched) moveTo(venue string) {
	k := l.kind.Value()
	k.venue = venue
	l.kind = unique.Make(k)
}

// onCurve reports whether the token is on a bonding curve still, full or not.
func (l *Launched) onCurve() bool {
	state := l.State()
	return state == market.LaunchOnCurve || state == market.LaunchCompleted
}

// compare orders the launches of a chain, the oldest first.
func (l *Launched) compare(o *Launched) int {
	return cmp.Or(cmp.Compare(l.CreatedAt, o.CreatedAt), cmp.Compare(l.block, o.block), cmp.Compare(l.logIndex, o.logIndex))
}

// namesOf are a launch's own names, or else its token's.
func namesOf(l *Launched, f *figures.Facts) (name, symbol string) {
	name, symbol = l.Name, l.Symbol
	if f != nil {
		name, symbol = cmp.Or(name, f.Name), cmp.Or(symbol, f.Symbol)
	}
	return name, symbol
}
