package httpapi

import (
	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/traction"
)

// tractionOf is a score with its parts; noHolders is why the holders are unknown, empty where they aren't.
func tractionOf(p *traction.Parts, score float64, noHolders contract.UnknownReason) contract.Traction {
	out := contract.Traction{
		Score: score,
		Parts: contract.TractionParts{
			Buyers: number(&p.Buyers), VolumeUSD: number(&p.VolumeUSD), LiquidityUSD: number(&p.LiquidityUSD), AgeS: new(int64(p.AgeS)),
			Wash: number(&p.Wash), Concentration: number(&p.Concentration),
			UnknownReasons: contract.UnknownReasons{"members": contract.UnknownReasonUnavailable},
		},
		UnknownReasons: contract.UnknownReasons{},
	}
	if noHolders == "" {
		out.Parts.NewHolders = number(&p.NewHolders)
	} else {
		out.Parts.UnknownReasons["new_holders"] = noHolders
	}
	return out
}

// unknownHolders is why a token's holders are unknown; empty where they are known.
func unknownHolders(known, stale bool, status market.HolderStatus) contract.UnknownReason {
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
