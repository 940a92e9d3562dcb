package wire

import (
	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/traction"
)

// TractionOf is a score with its parts; noHolders is why the holders are unknown, empty where they aren't.
func TractionOf(p *traction.Parts, score float64, noHolders contract.UnknownReason) contract.Traction {
	out := contract.Traction{
		Score: score,
		Parts: contract.TractionParts{
			Buyers: Number(&p.Buyers), VolumeUSD: Number(&p.VolumeUSD), LiquidityUSD: Number(&p.LiquidityUSD), AgeS: new(int64(p.AgeS)),
			Wash: Number(&p.Wash), Concentration: Number(&p.Concentration),
			UnknownReasons: contract.UnknownReasons{"members": contract.UnknownReasonUnavailable},
		},
		UnknownReasons: contract.UnknownReasons{},
	}
	if noHolders == "" {
		out.Parts.NewHolders = Number(&p.NewHolders)
	} else {
		out.Parts.UnknownReasons["new_holders"] = noHolders
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
