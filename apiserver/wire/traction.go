package wire

import (
	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/traction"
)

// TractionOf is a score with its parts; noHolders is why the holders are unknown, empty where they aren't. knowsMembers is false where nobody knows who is in the token.
func TractionOf(p *traction.Parts, score float64, noHolders contract.UnknownReason, knowsMembers bool) contract.Traction {
	out := contract.Traction{
		Score: score,
		Parts: contract.TractionParts{
			Buyers: Number(&p.Buyers), VolumeUSD: Number(&p.VolumeUSD), LiquidityUSD: Number(&p.LiquidityUSD), AgeS: new(int64(p.AgeS)),
			Wash: Number(&p.Wash), Concentration: Number(&p.Concentration),
			UnknownReasons: contract.UnknownReasons{},
		},
		UnknownReasons: contract.UnknownReasons{},
	}
	if noHolders == "" {
		out.Parts.NewHolders = Number(&p.NewHolders)
	} else {
		out.Parts.UnknownReasons["new_holders"] = noHolders
	}
	if p.KnowsFunding {
		out.Parts.Clusters = new(p.Clusters)
		out.Parts.FreshSharePct, out.Parts.FundedByCreatorPct = percent(p.Fresh), percent(p.ByCreator)
	} else {
		for _, part := range []string{"clusters", "fresh_share_pct", "funded_by_creator_pct"} {
			out.Parts.UnknownReasons[part] = contract.UnknownReasonUnavailable
		}
	}
	if knowsMembers {
		out.Parts.Members = new(int(p.Members))
	} else {
		out.Parts.UnknownReasons["members"] = contract.UnknownReasonUnavailable
	}
	return out
}

// percent is a share of 0 to 1 as a number of 0 to 100.
func percent(share float64) *float64 { return Number(new(100 * share)) }

// UnknownHolders is why a token's holders are unknown; empty where they are known.
func UnknownHolders(known, stale bool, status market.HolderStatus) contract.UnknownReason {
	switch {
	case known:
		return ""
	case stale:
		return contract.UnknownReasonStale
	case status == market.HoldersIndexing:
		return contract.UnknownReasonIndexing
	default:
		return contract.UnknownReasonUnavailable
	}
}
