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
	Venue                 string
	// Name and Symbol are those of the announcement, empty where it has none.
	Name, Symbol           string
	State                  market.LaunchState
	Basis                  market.ProgressBasis
	CreatedAt, GraduatedAt int64   // unix seconds; 0 before it graduated
	CompletedAt            int64   // unix seconds; 0 before its curve was full
	Progress               float64 // in percent
	// Raised and Target are in the smallest unit of what the curve takes; Target is 0 while unknown.
	Raised, Target market.Amount
}

// NewLaunched takes what the board keeps.
func NewLaunched(l *market.Launch) *Launched {
	return &Launched{
		Mint: l.Mint, Creator: l.Creator, Venue: one(l.Venue), Name: l.Name, Symbol: l.Symbol, block: l.Block, logIndex: l.LogIndex,
		CreatedAt: l.CreatedAt, HasCurve: !l.Curve.IsNone(), curve: l.Curve, State: market.LaunchState(one(string(l.State))),
		GraduatedAt: l.GraduatedAt, CompletedAt: l.CompletedAt, Pool: l.Pool, Basis: market.ProgressBasis(one(string(l.Rules.Basis))),
		Progress: l.Progress, HasProgress: l.HasProgress, Raised: l.Reserves.RealQuote, Target: l.TargetQuote,
	}
}

// one gives equal texts the same memory: a hundred thousand rows have a few.
func one(s string) string { return unique.Make(s).Value() }

// onCurve reports whether the token is on a bonding curve still, full or not.
func (l *Launched) onCurve() bool {
	return l.State == market.LaunchOnCurve || l.State == market.LaunchCompleted
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
