package indexer_test

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// finalTime is the time of the newest block that the node calls final.
func (w *testWorld) finalTime(t *testing.T) int64 {
	t.Helper()
	var final struct{ Timestamp string }
	if err := w.node.Call(t.Context(), &final, "eth_getBlockByNumber", "finalized", false); err != nil {
		t.Fatal(err)
	}
	at, err := strconv.ParseInt(final.Timestamp, 0, 64)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// awaitPruned waits until an index keeps no trade of before the oldest time that its retention lets it keep, and gives that time.
func (w *testWorld) awaitPruned(t *testing.T, st *store.Store, keep time.Duration) (oldest int64) {
	t.Helper()
	oldest = w.finalTime(t)/3600*3600 - int64(keep.Seconds())
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		trades := all[market.Trade](t)(st.Inspect.Trades(t.Context(), "base", 0, 0))
		if len(trades) > 0 && trades[0].Time >= oldest {
			return oldest
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d trades are kept, some of them of before %d", len(trades), oldest)
		}
	}
}

// TestRetentionFollowsTheChainsTime keeps a day of trades and minutes, and everything wider; the 24 h window must not
// miss what it needs.
func TestRetentionFollowsTheChainsTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 150)
	cfg := w.config()
	cfg.Retention = chainconfig.Retention{
		Trades: chainconfig.Duration(24 * time.Hour), MinuteCandles: chainconfig.Duration(25 * time.Hour),
	}
	whole := storetest.Open(t, "sqlite")
	stop := run(t, w.config(), whole, 0)
	w.await(t, whole)
	stop()
	for _, kind := range storetest.Both {
		var c clock
		st := storetest.Open(t, kind)
		_, stop := startAt(t, &c, cfg, st)
		w.await(t, st)
		w.trade(t, 2)
		w.await(t, st)
		c.ahead.Add(int64(10 * time.Second)) // the final block is asked for again
		oldest := w.awaitPruned(t, st, 24*time.Hour)
		stop()
		every := all[market.Trade](t)(whole.Inspect.Trades(t.Context(), "base", 0, 0))
		first := slices.IndexFunc(every, func(x market.Trade) bool { return x.Time >= oldest })
		kept := all[market.Trade](t)(st.Inspect.Trades(t.Context(), "base", 0, 0))
		if first < 1 || kept[0] != every[first] {
			t.Errorf("%s: of %d trades from %d on, those from %d on are kept; want from %d on", kind, len(every), every[0].Time, kept[0].Time, oldest)
		}
		for _, p := range pools(t, st) {
			for _, interval := range []int32{300, 3600, 86400} {
				before := all[market.Candle](t)(whole.Inspect.Candles(t.Context(), "base", p.ID, interval, 0, math.MaxInt64))
				if now := all[market.Candle](t)(st.Inspect.Candles(t.Context(), "base", p.ID, interval, 0, math.MaxInt64)); len(now) < len(before) {
					t.Errorf("%s: pool %s has %d candles of %d s, had %d", kind, p.ID, len(now), interval, len(before))
				}
			}
		}
	}
}

// TestRetentionAfterFinality lets blocks that are older than what is kept become final while an index prunes, all within one hour. It has to
// keep what an index keeps that sees all of them final at once.
func TestRetentionAfterFinality(t *testing.T) {
	t.Parallel()
	const silence = 30 * time.Hour
	w := newWorld(t, 60)
	cfg := w.config()
	cfg.Retention = chainconfig.Retention{
		Trades: chainconfig.Duration(24 * time.Hour), MinuteCandles: chainconfig.Duration(25 * time.Hour),
	}
	var c clock
	c.ahead.Store(int64(silence + 2*time.Hour)) // for the blocks after the silence
	through := map[string]*store.Store{}
	for _, kind := range storetest.Both {
		through[kind] = storetest.Open(t, kind)
		_, stop := startAt(t, &c, cfg, through[kind])
		defer stop()
	}
	latest, err := w.node.Latest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// All blocks from here on are of one hour.
	next := latest.Timestamp.Add(silence).Truncate(time.Hour).Add(10 * time.Minute)
	if err := w.node.MineAt(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	const final = 64 // anvil calls a block final that is as many blocks back
	for range (final + 8) / 4 {
		w.trade(t, 4)
		c.ahead.Add(int64(10 * time.Second)) // the final block is asked for again
		for _, st := range through {
			w.await(t, st)
		}
	}
	fresh := storetest.Open(t, "sqlite")
	_, stop := startAt(t, &c, cfg, fresh)
	w.await(t, fresh)
	// The blocks before the silence are final, and all of them older than what is kept.
	if oldest := w.awaitPruned(t, fresh, 24*time.Hour); oldest < latest.Timestamp.Unix() {
		t.Fatal("blocks of before the silence needn't go: the test shows nothing")
	}
	stop()
	want := derivedRows(t, fresh)
	for kind, st := range through {
		t.Run(kind, func(t *testing.T) {
			w.awaitPruned(t, st, 24*time.Hour)
			w.compareTables(t, derivedRows(t, st), want, slices.Collect(maps.Keys(want))...)
		})
	}
}
