package boards

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/read/declared"
	"github.com/boardwalkhq/boardwalk/apiserver/read/readtest"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// launchAges are the ages of the launches that setLaunches writes, in seconds. Each chain has launchesPerAge of each age.
var launchAges = []int64{3000, 2000, 1000}

const launchesPerAge = 4

// setLaunches writes launches on each chain, one half of them on their curves and the other half graduated. Launches of one age and state differ in chain, mint,
// name and venue alone. Both EVM chains have the same mints, and Solana's mints begin with the same bytes. setLaunches gives the names by state.
func setLaunches(w *readtest.Ledger, chains []string) (onCurve, graduated []string) {
	for _, chain := range chains {
		w.Commit(chain, func(ch *market.Changes) {
			for i := range launchesPerAge * len(launchAges) {
				key := [32]byte{0xa0, 19: byte(i + 1)}
				mint, _ := market.AddressFromBytes(key[:20])
				if chain == readtest.Solana {
					mint = market.SolanaAddress(key)
				}
				l := readtest.Launch{
					Name: fmt.Sprintf("%s%d", chain, i), Symbol: fmt.Sprintf("%s%d", chain, i), Venue: readtest.Venues[i/2%2], State: market.LaunchOnCurve, Progress: 40, Locked: 5,
					Volume: 20_000, Holders: 60, CreatedAt: w.Now - launchAges[i/launchesPerAge], Buyers: 20,
				}
				if i%2 == 1 {
					l.State = market.LaunchGraduated
					graduated = append(graduated, l.Name)
				} else {
					onCurve = append(onCurve, l.Name)
				}
				w.Set(ch, chain, mint, uint64(i), l)
			}
		})
	}
	return onCurve, graduated
}

// pageNames reads an order of all chains page by page, with cursors as callers pass them back. With pages of one card families counts
// the neighbours of different families that have the same key and age.
func pageNames(t *testing.T, b *Board, by Sort, limit int) (names []string, families int) {
	t.Helper()
	var last *Cursor
	wasSolana := false
	for q := (PageQuery{Sort: by, Launchpad: declared.AllLaunchpads, Chain: declared.AllBoardChains, Limit: limit}); len(names) < 1000; {
		p := b.Page(q)
		for _, c := range p.Cards {
			name, _ := c.Names()
			names = append(names, name)
			if by == SortRunning && int(c.Rank) != len(names) {
				t.Errorf("%s has the rank %d at place %d", name, c.Rank, len(names))
			}
			isSolana := c.Launch.Mint.Kind() == market.SolanaKey
			if isSolana != (c.Chain == readtest.Solana) {
				t.Errorf("sort %d: the card of %s is of %s", by, c.Launch.Mint, c.Chain)
			}
			if p.Next != nil && last != nil && p.Next.key == last.key && p.Next.created == last.created && isSolana != wasSolana {
				families++
			}
			last, wasSolana = p.Next, isSolana
		}
		if p.Next == nil {
			return names, families
		}
		var ok bool
		if q.After, ok = ParseCursor(p.Next.String(), by); !ok {
			t.Fatalf("sort %d: the cursor %s is none", by, p.Next)
		}
	}
	t.Fatalf("sort %d has no end", by)
	return nil, 0
}

// TestFamiliesOnOneBoard: launches of EVM chains and of Solana stand on every order of the board together. Pages of any length, cut between cards that differ in
// nothing but chain and mint, have each card once.
func TestFamiliesOnOneBoard(t *testing.T) {
	t.Parallel()
	w := readtest.New(t, readtest.Solana)
	chains := append(slices.Clone(readtest.Chains), readtest.Solana)
	onCurve, graduated := setLaunches(w, chains)
	all := append(slices.Clone(onCurve), graduated...)
	v := follow(w, func() time.Time { return time.Unix(w.Now, 0) }, readtest.Solana)
	if err := v.refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	b := v.board()
	for by, want := range map[Sort][]string{SortRunning: all, SortNew: all, SortTrending: all, SortProgress: onCurve, SortGraduated: graduated} {
		whole, _ := pageNames(t, b, by, 100)
		for _, limit := range []int{1, 2, 5} {
			got, families := pageNames(t, b, by, limit)
			if !slices.Equal(got, whole) {
				t.Errorf("sort %d in pages of %d:\n%v\nin one page:\n%v", by, limit, got, whole)
			}
			if limit == 1 && families < len(launchAges) {
				t.Errorf("sort %d: pages end %d times between cards of both families that are alike, want one at least for each age", by, families)
			}
		}
		if got := slices.Sorted(slices.Values(whole)); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
			t.Errorf("sort %d has\n%v\nwant\n%v", by, got, want)
		}
	}
	for _, c := range v.Ranking().Live(1, v.in, false).Chains {
		if len(c.Tokens) != len(all)/len(chains) {
			t.Errorf("the live list has %d tokens of %s, want %d", len(c.Tokens), c.ID, len(all)/len(chains))
		}
	}
}
