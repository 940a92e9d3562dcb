package apiserver_test

import (
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/sharecard"
)

// TestBoardSaysThatAChainStandsStill: an order that shows launches of a chain that stands still says so, whatever the other chains do. Running
// and Trending leave out such a chain, so what they show is fresh.
func TestBoardSaysThatAChainStandsStill(t *testing.T) {
	t.Parallel()
	st := seeded(t, "sqlite")
	mintCoins(t, st, "base", 101, good(1, "Halted"), good(2, "Moved").with(func(c *coin) {
		c.state, c.progress, c.graduatedAgo, c.ago = market.LaunchGraduated, 100, 500, 5000
	}))
	mintCoins(t, st, "bsc", 101, good(3, "Live"))
	o := options(t, st)
	var ahead atomic.Int64 // seconds
	o.Now = func() time.Time { return clock.Add(time.Duration(ahead.Load()) * time.Second) }
	c := startWith(t, o)
	for _, sort := range []string{"running", "new", "trending", "progress", "graduated"} {
		if cards(t, c, "sort="+sort).Stale {
			t.Errorf("%s is stale while all chains go on", sort)
		}
	}
	halt(t, st, "base")
	eventually(t, "the holders of the halted chain are stale", func() bool {
		return boardCard(t, cards(t, c, "sort=new"), 1).HoldersSource == contract.HoldersSourceStale
	})
	for query, want := range map[string]bool{
		"sort=running": false, "sort=trending": false, "sort=new": true, "sort=progress": true, "sort=graduated": true,
		"sort=new&chain=bsc": false, "sort=new&chain=base": true, "sort=running&chain=base": true,
	} {
		if page := cards(t, c, query); page.Stale != want {
			t.Errorf("%s with the launches %v is stale: %v, want %v", query, numbers(page), page.Stale, want)
		}
	}
}

// TestStaleHoldersOnACard: a count of holders that is too old to show isn't one that nobody has made yet.
func TestStaleHoldersOnACard(t *testing.T) {
	t.Parallel()
	st := seeded(t, "sqlite")
	mintCoins(t, st, "base", 101, good(1, "Otter"), good(2, "Reading").with(func(c *coin) { c.holders, c.status = 0, market.HoldersIndexing }))
	c, e, ahead := drawing(t, st)
	target := func(n int) string {
		return "/api/pnl-card/launch/" + (&coin{n: n}).mint() + ".png?chain=base&n=" + strconv.Itoa(e.count())
	}
	if drawn := draw[*sharecard.Launch](t, c, e, target(2)); drawn.Holders != nil || asJSON(t, drawn)["holders_source"] != "indexing" {
		t.Errorf("while holders are read the card has %v, because of %v", drawn.Holders, asJSON(t, drawn)["holders_source"])
	}
	halt(t, st, "base")
	ahead(2 * time.Minute) // past what is remembered of the token and of the card
	var drawn *sharecard.Launch
	eventually(t, "the card is drawn without its holders", func() bool {
		ahead(time.Second)
		drawn = draw[*sharecard.Launch](t, c, e, target(1))
		return drawn.Holders == nil
	})
	if got := asJSON(t, drawn)["holders_source"]; got != "stale" {
		t.Errorf("of a chain that stands still the card's holders are unknown because of %v, want stale", got)
	}
}
