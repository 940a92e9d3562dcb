package apiserver_test

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
)

// TestClonesFoldOverAllChains launches one name on two chains: New shows the older one alone, on whichever chain it is, and
// counts the other. What comes late or is taken back by a reorg is folded as if it had been so from the first.
func TestClonesFoldOverAllChains(t *testing.T) {
	t.Parallel()
	st := seeded(t, "sqlite")
	aged := func(n int, name, symbol string, ago int64) coin {
		return good(n, name).with(func(c *coin) { c.symbol, c.ago = symbol, ago })
	}
	mintCoins(t, st, "base", 101, aged(1, "Otter", "OTT", 3000), aged(2, "\u200b\u2060", "AA", 2000))
	mintCoins(t, st, "bsc", 101, aged(3, "ÓTTER", "OTR", 1000), aged(4, " \u0301", "BB", 900), aged(5, "Heron", "$ott", 800), aged(6, "Swan", "SWAN", 700))
	mintCoins(t, st, "base", 102, aged(7, "Goose", "swan", 600))
	o := options(t, st)
	var ahead atomic.Int64 // seconds
	o.Now = func() time.Time { return clock.Add(time.Duration(ahead.Load()) * time.Second) }
	c := startWith(t, o)
	listed := func(query string, want ...int) func() bool {
		return func() bool { return slices.Equal(numbers(cards(t, c, "sort=new"+query)), want) }
	}
	clones := func(b contract.LaunchBoard, n int) int { return *boardCard(t, b, n).Clones }

	page := cards(t, c, "sort=new")
	if got := numbers(page); !slices.Equal(got, []int{6, 2, 1}) {
		t.Fatalf("new lists %v; want 6, 2 and 1, which the others are clones of", got)
	}
	if clones(page, 1) != 2 || clones(page, 2) != 1 || clones(page, 6) != 1 {
		t.Errorf("the clones are counted %d, %d and %d; want 2, 1 and 1", clones(page, 1), clones(page, 2), clones(page, 6))
	}
	if !listed("&chain=bsc", 6)() || !listed("&chain=base", 2, 1)() {
		t.Errorf("of each chain new lists %v and %v", numbers(cards(t, c, "sort=new&chain=bsc")), numbers(cards(t, c, "sort=new&chain=base")))
	}
	if all := numbers(cards(t, c, "sort=trending")); len(all) != 7 {
		t.Errorf("another sort lists %v; want all seven", all)
	}

	// An older one that comes late is the head of both.
	mintCoins(t, st, "bsc", 102, aged(8, "otter", "LATE", 4000))
	eventually(t, "the oldest is the head", func() bool {
		rankAgain(t, c, &ahead)
		page := cards(t, c, "sort=new")
		return slices.Equal(numbers(page), []int{6, 5, 2, 8}) && clones(page, 8) == 2
	})

	// A reorg takes the heads of one chain back.
	l, err := st.Leases.Acquire(t.Context(), "base", "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := st.Rewind(t.Context(), l, 100); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the clones that are left have heads of their own chain", func() bool {
		rankAgain(t, c, &ahead)
		page := cards(t, c, "sort=new")
		return slices.Equal(numbers(page), []int{6, 5, 4, 8}) && clones(page, 8) == 1 && clones(page, 6) == 0
	})
}

// TestOneAddressOnTwoChains finds a token that was launched at one address and under one name on two chains: they are two launches,
// and the younger one is a clone.
func TestOneAddressOnTwoChains(t *testing.T) {
	t.Parallel()
	st := seeded(t, "sqlite")
	twin := good(1, "Otter")
	mintCoins(t, st, "bsc", 101, twin)
	mintCoins(t, st, "base", 101, twin.with(func(c *coin) { c.ago = 1000 }))
	c := start(t, st)
	page := cards(t, c, "sort=new")
	if got := numbers(page); !slices.Equal(got, []int{1}) || page.Launches[slices.IndexFunc(page.Launches, func(l contract.LaunchCard) bool {
		return l.Mint == twin.mint()
	})].Chain != "bsc" || *boardCard(t, page, 1).Clones != 1 {
		t.Errorf("new lists %v of %+v", got, page.Launches)
	}
	if both := numbers(cards(t, c, "sort=trending")); len(both) != 2 {
		t.Errorf("trending lists %v; want it twice", both)
	}
}
