package place

import (
	"context"
	"log/slog"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/read/boards"
	"github.com/boardwalkhq/boardwalk/apiserver/read/declared"
	"github.com/boardwalkhq/boardwalk/apiserver/read/members"
	"github.com/boardwalkhq/boardwalk/apiserver/read/tokenmembers"
	"github.com/boardwalkhq/boardwalk/internal/board"
	"github.com/boardwalkhq/boardwalk/internal/catalog"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// product is a board as the API server has it: it follows a database that an indexer writes.
type product struct {
	t         *testing.T
	store     *store.Store
	lease     *store.Lease
	directory *members.Directory
	inTokens  *tokenmembers.Index
	ranker    *boards.Ranker
	in        *declared.Catalog
	now       int64
}

func newProduct(t *testing.T) *product {
	t.Helper()
	p := &product{t: t, store: storetest.Open(t, "sqlite")}
	var err error
	if p.lease, err = p.store.Leases.Acquire(t.Context(), chainID, "test", time.Hour); err != nil {
		t.Fatal(err)
	}
	p.directory = members.NewDirectory(p.store.Social.Registry)
	p.inTokens = tokenmembers.New(p.store.Wallets, p.directory)
	p.ranker = boards.NewRanker(p.store, p.inTokens, board.DefaultGate(), func() time.Time { return time.Unix(p.now, 0) }, slog.New(slog.DiscardHandler))
	doc := document()
	c := catalog.Chain{ID: chainID, Family: doc.Family, Native: doc.Native, Quotes: doc.Quotes}
	var list []catalog.Venue
	for _, id := range []string{curveVenue, poolVenue} {
		list = append(list, catalog.Venue{ID: id, Filter: id, Chains: []catalog.VenueChain{{Chain: chainID, Open: true}}})
	}
	p.in = declared.New(&catalog.Catalog{Chains: []catalog.Chain{c}, Venues: list})
	return p
}

// commit writes what a batch of blocks changed.
func (p *product) commit(c *market.Changes, last market.Header) {
	p.t.Helper()
	if err := p.store.Commit(p.t.Context(), p.lease, &store.Commit{
		Last: last, Blocks: []market.Header{last}, Horizon: last.Number, Changes: *c,
		Head: store.HeadStatus{Number: last.Number, Time: last.Time, Safe: last.Number, Final: last.Number, FinalTime: last.Time},
	}); err != nil {
		p.t.Fatal(err)
	}
}

// rank takes in what was committed, ranks anew, and gives Running, best first.
func (p *product) rank(ctx context.Context, now int64) (out []boards.Shown) {
	p.t.Helper()
	p.now = now
	status, ok, err := p.store.Chain(ctx, chainID)
	if err == nil && ok {
		err = p.directory.Follow(ctx)
	}
	if err == nil {
		err = p.inTokens.Follow(ctx, map[string]tokenmembers.Chain{chainID: {Family: chainconfig.EVM, Status: status}})
	}
	if err == nil {
		err = p.ranker.Refresh(ctx, map[string]store.ChainStatus{chainID: status}, p.in)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	p.ranker.Wait()
	for q := (boards.PageQuery{Sort: boards.SortRunning, Launchpad: declared.AllLaunchpads, Chain: declared.AllBoardChains, Limit: 100}); ; {
		page := p.ranker.Ranking().Board(1, p.in, false).Page(q)
		out = append(out, page.Cards...)
		if q.After = page.Next; page.Next == nil {
			return out
		}
	}
}

// TestTheRefereeJudgesAsTheProductDoes has honest people, snipers and an attacker trade on one chain. At each ranking the launches of Running, their order and
// their scores are the same in the API server's ranking, which reads the database, and in the referee's, which has no database.
func TestTheRefereeJudgesAsTheProductDoes(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]struct {
		launchesADay float64
		attacker     plan
		// The attacker begins at, and all rankings from ranked on until the end are compared; everything is derived each step.
		begins, ranked, ends, step int64
		filled                     bool
	}{
		"a pool, with a pair beside it that comes and goes": {
			launchesADay: 5000, begins: 3 * hour, ranked: 2 * hour, ends: 4 * hour, step: rankS,
			attacker: plan{
				Venue: 1, SeedUSD: 3000, Wallets: 40, BuyUSD: 40, Jitter: 0.4, DelayS: 60, SpanS: 900, AgainUSD: 10, AgainS: 1200, PassOn: 0.3, Sellers: 10, Holders: 40,
				WashUSD: 12_000, WashWallets: 3, PairUSD: 4000, PairInS: 600, PairOutS: 300, Funding: disperse, LeadS: 600, Tokens: 2,
			},
		},
		"a curve that is filled, and trades that leave the window of a day": {
			launchesADay: 1500, begins: hour, ranked: 24*hour + 1800, ends: 25*hour + 600, step: 300, filled: true,
			attacker: plan{
				SeedUSD: 14_000, Wallets: 60, BuyUSD: 40, Holders: 40, WashUSD: 12_000, AgainUSD: 20, AgainS: 3600, WashAnHour: 2000, LeadS: 600, Tokens: 1,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := populations[1]
			p.launchesADay = run.launchesADay
			r := newReferee(&formulas[0])
			c := newChain(r.take)
			full := newProduct(t)
			o := settle(c, &p, 3, all)
			board := &standings{population: &p, payers: o.from}
			a := newAttack(c, &run.attacker, &allInputs[1], 9, o.from[:exchangeWallets], genesis+run.begins)
			a.afterLaunch = func(t *token) { board.snipe(c, t, board.clonePayers(), 9) }
			r.changed = func(changes *market.Changes, last market.Header) { full.commit(changes, last) }
			most, attackers := 0, 0
			for at := int64(genesis); at < genesis+run.ends; at += run.step {
				c.run(at + blockS)
				if err := r.derive(c.before()); err != nil {
					t.Fatal(err)
				}
				if at < genesis+run.ranked {
					continue
				}
				want, got := r.running(), full.rank(t.Context(), at)
				agree(t, at, got, want)
				most = max(most, len(got))
				for i := range got {
					if slices.ContainsFunc(a.tokens, func(t *token) bool { return t.address == got[i].Launch.Mint }) {
						attackers++
					}
				}
			}
			if most < 4 || attackers == 0 || run.filled != (a.tokens[0].curve != nil && a.tokens[0].main != a.tokens[0].curve) {
				t.Fatalf("Running had %d launches at most, %d times one of the attacker's: too little to show anything", most, attackers)
			}
		})
	}
}

// agree fails unless the product's ranking and the referee's are the same, but for what is left of trades that are older than a server that starts reads.
func agree(t *testing.T, at int64, got []boards.Shown, want []standing) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d s: Running has %d launches, the referee %d", at-genesis, len(got), len(want))
	}
	for i, card := range got {
		if card.Launch.Mint != want[i].mint || int(card.Rank) != i+1 || math.Abs(card.Score-want[i].score) > 1e-6*want[i].score {
			t.Fatalf("%d s: place %d has %s with rank %d and %v %+v, by the referee %s with %v %+v", at-genesis, i+1, card.Launch.Mint, card.Rank, card.Score, card.Parts, want[i].mint,
				want[i].score, want[i].parts)
		}
	}
}

// TestATrialIsWhatHappensOnTheBoard has an attacker on the board itself, and not beside it: it stands among the first ten as long, and its best score is the same, as in its trial.
func TestATrialIsWhatHappensOnTheBoard(t *testing.T) {
	t.Parallel()
	p := populations[1]
	p.launchesADay = 800
	b, err := standingsOf(&p, &formulas[0], 5, 4*hour, func(int64) {})
	if err != nil {
		t.Fatal(err)
	}
	attacker := plan{Venue: 2, SeedUSD: 3000, Wallets: 30, BuyUSD: 60, Holders: 40, WashUSD: 12_000, Tokens: 1, LeadS: 100, SpanS: 600}
	alone, err := try(&attacker, &allInputs[0], b, holdAnHour, 9, math.Inf(1))
	if err != nil {
		t.Fatal(err)
	}
	if !alone.reached {
		t.Fatalf("the plan holds no place, so that nothing is shown: %+v", alone)
	}
	r := newReferee(&formulas[0])
	c := newChain(r.take)
	o := settle(c, &p, 5, all)
	a := newAttack(c, &attacker, &allInputs[0], 9, o.from[:exchangeWallets], genesis+warmS)
	a.afterLaunch = func(t *token) { b.snipe(c, t, b.clonePayers(), 9) }
	place, best := map[int64]int{}, 0.0
	for at := int64(genesis + warmS - rankS); at <= genesis+warmS+alone.endsS; at += rankS {
		c.run(at + blockS)
		if err := r.derive(c.before()); err != nil {
			t.Fatal(err)
		}
		if at < genesis+warmS {
			r.running()
			continue
		}
		list := r.listed()
		isOurs := func(s standing) bool { return s.mint == a.tokens[0].address }
		if i := slices.IndexFunc(list, isOurs); i >= 0 {
			best = max(best, list[i].score)
		}
		place[at] = slices.IndexFunc(slices.DeleteFunc(list, func(s standing) bool { return !s.pass }), isOurs) + 1
	}
	for _, at := range slices.Sorted(maps.Keys(place)) {
		if n := place[at]; at >= genesis+warmS+alone.endsS-hour && (n < 1 || n > places) {
			t.Errorf("%d s after the launch it has place %d, in its trial one of the first ten", at-genesis-warmS, n)
		}
	}
	if best != alone.best {
		t.Errorf("its best score is %v, in its trial %v", best, alone.best)
	}
}
