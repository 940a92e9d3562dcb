package indexer_test

import (
	"math"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

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
		st := storetest.Open(t, kind)
		stop := run(t, cfg, st, 0)
		w.await(t, st)
		w.trade(t, 2)
		w.await(t, st)
		stop()
		s, _, err := st.Chain(t.Context(), "base")
		if err != nil {
			t.Fatal(err)
		}
		oldest := s.Last.Time/3600*3600 - 24*3600
		kept := all[market.Trade](t)(st.ChainTrades(t.Context(), "base", 0, 0))
		if every := all[market.Trade](t)(whole.ChainTrades(t.Context(), "base", 0, 0)); len(kept) == 0 || kept[0].Time < oldest || every[0].Time >= oldest {
			t.Errorf("%s: of %d trades from %d on, those from %d on are kept; want from %d on", kind, len(every), every[0].Time, kept[0].Time, oldest)
		}
		for _, p := range pools(t, st) {
			for _, interval := range []int32{300, 3600, 86400} {
				before := all[market.Candle](t)(whole.Candles(t.Context(), "base", p.ID, interval, 0, math.MaxInt64))
				if now := all[market.Candle](t)(st.Candles(t.Context(), "base", p.ID, interval, 0, math.MaxInt64)); len(now) < len(before) {
					t.Errorf("%s: pool %s has %d candles of %d s, had %d", kind, p.ID, len(now), interval, len(before))
				}
			}
		}
	}
}
