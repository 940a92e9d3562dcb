package keeper_test

import (
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store/social"
)

const (
	hour = 3600
	week = 7 * 24 * hour
)

func (w *world) buckets(t *testing.T, width int64) []social.ProfitBucket {
	t.Helper()
	list, err := w.store.Social.Profit.ProfitBuckets(t.Context(), width, 0, w.now)
	if err != nil {
		t.Fatal(err)
	}
	for i := 1; i < len(list); i++ {
		if list[i].OpenAt != list[i-1].OpenAt+width {
			t.Errorf("a bucket of %d s opens at %d, after one that opens at %d", width, list[i].OpenAt, list[i-1].OpenAt)
		}
	}
	for len(list) > 0 && list[0].Trades == 0 { // before anybody did anything
		list = list[1:]
	}
	return list
}

// looks has the keeper look until everything is closed that is over: one look closes some.
func (w *world) looks(t *testing.T) {
	t.Helper()
	for range 20 {
		w.look(t)
	}
}

// wantTraded wants so many closed buckets of a width, from the first one with trades on, which has the volume in USD and the trades.
func (w *world) wantTraded(t *testing.T, what string, width int64, buckets int, usd int64, trades int) {
	t.Helper()
	list := w.buckets(t, width)
	if len(list) != buckets || buckets > 0 && (list[0].Volume != market.NanoUSD(usd*1e9) || list[0].Trades != trades) {
		t.Errorf("%s: the buckets of %d s are %+v; want %d, the first with %d USD in %d trades", what, width, list, buckets, usd, trades)
	}
}

// TestBuckets: what members realised in a stretch of time is kept once the final blocks of all chains are behind it, and stays when a member leaves.
func TestBuckets(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		t.Helper()
		w.now = start + hour
		w.trade(t, w.chains[0], wallets[0], 0, 5)
		w.trade(t, w.chains[1], wallets[2], 0, 5)
		w.looks(t)
		w.now = start + 2*hour
		w.idle(t, w.chains[0], w.chains[1])
		w.looks(t)
		w.wantTraded(t, "while one chain isn't behind it", hour, 0, 0, 0)
		w.idle(t, w.chains[2])
		w.looks(t)
		w.wantTraded(t, "when all are", hour, 1, 10, 2)
		w.wantTraded(t, "of the others none is over", 6*hour, 0, 0, 0)

		w.apply(t, member.Record{ID: "u1", Deleted: true, UpdatedAt: 2})
		w.now += hour
		if _, err := w.store.Social.Upkeep.Clean(t.Context(), w.now+1); err != nil {
			t.Fatal(err)
		}
		w.chains[0].Forget(t, wallets[0])
		w.restart()
		w.idle(t, w.chains...)
		w.looks(t)
		w.wantTraded(t, "after a member has left", hour, 2, 10, 2)

		w.now = start + 6*hour
		w.idle(t, w.chains...)
		w.looks(t)
		w.wantTraded(t, "of a time that was open when they left, by its hours", 6*hour, 1, 10, 2)

		for w.now < start+10*24*hour {
			w.now += 24 * hour
			w.idle(t, w.chains...)
			w.looks(t)
		}
		w.wantTraded(t, "of a week", week, 2, 10, 2)
		w.wantTraded(t, "of a day", 24*hour, 10, 10, 2)
		if list, err := w.store.Social.Profit.ProfitBuckets(t.Context(), hour, 0, w.now); err != nil || len(list) != 9*24 {
			t.Errorf("%d buckets of an hour are kept, %v", len(list), err)
		}
	})
}
