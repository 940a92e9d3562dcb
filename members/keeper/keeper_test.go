package keeper_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/hack/written"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/game"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/social"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
	"github.com/boardwalkhq/boardwalk/members/keeper"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// start is a Sunday at noon.
const start = 1_760_270_400

// tokens is how many tokens a chain has. The last one's pool is too shallow to count.
const tokens = 8

// chain is a chain with its tokens, and what a naive reader noted of it.
type chain struct {
	*written.Chain

	id     string
	trades []trade
	// owners has whose each wallet is, by the block from which on.
	owners []owner
	// oldest is the last block that no reorg takes back.
	oldest uint64
}

type trade struct {
	block  uint64
	time   int64
	wallet market.Address
	token  int
	usd    uint64
}

type owner struct {
	block  uint64
	wallet market.Address
	of     member.Number
}

type world struct {
	store  *store.Store
	chains []*chain
	keeper *keeper.Keeper
	lease  *social.Lease
	rules  *game.Rules
	now    int64
	// wins has when each call won that did.
	wins  map[int64]int64
	calls []member.Call
	// closed are the scores of the seasons that are closed. They stay: a chain that stands still is waited for one day alone.
	closed map[int64]map[member.Number]int64
	// season is the last week that was closed at the last check; 0 before the first one.
	season int64
}

// wallets are two of member 1, and one of member 2.
var wallets = []market.Address{written.Contract(201), written.Contract(202), written.Contract(203)}

func token(n int) market.Address { return written.Contract(byte(20 + n)) }

func pair(n int) market.Address { return written.Contract(byte(40 + n)) }

func newWorld(t written.TB, st *store.Store) *world {
	t.Helper()
	w := &world{store: st, now: start, rules: game.Default(), wins: map[int64]int64{}, closed: map[int64]map[member.Number]int64{}}
	var err error
	if w.lease, err = st.Social.Leases.Acquire(t.Context(), "test", time.Hour.Milliseconds()); err != nil || w.lease == nil {
		t.Fatal("no lease", err)
	}
	w.apply(t, member.Record{ID: "u1", Handle: "ada", JoinedAt: 1, UpdatedAt: 1}, member.Record{ID: "u2", Handle: "bob", JoinedAt: 1, UpdatedAt: 1})
	usdc, factory := written.Contract(1), written.Contract(2)
	for _, id := range []string{"base", "bsc", "arbitrum"} {
		c := &chain{id: id, Chain: written.New(t, st, &chainconfig.Chain{
			ID: id, Family: chainconfig.EVM, MinTradeUSD: 2, Native: chainconfig.Native{Symbol: "ETH", Wrapped: written.Contract(99)},
			Quotes:    []chainconfig.Quote{{Symbol: "USDC", Address: usdc, PegUSD: 1, PegBoundPct: 5}},
			Exchanges: []chainconfig.Exchange{{Name: "v2", Protocol: market.UniswapV2, Factory: factory}},
			Tracking:  chainconfig.Tracking{CountedLiquidityUSD: 5_000},
		}, market.Header{Number: 99, Hash: market.Hash{99}, Time: start})}
		c.FinalAfter = 6
		facts, events := []market.Fact{written.Told(usdc, 6)}, []market.Event{}
		for n := range tokens {
			facts, events = append(facts, written.Told(token(n), 18)), append(events, written.PairOf(factory, pair(n), token(n), usdc))
		}
		for i, wallet := range wallets {
			of := int64(1 + i/2)
			facts = append(facts, market.WatchFact{WatchedWallet: market.WatchedWallet{Wallet: wallet, Member: of, Change: int64(i + 1), Since: 1}})
			c.owners = append(c.owners, owner{100, wallet, member.Number(of)})
		}
		c.Block(t, 1, facts, events...)
		for n := range tokens {
			c.Block(t, 1, nil, written.TradeAt(pair(n), 5, liquidityOf(n))...)
		}
		c.oldest = c.Last.Number
		w.chains = append(w.chains, c)
	}
	w.now += 10
	w.restart()
	return w
}

func liquidityOf(n int) uint64 {
	if n == tokens-1 {
		return 1_000
	}
	return 100_000
}

func (w *world) restart() {
	w.keeper = keeper.New(keeper.Options{
		Store: w.store.Served(), Rules: w.rules, Now: func() time.Time { return time.Unix(w.now, 0) }, Log: slog.New(slog.DiscardHandler),
		Behind: prometheus.NewGauge(prometheus.GaugeOpts{}),
	})
}

func (w *world) apply(t written.TB, records ...member.Record) {
	t.Helper()
	applied, _, err := w.store.Social.Registry.Apply(t.Context(), records, false, w.now)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range applied {
		if a.Err != nil {
			t.Fatal(a.Err)
		}
	}
}

// block writes a block of now.
func (w *world) block(t written.TB, c *chain, facts []market.Fact, events ...market.Event) {
	t.Helper()
	c.Block(t, w.now-c.Last.Time, facts, events...)
	c.oldest = max(c.oldest, c.Last.Number-min(c.Last.Number, uint64(c.FinalAfter)))
	if c.IsPast {
		c.oldest = c.Last.Number
	}
}

func (w *world) trade(t written.TB, c *chain, wallet market.Address, n int, usd uint64) {
	t.Helper()
	w.block(t, c, nil, written.BoughtAt(wallet, token(n), pair(n), usd, liquidityOf(n))...)
	c.trades = append(c.trades, trade{c.Last.Number, c.Last.Time, wallet, n, usd})
}

func (c *chain) rewind(t written.TB, n int) {
	t.Helper()
	c.Rewind(t, n)
	c.trades = slices.DeleteFunc(c.trades, func(tr trade) bool { return tr.block > c.Last.Number })
	c.owners = slices.DeleteFunc(c.owners, func(o owner) bool { return o.block > c.Last.Number })
}

// give has a wallet be a member's from the next block on.
func (w *world) give(t written.TB, c *chain, wallet market.Address, to int64) {
	t.Helper()
	w.block(t, c, []market.Fact{market.WatchFact{WatchedWallet: market.WatchedWallet{Wallet: wallet, Member: to, Change: 10, Since: 1}}})
	c.owners = append(c.owners, owner{c.Last.Number, wallet, member.Number(to)})
}

// call has a member call something that nobody has called before.
func (w *world) call(t written.TB, of member.ID) {
	t.Helper()
	id := member.CallID(fmt.Sprintf("c%d", len(w.calls)))
	mint := written.Contract(byte(100 + len(w.calls)%100))
	w.apply(t, member.Record{ID: of, UpdatedAt: w.now * 1e6, Call: &member.CallRecord{
		ID: id, Chain: "base", Mint: mint, Price: member.CallPrice{USD: 1, CloseUSD: 1, Block: 100, Time: w.now},
	}})
	c, err := w.store.Social.Calls.Call(t.Context(), id)
	if err != nil || c == nil {
		t.Fatal(err)
	}
	w.calls = append(w.calls, *c)
}

// decide has a call win now, or be open again.
func (w *world) decide(t written.TB, c *member.Call, wins bool) {
	t.Helper()
	c.Standing = member.Standing{Outcome: member.CallOpen}
	delete(w.wins, c.Number)
	if wins {
		c.Standing = member.Standing{Outcome: member.CallWin, DecidedAt: w.now, PeakUSD: 2}
		w.wins[c.Number] = w.now
	}
	if err := w.store.Social.Calls.Judge(t.Context(), w.lease, []social.Judged{{Number: c.Number, Standing: c.Standing}}, w.now); err != nil {
		t.Fatal(err)
	}
}

func (w *world) look(t written.TB) {
	t.Helper()
	if err := w.keeper.Look(t.Context(), w.lease); err != nil {
		t.Fatal(err)
	}
}

// days are what the members did on each day, as somebody says who has all trades before them.
func (w *world) days() map[member.Number]map[int64]*game.Day {
	type key struct {
		of   member.Number
		date int64
	}
	traded := map[key]map[store.TokenAt]bool{}
	for _, c := range w.chains {
		for _, tr := range c.trades {
			if tr.token == tokens-1 || tr.usd < 2 {
				continue
			}
			var of member.Number
			for _, o := range c.owners {
				if o.wallet == tr.wallet && o.block <= tr.block {
					of = o.of
				}
			}
			k := key{of, tr.time / 86400}
			if traded[k] == nil {
				traded[k] = map[store.TokenAt]bool{}
			}
			traded[k][store.TokenAt{Chain: c.id, Mint: token(tr.token)}] = true
		}
	}
	out := map[member.Number]map[int64]*game.Day{1: {}, 2: {}}
	day := func(of member.Number, date int64) *game.Day {
		if out[of][date] == nil {
			out[of][date] = &game.Day{Date: date}
		}
		return out[of][date]
	}
	for k, list := range traded {
		chains := map[string]bool{}
		for at := range list {
			chains[at.Chain] = true
		}
		d := day(k.of, k.date)
		d.Tokens, d.Chains = min(len(list), w.rules.XP.TokensADay), len(chains)
	}
	for number, at := range w.wins {
		for i := range w.calls {
			if w.calls[i].Number == number {
				day(w.calls[i].Member, at/86400).Wins++
			}
		}
	}
	return out
}

// check holds what is stored to what the trades say.
func (w *world) check(t written.TB) {
	t.Helper()
	state, err := w.store.Social.Game.GameState(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	both := []member.Number{1, 2}
	stored, err := w.store.Social.Game.GameDays(t.Context(), both)
	if err != nil {
		t.Fatal(err)
	}
	standings, err := w.store.Social.Game.GameStandings(t.Context(), both)
	if err != nil {
		t.Fatal(err)
	}
	places, err := w.store.Social.Game.SeasonPlaces(t.Context(), both)
	if err != nil {
		t.Fatal(err)
	}
	this := game.WeekOf(game.DateOf(w.now))
	want := w.days()
	scores := map[int64]map[member.Number]int64{}
	list := map[member.Number][]game.Day{}
	for _, of := range both {
		for _, date := range slices.Sorted(maps.Keys(want[of])) {
			d := want[of][date]
			list[of] = append(list[of], *d)
			week := game.WeekOf(date)
			if scores[week] == nil {
				scores[week] = map[member.Number]int64{}
			}
			scores[week][of] += w.rules.DayXP(d)
		}
		if !slices.Equal(stored[of], list[of]) {
			t.Fatal(fmt.Sprintf("member %d has the days %v, want %v", of, stored[of], list[of]))
		}
	}
	if state != nil {
		for week, score := range scores {
			if w.season != 0 && week > w.season && week <= state.Season {
				w.closed[week] = score
			}
		}
		w.season = state.Season
	}
	for _, of := range both {
		var placed []game.Place
		for _, week := range slices.Sorted(maps.Keys(w.closed)) {
			if score := w.closed[week][of]; score > 0 {
				place := 1
				if w.closed[week][3-of] >= score {
					place = 2
				}
				placed = append(placed, game.Place{Week: week, Place: place, Score: score})
			}
		}
		if !slices.Equal(places[of], placed) {
			t.Fatal(fmt.Sprintf("member %d has the places %v, want %v", of, places[of], placed))
		}
		got, stands := standings[of], w.rules.Stand(list[of], placed)
		weekXP := got.WeekXP
		if got.Week != this {
			weekXP = 0
		}
		if got.XP != stands.XP || !reflect.DeepEqual(append([]game.Earned{}, got.Badges...), append([]game.Earned{}, stands.Badges...)) || weekXP != scores[this][of] {
			t.Fatal(fmt.Sprintf("member %d has come to %+v, want %+v and %d XP in this week", of, got, stands, scores[this][of]))
		}
	}
}

// TestAsFromScratch: whatever blocks and calls come and are taken back, and however often the program looks or begins anew, members have come to what somebody
// says who has everything before them.
func TestAsFromScratch(t *testing.T) {
	t.Parallel()
	dir, n := t.TempDir(), 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		st, err := store.Open(context.Background(), "sqlite:"+filepath.Join(dir, fmt.Sprintf("%d.db", n)))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = st.Close() }()
		w := newWorld(t, st)
		draw := func() *chain { return w.chains[rapid.IntRange(0, len(w.chains)-1).Draw(t, "chain")] }
		wallet := func() market.Address { return wallets[rapid.IntRange(0, len(wallets)-1).Draw(t, "wallet")] }
		for range rapid.IntRange(5, 60).Draw(t, "steps") {
			w.now += rapid.SampledFrom([]int64{1, 12, 3600, 20 * 3600, 3 * 86400}).Draw(t, "seconds")
			switch rapid.SampledFrom([]string{"trade", "trade", "trade", "trade", "many", "idle", "reorg", "give", "call", "win", "open", "past", "look", "look", "restart"}).Draw(t, "step") {
			case "trade":
				w.trade(t, draw(), wallet(), rapid.IntRange(0, tokens-1).Draw(t, "token"), rapid.SampledFrom([]uint64{1, 5}).Draw(t, "usd"))
			case "many":
				c, of := draw(), wallet()
				for n := range tokens {
					w.trade(t, c, of, n, 5)
				}
			case "idle":
				for _, c := range w.chains {
					for range c.FinalAfter + 1 {
						w.block(t, c, nil)
					}
				}
			case "reorg":
				if c := draw(); c.Last.Number > c.oldest {
					c.rewind(t, rapid.IntRange(1, int(c.Last.Number-c.oldest)).Draw(t, "depth"))
				}
			case "give":
				w.give(t, draw(), wallets[1], rapid.Int64Range(1, 2).Draw(t, "to"))
			case "call":
				if n := len(w.calls); n < 5 || w.now-w.calls[n-5].CalledAt > 2*86400 {
					w.call(t, rapid.SampledFrom([]member.ID{"u1", "u2"}).Draw(t, "of"))
				}
			case "win":
				for i := range w.calls {
					if c := &w.calls[i]; c.Outcome == member.CallOpen && w.now-c.CalledAt < 8*86400 && rapid.Bool().Draw(t, "wins") {
						w.decide(t, c, true)
					}
				}
			case "open": // what was decided in an earlier week is final by now
				for i := range w.calls {
					if c := &w.calls[i]; c.Outcome == member.CallWin && game.WeekOf(game.DateOf(c.DecidedAt)) == game.WeekOf(game.DateOf(w.now)) && rapid.Bool().Draw(t, "opens") {
						w.decide(t, c, false)
					}
				}
			case "past":
				c := draw()
				c.IsPast = true
				for range rapid.IntRange(1, 3).Draw(t, "blocks") {
					w.trade(t, c, wallet(), rapid.IntRange(0, tokens-1).Draw(t, "token"), 5)
					w.now += rapid.SampledFrom([]int64{1, 86400}).Draw(t, "between")
				}
				c.IsPast = false
			case "restart":
				w.restart()
			case "look":
				w.look(t)
				w.check(t)
			}
		}
		w.look(t)
		w.check(t)
	})
}
