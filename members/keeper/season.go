package keeper

import (
	"context"
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/game"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/social"
)

// closeSeasons closes the seasons that are over on all chains. Everything that the chains have by now was taken in.
func (k *Keeper) closeSeasons(ctx context.Context, l *social.Lease, chains []store.ChainStatus) error {
	if len(chains) == 0 {
		return nil
	}
	for week := k.state.Season + 1; week < k.week(); week++ {
		if !k.isOver(game.Opens(game.FirstDay(week+1)), chains) {
			return nil
		}
		if err := k.closeSeason(ctx, l, week); err != nil {
			return err
		}
	}
	return nil
}

// isOver reports whether nothing more comes from before a time, in unix seconds: the final blocks of all chains are behind it. A chain that has had no block for a
// day isn't waited for.
func (k *Keeper) isOver(end int64, chains []store.ChainStatus) bool {
	now := k.Now().Unix()
	for i := range chains {
		c := &chains[i]
		isStill := now >= c.Last.Time+silentFor && now >= k.seen[c.ID].since+stillFor
		if min(c.Head.FinalTime, c.Last.Time) < end && !isStill {
			return false
		}
	}
	return true
}

func (k *Keeper) closeSeason(ctx context.Context, l *social.Lease, week int64) error {
	scores, err := k.Store.Social.Game.SeasonScores(ctx, week, game.MostPlaces+1)
	if err != nil {
		return err
	}
	places := make(map[member.Number]game.Place, len(scores))
	for len(scores) > 0 { // those with equal scores have the last of their places
		n := slices.IndexFunc(scores, func(s social.Score) bool { return s.XP < scores[0].XP })
		if n < 0 {
			n = len(scores)
		}
		place := len(places) + n
		if place > game.MostPlaces {
			break
		}
		for _, s := range scores[:n] {
			places[s.Member] = game.Place{Week: week, Place: place, Score: s.XP}
		}
		scores = scores[n:]
	}
	next := cloneOf(k.state)
	next.Season = week
	if err := k.Store.Social.Game.CloseSeason(ctx, l, week, places, next); err != nil {
		return err
	}
	k.state, k.saved = next, cloneOf(next)
	k.Log.InfoContext(ctx, "a season is closed", "season", game.WeekID(week), "places", len(places))
	return k.standPlaced(ctx, l, week)
}

// standPlaced adds the places of a season to what the members with a place have come to.
func (k *Keeper) standPlaced(ctx context.Context, l *social.Lease, week int64) error {
	members, err := k.Store.Social.Game.PlacedIn(ctx, week)
	if err != nil {
		return err
	}
	return k.stand(ctx, l, members, k.state, false)
}
