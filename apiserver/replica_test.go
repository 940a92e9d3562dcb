package apiserver_test

import (
	"errors"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// commitPrice commits a block to base, on which the token's pool has a price in its quote.
func commitPrice(t *testing.T, st *store.Store, number uint64, price float64) {
	t.Helper()
	var l *store.Lease
	for l == nil {
		var err error
		if l, err = st.Leases.Acquire(t.Context(), "base", "test", time.Minute); err != nil && !errors.Is(err, store.ErrInterrupted) {
			t.Fatal(err)
		}
	}
	at := blockTime(number)
	h := market.Header{Number: number, Hash: market.Hash{byte(number)}, Parent: market.Hash{byte(number - 1)}, Time: at}
	c := &store.Commit{
		Last: h, Blocks: []market.Header{h},
		Head: store.HeadStatus{Number: number, Time: at, Safe: 90, Final: 80, FinalTime: at - 60, SilentFrom: at + 12},
	}
	if price > 0 {
		pool := seededPool(t)
		pool.Price, pool.LastTradeAt = price, at
		c.Changes.Pools = append(c.Changes.Pools, set(pool.ID, pool))
	}
	if err := st.Commit(t.Context(), l, c); err != nil {
		t.Fatal(err)
	}
}

// livePrice is the price of the token on base in the live list.
func livePrice(t *testing.T, c *client) *float64 {
	t.Helper()
	for _, one := range get[contract.MarketLive](t, c, "/api/market/live?chain=base").Tokens {
		if one.Chain == "base" && one.Mint == token {
			return one.Price
		}
	}
	return nil
}

// TestAFailoverThatLosesCommits shows what was indexed after it, though the commits of the new primary have numbers that were seen.
func TestAFailoverThatLosesCommits(t *testing.T) {
	t.Parallel()
	p := storetest.NewPair(t)
	primary, err := store.Open(t.Context(), p.DSN)
	if err != nil {
		t.Fatal(err)
	}
	fill(t, primary)
	reader, err := store.OpenReader(t.Context(), p.DSN)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = reader.Close() })
	c := start(t, reader)
	p.Lag()
	commitPrice(t, primary, 101, 0.003)
	commitPrice(t, primary, 102, 0)
	eventually(t, "the price of block 101 is told", func() bool { return near(livePrice(t, c), 6) })
	eventually(t, "block 102 is seen", func() bool {
		return get[contract.Heartbeat](t, c, "/api/status/heartbeat").AsOf.Unix() == blockTime(102)
	})
	if err := primary.Close(); err != nil {
		t.Fatal(err)
	}
	p.FailOverAfter(func(dsn string) {
		st := storetest.OpenAt(t, dsn)
		commitPrice(t, st, 101, 0.005)
		commitPrice(t, st, 102, 0)
		commitPrice(t, st, 103, 0)
	})
	eventually(t, "block 103 is seen", func() bool {
		return get[contract.Heartbeat](t, c, "/api/status/heartbeat").AsOf.Unix() == blockTime(103)
	})
	eventually(t, "the price that the new primary has is told", func() bool { return near(livePrice(t, c), 10) })
}

// TestAReplicaThatLagsIsStale: a standby that is cut off is told as one whose chains stand still, while the primary's own readers go on.
func TestAReplicaThatLagsIsStale(t *testing.T) {
	t.Parallel()
	p := storetest.NewPair(t)
	primary := storetest.OpenAt(t, p.DSN)
	fill(t, primary)
	p.Follow()
	of := func(dsn string) (*client, *stopwatch) {
		st, err := store.OpenReader(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = st.Close() })
		o, watch := options(t, st), &stopwatch{now: clock}
		o.Now = watch.read
		return startWith(t, o), watch
	}
	standby, hisWatch := of(p.Standby())
	direct, herWatch := of(p.DSN)
	const info = "/api/token/info/" + token + "?chain=base"
	for name, c := range map[string]*client{"the standby": standby, "the primary": direct} {
		if i := get[contract.TokenInfo](t, c, info); i.Stale || !near(i.Price, 2) {
			t.Errorf("%s: %+v", name, i)
		}
	}
	commitPrice(t, primary, 101, 0.003)
	eventually(t, "the standby's reader tells the price of block 101, without a hint", func() bool { return near(livePrice(t, standby), 6) })
	p.Lag()
	commitPrice(t, primary, 300, 0.005)
	const later = 400 * time.Second
	hisWatch.pass(later)
	herWatch.pass(later)
	eventually(t, "the primary's reader tells the price of block 300", func() bool { return near(livePrice(t, direct), 10) })
	lag := func(c *client) (seconds float64, stale bool) {
		for _, one := range get[contract.Heartbeat](t, c, "/api/status/heartbeat").Chains {
			if one.ID == "base" {
				return *one.HeadLagS, one.UnknownReasons["head_lag_s"] == contract.UnknownReasonStale
			}
		}
		t.Fatal("the heartbeat has no base")
		return 0, false
	}
	eventually(t, "the primary's reader isn't behind", func() bool { // a price may be told a moment before the figures of the whole chain are
		s, stale := lag(direct)
		return s == 0 && !stale
	})
	eventually(t, "the lag of the standby is told", func() bool {
		s, stale := lag(standby)
		return stale && s >= 390
	})
	if i := get[contract.TokenInfo](t, standby, info); !i.Stale || !near(i.Price, 6) {
		t.Errorf("the token is told without a word about its age: %+v", i)
	}
	if i := get[contract.TokenInfo](t, direct, info); i.Stale || !near(i.Price, 10) {
		t.Errorf("by the primary the token is %+v", i)
	}
}
