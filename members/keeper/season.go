package keeper

import (
	"context"
	"math"

	"github.com/boardwalkhq/boardwalk/internal/game"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/social"
)

// closeSeasons closes the seasons that are over on all chains. Everything that the chains have by now was taken in.
func (k *Keeper) closeSeasons(ctx context.Context, l *social.Lease, chains []store.ChainStatus) error {
	this := k.week()
	if k.state.Season == math.MinInt64 { // nothing was closed yet
		first, ok, err := k.Store.Social.FirstGameDay(ctx)
		if err != nil {
			return err
		}
		if k.state.Season = this - 1; ok {
			k.state.Season = min(game.WeekOf(first), this) - 1
		}
	}
	for week := k.state.Season + 1; week < this; week++ {
		if !k.isOver(week, chains) {
			return nil
		}
		if err := k.closeSeason(ctx, l, week); err != nil {
			return err
		}
	}
	return nil
}

// isOver reports whether nothing more comes of a week: the final blocks of all chains are behind it, or it is long over.
func (k *Keeper) isOver(week int64, chains []store.ChainStatus) bool {
	end := game.Opens(game.FirstDay(week + 1))
	if k.Now().Unix() >= end+silentFor {
		return true
	}
	for i := range chains {
		if min(chains[i].Head.FinalTime, chains[i].Last.Time) < end {
			return false
		}
	}
	return true
}

func (k *Keeper) closeSeason(ctx context.Context, l *social.Lease, week int64) error {
	scores, err := k.Store.Social.SeasonScores(ctx, week, game.MostPlaces)
	if err != nil {
		return err
	}
	places := make(map[member.Number]game.Place, len(scores))
	place := 0
	for i, s := range scores {
		if i == 0 || s.XP < scores[i-1].XP {
			place = i + 1
		}
		places[s.Member] = game.Place{Week: week, Place: place, Score: s.XP}
	}
	next := cloneOf(k.state)
	next.Season = week
	if err := k.Store.Social.CloseSeason(ctx, l, week, places, next); err != nil {
		return err
	}
	k.state, k.saved = next, cloneOf(next)
	k.Log.InfoContext(ctx, "a season is closed", "season", game.WeekID(week), "places", len(places))
	return k.standPlaced(ctx, l, week)
}

// standPlaced adds the places of a season to what the members with a place have come to.
func (k *Keeper) standPlaced(ctx context.Context, l *social.Lease, week int64) error {
	members, err := k.Store.Social.PlacedIn(ctx, week)
	if err != nil {
		return err
	}
	return k.stand(ctx, l, members, k.state, false)
}
