package keeper

import (
	"context"

	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/social"
)

const (
	hour = 60 * 60
	day  = 24 * hour
	week = 7 * day
	// monday is how far the first Monday of unix time is from its beginning, a Thursday.
	monday = 4 * day
	// bucketsAtOnce is how many buckets of a width one look closes.
	bucketsAtOnce = 10
)

// widths are those of the buckets that the API server's series have, in seconds, and for how long a closed one is kept; 0 is for ever.
var widths = []struct{ width, kept int64 }{{hour, 2 * day}, {6 * hour, 8 * day}, {day, 92 * day}, {week, 0}}

// closeBuckets keeps what all members together realised in stretches of time that no reorg reaches any more. They stay as they are when members leave.
func (k *Keeper) closeBuckets(ctx context.Context, l *social.Lease, chains []store.ChainStatus) error {
	ids := make([]string, len(chains))
	for i := range chains {
		ids[i] = chains[i].ID
	}
	for _, w := range widths {
		open, err := k.nextBucket(ctx, w.width, w.kept, ids)
		if err != nil {
			return err
		}
		var closed []social.ProfitBucket
		for len(chains) > 0 && len(closed) < bucketsAtOnce && open+w.width <= k.Now().Unix() && k.isOver(open+w.width, chains) {
			sums, err := k.Store.Wallets.SumHours(ctx, ids, open, open+w.width)
			if err != nil {
				return err
			}
			closed = append(closed, social.ProfitBucket{Width: w.width, OpenAt: open, HourSums: sums})
			open += w.width
		}
		if len(closed) == 0 {
			continue
		}
		oldest := int64(0)
		if w.kept > 0 {
			oldest = k.Now().Unix() - w.kept
		}
		if err := k.Store.Social.CloseProfitBuckets(ctx, l, w.width, oldest, closed); err != nil {
			return err
		}
		k.opens[w.width] = open
	}
	return nil
}

// nextBucket is when the first bucket of a width opens that isn't closed: after the last one that is, or else with the first hour in which a member did anything, and
// not before what is kept.
func (k *Keeper) nextBucket(ctx context.Context, width, kept int64, chains []string) (open int64, err error) {
	if known, ok := k.opens[width]; ok {
		return known, nil
	}
	last, ok, err := k.Store.Social.LastProfitBucket(ctx, width)
	if err != nil {
		return 0, err
	}
	now := k.Now().Unix()
	if ok {
		open = last + width
	} else {
		first, hasHours, err := k.Store.Wallets.FirstHour(ctx, chains)
		if err != nil {
			return 0, err
		}
		if open = now; hasHours {
			open = first
		}
	}
	if kept > 0 {
		open = max(open, now-kept)
	}
	open = opensAt(open, width)
	k.opens[width] = open
	return open, nil
}

// opensAt is when the bucket of a time opens.
func opensAt(t, width int64) int64 {
	if width == week {
		return t - (t-monday)%week
	}
	return t - t%width
}
