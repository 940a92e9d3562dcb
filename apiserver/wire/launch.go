package wire

import (
	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/read/boards"
	"github.com/boardwalkhq/boardwalk/apiserver/read/declared"
	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
	"github.com/boardwalkhq/boardwalk/apiserver/read/tokenmembers"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// CurveState is the source of what a bonding curve tells.
const CurveState contract.FigureSource = "curve_state"

// LiquiditySource is where the figure of a token's liquidity comes from: its curve, unless a pool adds to it.
func LiquiditySource(f figures.Figures) contract.FigureSource {
	if f.OnCurvesAlone {
		return CurveState
	}
	return "pool_reserves"
}

// LaunchpadOf gives the name by which a card calls a venue.
func LaunchpadOf(v declared.Venue) string { return declared.Launchpad(v.Venue) }

// uncounted are the members who hold a token while nobody counts them.
func uncounted() contract.FamilyHolders {
	return contract.FamilyHolders{Handles: []string{}, UnknownReasons: contract.UnknownReasons{"count": contract.UnknownReasonUnavailable}}
}

// MostCardHandles is how many members a launch's card names.
const MostCardHandles = 5

// MembersOf are the members who are in a token, up to some handles. They are uncounted while no member is known.
func MembersOf(x *tokenmembers.Index, chain string, mint market.Address, most int) contract.FamilyHolders {
	if !x.IsKnown(chain) {
		return uncounted()
	}
	in := x.In(chain, mint, most)
	out := contract.FamilyHolders{Count: &in.Count, Handles: []string{}, UnknownReasons: contract.UnknownReasons{}}
	for _, m := range in.First {
		out.Handles = append(out.Handles, m.Handle)
	}
	return out
}

// Graduation says how far a launched token is. A token that was launched in a live pool began where others graduate to.
func Graduation(l *boards.Launched) contract.Graduation {
	out := contract.Graduation{State: contract.GraduationState(l.State()), UnknownReasons: contract.UnknownReasons{}}
	none := contract.UnknownReasonNotApplicable
	if l.State() == market.LaunchGraduated {
		none = contract.UnknownReasonUnavailable
	}
	if l.GraduatedAt > 0 {
		out.At = new(Timestamp(l.GraduatedAt))
	} else {
		out.UnknownReasons["at"] = none
	}
	switch {
	case !l.Pool.IsNone():
		out.Pool = new(l.Pool.String())
	case l.State() == market.LaunchLive:
		out.UnknownReasons["pool"] = contract.UnknownReasonUnavailable
	default:
		out.UnknownReasons["pool"] = none
	}
	return out
}

// LaunchFeeUSD is what the platform takes for a launch.
const LaunchFeeUSD = 0
