package indexer

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// TestCommitsAreTold: how many trades wait, how many waited in vain, by the reason, and what there is of members.
func TestCommitsAreTold(t *testing.T) {
	t.Parallel()
	r := prometheus.NewRegistry()
	m := NewMetrics(r)
	for range 2 {
		m.commit("base", market.Header{Number: 1}, &market.Changes{
			Dropped: market.DroppedTrades{OfPool: 1, OfChain: 2, Aged: 3}, Entries: make([]market.Entry, 4), Fees: []market.Fee{{AsDeclared: true, HasUSD: true}, {HasUSD: true}, {HasUSD: true}, {}},
		}, holds{7, 5}, time.Second)
	}
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, metric := range f.GetMetric() {
			reason := ""
			for _, l := range metric.GetLabel() {
				if l.GetName() == "reason" || l.GetName() == "amount" {
					reason = " " + l.GetValue()
				}
			}
			got[f.GetName()+reason] = metric.GetGauge().GetValue() + metric.GetCounter().GetValue()
		}
	}
	const dropped, fees = "boardwalk_waiting_trades_dropped_total ", "boardwalk_platform_fees_total "
	for name, want := range map[string]float64{
		"boardwalk_waiting_trades": 7, "boardwalk_watched_wallets": 5, "boardwalk_wallet_entries_total": 8, dropped + "pool": 2, dropped + "chain": 4, dropped + "age": 6,
		fees + "declared": 2, fees + "other": 4,
	} {
		if got[name] != want {
			t.Errorf("%s is %g, want %g", name, got[name], want)
		}
	}
}
