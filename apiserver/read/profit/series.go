package profit

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/recent"
	"github.com/boardwalkhq/boardwalk/internal/store/social"
)

const (
	// closedPoints bounds how many points are remembered that no reorg changes any more, and closedFor for how long: wallets may be forgotten, and another
	// index of a chain be served.
	closedPoints = 4096
	closedFor    = 10 * time.Minute
)

// Series is what all members together realised, bucket by bucket.
type Series struct {
	// Interval is the width of a bucket in seconds.
	Interval int64
	Points   []Point
}

// Point is what all members together realised in a bucket that opens at T, unix seconds.
type Point struct {
	T int64
	market.HourSums
	// IsFinal says that no reorg reaches the bucket any more, on any chain.
	IsFinal bool
}

// Span says which buckets a series has: all of one width, Interval in seconds, that open at From or later, up to the bucket that has To in it.
// Buckets of a week open on Mondays.
type Span struct {
	Interval, From, To int64
	// Final is the time up to which every chain is final.
	Final int64
}

// Series sums up what members realised on some chains. Buckets that the members program has closed are taken as they are: of all chains, whoever has left since.
// stale says that it is an old answer.
func (r *Reader) Series(ctx context.Context, chains []Chain, span Span) (s *Series, stale bool, err error) {
	key := fmt.Sprint("series ", span.Interval, span.From, keyOf(chains))
	return remembered(ctx, r, r.series, key, func(ctx context.Context) (*Series, error) {
		closed, err := r.buckets.ProfitBuckets(ctx, span.Interval, span.From, span.To+1)
		if err != nil {
			return nil, err
		}
		out := &Series{Interval: span.Interval}
		for t := span.From; t <= span.To; t += span.Interval {
			if i := slices.IndexFunc(closed, func(b social.ProfitBucket) bool { return b.OpenAt == t }); i >= 0 {
				out.Points = append(out.Points, Point{t, closed[i].HourSums, true})
				continue
			}
			p, err := r.point(ctx, chains, t, &span)
			if err != nil {
				return nil, err
			}
			out.Points = append(out.Points, p)
		}
		return out, nil
	})
}

// point gives the point of a bucket that can't change any more, remembered or added up from its hours.
func (r *Reader) point(ctx context.Context, chains []Chain, t int64, span *Span) (Point, error) {
	key := fmt.Sprint(t, span.Interval, keyOf(chains))
	if hit, ok := r.closed.Get(key); ok && r.now().Sub(hit.At) < closedFor {
		return hit.Value, nil
	}
	at := r.now()
	sums, err := r.wallets.SumHours(ctx, ids(chains), t, t+span.Interval)
	if err != nil {
		return Point{}, err
	}
	p := Point{t, sums, t+span.Interval <= span.Final}
	if p.IsFinal {
		r.closed.Put(key, recent.Dated[Point]{Value: p, At: at})
	}
	return p, nil
}

// FirstHour is the unix second at which the first hour opens in which a member's wallet did anything, or the first closed bucket, whose members may have left since;
// ok is false where there is neither.
func (r *Reader) FirstHour(ctx context.Context, chains []Chain) (open int64, ok bool, err error) {
	open, ok, err = r.wallets.FirstHour(ctx, ids(chains))
	if err != nil {
		return 0, false, err
	}
	closed, hasClosed, err := r.buckets.FirstProfitBucket(ctx, week)
	if hasClosed && (!ok || closed < open) {
		open, ok = closed, true
	}
	return open, ok, err
}

const week = 7 * 24 * hour
