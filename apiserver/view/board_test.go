package view

import (
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/internal/board"
	"github.com/boardwalkhq/boardwalk/internal/catalog"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	storetest.Stop()
	os.Exit(code)
}

const wrapped = "0x4200000000000000000000000000000000000006"

// ledger is a store that a test writes launches into, with the time of its chains.
type ledger struct {
	t      *testing.T
	st     *store.Store
	now    int64
	blocks map[string]uint64
	mints  map[string][]market.Address
	leases map[string]*store.Lease
	// births are where launches were announced, which stays whatever becomes of them.
	births map[besideKey]birth
	// rows are what each block of a chain left, so that a commit says what it replaces, which is what a reorg brings back.
	rows map[string][]ledgerRows
}

type ledgerRows struct {
	launches map[market.Address]market.Launch
	pools    map[market.Address]market.Pool
	tokens   map[market.Address]market.Token
}

type birth struct {
	block     uint64
	log       uint64
	createdAt int64
}

var (
	ledgerChains = []string{"base", "bsc"}
	ledgerVenues = []string{"boardwalk", "four-meme", "clanker"}
)

func newLedger(t *testing.T) *ledger {
	t.Helper()
	w := &ledger{
		t: t, st: storetest.Open(t, "sqlite"), now: time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC).Unix(), blocks: map[string]uint64{},
		mints: map[string][]market.Address{}, leases: map[string]*store.Lease{}, births: map[besideKey]birth{}, rows: map[string][]ledgerRows{},
	}
	for _, chain := range ledgerChains {
		l, err := w.st.Acquire(t.Context(), chain, "test", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		w.leases[chain], w.rows[chain] = l, make([]ledgerRows, 1)
		w.commit(chain, func(ch *market.Changes) {
			ch.Quotes = append(ch.Quotes, changed(evm(wrapped), market.QuotePrice{Asset: evm(wrapped), USD: 2000}))
		})
	}
	return w
}

func evm(s string) market.Address {
	a, err := market.ParseEVMAddress(s)
	if err != nil {
		panic(err)
	}
	return a
}

func changed[K comparable, V any](k K, v V) market.Change[K, V] {
	return market.Change[K, V]{Key: k, After: &v}
}

func (w *ledger) commit(chain string, change func(*market.Changes)) {
	w.t.Helper()
	n := w.blocks[chain] + 1
	w.blocks[chain] = n
	h := market.Header{Number: n, Hash: market.Hash{byte(n), byte(n >> 8), 1}, Parent: market.Hash{byte(n - 1), byte((n - 1) >> 8), 1}, Time: w.now}
	c := &store.Commit{Last: h, Blocks: []market.Header{h}, Undo: true, Head: store.HeadStatus{Number: n, Time: w.now, Final: 1, FinalTime: w.now}}
	change(&c.Changes)
	before := w.rows[chain][n-1]
	w.rows[chain] = append(w.rows[chain], ledgerRows{
		replaced(before.launches, c.Changes.Launches), replaced(before.pools, c.Changes.Pools), replaced(before.tokens, c.Changes.Tokens),
	})
	if err := w.st.Commit(w.t.Context(), w.leases[chain], c); err != nil {
		w.t.Fatal(err)
	}
}

// replaced notes in changes what they replace, and gives the rows with them.
func replaced[V any](rows map[market.Address]V, changes []market.Change[market.Address, V]) map[market.Address]V {
	next := make(map[market.Address]V, len(rows)+len(changes))
	maps.Copy(next, rows)
	for i := range changes {
		if was, ok := rows[changes[i].Key]; ok {
			changes[i].Before = &was
		}
		next[changes[i].Key] = *changes[i].After
	}
	return next
}

// rewind takes back the blocks after a number.
func (w *ledger) rewind(chain string, to uint64) {
	w.t.Helper()
	if _, err := w.st.Rewind(w.t.Context(), w.leases[chain], to); err != nil {
		w.t.Fatal(err)
	}
	w.blocks[chain], w.rows[chain] = to, w.rows[chain][:to+1]
	maps.DeleteFunc(w.births, func(k besideKey, b birth) bool { return k.chain == chain && b.block > to })
}

// launched is what a test decides about a launch.
type launched struct {
	name, symbol, venue string
	state               market.LaunchState
	progress, locked    float64
	volume              uint64
	holders             int64
	createdAt           int64
	buyers              int
}

// set writes a launch with its token and its pool, and trades.
func (w *ledger) set(ch *market.Changes, chain string, mint market.Address, log uint64, l launched) {
	pool := market.Pool{
		ID: market.CurveID(mint), Protocol: market.BondingCurve, Factory: evm(wrapped), Token0: mint, Token1: evm(wrapped), Base: mint, Quote: evm(wrapped),
		BaseIs0: true, Price: 0.00001, Locked: l.locked, LastTradeAt: w.now,
	}
	if l.locked == 0 {
		pool.Price = 0
	}
	if l.buyers == 0 && l.volume == 100 {
		pool.LastTradeAt = 0 // never traded
	}
	pool.Day.VolumeUSD.SetUint64(l.volume * 1e9)
	born, ok := w.births[besideKey{chain, mint}]
	if !ok || born.block > w.blocks[chain] {
		born = birth{w.blocks[chain], log, l.createdAt}
		w.births[besideKey{chain, mint}] = born
	}
	row := market.Launch{
		Mint: mint, Venue: l.venue, Creator: evm(wrapped), Name: l.name, Symbol: l.symbol, Block: born.block, LogIndex: born.log, CreatedAt: born.createdAt,
		State: l.state, Curve: evm(wrapped), Rules: market.CurveRules{Basis: market.TokensSold}, Progress: l.progress, HasProgress: true,
		Traded: l.buyers > 0,
	}
	if l.state == market.LaunchGraduated {
		row.GraduatedAt = w.now
	}
	ch.Launches = append(ch.Launches, changed(mint, row))
	ch.Pools = append(ch.Pools, changed(pool.ID, pool))
	ch.Tokens = append(ch.Tokens, changed(mint, market.Token{
		Mint: mint, Name: l.name, Symbol: l.symbol, HasDecimals: true, Decimals: 18, FirstSeenAt: born.createdAt, Pool: pool.ID,
		Holders: market.Holders{Status: market.HoldersCurrent, Count: l.holders},
	}))
	for i := range l.buyers {
		ch.Trades = append(ch.Trades, market.Trade{
			Block: w.blocks[chain], LogIndex: log*1000 + uint64(i), Time: w.now, Pool: pool.ID, Base: mint, Trader: evm(fmt.Sprintf("0xb0%038x", i)),
			NanoUSD: 50e9, HasUSD: true, CloseUSD: 0.02,
		})
	}
}

// trade writes a trade in a launch's pool, which changes no more than the pool.
func (w *ledger) trade(ch *market.Changes, chain string, mint market.Address, log uint64) {
	w.set(ch, chain, mint, log, launched{locked: 3, volume: 20_000, buyers: 1})
	ch.Launches, ch.Tokens = nil, nil
}

// view is one on the ledger's store, with the ledger's time.
func (w *ledger) view(clock func() time.Time) *View {
	w.t.Helper()
	c := &catalog.Catalog{}
	for _, id := range ledgerChains {
		c.Chains = append(c.Chains, catalog.Chain{ID: id, Family: chainconfig.EVM, Native: chainconfig.Native{Wrapped: markettest.Address(wrapped)}})
	}
	for _, id := range ledgerVenues {
		v := catalog.Venue{ID: id, Filter: id, Ownership: catalog.Outside}
		for _, chain := range ledgerChains {
			v.Chains = append(v.Chains, catalog.VenueChain{Chain: chain})
		}
		c.Venues = append(c.Venues, v)
	}
	return New(w.st, catalog.NewLive(c), board.DefaultGate(), clock, slog.New(slog.DiscardHandler))
}

// listing writes a whole order of the board as text, page by page.
func listing(s *Snapshot, by Sort) []string {
	var out []string
	for q := (PageQuery{Sort: by, Launchpad: AllLaunchpads, Chain: AllBoardChains, Limit: 7}); ; {
		p := s.Page(q)
		for _, c := range p.Cards {
			name, symbol := c.Names()
			out = append(out, fmt.Sprintf("%s %s %s %s clones %d rank %d pass %v %v score %.6f progress %v", c.Chain, c.Launch.Mint, name, symbol,
				c.Clones, c.Rank, c.Pass, c.Fails, c.Score, c.Launch.Progress))
		}
		if q.After = p.Next; p.Next == nil {
			return out
		}
	}
}

// liveListing writes the live list as text.
func liveListing(s *Snapshot) []string {
	var out []string
	for _, c := range s.Live.Chains {
		for i := range c.Tokens {
			t := &c.Tokens[i]
			out = append(out, fmt.Sprintf("%s %s %s score %.6f buyers %.6f price %v", c.ID, t.Token.Token.Mint, t.Token.Token.Name, t.Score, t.Parts.Buyers, *t.Figures.Price))
		}
	}
	return out
}

// TestBoardIsWhatARebuildGives changes a world at random, with a view that follows it: after two rankings every order, rank and
// clone, and the live list, is what another view makes of the same rows from the beginning.
func TestBoardIsWhatARebuildGives(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		w := newLedger(t)
		clock := func() time.Time { return time.Unix(w.now, 0) }
		following := w.view(clock)
		look := func(v *View) {
			if err := v.refresh(t.Context()); err != nil {
				rt.Fatal(err)
			}
			v.readings.Wait()
		}
		look(following)
		names := []string{"Otter", "otter", "Moon", "Cat", "cat ", "Dog"}
		symbols := []string{"OTR", "otr", "MOON", "C", "D"}
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			chain := rapid.SampledFrom(ledgerChains).Draw(rt, "chain")
			switch step := rapid.IntRange(0, 9).Draw(rt, "step"); {
			case step == 0 && w.blocks[chain] > 3:
				w.rewind(chain, w.blocks[chain]-uint64(rapid.IntRange(1, 2).Draw(rt, "depth")))
			case step == 1:
				w.now += rapid.SampledFrom([]int64{1, 20, 4000, 90_000, 3 * 86_400, 8 * 86_400, 31 * 86_400}).Draw(rt, "time")
				for _, c := range ledgerChains {
					w.commit(c, func(*market.Changes) {})
				}
			case step == 2 && len(w.births) > 0:
				w.commit(chain, func(ch *market.Changes) {
					for i, mint := range w.mints[chain] {
						if _, there := w.births[besideKey{chain, mint}]; there && rapid.Bool().Draw(rt, "trades") {
							w.trade(ch, chain, mint, uint64(i))
							return
						}
					}
				})
			default:
				w.commit(chain, func(ch *market.Changes) {
					for i := range rapid.IntRange(1, 4).Draw(rt, "launches") {
						n := len(w.mints[chain])
						if n == 0 || rapid.Bool().Draw(rt, "new") {
							w.mints[chain] = append(w.mints[chain], evm(fmt.Sprintf("0xa0%038x", n)))
						} else {
							n = rapid.IntRange(0, n-1).Draw(rt, "which")
						}
						mint := w.mints[chain][n]
						if slices.ContainsFunc(ch.Launches, func(c market.Change[market.Address, market.Launch]) bool { return c.Key == mint }) {
							continue
						}
						w.set(ch, chain, mint, uint64(i), launched{
							name: rapid.SampledFrom(names).Draw(rt, "name"), symbol: rapid.SampledFrom(symbols).Draw(rt, "symbol"),
							venue: ledgerVenues[n%len(ledgerVenues)], createdAt: w.now - int64(n%3)*200,
							state:    rapid.SampledFrom([]market.LaunchState{market.LaunchOnCurve, market.LaunchOnCurve, market.LaunchCompleted, market.LaunchGraduated}).Draw(rt, "state"),
							progress: float64(rapid.IntRange(0, 5).Draw(rt, "progress") * 20), locked: rapid.SampledFrom([]float64{0, 0.1, 3, 5}).Draw(rt, "locked"),
							volume: rapid.SampledFrom([]uint64{100, 20_000}).Draw(rt, "volume"), holders: rapid.SampledFrom([]int64{1, 60}).Draw(rt, "holders"),
							buyers: rapid.SampledFrom([]int{0, 3, 16}).Draw(rt, "buyers"),
						})
					}
				})
			}
			if rapid.Bool().Draw(rt, "look") {
				look(following)
			}
		}
		// A chain that was rewound is read anew, which takes the place of what was read before at the next look, and how long a card is held
		// hangs on what was before.
		look(following)
		for range 2 {
			w.now += 15
			look(following)
		}
		fresh := w.view(clock)
		look(fresh)
		for by := range sorts {
			got, want := listing(following.Snapshot(), by), listing(fresh.Snapshot(), by)
			if !slices.Equal(got, want) {
				rt.Fatalf("sort %d:\n%s\na rebuild gives\n%s", by, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
		if got, want := liveListing(following.Snapshot()), liveListing(fresh.Snapshot()); !slices.Equal(got, want) {
			rt.Fatalf("live:\n%s\na rebuild gives\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if got, want := headsOf(&following.ranks), foldedByHand(&following.ranks); !maps.Equal(got, want) {
			rt.Fatalf("heads and their clones are %v, want %v", got, want)
		}
		if got, want := following.ranks.chains["base"].placed(), fresh.ranks.chains["base"].placed(); got != want {
			rt.Fatalf("the index has %d launches, a rebuild's %d", got, want)
		}
	})
}

// placed counts the launches that have a place.
func (b *chainTokens) placed() (n int) {
	for mint := range b.index.entries {
		if _, ok := b.index.find(mint); ok {
			n++
		}
	}
	return n
}

// TestCursors goes there and back, and refuses what is none.
func TestCursors(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		mint := evm(fmt.Sprintf("0x%040x", rapid.Uint64().Draw(rt, "mint")))
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
	w := newLedger(t)
	mint := evm("0xa000000000000000000000000000000000000001")
	l := launched{
		name: "Otter", symbol: "OTR", venue: "four-meme", state: market.LaunchOnCurve, progress: 40, locked: 5, volume: 20_000, holders: 60,
		createdAt: w.now - 3000, buyers: 20,
	}
	w.commit("base", func(ch *market.Changes) { w.set(ch, "base", mint, 1, l) })
	v := w.view(func() time.Time { return time.Unix(w.now, 0) })
	l.holders, l.buyers = 10, 0
	for i, step := range []struct {
		after   int64
		running int
		pass    bool
	}{{0, 1, true}, {5, 1, true}, {10, 1, true}, {15, 0, false}, {15, 0, false}} {
		w.now += step.after
		if err := v.refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		s := v.Snapshot()
		if c, ok := s.Launched("base", mint); !ok || c.Pass != step.pass || (len(c.Fails) == 0) != step.pass || (c.Rank == 1) != step.pass {
			t.Errorf("at look %d it is %+v", i, c.Standing)
		}
		if got := len(listing(s, SortRunning)); got != step.running {
			t.Errorf("at look %d there are %d in Running", i, got)
		}
		if i == 0 {
			w.commit("base", func(ch *market.Changes) { w.set(ch, "base", mint, 2, l) })
		}
	}
}

// TestAStandingChainIsNoTrend halts one of two chains: what it has stays off Trending and Running, unless one asks for it alone or
// both stand still. While the database is away, holders are known of none.
func TestAStandingChainIsNoTrend(t *testing.T) {
	t.Parallel()
	w := newLedger(t)
	mint := evm("0xa000000000000000000000000000000000000001")
	for _, chain := range ledgerChains {
		w.commit(chain, func(ch *market.Changes) {
			w.set(ch, chain, mint, 1, launched{
				name: "Otter of " + chain, symbol: "OTR-" + chain, venue: "four-meme", state: market.LaunchOnCurve, progress: 40, locked: 5, volume: 20_000, holders: 60,
				createdAt: w.now - 3000, buyers: 20,
			})
		})
	}
	v := w.view(func() time.Time { return time.Unix(w.now, 0) })
	look := func() *Snapshot {
		if err := v.refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		return v.Snapshot()
	}
	for _, c := range []struct {
		halt        string
		all, onBase int
		baseRank    int32
		stale       bool
	}{{"", 2, 1, 1, false}, {"base", 1, 1, 0, false}, {"bsc", 2, 1, 1, true}} {
		if c.halt != "" {
			if err := w.st.SetState(t.Context(), w.leases[c.halt], store.ChainHalted, "test"); err != nil {
				t.Fatal(err)
			}
		}
		s := look()
		for _, by := range []Sort{SortRunning, SortTrending} {
			all := s.Page(PageQuery{Sort: by, Launchpad: AllLaunchpads, Chain: AllBoardChains, Limit: 9})
			one := s.Page(PageQuery{Sort: by, Launchpad: AllLaunchpads, Chain: "base", Limit: 9})
			if len(all.Cards) != c.all || len(one.Cards) != c.onBase || all.Stale != c.stale {
				t.Errorf("with %q halted sort %d has %d cards (stale %v), %d on base", c.halt, by, len(all.Cards), all.Stale, len(one.Cards))
			}
		}
		if n := len(listing(s, SortNew)); n != 2 {
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
			v.lost(t.Context(), ErrUnread)
		}
		s := v.Snapshot()
		page := s.Page(PageQuery{Sort: SortRunning, Launchpad: AllLaunchpads, Chain: AllBoardChains, Limit: 9})
		one, ok := s.Launched("base", mint)
		if !ok || len(page.Cards) != 1 {
			t.Fatalf("at %d the launch is found (%v), the board has %d", w.now, ok, len(page.Cards))
		}
		for _, c := range []Shown{one, page.Cards[0]} {
			if _, known, _ := c.Holders(c.On); known == away || c.On.Stale != away {
				t.Errorf("holders are known %v, stale %v; the database is away: %v", known, c.On.Stale, away)
			}
		}
	}
}

// oneLaunch is a view of a board of one launch.
func oneLaunch(t *testing.T) (*ledger, *View, market.Address) {
	t.Helper()
	w := newLedger(t)
	mint := evm("0xa000000000000000000000000000000000000001")
	w.commit("base", func(ch *market.Changes) {
		w.set(ch, "base", mint, 1, launched{
			name: "Otter", symbol: "OTR", venue: "four-meme", state: market.LaunchOnCurve, progress: 40, locked: 5, volume: 20_000, holders: 60,
			createdAt: w.now - 3000, buyers: 20,
		})
	})
	v := w.view(func() time.Time { return time.Unix(w.now, 0) })
	if err := v.refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	return w, v, mint
}
