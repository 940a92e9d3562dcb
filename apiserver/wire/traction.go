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
	if knowsMembers {
		out.Parts.Members = new(int(p.Members))
	} else {
		out.Parts.UnknownReasons["members"] = contract.UnknownReasonUnavailable
	}
	return out
}

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
