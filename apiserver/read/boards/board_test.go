package boards

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/apiserver/read/declared"
	"github.com/boardwalkhq/boardwalk/apiserver/read/members"
	"github.com/boardwalkhq/boardwalk/apiserver/read/readtest"
	"github.com/boardwalkhq/boardwalk/apiserver/read/tokenmembers"
	"github.com/boardwalkhq/boardwalk/internal/board"
	"github.com/boardwalkhq/boardwalk/internal/catalog"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// follower is a ranker that follows a ledger as an API server does.
type follower struct {
	*Ranker
	directory *members.Directory
	live      *catalog.Live
	away      bool // the database can't be read
}

// refresh takes in what was committed.
func (f *follower) refresh(ctx context.Context) error {
	if err := f.directory.Follow(ctx); err != nil {
		return err
	}
	list, err := f.store.Chains(ctx)
	if err != nil {
		return err
	}
	in := declared.New(f.live.Now())
	statuses, chains := make(map[string]store.ChainStatus), map[string]tokenmembers.Chain{}
	for _, s := range list {
		if c := in.Chain(s.ID); !s.Last.Hash.IsZero() && c != nil {
			statuses[s.ID], chains[s.ID] = s, tokenmembers.Chain{Family: c.Family, Status: s}
		}
	}
	if err := f.members.Follow(ctx, chains); err != nil {
		return err
	}
	return f.Refresh(ctx, statuses, in)
}

func (f *follower) board() *Board { return f.Ranking().Board(1, f.in, f.away) }

// follow makes a follower with the ledger's time, of the ledger's chains and those that the test added.
func follow(w *readtest.Ledger, clock func() time.Time, more ...string) *follower {
	d := members.NewDirectory(w.Store.Social.Registry)
	return &follower{
		Ranker:    NewRanker(w.Store, tokenmembers.New(w.Store.Wallets, d), board.DefaultGate(), clock, slog.New(slog.DiscardHandler)),
		directory: d, live: catalog.NewLive(readtest.Catalog(more...)),
	}
}

// nobody is an index of tokens' members where there are none.
func nobody() *tokenmembers.Index { return tokenmembers.New(nil, members.NewDirectory(nil)) }

// listing writes a whole order of the board as text, page by page.
func listing(f *follower, by Sort) []string {
	b := f.board()
	var out []string
	for q := (PageQuery{Sort: by, Launchpad: declared.AllLaunchpads, Chain: declared.AllBoardChains, Limit: 7}); ; {
		p := b.Page(q)
		for _, c := range p.Cards {
			name, symbol := c.Names()
			out = append(out, fmt.Sprintf("%s %s %s %s clones %d rank %d pass %v %v score %.6f progress %v members %v %v", c.Chain, c.Launch.Mint, name, symbol,
				c.Clones, c.Rank, c.Pass, c.Fails, c.Score, c.Launch.Progress, c.Parts.Members, f.members.In(c.Chain, c.Launch.Mint, 5)))
		}
		if q.After = p.Next; p.Next == nil {
			return out
		}
	}
}

// liveListing writes the live list as text.
func liveListing(f *follower) []string {
	var out []string
	for _, c := range f.Ranking().Live(1, f.in, f.away).Chains {
		for i := range c.Tokens {
			t := &c.Tokens[i]
			out = append(out, fmt.Sprintf("%s %s %s score %.6f buyers %.6f members %v price %v", c.ID, t.Token.Token.Mint, t.Token.Token.Name, t.Score, t.Parts.Buyers, t.Parts.Members, *t.Figures.Price))
		}
	}
	return out
}

// TestBoardIsWhatARebuildGives changes a world at random, with a view that follows it: after two rankings every order, rank and
// clone, and the live list, is what another view makes of the same rows from the beginning.
func TestBoardIsWhatARebuildGives(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		w := readtest.New(t)
		clock := func() time.Time { return time.Unix(w.Now, 0) }
		following := follow(w, clock)
		look := func(v *follower) {
			if err := v.refresh(t.Context()); err != nil {
				rt.Fatal(err)
			}
			v.Wait()
			v.members.Wait()
		}
		people := map[member.ID]market.Address{}
		for _, id := range []member.ID{"u1", "u2", "u3"} {
			people[id] = markettest.Address(fmt.Sprintf("0xd0%037x%s", 0, id[1:]))
			w.Join(id, people[id])
		}
		w.Sync(slices.Collect(maps.Values(people))...)
		someone := rapid.SampledFrom([]member.ID{"u1", "u2", "u3"})
		look(following)
		names := []string{"Otter", "otter", "Moon", "Cat", "cat ", "Dog"}
		symbols := []string{"OTR", "otr", "MOON", "C", "D"}
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			chain := rapid.SampledFrom(readtest.Chains).Draw(rt, "chain")
			switch step := rapid.IntRange(0, 10).Draw(rt, "step"); {
			case step == 10:
				w.Untell(chain)
			case step == 0 && w.Blocks[chain] > 3:
				w.Rewind(chain, w.Blocks[chain]-uint64(rapid.IntRange(1, 2).Draw(rt, "depth")))
			case step == 1:
				w.Now += rapid.SampledFrom([]int64{1, 20, 4000, 90_000, 3 * 86_400, 8 * 86_400, 31 * 86_400}).Draw(rt, "time")
				for _, c := range readtest.Chains {
					w.Commit(c, func(*market.Changes) {})
				}
			case step == 2 && len(w.Mints[chain]) > 0:
				w.Commit(chain, func(ch *market.Changes) {
					for i, mint := range w.Mints[chain] {
						if w.Has(chain, mint) && rapid.Bool().Draw(rt, "trades") {
							w.Trade(ch, chain, mint, uint64(i))
							for _, id := range rapid.SliceOfDistinct(someone, rapid.ID).Draw(rt, "members") {
								if w.Watched(chain, people[id]) == 0 {
									continue
								}
								w.Hold(ch, chain, people[id], mint, rapid.IntRange(0, 3).Draw(rt, "holds") > 0)
							}
							return
						}
					}
				})
			case step == 3:
				if id := someone.Draw(rt, "member"); rapid.Bool().Draw(rt, "leaves") {
					w.Apply(member.Record{ID: id, Deleted: true})
				} else {
					w.Join(id, people[id])
				}
				w.Sync(slices.Collect(maps.Values(people))...)
			default:
				w.Commit(chain, func(ch *market.Changes) {
					for i := range rapid.IntRange(1, 4).Draw(rt, "launches") {
						n := len(w.Mints[chain])
						if n == 0 || rapid.Bool().Draw(rt, "new") {
							w.Mints[chain] = append(w.Mints[chain], markettest.Address(fmt.Sprintf("0xa0%038x", n)))
						} else {
							n = rapid.IntRange(0, n-1).Draw(rt, "which")
						}
						mint := w.Mints[chain][n]
						if slices.ContainsFunc(ch.Launches, func(c market.Change[market.Address, market.Launch]) bool { return c.Key == mint }) {
							continue
						}
						w.Set(ch, chain, mint, uint64(i), readtest.Launch{
							Name: rapid.SampledFrom(names).Draw(rt, "name"), Symbol: rapid.SampledFrom(symbols).Draw(rt, "symbol"),
							Venue: readtest.Venues[n%len(readtest.Venues)], CreatedAt: w.Now - int64(n%3)*200,
							State:    rapid.SampledFrom([]market.LaunchState{market.LaunchOnCurve, market.LaunchOnCurve, market.LaunchCompleted, market.LaunchGraduated}).Draw(rt, "state"),
							Progress: float64(rapid.IntRange(0, 5).Draw(rt, "progress") * 20), Locked: rapid.SampledFrom([]float64{0, 0.1, 3, 5}).Draw(rt, "locked"),
							Volume: rapid.SampledFrom([]uint64{100, 20_000}).Draw(rt, "volume"), Holders: rapid.SampledFrom([]int64{1, 60}).Draw(rt, "holders"),
							Buyers: rapid.SampledFrom([]int{0, 3, 16}).Draw(rt, "buyers"),
						})
					}
				})
			}
			if rapid.Bool().Draw(rt, "look") {
				look(following)
			}
		}
		// A rewound chain is read anew, and the next look replaces the board's former content. How long the board holds a card depends on that
		// former content, so the clock moves on by 30 seconds before the two boards are compared.
		look(following)
		for range 2 {
			w.Now += 15
			look(following)
		}
		fresh := follow(w, clock)
		look(fresh)
		for by := range sorts {
			got, want := listing(following, by), listing(fresh, by)
			if !slices.Equal(got, want) {
				rt.Fatalf("sort %d:\n%s\na rebuild gives\n%s", by, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
		if got, want := liveListing(following), liveListing(fresh); !slices.Equal(got, want) {
			rt.Fatalf("live:\n%s\na rebuild gives\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if got, want := headsOf(following.Ranker), foldedByHand(following.Ranker); !maps.Equal(got, want) {
			rt.Fatalf("heads and their clones are %v, want %v", got, want)
		}
		if got, want := following.chains["base"].placed(), fresh.chains["base"].placed(); got != want {
			rt.Fatalf("the index has %d launches, a rebuild's %d", got, want)
		}
	})
}

// placed counts the launches that have a place.
func (b *chainTokens) placed() (n int) {
	for e := range b.index.all() {
		if _, ok := b.index.find(e.mint); ok {
			n++
		}
	}
	return n
}

// TestCursors goes there and back, and refuses what is none.
func TestCursors(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		mint := markettest.Address(fmt.Sprintf("0x%040x", rapid.Uint64().Draw(rt, "mint")))
		if rapid.Bool().Draw(rt, "long") {
			mint = market.SolanaAddress([32]byte(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(rt, "key")))
		}
		c := Cursor{
			Sort(rapid.IntRange(0, int(sorts)-1).Draw(rt, "sort")), rapid.Float64Range(-1e300, 1e300).Draw(rt, "key"), rapid.Uint32().Draw(rt, "created"), mint,
			rapid.Uint32Max(0xffffff).Draw(rt, "chain"),
		}
		text := c.String()
		if len(text) > 64 {
			rt.Fatalf("%s has %d characters", text, len(text))
		}
		back, ok := ParseCursor(text, c.sort)
		if !ok || back.compare(&c) != 0 || back.String() != text {
			rt.Fatalf("%+v comes back as %+v", c, back)
		}
		if _, ok := ParseCursor(text, (c.sort+1)%sorts); ok {
			rt.Fatal("a cursor of another sort passes")
		}
		junk := rapid.StringMatching(`[A-Za-z0-9_=-]{0,64}`).Draw(rt, "junk")
		if got, ok := ParseCursor(junk, c.sort); ok && got.String() != junk {
			rt.Fatalf("%q is read as %s", junk, got)
		}
	})
}

// TestACardIsHeldForOneRanking has a card fail the bar: it leaves Running when it has failed twice in a row.
func TestACardIsHeldForOneRanking(t *testing.T) {
	t.Parallel()
	w := readtest.New(t)
	mint := markettest.Address("0xa000000000000000000000000000000000000001")
	l := readtest.Launch{
		Name: "Otter", Symbol: "OTR", Venue: "four-meme", State: market.LaunchOnCurve, Progress: 40, Locked: 5, Volume: 20_000, Holders: 60,
		CreatedAt: w.Now - 3000, Buyers: 20,
	}
	w.Commit("base", func(ch *market.Changes) { w.Set(ch, "base", mint, 1, l) })
	v := follow(w, func() time.Time { return time.Unix(w.Now, 0) })
	l.Holders, l.Buyers = 10, 0
	for i, step := range []struct {
		after   int64
		running int
		pass    bool
	}{{0, 1, true}, {5, 1, true}, {10, 1, true}, {15, 0, false}, {15, 0, false}} {
		w.Now += step.after
		if err := v.refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		s := v.board()
		if c, ok := s.Launched("base", mint); !ok || c.Pass != step.pass || (len(c.Fails) == 0) != step.pass || (c.Rank == 1) != step.pass {
			t.Errorf("at look %d it is %+v", i, c.Standing)
		}
		if got := len(listing(v, SortRunning)); got != step.running {
			t.Errorf("at look %d there are %d in Running", i, got)
		}
		if i == 0 {
			w.Commit("base", func(ch *market.Changes) { w.Set(ch, "base", mint, 2, l) })
		}
	}
}

// TestAStandingChainIsNoTrend halts one of two chains: what it has stays off Trending and Running, unless one asks for it alone or
// both stand still. While the database is away, holders are known of none.
func TestAStandingChainIsNoTrend(t *testing.T) {
	t.Parallel()
	w := readtest.New(t)
	mint := markettest.Address("0xa000000000000000000000000000000000000001")
	for _, chain := range readtest.Chains {
		w.Commit(chain, func(ch *market.Changes) {
			w.Set(ch, chain, mint, 1, readtest.Launch{
				Name: "Otter of " + chain, Symbol: "OTR-" + chain, Venue: "four-meme", State: market.LaunchOnCurve, Progress: 40, Locked: 5, Volume: 20_000, Holders: 60,
				CreatedAt: w.Now - 3000, Buyers: 20,
			})
		})
	}
	v := follow(w, func() time.Time { return time.Unix(w.Now, 0) })
	look := func() *Board {
		if err := v.refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		return v.board()
	}
	for _, c := range []struct {
		halt        string
		all, onBase int
		baseRank    int32
		stale       bool
	}{{"", 2, 1, 1, false}, {"base", 1, 1, 0, false}, {"bsc", 2, 1, 1, true}} {
		if c.halt != "" {
			if err := w.Store.SetState(t.Context(), w.Leases[c.halt], store.ChainHalted, "test"); err != nil {
				t.Fatal(err)
			}
		}
		s := look()
		for _, by := range []Sort{SortRunning, SortTrending} {
			all := s.Page(PageQuery{Sort: by, Launchpad: declared.AllLaunchpads, Chain: declared.AllBoardChains, Limit: 9})
			one := s.Page(PageQuery{Sort: by, Launchpad: declared.AllLaunchpads, Chain: "base", Limit: 9})
			if len(all.Cards) != c.all || len(one.Cards) != c.onBase || all.Stale != c.stale {
				t.Errorf("with %q halted sort %d has %d cards (stale %v), %d on base", c.halt, by, len(all.Cards), all.Stale, len(one.Cards))
			}
		}
		if n := len(listing(v, SortNew)); n != 2 {
			t.Errorf("with %q halted New has %d", c.halt, n)
		}
		if card, ok := s.Launched("base", mint); !ok || card.Rank != c.baseRank {
			t.Errorf("with %q halted the card on base is found (%v) at rank %d", c.halt, ok, card.Rank)
		}
	}
}

// TestHoldersWhileTheDatabaseIsAway has a card say that its holders are stale, as the token's own answer does.
func TestHoldersWhileTheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	w, v, mint := oneLaunch(t)
	for _, away := range []bool{false, true} {
		if away {
			v.away = true
		}
		s := v.board()
		page := s.Page(PageQuery{Sort: SortRunning, Launchpad: declared.AllLaunchpads, Chain: declared.AllBoardChains, Limit: 9})
		one, ok := s.Launched("base", mint)
		if !ok || len(page.Cards) != 1 {
			t.Fatalf("at %d the launch is found (%v), the board has %d", w.Now, ok, len(page.Cards))
		}
		for _, c := range []Shown{one, page.Cards[0]} {
			if _, known, _ := c.Holders(c.On); known == away || c.On.Stale != away {
				t.Errorf("holders are known %v, stale %v; the database is away: %v", known, c.On.Stale, away)
			}
		}
	}
}

// oneLaunch is a view of a board of one launch.
func oneLaunch(t *testing.T) (*readtest.Ledger, *follower, market.Address) {
	t.Helper()
	w := readtest.New(t)
	mint := markettest.Address("0xa000000000000000000000000000000000000001")
	w.Commit("base", func(ch *market.Changes) {
		w.Set(ch, "base", mint, 1, readtest.Launch{
			Name: "Otter", Symbol: "OTR", Venue: "four-meme", State: market.LaunchOnCurve, Progress: 40, Locked: 5, Volume: 20_000, Holders: 60,
			CreatedAt: w.Now - 3000, Buyers: 20,
		})
	})
	v := follow(w, func() time.Time { return time.Unix(w.Now, 0) })
	if err := v.refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	return w, v, mint
}
