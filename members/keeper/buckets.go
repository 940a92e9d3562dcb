package keeper

import (
	"context"

	"github.com/boardwalkhq/boardwalk/internal/game"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/social"
)

const (
	hour = 60 * 60
	day  = 24 * hour
	week = 7 * day
	// bucketsAtOnce is how many buckets of a width one look closes.
	bucketsAtOnce = 10
	// firstEvery is the time between two looks for the first hour of a member, and after an error until the next one, in seconds.
	firstEvery = 60
)

// widths are those of the buckets that the API server's series have, in seconds, and for how long a closed one is kept; 0 is for ever. The wider ones are made of the
// hours.
var widths = []struct{ width, kept int64 }{{hour, 9 * day}, {6 * hour, 9 * day}, {day, 92 * day}, {week, 0}}

// closeBuckets keeps what all members together realised in stretches of time that no reorg reaches any more. They stay as they are when members leave.
func (k *Keeper) closeBuckets(ctx context.Context, l *social.Lease, chains []store.ChainStatus) error {
	now := k.Now().Unix()
	if len(chains) == 0 || now < k.bucketsAt {
		return nil
	}
	ids := make([]string, len(chains))
	for i := range chains {
		ids[i] = chains[i].ID
	}
	for _, w := range widths {
		if err := k.closeWidth(ctx, l, w.width, w.kept, chains, ids); err != nil {
			k.opens, k.bucketsAt = nil, now+firstEvery
			return err
		}
	}
	return nil
}

// closeWidth closes some buckets of a width. ids are the chains'.
func (k *Keeper) closeWidth(ctx context.Context, l *social.Lease, width, kept int64, chains []store.ChainStatus, ids []string) error {
	now := k.Now().Unix()
	isDue := func(open int64) bool { return open+width <= now && k.isOver(open+width, chains) }
	if known, ok := k.opens[width]; ok && !isDue(known) {
		return nil
	}
	open, ok, err := k.nextBucket(ctx, width, kept, ids) // as the database has it, which may have lost something
	if err != nil || !ok {
		return err
	}
	var closed []social.ProfitBucket
	for ; len(closed) < bucketsAtOnce && isDue(open); open += width {
		sums, err := k.sumBucket(ctx, open, width, ids)
		if err != nil {
			return err
		}
		closed = append(closed, social.ProfitBucket{Width: width, OpenAt: open, HourSums: sums})
	}
	if len(closed) == 0 {
		return nil
	}
	oldest := int64(0)
	if kept > 0 {
		oldest = now - kept
	}
	if err := k.Store.Social.Profit.CloseProfitBuckets(ctx, l, width, oldest, closed); err != nil {
		return err
	}
	if k.opens == nil {
		k.opens = map[int64]int64{}
	}
	k.opens[width] = open
	return nil
}

// sumBucket adds up a bucket: from the closed hours in it, where all of them are kept, so that it doesn't differ from them by what a member did who has left since.
// How many members there were is counted from those who are there still.
func (k *Keeper) sumBucket(ctx context.Context, open, width int64, chains []string) (sums market.HourSums, err error) {
	if sums, err = k.Store.Wallets.SumHours(ctx, chains, open, open+width); err != nil || width == hour {
		return sums, err
	}
	hours, err := k.Store.Social.Profit.ProfitBuckets(ctx, hour, open, open+width)
	if err != nil || int64(len(hours)) < width/hour {
		return sums, err
	}
	out := market.HourSums{Members: sums.Members}
	for i := range hours {
		h := &hours[i]
		out.Realised, out.Volume = out.Realised.Add(h.Realised), out.Volume.Add(h.Volume)
		out.Sales, out.Trades, out.Members = out.Sales+h.Sales, out.Trades+h.Trades, max(out.Members, h.Members)
	}
	return out, nil
}

// nextBucket is when the first bucket of a width opens that isn't closed: after the last one that is, or else with the first hour in which a member did anything, and
// not before what is kept. ok is false where no member has done anything yet.
func (k *Keeper) nextBucket(ctx context.Context, width, kept int64, chains []string) (open int64, ok bool, err error) {
	now := k.Now().Unix()
	last, ok, err := k.Store.Social.Profit.LastProfitBucket(ctx, width)
	if err != nil {
		return 0, false, err
	}
	if open = last + width; !ok {
		if now >= k.firstAt+firstEvery {
			first, hasHours, err := k.Store.Wallets.FirstHour(ctx, chains)
			if err != nil {
				return 0, false, err
			}
			if k.first, k.firstAt = 0, now; hasHours {
				k.first = first
			}
		}
		if k.first == 0 {
			return 0, false, nil
		}
		open = opensAt(k.first, week) // so that the week has all of its hours
	}
	if kept > 0 {
		open = max(open, now-kept)
	}
	return opensAt(open, width), true, nil
}

// opensAt is when the bucket of a time opens.
func opensAt(t, width int64) int64 {
	if width == week {
		return game.Opens(game.FirstDay(game.WeekOf(game.DateOf(t))))
	}
	return t - t%width
}
