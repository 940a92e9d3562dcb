package wire

import (
	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/read/standings"
)

// GameRank is a rank of the members' game.
func GameRank(r standings.Rank) contract.GameRank {
	return contract.GameRank{ID: r.ID, Level: r.Level, Name: r.Name}
}
