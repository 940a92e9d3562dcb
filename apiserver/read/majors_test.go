package read

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/read/readtest"
	"github.com/boardwalkhq/boardwalk/internal/board"
	"github.com/boardwalkhq/boardwalk/internal/catalog"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
)

// twoMajors declares two majors on each of the ledger's chains. One of them has the same address on both.
func twoMajors() *catalog.Catalog {
	c := readtest.Catalog()
	for i := range c.Chains {
		c.Chains[i].Majors = []chainconfig.Major{{Asset: "ETH", Address: markettest.Address(readtest.Wrapped)}, {Asset: "OTR", Address: majorOn(i)}}
	}
	return c
}

func majorOn(chain int) market.Address { return markettest.Address(fmt.Sprintf("0xa%039x", chain+1)) }

func viewOf(w *readtest.Ledger, c *catalog.Catalog) *View {
	return New(w.Store, catalog.NewLive(c), board.DefaultGate(), func() time.Time { return time.Unix(w.Now, 0) }, slog.New(slog.DiscardHandler))
}

func look(t *testing.T, v *View) *foundMajors {
	t.Helper()
	if err := v.refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	v.ranks.Wait()
	return v.majors
}

// TestMajorsFollowTheirChains has chains commit and rewind by chance. After each look, the majors are those that a server finds that was started just now.
func TestMajorsFollowTheirChains(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			w := readtest.New(t)
			rng := rand.New(rand.NewPCG(seed, 0))
			v := viewOf(w, twoMajors())
			kept := 0
			for step := range 60 {
				for range 1 + rng.IntN(3) {
					i := rng.IntN(len(readtest.Chains))
					chain := readtest.Chains[i]
					w.Now += int64(rng.IntN(3))
					launch := readtest.Launch{Symbol: "T", Venue: "clanker", Locked: float64(1 + rng.IntN(9)), Volume: uint64(200 + step), CreatedAt: w.Now}
					switch what := rng.IntN(9); {
					case what == 0 && w.Blocks[chain] > 4:
						w.Rewind(chain, w.Blocks[chain]-uint64(1+rng.IntN(3)))
					case what == 1:
						w.Untell(chain)
					case what == 2:
						w.Commit(chain, func(ch *market.Changes) { w.Set(ch, chain, majorOn(i), 1, launch) })
					case what == 3 && w.Has(chain, majorOn(i)):
						w.Commit(chain, func(ch *market.Changes) { w.Trade(ch, chain, majorOn(i), 1) })
					case what == 4:
						w.Commit(chain, func(ch *market.Changes) {
							price := market.QuotePrice{Asset: markettest.Address(readtest.Wrapped), USD: float64(1000 + rng.IntN(5))}
							ch.Quotes = append(ch.Quotes, market.Change[market.Address, market.QuotePrice]{Key: price.Asset, After: &price})
						})
					case what == 5:
						w.Commit(chain, func(ch *market.Changes) {
							w.Set(ch, chain, markettest.Address(fmt.Sprintf("0xc%039x", step+1)), 2, launch)
						})
					default:
						w.Commit(chain, func(*market.Changes) {})
					}
				}
				last := v.majors
				got, want := look(t, v), look(t, viewOf(w, twoMajors()))
				if !reflect.DeepEqual(got.tokens, want.tokens) {
					t.Fatalf("step %d: the majors are %+v, want %+v", step, got.tokens, want.tokens)
				}
				if last != nil && last != got {
					kept += sameMemory(last, got)
				}
			}
			if kept == 0 {
				t.Error("all majors were read at every look")
			}
		})
	}
}

// sameMemory counts the majors that weren't read anew between two looks: their pools lie where they lay.
func sameMemory(a, b *foundMajors) (n int) {
	for k, t := range a.tokens {
		if u := b.tokens[k]; len(t.Pools) > 0 && len(u.Pools) > 0 && &t.Pools[0] == &u.Pools[0] {
			n++
		}
	}
	return n
}

// TestMajorsThatAreDeclaredAnew has other majors declared, of the same chains in the same blocks.
func TestMajorsThatAreDeclaredAnew(t *testing.T) {
	t.Parallel()
	w := readtest.New(t)
	w.Commit("base", func(ch *market.Changes) {
		w.Set(ch, "base", majorOn(0), 1, readtest.Launch{Symbol: "T", Venue: "clanker", Locked: 3, Volume: 200, CreatedAt: w.Now})
	})
	live := catalog.NewLive(readtest.Catalog())
	v := New(w.Store, live, board.DefaultGate(), func() time.Time { return time.Unix(w.Now, 0) }, slog.New(slog.DiscardHandler))
	for i, want := range []int{0, 1, 0} {
		if found := look(t, v); len(found.tokens) != want {
			t.Errorf("look %d: %d majors are found, want %d", i, len(found.tokens), want)
		}
		c := readtest.Catalog()
		if i == 0 {
			c = twoMajors()
		}
		live.Replace(c)
		v.adopt()
	}
}
