package boards

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/read/declared"
	"github.com/boardwalkhq/boardwalk/apiserver/read/readtest"
	"github.com/boardwalkhq/boardwalk/internal/catalog"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
)

// headsOf are the launches that New shows, with how many clones each has.
func headsOf(r *Ranker) map[string]int {
	out := make(map[string]int)
	for id, b := range r.chains {
		for _, c := range b.venues {
			for _, row := range c.orders[SortNew] {
				e := c.entries[row.place]
				out[id+" "+e.mint.String()] = int(e.clones)
			}
		}
	}
	return out
}

// foldedByHand is what New should show: each launch is compared with all heads of the day before it. The names of tests differ in
// case and spaces alone.
func foldedByHand(r *Ranker) map[string]int {
	type launch struct {
		id, chain, name, symbol string
		*Launched
	}
	var all, heads []launch
	for id, b := range r.chains {
		for e := range b.index.all() {
			if e.listed {
				name, symbol := namesOf(e.launch, e.facts)
				all = append(all, launch{
					id + " " + e.mint.String(), id, strings.ToLower(strings.TrimSpace(name)), strings.ToLower(strings.TrimSpace(symbol)), e.launch,
				})
			}
		}
	}
	slices.SortFunc(all, func(a, b launch) int {
		return slices.Compare(
			[]string{fmt.Sprintf("%020d", a.CreatedAt), a.chain, fmt.Sprintf("%020d %020d", a.block, a.logIndex)},
			[]string{fmt.Sprintf("%020d", b.CreatedAt), b.chain, fmt.Sprintf("%020d %020d", b.block, b.logIndex)},
		)
	})
	out := make(map[string]int)
	for _, l := range all {
		i := slices.IndexFunc(heads, func(h launch) bool {
			return l.CreatedAt-h.CreatedAt < 24*3600 && (h.name == l.name || h.symbol == l.symbol)
		})
		if i >= 0 {
			out[heads[i].id]++
			continue
		}
		heads, out[l.id] = append(heads, l), 0
	}
	return out
}

// TestClonesBetweenRankings: the launches of two chains come one after the other, and are shown when they come. When a reorg or the
// catalogue takes heads away, their clones on other chains have new ones at once, without a ranking.
func TestClonesBetweenRankings(t *testing.T) {
	t.Parallel()
	w := readtest.New(t)
	v := follow(w, func() time.Time { return time.Unix(w.Now, 0) })
	launch := func(chain, name string, ago int64) {
		n := len(w.Mints[chain])
		mint := markettest.Address(fmt.Sprintf("0xa0%038x", n)) // the same ones on each chain
		w.Mints[chain] = append(w.Mints[chain], mint)
		w.Commit(chain, func(ch *market.Changes) {
			w.Set(ch, chain, mint, 1, readtest.Launch{
				Name: name, Symbol: name, Venue: "four-meme", State: market.LaunchOnCurve, Progress: 40, Locked: 5, Volume: 20_000, Holders: 60,
				CreatedAt: w.Now - ago, Buyers: 2,
			})
		})
	}
	shows := func(when string, want ...string) {
		t.Helper()
		for range 2 { // what a reorg left is read beside the first look
			if err := v.refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
			v.Wait()
		}
		var got []string
		for _, c := range v.board().Page(PageQuery{Sort: SortNew, Launchpad: declared.AllLaunchpads, Chain: declared.AllBoardChains, Limit: 99}).Cards {
			name, _ := c.Names()
			got = append(got, fmt.Sprint(c.Chain, " ", name, " ", c.Clones))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s New shows %q, want %q", when, got, want)
		}
	}
	launch("base", "Otter", 1000)
	launch("bsc", "Heron", 500)
	shows("at first", "bsc Heron 0", "base Otter 0")
	launch("base", "Swan", 600)
	launch("bsc", "Otter", 400)
	shows("with one older than another chain's newest", "bsc Heron 0", "base Swan 0", "base Otter 1")
	launch("base", "OTTER", 300)
	shows("with a third of the name", "bsc Heron 0", "base Swan 0", "base Otter 2")
	launch("bsc", "Goose", 2000)
	shows("with one that is older than its own chain's newest", "bsc Heron 0", "base Swan 0", "base Otter 2")
	w.Rewind("base", 1)
	shows("after a reorg of the heads", "bsc Otter 0", "bsc Heron 0", "bsc Goose 0")
	launch("base", "Heron", 700)
	w.Now += 15
	shows("at the next ranking", "bsc Otter 0", "base Heron 1", "bsc Goose 0")
	v.live.Replace(&catalog.Catalog{Chains: slices.Clone(v.live.Now().Chains[1:]), Venues: v.live.Now().Venues})
	shows("without a chain", "bsc Otter 0", "bsc Heron 0", "bsc Goose 0")
}
